//! Measures that only OpenDP knows: somebody's own `CompositionMeasure` under our odometers and filters.

use std::{fmt, marker::PhantomData};

use measures::{
    Adaptive, Interleaving, Loss, LossError, Measure, Name, Rule, Tallied, Tally, Total, TotalLoss,
};
use opendp::{
    combinators::{Adaptivity, Composability, CompositionMeasure},
    traits::ProductOrd,
};

use crate::{
    correspondence::{Correspondence, NoLoss},
    error::{BridgeError, in_full},
    measures::name_of_measure,
    written::{WrittenLoss, readable},
};

/// The most launches that are handed to OpenDP's `compose` at once. Beyond that the loss counts as infinite.
const MAX_LAUNCHES: u64 = 1 << 20;

/// A measure of OpenDP's as a measure of ours, with OpenDP's distances as losses.
///
/// For measures of your own. OpenDP's ready-made ones are better off as the measures of ours that
/// [correspond](crate::Counterpart) to them, whose sums are exact.
#[derive(Clone, Debug)]
pub struct OpendpMeasure<MO: CompositionMeasure> {
    theirs: MO,
    zero: MO::Distance,
    name: Option<Name>,
}

impl<MO: CompositionMeasure + 'static> OpendpMeasure<MO>
where
    MO::Distance: ProductOrd,
{
    /// The measure. What OpenDP composes of nothing is its zero.
    ///
    /// # Errors
    /// [`BridgeError::Composability`] if `compose` of nothing fails, or is not comparable with itself.
    pub fn new(theirs: MO) -> Result<Self, BridgeError> {
        let refused = |reason: String| BridgeError::Composability {
            measure: format!("{theirs:?}"),
            reason,
        };
        let zero = theirs
            .compose(Vec::new())
            .map_err(|error| refused(in_full(&error)))?;
        if !at_most(&zero, &zero) {
            return Err(refused("the composition of nothing is not a loss".into()));
        }
        let name = name_of_measure(&theirs);
        Ok(Self { theirs, zero, name })
    }

    /// The same measure under a name of your own, which sessions on a ledger ask for: it is in files that outlive the code. OpenDP's own
    /// measures have one. You vouch that it tells all parameters, and that nothing else of yours that counts differently has it.
    ///
    /// ```
    /// use odometry::measures::{Measure, Name};
    /// use odometry::opendp_bridge::{OpendpMeasure, theirs};
    /// let pure = OpendpMeasure::new(theirs::Pure)?;
    /// assert_eq!(pure.name(), Some(Name::new("opendp-pure")));
    /// let mine = Name::new("mine").with("order", 2);
    /// assert_eq!(pure.named(&mine).name().unwrap().to_string(), "opendp{mine{order=2}}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn named(self, name: &Name) -> Self {
        let name = Some(Name::new("opendp").of(name));
        Self { name, ..self }
    }
}

/// OpenDP answers "unknown ordering" where losses are incomparable: then neither is at most the other.
fn at_most<D: ProductOrd>(one: &D, other: &D) -> bool {
    one.total_le(other).unwrap_or(false)
}

impl<MO: CompositionMeasure> PartialEq for OpendpMeasure<MO> {
    fn eq(&self, other: &Self) -> bool {
        self.theirs == other.theirs
    }
}

/// A distance of an OpenDP measure, or infinity, which OpenDP's measures need not have.
#[derive(Clone, Debug, PartialEq)]
pub enum OpendpLoss<D> {
    /// OpenDP's distance.
    Value(D),
    /// No guarantee.
    Infinity,
}

/// What infinity is written as.
const INFINITE: &str = "no guarantee";

impl<D: ProductOrd + WrittenLoss> Loss for OpendpLoss<D> {
    fn at_most(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Infinity) => true,
            (Self::Infinity, Self::Value(_)) => false,
            (Self::Value(one), Self::Value(other)) => at_most(one, other),
        }
    }

    fn written(&self) -> Option<String> {
        let text = match self {
            Self::Value(value) => value.written()?,
            Self::Infinity => INFINITE.to_owned(),
        };
        readable(self, text, Self::read)
    }

    fn read(text: &str) -> Option<Self> {
        match text {
            INFINITE => Some(Self::Infinity),
            _ => D::read(text).map(Self::Value),
        }
    }
}

impl<D: fmt::Debug> fmt::Display for OpendpLoss<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Infinity => f.write_str("inf"),
        }
    }
}

/// A composition measure whose distances can be losses.
pub trait Composable:
    CompositionMeasure<Distance: ProductOrd + WrittenLoss> + Send + Sync + 'static
{
}

impl<MO> Composable for MO
where
    MO: CompositionMeasure + Send + Sync + 'static,
    MO::Distance: ProductOrd + WrittenLoss,
{
}

impl<MO: Composable> Measure for OpendpMeasure<MO> {
    type Loss = OpendpLoss<MO::Distance>;

    fn zero(&self) -> Self::Loss {
        OpendpLoss::Value(self.zero.clone())
    }

    fn infinity(&self) -> Self::Loss {
        OpendpLoss::Infinity
    }

    fn name(&self) -> Option<Name> {
        self.name.clone()
    }

    /// Anything not provably at least zero is refused: negative, NaN.
    fn check(&self, loss: &Self::Loss) -> Result<(), LossError> {
        if self.zero().at_most(loss) {
            return Ok(());
        }
        Err(LossError::Foreign {
            loss: loss.to_string(),
            measure: format!("{:?}", self.theirs),
        })
    }
}

/// The losses are OpenDP's own distances, in both directions.
impl<MO: Composable> Correspondence for OpendpMeasure<MO> {
    type Theirs = MO;

    fn theirs(&self) -> MO {
        self.theirs.clone()
    }

    fn loss(&self, distance: &MO::Distance) -> Result<Self::Loss, NoLoss> {
        let loss = OpendpLoss::Value(distance.clone());
        self.check(&loss)?;
        Ok(loss)
    }

    fn distance(&self, loss: &Self::Loss) -> Result<MO::Distance, NoLoss> {
        match loss {
            OpendpLoss::Value(value) => Ok(value.clone()),
            OpendpLoss::Infinity => Err(NoLoss::Failed(format!(
                "no guarantee, for which {:?} has no value",
                self.theirs
            ))),
        }
    }
}

/// How the children of a [`Composed`] rule may be asked: a type, because a rule's interleaving is one of its constants.
pub trait Turns: Copy + fmt::Debug + Send + Sync + 'static {
    /// What the rule promises.
    const INTERLEAVING: Interleaving;
}

/// Only the newest child.
#[derive(Clone, Copy, Debug)]
pub enum Sequential {}

impl Turns for Sequential {
    const INTERLEAVING: Interleaving = Interleaving::Sequential;
}

/// Any child at any time.
#[derive(Clone, Copy, Debug)]
pub enum Concurrent {}

impl Turns for Concurrent {
    const INTERLEAVING: Interleaving = Interleaving::Concurrent;
}

/// OpenDP's `compose` as a rule of ours, for odometers and filters.
///
/// Valid as far as the measure's author vouches for `composability(FullyAdaptive)`. All losses are handed to `compose` at
/// every launch, because it need not be associative; so a filter costs what OpenDP's costs, minus the maps. A measure in
/// which losses add up gets constant cost by implementing [`measures::Additive`] instead. Rounding is `compose`'s; where
/// `compose` fails, the loss is infinite.
pub struct Composed<MO: CompositionMeasure, T = Sequential> {
    measure: OpendpMeasure<MO>,
    turns: PhantomData<fn() -> T>,
}

impl<MO: Composable> Composed<MO, Sequential> {
    /// With children in turn.
    ///
    /// # Errors
    /// [`BridgeError::Composability`] if the measure does not allow losses to be chosen adaptively.
    pub fn sequential(measure: OpendpMeasure<MO>) -> Result<Self, BridgeError> {
        composability(&measure.theirs)?;
        Ok(Self {
            measure,
            turns: PhantomData,
        })
    }
}

impl<MO: Composable> Composed<MO, Concurrent> {
    /// With children in any order.
    ///
    /// # Errors
    /// [`BridgeError::Composability`] if the measure allows that only sequentially, or not at all.
    pub fn concurrent(measure: OpendpMeasure<MO>) -> Result<Self, BridgeError> {
        match composability(&measure.theirs)? {
            Composability::Concurrent => Ok(Self {
                measure,
                turns: PhantomData,
            }),
            Composability::Sequential => Err(BridgeError::Composability {
                measure: format!("{:?}", measure.theirs),
                reason: "only sequentially".into(),
            }),
        }
    }
}

fn composability<MO: CompositionMeasure>(measure: &MO) -> Result<Composability, BridgeError> {
    measure
        .composability(Adaptivity::FullyAdaptive)
        .map_err(|error| BridgeError::Composability {
            measure: format!("{measure:?}"),
            reason: in_full(&error),
        })
}

impl<MO: CompositionMeasure, T> Clone for Composed<MO, T>
where
    OpendpMeasure<MO>: Clone,
{
    fn clone(&self) -> Self {
        Self {
            measure: self.measure.clone(),
            turns: PhantomData,
        }
    }
}

impl<MO: CompositionMeasure, T> fmt::Debug for Composed<MO, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Composed({:?})", self.measure.theirs)
    }
}

impl<MO: Composable, T: Turns> Rule for Composed<MO, T> {
    type Child = OpendpMeasure<MO>;
    type Total = OpendpMeasure<MO>;
    const INTERLEAVING: Interleaving = T::INTERLEAVING;

    fn child(&self) -> OpendpMeasure<MO> {
        self.measure.clone()
    }

    fn total(&self) -> OpendpMeasure<MO> {
        self.measure.clone()
    }

    fn name(&self) -> Option<Name> {
        let turns = match T::INTERLEAVING {
            Interleaving::Sequential => "sequential",
            Interleaving::ConcurrentFinite => "concurrent-finite",
            Interleaving::Concurrent => "concurrent",
        };
        let name = Name::new("opendp-composed").of(&self.measure.name()?);
        Some(name.with("turns", turns))
    }
}

impl<MO: Composable, T: Turns> Tallied for Composed<MO, T> {
    type Tally = Launches<MO::Distance>;

    fn start(&self) -> Launches<MO::Distance> {
        Launches {
            runs: Vec::new(),
            infinite: false,
        }
    }
}

impl<MO: Composable, T: Turns> Adaptive for Composed<MO, T> {
    fn loss(&self, tally: &Launches<MO::Distance>) -> Total<TotalLoss<Self>> {
        Total::new(match tally.all() {
            Some(all) if all.is_empty() => self.measure.zero(),
            Some(all) => self
                .measure
                .theirs
                .compose(all)
                .map_or(OpendpLoss::Infinity, OpendpLoss::Value),
            None => OpendpLoss::Infinity,
        })
    }
}

/// Everything that was launched: distinct losses with their counts, in the order in which they first came.
#[derive(Clone, Debug, PartialEq)]
pub struct Launches<D> {
    runs: Vec<(D, u64)>,
    infinite: bool,
}

impl<D: Clone + PartialEq> Launches<D> {
    /// Every loss as often as it was launched; `None` if that is infinite, or too many.
    fn all(&self) -> Option<Vec<D>> {
        let launches = self
            .runs
            .iter()
            .fold(0, |sum: u64, run| sum.saturating_add(run.1));
        if self.infinite || launches > MAX_LAUNCHES {
            return None;
        }
        let repeat = |(loss, n): &(D, u64)| std::iter::repeat_n(loss.clone(), *n as usize);
        Some(self.runs.iter().flat_map(repeat).collect())
    }

    fn count(&mut self, loss: &D, combine: impl FnOnce(u64) -> u64) {
        match self.runs.iter_mut().find(|(known, _)| known == loss) {
            Some((_, count)) => *count = combine(*count),
            None => self.runs.push((loss.clone(), combine(0))),
        }
    }
}

impl<D: ProductOrd + WrittenLoss> Tally for Launches<D> {
    type Loss = OpendpLoss<D>;

    fn absorb(&mut self, loss: &OpendpLoss<D>, n: u64) {
        match loss {
            _ if n == 0 => {}
            OpendpLoss::Infinity => self.infinite = true,
            OpendpLoss::Value(loss) => self.count(loss, |count| count.saturating_add(n)),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.infinite |= other.infinite;
        for (loss, n) in &other.runs {
            self.count(loss, |count| count.saturating_add(*n));
        }
    }

    /// Each loss as often as in the one that has it more often.
    fn join(&mut self, other: &Self) {
        self.infinite |= other.infinite;
        for (loss, n) in &other.runs {
            self.count(loss, |count| count.max(*n));
        }
    }
}
