//! Verification functions: which sequences of pairs an adversary may send, that is, which streams are neighbours
//! (\[HSV25\] Def 3.3), and the two properties that make parallel composition cheaper.

use std::{fmt, marker::PhantomData, sync::Arc};

use crate::pair::{Pair, StreamMessage};

/// A verification function: says of a sequence of pairs whether it is valid (\[HSV25\] Def 3.3).
///
/// A mechanism is private *with respect to* one: nobody who sends pairs, each chosen after the answers to all earlier
/// ones, so that every beginning of the sequence is valid, can tell which halves the mechanism gets (Def 3.7).
///
/// ```
/// use odometry::continual::{Pair, VerificationFunction, verification};
/// let counted = verification(|pairs: &[Pair<u8>]| pairs.len() <= 2);
/// assert!(counted.is_valid(&[Pair::new(0, 1)]));
/// assert!(!counted.is_valid(&[Pair::same(0); 3]));
/// ```
pub trait VerificationFunction: Send + Sync + 'static {
    /// What is sent.
    type Message: 'static;

    /// Whether this sequence, all of whose beginnings are valid, is valid.
    fn is_valid(&self, pairs: &[Pair<Self::Message>]) -> bool;
}

/// After an identical first pair, every pair is identical (\[HSV25\] Def 5.12). So a differing pair shows at the first
/// message, and parts that never see one cost nothing: Thm 5.14, for every measure.
///
/// Whoever implements it vouches for it; [`laws::first_pair_consistent`](crate::laws::first_pair_consistent) checks it by
/// enumeration.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known to be first-pair consistent",
    note = "static data are (`Static`); streams are not: compose them with `PureParallel` or `ApproximateParallel`"
)]
pub trait FirstPairConsistent: VerificationFunction {}

/// A valid sequence stays valid when all its pairs are swapped. Identical pairs do not change, so this says that pairs
/// may be reversed after any identical beginning: what the printed proof of \[HSV25\] Thm 5.4 needs and does not say.
///
/// Whoever implements it vouches for it; [`laws::swap_symmetric`](crate::laws::swap_symmetric) checks it by enumeration.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known to be swap-symmetric",
    note = "without it a part counts with 2δ: certify it with `Certified::new`"
)]
pub trait SwapSymmetric: VerificationFunction {}

impl<F: VerificationFunction + ?Sized> VerificationFunction for Arc<F> {
    type Message = F::Message;

    fn is_valid(&self, pairs: &[Pair<F::Message>]) -> bool {
        (**self).is_valid(pairs)
    }
}

impl<F: FirstPairConsistent + ?Sized> FirstPairConsistent for Arc<F> {}
impl<F: SwapSymmetric + ?Sized> SwapSymmetric for Arc<F> {}

/// A function is a verification function, of which nothing more is known.
pub fn verification<M: 'static>(
    is_valid: impl Fn(&[Pair<M>]) -> bool + Send + Sync + 'static,
) -> impl VerificationFunction<Message = M> {
    Function {
        is_valid,
        messages: PhantomData,
    }
}

struct Function<F, M> {
    is_valid: F,
    messages: PhantomData<fn(M)>,
}

impl<M, F> VerificationFunction for Function<F, M>
where
    M: 'static,
    F: Fn(&[Pair<M>]) -> bool + Send + Sync + 'static,
{
    type Message = M;

    fn is_valid(&self, pairs: &[Pair<M>]) -> bool {
        (self.is_valid)(pairs)
    }
}

type Relation<M> = Arc<dyn Fn(&M, &M) -> bool + Send + Sync>;
type Owner<M, U> = dyn Fn(&M) -> Option<U> + Send + Sync;

/// Everything is valid: for mechanisms whose answers do not depend on what they are sent, such as coins.
pub struct Anything<M>(PhantomData<fn(M)>);

impl<M> Anything<M> {
    /// The function.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<M> Default for Anything<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: 'static> VerificationFunction for Anything<M> {
    type Message = M;

    fn is_valid(&self, _: &[Pair<M>]) -> bool {
        true
    }
}

impl<M: 'static> SwapSymmetric for Anything<M> {}

/// Static data: the first pair is of neighbouring data sets, all later pairs are identical. The relation is taken both
/// ways round.
///
/// ```
/// use odometry::continual::{Pair, Static, VerificationFunction};
/// let one_apart = Static::new(|a: &i64, b: &i64| a.abs_diff(*b) <= 1);
/// assert!(one_apart.is_valid(&[Pair::new(4, 5), Pair::same(0)]));
/// assert!(!one_apart.is_valid(&[Pair::same(4), Pair::new(4, 5)]));
/// ```
pub struct Static<M>(Relation<M>);

impl<M> Static<M> {
    /// With these neighbours. Equal messages always are.
    pub fn new(neighbours: impl Fn(&M, &M) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(neighbours))
    }
}

impl<M: PartialEq + 'static> VerificationFunction for Static<M> {
    type Message = M;

    fn is_valid(&self, pairs: &[Pair<M>]) -> bool {
        let Some((first, later)) = pairs.split_first() else {
            return true;
        };
        near(&self.0, first) && later.iter().all(Pair::is_identical)
    }
}

impl<M: PartialEq + 'static> FirstPairConsistent for Static<M> {}
impl<M: PartialEq + 'static> SwapSymmetric for Static<M> {}

/// Equal, or related one way or the other.
fn near<M: PartialEq>(relation: &Relation<M>, Pair { zero, one }: &Pair<M>) -> bool {
    zero == one || relation(zero, one) || relation(one, zero)
}

/// Event level: the streams differ in one message at the most, or in as many as are [allowed](Self::at_most).
///
/// ```
/// use odometry::continual::{EventLevel, Pair, VerificationFunction};
/// let event = EventLevel::new();
/// assert!(event.is_valid(&[Pair::same(0), Pair::new(0, 1), Pair::same(1)]));
/// assert!(!event.is_valid(&[Pair::new(0, 1), Pair::new(0, 1)]));
/// ```
pub struct EventLevel<M> {
    neighbours: Option<Relation<M>>,
    events: usize,
    length: usize,
}

impl<M> EventLevel<M> {
    /// The message may differ in any way.
    pub const fn new() -> Self {
        Self {
            neighbours: None,
            events: 1,
            length: usize::MAX,
        }
    }

    /// The message may differ so, or the other way round.
    pub fn between(neighbours: impl Fn(&M, &M) -> bool + Send + Sync + 'static) -> Self {
        Self {
            neighbours: Some(Arc::new(neighbours)),
            events: 1,
            length: usize::MAX,
        }
    }

    /// So many messages may differ.
    #[must_use]
    pub fn at_most(self, events: usize) -> Self {
        Self { events, ..self }
    }

    /// Streams have at most this many messages.
    #[must_use]
    pub fn up_to(self, length: usize) -> Self {
        Self { length, ..self }
    }
}

impl<M> Default for EventLevel<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: PartialEq + 'static> VerificationFunction for EventLevel<M> {
    type Message = M;

    fn is_valid(&self, pairs: &[Pair<M>]) -> bool {
        let neighbours = |pair: &Pair<M>| self.neighbours.as_ref().is_none_or(|r| near(r, pair));
        let differing = || pairs.iter().filter(|pair| !pair.is_identical());
        pairs.len() <= self.length
            && differing().count() <= self.events
            && differing().all(neighbours)
    }
}

impl<M: PartialEq + 'static> SwapSymmetric for EventLevel<M> {}

/// User level: all messages in which the streams differ belong to one privacy unit, and there are not too many of them.
/// The empty record belongs to nobody, so that a unit may be there or not.
///
/// ```
/// use odometry::continual::{Pair, UserLevel, VerificationFunction};
/// // A message is (user, amount); nobody is user 0.
/// let user = UserLevel::new(2, |(user, _): &(u32, i64)| (*user != 0).then_some(*user));
/// assert!(user.is_valid(&[Pair::new((7, 1), (0, 0)), Pair::same((8, 5)), Pair::new((0, 0), (7, 3))]));
/// assert!(!user.is_valid(&[Pair::new((7, 1), (0, 0)), Pair::new((8, 5), (0, 0))]));
/// assert!(!user.is_valid(&[Pair::new((7, 1), (0, 0)); 3]));
/// ```
pub struct UserLevel<M, U> {
    updates: usize,
    unit: Arc<Owner<M, U>>,
}

impl<M, U> UserLevel<M, U> {
    /// At most `updates` messages of one unit differ. `unit` says to whom a message belongs.
    pub fn new(updates: usize, unit: impl Fn(&M) -> Option<U> + Send + Sync + 'static) -> Self {
        Self {
            updates,
            unit: Arc::new(unit),
        }
    }
}

impl<M: PartialEq + 'static, U: PartialEq + 'static> VerificationFunction for UserLevel<M, U> {
    type Message = M;

    fn is_valid(&self, pairs: &[Pair<M>]) -> bool {
        let differing: Vec<&Pair<M>> = pairs.iter().filter(|pair| !pair.is_identical()).collect();
        let mut units = Vec::new();
        for Pair { zero, one } in &differing {
            let owners = [(self.unit)(zero), (self.unit)(one)];
            if owners.iter().all(Option::is_none) {
                return false;
            }
            units.extend(owners.into_iter().flatten());
        }
        differing.len() <= self.updates && units.iter().all(|unit| *unit == units[0])
    }
}

impl<M: PartialEq + 'static, U: PartialEq + 'static> SwapSymmetric for UserLevel<M, U> {}

/// Updates and questions in one stream: a question is the same in both streams, at the same place; the updates alone are
/// valid for another function.
///
/// ```
/// use odometry::continual::{EventLevel, Mixed, Pair, StreamMessage::{Question, Update}, VerificationFunction};
/// let mixed = Mixed::<_, &str>::new(EventLevel::new());
/// assert!(mixed.is_valid(&[Pair::same(Question("how many?")), Pair::new(Update(0), Update(1))]));
/// assert!(!mixed.is_valid(&[Pair::new(Question("how many?"), Update(1))]));
/// ```
pub struct Mixed<F, Q> {
    updates: F,
    questions: PhantomData<fn(Q)>,
}

impl<F: VerificationFunction, Q> Mixed<F, Q> {
    /// The updates are judged by `updates`.
    pub const fn new(updates: F) -> Self {
        Self {
            updates,
            questions: PhantomData,
        }
    }
}

impl<F, Q> VerificationFunction for Mixed<F, Q>
where
    F: VerificationFunction<Message: Clone>,
    Q: PartialEq + 'static,
{
    type Message = StreamMessage<F::Message, Q>;

    fn is_valid(&self, pairs: &[Pair<Self::Message>]) -> bool {
        let mut updates = Vec::new();
        for Pair { zero, one } in pairs {
            match (zero, one) {
                (StreamMessage::Update(zero), StreamMessage::Update(one)) => {
                    updates.push(Pair::new(zero.clone(), one.clone()));
                }
                (StreamMessage::Question(zero), StreamMessage::Question(one)) if zero == one => {}
                _ => return false,
            }
        }
        updates.is_empty() || self.updates.is_valid(&updates)
    }
}

impl<F, Q> SwapSymmetric for Mixed<F, Q>
where
    F: SwapSymmetric<Message: Clone>,
    Q: PartialEq + 'static,
{
}

macro_rules! opaque {
    ($($name:ident<$($param:ident),*>),*) => { $(
        impl<$($param),*> fmt::Debug for $name<$($param),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )* };
}

opaque!(Anything<M>, Static<M>, EventLevel<M>, UserLevel<M, U>, Mixed<F, Q>);
