//! Message form: odometers and filters as machines over messages, as the papers write them (\[HST+23\] Alg 2 to 6), for
//! wire protocols and for the auditor. They open an ordinary [`Session`]: the accounting is the same.
//!
//! Measurements cannot be sent, so they are launched by name from a [`Launchable`]. With noninteractive measurements this
//! is Filt(NIM) and Odom(NIM), with interactive ones FiltCon(IM) and OdomCon(IM); if the rule is sequential, FiltSeq and
//! OdomSeq.

use std::sync::Arc;

use measures::{Adaptive, FilterRule, Rule, TotalLoss};
use queryable::{
    AskError, Fixed, Machine, PostProcessor, Queryable, Received, Scope, Sent, Side, machine,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::{LaunchError, OpenError},
    measurement::Measurement,
    odometer::Odometer,
    session::Session,
    space::{Space, check_contains},
};

/// What may be launched, by name. All measurements take the same data and answer in one type.
pub trait Launchable<S: Space, R: FilterRule>: Send + 'static {
    /// The names.
    type Name: Fixed;
    /// What interactive measurements are asked.
    type Query: Fixed + 'static;
    /// What is answered.
    type Answer: 'static;

    /// The measurement with this name.
    fn find(&self, name: &Self::Name) -> Option<Entry<S, R, Self::Query, Self::Answer>>;
}

/// A measurement in a catalogue.
pub type Entry<S, R, Q, A> = Measurement<S, <R as Rule>::Child, Launched<Q, A>>;

/// The answer of a measurement in a catalogue.
pub enum Launched<Q, A> {
    /// A value.
    Value(A),
    /// A machine that can be asked.
    Machine(Queryable<Q, A>),
}

/// A message to an odometer or a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message<N, Q, D> {
    /// Launches the measurement with this name.
    Launch(N),
    /// Asks the machine with this number; machines are numbered from zero as they are launched.
    Ask {
        /// The number.
        machine: usize,
        /// The query.
        query: Q,
    },
    /// Asks for the privacy loss at this distance.
    PrivacyLoss(D),
}

/// A message is plain data: it cannot bring news while it is being answered.
impl<N: Fixed, Q: Fixed, D: Fixed> Fixed for Message<N, Q, D> {}

/// An answer of an odometer or a filter. Other errors are the machine's: [`AskError`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reply<A, L> {
    /// What the mechanism answered.
    Value(A),
    /// The mechanism is a machine, with this number.
    Machine(usize),
    /// The mechanism was charged, and failed.
    Failed(AskError),
    /// Insufficient budget: the launch was refused, and nothing has changed.
    Refused,
    /// The privacy loss.
    Loss(L),
}

/// The messages that launch from this catalogue.
pub type MessageFor<S, R, C> =
    Message<<C as Launchable<S, R>>::Name, <C as Launchable<S, R>>::Query, <S as Space>::Distance>;

/// The answers to launches from this catalogue.
pub type ReplyFor<S, R, C> = Reply<<C as Launchable<S, R>>::Answer, TotalLoss<R>>;

/// A machine over the messages that launch from this catalogue.
pub trait MachineFor<S: Space, R: FilterRule, C: Launchable<S, R>>:
    Machine<Query = MessageFor<S, R, C>, Answer = ReplyFor<S, R, C>> + 'static
{
}

impl<S: Space, R: FilterRule, C: Launchable<S, R>, X> MachineFor<S, R, C> for X where
    X: Machine<Query = MessageFor<S, R, C>, Answer = ReplyFor<S, R, C>> + 'static
{
}

impl<S: Space, R: Adaptive> Odometer<S, R> {
    /// The odometer on these data as a machine over messages (\[HST+23\] Alg 4 and 6).
    pub fn machine<C: Launchable<S, R>>(
        &self,
        data: Arc<S::Data>,
        catalogue: C,
    ) -> impl MachineFor<S, R, C>
    where
        C::Name: 'static,
    {
        let odometer = self.clone();
        driver(
            catalogue,
            move |scope| {
                odometer
                    .open_in(&scope.root()?, Arc::clone(&data))
                    .map_err(|error| failed(error.into()))
            },
            |session, d_in| {
                session
                    .privacy_loss(d_in)
                    .map(|total| total.bound().clone())
                    .map_err(failed)
            },
        )
    }
}

impl<S: Space, R: FilterRule> Odometer<S, R> {
    /// A filter on these data as a machine over messages (\[HST+23\] Alg 2 and 3). At the distance of the budget, the privacy
    /// loss is how much of it was spent; at others it is not told.
    ///
    /// # Errors
    /// As [`filter`](Self::filter), and [`OpenError::NotInSpace`].
    pub fn filter_machine<C: Launchable<S, R>>(
        &self,
        d_in: S::Distance,
        budget: TotalLoss<R>,
        data: Arc<S::Data>,
        catalogue: C,
    ) -> Result<impl MachineFor<S, R, C>, OpenError>
    where
        C::Name: 'static,
    {
        let filter = self.filter(d_in.clone(), budget)?;
        check_contains(self.space(), &data)?;
        Ok(driver(
            catalogue,
            move |scope| filter.run(&data, scope),
            move |session, asked| match session.spent().map_err(failed)? {
                Some(spent) if *asked == d_in => Ok(spent.bound().clone()),
                _ => Err(AskError::invalid(
                    "a filter knows its loss at the distance of its budget only",
                )),
            },
        ))
    }
}

fn failed(error: LaunchError) -> AskError {
    match error {
        LaunchError::Unusable(error) | LaunchError::Open(OpenError::Unusable(error)) => error,
        LaunchError::Stopped { .. } => AskError::Halted,
        other => AskError::failed(other.to_string()),
    }
}

fn driver<S, R, C, O, L>(catalogue: C, open: O, loss: L) -> impl MachineFor<S, R, C>
where
    S: Space,
    R: FilterRule,
    C: Launchable<S, R, Name: 'static>,
    O: Fn(&mut Scope<'_>) -> Result<Session<S, R>, AskError> + Send + 'static,
    L: Fn(&Session<S, R>, &S::Distance) -> Result<TotalLoss<R>, AskError> + Send + 'static,
{
    let mut opened: Option<Session<S, R>> = None;
    let mut machines: Vec<Queryable<C::Query, C::Answer>> = Vec::new();
    machine(move |message, scope: &mut Scope<'_>| {
        let session = match &mut opened {
            Some(session) => session,
            none => none.insert(open(scope)?),
        };
        match message {
            Message::PrivacyLoss(d_in) => loss(session, &d_in).map(Reply::Loss),
            Message::Ask { machine, query } => {
                let asked = machines.get(machine);
                let asked = asked
                    .ok_or_else(|| AskError::invalid(format!("no machine has number {machine}")))?;
                asked.ask(query).map(Reply::Value)
            }
            Message::Launch(name) => {
                let measurement = catalogue.find(&name);
                let measurement =
                    measurement.ok_or_else(|| AskError::invalid("no measurement has this name"))?;
                reply(session.launch(&measurement), &mut machines)
            }
        }
    })
}

fn reply<Q, A, L>(
    launched: Result<Launched<Q, A>, LaunchError>,
    machines: &mut Vec<Queryable<Q, A>>,
) -> Result<Reply<A, L>, AskError> {
    match launched {
        Ok(Launched::Value(value)) => Ok(Reply::Value(value)),
        Ok(Launched::Machine(machine)) => {
            machines.push(machine);
            Ok(Reply::Machine(machines.len() - 1))
        }
        Err(LaunchError::Failed(error)) => Ok(Reply::Failed(error)),
        Err(LaunchError::Refused(_) | LaunchError::Halted { .. }) => Ok(Reply::Refused),
        Err(error) => Err(failed(error)),
    }
}

/// The truncated view (\[HST+23\] Def 2.10, Alg 5): before an answer is shown, the loss *after* it is asked; if that is
/// not within `threshold` at `d_in`, the interaction stops without showing it. (The printed algorithm asks for the loss
/// before the step: read literally, it would show one answer too many.)
///
/// What \[HST+23\] Def 2.11 says of a valid odometer is that this, put in front of [`Odometer::machine`], has loss at
/// most `threshold`, for every threshold.
pub fn truncated_view<N, Q, D, A, L>(
    d_in: D,
    threshold: L,
) -> impl PostProcessor<
    Query = Message<N, Q, D>,
    Answer = Reply<A, L>,
    InnerQuery = Message<N, Q, D>,
    InnerAnswer = Reply<A, L>,
>
where
    N: Send + 'static,
    Q: Send + 'static,
    D: Clone + Send + 'static,
    A: Send + 'static,
    L: measures::Loss,
{
    Truncated {
        d_in,
        threshold,
        answer: None,
        names: std::marker::PhantomData,
    }
}

struct Truncated<N, Q, D, A, L> {
    d_in: D,
    threshold: L,
    /// The answer that is held back until the loss after it is known.
    answer: Option<Result<Reply<A, L>, AskError>>,
    names: std::marker::PhantomData<fn(N, Q)>,
}

impl<N, Q, D, A, L> PostProcessor for Truncated<N, Q, D, A, L>
where
    N: Send + 'static,
    Q: Send + 'static,
    D: Clone + Send + 'static,
    A: Send + 'static,
    L: measures::Loss,
{
    type Query = Message<N, Q, D>;
    type Answer = Reply<A, L>;
    type InnerQuery = Message<N, Q, D>;
    type InnerAnswer = Reply<A, L>;

    fn step(
        &mut self,
        message: Received<Self>,
        scope: &mut Scope<'_>,
    ) -> Result<Sent<Self>, AskError> {
        match (message, self.answer.take()) {
            (Side::Left(message), _) => Ok(Side::Right(message)),
            (Side::Right(answer), None) => {
                self.answer = Some(answer);
                Ok(Side::Right(Message::PrivacyLoss(self.d_in.clone())))
            }
            (Side::Right(loss), Some(answer)) => match loss {
                Ok(Reply::Loss(loss)) if loss.at_most(&self.threshold) => answer.map(Side::Left),
                _ => {
                    scope.halt();
                    Err(AskError::Halted)
                }
            },
        }
    }
}
