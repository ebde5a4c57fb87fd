//! The machine: a randomized state function, `(state, query, coins) -> (state, answer)`.

use std::marker::PhantomData;

use crate::{error::AskError, scope::Scope};

/// A randomized state machine (\[HST+23\] Def 1.4, \[HSV25\] Def 2.6).
///
/// The contract of `step`:
/// - A wrong query is an error and leaves the state as it was.
/// - A query is fixed when it is asked: a message, not a channel on which more can come while the step runs. What is
///   promised of a machine, and of machines composed, is promised for such queries. The message forms enforce it
///   ([`Fixed`](crate::Fixed)); with queries of other kinds see [`Root::withholding`](crate::Root::withholding).
/// - Randomness comes only from the scope.
/// - Only machines spawned in this machine's scope are asked; the scope refuses others.
/// - After [`Scope::halt`] the machine answers no more.
/// - A panic halts the machine for good. The process's panic hook is not touched, so by default the text of a panic
///   goes to standard error: it must not contain data, either.
pub trait Machine: Send {
    /// What can be asked.
    type Query;
    /// What is answered. It may contain queryables.
    type Answer;

    /// One transition.
    fn step(&mut self, query: Self::Query, scope: &mut Scope<'_>)
    -> Result<Self::Answer, AskError>;
}

impl<M: Machine + ?Sized> Machine for Box<M> {
    type Query = M::Query;
    type Answer = M::Answer;

    fn step(
        &mut self,
        query: Self::Query,
        scope: &mut Scope<'_>,
    ) -> Result<Self::Answer, AskError> {
        (**self).step(query, scope)
    }
}

/// A closure with state is a machine.
///
/// ```
/// use odometry::queryable::{Root, machine};
/// let mut sum = 0;
/// let adder = Root::seeded([0; 32]).spawn(machine(move |x: i64, _| {
///     sum += x;
///     Ok(sum)
/// }))?;
/// assert_eq!(adder.ask(2)?, 2);
/// assert_eq!(adder.ask(3)?, 5);
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
pub fn machine<Q, A, F>(transition: F) -> impl Machine<Query = Q, Answer = A>
where
    F: FnMut(Q, &mut Scope<'_>) -> Result<A, AskError> + Send,
{
    Closure {
        transition,
        messages: PhantomData,
    }
}

struct Closure<F, Q, A> {
    transition: F,
    messages: PhantomData<fn(Q) -> A>,
}

impl<F, Q, A> Machine for Closure<F, Q, A>
where
    F: FnMut(Q, &mut Scope<'_>) -> Result<A, AskError> + Send,
{
    type Query = Q;
    type Answer = A;

    fn step(&mut self, query: Q, scope: &mut Scope<'_>) -> Result<A, AskError> {
        (self.transition)(query, scope)
    }
}

/// A noninteractive function is a machine that answers once and then halts, whether it answered or failed.
///
/// ```
/// use odometry::queryable::{AskError, Root, once};
/// let q = Root::seeded([0; 32]).spawn(once(|x: u8, _| Ok(x + 1)))?;
/// assert_eq!(q.ask(1), Ok(2));
/// assert_eq!(q.ask(1), Err(AskError::Halted));
/// # Ok::<(), AskError>(())
/// ```
pub fn once<Q, A, F>(function: F) -> impl Machine<Query = Q, Answer = A>
where
    F: FnOnce(Q, &mut Scope<'_>) -> Result<A, AskError> + Send,
{
    let mut function = Some(function);
    machine(move |query, scope: &mut Scope<'_>| {
        scope.halt();
        let function = function.take().ok_or(AskError::Halted)?;
        function(query, scope)
    })
}
