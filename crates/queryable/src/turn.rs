//! Turns: under sequential composition only the newest child, and whatever descends from it, may be asked.
//!
//! Concurrent composition demands nothing, so a lease without turns costs nothing and shares nothing.

use std::sync::Arc;

use crate::{
    error::AskError,
    lineage::{Asker, guarded},
    meter::{Meter, Prepaid},
    sync::{AtomicU64, Ordering},
};

/// Whose turn it is among the children of one sequential composition.
///
/// ```
/// use odometry::queryable::Sequence;
/// let sequence = Sequence::new();
/// let first = sequence.begin_next();
/// assert!(first.is_current());
/// let second = sequence.begin_next();
/// assert!(second.is_current() && !first.is_current());
/// ```
#[derive(Clone)]
pub struct Sequence(Arc<Counters>);

struct Counters {
    /// Numbers handed out. A number is never reused, so a child that missed its turn never gets one by accident.
    issued: AtomicU64,
    current: AtomicU64,
}

impl Sequence {
    /// A sequence in which nobody has had a turn.
    #[allow(
        clippy::new_without_default,
        reason = "two defaults would look like the same sequence"
    )]
    pub fn new() -> Self {
        Self(Arc::new(Counters {
            issued: AtomicU64::new(0),
            current: AtomicU64::new(0),
        }))
    }

    /// Ends the current turn and begins the next.
    pub fn begin_next(&self) -> Turn {
        let turn = self.issue();
        turn.begin();
        turn
    }

    /// A turn that has not begun: nobody can be asked under it yet, and the current turn goes on.
    pub(crate) fn issue(&self) -> Turn {
        Turn {
            sequence: self.clone(),
            number: self.0.issued.fetch_add(1, Ordering::Relaxed) + 1,
        }
    }
}

/// One child's turn in a [`Sequence`].
#[derive(Clone)]
pub struct Turn {
    sequence: Sequence,
    number: u64,
}

impl Turn {
    /// Begins this turn, unless a later one has begun already.
    pub(crate) fn begin(&self) {
        self.sequence
            .0
            .current
            .fetch_max(self.number, Ordering::SeqCst);
    }

    fn is_same(&self, other: &Turn) -> bool {
        Arc::ptr_eq(&self.sequence.0, &other.sequence.0) && self.number == other.number
    }

    /// Is it still this child's turn?
    pub fn is_current(&self) -> bool {
        self.sequence.0.current.load(Ordering::SeqCst) == self.number
    }
}

/// Somebody outside this library who has a say in when machines may be asked: another framework's composition, for one.
///
/// It is asked at every step of every machine below a root [under](crate::Root::under) it, whoever holds the handle, and
/// the step runs inside. It is asked under the machine's lock, so it must not ask machines, nor wait for anybody.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
/// use odometry::queryable::{AskError, Outside, Root, machine};
///
/// struct Open(AtomicBool);
/// impl Outside for Open {
///     fn within(&self, step: &mut dyn FnMut()) -> Result<(), AskError> {
///         self.0.load(Ordering::SeqCst).then(step).ok_or(AskError::OutOfTurn)
///     }
/// }
///
/// let open = Arc::new(Open(AtomicBool::new(true)));
/// let echo = Root::from_os()?.under(open.clone())?.spawn(machine(|x: u8, _| Ok(x)))?;
/// assert_eq!(echo.ask(1), Ok(1));
/// open.0.store(false, Ordering::SeqCst);
/// assert_eq!(echo.ask(2), Err(AskError::OutOfTurn));
/// # Ok::<(), AskError>(())
/// ```
pub trait Outside: Send + Sync {
    /// Does the step, once, if it may be done now. The step does not panic.
    ///
    /// # Errors
    /// Why not; then the step was not done.
    fn within(&self, step: &mut dyn FnMut()) -> Result<(), AskError>;
}

/// What a machine depends on: its own turn first, then those of its ancestors, how many messages they may still answer,
/// and whoever outside has a say.
#[derive(Clone)]
pub(crate) struct Lease(Option<Arc<Link>>);

struct Link {
    condition: Condition,
    /// How many meters there are among this condition and the rest.
    meters: u16,
    rest: Lease,
}

enum Condition {
    Turn(Turn),
    Meter(Meter),
    Outside(Arc<dyn Outside>),
}

impl Lease {
    /// No conditions: concurrent at every level.
    pub(crate) const FREE: Self = Self(None);

    /// These conditions, and one more turn.
    pub(crate) fn and(&self, turn: Turn) -> Self {
        self.link(Condition::Turn(turn))
    }

    /// These conditions, and so many messages.
    pub(crate) fn answering_at_most(&self, messages: u64) -> Self {
        self.link(Condition::Meter(Meter::new(messages)))
    }

    /// These conditions, and whoever has a say outside. One is enough, and more would nest without end.
    pub(crate) fn under(&self, outside: Arc<dyn Outside>) -> Result<Self, AskError> {
        let is_outside = |condition: &Condition| matches!(condition, Condition::Outside(_));
        if self.conditions().any(is_outside) {
            return Err(AskError::TooDeep { limit: 1 });
        }
        Ok(self.link(Condition::Outside(outside)))
    }

    fn link(&self, condition: Condition) -> Self {
        let is_meter = matches!(condition, Condition::Meter(_));
        Self(Some(Arc::new(Link {
            condition,
            meters: self.meters() + u16::from(is_meter),
            rest: self.clone(),
        })))
    }

    pub(crate) fn includes(&self, turn: &Turn) -> bool {
        let is_this =
            |condition: &Condition| matches!(condition, Condition::Turn(own) if own.is_same(turn));
        self.conditions().any(is_this)
    }

    fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let mut lease = self;
        std::iter::from_fn(move || {
            let link = lease.0.as_ref()?;
            lease = &link.rest;
            Some(&link.condition)
        })
    }

    /// How many meters there are. (Each is of a level of the tree, and a level has at most two.)
    #[inline]
    pub(crate) fn meters(&self) -> u16 {
        self.0.as_ref().map_or(0, |link| link.meters)
    }

    /// The meters that count what this asker asks: those of the launches that it is not part of, which are the innermost.
    fn counting(&self, asker: Asker) -> impl Iterator<Item = &Meter> {
        let meters = self.conditions().filter_map(|condition| match condition {
            Condition::Meter(meter) => Some(meter),
            Condition::Turn(_) | Condition::Outside(_) => None,
        });
        meters.take(usize::from(self.meters().saturating_sub(asker.meters)))
    }

    /// Takes up to `wanted` messages from all meters that count this asker, and at least one.
    #[cold]
    pub(crate) fn take(&self, wanted: u16, asker: Asker) -> Result<u16, AskError> {
        loop {
            self.check_meters(asker)?;
            let counting = || self.counting(asker);
            let messages = counting().fold(wanted, |most, meter| meter.offer(most));
            // Others may have taken theirs in between. What inner meters have given by then is lost: that is on the safe side.
            if counting().all(|meter| meter.take(messages)) {
                return Ok(messages);
            }
        }
    }

    /// Are there messages left for this asker?
    pub(crate) fn check_meters(&self, asker: Asker) -> Result<(), AskError> {
        self.counting(asker).try_for_each(Meter::check)
    }

    /// A step: if it may be done now, one message is paid for.
    #[inline]
    pub(crate) fn enter(
        &self,
        prepaid: &mut Prepaid,
        asker: Asker,
    ) -> Result<Option<&dyn Outside>, AskError> {
        match &self.0 {
            None => Ok(None),
            Some(link) => {
                let outside = link.check()?;
                if link.meters > 0 {
                    self.pay(prepaid, asker)?;
                }
                Ok(outside)
            }
        }
    }

    /// One message, from all meters that count this asker. Messages in advance were taken from all.
    #[inline]
    fn pay(&self, prepaid: &mut Prepaid, asker: Asker) -> Result<(), AskError> {
        if asker.meters == 0 {
            prepaid.pay(self)
        } else if asker.meters < self.meters() {
            self.take(1, asker).map(drop)
        } else {
            Ok(())
        }
    }

    /// May there be a step now, as far as turns go? Then it is to be done inside of what is returned, if anything.
    #[inline]
    pub(crate) fn check(&self) -> Result<Option<&dyn Outside>, AskError> {
        match &self.0 {
            None => Ok(None),
            Some(link) => link.check(),
        }
    }
}

impl Link {
    fn check(&self) -> Result<Option<&dyn Outside>, AskError> {
        let (mut link, mut outside) = (self, None);
        loop {
            match &link.condition {
                Condition::Turn(turn) if turn.is_current() => {}
                Condition::Turn(_) => return Err(AskError::OutOfTurn),
                Condition::Meter(_) => {}
                Condition::Outside(has_a_say) => outside = Some(&**has_a_say),
            }
            match &link.rest.0 {
                Some(next) => link = next,
                None => return Ok(outside),
            }
        }
    }
}

/// Does a step, if somebody outside allows it.
#[cold]
#[inline(never)]
pub(crate) fn inside<R>(
    outside: &dyn Outside,
    step: impl FnOnce() -> Result<R, AskError>,
) -> Result<R, AskError> {
    let (mut step, mut answer) = (Some(step), None);
    let mut once = || {
        if let Some(step) = step.take() {
            answer = Some(step());
        }
    };
    match outside.within(&mut once) {
        Ok(()) => answer.unwrap_or(Err(AskError::OutOfTurn)),
        Err(refused) => {
            // Done all the same, but not given: its destructor is still the machine's code, and asks nobody.
            let _ = guarded(|| drop(answer));
            Err(refused)
        }
    }
}

/// Link by link, because a recursive drop of a long lease would overflow the stack.
impl Drop for Lease {
    #[inline]
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(link) = next {
            next = Arc::into_inner(link).and_then(|mut link| link.rest.0.take());
        }
    }
}
