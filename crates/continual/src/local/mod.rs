//! Local protocols: users keep their data, and a server asks them (\[HSV25\] §8).
//!
//! Every user is a private mechanism over its own data. If at most `k` users differ between two inputs, the server's view
//! costs what `k` users cost together: users are static mechanisms in parallel (Cor 8.8, by Cor 5.15), in any measure whose
//! rule lets children be asked in any order. It does not matter what the server does, nor who helps it: users whose data
//! are the same in both inputs are as good as part of the adversary (Remark 8.11).
//!
//! Users may also join while the server asks: [`Protocol::open`].

mod joining;

use std::sync::Arc;

pub use joining::{Door, Joinable, Meeting, UserMessage};
use measures::{Adaptive, ChildLoss, Interleaving, Loss, Metric, Name, PrivacyMap, Tally};
use odometer::{Any, Measurement};
use queryable::{
    AskError, Fixed, Heard, Machine, Move, Root, Scope, View,
    compose::{BoxedMachine, ConComp, Routed, Unparsable},
    machine,
};

use crate::error::PriceError;

/// The number of users whose data differ, each by so much that it is a neighbour of itself in the user's own relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Users;

impl Metric for Users {
    type Distance = u32;

    fn name(&self) -> Option<Name> {
        Some(Name::new("users"))
    }
}

/// The data of all users, in order.
pub type UserData<X> = Any<Vec<X>, Users>;

/// What users do, and what each of them can lose.
///
/// ```
/// use odometry::continual::local::Protocol;
/// use odometry::measures::{Basic, Epsilon, PureDp};
/// use odometry::queryable::{Heard, Move, Root, Scope, coins::{Bit, Probability}, compose::Routed, machine};
///
/// // Randomized response, three times in four the truth; a user answers once.
/// let lie = Bit::new(Probability::new(1, 4)?);
/// let users = Protocol::new("1.0987".parse::<Epsilon>()?, move |truth: &bool| {
///     let (lie, truth) = (lie.clone(), *truth);
///     machine(move |(), scope: &mut Scope<'_>| { scope.halt(); Ok(scope.draw(&lie)? ^ truth) })
/// });
/// assert_eq!(users.loss(&Basic::new(PureDp), 2)?.to_string(), "2.1974"); // if two users may differ
///
/// // A server that asks everybody.
/// let data = [true, true, false];
/// let mut next = 0;
/// let server = machine(move |_: Heard<bool>, _: &mut Scope<'_>| {
///     next += 1;
///     Ok(if next > data.len() { Move::Halt } else { Move::Ask(Routed { to: next - 1, query: () }) })
/// });
/// let view = users.run(&Root::from_os()?, &data, server, 100)?;
/// assert_eq!(view.transcript.rounds.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Protocol<X, Q, A, L> {
    user: Arc<User<X, Q, A>>,
    loss: L,
    property: Option<Arc<Property<Q>>>,
    neighbours: Option<Arc<Neighbours<X>>>,
}

type User<X, Q, A> = dyn Fn(&X) -> BoxedMachine<Q, A> + Send + Sync;
type Property<Q> = dyn Fn(&[Q]) -> bool + Send + Sync;
type Neighbours<X> = dyn Fn(&X, &X) -> bool + Send + Sync;

impl<X, Q, A, L> Protocol<X, Q, A, L>
where
    X: 'static,
    Q: Fixed + Send + 'static,
    A: 'static,
    L: Loss,
{
    /// Every user is this machine over its own data. Its author vouches for the loss between neighbouring data, for all
    /// servers that ask what the user answers.
    pub fn new<M>(loss: L, user: impl Fn(&X) -> M + Send + Sync + 'static) -> Self
    where
        M: Machine<Query = Q, Answer = A> + 'static,
    {
        Self {
            user: Arc::new(move |data| Box::new(user(data))),
            loss,
            property: None,
            neighbours: None,
        }
    }

    /// Which data of one user are neighbours, either way round: those between which the loss holds. Without this, any two are.
    #[must_use]
    pub fn between(self, neighbours: impl Fn(&X, &X) -> bool + Send + Sync + 'static) -> Self {
        Self {
            neighbours: Some(Arc::new(neighbours)),
            ..self
        }
    }

    /// Users answer only questions that have a property together (\[HSV25\] Def 8.5): a question after which they have not
    /// is refused. The loss needs to hold for such questions only.
    #[must_use]
    pub fn answering(self, property: impl Fn(&[Q]) -> bool + Send + Sync + 'static) -> Self {
        Self {
            property: Some(Arc::new(property)),
            ..self
        }
    }

    /// All users as one machine, which a server asks by their numbers. A user that halts, errs or panics ends alone.
    pub fn users<'a>(&self, data: impl IntoIterator<Item = &'a X>) -> ConComp<Q, A>
    where
        Q: Clone,
    {
        let users = data.into_iter().map(|data| self.user(data));
        ConComp::new(users.collect(), Unparsable::Refuse)
    }

    /// The user with these data.
    fn user(&self, data: &X) -> BoxedMachine<Q, A>
    where
        Q: Clone,
    {
        let user = (self.user)(data);
        match &self.property {
            None => user,
            Some(property) => Box::new(choosy(user, Arc::clone(property))),
        }
    }

    /// Runs the protocol, with at most `limit` questions: the server's view is its coins and the messages.
    ///
    /// # Errors
    /// Where the root may not be used.
    pub fn run(
        &self,
        root: &Root,
        data: &[X],
        server: impl Machine<Query = Heard<A>, Answer = Move<Routed<Q>>>,
        limit: usize,
    ) -> Result<View<Routed<Q>, A>, AskError>
    where
        Q: Clone,
        A: Clone,
    {
        let users = root.spawn(self.users(data))?;
        root.interact(server, &users, limit)
    }

    /// What the server's view, whatever the server, costs if at most `k` users differ.
    ///
    /// # Errors
    /// [`PriceError::Sequential`]: users are asked in any order.
    pub fn loss<R>(&self, rule: &R, k: u32) -> Result<measures::TotalLoss<R>, PriceError>
    where
        R: Adaptive<Child: measures::Measure<Loss = L>>,
    {
        if R::INTERLEAVING == Interleaving::Sequential {
            return Err(PriceError::Sequential);
        }
        let k_users = rule.start().after(&self.loss, u64::from(k));
        Ok(rule.loss(&k_users).bound().clone())
    }

    /// The protocol with a server of this kind as a measurement, whose answer is the server's view.
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    pub fn measurement<R, S>(
        &self,
        rule: R,
        server: impl Fn() -> S + Send + Sync + 'static,
        limit: usize,
    ) -> Result<LocalBy<X, Q, A, R>, PriceError>
    where
        R: Adaptive<Child: measures::Measure<Loss = L>>,
        S: Machine<Query = Heard<A>, Answer = Move<Routed<Q>>>,
        X: Send + Sync,
        Q: Clone,
        A: Clone,
    {
        let map = self.map(rule)?;
        let protocol = self.clone();
        let run = move |data: &Arc<Vec<X>>, scope: &mut Scope<'_>| {
            protocol.run(&scope.root()?, data, server(), limit)
        };
        let space = UserData::with(Users);
        Ok(Measurement::new("local protocol", space, map, run))
    }

    /// The [loss](Self::loss) for every number of users that differ.
    fn map<R>(&self, rule: R) -> Result<PrivacyMap<Users, R::Total>, PriceError>
    where
        R: Adaptive<Child: measures::Measure<Loss = L>>,
    {
        self.loss(&rule, 1)?;
        let (measure, each): (_, ChildLoss<R>) = (rule.total(), self.loss.clone());
        Ok(PrivacyMap::new(measure, move |k: &u32| {
            let k_users = rule.start().after(&each, u64::from(*k));
            Ok(rule.loss(&k_users).bound().clone())
        }))
    }
}

/// A protocol as a measurement.
pub type LocalBy<X, Q, A, R> =
    Measurement<UserData<X>, <R as measures::Rule>::Total, View<Routed<Q>, A>>;

/// A user who answers only questions with a property.
fn choosy<Q: Clone + Send + 'static, A: 'static>(
    mut user: BoxedMachine<Q, A>,
    property: Arc<Property<Q>>,
) -> impl Machine<Query = Q, Answer = A> {
    let mut asked = Vec::new();
    machine(move |question: Q, scope: &mut Scope<'_>| {
        asked.push(question.clone());
        if !property(&asked) {
            asked.pop();
            return Err(AskError::invalid("users do not answer this question now"));
        }
        user.step(question, scope)
    })
}

impl<X, Q, A, L: Clone> Clone for Protocol<X, Q, A, L> {
    fn clone(&self) -> Self {
        Self {
            user: Arc::clone(&self.user),
            loss: self.loss.clone(),
            property: self.property.clone(),
            neighbours: self.neighbours.clone(),
        }
    }
}
