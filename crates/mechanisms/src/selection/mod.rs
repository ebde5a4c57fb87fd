//! Choosing the best of several candidates: the exponential mechanism, and report-noisy-max as permute-and-flip. The functions
//! have one signature on purpose: all are doors to one `select`.
//!
//! *Which one.* [`report_noisy_max`]: at the same ε it is never worse on average than [`exponential`] (\[MS20\] Thm 2).
//! [`exponential_zcdp`] where losses are counted in zCDP: it costs a quarter there of what its ε says.
//!
//! *Scores that move together*, such as counts of records that come and go ([`Scores::moving`]), need half of the noise.
//! Let all scores rise by at most Δ between two inputs one unit apart. The exponential mechanism with weights
//! `e^(ε·score/Δ)`: logarithms of weights rise by between 0 and ε, so the log-ratio of the laws has a range of ε, and lies within ±ε.
//! Report-noisy-max with exponential noise of scale Δ/ε: given all other noises, a candidate wins with probability
//! `min(1, e^(−ε·gap/Δ))`, where the gap to the best of the others moves by at most Δ. Ranges and losses add up along steps of one
//! unit, which is why the promise is for [`Connected`](odometer::Connected) spaces.

mod best;
mod top;

use std::marker::PhantomData;

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Epsilon, Measure, Number, PrivacyMap, PureDp, Rho, Scale, Zcdp};
use odometer::{Measurement, Space};
use queryable::{AskError, coins::Distribution};

pub use self::{
    best::{best_of_many, best_of_many_for_epsilon},
    top::{top_k, top_k_zcdp},
};
use crate::{
    error::BuildError,
    parameter::{self, Parameter, positive},
    samplers::{ExponentialChoice, PermuteAndFlip},
    sensitivity::{Free, KnownOn, Sensitivity, most_change},
};

/// What to choose from, and how well.
///
/// `score(data, candidate)` is an integer for each candidate below `candidates`. Its author vouches that every score
/// changes by at most `Δ·⌈d⌉`, rounded up to an integer, between inputs at distance `d`, where Δ is the `sensitivity`; and
/// that the function does not panic. (Integers do not change in proportion: `round(x)` changes by 1 between 0.4 and 0.6.) At
/// distance 0, scores are equal: those of a multiset of records do not depend on their order.
#[derive(Clone)]
pub struct Scores<F, K = Free> {
    candidates: usize,
    sensitivity: Exact,
    score: F,
    kind: PhantomData<K>,
}

impl<F> Scores<F> {
    /// The scores of the candidates `0..candidates`, each of which may rise or fall.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without candidates; [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for the
    /// sensitivity.
    pub fn new(
        candidates: usize,
        sensitivity: impl Parameter,
        score: F,
    ) -> Result<Self, BuildError> {
        Self::with(candidates, parameter::sensitivity(sensitivity)?, score)
    }
}

impl<F, K> Scores<F, K> {
    /// The scores of the candidates `0..candidates`, with what is known about the directions in which they move.
    ///
    /// ```
    /// use odometry::measures::SymmetricDistance;
    /// use odometry::mechanisms::{selection::{Scores, report_noisy_max}, sparse::Sensitivity};
    /// use odometry::odometer::Records;
    /// let count = |votes: &Vec<usize>, i| votes.iter().filter(|v| **v == i).count() as i64;
    /// // Counts of records that come and go: half of the noise.
    /// let tally = Scores::moving(3, Sensitivity::of_counts::<SymmetricDistance>(), count)?;
    /// let winner = report_noisy_max(Records::new(), tally, "0.5")?;
    /// assert_eq!(winner.map().loss(&1)?.to_string(), "0.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::Empty`] without candidates.
    pub fn moving(
        candidates: usize,
        sensitivity: Sensitivity<K>,
        score: F,
    ) -> Result<Self, BuildError> {
        Self::with(candidates, Exact::from(sensitivity.per_unit()), score)
    }

    fn with(candidates: usize, sensitivity: Exact, score: F) -> Result<Self, BuildError> {
        if candidates == 0 {
            return Err(BuildError::Empty {
                what: "the candidates",
            });
        }
        Ok(Self {
            candidates,
            sensitivity,
            score,
            kind: PhantomData,
        })
    }

    /// How many times Δ scores change between inputs at a distance, at the most. Rounded up.
    fn changes<D: Number>(&self) -> impl Fn(&D) -> Exact + Send + Sync + use<F, K, D> {
        let sensitivity = self.sensitivity.clone();
        move |d_in| most_change(&sensitivity, d_in).div(&sensitivity, Round::Up)
    }

    /// The map with a loss that depends on how many times Δ scores change, and the unit in which they are compared at this ε.
    fn priced<S, M, L>(
        &self,
        space: &S,
        epsilon: &Exact,
        (measure, loss): (M, L),
    ) -> Result<(PrivacyMap<S::Metric, M>, RBig), BuildError>
    where
        S: Space<Distance: Number>,
        M: Measure,
        F: 'static,
        K: KnownOn<S>,
        L: Fn(&Exact) -> M::Loss + Send + Sync + 'static,
    {
        let sensitivity = positive("the sensitivity", &self.sensitivity)?;
        let unit = positive("ε", epsilon)? / (sensitivity * RBig::from(K::SHIFTS));
        let changes = self.changes();
        let map = space.map(measure, move |d_in| Ok(loss(&changes(d_in))));
        Ok((map, unit))
    }

    /// How far each candidate is behind the best, in these units.
    fn penalties<X>(&self, data: &X, unit: &RBig) -> Vec<RBig>
    where
        F: Fn(&X, usize) -> i64,
    {
        let scores: Vec<i64> = (0..self.candidates)
            .map(|i| (self.score)(data, i))
            .collect();
        let best = scores.iter().max().copied().unwrap_or_default();
        let behind = |score: i64| RBig::from(IBig::from(best) - IBig::from(score));
        scores
            .into_iter()
            .map(|score| behind(score) * unit)
            .collect()
    }
}

/// A measurement that draws a candidate, with a loss that depends on how many times Δ the scores change.
fn select<S, M, F, K, L, B, C>(
    name: &'static str,
    space: S,
    scores: Scores<F, K>,
    epsilon: &Exact,
    priced: (M, L),
    choice: B,
) -> Result<Measurement<S, M, usize>, BuildError>
where
    S: Space<Distance: Number>,
    M: Measure,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
    L: Fn(&Exact) -> M::Loss + Send + Sync + 'static,
    B: Fn(Vec<RBig>) -> Result<C, BuildError> + Send + Sync + 'static,
    C: Distribution<Outcome = usize>,
{
    let (map, unit) = scores.priced(&space, epsilon, priced)?;
    let (candidates, sensitivity) = (scores.candidates, scores.sensitivity.clone());
    let measurement = Measurement::new(name, space, map, move |data, scope| {
        let penalties = scores.penalties(data.as_ref(), &unit);
        let choice = choice(penalties).map_err(|error| AskError::failed(error.to_string()))?;
        scope.draw(&choice)
    });
    Ok(measurement
        .with_parameter("candidates", candidates)
        .with_parameter("sensitivity", sensitivity)
        .with_parameter("ε", epsilon))
}

/// ε for each change by Δ, rounded up.
fn pure(epsilon: &Exact) -> (PureDp, impl Fn(&Exact) -> Epsilon + Send + Sync + use<>) {
    let per_change = Epsilon::new(epsilon.clone());
    (PureDp, move |changes| per_change.scaled(changes))
}

/// `(ε·changes)²/8`, rounded up.
fn concentrated(epsilon: &Exact, changes: &Exact) -> Rho {
    let loss = epsilon.mul(changes, Round::Up).pow(2, Round::Up);
    Rho::new(loss.div(&Exact::from(8u32), Round::Up))
}

/// The exponential mechanism (\[MT07\]): a candidate with probability proportional to `e^(ε·score/2Δ)`, or to
/// `e^(ε·score/Δ)` if scores move together.
///
/// ε per started unit of distance, exactly as given; at distance `d` with a fractional Δ, `ε·⌈Δ·⌈d⌉⌉/Δ`.
///
/// ```
/// use odometry::mechanisms::selection::{Scores, exponential};
/// use odometry::odometer::Records;
/// let votes = Records::<usize>::new();
/// let tally = Scores::new(3, 1, |votes: &Vec<usize>, i| votes.iter().filter(|v| **v == i).count() as i64)?;
/// let winner = exponential(votes, tally, "0.5")?;
/// assert_eq!(winner.map().loss(&2)?.to_string(), "1");
/// assert!(winner.invoke(vec![0, 1, 1, 2])? < 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn exponential<S, F, K>(
    space: S,
    scores: Scores<F, K>,
    epsilon: impl Parameter,
) -> Result<Measurement<S, PureDp, usize>, BuildError>
where
    S: Space<Distance: Number>,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
{
    let epsilon = &parameter::loss("ε", epsilon)?;
    select(
        "exponential mechanism",
        space,
        scores,
        epsilon,
        pure(epsilon),
        ExponentialChoice::new,
    )
}

/// The exponential mechanism with its zCDP guarantee: ρ = (ε·d)²/8 at a whole distance `d`, a quarter of what its ε
/// alone gives, because its range of losses is bounded by ε (\[CR21\] Lemma 3.2). Rounded up.
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn exponential_zcdp<S, F, K>(
    space: S,
    scores: Scores<F, K>,
    epsilon: impl Parameter,
) -> Result<Measurement<S, Zcdp, usize>, BuildError>
where
    S: Space<Distance: Number>,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
{
    let epsilon = &parameter::loss("ε", epsilon)?;
    let rate = epsilon.clone();
    let loss = move |changes: &Exact| concentrated(&rate, changes);
    select(
        "exponential mechanism",
        space,
        scores,
        epsilon,
        (Zcdp, loss),
        ExponentialChoice::new,
    )
}

/// Report noisy max, as permute-and-flip (\[MS20\] Thm 1): on average never worse than the exponential mechanism at
/// the same ε (ibid. Thm 2), and the law of the maximum of scores with exponential noise (\[DKS+21\]).
///
/// ε per started unit of distance, exactly as given; at distance `d` with a fractional Δ, `ε·⌈Δ·⌈d⌉⌉/Δ`.
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn report_noisy_max<S, F, K>(
    space: S,
    scores: Scores<F, K>,
    epsilon: impl Parameter,
) -> Result<Measurement<S, PureDp, usize>, BuildError>
where
    S: Space<Distance: Number>,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
{
    let epsilon = &parameter::loss("ε", epsilon)?;
    select(
        "report noisy max",
        space,
        scores,
        epsilon,
        pure(epsilon),
        PermuteAndFlip::new,
    )
}

/// Rounding of products and quotients is far less than this part of them.
const SHRINK: (u128, u128) = ((1 << 100) - 1, 1 << 100);

impl<F, K> Scores<F, K> {
    /// The largest ε whose loss is within what is to be spent at distance 1, or less than `2^-99` of it less. With an
    /// integer Δ a pure loss is spent exactly.
    fn most_epsilon(
        &self,
        at_one_change: Exact,
        within: impl Fn(&Exact, &Exact) -> bool,
    ) -> Result<Exact, BuildError> {
        let changes = self.changes()(&1u32);
        let most = at_one_change.div(&changes, Round::Down);
        if within(&most, &changes) {
            return Ok(most);
        }
        let shrink = Exact::ratio(SHRINK.0, SHRINK.1);
        let shrink = shrink.map_err(|source| BuildError::NotANumber { what: "ε", source })?;
        Ok(most.mul(&shrink, Round::Down))
    }

    /// For a zCDP loss.
    fn epsilon_spending_rho(&self, rho: &Exact) -> Result<Exact, BuildError> {
        let at_one = rho.times(8).sqrt(Round::Down);
        self.most_epsilon(at_one, |most, changes| {
            concentrated(most, changes).value() <= rho
        })
    }

    /// For a pure loss.
    fn epsilon_spending(&self, epsilon: impl Parameter) -> Result<Exact, BuildError> {
        let epsilon = parameter::loss("ε", epsilon)?;
        self.most_epsilon(epsilon.clone(), |most, changes| {
            *pure(most).1(changes).value() <= epsilon
        })
    }
}

/// [`exponential`] that costs this ε at distance 1, whatever Δ is: with an integer Δ the same, otherwise rounded down.
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn exponential_for_epsilon<S, F, K>(
    space: S,
    scores: Scores<F, K>,
    epsilon: impl Parameter,
) -> Result<Measurement<S, PureDp, usize>, BuildError>
where
    S: Space<Distance: Number>,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
{
    let epsilon = scores.epsilon_spending(epsilon)?;
    exponential(space, scores, epsilon)
}

/// [`exponential_zcdp`] that costs this ρ at distance 1, or less by a relative `1e-14` at the most.
///
/// ```
/// use odometry::mechanisms::selection::{Scores, exponential_for_rho};
/// use odometry::odometer::Records;
/// let tally = Scores::new(3, 1, |votes: &Vec<usize>, i| votes.iter().filter(|v| **v == i).count() as i64)?;
/// let winner = exponential_for_rho(Records::new(), tally, "0.1")?;
/// let spent = winner.map().loss(&1)?;
/// assert!(*spent.value() <= "0.1".parse()? && *spent.value() > "0.099999999999999".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ρ.
pub fn exponential_for_rho<S, F, K>(
    space: S,
    scores: Scores<F, K>,
    rho: impl Parameter,
) -> Result<Measurement<S, Zcdp, usize>, BuildError>
where
    S: Space<Distance: Number>,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
{
    let epsilon = scores.epsilon_spending_rho(&parameter::loss("ρ", rho)?)?;
    exponential_zcdp(space, scores, epsilon)
}

/// [`report_noisy_max`] that costs this ε at distance 1, whatever Δ is: with an integer Δ the same, otherwise rounded
/// down.
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn report_noisy_max_for_epsilon<S, F, K>(
    space: S,
    scores: Scores<F, K>,
    epsilon: impl Parameter,
) -> Result<Measurement<S, PureDp, usize>, BuildError>
where
    S: Space<Distance: Number>,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
{
    let epsilon = scores.epsilon_spending(epsilon)?;
    report_noisy_max(space, scores, epsilon)
}
