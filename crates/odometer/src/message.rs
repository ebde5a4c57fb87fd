//! Message form: odometers and filters as machines over messages, as the papers write them (seed 000 Alg 2 to 6), for
//! wire protocols and for the auditor. They open an ordinary [`Session`]: the accounting is the same.
//!
//! Measurements cannot be sent, so they are launched by name from a [`Catalogue`]. With noninteractive measurements this
//! is Filt(NIM) and Odom(NIM), with interactive ones FiltCon(IM) and OdomCon(IM); if the rule is sequential, FiltSeq and
//! OdomSeq.

use std::sync::Arc;

use measures::{Adaptive, FilterRule, Metric, Rule, TotalLoss};
use queryable::{
    AskError, Machine, PostProcessor, Queryable, Received, Scope, Sent, Side, machine,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::LaunchError, measurement::Measurement, odometer::Odometer, session::Session,
    space::Domain,
};

/// What may be launched, by name. All measurements take the same data and answer in one type.
pub trait Catalogue<D: Domain, MI: Metric, R: FilterRule>: Send + 'static {
    /// The names.
    type Name;
    /// What interactive measurements are asked.
    type Query: 'static;
    /// What is answered.
    type Answer: 'static;

    /// The measurement with this name.
    fn find(&self, name: &Self::Name) -> Option<Entry<D, MI, R, Self::Query, Self::Answer>>;
}

/// A measurement in a catalogue.
pub type Entry<D, MI, R, Q, A> = Measurement<D, MI, <R as Rule>::Child, Launched<Q, A>>;

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
pub type MessageFor<D, MI, R, C> = Message<
    <C as Catalogue<D, MI, R>>::Name,
    <C as Catalogue<D, MI, R>>::Query,
    <MI as Metric>::Distance,
>;

/// The answers to launches from this catalogue.
pub type ReplyFor<D, MI, R, C> = Reply<<C as Catalogue<D, MI, R>>::Answer, TotalLoss<R>>;

impl<D: Domain, MI: Metric, R: Adaptive> Odometer<D, MI, R> {
    /// The odometer on these data as a machine over messages (000 Alg 4 and 6).
    pub fn machine<C: Catalogue<D, MI, R>>(
        &self,
        data: Arc<D::Carrier>,
        catalogue: C,
    ) -> impl Machine<Query = MessageFor<D, MI, R, C>, Answer = ReplyFor<D, MI, R, C>> + 'static
    where
        C::Name: 'static,
    {
        let odometer = self.clone();
        driver(
            catalogue,
            move |scope| {
                odometer
                    .open_in(&scope.root()?, Arc::clone(&data))
                    .map_err(failed)
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

impl<D: Domain, MI: Metric, R: FilterRule> Odometer<D, MI, R> {
    /// A filter on these data as a machine over messages (000 Alg 2 and 3). At the distance of the budget, the privacy
    /// loss is how much of it was spent; at others it is not told.
    ///
    /// # Errors
    /// As [`filter`](Self::filter), and [`LaunchError::NotInDomain`].
    pub fn filter_machine<C: Catalogue<D, MI, R>>(
        &self,
        d_in: MI::Distance,
        budget: TotalLoss<R>,
        data: Arc<D::Carrier>,
        catalogue: C,
    ) -> Result<
        impl Machine<Query = MessageFor<D, MI, R, C>, Answer = ReplyFor<D, MI, R, C>> + 'static,
        LaunchError,
    >
    where
        C::Name: 'static,
    {
        self.space().check_contains(&data)?;
        let filter = self.filter(d_in.clone(), budget)?;
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
        LaunchError::Unusable(error) => error,
        other => AskError::failed(other.to_string()),
    }
}

fn driver<D, MI, R, C>(
    catalogue: C,
    open: impl Fn(&mut Scope<'_>) -> Result<Session<D, MI, R>, AskError> + Send + 'static,
    loss: impl Fn(&Session<D, MI, R>, &MI::Distance) -> Result<TotalLoss<R>, AskError> + Send + 'static,
) -> impl Machine<Query = MessageFor<D, MI, R, C>, Answer = ReplyFor<D, MI, R, C>> + 'static
where
    D: Domain,
    MI: Metric,
    R: FilterRule,
    C: Catalogue<D, MI, R>,
    C::Name: 'static,
{
    let mut opened: Option<Session<D, MI, R>> = None;
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

/// The truncated view (000 Def 2.10, Alg 5): before an answer is shown, the loss *after* it is asked; if that is not
/// within `limit` at `d_in`, the interaction stops without showing it. (The printed algorithm asks for the loss before
/// the step: read literally, it would show one answer too many.)
///
/// What 000 Def 2.11 says of a valid odometer is that this, put in front of [`Odometer::machine`], has loss at most
/// `limit`, for every limit.
pub fn truncated_view<N, Q, D, A, L>(
    d_in: D,
    limit: L,
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
        limit,
        answer: None,
        names: std::marker::PhantomData,
    }
}

struct Truncated<N, Q, D, A, L> {
    d_in: D,
    limit: L,
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
                Ok(Reply::Loss(loss)) if loss.at_most(&self.limit) => answer.map(Side::Left),
                _ => {
                    scope.halt();
                    Err(AskError::Halted)
                }
            },
        }
    }
}
