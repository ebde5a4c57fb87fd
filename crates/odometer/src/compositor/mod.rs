//! Compositors: the losses of all children are fixed before the first launch, so that the rules for fixed losses apply.

mod durable;

use std::{fmt, sync::Arc};

use measures::{
    ChildLoss, FixedRule, Interleaving, IntoLoss, Loss, LossError, Measure as _, PrivacyMap, Rule,
    RuleError, fixed::tightest,
};
use queryable::{AskError, DEFAULT_MESSAGES, Scope, Sequence};

use crate::{
    account::{admission::Admitted, finite},
    compositor::durable::Journaled,
    error::{LaunchError, OpenError},
    journal::{Books, Place},
    measurement::{Above, Head, Measurement, Reserved},
    session::watch::{DataRoot, Watch},
    space::Space,
    sync::{Mutex, lock},
};

/// How launches find their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    AsGiven,
    Any,
}

/// A composition of measurements whose losses at distance `d_in` are fixed up front (\[HST+23\] §5.1, \[HSV25\] §4):
/// which measurements they are may still be chosen adaptively. Its rule may be any [`FixedRule`].
///
/// ```
/// use odometry::measures::fixed::OptimalPure;
/// use odometry::measures::{PrivacyMap, PureDp};
/// use odometry::odometer::{Compositor, Measurement, Records};
/// let records = Records::<i64>::new();
/// let optimal = OptimalPure::new("1e-6")?;
/// let compositor = Compositor::new(records, optimal, 1, vec!["0.1"; 100]).measurement()?;
/// assert!(*compositor.map().loss(&1)?.epsilon() < "5".parse()?); // the sum would be 10
///
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// let query = Measurement::new("query", records, map, |_, _| Ok(42));
/// let composition = compositor.invoke(vec![1, 2, 3])?;
/// for _ in 0..100 {
///     composition.launch(&query)?;
/// }
/// assert!(composition.launch(&query).is_err()); // no slot is left
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compositor<S: Space, R: FixedRule> {
    space: S,
    rule: R,
    d_in: S::Distance,
    losses: Result<Vec<ChildLoss<R>>, LossError>,
    order: Order,
    watch: Option<Watch>,
    messages: u64,
    name: Option<Arc<str>>,
}

/// What compositions are made of.
struct Parts<S: Space, R: FixedRule> {
    space: S,
    rule: R,
    d_in: S::Distance,
    losses: Vec<ChildLoss<R>>,
    order: Order,
    watch: Option<Watch>,
    messages: Option<u64>,
    name: Option<Arc<str>>,
}

impl<S: Space, R: FixedRule> Parts<S, R> {
    fn data_root(&self, scope: &mut Scope<'_>) -> Result<DataRoot, AskError> {
        let name = self.name.as_deref().unwrap_or("a compositor");
        DataRoot::below(&scope.root()?, name, self.watch.as_ref())
    }

    fn shared(&self, data: &Arc<S::Data>, place: DataRoot) -> Shared<S, R> {
        let sequential = matches!(R::INTERLEAVING, Interleaving::Sequential);
        Shared {
            space: self.space.clone(),
            measure: self.rule.child(),
            d_in: self.d_in.clone(),
            data: Arc::clone(data),
            place,
            order: self.order,
            sequence: sequential.then(Sequence::new),
            messages: self.messages,
            left: Mutex::new((0..).zip(self.losses.iter().cloned()).collect()),
            journaled: None,
        }
    }

    fn in_any_order(&self) -> bool {
        self.order == Order::Any
    }
}

impl<S: Space, R: FixedRule> Compositor<S, R> {
    /// Slots with these losses at distance `d_in`, to be taken in this order. Text that is no loss is an error of
    /// [`measurement`](Self::measurement).
    pub fn new<L: IntoLoss<ChildLoss<R>>>(
        space: S,
        rule: R,
        d_in: S::Distance,
        losses: impl IntoIterator<Item = L>,
    ) -> Self {
        Self {
            space,
            rule,
            d_in,
            losses: losses.into_iter().map(IntoLoss::into_loss).collect(),
            order: Order::AsGiven,
            watch: None,
            messages: DEFAULT_MESSAGES,
            name: None,
        }
    }

    /// Gives it a name. On a ledger it needs one: what is left of it is found again by
    /// [`Session::resume`](crate::Session::resume).
    ///
    /// ```
    /// use odometry::measures::fixed::OptimalPure;
    /// use odometry::measures::{ApproxDp, Basic, PrivacyMap, PureDp};
    /// use odometry::odometer::journal::{Books, Memory};
    /// use odometry::odometer::{Compositor, Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.1")?, |_, _| Ok(42));
    /// let hundred = Compositor::new(records, OptimalPure::new("1e-6")?, 1, vec!["0.1"; 100]).named("hundred").measurement()?;
    /// let all = Odometer::new(records, Basic::new(ApproxDp)).named("all");
    /// let journal = Memory::new();
    /// let session = all.filter_on(&Books::new(journal.clone()), 1, "(6, 1e-6)", vec![1, 2, 3])?;
    /// session.launch(&hundred)?.launch(&query)?; // the slot is written down before the query runs
    ///
    /// let again = Books::new(Memory::replaying(&journal.records())?);
    /// let session = all.filter_on(&again, 1, "(6, 1e-6)", vec![1, 2, 3])?;
    /// assert_eq!(session.resume(&hundred)?.left().len(), 99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Every launch answers at most so many messages, with everything it spawns, if the rule is for finite communication:
    /// see [`Odometer::answering_at_most`](crate::Odometer::answering_at_most).
    pub fn answering_at_most(mut self, messages: u64) -> Self {
        self.messages = messages;
        self
    }

    /// Its compositions tell this watch which transformation has failed on their data. See [`Watch`].
    pub fn watched(mut self, watch: &Watch) -> Self {
        self.watch = Some(watch.clone());
        self
    }

    /// The slots may be taken in any order, chosen adaptively. For rules whose children may interleave: each slot is
    /// then a universal mechanism (\[HST+23\] Lemma 4.5), which waits for its measurement and is as private as the slot
    /// in any measure, since against a deterministic adversary it *is* that measurement; and the slots compose by the
    /// rule's own theorem. (For (ε, δ) with every ε > 0 and discrete answers, \[HSV25\] Thm 4.12 says so directly.)
    pub fn in_any_order(mut self) -> Self {
        self.order = Order::Any;
        self
    }

    /// The composition as a measurement. Its loss up to `d_in` is what the rule gives, and infinite beyond.
    ///
    /// # Errors
    /// [`OpenError::Rule`] if the rule does not take these losses; [`OpenError::Sequential`] for any order under a
    /// sequential rule.
    pub fn measurement(self) -> Result<ComposedBy<S, R>, OpenError> {
        let sequential = matches!(R::INTERLEAVING, Interleaving::Sequential);
        if sequential && self.order == Order::Any {
            return Err(OpenError::Sequential);
        }
        let Self {
            space,
            rule,
            d_in,
            losses,
            order,
            watch,
            messages,
            name,
        } = self;
        let messages = finite::<R>().then_some(messages);
        let measure = rule.child();
        let losses = losses.map_err(RuleError::Loss)?;
        for loss in &losses {
            measure.check(loss).map_err(RuleError::Loss)?;
        }
        // As what is launched will be: a measurement with a slot's own loss fits into it.
        let losses: Vec<_> = losses.into_iter().map(Loss::on_grid).collect();
        let total = rule.compose(&losses)?;
        let map = PrivacyMap::constant_up_to(rule.total(), d_in.clone(), total);
        let slots = losses.len();
        let parts = Arc::new(Parts {
            space: space.clone(),
            rule,
            d_in: d_in.clone(),
            losses,
            order,
            watch,
            messages,
            name,
        });
        let (reserved, below) = (Arc::clone(&parts), Arc::clone(&parts));
        let reserved = Reserved::new(
            move |books: &Books, above: Place| below.opening(books, above),
            move |data: &Arc<S::Data>, scope, above| reserved.open_on(data, scope, above),
        );
        let open = move |data: &Arc<S::Data>, scope: &mut Scope<'_>| {
            let shared = parts.shared(data, parts.data_root(scope)?);
            Ok(Composition(Arc::new(shared)))
        };
        let compositor = Measurement::new("compositor", space, map, open);
        Ok(compositor
            .with_parameter("d_in", d_in)
            .with_parameter("slots", slots)
            .reserved_by(Some(reserved)))
    }
}

/// A compositor as a measurement.
pub type ComposedBy<S, R> = Measurement<S, <R as Rule>::Total, Composition<S, R>>;

/// A running composition: launches measurements into its slots. A clone is the same composition.
pub struct Composition<S: Space, R: Rule>(Arc<Shared<S, R>>);

struct Shared<S: Space, R: Rule> {
    space: S,
    measure: R::Child,
    d_in: S::Distance,
    data: Arc<S::Data>,
    place: DataRoot,
    order: Order,
    sequence: Option<Sequence>,
    messages: Option<u64>,
    /// With their numbers among all.
    left: Mutex<Slots<R>>,
    journaled: Option<Journaled>,
}

type Slots<R> = Vec<(u32, ChildLoss<R>)>;

impl<S: Space, R: FixedRule> Composition<S, R> {
    /// Launches a measurement into the next slot, or, in any order, into a slot with as little to spare as can be.
    ///
    /// # Errors
    /// [`LaunchError::NoSlot`] if its loss does not fit, and nothing has changed; otherwise as
    /// [`Session::launch`](crate::Session::launch).
    pub fn launch<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
    ) -> Result<A, LaunchError> {
        let run = |data: &_, scope: &mut Scope<'_>, above: Above<'_>| {
            measurement.run_at(data, scope, above)
        };
        self.launch_and_run(measurement.head(), run)?
            .processed()
            .map_err(LaunchError::Failed)
    }

    /// Launches what has this head: `run` is its function.
    pub(crate) fn launch_and_run<A>(
        &self,
        head: &Head<S, R::Child>,
        run: impl FnOnce(&Arc<S::Data>, &mut Scope<'_>, Above<'_>) -> Result<A, AskError>,
    ) -> Result<A, LaunchError> {
        let shared = &*self.0;
        self.check(head)?;
        if let Some(on) = &shared.journaled {
            return self.launch_durably(on, head, run);
        }
        let loss = head.loss(&shared.d_in)?;
        let taken = shared.take(&loss);
        let terms = taken.ok_or_else(|| shared.no_slot(head, &loss))?;
        self.run_taken(terms, |scope| run(&shared.data, scope, None))
    }

    fn check(&self, head: &Head<S, R::Child>) -> Result<(), LaunchError> {
        let shared = &*self.0;
        let DataRoot { root, first } = &shared.place;
        if first.has_happened() {
            return Err(LaunchError::Stopped { charged: false });
        }
        head.check_fits(root, &shared.space, &shared.measure)
    }

    /// Runs what has a slot, unless something has failed on the data.
    fn run_taken<A>(
        &self,
        terms: Admitted,
        run: impl FnOnce(&mut Scope<'_>) -> Result<A, AskError>,
    ) -> Result<A, LaunchError> {
        let DataRoot { root, first } = &self.0.place;
        let run = |scope: &mut Scope<'_>| {
            first.check()?;
            run(scope)
        };
        first.outcome(terms.run(root, run))
    }

    /// The losses of the slots that are left, in order.
    pub fn left(&self) -> Vec<ChildLoss<R>> {
        let left = lock(&self.0.left);
        left.iter().map(|(_, loss)| loss.clone()).collect()
    }
}

impl<S: Space, R: FixedRule> Shared<S, R> {
    /// The slot for this loss among those that are left.
    fn choose(&self, left: &Slots<R>, loss: &ChildLoss<R>) -> Option<usize> {
        match self.order {
            Order::AsGiven => left.first().filter(|slot| loss.at_most(&slot.1)).map(|_| 0),
            Order::Any => tightest(left.iter().map(|(_, slot)| slot).enumerate(), loss),
        }
    }

    /// Takes a slot, and the turn with it, if there is one.
    fn take(&self, loss: &ChildLoss<R>) -> Option<Admitted> {
        let mut left = lock(&self.left);
        let slot = self.choose(&left, loss)?;
        left.remove(slot);
        Some(self.terms())
    }

    /// On which terms what has just taken a slot runs.
    fn terms(&self) -> Admitted {
        let turn = self.sequence.as_ref().map(Sequence::begin_next);
        Admitted {
            turns: turn.into_iter().collect(),
            messages: self.messages,
        }
    }

    fn no_slot(&self, head: &Head<S, R::Child>, loss: &ChildLoss<R>) -> LaunchError {
        let left = lock(&self.left);
        let left: Vec<&ChildLoss<R>> = left.iter().map(|(_, loss)| loss).collect();
        LaunchError::NoSlot {
            launch: head.description().to_string(),
            asked: loss.to_string(),
            left: shown(&left),
        }
    }
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

impl<S: Space, R: Rule> Clone for Composition<S, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Space, R: Rule> fmt::Debug for Composition<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Composition({:?}, {:?})", self.0.space, self.0.measure)
    }
}
