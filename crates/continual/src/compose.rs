//! Extended concurrent composition: mechanisms that are created and asked by messages, while others run (\[HSV25\] Def
//! 4.1), and the verification functions under which it is private.

use std::{fmt, sync::Arc};

use queryable::{
    AskError, Canonical, DEFAULT_MESSAGES, Fixed, Machine, Scope,
    compose::{ConComp, Routed, Unparsable},
    internal::Sealed,
};
use serde::{Deserialize, Serialize};

use crate::{
    allowance::{Allowance, Unlimited},
    certified::Certified,
    pair::Pair,
    verification::VerificationFunction,
};

/// A message to a composition: create a mechanism, or ask one. (A mechanism cannot be sent, so it is created by name.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Request<N, Q> {
    /// Creates the mechanism with this name. Mechanisms are numbered from zero as they are created.
    Create(N),
    /// Asks the mechanism with this number.
    Ask(Routed<Q>),
}

impl<N, Q> Request<N, Q> {
    /// Asks mechanism `to`.
    pub const fn ask(to: usize, query: Q) -> Self {
        Self::Ask(Routed { to, query })
    }
}

impl<N: Fixed, Q: Fixed> Fixed for Request<N, Q> {}

/// An answer of a composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome<A> {
    /// The mechanism was created, with this number.
    Created(usize),
    /// What the mechanism answered.
    Answer(A),
}

impl<A: Canonical> Sealed for Outcome<A> {}
impl<A: Canonical> Canonical for Outcome<A> {
    type Rebuilt = Outcome<A::Rebuilt>;
    const ATTESTED: bool = A::ATTESTED;
    fn rebuild(&self) -> Self::Rebuilt {
        match self {
            Self::Created(number) => Outcome::Created(*number),
            Self::Answer(answer) => Outcome::Answer(answer.rebuild()),
        }
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        if let Self::Answer(answer) = self {
            answer.layout(layout);
        }
    }
}

/// What may be created, by name.
pub struct Catalogue<N, Q, A, L>(Arc<Find<N, Q, A, L>>);

type Find<N, Q, A, L> = dyn Fn(&N) -> Option<Certified<Q, A, L>> + Send + Sync;

impl<N, Q, A, L> Catalogue<N, Q, A, L> {
    /// What `find` finds. It must be a function of the name.
    pub fn new(find: impl Fn(&N) -> Option<Certified<Q, A, L>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    /// The mechanism with this name.
    pub fn find(&self, name: &N) -> Option<Certified<Q, A, L>> {
        (self.0)(name)
    }
}

impl<N, Q, A, L> Clone for Catalogue<N, Q, A, L> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<N, Q, A, L> fmt::Debug for Catalogue<N, Q, A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Catalogue")
    }
}

/// Extended concurrent composition (\[HSV25\] Def 4.1). A mechanism that halts, errs or panics ends only itself; a
/// message that names none is refused. It may itself be a mechanism of another one.
///
/// It limits nothing: put a [`Verifier`](crate::Verifier) with [`Suitable`] in front of it, and it is as private as the
/// allowance says.
///
/// ```
/// use odometry::continual::{Anything, Catalogue, Certified, ExtConComp, Outcome, Request};
/// use odometry::measures::Epsilon;
/// use odometry::queryable::{Root, machine};
/// let catalogue = Catalogue::new(|k: &u32| {
///     let k = *k;
///     Some(Certified::new(Epsilon::INFINITY, Anything::new(), move || machine(move |x: u32, _| Ok(k * x))))
/// });
/// let composition = Root::seeded([0; 32]).spawn(ExtConComp::new(catalogue))?;
/// assert_eq!(composition.ask(Request::Create(3))?, Outcome::Created(0));
/// assert_eq!(composition.ask(Request::ask(0, 5))?, Outcome::Answer(15));
/// assert!(composition.ask(Request::ask(1, 5)).is_err());
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
pub struct ExtConComp<N, Q, A, L> {
    catalogue: Catalogue<N, Q, A, L>,
    mechanisms: ConComp<Q, A>,
}

impl<N, Q: Fixed + 'static, A: 'static, L> ExtConComp<N, Q, A, L> {
    /// Nothing was created yet.
    pub fn new(catalogue: Catalogue<N, Q, A, L>) -> Self {
        Self {
            catalogue,
            mechanisms: ConComp::new(Vec::new(), Unparsable::Refuse)
                .answering_at_most(DEFAULT_MESSAGES),
        }
    }

    /// Every mechanism that is created answers at most so many messages, and then
    /// [`AskError::TooManyMessages`]: finite communication, which the prices in f-DP and Gaussian privacy ask for, and those
    /// in (ε, δ) where some ε is zero (\[HSV25\] Def 14.4, Cor 14.7). Without this, [`DEFAULT_MESSAGES`].
    #[must_use]
    pub fn answering_at_most(self, messages: u64) -> Self {
        Self {
            mechanisms: self.mechanisms.answering_at_most(messages),
            ..self
        }
    }
}

impl<N, Q, A, L> Machine for ExtConComp<N, Q, A, L>
where
    N: Fixed,
    Q: Fixed + 'static,
    A: 'static,
    L: 'static,
{
    type Query = Request<N, Q>;
    type Answer = Outcome<A>;

    fn step(
        &mut self,
        request: Request<N, Q>,
        scope: &mut Scope<'_>,
    ) -> Result<Outcome<A>, AskError> {
        match request {
            Request::Ask(routed) => self.mechanisms.step(routed, scope).map(Outcome::Answer),
            Request::Create(name) => {
                let found = self.catalogue.find(&name);
                let mechanism =
                    found.ok_or_else(|| AskError::invalid("no mechanism has this name"))?;
                Ok(Outcome::Created(self.mechanisms.add(mechanism.build())))
            }
        }
    }
}

/// Suitable sequences of pairs within an allowance (\[HSV25\] Def 4.5 with Def 4.11, 5.1, 5.3 or 5.13): creations are
/// identical pairs of certified mechanisms; the two halves of any other pair ask the same mechanism, which exists; what
/// each mechanism is asked is valid for its own function; and the allowance is kept.
pub struct Suitable<N, Q, A, W: Allowance> {
    catalogue: Catalogue<N, Q, A, W::Loss>,
    allowance: W,
}

impl<N, Q, A, W: Allowance> Suitable<N, Q, A, W> {
    /// With what may be created, and what it may cost.
    pub const fn new(catalogue: Catalogue<N, Q, A, W::Loss>, allowance: W) -> Self {
        Self {
            catalogue,
            allowance,
        }
    }
}

/// A mechanism that was created, and what it was asked.
struct Created<Q, A, L> {
    mechanism: Certified<Q, A, L>,
    asked: Vec<Pair<Q>>,
}

impl<N, Q, A, W> Suitable<N, Q, A, W>
where
    N: PartialEq + 'static,
    Q: Clone + PartialEq + 'static,
    A: 'static,
    W: Allowance,
{
    /// Follows one more pair. `None` if it is not valid.
    fn follow(
        &self,
        allowance: &mut W,
        created: &mut Vec<Created<Q, A, W::Loss>>,
        pair: &Pair<Request<N, Q>>,
    ) -> Option<()> {
        match (&pair.zero, &pair.one) {
            (Request::Create(zero), Request::Create(one)) if zero == one => {
                let mechanism = self.catalogue.find(zero)?;
                allowance.create(mechanism.certificate()).ok()?;
                created.push(Created {
                    mechanism,
                    asked: Vec::new(),
                });
            }
            (Request::Ask(zero), Request::Ask(one)) if zero.to == one.to => {
                let Created { mechanism, asked } = created.get_mut(zero.to)?;
                let before = asked.iter().all(Pair::is_identical);
                let pair = Pair::new(zero.query.clone(), one.query.clone());
                if before && !pair.is_identical() {
                    allowance.differ(mechanism.certificate()).ok()?;
                }
                asked.push(pair);
                mechanism.function().is_valid(asked).then_some(())?;
            }
            _ => return None,
        }
        Some(())
    }
}

impl<N, Q, A, W> VerificationFunction for Suitable<N, Q, A, W>
where
    N: PartialEq + 'static,
    Q: Clone + PartialEq + 'static,
    A: 'static,
    W: Allowance,
{
    type Message = Request<N, Q>;

    fn is_valid(&self, pairs: &[Pair<Request<N, Q>>]) -> bool {
        let (mut allowance, mut created) = (self.allowance.clone(), Vec::new());
        let mut follow = |pair| self.follow(&mut allowance, &mut created, pair);
        pairs.iter().all(|pair| follow(pair).is_some())
    }
}

/// Fixed mechanisms: these are created first, in this order, and nothing else is ever created (\[HSV25\] Def 4.9, Thm
/// 4.10; that nothing else is created is meant there, not said).
pub struct FixedMechanisms<N, Q, A, L: measures::Loss> {
    names: Vec<N>,
    suitable: Suitable<N, Q, A, Unlimited<L>>,
}

impl<N, Q, A, L: measures::Loss> FixedMechanisms<N, Q, A, L> {
    /// These mechanisms, of this catalogue.
    pub const fn new(catalogue: Catalogue<N, Q, A, L>, names: Vec<N>) -> Self {
        Self {
            names,
            suitable: Suitable::new(catalogue, Unlimited::new()),
        }
    }
}

impl<N, Q, A, L> VerificationFunction for FixedMechanisms<N, Q, A, L>
where
    N: PartialEq + Send + Sync + 'static,
    Q: Clone + PartialEq + 'static,
    A: 'static,
    L: measures::Loss,
{
    type Message = Request<N, Q>;

    fn is_valid(&self, pairs: &[Pair<Request<N, Q>>]) -> bool {
        let fixed =
            |(at, pair): (usize, &Pair<Request<N, Q>>)| match (&pair.zero, self.names.get(at)) {
                (Request::Create(name), Some(fixed)) => name == fixed,
                (Request::Ask(_), None) => true,
                _ => false,
            };
        pairs.iter().enumerate().all(fixed) && self.suitable.is_valid(pairs)
    }
}
