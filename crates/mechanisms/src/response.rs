//! Randomized response on one bit: the mechanisms to which every private mechanism of two inputs reduces (\[VW21\] Thm
//! 1.10, \[HSV25\] Lemma 4.7). The truth is told with a rational probability, and the claimed loss is its logarithm,
//! rounded up.

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{ApproxDp, Epsilon, EpsilonDelta, Neighbours, PrivacyMap, PureDp};
use measures::{Measure, Neighbouring};
use odometer::{Any, Measurement};
use queryable::{
    AskError, Machine, Queryable, Scope,
    coins::{Bit, Probability},
};

use crate::{
    error::BuildError,
    parameter::{self, Parameter, shown},
};

/// The answer of randomized response that may leak (\[HSV25\] Def 2.3; the papers' flags ⊤ and ⊥ change sides between
/// RR and IRR, so they have names here).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Response {
    /// The bit as it is.
    Leak(bool),
    /// The bit, or its opposite.
    NoLeak(bool),
}

/// What the interactive form answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Told {
    /// First: the bit that follows will be the true one.
    Leak,
    /// First: the bit that follows is randomized.
    NoLeak,
    /// Second: the bit.
    Bit(bool),
}

queryable::canonical_copies!(Response Told);

/// A measurement of one bit, any two values of which are neighbours.
pub type OfBit<M, A> = Measurement<Any<bool, Neighbours>, M, A>;

/// The parameters: how often it leaks, and how often it tells the truth otherwise.
#[derive(Clone)]
struct Truth {
    leak: Bit,
    truth: Bit,
    loss: EpsilonDelta,
    epsilon: Epsilon,
    /// Its parameters in words.
    words: Vec<(&'static str, String)>,
}

impl Truth {
    fn new(truth: Probability, delta: Probability) -> Result<Self, BuildError> {
        let half = RBig::from_parts(1.into(), 2u8.into());
        if truth.to_rational() < half {
            let expected = "at least 1/2";
            return Err(BuildError::out_of_range(
                "the probability of the truth",
                expected,
                truth,
            ));
        }
        let epsilon = log_odds(&truth);
        let mut words = vec![("truth", shown(&truth.to_rational()))];
        if !delta.is_zero() {
            words.push(("δ", shown(&delta.to_rational())));
        }
        let bound = Exact::from_rational(&delta.to_rational(), Round::Up).unwrap_or(Exact::ONE);
        Ok(Self {
            leak: Bit::new(delta),
            truth: Bit::new(truth),
            loss: EpsilonDelta::saturating(epsilon.clone(), bound),
            epsilon: Epsilon::new(epsilon),
            words,
        })
    }

    fn tell(&self, bit: bool, scope: &mut Scope<'_>) -> Result<bool, AskError> {
        Ok(bit == scope.draw(&self.truth)?)
    }
}

/// `ln(p / (1 − p))`, rounded up.
fn log_odds(truth: &Probability) -> Exact {
    let lie = truth.complement();
    if lie.is_zero() {
        return Exact::INFINITY;
    }
    let odds = truth.to_rational() / lie.to_rational();
    let odds = Exact::from_rational(&odds, Round::Up).ok();
    odds.and_then(|odds| odds.ln(Round::Up))
        .unwrap_or(Exact::INFINITY)
}

/// How much less than ε may be spent, relatively: more than the logarithm of the odds and their power are rounded.
const UNSPENT: (u128, u128) = (1, 100_000_000_000_000);

/// The largest probability of the truth whose loss is at most ε, or nearly.
fn truth_for(epsilon: impl Parameter) -> Result<Probability, BuildError> {
    let epsilon = parameter::loss("ε", epsilon)?;
    let unspent = Exact::ratio(UNSPENT.0, UNSPENT.1).unwrap_or(Exact::ZERO);
    let less = epsilon.saturating_sub(&epsilon.mul(&unspent, Round::Up));
    let more = less.exp_m1(Round::Down).to_rational().unwrap_or(RBig::ZERO);
    let odds = more + RBig::ONE;
    let truth = &odds / (&odds + RBig::ONE);
    let truth = Probability::try_from(truth)
        .map_err(|error| BuildError::failed(format_args!("ε: {error}")))?;
    match log_odds(&truth) <= epsilon {
        true => Ok(truth),
        false => Err(BuildError::out_of_range(
            "ε",
            "one that can be told from 0",
            epsilon,
        )),
    }
}

/// [`randomized_response`] that costs this ε, or less by a relative `2e-14` at the most.
///
/// ```
/// use odometry::measures::Neighbouring;
/// use odometry::mechanisms::response::randomized_response_for_epsilon;
/// let rr = randomized_response_for_epsilon("0.5")?;
/// let spent = rr.map().loss(&Neighbouring)?;
/// assert!(*spent.value() <= "0.5".parse()? && *spent.value() > "0.49999999999998".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn randomized_response_for_epsilon(
    epsilon: impl Parameter,
) -> Result<OfBit<PureDp, bool>, BuildError> {
    randomized_response(truth_for(epsilon)?)
}

fn of_bit<M: Measure, A: 'static, F>(
    name: &'static str,
    measure: M,
    loss: M::Loss,
    law: Truth,
    function: F,
) -> OfBit<M, A>
where
    F: Fn(&Truth, bool, &mut Scope<'_>) -> Result<A, AskError> + Send + Sync + 'static,
{
    let map = PrivacyMap::constant_up_to(measure, Neighbouring, loss);
    let words = law.words.clone().into_iter();
    let measurement = Measurement::new(name, Any::with(Neighbours), map, move |bit, scope| {
        function(&law, **bit, scope)
    });
    words.fold(measurement, |measurement, (name, value)| {
        measurement.with_parameter(name, value)
    })
}

/// RR_ε: the bit with probability `truth`, at least one half, and its opposite otherwise.
///
/// ε = ln(truth/(1 − truth)), rounded up; tight.
///
/// ```
/// use odometry::measures::Neighbouring;
/// use odometry::mechanisms::response::randomized_response;
/// use odometry::queryable::coins::Probability;
/// let rr = randomized_response(Probability::new(3, 4)?)?;
/// assert!(rr.map().loss(&Neighbouring)?.to_string().starts_with("1.0986122886681")); // ln 3
/// let answer: bool = rr.invoke(true)?;
/// # let _ = answer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::OutOfRange`] if `truth` is below one half.
pub fn randomized_response(truth: Probability) -> Result<OfBit<PureDp, bool>, BuildError> {
    let law = Truth::new(truth, Probability::ZERO)?;
    let loss = law.epsilon.clone();
    Ok(of_bit(
        "randomized response",
        PureDp,
        loss,
        law,
        |law, bit, scope| law.tell(bit, scope),
    ))
}

/// RR_{ε,δ} (\[HSV25\] Def 2.3): leaks the bit with probability `delta`, and says so; otherwise RR_ε.
///
/// The loss is (ε, δ), both rounded up; tight.
///
/// # Errors
/// [`BuildError::OutOfRange`] if `truth` is below one half.
pub fn leaky_randomized_response(
    truth: Probability,
    delta: Probability,
) -> Result<OfBit<ApproxDp, Response>, BuildError> {
    let law = Truth::new(truth, delta)?;
    let loss = law.loss.clone();
    Ok(of_bit(
        "leaky randomized response",
        ApproxDp,
        loss,
        law,
        |law, bit, scope| match scope.draw(&law.leak)? {
            true => Ok(Response::Leak(bit)),
            false => law.tell(bit, scope).map(Response::NoLeak),
        },
    ))
}

/// IRR_{ε,δ} (\[HSV25\] Def 2.9): RR_{ε,δ} in two steps. The first answer is the flag, the second the bit; then it
/// halts.
///
/// # Errors
/// [`BuildError::OutOfRange`] if `truth` is below one half.
pub fn interactive_randomized_response(
    truth: Probability,
    delta: Probability,
) -> Result<OfBit<ApproxDp, Queryable<(), Told>>, BuildError> {
    let law = Truth::new(truth, delta)?;
    let loss = law.loss.clone();
    Ok(of_bit(
        "interactive randomized response",
        ApproxDp,
        loss,
        law,
        |law, bit, scope| {
            scope.spawn(Irr {
                bit,
                law: law.clone(),
                leaks: None,
            })
        },
    ))
}

struct Irr {
    bit: bool,
    law: Truth,
    leaks: Option<bool>,
}

impl Machine for Irr {
    type Query = ();
    type Answer = Told;

    fn step(&mut self, (): (), scope: &mut Scope<'_>) -> Result<Told, AskError> {
        match self.leaks {
            None => {
                let leaks = scope.draw(&self.law.leak)?;
                self.leaks = Some(leaks);
                Ok(if leaks { Told::Leak } else { Told::NoLeak })
            }
            Some(leaks) => {
                scope.halt();
                let bit = match leaks {
                    true => self.bit,
                    false => self.law.tell(self.bit, scope)?,
                };
                Ok(Told::Bit(bit))
            }
        }
    }
}
