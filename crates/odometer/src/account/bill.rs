//! What one launch costs, as an account sees it: the leaf measurement's own map, converted and pulled back to that
//! account's measure and distance, and the parts of partitions that it went through on the way up.

use std::{cell::OnceCell, ops::RangeInclusive, sync::Arc};

use measures::{Conversion, Loss as _, MapError, Measure, Metric, PrivacyMap, SymmetricDistance};
use queryable::guarded;

use crate::{
    account::curves::Curves, account::recorded::Recorded, account::remembered::Remembered,
    error::LaunchError, journal::Place, measurement::Description, transformation::Stability,
};

/// Beyond this many units, splits over the parts of a partition are bounded instead of enumerated.
pub(crate) const MAX_UNITS: u32 = 64;

/// Tells partitions apart. Whoever remembers an id keeps it alive, so it is never given out again.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupId(Arc<Option<Place>>);

impl GroupId {
    /// The partition at a place of a journal.
    pub(crate) fn at(place: Place) -> Self {
        Self(Arc::new(Some(place)))
    }

    /// Its place, if it has one.
    pub(crate) fn place(&self) -> Option<Place> {
        *self.0
    }

    /// A key for tables that keep the id as well.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// The price of a launch, and what was launched. A clone is the same bill.
pub(crate) struct Bill<MI: Metric, M: Measure>(Arc<Inner<MI, M>>);

struct Inner<MI: Metric, M: Measure> {
    description: Arc<Description>,
    price: Price<MI, M>,
    remembered: Remembered<MI::Distance, M::Loss>,
}

pub(super) enum Price<MI: Metric, M: Measure> {
    /// The launch reads the account's data.
    Direct(PrivacyMap<MI, M>),
    /// The launch reads one part of a partition of the account's data.
    Part(PartBill<MI, M>),
    /// The launch was written down, and happened before.
    Recorded(Recorded<MI, M>),
}

/// A launch inside a part: whatever happens to the account's data at distance `d_in` happens to all parts together in
/// `units(d_in)` units.
pub(crate) struct PartBill<MI: Metric, M: Measure> {
    pub(crate) group: GroupId,
    pub(crate) part: u64,
    pub(crate) units: Arc<Units<MI::Distance>>,
    /// The units are the distance times this, if it is that simple.
    pub(crate) factor: Option<u32>,
    pub(crate) inner: Bill<SymmetricDistance, M>,
}

pub(crate) type Units<D> = dyn Fn(&D) -> Result<u32, MapError> + Send + Sync;

/// A bill at one distance.
#[derive(Clone, Debug)]
pub(crate) enum Quote<L> {
    Direct(L),
    Part(Box<PartQuote<L>>),
}

#[derive(Clone, Debug)]
pub(crate) struct PartQuote<L> {
    /// The parts that the launch is in, the outermost first.
    pub(crate) path: Vec<Step>,
    /// What it costs at each number of units in the innermost part.
    pub(crate) losses: Arc<[L]>,
}

/// One partition on the way to the data that a launch reads.
///
/// Above it, changes of the data are told apart by their size: one size at the top, then the numbers 1, 2, … of changed
/// units.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) group: GroupId,
    pub(crate) part: u64,
    /// How many units all parts together can change by, for each size of change above.
    pub(crate) units: Vec<u32>,
}

/// A question for what remains, as accounts of this metric see it. For a cap at this distance: is it charged the loss that a
/// launch has at the distance which was asked about? Then the parts that the launch would be in, the outermost first, each
/// of them priced at one unit. Stability maps answer it, so it is asked with nothing locked.
pub(crate) type Asked<'a, MI> = &'a dyn Fn(&<MI as Metric>::Distance) -> Option<Vec<Step>>;

impl Step {
    /// At how many numbers of units a launch below this step is priced.
    pub(crate) fn sizes(&self) -> usize {
        sizes(&self.units).count()
    }

    /// Are there too many units to look at every split?
    pub(crate) fn is_bounded(&self) -> bool {
        most(&self.units) > MAX_UNITS
    }
}

fn most(units: &[u32]) -> u32 {
    units.iter().copied().max().unwrap_or(0)
}

/// The numbers of units at which launches below are priced: all, or only the largest.
pub(crate) fn sizes(units: &[u32]) -> RangeInclusive<u32> {
    let most = most(units);
    let first = if most > MAX_UNITS { most } else { 1 };
    first..=most
}

impl<MI: Metric, M: Measure> Bill<MI, M> {
    /// A launch that reads the account's data.
    pub(crate) fn direct(description: Arc<Description>, map: PrivacyMap<MI, M>) -> Self {
        Self::new(description, Price::Direct(map))
    }

    /// A launch that reads a part of the account's data, which is listed as the part `shown`.
    pub(crate) fn part(part: PartBill<MI, M>, shown: Option<&str>) -> Self {
        let mut description = Arc::clone(part.inner.description());
        if let Some(shown) = shown {
            let parameter = ("part".into(), shown.to_string());
            Arc::make_mut(&mut description).parameters.push(parameter);
        }
        Self::new(description, Price::Part(part))
    }

    pub(super) fn price_of(&self) -> &Price<MI, M> {
        &self.0.price
    }

    pub(super) fn new(description: Arc<Description>, price: Price<MI, M>) -> Self {
        Self(Arc::new(Inner {
            description,
            price,
            remembered: Remembered::nothing(),
        }))
    }

    #[inline]
    pub(crate) fn description(&self) -> &Arc<Description> {
        &self.0.description
    }

    /// Tells bills apart while they are alive.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// The bill at this distance, if it is remembered: nothing foreign runs but the comparison of distances.
    #[inline]
    pub(crate) fn remembered(&self, d_in: &MI::Distance) -> Option<&Quote<M::Loss>> {
        self.0.remembered.get(d_in)
    }

    /// The bill at this distance. Asks the map, unless the answer is remembered, or in `asked` already: foreign code, so no lock
    /// may be held. What cannot be remembered is put into `asked`.
    ///
    /// Quotes are rounded as tallies need it, here and nowhere else: whatever is charged, read, written down or restored
    /// has gone through it, and the work for a loss with very many digits is done under no lock.
    ///
    /// # Errors
    /// [`LaunchError::Map`], [`LaunchError::MapPanicked`].
    #[inline]
    pub(crate) fn quote<'a>(
        &'a self,
        d_in: &MI::Distance,
        asked: &'a OnceCell<Quote<M::Loss>>,
    ) -> Result<&'a Quote<M::Loss>, LaunchError> {
        match self.remembered(d_in).or_else(|| asked.get()) {
            Some(quote) => Ok(quote),
            None => {
                let quote = self.ask(d_in)?;
                let remembered = self.0.remembered.keep(d_in, &quote);
                Ok(remembered.unwrap_or_else(|| asked.get_or_init(|| quote)))
            }
        }
    }

    /// As [`quote`](Self::quote), to keep. Distances that are only asked about are not remembered.
    pub(crate) fn quoted(&self, d_in: &MI::Distance) -> Result<Quote<M::Loss>, LaunchError> {
        match self.remembered(d_in) {
            Some(quote) => Ok(quote.clone()),
            None => self.ask(d_in),
        }
    }

    /// As [`quoted`](Self::quoted), onto a list. Asks no map for curves that are known.
    pub(crate) fn quote_onto(
        &self,
        d_in: &MI::Distance,
        curves: &mut Curves<M>,
        quotes: &mut Vec<Quote<M::Loss>>,
    ) -> Result<(), LaunchError> {
        match self.remembered(d_in) {
            Some(quote) => {
                quotes.push(quote.clone());
                Ok(())
            }
            None => self.guarded(|| self.price(d_in, curves).map(|quote| quotes.push(quote))),
        }
    }

    fn ask(&self, d_in: &MI::Distance) -> Result<Quote<M::Loss>, LaunchError> {
        self.guarded(|| self.price(d_in, &mut Curves::default()))
    }

    /// Runs the map.
    #[inline]
    fn guarded<X>(&self, ask: impl FnOnce() -> Result<X, MapError>) -> Result<X, LaunchError> {
        match guarded(ask) {
            Ok(Ok(answer)) => Ok(answer),
            failed => Err(self.failed(failed.ok().and_then(Result::err))),
        }
    }

    #[cold]
    fn failed(&self, error: Option<MapError>) -> LaunchError {
        let launch = self.description().to_string();
        match error {
            Some(source) => LaunchError::Map { launch, source },
            None => LaunchError::MapPanicked { launch },
        }
    }

    #[inline]
    pub(super) fn price(
        &self,
        d_in: &MI::Distance,
        curves: &mut Curves<M>,
    ) -> Result<Quote<M::Loss>, MapError> {
        match &self.0.price {
            Price::Recorded(recorded) => recorded.price(d_in, curves),
            Price::Direct(map) => Ok(Quote::Direct(map.loss(d_in)?.on_grid())),
            Price::Part(part) => {
                let mut path = Vec::new();
                let losses = part.price(std::slice::from_ref(d_in), &mut path, curves)?;
                Ok(Quote::Part(Box::new(PartQuote { path, losses })))
            }
        }
    }

    /// Has its map been translated more often than maps may be nested?
    pub(crate) fn is_too_deep(&self) -> bool {
        match &self.0.price {
            Price::Direct(map) => map.is_too_deep(),
            Price::Part(part) => part.inner.is_too_deep(),
            Price::Recorded(_) => false,
        }
    }

    /// The same launch in another measure.
    pub(crate) fn converted<C: Conversion<From = M>>(&self, conversion: &C) -> Bill<MI, C::To> {
        let price = match &self.0.price {
            Price::Direct(map) => Price::Direct(map.convert(conversion.clone())),
            Price::Part(part) => Price::Part(PartBill {
                group: part.group.clone(),
                part: part.part,
                units: Arc::clone(&part.units),
                factor: part.factor,
                inner: part.inner.converted(conversion),
            }),
            Price::Recorded(_) => Price::Direct(happened(conversion.to())),
        };
        Bill::new(Arc::clone(self.description()), price)
    }

    /// The same launch as the data before a stable transformation see it. The stability map multiplies distances by the factor,
    /// if there is one.
    pub(crate) fn after<M0: Metric>(
        &self,
        stability: &Arc<Stability<M0::Distance, MI::Distance>>,
        factor: Option<u32>,
    ) -> Bill<M0, M> {
        let stability = Arc::clone(stability);
        let price = match &self.0.price {
            Price::Direct(map) => {
                Price::Direct(map.after_known(factor, move |d_in| stability(d_in)))
            }
            Price::Part(part) => {
                let units = Arc::clone(&part.units);
                Price::Part(PartBill {
                    group: part.group.clone(),
                    part: part.part,
                    units: Arc::new(move |d_in: &M0::Distance| units(&stability(d_in)?)),
                    factor: (part.factor.zip(factor))
                        .and_then(|(units, factor)| units.checked_mul(factor)),
                    inner: part.inner.clone(),
                })
            }
            Price::Recorded(recorded) => Price::Direct(happened(recorded.measure().clone())),
        };
        Bill::new(Arc::clone(self.description()), price)
    }
}

/// What was written down is never launched again, nor charged anywhere else.
#[cold]
fn happened<MI: Metric, M: Measure>(measure: M) -> PrivacyMap<MI, M> {
    let infinity = measure.infinity();
    PrivacyMap::new(measure, move |_| Ok(infinity.clone()))
}

impl<MI: Metric, M: Measure> PartBill<MI, M> {
    /// Every map is asked once for each number of units, however deep partitions are nested.
    fn price(
        &self,
        above: &[MI::Distance],
        path: &mut Vec<Step>,
        curves: &mut Curves<M>,
    ) -> Result<Arc<[M::Loss]>, MapError> {
        let units: Vec<u32> = above
            .iter()
            .map(|size| (self.units)(size))
            .collect::<Result<_, _>>()?;
        let below = sizes(&units);
        path.push(Step {
            group: self.group.clone(),
            part: self.part,
            units,
        });
        match self.inner.price_of() {
            Price::Direct(map) => curves.of(&self.inner, map, below),
            Price::Part(part) => part.price(&below.collect::<Vec<u32>>(), path, curves),
            Price::Recorded(_) => Err(MapError::TooDeep { limit: 0 }),
        }
    }
}

impl<L> Quote<L> {
    /// The parts that the launch is in, the outermost first.
    pub(crate) fn path(&self) -> &[Step] {
        match self {
            Self::Direct(_) => &[],
            Self::Part(part) => &part.path,
        }
    }

    /// What it costs at each number of units in the innermost part, or on the data themselves.
    pub(crate) fn losses(&self) -> &[L] {
        match self {
            Self::Direct(loss) => std::slice::from_ref(loss),
            Self::Part(part) => &part.losses,
        }
    }

    /// The loss at the largest number of units, to say what was asked for.
    pub(crate) fn leaf(&self) -> Option<&L> {
        self.losses().last()
    }
}

impl<MI: Metric, M: Measure> Clone for Bill<MI, M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
