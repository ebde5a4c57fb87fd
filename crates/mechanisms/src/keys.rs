//! Keys that nobody lists in advance: histograms over the keys that occur, and the choice of keys that may be shown.
//!
//! A key that occurs once must not show by occurring. So a key is shown with a probability that is small where its count is
//! small: that probability, at a count of one, is the δ, exactly.
//!
//! Keys are [`Canonical`], so that equal keys of different records are one key; and what is shown
//! is rebuilt, so that a record cannot show by the capacity or the address of its key. For keys of
//! another type the caller vouches with [`Attested`](queryable::Attested).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{ApproxDp, CountsRecords, EpsilonDelta, PrivacyMap};
use odometer::{Collection, Measurement, OfRecords};
use queryable::{
    Canonical,
    coins::{Bit, Probability},
};

use crate::{
    error::BuildError,
    integers::noisy,
    noise::{ApproxGaussian, Change, Noise, described},
    parameter::{self, Parameter},
    samplers::{DiscreteLaplace, upper},
};

/// Noise for counts of keys that nobody lists: its tail decides whether a key is shown that occurs once.
pub trait KeyNoise: Noise {
    /// The loss of a count that changes by one.
    fn one_count(&self) -> EpsilonDelta;

    /// The probability of at least this much, above zero. Rounded up.
    fn tail(&self, at_least: u64) -> Exact;
}

/// A measurement of the counts of keys, by key. Keys are rebuilt: `&'static str` as `String`.
pub type KeyCounts<S, K> = Measurement<S, ApproxDp, BTreeMap<<K as Canonical>::Rebuilt, i64>>;

/// A measurement of the keys that may be shown. Keys are rebuilt: `&'static str` as `String`.
pub type ChosenKeys<S, K> = Measurement<S, ApproxDp, BTreeSet<<K as Canonical>::Rebuilt>>;

/// Digits of a tail.
const TAIL_BITS: usize = 1200;

impl KeyNoise for DiscreteLaplace {
    fn one_count(&self) -> EpsilonDelta {
        EpsilonDelta::saturating(self.loss_per_unit(), Exact::ZERO)
    }

    fn tail(&self, at_least: u64) -> Exact {
        let tail = upper(
            &self.upper_tail(&UBig::from(at_least), TAIL_BITS),
            TAIL_BITS,
        );
        Exact::from_rational(&tail, Round::Up).map_or(Exact::ONE, |tail| tail.min(Exact::ONE))
    }
}

impl KeyNoise for ApproxGaussian {
    fn one_count(&self) -> EpsilonDelta {
        self.loss(&Change::one(&Exact::ONE))
    }

    /// Summed up, or `e^(−m²/2σ²)` (\[CKS20\]: it is subgaussian), whichever is less.
    fn tail(&self, at_least: u64) -> Exact {
        let m = RBig::from(at_least);
        let exponent = Exact::from_rational(&(&m * &m * self.gaussian().rate()), Round::Down);
        let bound = exponent.map_or(Exact::ONE, |x| x.exp(Round::Down).recip(Round::Up));
        let sum = self.gaussian().upper_tail(&IBig::from(at_least), TAIL_BITS);
        let sum = sum.map(|tail| upper(&tail, TAIL_BITS));
        let sum = sum.and_then(|tail| Exact::from_rational(&tail, Round::Up).ok());
        sum.map_or(bound.clone(), |sum| sum.min(bound))
    }
}

/// The map of a mechanism that looks at each key by its count alone: a record that comes or goes changes one count by one, a
/// replaced one two; further apart by group privacy. Rounded up.
fn by_counts<MI: CountsRecords>(one: EpsilonDelta) -> PrivacyMap<MI, ApproxDp> {
    let steps = PrivacyMap::<MI, _>::constant_up_to(ApproxDp, 1, one).group();
    steps.after_times(if MI::REPLACES { 2 } else { 1 })
}

fn counted<C: Collection, K: Canonical>(
    records: &C,
    key: impl Fn(&C::Record) -> K,
) -> BTreeMap<K, i128> {
    let mut counts = BTreeMap::new();
    records.each(&mut |record| *counts.entry(key(record)).or_insert(0) += 1);
    counts
}

/// Counts the records of each key that occurs, with noise, and shows the counts that are at least the threshold.
///
/// *Loss* for one record (\[KKMN09\], with the exact tail; derived here). If its key occurs otherwise, one count changes by one: that of
/// the noise. If not, the key shows with probability `P(noise ≥ threshold − 1)`, which is δ, and nothing else differs. So
/// (ε, δ) with the larger δ of the two. Keys are shown in their order. The author vouches that `key` looks at nothing but its
/// record and does not panic.
///
/// ```
/// use odometry::mechanisms::{keys::histogram_of_keys_spending, spend::epsilon};
/// use odometry::odometer::Records;
/// let words = Records::<&'static str>::new();
/// let counts = histogram_of_keys_spending(words, epsilon("1"), "1e-6", |word| *word)?;
/// assert!(counts.map().loss(&1)?.delta() <= &"1e-6".parse()?);
/// let shown = counts.invoke([vec!["often"; 1000], vec!["once"]].concat())?;
/// assert!(shown.contains_key("often")); // a `String`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotPositive`] for a threshold below 1.
pub fn histogram_of_keys<S, N, K>(
    space: S,
    noise: N,
    threshold: i64,
    key: impl Fn(&S::Record) -> K + Send + Sync + 'static,
) -> Result<KeyCounts<S, K>, BuildError>
where
    S: OfRecords,
    N: KeyNoise,
    K: Canonical,
{
    let above_one = u64::try_from(threshold)
        .ok()
        .and_then(|at| at.checked_sub(1));
    let above_one =
        above_one.ok_or_else(|| BuildError::not_positive("the threshold", threshold))?;
    let (count, appears) = (noise.one_count(), noise.tail(above_one));
    let delta = count.delta().clone().max(appears);
    let one = EpsilonDelta::saturating(count.epsilon().clone(), delta);
    let drawn = noise.clone();
    let measurement = Measurement::new(
        "histogram of keys",
        space,
        by_counts::<S::Metric>(one),
        move |data: &Arc<S::Data>, scope| {
            let mut shown = BTreeMap::new();
            for (key, count) in counted(&**data, &key) {
                let count = noisy(count, &drawn, scope)?;
                if count >= threshold {
                    shown.insert(key.rebuild(), count);
                }
            }
            Ok(shown)
        },
    );
    Ok(described(
        measurement.with_parameter("threshold", threshold),
        &noise,
    ))
}

/// [`histogram_of_keys`] with the least noise that costs this for a count, and the least threshold that costs this δ.
///
/// # Errors
/// As [`Spend::noise_for`](crate::spend::Spend::noise_for); [`BuildError::OutOfRange`] for a δ that no threshold keeps.
pub fn histogram_of_keys_spending<S, L, K>(
    space: S,
    loss: L,
    delta: impl Parameter,
    key: impl Fn(&S::Record) -> K + Send + Sync + 'static,
) -> Result<KeyCounts<S, K>, BuildError>
where
    S: OfRecords,
    L: crate::spend::Spend<Noise: KeyNoise>,
    K: Canonical,
{
    let delta = parameter::delta(delta)?;
    let noise = loss.noise_for(&Change::one(&Exact::ONE))?;
    let fits = |at: u64| noise.tail(at) <= delta;
    let mut high = 1u64;
    while !fits(high) {
        high = high.saturating_mul(2);
        if high > 1 << 40 {
            let expected = "such that a threshold below 2^40 keeps it";
            return Err(BuildError::out_of_range("δ", expected, delta));
        }
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low.midpoint(high);
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    histogram_of_keys(space, noise, high as i64 + 1, key)
}

/// With which probability a key is shown, by its count: as large as (ε, δ) allows (\[DVGM22\]).
#[derive(Clone, Debug)]
pub(crate) struct Chances(Vec<Probability>);

/// The longest table.
const MOST_CHANCES: usize = 1 << 16;
/// Digits of a probability in it, rounded down.
const CHANCE_BITS: usize = 128;

impl Chances {
    /// `π(n + 1)` is the least of `e^ε·π(n) + δ`, `1 − e^−ε·(1 − δ − π(n))` and 1, with `e^ε` rounded down: what is less than these
    /// bounds keeps them, too, as long as chances do not fall.
    pub(crate) fn new(epsilon: &Exact, delta: &Exact) -> Result<Self, BuildError> {
        let factor = epsilon.exp(Round::Down).to_rational();
        let refused = || BuildError::out_of_range("ε", "large enough for 65,536 counts", epsilon);
        let given = delta;
        let (factor, delta) = factor.zip(delta.to_rational()).ok_or_else(refused)?;
        let unit = UBig::ONE << CHANCE_BITS;
        let floor =
            |x: RBig| RBig::from_parts((x * RBig::from(unit.clone())).floor(), unit.clone());
        if floor(delta.clone()).is_zero() {
            let expected = "at least 2^-128";
            return Err(BuildError::out_of_range("δ", expected, given));
        }
        let (mut chances, mut chance) = (Vec::new(), RBig::ZERO);
        while chance < RBig::ONE {
            if chances.len() == MOST_CHANCES {
                return Err(refused());
            }
            let rises = &chance * &factor + &delta;
            let rest = RBig::ONE - &delta - &chance;
            let stays = RBig::ONE - rest / &factor;
            let next = floor(rises.min(stays).min(RBig::ONE)).max(chance);
            chances.push(Probability::try_from(next.clone()).map_err(|_| refused())?);
            chance = next;
        }
        Ok(Self(chances))
    }

    /// For a count of at least one.
    pub(crate) fn of(&self, count: i128) -> Probability {
        let chance = usize::try_from(count - 1)
            .ok()
            .and_then(|at| self.0.get(at));
        chance.cloned().unwrap_or(Probability::ONE)
    }
}

/// The keys that may be shown: each with the largest probability that (ε, δ) allows, given that the choice for a key depends on its own
/// count only (\[DVGM22\]).
///
/// *Loss* for one record: (ε, δ), exactly as given. The author vouches that `key` looks at nothing but its record and does not
/// panic.
///
/// ```
/// use odometry::mechanisms::keys::choose_keys;
/// use odometry::odometer::Records;
/// let keys = choose_keys(Records::<u32>::new(), "1", "1e-6", |zip| *zip)?;
/// assert_eq!(keys.map().loss(&1)?.to_string(), "(1, 0.000001)");
/// assert!(keys.invoke(vec![90210; 1000])?.contains(&90210));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`]; [`BuildError::OutOfRange`] for a δ of 1 and more, and for an ε
/// so small that a key would have to occur 65,536 times to be shown for certain.
pub fn choose_keys<S, K>(
    space: S,
    epsilon: impl Parameter,
    delta: impl Parameter,
    key: impl Fn(&S::Record) -> K + Send + Sync + 'static,
) -> Result<ChosenKeys<S, K>, BuildError>
where
    S: OfRecords,
    K: Canonical,
{
    let (epsilon, delta) = (parameter::loss("ε", epsilon)?, parameter::delta(delta)?);
    let chances = Chances::new(&epsilon, &delta)?;
    let one = EpsilonDelta::saturating(epsilon.clone(), delta.clone());
    let measurement = Measurement::new(
        "choice of keys",
        space,
        by_counts::<S::Metric>(one),
        move |data: &Arc<S::Data>, scope| {
            let mut shown = BTreeSet::new();
            for (key, count) in counted(&**data, &key) {
                if scope.draw(&Bit::new(chances.of(count)))? {
                    shown.insert(key.rebuild());
                }
            }
            Ok(shown)
        },
    );
    Ok(measurement
        .with_parameter("ε", epsilon)
        .with_parameter("δ", delta))
}
