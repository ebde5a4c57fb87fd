//! The privacy game: an adversary sends pairs, a verifier lets the valid ones through, an identifier hands one half to
//! the mechanism, and the adversary is to find out which (\[HSV25\] Def 3.7).

use std::marker::PhantomData;

use queryable::{AskError, PostProcessor, Received, Scope, Sent, Side};

use crate::{pair::Pair, verification::VerificationFunction};

/// Lets valid sequences of pairs through, and halts at the first pair that is not (\[HSV25\] Def 3.5). It looks at pairs
/// only, so what it does tells nothing about the half that the mechanism gets.
///
/// Audit a continual mechanism with it:
///
/// ```
/// use odometry::auditor::{Factor, Input, audit};
/// use odometry::continual::{EventLevel, Identifier, Pair, Verifier};
/// use odometry::queryable::{Chain, Root, Scope, coins::{Bit, Probability}, machine};
///
/// // Every update is answered by randomized response.
/// let build = |input: Input, root: &Root| {
///     let lie = Bit::new(Probability::new(1, 4).unwrap());
///     let mechanism = root.spawn(machine(move |bit: bool, scope: &mut Scope<'_>| Ok(scope.draw(&lie)? ^ bit)))?;
///     root.postprocess(&mechanism, Chain::new(Verifier::new(EventLevel::new()), Identifier::new(input)))
/// };
/// let pairs = |_: &[_]| vec![Pair::same(false), Pair::new(false, true), Pair::new(true, false)];
/// let report = audit(build).asking(3, pairs)?;
/// assert_eq!(report.factor(&0u8.into()), Some(Factor::new(3, 1)?)); // ε = ln 3, at event level
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Verifier<F: VerificationFunction, A> {
    function: F,
    seen: Vec<Pair<F::Message>>,
    otherwise: Otherwise,
    answers: PhantomData<fn() -> A>,
}

#[derive(Clone, Copy, PartialEq)]
enum Otherwise {
    Halt,
    Refuse,
}

impl<F: VerificationFunction, A> Verifier<F, A> {
    /// Halts at the first pair after which the sequence is not valid.
    pub const fn new(function: F) -> Self {
        Self {
            function,
            seen: Vec::new(),
            otherwise: Otherwise::Halt,
            answers: PhantomData,
        }
    }

    /// Refuses such a pair instead, as if it had not been sent. This helps no adversary: it could have known.
    #[must_use]
    pub fn refusing(self) -> Self {
        Self {
            otherwise: Otherwise::Refuse,
            ..self
        }
    }
}

impl<F, A> PostProcessor for Verifier<F, A>
where
    F: VerificationFunction<Message: Clone + Send>,
    A: 'static,
{
    type Query = Pair<F::Message>;
    type Answer = A;
    type InnerQuery = Pair<F::Message>;
    type InnerAnswer = A;

    fn step(
        &mut self,
        message: Received<Self>,
        scope: &mut Scope<'_>,
    ) -> Result<Sent<Self>, AskError> {
        let pair = match message {
            Side::Right(answer) => return answer.map(Side::Left),
            Side::Left(pair) => pair,
        };
        self.seen.push(pair.clone());
        if self.function.is_valid(&self.seen) {
            return Ok(Side::Right(pair));
        }
        self.seen.pop();
        if self.otherwise == Otherwise::Halt {
            scope.halt();
        }
        Err(AskError::invalid("not a valid pair of messages"))
    }
}

/// Hands on the half of each pair that belongs to its bit (\[HSV25\] Def 3.2).
pub struct Identifier<M, A> {
    bit: bool,
    messages: PhantomData<fn(M) -> A>,
}

impl<M, A> Identifier<M, A> {
    /// For this bit; the auditor's `Input` is one.
    pub fn new(bit: impl Into<bool>) -> Self {
        Self {
            bit: bit.into(),
            messages: PhantomData,
        }
    }
}

impl<M: 'static, A: 'static> PostProcessor for Identifier<M, A> {
    type Query = Pair<M>;
    type Answer = A;
    type InnerQuery = M;
    type InnerAnswer = A;

    fn step(&mut self, message: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        match message {
            Side::Left(pair) => Ok(Side::Right(pair.half(self.bit))),
            Side::Right(answer) => answer.map(Side::Left),
        }
    }
}
