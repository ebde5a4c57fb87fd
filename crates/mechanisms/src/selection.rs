//! Choosing the best of several candidates: the exponential mechanism, and report-noisy-max as permute-and-flip.

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Epsilon, Measure, Metric, Number, PrivacyMap, PureDp, Rho, Zcdp};
use odometer::{Domain, Measurement, Space};
use queryable::{AskError, coins::Distribution};

use crate::{
    error::BuildError,
    samplers::{ExponentialChoice, PermuteAndFlip},
};

/// What to choose from, and how well.
///
/// `score(data, candidate)` is an integer for each candidate below `candidates`. Its author vouches that every score
/// changes by at most `sensitivity` per unit of distance, and that the function does not panic.
#[derive(Clone)]
pub struct Scores<F> {
    candidates: usize,
    sensitivity: RBig,
    score: F,
}

impl<F> Scores<F> {
    /// The scores of the candidates `0..candidates`.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without candidates; [`BuildError::NotPositive`] for the sensitivity.
    pub fn new(candidates: usize, sensitivity: &Exact, score: F) -> Result<Self, BuildError> {
        if candidates == 0 {
            return Err(BuildError::Empty {
                what: "the candidates",
            });
        }
        Ok(Self {
            candidates,
            sensitivity: positive("the sensitivity", sensitivity)?,
            score,
        })
    }

    /// How far each candidate is behind the best, in units of `2·sensitivity/ε`.
    fn penalties<X>(&self, data: &X, epsilon: &RBig) -> Vec<RBig>
    where
        F: Fn(&X, usize) -> i64,
    {
        let scores: Vec<i64> = (0..self.candidates)
            .map(|i| (self.score)(data, i))
            .collect();
        let best = scores.iter().max().copied().unwrap_or_default();
        let unit = epsilon / (&self.sensitivity * RBig::from(2u8));
        let behind = |score: i64| RBig::from(IBig::from(best) - IBig::from(score));
        scores
            .into_iter()
            .map(|score| behind(score) * &unit)
            .collect()
    }
}

pub(crate) fn positive(what: &'static str, value: &Exact) -> Result<RBig, BuildError> {
    match value.to_rational() {
        Some(value) if value > RBig::ZERO => Ok(value),
        _ => Err(BuildError::not_positive(what, value)),
    }
}

fn select<D, MI, M, F, C>(
    name: &'static str,
    space: Space<D, MI>,
    scores: Scores<F>,
    epsilon: RBig,
    map: PrivacyMap<MI, M>,
    choice: impl Fn(Vec<RBig>) -> Result<C, BuildError> + Send + Sync + 'static,
) -> Measurement<D, MI, M, usize>
where
    D: Domain,
    MI: Metric,
    M: Measure,
    F: Fn(&D::Carrier, usize) -> i64 + Send + Sync + 'static,
    C: Distribution<Outcome = usize>,
{
    Measurement::new(name, space, map, move |data, scope| {
        let penalties = scores.penalties(data.as_ref(), &epsilon);
        let choice = choice(penalties).map_err(|error| AskError::failed(error.to_string()))?;
        scope.draw(&choice)
    })
}

/// The exponential mechanism (McSherry, Talwar 2007): a candidate with probability proportional to `e^(ε·score/2Δ)`.
///
/// ε per unit of distance, exactly as given.
///
/// ```
/// use measures::SymmetricDistance;
/// use mechanisms::selection::{Scores, exponential};
/// use odometer::Space;
/// let votes = Space::any::<Vec<usize>>(SymmetricDistance);
/// let tally = Scores::new(3, &"1".parse()?, |votes: &Vec<usize>, i| votes.iter().filter(|v| **v == i).count() as i64)?;
/// let winner = exponential(votes, tally, &"0.5".parse()?)?;
/// assert_eq!(winner.map().loss(&2)?.to_string(), "1");
/// assert!(winner.invoke(vec![0, 1, 1, 2])? < 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotPositive`] for ε.
pub fn exponential<D, MI, F>(
    space: Space<D, MI>,
    scores: Scores<F>,
    epsilon: &Exact,
) -> Result<Measurement<D, MI, PureDp, usize>, BuildError>
where
    D: Domain,
    MI: Metric<Distance: Number>,
    F: Fn(&D::Carrier, usize) -> i64 + Send + Sync + 'static,
{
    let map = PrivacyMap::linear(space.metric.clone(), PureDp, Epsilon::new(epsilon.clone()));
    let epsilon = positive("ε", epsilon)?;
    Ok(select(
        "exponential mechanism",
        space,
        scores,
        epsilon,
        map,
        ExponentialChoice::new,
    ))
}

/// The exponential mechanism with its zCDP guarantee: ρ = (ε·d)²/8 at distance `d`, a quarter of what its ε alone gives,
/// because its range of losses is bounded by ε (Cesar, Rogers 2021 Lemma 3.2). Rounded up.
///
/// # Errors
/// [`BuildError::NotPositive`] for ε.
pub fn exponential_zcdp<D, MI, F>(
    space: Space<D, MI>,
    scores: Scores<F>,
    epsilon: &Exact,
) -> Result<Measurement<D, MI, Zcdp, usize>, BuildError>
where
    D: Domain,
    MI: Metric<Distance: Number>,
    F: Fn(&D::Carrier, usize) -> i64 + Send + Sync + 'static,
{
    let rate = epsilon.clone();
    let map = PrivacyMap::new(space.metric.clone(), Zcdp, move |d_in: &MI::Distance| {
        let loss = rate.mul(&d_in.number(), Round::Up).pow(2, Round::Up);
        Ok(Rho::new(loss.div(&Exact::from(8u32), Round::Up)))
    });
    let epsilon = positive("ε", epsilon)?;
    Ok(select(
        "exponential mechanism",
        space,
        scores,
        epsilon,
        map,
        ExponentialChoice::new,
    ))
}

/// Report noisy max, as permute-and-flip (McKenna, Sheldon 2020 Thm 1): never worse than the exponential mechanism at
/// the same ε, and the law of the maximum of scores with exponential noise (Ding et al. 2021).
///
/// ε per unit of distance, exactly as given.
///
/// # Errors
/// [`BuildError::NotPositive`] for ε.
pub fn report_noisy_max<D, MI, F>(
    space: Space<D, MI>,
    scores: Scores<F>,
    epsilon: &Exact,
) -> Result<Measurement<D, MI, PureDp, usize>, BuildError>
where
    D: Domain,
    MI: Metric<Distance: Number>,
    F: Fn(&D::Carrier, usize) -> i64 + Send + Sync + 'static,
{
    let map = PrivacyMap::linear(space.metric.clone(), PureDp, Epsilon::new(epsilon.clone()));
    let epsilon = positive("ε", epsilon)?;
    Ok(select(
        "report noisy max",
        space,
        scores,
        epsilon,
        map,
        PermuteAndFlip::new,
    ))
}
