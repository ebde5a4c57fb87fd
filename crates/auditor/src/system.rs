//! What is audited: anything that answers queries, built anew for every replay on one of two neighbouring inputs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use queryable::{
    AskError, Exchange, Queryable, Root,
    compose::{Numbered, Numbering, Routed},
};

use crate::error::AuditError;

/// One of the two neighbouring inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// The first input, whose probabilities are called `p0`.
    Zero,
    /// The second input, whose probabilities are called `p1`.
    One,
}

impl Input {
    /// Both inputs.
    pub const BOTH: [Self; 2] = [Self::Zero, Self::One];

    /// The first value on the first input, the second on the second.
    ///
    /// ```
    /// assert_eq!(odometry::auditor::Input::One.pick("x", "x'"), "x'");
    /// ```
    pub fn pick<T>(self, zero: T, one: T) -> T {
        match self {
            Self::Zero => zero,
            Self::One => one,
        }
    }

    /// 0 or 1.
    pub fn index(self) -> usize {
        self.pick(0, 1)
    }
}

/// The bit that an identifier takes (\[HSV25\] Def 3.2).
impl From<Input> for bool {
    fn from(input: Input) -> bool {
        input == Input::One
    }
}

/// Something that answers queries: a queryable, a tree of them, a session in a [`player`].
pub trait System {
    /// What can be asked.
    type Query;
    /// What is answered.
    type Answer;

    /// Asks. Errors are answers: the analyst sees them.
    fn ask(&mut self, query: Self::Query) -> Result<Self::Answer, AskError>;
}

/// What happened so far: queries with their answers, in order.
pub type History<S> = [Exchange<<S as System>::Query, <S as System>::Answer>];

impl<Q, A> System for Queryable<Q, A> {
    type Query = Q;
    type Answer = A;

    fn ask(&mut self, query: Q) -> Result<A, AskError> {
        Queryable::ask(self, query)
    }
}

impl<A: Numbering> System for Numbered<A> {
    type Query = Routed<A::Query>;
    type Answer = A::Message;

    fn ask(&mut self, query: Self::Query) -> Result<A::Message, AskError> {
        Numbered::ask(self, query)
    }
}

impl<S: System + ?Sized> System for Box<S> {
    type Query = S::Query;
    type Answer = S::Answer;

    fn ask(&mut self, query: S::Query) -> Result<S::Answer, AskError> {
        (**self).ask(query)
    }
}

/// A closure is a system: whatever an analyst can do, with the handles it holds, as queries and answers.
///
/// ```
/// use odometry::auditor::{System, player};
/// let mut count = 0;
/// let mut counter = player(move |step: u32| { count += step; Ok(count) });
/// assert_eq!((counter.ask(2)?, counter.ask(3)?), (2, 5));
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
pub fn player<Q, A>(
    ask: impl FnMut(Q) -> Result<A, AskError>,
) -> impl System<Query = Q, Answer = A> {
    Player {
        ask,
        messages: std::marker::PhantomData,
    }
}

struct Player<F, Q, A> {
    ask: F,
    messages: std::marker::PhantomData<fn(Q) -> A>,
}

impl<F: FnMut(Q) -> Result<A, AskError>, Q, A> System for Player<F, Q, A> {
    type Query = Q;
    type Answer = A;

    fn ask(&mut self, query: Q) -> Result<A, AskError> {
        (self.ask)(query)
    }
}

/// A system whose type is of no matter: what is done with it is compiled once for what is asked and answered, not once
/// for every system.
pub(crate) type Built<'a, Q, A> = Box<dyn System<Query = Q, Answer = A> + 'a>;

/// What makes it of an input.
pub(crate) type Build<'a, Q, A> =
    dyn Fn(Input, &Root) -> Result<Built<'a, Q, A>, AskError> + Sync + 'a;

/// The same with systems whose type is of no matter.
pub(crate) fn boxed<'a, S: System + 'a>(
    build: impl Fn(Input, &Root) -> Result<S, AskError>,
) -> impl Fn(Input, &Root) -> Result<Built<'a, S::Query, S::Answer>, AskError> {
    move |input, root| Ok(Box::new(build(input, root)?) as Built<'a, _, _>)
}

/// A system under replay. One that could not be built, or that panicked, answers with that error from then on: the
/// analyst would notice.
pub(crate) struct Seat<'a, Q, A> {
    system: Result<Built<'a, Q, A>, AskError>,
    /// Whether a destructor panicked.
    wrecked: bool,
}

impl<'a, Q, A> Seat<'a, Q, A> {
    pub(crate) fn take(build: &Build<'a, Q, A>, input: Input, root: &Root) -> Self {
        let system = contained(|| build(input, root)).unwrap_or(Err(AskError::Panicked));
        Self {
            system,
            wrecked: false,
        }
    }

    pub(crate) fn ask(&mut self, query: Q) -> Result<A, AskError> {
        let system = match &mut self.system {
            Ok(system) => system,
            Err(error) => return Err(error.clone()),
        };
        contained(|| system.ask(query)).unwrap_or_else(|| {
            self.clear(AskError::Panicked);
            Err(AskError::Panicked)
        })
    }

    /// The end of the run.
    pub(crate) fn leave(mut self) -> Result<(), AuditError> {
        self.clear(AskError::Halted);
        match self.wrecked {
            true => Err(AuditError::DestructorPanicked),
            false => Ok(()),
        }
    }

    fn clear(&mut self, from_now_on: AskError) {
        if let Ok(system) = std::mem::replace(&mut self.system, Err(from_now_on)) {
            self.wrecked |= contained(|| drop(system)).is_none();
        }
    }
}

impl<Q, A> Drop for Seat<'_, Q, A> {
    fn drop(&mut self) {
        self.clear(AskError::Halted);
    }
}

/// What the call returns, unless it panics.
pub(crate) fn contained<T>(call: impl FnOnce() -> T) -> Option<T> {
    let (mut call, mut returned) = (Some(call), None);
    contain(&mut || returned = call.take().map(|call| call()));
    returned
}

/// Not generic: what catches a panic is long. Inlined in release builds, because a run asks often.
#[inline]
fn contain(call: &mut dyn FnMut()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        queryable::discard(panic);
    }
}
