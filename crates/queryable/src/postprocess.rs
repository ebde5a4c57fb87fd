//! Post-processing: a person in the middle, between an analyst and a queryable (\[HST+23\] Def 2.15, \[HSV25\] Def
//! 2.14).
//!
//! \[HST+23\] Alg 7 is misprinted; this follows \[HSV25\] Alg 1, and Alg 2 with its sides corrected.

use crate::{error::AskError, handle::Queryable, lineage::Asker, machine::Machine, scope::Scope};

/// How many inner steps a post-processor may take for one query, unless said otherwise.
pub const DEFAULT_STEPS: u32 = 10_000;

/// A message with the side it comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side<L, R> {
    /// The analyst's side.
    Left(L),
    /// The side of the inner machine.
    Right(R),
}

/// What a post-processor receives: a query from the left, or the inner machine's answer from the right. An error of
/// the inner machine is an answer like any other.
pub type Received<P> =
    Side<<P as PostProcessor>::Query, Result<<P as PostProcessor>::InnerAnswer, AskError>>;

/// What a post-processor sends: an answer to the left, or a query to the right.
pub type Sent<P> = Side<<P as PostProcessor>::Answer, <P as PostProcessor>::InnerQuery>;

/// A machine with two sides. It may talk several times to the inner machine before it answers, or not at all.
///
/// It has one initial state: it may not depend on data, other than through the inner machine's answers. (One that is
/// built inside a step is part of that step's machine, and covered by its privacy map.)
///
/// ```
/// use odometry::queryable::{AskError, PostProcessor, Received, Root, Scope, Sent, Side, machine};
///
/// /// Asks twice and answers the sum.
/// #[derive(Default)]
/// struct Twice { first: Option<i64> }
///
/// impl PostProcessor for Twice {
///     type Query = i64;
///     type Answer = i64;
///     type InnerQuery = i64;
///     type InnerAnswer = i64;
///     fn step(&mut self, message: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
///         Ok(match (message, self.first.take()) {
///             (Side::Left(query), _) => Side::Right(query),
///             (Side::Right(answer), None) => { let a = answer?; self.first = Some(a); Side::Right(a) }
///             (Side::Right(answer), Some(first)) => Side::Left(first + answer?),
///         })
///     }
/// }
///
/// let root = Root::seeded([0; 32]);
/// let next = root.spawn(machine(|x: i64, _| Ok(x + 1)))?;
/// assert_eq!(root.postprocess(&next, Twice::default())?.ask(1)?, 2 + 3);
/// # Ok::<(), AskError>(())
/// ```
pub trait PostProcessor: Send {
    /// What the analyst asks.
    type Query: 'static;
    /// What the analyst is answered.
    type Answer: 'static;
    /// What the inner machine is asked.
    type InnerQuery: 'static;
    /// What the inner machine answers.
    type InnerAnswer: 'static;

    /// One transition: a message from either side, to a message to either side.
    fn step(
        &mut self,
        message: Received<Self>,
        scope: &mut Scope<'_>,
    ) -> Result<Sent<Self>, AskError>
    where
        Self: Sized;
}

/// `P ∘ M` (\[HSV25\] Alg 1), a machine again.
pub(crate) struct PostProcessed<P: PostProcessor> {
    processor: P,
    inner: Queryable<P::InnerQuery, P::InnerAnswer>,
    limit: u32,
    /// The code that put the processor in front of the inner machine: it asks on behalf of that.
    asker: Asker,
}

impl<P: PostProcessor> PostProcessed<P> {
    pub(crate) fn new(
        processor: P,
        inner: Queryable<P::InnerQuery, P::InnerAnswer>,
        limit: u32,
        asker: Asker,
    ) -> Self {
        Self {
            processor,
            inner,
            limit,
            asker,
        }
    }
}

impl<P: PostProcessor> Machine for PostProcessed<P> {
    type Query = P::Query;
    type Answer = P::Answer;

    fn step(&mut self, query: P::Query, scope: &mut Scope<'_>) -> Result<P::Answer, AskError> {
        let mut message = self.processor.step(Side::Left(query), scope)?;
        for _ in 0..self.limit {
            match message {
                Side::Left(answer) => return Ok(answer),
                // The right to ask was checked when the post-processor was built, and only this driver asks.
                Side::Right(query) => {
                    let answer = self.inner.ask_unchecked(self.asker, query);
                    message = self.processor.step(Side::Right(answer), scope)?;
                }
            }
        }
        if let Side::Left(answer) = message {
            return Ok(answer);
        }
        scope.halt();
        Err(AskError::Unanswered { limit: self.limit })
    }
}

/// `P1 ∘ P2` (\[HSV25\] Def 2.17, Alg 2 corrected): `first` faces the analyst, `second` the inner machine.
///
/// `(P1 ∘ P2) ∘ M` behaves as `P1 ∘ (P2 ∘ M)`, except that a chain halts as a whole and counts hops, not inner steps.
pub struct Chain<P1, P2> {
    first: P1,
    second: P2,
    limit: u32,
}

impl<P1, P2> Chain<P1, P2>
where
    P1: PostProcessor,
    P2: PostProcessor<Query = P1::InnerQuery, Answer = P1::InnerAnswer>,
{
    /// Puts `first` in front of `second`.
    pub fn new(first: P1, second: P2) -> Self {
        Self {
            first,
            second,
            limit: DEFAULT_STEPS,
        }
    }

    fn at_first(
        &mut self,
        message: Received<P1>,
        scope: &mut Scope<'_>,
    ) -> Result<Hop<Self, P1, P2>, AskError> {
        Ok(match self.first.step(message, scope)? {
            Side::Left(answer) => Hop::Out(Side::Left(answer)),
            Side::Right(query) => Hop::ToSecond(Side::Left(query)),
        })
    }

    /// An error of `second` is an answer to `first`, as an error of `P2 ∘ M` would be.
    fn at_second(&mut self, message: Received<P2>, scope: &mut Scope<'_>) -> Hop<Self, P1, P2> {
        match self.second.step(message, scope) {
            Ok(Side::Right(query)) => Hop::Out(Side::Right(query)),
            Ok(Side::Left(answer)) => Hop::ToFirst(Side::Right(Ok(answer))),
            Err(error) => Hop::ToFirst(Side::Right(Err(error))),
        }
    }
}

/// Where a message goes inside a chain.
enum Hop<C: PostProcessor, P1: PostProcessor, P2: PostProcessor> {
    Out(Sent<C>),
    ToFirst(Received<P1>),
    ToSecond(Received<P2>),
}

impl<P1, P2> PostProcessor for Chain<P1, P2>
where
    P1: PostProcessor,
    P2: PostProcessor<Query = P1::InnerQuery, Answer = P1::InnerAnswer>,
{
    type Query = P1::Query;
    type Answer = P1::Answer;
    type InnerQuery = P2::InnerQuery;
    type InnerAnswer = P2::InnerAnswer;

    fn step(
        &mut self,
        message: Received<Self>,
        scope: &mut Scope<'_>,
    ) -> Result<Sent<Self>, AskError> {
        let mut hop = match message {
            Side::Left(query) => Hop::ToFirst(Side::Left(query)),
            Side::Right(answer) => Hop::ToSecond(Side::Right(answer)),
        };
        for _ in 0..=self.limit {
            hop = match hop {
                Hop::Out(message) => return Ok(message),
                Hop::ToFirst(message) => self.at_first(message, scope)?,
                Hop::ToSecond(message) => self.at_second(message, scope),
            };
        }
        scope.halt();
        Err(AskError::Unanswered { limit: self.limit })
    }
}

/// A post-processor that translates queries on the way in and answers on the way out.
///
/// ```
/// use odometry::queryable::{Root, machine, translate};
/// let root = Root::seeded([0; 32]);
/// let double = root.spawn(machine(|x: i64, _| Ok(2 * x)))?;
/// let text = root.postprocess(&double, translate(|s: String| s.len() as i64, |x: i64| x.to_string()))?;
/// assert_eq!(text.ask("four".into())?, "8");
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
pub fn translate<Q, A, InnerQ, InnerA, F, G>(
    query: F,
    answer: G,
) -> impl PostProcessor<Query = Q, Answer = A, InnerQuery = InnerQ, InnerAnswer = InnerA>
where
    Q: 'static,
    A: 'static,
    InnerQ: 'static,
    InnerA: 'static,
    F: FnMut(Q) -> InnerQ + Send + 'static,
    G: FnMut(InnerA) -> A + Send + 'static,
{
    Translate {
        query,
        answer,
        messages: std::marker::PhantomData,
    }
}

struct Translate<F, G, Q, A, InnerQ, InnerA> {
    query: F,
    answer: G,
    messages: Messages<Q, A, InnerQ, InnerA>,
}

/// Names the four types of messages.
type Messages<Q, A, InnerQ, InnerA> = std::marker::PhantomData<fn(Q, InnerA) -> (A, InnerQ)>;

impl<F, G, Q, A, InnerQ, InnerA> PostProcessor for Translate<F, G, Q, A, InnerQ, InnerA>
where
    F: FnMut(Q) -> InnerQ + Send,
    G: FnMut(InnerA) -> A + Send,
    Q: 'static,
    A: 'static,
    InnerQ: 'static,
    InnerA: 'static,
{
    type Query = Q;
    type Answer = A;
    type InnerQuery = InnerQ;
    type InnerAnswer = InnerA;

    fn step(&mut self, message: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        Ok(match message {
            Side::Left(query) => Side::Right((self.query)(query)),
            Side::Right(answer) => Side::Left((self.answer)(answer?)),
        })
    }
}
