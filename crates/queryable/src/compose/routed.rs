//! ConComp (\[HST+23\] Alg 1, \[VW21\] Def 2.1) and its ordered form (\[VW21\] Def 2.3).

use serde::{Deserialize, Serialize};

use crate::{
    error::AskError,
    fixed::Fixed,
    handle::Queryable,
    machine::{Machine, machine},
    scope::Scope,
};

/// A part of a composition in message form.
pub type BoxedMachine<Q, A> = Box<dyn Machine<Query = Q, Answer = A>>;

/// The message `(j, q)`: ask part `j`, counted from zero, the query `q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Routed<Q> {
    /// The number of the part.
    pub to: usize,
    /// What it is asked.
    pub query: Q,
}

/// What happens to a message that names no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unparsable {
    /// It is an invalid query and changes nothing (\[HST+23\] Alg 1).
    Refuse,
    /// It halts the composition (\[VW21\] Def 2.1).
    Halt,
}

/// The concurrent composition of machines of one message type.
///
/// A part that halts, errs or panics ends only itself.
///
/// ```
/// use odometry::queryable::{Root, compose::{ConComp, BoxedMachine, Routed, Unparsable}, machine};
/// let part = |k: u32| -> BoxedMachine<u32, u32> { Box::new(machine(move |x, _| Ok(k * x))) };
/// let both = Root::seeded([0; 32]).spawn(ConComp::new(vec![part(2), part(3)], Unparsable::Refuse))?;
/// assert_eq!(both.ask(Routed { to: 1, query: 5 })?, 15);
/// assert!(both.ask(Routed { to: 2, query: 5 }).is_err());
/// assert_eq!(both.ask(Routed { to: 0, query: 5 })?, 10);
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
pub struct ConComp<Q, A> {
    parts: Parts<Q, A>,
    unparsable: Unparsable,
}

impl<Q: Fixed + 'static, A: 'static> ConComp<Q, A> {
    /// Composes these parts.
    pub fn new(parts: Vec<BoxedMachine<Q, A>>, unparsable: Unparsable) -> Self {
        Self {
            parts: Parts::new(parts),
            unparsable,
        }
    }

    /// Every part, with everything it spawns, answers at most so many messages ([`AskError::TooManyMessages`]): finite
    /// communication, which some theorems on concurrent composition ask for.
    #[must_use]
    pub fn answering_at_most(mut self, messages: u64) -> Self {
        self.parts.messages = Some(messages);
        self
    }

    /// One part more (\[HSV25\] Def 4.1): its number.
    ///
    /// ```
    /// use odometry::queryable::{Machine, Root, Scope, compose::{ConComp, BoxedMachine, Routed, Unparsable}, machine};
    /// let part = |k: u32| -> BoxedMachine<u32, u32> { Box::new(machine(move |x, _| Ok(k * x))) };
    /// let mut parts = ConComp::new(vec![part(2)], Unparsable::Refuse);
    /// let growing = Root::seeded([0; 32]).spawn(machine(move |k: u32, scope: &mut Scope<'_>| {
    ///     let to = parts.add(part(k));
    ///     parts.step(Routed { to, query: 5 }, scope)
    /// }))?;
    /// assert_eq!((growing.ask(3)?, growing.ask(4)?), (15, 20));
    /// # Ok::<(), odometry::queryable::AskError>(())
    /// ```
    pub fn add(&mut self, part: BoxedMachine<Q, A>) -> usize {
        self.parts.add(part)
    }
}

impl<Q: Fixed + 'static, A: 'static> Machine for ConComp<Q, A> {
    type Query = Routed<Q>;
    type Answer = A;

    fn step(
        &mut self,
        Routed { to, query }: Routed<Q>,
        scope: &mut Scope<'_>,
    ) -> Result<A, AskError> {
        let spawned = self.parts.spawned(scope)?;
        let Some(part) = spawned.get(to) else {
            if self.unparsable == Unparsable::Halt {
                scope.halt();
            }
            let parts = spawned.len();
            return Err(AskError::invalid(format!(
                "part {to} of {parts}, counted from 0"
            )));
        };
        part.ask(query)
    }
}

/// Parts that are spawned in the scope of the composition's next step.
struct Parts<Q, A> {
    waiting: Vec<BoxedMachine<Q, A>>,
    /// If the composition is itself too deep to have parts, it stays so.
    spawned: Result<Vec<Queryable<Q, A>>, AskError>,
    messages: Option<u64>,
}

impl<Q: 'static, A: 'static> Parts<Q, A> {
    fn new(waiting: Vec<BoxedMachine<Q, A>>) -> Self {
        Self {
            waiting,
            spawned: Ok(Vec::new()),
            messages: None,
        }
    }

    fn add(&mut self, part: BoxedMachine<Q, A>) -> usize {
        self.waiting.push(part);
        self.spawned.as_ref().map_or(0, Vec::len) + self.waiting.len() - 1
    }

    fn spawned(&mut self, scope: &mut Scope<'_>) -> Result<&[Queryable<Q, A>], AskError> {
        for part in self.waiting.drain(..) {
            let part = match self.messages {
                None => scope.spawn(part),
                Some(messages) => scope.spawn_answering_at_most(messages, part),
            };
            match (&mut self.spawned, part) {
                (Ok(spawned), Ok(part)) => spawned.push(part),
                (Ok(_), Err(error)) => self.spawned = Err(error),
                (Err(_), _) => {}
            }
        }
        self.spawned.as_deref().map_err(Clone::clone)
    }
}

/// The ordered concurrent composition (\[VW21\] Def 2.3): message `i` goes to part `i mod k`. A message that its part
/// calls an invalid query changes nothing and does not count.
///
/// ```
/// use odometry::queryable::{Root, compose::{BoxedMachine, ordered}, machine};
/// let part = |k: u32| -> BoxedMachine<u32, u32> { Box::new(machine(move |x, _| Ok(k * x))) };
/// let turns = Root::seeded([0; 32]).spawn(ordered(vec![part(2), part(3)]))?;
/// assert_eq!((turns.ask(1)?, turns.ask(1)?, turns.ask(1)?), (2, 3, 2));
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
pub fn ordered<Q: Fixed + 'static, A: 'static>(
    parts: Vec<BoxedMachine<Q, A>>,
) -> impl Machine<Query = Q, Answer = A> {
    let mut parts = Parts::new(parts);
    let mut next = 0;
    machine(move |query, scope: &mut Scope<'_>| {
        let spawned = parts.spawned(scope)?;
        let part = spawned
            .get(next)
            .ok_or_else(|| AskError::invalid("a composition without parts"))?;
        let answer = part.ask(query);
        if !matches!(answer, Err(AskError::InvalidQuery(_))) {
            next = (next + 1) % spawned.len();
        }
        answer
    })
}
