//! Compositors: the losses of all children are fixed before the first launch, so that the rules for fixed losses apply.

use std::{fmt, sync::Arc};

use measures::{
    ChildLoss, FixedRule, Interleaving, Loss as _, Measure as _, Metric, PrivacyMap, Rule,
    RuleError,
};
use queryable::{Root, Scope, Sequence};

use crate::{
    bill::Quote,
    error::LaunchError,
    measurement::Measurement,
    space::{Domain, Space},
    sync::{Mutex, lock},
};

/// How launches find their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    AsGiven,
    Any,
}

/// A composition of measurements whose losses at distance `d_in` are fixed up front (seed 000 §5.1, 003 §4): which
/// measurements they are may still be chosen adaptively. Its rule may be any [`FixedRule`].
///
/// ```
/// use measures::fixed::OptimalPure;
/// use measures::{Epsilon, PrivacyMap, PureDp, SymmetricDistance};
/// use odometer::{Compositor, Measurement, Space};
/// let records = Space::any::<Vec<i64>>(SymmetricDistance);
/// let tenth: Epsilon = "0.1".parse()?;
/// let optimal = OptimalPure::new("1e-6".parse()?)?;
/// let compositor = Compositor::new(records, optimal, 1, vec![tenth.clone(); 100]).measurement()?;
/// assert!(*compositor.map().loss(&1)?.epsilon() < "5".parse()?); // the sum would be 10
///
/// let map = PrivacyMap::linear(SymmetricDistance, PureDp, tenth);
/// let query = Measurement::new("query", records, map, |_, _| Ok(42));
/// let composition = compositor.invoke(vec![1, 2, 3])?;
/// for _ in 0..100 {
///     composition.launch(&query)?;
/// }
/// assert!(composition.launch(&query).is_err()); // no slot is left
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compositor<D: Domain, MI: Metric, R: FixedRule> {
    space: Space<D, MI>,
    rule: R,
    d_in: MI::Distance,
    losses: Vec<ChildLoss<R>>,
    order: Order,
}

impl<D: Domain, MI: Metric, R: FixedRule> Compositor<D, MI, R> {
    /// Slots with these losses at distance `d_in`, to be taken in this order.
    pub fn new(
        space: Space<D, MI>,
        rule: R,
        d_in: MI::Distance,
        losses: Vec<ChildLoss<R>>,
    ) -> Self {
        Self {
            space,
            rule,
            d_in,
            losses,
            order: Order::AsGiven,
        }
    }

    /// The slots may be taken in any order, chosen adaptively (003 Thm 4.12). For rules whose children may interleave:
    /// each slot is then a universal mechanism that waits for its measurement (000 Lemma 4.5).
    pub fn in_any_order(mut self) -> Self {
        self.order = Order::Any;
        self
    }

    /// The composition as a measurement. Its loss up to `d_in` is what the rule gives, and infinite beyond.
    ///
    /// # Errors
    /// [`LaunchError::Rule`] if the rule does not take these losses; [`LaunchError::Unsupported`] for any order under a
    /// sequential rule.
    pub fn measurement(self) -> Result<ComposedBy<D, MI, R>, LaunchError> {
        let sequential = matches!(R::INTERLEAVING, Interleaving::Sequential);
        if sequential && self.order == Order::Any {
            let why = "slots can be taken in any order only if the rule's children may interleave";
            return Err(LaunchError::Unsupported(why.into()));
        }
        let Self {
            space,
            rule,
            d_in,
            losses,
            order,
        } = self;
        let measure = rule.child();
        for loss in &losses {
            measure.check(loss).map_err(RuleError::Loss)?;
        }
        let total = rule.compose(&losses)?;
        let map =
            PrivacyMap::constant_up_to(space.metric.clone(), rule.total(), d_in.clone(), total);
        let slots = losses.len();
        let open = {
            let (space, d_in) = (space.clone(), d_in.clone());
            move |data: &Arc<D::Carrier>, scope: &mut Scope<'_>| {
                Ok(Composition(Arc::new(Shared {
                    space: space.clone(),
                    measure: rule.child(),
                    d_in: d_in.clone(),
                    data: Arc::clone(data),
                    root: scope.root()?,
                    order,
                    sequence: sequential.then(Sequence::new),
                    left: Mutex::new(losses.clone()),
                })))
            }
        };
        let compositor = Measurement::new("compositor", space, map, open);
        Ok(compositor
            .with_parameter("d_in", d_in)
            .with_parameter("slots", slots))
    }
}

/// A compositor as a measurement.
pub type ComposedBy<D, MI, R> = Measurement<D, MI, <R as Rule>::Total, Composition<D, MI, R>>;

/// A running composition: launches measurements into its slots. A clone is the same composition.
pub struct Composition<D: Domain, MI: Metric, R: Rule>(Arc<Shared<D, MI, R>>);

struct Shared<D: Domain, MI: Metric, R: Rule> {
    space: Space<D, MI>,
    measure: R::Child,
    d_in: MI::Distance,
    data: Arc<D::Carrier>,
    root: Root,
    order: Order,
    sequence: Option<Sequence>,
    left: Mutex<Vec<ChildLoss<R>>>,
}

impl<D: Domain, MI: Metric, R: FixedRule> Composition<D, MI, R> {
    /// Launches a measurement into the next slot, or, in any order, into a slot with as little to spare as can be.
    ///
    /// # Errors
    /// [`LaunchError::NoSlot`] if its loss does not fit, and nothing has changed; otherwise as
    /// [`Session::launch`](crate::Session::launch).
    pub fn launch<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
    ) -> Result<A, LaunchError> {
        let shared = &*self.0;
        measurement.check_fits(&shared.root, &shared.space, &shared.measure)?;
        let Quote::Direct(loss) = measurement.bill().quoted(&shared.d_in)? else {
            return Err(LaunchError::Unsupported(
                "a compositor's children read all of its data".into(),
            ));
        };
        let turn = shared.take(&loss).map_err(|left| LaunchError::NoSlot {
            launch: measurement.description().to_string(),
            asked: loss.to_string(),
            left: shown(&left),
        })?;
        let run = |scope: &mut Scope<'_>| measurement.run(&shared.data, scope);
        shared.root.run(turn, run).map_err(LaunchError::Failed)
    }

    /// The losses of the slots that are left, in order.
    pub fn left(&self) -> Vec<ChildLoss<R>> {
        lock(&self.0.left).clone()
    }
}

impl<D: Domain, MI: Metric, R: FixedRule> Shared<D, MI, R> {
    /// Takes a slot, and the turn with it; or says what is left.
    fn take(&self, loss: &ChildLoss<R>) -> Result<Option<queryable::Turn>, Vec<ChildLoss<R>>> {
        let mut left = lock(&self.left);
        let slot = match self.order {
            Order::AsGiven => left.first().filter(|slot| loss.at_most(slot)).map(|_| 0),
            Order::Any => tightest(&left, loss),
        };
        let Some(slot) = slot else {
            return Err(left.clone());
        };
        left.remove(slot);
        Ok(self.sequence.as_ref().map(Sequence::begin_next))
    }
}

/// A slot that has room for this loss, such that no other one with room is smaller.
fn tightest<L: measures::Loss>(slots: &[L], loss: &L) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (at, slot) in slots.iter().enumerate() {
        let better = |best: usize| slot.at_most(&slots[best]) && slot != &slots[best];
        if loss.at_most(slot) && best.is_none_or(better) {
            best = Some(at);
        }
    }
    best
}

fn shown<L: fmt::Display>(losses: &[L]) -> String {
    const MOST: usize = 8;
    if losses.is_empty() {
        return "none is left".into();
    }
    let mut text: Vec<String> = losses.iter().take(MOST).map(ToString::to_string).collect();
    if losses.len() > MOST {
        text.push(format!("and {} more", losses.len() - MOST));
    }
    text.join(", ")
}

impl<D: Domain, MI: Metric, R: Rule> Clone for Composition<D, MI, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: Domain, MI: Metric, R: Rule> fmt::Debug for Composition<D, MI, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Composition({:?}, {:?})", self.0.space, self.0.measure)
    }
}
