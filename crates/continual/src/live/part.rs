//! The parts of the data: their mechanisms, and what their losses are about.

use measures::EpsilonDelta;
use queryable::{Machine, Scope, compose::BoxedMachine, machine};

use crate::{
    pair::StreamMessage,
    verification::{Mixed, UserLevel},
};

/// What a part's mechanism takes: updates, the empty record (`None`) among them, and questions.
pub type Live<U, Q> = StreamMessage<Option<U>, Q>;

/// The neighbours of a part: streams that differ in at most `updates` updates, by those of one unit. A part's loss is
/// vouched for with respect to this function.
///
/// ```
/// use odometry::continual::{Pair, StreamMessage::Update, VerificationFunction, live::one_unit};
/// let function = one_unit::<u8, ()>(1);
/// assert!(function.is_valid(&[Pair::new(Update(Some(3)), Update(None))]));
/// assert!(!function.is_valid(&[Pair::new(Update(Some(3)), Update(None)); 2]));
/// ```
pub fn one_unit<U, Q>(updates: usize) -> Mixed<UserLevel<Option<U>, ()>, Q>
where
    U: Clone + PartialEq + 'static,
    Q: PartialEq + 'static,
{
    Mixed::new(UserLevel::new(updates, |update: &Option<U>| {
        update.as_ref().map(|_| ())
    }))
}

/// A part to be: its mechanism, and the loss that its author vouches for, with respect to [`one_unit`] at the number of
/// updates of the [`ContributionBounds`](super::ContributionBounds).
pub struct LivePart<U, Q, A> {
    pub(super) loss: EpsilonDelta,
    pub(super) machine: BoxedMachine<Live<U, Q>, A>,
}

impl<U: 'static, Q: 'static, A: 'static> LivePart<U, Q, A> {
    /// This mechanism, with this loss: pure or (ε, δ).
    ///
    /// Other measures have no theorem for streams in parallel:
    ///
    /// ```compile_fail,E0277
    /// use odometry::continual::live::{Live, LivePart};
    /// let rho: odometry::measures::Rho = "0.1".parse().unwrap();
    /// LivePart::new(rho, odometry::queryable::machine(|_: Live<i64, ()>, _| Ok(0)));
    /// ```
    pub fn new(
        loss: impl Into<EpsilonDelta>,
        machine: impl Machine<Query = Live<U, Q>, Answer = A> + 'static,
    ) -> Self {
        Self {
            loss: loss.into(),
            machine: Box::new(machine),
        }
    }
}

/// A mechanism that answers every update, as one that is asked: a question gets the answer to the last update.
///
/// ```
/// use odometry::continual::{StreamMessage::{Question, Update}, live::latest};
/// use odometry::queryable::{Root, machine};
/// let mut sum = 0;
/// let running = machine(move |x: i64, _| { sum += x; Ok(sum) });
/// let part = Root::seeded([0; 32]).spawn(latest(running, |update: Option<i64>| update.unwrap_or(0)))?;
/// assert_eq!(part.ask(Question(()))?, None);
/// part.ask(Update(Some(3)))?;
/// part.ask(Update(None))?;
/// assert_eq!(part.ask(Question(()))?, Some(3));
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
pub fn latest<M, U>(
    mut inner: M,
    record: fn(Option<U>) -> M::Query,
) -> impl Machine<Query = Live<U, ()>, Answer = Option<M::Answer>>
where
    M: Machine<Answer: Clone + Send>,
{
    let mut last = None;
    machine(move |message: Live<U, ()>, scope: &mut Scope<'_>| {
        if let StreamMessage::Update(update) = message {
            last = Some(inner.step(record(update), scope)?);
        }
        Ok(last.clone())
    })
}
