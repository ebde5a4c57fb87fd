//! Measurements straight: what they know of their pair, or what their measure says of it.

use std::fmt;
use std::sync::Arc;

use exact::Exact;
use measures::{
    ApproxDp, ApproxGaussianDp, ApproxZcdp, CountsRecords, EpsilonDelta, GaussianDp, MapError,
    Measure, Metric, ProfileDp, Promise, PureDp, RenyiCurveDp, RenyiDp, SymmetricDistance,
    TradeoffDp, Zcdp,
};

use crate::{Accountant, AccountantError, Mechanism};

/// What a measurement knows of its loss distribution: at a distance, a pair that dominates it. It stands beside the
/// measurement's own map, and its author vouches for it as for the map.
///
/// It is no privacy map of an account: pairs that look different in both directions may be composed for the same data only.
/// So it is lost where a measurement is put behind a transformation; [`after`](PairMap::after) says what is true there.
///
/// ```
/// use odometry::accountant::{Accountant, Mechanism, PairMap};
/// use odometry::prelude::*;
/// // Gaussian noise, for which its author claims ε = 1 at δ = 1e-5.
/// let map = PrivacyMap::<SymmetricDistance, _>::constant_up_to(ApproxDp, 1, "(1, 1e-5)")?;
/// let noisy = Measurement::new("noisy", Records::<i64>::new(), map, |_, _| Ok(42))
///     .knowing(PairMap::<SymmetricDistance>::new(|d_in| {
///         Mechanism::gaussian(*d_in, 4).ok()
///     }));
/// let epsilon = Accountant::new().add(&noisy, 100)?.epsilon("1e-5")?;
/// assert!(epsilon < "13.21".parse()?); // 100 times (1, 1e-5) cannot be had at δ = 1e-5 at all
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PairMap<MI: Metric>(Arc<Function<MI>>);

type Function<MI> = dyn Fn(&<MI as Metric>::Distance) -> Option<Mechanism> + Send + Sync;

impl<MI: Metric> PairMap<MI> {
    /// The pairs that a function computes; `None` where none is known, and the measurement's own map counts.
    pub fn new(pair: impl Fn(&MI::Distance) -> Option<Mechanism> + Send + Sync + 'static) -> Self {
        PairMap(Arc::new(pair))
    }

    /// The pair at this distance, if one is known.
    pub fn at(&self, d_in: &MI::Distance) -> Option<Mechanism> {
        (self.0)(d_in)
    }

    /// These pairs after a transformation that is stable: each by one pair for [both directions](Mechanism::either_way),
    /// because an addition may have become a removal.
    pub fn after<M0: Metric>(
        &self,
        stability: impl Fn(&M0::Distance) -> Result<MI::Distance, MapError> + Send + Sync + 'static,
    ) -> PairMap<M0> {
        let inner = self.clone();
        PairMap::new(move |d_in| inner.at(&stability(d_in).ok()?)?.either_way().ok())
    }
}

impl PairMap<SymmetricDistance> {
    /// These pairs on a Poisson sample, at distance 1; beyond it none is known.
    #[must_use]
    pub fn poisson_sampled(&self, rate: Exact) -> Self {
        let inner = self.clone();
        PairMap::new(move |d_in| match d_in {
            0 => Mechanism::randomized_response(0).ok(),
            1 => inner.at(&1)?.poisson_sampled(rate.clone()).ok(),
            _ => None,
        })
    }
}

impl<MI: Metric> Clone for PairMap<MI> {
    fn clone(&self) -> Self {
        PairMap(Arc::clone(&self.0))
    }
}

impl<MI: Metric> fmt::Debug for PairMap<MI> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairMap")
    }
}

/// A measure that may know a pair for a loss: one that dominates every mechanism with this loss. `None` where the loss does
/// not bound a pair (zCDP, Rényi privacy).
pub trait Paired: Measure {
    /// The pair for this loss, if there is one.
    fn pair(&self, loss: &Self::Loss) -> Option<Mechanism>;
}

impl Paired for PureDp {
    fn pair(&self, loss: &measures::Epsilon) -> Option<Mechanism> {
        Mechanism::randomized_response(loss.value()).ok()
    }
}

impl Paired for ApproxDp {
    fn pair(&self, loss: &EpsilonDelta) -> Option<Mechanism> {
        Some(Mechanism::from(loss.clone()))
    }
}

impl Paired for GaussianDp {
    fn pair(&self, loss: &measures::Mu) -> Option<Mechanism> {
        match loss.value().is_infinite() {
            true => Mechanism::randomized_response(Exact::INFINITY).ok(),
            false => Mechanism::gaussian(loss.value(), 1).ok(),
        }
    }
}

impl Paired for ProfileDp {
    fn pair(&self, loss: &measures::Profile) -> Option<Mechanism> {
        Some(Mechanism::from(loss))
    }
}

impl Paired for TradeoffDp {
    fn pair(&self, loss: &measures::Tradeoff) -> Option<Mechanism> {
        Some(Mechanism::from(loss))
    }
}

macro_rules! no_pairs {
    ($($measure:ty),*) => {
        $(impl Paired for $measure {
            fn pair(&self, _: &<$measure as Measure>::Loss) -> Option<Mechanism> {
                None
            }
        })*
    };
}
no_pairs!(Zcdp, ApproxZcdp, ApproxGaussianDp, RenyiDp, RenyiCurveDp);

/// What [`Accountant::add`] takes: a [`Mechanism`], or a measurement by reference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be counted",
    note = "add a `Mechanism`, or a reference to a measurement whose distances count records"
)]
pub trait Countable {
    /// An accountant, or a result.
    type Made;

    /// Adds it.
    #[doc(hidden)]
    fn add_to(self, accountant: Accountant, count: u64) -> Self::Made;
}

impl Countable for Mechanism {
    type Made = Accountant;

    fn add_to(self, accountant: Accountant, count: u64) -> Accountant {
        accountant.with(self, count)
    }
}

/// At distance 1 of its metric, which is that of all measurements of the accountant. For other distances, and other metrics, see
/// [`Mechanism::of`].
impl<P: Promise<Metric: CountsRecords, Measure: Paired>> Countable for &P {
    type Made = Result<Accountant, AccountantError>;

    fn add_to(self, accountant: Accountant, count: u64) -> Self::Made {
        let accountant = accountant.related(self)?;
        Ok(accountant.with(Mechanism::of(self, &1)?, count))
    }
}

impl Mechanism {
    /// The pair that a measurement knows at this distance, or the pair of its loss there. The mechanism has no metric: the caller
    /// vouches for the data that are this far apart.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// use odometry::mechanisms::{additive::add_noise, samplers::DiscreteGaussian};
    /// let noisy = add_noise(DiscreteGaussian::with_scale(30)?);
    /// let pair = Mechanism::of(&noisy, &2u32.into())?;
    /// let epsilon = Accountant::new().add(pair, 100).epsilon("1e-6")?;
    /// assert!(epsilon < "3.1".parse()?); // zCDP gives 3.6
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AccountantError::Unknown`] where neither is known, [`AccountantError::Map`] where the map fails.
    pub fn of<P: Promise<Measure: Paired>>(
        promise: &P,
        d_in: &<P::Metric as Metric>::Distance,
    ) -> Result<Mechanism, AccountantError> {
        let known = promise.known::<PairMap<P::Metric>>();
        if let Some(pair) = known.and_then(|pairs| pairs.at(d_in)) {
            return Ok(pair);
        }
        let map = promise.promised();
        let loss = map.loss(d_in).map_err(|source| AccountantError::Map {
            mechanism: exact::excerpt(&promise.title()),
            source,
        })?;
        let pair = map.measure().pair(&loss);
        pair.ok_or_else(|| AccountantError::Unknown {
            mechanism: exact::excerpt(&promise.title()),
            distance: exact::excerpt(d_in),
        })
    }
}
