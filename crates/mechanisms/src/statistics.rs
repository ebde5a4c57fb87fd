//! Numbers that describe others: quantiles, bounds for clamping, means and variances, and how many values are different. What
//! is built from a loss and a value of each record has one signature on purpose.

use std::{collections::BTreeSet, sync::Arc};

use exact::Exact;
use measures::{CountsRecords, Measure, PureDp, Zcdp};
use odometer::{Collection as _, Measurement, OfRecords, Space};
use queryable::{Canonical, Scope};

pub use crate::moments::{
    mean, mean_on_grid, mean_spending, variance, variance_on_grid, variance_spending,
};
use crate::{
    additive::Spending,
    error::BuildError,
    integers::noisy,
    noise::{Change, Noise, described},
    parameter::Parameter,
    selection::{Scores, exponential_for_rho, report_noisy_max_for_epsilon},
    sensitivity::per_started_unit,
    sparse::{Gate, Sensitivity, SparseVector},
    spend::Spend,
};

/// Which part of the records is below a quantile: `part` of `of`, such as 1 of 2 for the median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantile {
    part: u32,
    of: u32,
}

impl Quantile {
    /// One half.
    pub const MEDIAN: Self = Self { part: 1, of: 2 };

    /// `part` of `of`.
    ///
    /// # Errors
    /// [`BuildError::OutOfRange`] if the part is more than the whole, or the whole is zero.
    pub fn new(part: u32, of: u32) -> Result<Self, BuildError> {
        match part <= of && of > 0 {
            true => Ok(Self { part, of }),
            false => {
                let expected = "at most the whole, which is above zero";
                Err(BuildError::out_of_range("the part", expected, part))
            }
        }
    }

    /// How much the score of a candidate changes with one record: `of − part` or `part`, or both if it is replaced.
    fn sensitivity<MI: CountsRecords>(self) -> u32 {
        match MI::REPLACES {
            true => self.of,
            false => self.part.max(self.of - self.part),
        }
    }

    /// Minus `|(of − part)·below − part·above|`: zero where the candidate is the quantile.
    fn score(self, below: u64, above: u64) -> i64 {
        let too_many = i128::from(self.of - self.part) * i128::from(below);
        let off = too_many - i128::from(self.part) * i128::from(above);
        // Squeezed into 64 bits, which moves no two numbers apart.
        -off.abs().min(i64::MAX.into()) as i64
    }
}

/// A quantile of the values of records, as one of the candidates: \[Smi11\] with integer scores and permute-and-flip.
///
/// A candidate is as good as the numbers of records below and above it are in proportion. The loss is ε per record, exactly.
/// Candidates are the author's: they must not come from the data. With `n` candidates, the ranks are off by about
/// `2·ln(n)/ε` records on average. The author vouches that `value` looks at
/// nothing but its record and does not panic.
///
/// ```
/// use odometry::mechanisms::statistics::{Quantile, quantile};
/// use odometry::odometer::Records;
/// let ages = Records::<i64>::new();
/// let median = quantile(ages, Quantile::MEDIAN, (0..=120).collect(), "0.5", |age| *age)?;
/// assert_eq!(median.map().loss(&1)?.to_string(), "0.5");
/// let age: i64 = median.invoke((0..1000).map(|i| i % 80).collect())?;
/// assert!((25..=55).contains(&age));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::Empty`] without candidates; [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn quantile<S, F>(
    space: S,
    quantile: Quantile,
    candidates: Vec<i64>,
    epsilon: impl Parameter,
    value: F,
) -> Result<Measurement<S, PureDp, i64>, BuildError>
where
    S: OfRecords,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    let (shown, scores) = scored::<S, F>(quantile, candidates, value)?;
    let chosen = report_noisy_max_for_epsilon(space, scores, epsilon)?;
    Ok(found(chosen, quantile, shown))
}

/// [`quantile`] by the exponential mechanism, that costs this ρ for a record, or less by a relative `1e-14` at the most.
///
/// # Errors
/// As [`quantile`].
pub fn quantile_for_rho<S, F>(
    space: S,
    quantile: Quantile,
    candidates: Vec<i64>,
    rho: impl Parameter,
    value: F,
) -> Result<Measurement<S, Zcdp, i64>, BuildError>
where
    S: OfRecords,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    let (shown, scores) = scored::<S, F>(quantile, candidates, value)?;
    let chosen = exponential_for_rho(space, scores, rho)?;
    Ok(found(chosen, quantile, shown))
}

/// The candidates, and how good each is.
type Scored<F> = (Arc<[i64]>, Scores<F>);

fn scored<S, F>(
    quantile: Quantile,
    candidates: Vec<i64>,
    value: F,
) -> Result<Scored<impl Fn(&S::Data, usize) -> i64 + Send + Sync + 'static>, BuildError>
where
    S: OfRecords,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    let candidates: Arc<[i64]> = candidates.into();
    let shown = Arc::clone(&candidates);
    let score = move |records: &S::Data, at: usize| {
        let (mut below, mut above) = (0, 0);
        records.each(&mut |record| {
            let value = value(record);
            below += u64::from(value < candidates[at]);
            above += u64::from(value > candidates[at]);
        });
        quantile.score(below, above)
    };
    let sensitivity = quantile.sensitivity::<S::Metric>();
    let scores = Scores::new(shown.len(), sensitivity, score)?;
    Ok((shown, scores))
}

/// The candidate that was chosen.
fn found<S: Space, M: Measure>(
    chosen: Measurement<S, M, usize>,
    Quantile { part, of }: Quantile,
    shown: Arc<[i64]>,
) -> Measurement<S, M, i64> {
    chosen
        .postprocess(move |at| shown[at])
        .named("quantile")
        .with_parameter("quantile", format!("{part}/{of}"))
}

/// A bound for clamping: the first power of two that this part of the absolute values does not exceed, by [`first_bound`].
///
/// ε per record, exactly. [`SparseVector::margin`] says by how many records it can be off.
///
/// ```
/// use odometry::mechanisms::statistics::{Quantile, clamping_bound};
/// use odometry::odometer::Records;
/// let bound = clamping_bound(Records::<i64>::new(), Quantile::new(95, 100)?, "0.5", |x| *x)?;
/// assert_eq!(bound.map().loss(&1)?.to_string(), "0.5");
/// let bound: i64 = bound.invoke((0..10_000).map(|i| i % 700).collect())?;
/// assert!((256..=2048).contains(&bound));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
pub fn clamping_bound<S, F>(
    space: S,
    part: Quantile,
    epsilon: impl Parameter,
    value: F,
) -> Result<Measurement<S, PureDp, i64>, BuildError>
where
    S: OfRecords,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    let powers: Vec<i64> = (0..63).map(|power| 1i64 << power).collect();
    let sensitivity = Sensitivity::free(part.sensitivity::<S::Metric>().into())?;
    let plan = (powers.len() as u64, 0.05);
    let comparisons = SparseVector::for_comparisons(epsilon, sensitivity, 1, plan)?;
    first_bound(space, part, powers, comparisons, value)
}

/// The first of these bounds that at least this part of the absolute values does not exceed, by sparse vector with one answer "above";
/// `i64::MAX` if none is.
///
/// A comparison is of `of·within − part·records` with zero, which one record changes as it changes the scores of
/// [`quantile`]; loss per record: [`SparseVector::loss`] at that sensitivity. The author vouches that `value` looks at nothing but its
/// record and does not panic.
///
/// # Errors
/// [`BuildError::Empty`] without bounds.
pub fn first_bound<S, F>(
    space: S,
    part: Quantile,
    bounds: Vec<i64>,
    comparisons: SparseVector,
    value: F,
) -> Result<Measurement<S, PureDp, i64>, BuildError>
where
    S: OfRecords,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    if bounds.is_empty() {
        return Err(BuildError::Empty { what: "the bounds" });
    }
    let sensitivity = Sensitivity::free(part.sensitivity::<S::Metric>().into())?;
    let map = per_started_unit(comparisons.loss(sensitivity));
    let parameters = Arc::new(comparisons.clone());
    let find = move |data: &Arc<S::Data>, scope: &mut Scope<'_>| {
        let mut gate = Gate::new(&parameters);
        for bound in &bounds {
            let (mut all, mut within) = (0i128, 0i128);
            data.each(&mut |record| {
                all += 1;
                within += i128::from(value(record).saturating_abs() <= *bound);
            });
            let asked = i128::from(part.part) * all;
            if gate.is_above(i128::from(part.of) * within - asked, 0, scope)? {
                return Ok(*bound);
            }
        }
        Ok(i64::MAX)
    };
    let measurement = Measurement::new("clamping bound", space, map, find);
    let Quantile { part, of } = part;
    Ok(comparisons.describe(measurement.with_parameter("quantile", format!("{part}/{of}"))))
}

/// How many different keys occur, with the least noise that costs this at distance 1.
///
/// A record that comes, goes or is replaced changes the number by one at most. The author vouches
/// that `key` looks at nothing but its record and does not panic. Keys are [`Canonical`], because
/// the bound is wrong for an order that is not total.
///
/// # Errors
/// As [`Spend::noise_for`].
pub fn count_distinct_spending<S, L, K: Canonical>(
    space: S,
    loss: L,
    key: impl Fn(&S::Record) -> K + Send + Sync + 'static,
) -> Result<Spending<S, L, i64>, BuildError>
where
    S: OfRecords,
    L: Spend,
{
    let one = Change::one(&Exact::ONE);
    let noise = loss.noise_for(&one)?;
    let map = noise.map_per_unit(one);
    let drawn = noise.clone();
    let measurement = Measurement::new("count of distinct keys", space, map, move |data, scope| {
        let mut keys: BTreeSet<K> = BTreeSet::new();
        data.each(&mut |record| {
            keys.insert(key(record));
        });
        noisy(keys.len() as i128, &drawn, scope)
    });
    Ok(described(measurement, &noise))
}
