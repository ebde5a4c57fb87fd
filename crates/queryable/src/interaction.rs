//! An analyst that is itself a machine, playing against a queryable, and what it saw.

use serde::{Deserialize, Serialize};

use crate::{
    cell::{Status, run},
    coins::Coins,
    contained::Caught,
    error::AskError,
    handle::Queryable,
    machine::Machine,
    root::Root,
    scope::{Scope, Terms},
};

/// What an analyst receives: nothing before its first move (the empty message λ), then the answer to each query.
pub type Heard<A> = Option<Result<A, AskError>>;

/// What an analyst does: ask, or halt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Move<Q> {
    /// Asks the queryable.
    Ask(Q),
    /// Ends the interaction.
    Halt,
}

/// A query and its answer. Errors, halts and panics are answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Exchange<Q, A> {
    /// What was asked.
    pub query: Q,
    /// What came back.
    pub answer: Result<A, AskError>,
}

/// The messages of an interaction, in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Transcript<Q, A> {
    /// Each query with its answer.
    pub rounds: Vec<Exchange<Q, A>>,
}

impl<Q, A> Transcript<Q, A> {
    /// Asks each query in turn, whatever the answers.
    pub fn of(queryable: &Queryable<Q, A>, queries: impl IntoIterator<Item = Q>) -> Self
    where
        Q: Clone,
    {
        let round = |query: Q| Exchange {
            answer: queryable.ask(query.clone()),
            query,
        };
        Self {
            rounds: queries.into_iter().map(round).collect(),
        }
    }
}

/// The coins of an analyst.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AnalystCoins {
    /// All its draws follow from these: first the 32 bytes of `first`, then ChaCha20's stream 1 under `key`. Its
    /// children's coins are in stream 0.
    Stream {
        /// The key of its streams.
        key: [u8; 32],
        /// What it draws first.
        first: [u8; 32],
    },
    /// The numbers of the outcomes that a script gave it.
    Choices(Vec<usize>),
}

/// Everything an analyst saw: its coins and the transcript (\[HST+23\] Def 1.6, \[HSV25\] Def 2.10).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct View<Q, A> {
    /// The analyst's own coins.
    pub coins: AnalystCoins,
    /// The messages.
    pub transcript: Transcript<Q, A>,
}

impl Root {
    /// Lets an analyst play against a queryable until it halts, errs, panics or has asked `limit` times; returns its
    /// view. The analyst's coins come from this root. A queryable that halts does not end the interaction: the analyst
    /// hears of it.
    ///
    /// ```
    /// use odometry::queryable::{Heard, Move, Root, machine};
    /// let root = Root::seeded([7; 32]);
    /// let parity = root.spawn(machine(|n: u32, _| Ok(n % 2)))?;
    /// let mut next = 0;
    /// let analyst = machine(move |heard: Heard<u32>, _| Ok(match heard {
    ///     Some(Ok(1)) => Move::Halt,
    ///     _ => { next += 1; Move::Ask(2 * next - 3 * (next / 3)) }
    /// }));
    /// let view = root.interact(analyst, &parity, 10)?;
    /// assert_eq!(view.transcript.rounds.len(), 3);
    /// # Ok::<(), odometry::queryable::AskError>(())
    /// ```
    ///
    /// # Errors
    /// [`AskError::NotSpawnedHere`] inside a step of a machine that this root is not below.
    pub fn interact<Q, A>(
        &self,
        mut analyst: impl Machine<Query = Heard<A>, Answer = Move<Q>>,
        queryable: &Queryable<Q, A>,
        limit: usize,
    ) -> Result<View<Q, A>, AskError>
    where
        Q: Clone,
        A: Clone,
    {
        let (place, mut context) = self.seat()?;
        let mut status = Status::Running;
        let revealed = context.coins_mut().reveal(place.position.source());
        let mut choices = Choices::default();
        let mut rounds: Vec<Exchange<Q, A>> = Vec::new();
        while rounds.len() < limit {
            let heard = rounds.last().map(|round| round.answer.clone());
            choices.before(context.coins());
            let step = |scope: &mut Scope<'_>| analyst.step(heard, scope);
            let said = run(
                &place,
                Terms::Inherited,
                &mut context,
                &mut status,
                &mut Caught::default(),
                step,
            );
            choices.after(context.coins());
            let Ok(Move::Ask(query)) = said else { break };
            let answer = queryable.ask(query.clone());
            rounds.push(Exchange { query, answer });
            if status != Status::Running {
                break;
            }
        }
        let coins = match revealed {
            Some((key, first)) => AnalystCoins::Stream { key, first },
            None => AnalystCoins::Choices(choices.taken),
        };
        Ok(View {
            coins,
            transcript: Transcript { rounds },
        })
    }
}

/// Collects which draws of a shared script were the analyst's.
#[derive(Default)]
struct Choices {
    start: usize,
    taken: Vec<usize>,
}

impl Choices {
    fn before(&mut self, coins: &Coins) {
        if let Coins::Script(script) = coins {
            self.start = script.drawn();
        }
    }

    fn after(&mut self, coins: &Coins) {
        if let Coins::Script(script) = coins {
            let branches = script.branches();
            self.taken
                .extend(branches[self.start..].iter().map(|branch| branch.choice));
        }
    }
}
