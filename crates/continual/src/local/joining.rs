//! Users who join while the server asks (\[HSV25\] Remark 8.10).
//!
//! Two runs are neighbours if users join at the same times in both, and at most `k` of them with different data: when somebody
//! joins is public, and so is how many have. Data may be chosen after answers that others gave. They come in a user's first
//! message, and a difference shows there, so that users stay mechanisms in parallel that are first-pair consistent, and `k` of
//! them cost what `k` users cost, however many join (Thm 5.14; Thm 13.6, Cor 14.8). Who may be there or not joins in both runs, with
//! data that say "nobody" in one of them.
//!
//! That holds for data that stay as they are. Users whose data *change* are streams, and cost what streams cost.

use std::{fmt, marker::PhantomData, sync::Arc};

use measures::{Adaptive, Loss};
use odometer::Measurement;
use queryable::{
    AskError, DEFAULT_MESSAGES, Fixed, Machine, PostProcessor, Queryable, Received, Root, Scope,
    Sent, Side,
    compose::{BoxedMachine, ConComp, Routed, Unparsable},
    machine,
};

use super::{Protocol, Users};
use crate::{
    compose::Outcome,
    error::PriceError,
    pair::StreamMessage,
    streams::Streams,
    verification::{EventLevel, Mixed},
};

/// What reaches the users of a running protocol: an update is a user who joins with these data, a question goes to one of them.
pub type UserMessage<X, Q> = StreamMessage<X, Routed<Q>>;

/// The two handles of a running protocol: users join through the one, the server asks through the other.
pub type Meeting<X, Q, A> = (Door<X, Q, A>, Queryable<Routed<Q>, A>);

/// A running protocol as a measurement.
pub type Joinable<X, Q, A, R> =
    Measurement<Streams<Users>, <R as measures::Rule>::Total, Meeting<X, Q, A>>;

/// Where users join. It belongs to those who hold data; the server has the other handle.
///
/// A clone is the same door, and can be used on another thread.
pub struct Door<X, Q, A>(Queryable<UserMessage<X, Q>, Outcome<A>>);

impl<X: 'static, Q: 'static, A: 'static> Door<X, Q, A> {
    /// A user with these data joins: its number, by which the server asks it.
    ///
    /// # Errors
    /// Where the protocol may not run any more.
    pub fn join(&self, data: X) -> Result<usize, AskError> {
        match self.0.ask(StreamMessage::Update(data))? {
            Outcome::Created(number) => Ok(number),
            Outcome::Answer(_) => Err(AskError::failed("a user who joins gets a number")),
        }
    }
}

impl<X, Q, A, L> Protocol<X, Q, A, L>
where
    X: Send + Sync + 'static,
    Q: Fixed + Clone + Send + 'static,
    A: 'static,
    L: Loss,
{
    /// Begins without users: they join while the server asks. What that costs says [`loss`](Self::loss), for the users that differ of all
    /// who ever join.
    ///
    /// ```
    /// use odometry::continual::local::Protocol;
    /// use odometry::measures::Epsilon;
    /// use odometry::queryable::{Root, Scope, coins::{Bit, Probability}, compose::Routed, machine};
    /// let lie = Bit::new(Probability::new(1, 4)?);
    /// let responses = Protocol::new("1.0987".parse::<Epsilon>()?, move |truth: &bool| {
    ///     let (lie, truth) = (lie.clone(), *truth);
    ///     machine(move |(), scope: &mut Scope<'_>| { scope.halt(); Ok(scope.draw(&lie)? ^ truth) })
    /// });
    /// let (door, users) = responses.open(&Root::from_os()?)?;
    /// let first = door.join(true)?;
    /// let answer = users.ask(Routed { to: first, query: () })?;
    /// let second = door.join(answer)?; // data may depend on answers
    /// assert!(users.ask(Routed { to: second, query: () }).is_ok());
    /// assert!(users.ask(Routed { to: 2, query: () }).is_err()); // not there yet
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where the root may not be used.
    pub fn open(&self, root: &Root) -> Result<Meeting<X, Q, A>, AskError> {
        let users = root.spawn(self.joining())?;
        let server = root.postprocess(&users, OnlyAsks(PhantomData))?;
        Ok((Door(users), server))
    }

    /// The same as a measurement, for accounts: charged when it is launched, for all who will join. Distances count the users that
    /// join with different data: with data that are [neighbours](Self::between) of each other, where not any two are.
    ///
    /// ```
    /// use odometry::continual::{local::{Protocol, Users}, streams::Streams};
    /// use odometry::measures::{Basic, Epsilon, PureDp};
    /// use odometry::odometer::Odometer;
    /// use odometry::queryable::{Scope, compose::Routed, machine};
    /// let tenth: Epsilon = "0.1".parse()?;
    /// let silent = Protocol::new(tenth, |_: &bool| machine(|(), _: &mut Scope<'_>| Ok(0))); // yours say something
    /// let session = Odometer::new(Streams::with(Users), Basic::new(PureDp)).open(())?;
    /// let (door, users) = session.launch(&silent.continual(Basic::new(PureDp))?)?;
    /// let number = door.join(true)?;
    /// assert_eq!(users.ask(Routed { to: number, query: () })?, 0);
    /// assert_eq!(session.privacy_loss(&2)?.to_string(), "0.2"); // if two users may differ
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    pub fn continual<R>(&self, rule: R) -> Result<Joinable<X, Q, A, R>, PriceError>
    where
        R: Adaptive<Child: measures::Measure<Loss = L>>,
    {
        let (map, protocol) = (self.map(rule)?, self.clone());
        let open = move |_: &Arc<()>, scope: &mut Scope<'_>| protocol.open(&scope.root()?);
        let space = Streams::with(Users);
        Ok(Measurement::new(
            "joinable local protocol",
            space,
            map,
            open,
        ))
    }

    /// The machine behind [`open`](Self::open), which takes both kinds of messages: for the privacy game, with [`function`](Self::function).
    ///
    /// A user that errs or panics ends alone, also one that does so when it gets its data: it gets them with its first question.
    pub fn joining(
        &self,
    ) -> impl Machine<Query = UserMessage<X, Q>, Answer = Outcome<A>> + use<X, Q, A, L> {
        let protocol = self.clone();
        let mut users =
            ConComp::new(Vec::new(), Unparsable::Refuse).answering_at_most(DEFAULT_MESSAGES);
        machine(
            move |message: UserMessage<X, Q>, scope: &mut Scope<'_>| match message {
                StreamMessage::Question(routed) => users.step(routed, scope).map(Outcome::Answer),
                StreamMessage::Update(data) => {
                    let (protocol, mut user) = (protocol.clone(), None::<BoxedMachine<Q, A>>);
                    let joined = machine(move |question: Q, scope: &mut Scope<'_>| {
                        user.get_or_insert_with(|| protocol.user(&data))
                            .step(question, scope)
                    });
                    Ok(Outcome::Created(users.add(Box::new(joined))))
                }
            },
        )
    }

    /// Which pairs of runs are neighbours if `k` users may differ: the same users join at the same times, at most `k` of them with data that are
    /// [neighbours](Self::between) instead of equal, and the same questions are asked.
    pub fn function(&self, k: u32) -> Mixed<EventLevel<X>, Routed<Q>>
    where
        X: PartialEq,
    {
        let neighbours = self.neighbours.clone();
        let differing = EventLevel::between(move |zero: &X, one: &X| {
            neighbours.as_ref().is_none_or(|near| near(zero, one))
        });
        Mixed::new(differing.at_most(usize::try_from(k).unwrap_or(usize::MAX)))
    }
}

/// The server's side: it asks, and nobody joins through it.
struct OnlyAsks<X, Q, A>(PhantomData<fn(X, Q) -> A>);

impl<X: 'static, Q: 'static, A: 'static> PostProcessor for OnlyAsks<X, Q, A> {
    type Query = Routed<Q>;
    type Answer = A;
    type InnerQuery = UserMessage<X, Q>;
    type InnerAnswer = Outcome<A>;

    fn step(&mut self, message: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        match message {
            Side::Left(question) => Ok(Side::Right(StreamMessage::Question(question))),
            Side::Right(answer) => match answer? {
                Outcome::Answer(answer) => Ok(Side::Left(answer)),
                Outcome::Created(_) => Err(AskError::failed("a question gets an answer")),
            },
        }
    }
}

impl<X, Q, A> Clone for Door<X, Q, A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<X, Q, A> fmt::Debug for Door<X, Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Door")
    }
}
