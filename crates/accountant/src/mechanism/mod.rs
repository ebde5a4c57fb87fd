//! Mechanisms as dominating pairs: constructors with checked parameters, one file for each family.

mod curve;
mod discrete;
mod either_way;
mod noise;
mod pairs;
mod poisson;
mod response;
mod sampled;
mod steps;

use std::sync::Arc;

use dashu_ratio::RBig;
use exact::{Exact, Given, Parameter, Round};

use crate::AccountantError;
use crate::directed::to_f64;
use crate::laws::{Finite, Law, Mixture};
use crate::numbers::Double;

/// What a mechanism reveals between neighbouring data, as a pair of laws that dominates it: (P, Q) dominates if the
/// mechanism's hockey-stick divergence at every real ε is at most that of (P, Q) (\[ZDW22\]). Mechanisms whose data were
/// fixed in advance, together, are dominated by the product of their pairs (\[ZDW22\] Thm 10).
///
/// Most pairs look the same in both directions. Those that do not (a record is added to a sampled data set, or removed
/// from it) are composed in each direction by itself. That is valid where all mechanisms see the same change, an addition
/// or a removal, alike. Where something in between may turn one into the other, use [`either_way`](Mechanism::either_way).
///
/// ```
/// use odometry::accountant::{Accountant, Mechanism};
/// let noisy = Mechanism::gaussian("1", "100")?;
/// let epsilon = Accountant::new().add(noisy, 10_000).epsilon("1e-6")?;
/// assert!(epsilon > "4.88655".parse()? && epsilon < "4.88656".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    pub(crate) forward: Side,
    /// The other direction, where it is different.
    pub(crate) backward: Option<Side>,
}

/// One direction of a pair.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Side {
    /// The loss, given that it is finite; `None` if it is zero.
    pub(crate) law: Option<Law>,
    /// The probability of an infinite loss, rounded up.
    pub(crate) failure: Exact,
}

impl Side {
    pub(crate) const ZERO: Side = Side {
        law: None,
        failure: Exact::ZERO,
    };
    /// No guarantee.
    pub(crate) const NOTHING: Side = Side {
        law: None,
        failure: Exact::ONE,
    };

    fn of(law: Law) -> Side {
        Side {
            law: Some(law),
            failure: Exact::ZERO,
        }
    }
}

impl Mechanism {
    fn symmetric(side: Side) -> Mechanism {
        Mechanism {
            forward: side,
            backward: None,
        }
    }

    pub(crate) fn sides(&self) -> [&Side; 2] {
        [
            &self.forward,
            self.backward.as_ref().unwrap_or(&self.forward),
        ]
    }

    /// One of these mechanisms, chosen with these odds by coins that do not depend on the data; the choice is shown.
    ///
    /// `E e^{zL}` of the mixture is the mean of those of the parts.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let often = Mechanism::laplace("1", "20")?;
    /// let seldom = Mechanism::laplace("1", "2")?;
    /// let mixed = Mechanism::mixture([("9", often), ("1", seldom)])?;
    /// let epsilon = Accountant::new().add(mixed, 100).epsilon("1e-6")?;
    /// assert!(epsilon < "13".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mixture(
        parts: impl IntoIterator<Item = (impl Parameter, Mechanism)>,
    ) -> Result<Self, AccountantError> {
        let read = |(odds, part)| Ok((unrounded("odds", odds)?, part));
        let parts: Result<Vec<(RBig, Mechanism)>, AccountantError> =
            parts.into_iter().map(read).collect();
        let mut parts = parts?;
        parts.retain(|(odds, _)| !odds.is_zero());
        let total = parts.iter().fold(RBig::ZERO, |sum, (odds, _)| sum + odds);
        if total.is_zero() {
            let expected = "finite, and some above 0";
            return Err(AccountantError::parameter("odds", &total, expected));
        }
        let side = |direction: usize| {
            let share = |part: &(RBig, Mechanism)| &part.0 / &total;
            let parts = parts
                .iter()
                .map(|part| (share(part), part.1.sides()[direction]));
            mixed(parts.collect())
        };
        let backward = parts.iter().any(|(_, part)| part.backward.is_some());
        Ok(Mechanism {
            forward: side(0),
            backward: backward.then(|| side(1)),
        })
    }
}

/// Odds are taken as they are: no direction of rounding would be the safe one.
fn unrounded(name: &'static str, value: impl Parameter) -> Result<RBig, AccountantError> {
    let expected = "finite, and some above 0";
    match value.number() {
        Err(source) => Err(AccountantError::NotANumber { name, source }),
        Ok(Given::Rational(ratio)) if ratio >= RBig::ZERO => Ok(ratio),
        Ok(Given::Rational(ratio)) => Err(AccountantError::parameter(name, &ratio, expected)),
        Ok(Given::Exact(exact)) => exact
            .to_rational()
            .ok_or_else(|| AccountantError::parameter(name, &exact, expected)),
    }
}

fn mixed(parts: Vec<(RBig, &Side)>) -> Side {
    let failed = |side: &Side| side.failure.to_rational().unwrap_or(RBig::ONE);
    let failure: RBig = parts
        .iter()
        .map(|(share, side)| share * failed(side))
        .fold(RBig::ZERO, |a, b| a + b);
    if failure >= RBig::ONE {
        return Side::NOTHING;
    }
    let law = |side: &Side| {
        side.law.clone().unwrap_or_else(|| {
            let atoms = vec![(0.0, Double::of_count(1))];
            Law::Finite(Arc::new(Finite { atoms }))
        })
    };
    let kept = RBig::ONE - &failure;
    let share_of = |share: &RBig, side: &Side| share * (RBig::ONE - failed(side)) / &kept;
    let weights = parts
        .iter()
        .map(|(share, side)| (share_of(share, side), law(side)));
    // Parts too small for a `f64` count as infinite losses.
    let least = crate::directed::rational(1e-280);
    let (large, small): (Vec<_>, Vec<_>) = weights.partition(|(weight, _)| *weight > least);
    let failure = small
        .into_iter()
        .fold(failure, |sum, (weight, _)| sum + weight);
    let parts = large
        .iter()
        .map(|(weight, law)| (double(weight), law.clone()))
        .collect();
    Side {
        law: Some(Law::Mixture(Arc::new(Mixture { parts }))),
        failure: Exact::from_rational(&failure, Round::Up).unwrap_or(Exact::ONE),
    }
}

/// A rational up to a relative `2^-100`, while it is above `1e-280`.
pub(crate) fn double(x: &RBig) -> Double {
    let high = to_f64(x, Round::Down);
    let low = to_f64(&(x - crate::directed::rational(high)), Round::Down);
    Double { high, low }
}

/// A parameter that must be above zero and finite.
/// The parameter, above zero and finite. Less noise than was said: it is rounded down.
fn positive(name: &'static str, value: impl Parameter) -> Result<Exact, AccountantError> {
    let value = AccountantError::read(name, value, Round::Down)?;
    match value.is_zero() || value.is_infinite() {
        true => Err(AccountantError::parameter(
            name,
            &value,
            "above 0 and finite",
        )),
        false => Ok(value),
    }
}

/// The noise scale and the sensitivity, both checked; `None` for sensitivity zero, where nothing is revealed.
fn noise(
    sensitivity: impl Parameter,
    scale: impl Parameter,
    name: &'static str,
) -> Result<Option<(Exact, Exact)>, AccountantError> {
    let sensitivity = AccountantError::read("sensitivity", sensitivity, Round::Up)?;
    let scale = positive(name, scale)?;
    if sensitivity.is_infinite() {
        return Err(AccountantError::parameter(
            "sensitivity",
            &sensitivity,
            "finite",
        ));
    }
    Ok((!sensitivity.is_zero()).then_some((sensitivity, scale)))
}
