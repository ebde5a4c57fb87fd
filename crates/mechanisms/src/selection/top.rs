//! The best few of several candidates: one choice after the other, each among those that are left.

use dashu_ratio::RBig;
use exact::Exact;
use measures::{Epsilon, Measure, Number, PureDp, Rho, Zcdp};
use odometer::{Measurement, Space};
use queryable::{AskError, coins::Distribution};

use super::{Scores, concentrated, pure};
use crate::{
    error::BuildError,
    parameter::{self, Parameter},
    samplers::{ExponentialChoice, PermuteAndFlip},
    sensitivity::KnownOn,
};

/// How often to choose, at which ε each time.
struct Peeling<'a> {
    name: &'static str,
    times: usize,
    each: &'a Exact,
}

/// A measurement that draws candidates without putting them back.
fn peel<S, M, F, K, L, B, C>(
    plan: Peeling<'_>,
    space: S,
    scores: Scores<F, K>,
    priced: (M, L),
    choice: B,
) -> Result<Measurement<S, M, Vec<usize>>, BuildError>
where
    S: Space<Distance: Number>,
    M: Measure,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
    L: Fn(&Exact) -> M::Loss + Send + Sync + 'static,
    B: Fn(Vec<RBig>) -> Result<C, BuildError> + Send + Sync + 'static,
    C: Distribution<Outcome = usize>,
{
    let Peeling { name, times, each } = plan;
    if times == 0 || times > scores.candidates {
        let expected = "at least 1 and at most the number of candidates";
        let what = "the number of candidates to choose";
        return Err(BuildError::out_of_range(what, expected, times));
    }
    let (map, unit) = scores.priced(&space, each, priced)?;
    let candidates = scores.candidates;
    let measurement = Measurement::new(name, space, map, move |data, scope| {
        let mut left = scores.penalties(data.as_ref(), &unit);
        let mut numbers: Vec<usize> = (0..candidates).collect();
        let mut chosen = Vec::with_capacity(times);
        for _ in 0..times {
            let choice =
                choice(left.clone()).map_err(|error| AskError::failed(error.to_string()))?;
            let at = scope.draw(&choice)?;
            left.remove(at);
            chosen.push(numbers.remove(at));
        }
        Ok(chosen)
    });
    Ok(measurement
        .with_parameter("candidates", candidates)
        .with_parameter("chosen", times)
        .with_parameter("ε of each", each))
}

/// The best `times` of several candidates, the best first, by permute-and-flip among those that are left (*peeling*): ε in all per
/// started unit of distance, an equal part for each choice, by composition.
///
/// ```
/// use odometry::mechanisms::{selection::{Scores, top_k}, sparse::Sensitivity};
/// use odometry::measures::SymmetricDistance;
/// use odometry::odometer::Records;
/// let count = |votes: &Vec<usize>, i| votes.iter().filter(|v| **v == i).count() as i64;
/// let tally = Scores::moving(5, Sensitivity::of_counts::<SymmetricDistance>(), count)?;
/// let best = top_k(Records::new(), tally, 2, "1")?;
/// assert_eq!(best.map().loss(&1)?.to_string(), "1");
/// assert_eq!(best.invoke([vec![3; 500], vec![1; 300]].concat())?, [3, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::OutOfRange`] if there are fewer candidates; [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn top_k<S, F, K>(
    space: S,
    scores: Scores<F, K>,
    times: usize,
    epsilon: impl Parameter,
) -> Result<Measurement<S, PureDp, Vec<usize>>, BuildError>
where
    S: Space<Distance: Number>,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
{
    let each =
        scores.epsilon_spending(parameter::loss("ε", epsilon)?.split(times.max(1) as u64))?;
    let (measure, one) = pure(&each);
    let loss = move |changes: &Exact| Epsilon::new(one(changes).value().times(times as u64));
    let plan = Peeling {
        name: "top k",
        times,
        each: &each,
    };
    peel(plan, space, scores, (measure, loss), PermuteAndFlip::new)
}

/// The same by the exponential mechanism, with its zCDP guarantee: `times·(ε·d)²/8` for an ε each, so ρ in all at distance 1.
///
/// It is also the law of *one-shot* selection, of the largest scores with Gumbel noise (\[DR19\]): no other bound is needed for that.
///
/// # Errors
/// As [`top_k`].
pub fn top_k_zcdp<S, F, K>(
    space: S,
    scores: Scores<F, K>,
    times: usize,
    rho: impl Parameter,
) -> Result<Measurement<S, Zcdp, Vec<usize>>, BuildError>
where
    S: Space<Distance: Number>,
    F: Fn(&S::Data, usize) -> i64 + Send + Sync + 'static,
    K: KnownOn<S>,
{
    let share = parameter::loss("ρ", rho)?.split(times.max(1) as u64);
    let each = scores.epsilon_spending_rho(&share)?;
    let rate = each.clone();
    let loss =
        move |changes: &Exact| Rho::new(concentrated(&rate, changes).value().times(times as u64));
    let plan = Peeling {
        name: "top k",
        times,
        each: &each,
    };
    peel(plan, space, scores, (Zcdp, loss), ExponentialChoice::new)
}
