//! Propose-test-release (\[DL09\]; \[DR14\] §7): what changes little near the data at hand, however much it may change elsewhere.
//!
//! The author proposes a bound on the change of a value, and a distance that tells how far the data are from where the bound fails. Whether that is
//! far enough is decided by a coin, whose chance rises with the distance as fast as (ε, δ) allows (that of \[DVGM22\]); only then is
//! anything released.
//!
//! *Loss* for one unit of distance (derived here). If the value changes by at most the bound, the coin costs (ε, δ) and what is released
//! afterwards its own loss. If it changes by more, both data have distance zero, the coin is the same for both, and is "yes" with probability δ at
//! the most: (0, δ). So it is (ε, δ) and the loss of the release; further apart by group privacy.

use std::sync::Arc;

use exact::{Exact, Round};
use measures::{ApproxDp, EpsilonDelta, PrivacyMap};
use odometer::{Connected, Measurement, Space};
use queryable::{AskError, Canonical, Scope, coins::Bit};

use crate::{
    error::BuildError,
    integers::noisy,
    keys::Chances,
    noise::{Change, Noise, described},
    parameter::{self, Parameter},
    samplers::DiscreteLaplace,
    spend::{self, Spend as _},
};

/// A value, by how much it changes near stable data, and how far data are from what is not stable.
///
/// The author vouches that
/// - `distance` changes by at most one between data that are one unit apart;
/// - where the values of two such data differ by more than `bound`, `distance` is zero for both;
/// - neither function panics.
///
/// Data sets of records are multisets: neither function may depend on the order of the records.
///
/// A lower bound on the number of records to change until such a pair is reached has the first two properties.
#[derive(Clone)]
pub struct Proposal<F, D> {
    /// How much the value changes, at the most, where data are stable.
    pub bound: u64,
    /// The value.
    pub value: F,
    /// How far the data are from where the bound fails.
    pub distance: D,
}

/// A measurement of what is stable: nothing, where the data may not be.
pub type IfStable<S, A> = Measurement<S, ApproxDp, Option<A>>;

/// The coin.
#[derive(Clone)]
struct Test {
    chances: Chances,
    loss: EpsilonDelta,
}

impl Test {
    fn new(epsilon: impl Parameter, delta: impl Parameter) -> Result<Self, BuildError> {
        let (epsilon, delta) = (parameter::loss("ε", epsilon)?, parameter::delta(delta)?);
        Ok(Self {
            chances: Chances::new(&epsilon, &delta)?,
            loss: EpsilonDelta::saturating(epsilon, delta),
        })
    }

    /// Is this far enough? At distance zero with probability δ at the most.
    fn passes(&self, distance: u64, scope: &mut Scope<'_>) -> Result<bool, AskError> {
        scope.draw(&Bit::new(self.chances.of(i128::from(distance) + 1)))
    }

    /// The map of the coin and of what costs this much after it. Rounded up.
    fn map<S: Connected>(&self, release: &Exact) -> PrivacyMap<S::Metric, ApproxDp> {
        let epsilon = self.loss.epsilon() + release;
        let one = EpsilonDelta::saturating(epsilon, self.loss.delta().clone());
        PrivacyMap::constant_up_to(ApproxDp, 1, one).group()
    }

    fn describe<S: Space, A: 'static>(
        &self,
        measurement: Measurement<S, ApproxDp, A>,
    ) -> Measurement<S, ApproxDp, A> {
        measurement
            .with_parameter("ε of the test", self.loss.epsilon())
            .with_parameter("δ", self.loss.delta())
    }
}

/// The value with noise, if the data are found to be stable; otherwise nothing.
///
/// *Loss* for one unit of distance: the ε of the test and that of the noise at the bound, and the δ of the test.
///
/// ```
/// use odometry::mechanisms::propose::{Proposal, propose_test_release_for_approx};
/// use odometry::odometer::Records;
/// // A share in per mille. One of many records changes it by little: by at most 5, if there are 250 at least.
/// let share = Proposal {
///     bound: 5,
///     value: |ages: &Vec<u8>| {
///         let adults = ages.iter().filter(|age| **age >= 18).count();
///         (1000 * adults / ages.len().max(1)) as i64
///     },
///     distance: |ages: &Vec<u8>| (ages.len() as u64).saturating_sub(250),
/// };
/// let share = propose_test_release_for_approx(Records::new(), share, "1", "1e-6")?;
/// assert_eq!(share.map().loss(&1)?.to_string(), "(1, 0.000001)");
/// let found: Option<i64> = share.invoke((0..5000u32).map(|i| (i % 100) as u8).collect())?;
/// assert!((500..1000).contains(&found.unwrap())); // there are enough, for certain
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotPositive`] for a bound of zero (for which there is [`release_if_stable`]); [`BuildError::NotANumber`],
/// [`BuildError::TooLong`]; [`BuildError::OutOfRange`] for a δ of 1 and more, and for an ε so small that a distance of 65,536 would not be enough.
pub fn propose_test_release<S, F, D>(
    space: S,
    proposal: Proposal<F, D>,
    (epsilon, delta): (impl Parameter, impl Parameter),
    noise: DiscreteLaplace,
) -> Result<IfStable<S, i64>, BuildError>
where
    S: Connected,
    F: Fn(&S::Data) -> i64 + Send + Sync + 'static,
    D: Fn(&S::Data) -> u64 + Send + Sync + 'static,
{
    if proposal.bound == 0 {
        return Err(BuildError::not_positive("the bound", 0));
    }
    let test = Test::new(epsilon, delta)?;
    let release = noise.loss(&Change::one(&Exact::from(proposal.bound)));
    let map = test.map::<S>(release.value());
    let (tested, drawn, bound) = (test.clone(), noise.clone(), proposal.bound);
    let measurement = Measurement::new(
        "propose-test-release",
        space,
        map,
        move |data: &Arc<S::Data>, scope| match tested.passes((proposal.distance)(data), scope)? {
            true => noisy(i128::from((proposal.value)(data)), &drawn, scope).map(Some),
            false => Ok(None),
        },
    );
    let measurement = test.describe(measurement.with_parameter("bound", bound));
    Ok(described(measurement, &noise))
}

/// [`propose_test_release`] that costs (ε, δ): half of ε for the test, half for the noise.
///
/// # Errors
/// As there.
pub fn propose_test_release_for_approx<S, F, D>(
    space: S,
    proposal: Proposal<F, D>,
    epsilon: impl Parameter,
    delta: impl Parameter,
) -> Result<IfStable<S, i64>, BuildError>
where
    S: Connected,
    F: Fn(&S::Data) -> i64 + Send + Sync + 'static,
    D: Fn(&S::Data) -> u64 + Send + Sync + 'static,
{
    let half = parameter::loss("ε", epsilon)?.div(&Exact::from(2u32), Round::Down);
    let change = Change::one(&Exact::from(proposal.bound));
    let noise = spend::epsilon(&half).noise_for(&change)?;
    propose_test_release(space, proposal, (&half, delta), noise)
}

/// A value of any kind, as it is, if it is found to be the same for all data nearby; otherwise nothing (\[DR14\] §7.2).
///
/// `distance` is as in a [`Proposal`]: it changes by at most one over a unit of distance, and is
/// zero for any two data one unit apart whose values are not equal. Neither function may depend on
/// the order of the records. *Loss* for one unit: (ε, δ), exactly as given. The value is
/// [`Canonical`] and is rebuilt before it is released, so that equal values of different data are
/// indistinguishable.
///
/// ```
/// use odometry::mechanisms::propose::release_if_stable;
/// use odometry::odometer::Records;
/// // The most frequent of three answers. It changes where it leads by at most one.
/// let counts = |votes: &Vec<usize>| [0, 1, 2].map(|i| votes.iter().filter(|v| **v == i).count() as u64);
/// let winner = move |votes: &Vec<usize>| (0..3).max_by_key(|i| (counts(votes)[*i], 3 - *i));
/// let lead = move |votes: &Vec<usize>| {
///     let mut counts = counts(votes);
///     counts.sort_unstable();
///     (counts[2] - counts[1]).saturating_sub(1)
/// };
/// let winner = release_if_stable(Records::new(), "1", "1e-6", winner, lead)?;
/// assert_eq!(winner.map().loss(&1)?.to_string(), "(1, 0.000001)");
/// assert_eq!(winner.invoke([vec![2; 100], vec![0; 40]].concat())?, Some(Some(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`propose_test_release`].
pub fn release_if_stable<S, A, F, D>(
    space: S,
    epsilon: impl Parameter,
    delta: impl Parameter,
    value: F,
    distance: D,
) -> Result<IfStable<S, A::Rebuilt>, BuildError>
where
    S: Connected,
    A: Canonical,
    F: Fn(&S::Data) -> A + Send + Sync + 'static,
    D: Fn(&S::Data) -> u64 + Send + Sync + 'static,
{
    let test = Test::new(epsilon, delta)?;
    let map = test.map::<S>(&Exact::ZERO);
    let tested = test.clone();
    let measurement = Measurement::new(
        "release if stable",
        space,
        map,
        move |data: &Arc<S::Data>, scope| {
            let passes = tested.passes(distance(data), scope)?;
            Ok::<_, AskError>(passes.then(|| value(data).rebuild()))
        },
    );
    Ok(test.describe(measurement))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// \[DL09\]: a distance of `ln(1/δ)/ε + ln(1/β)/ε` passes with probability `1 − β`, and one of zero with δ.
    #[test]
    fn stable_data_pass() {
        for epsilon in ["0.1", "0.5", "2"] {
            let test = Test::new(epsilon, "1e-6").unwrap();
            let number: f64 = epsilon.parse().unwrap();
            for beta in [0.1, 1e-3, 1e-9f64] {
                let enough = ((1e6f64).ln() + (1.0 / beta).ln()) / number;
                let chance = test.chances.of(enough.ceil() as i128 + 1);
                let fails = chance.complement().to_rational().to_f64().value();
                assert!(fails <= beta, "{epsilon}, {beta}: {fails}");
            }
            assert_eq!(test.chances.of(1).to_rational().to_f64().value(), 1e-6);
        }
    }
}
