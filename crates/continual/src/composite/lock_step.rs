//! Two copies of a composite in lock step, on the two halves of its input and with the same answers of its parts: 𝒫² of
//! \[HSV25\] Def 6.2, with its sides corrected. Wherever the copies differ, the composite is not what it should be.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use queryable::{AskError, PostProcessor, Received, Scope, Sent, Side};
use thiserror::Error;

use crate::{
    compose::{Outcome, Request},
    pair::Pair,
    verification::VerificationFunction,
};

use super::{Composite, LeftOf, OutcomeOf, RequestOf, Right, step, taint::Origin};

/// How a composite is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The copies create or ask different parts, or one of them answers and the other one does not (\[HSV25\] Thm 6.1,
    /// destination).
    #[error("what is asked next depends on the data by other ways than the answers of parts")]
    Destination,
    /// The copies answer differently (Thm 6.1, response).
    #[error("the answer depends on the data by other ways than the answers of parts")]
    Response,
    /// What is sent to the parts is not valid (Thm 6.1, `f → f′`): the parts cost more than was claimed.
    #[error("the parts get pairs that are not valid: they cost more than is claimed")]
    Invalid,
    /// A copy panicked.
    #[error("it panicked: functions of tainted values must be total")]
    Panicked,
    /// The same input and the same answers were followed by something else.
    #[error("it is not deterministic: coins come from a part")]
    NotDeterministic,
}

/// Two copies in lock step: pairs come from the left, pairs go to the parts, single answers come back, and one answer
/// goes to the left. With an [`Identifier`](crate::Identifier) between it and the parts, it behaves as the composite with
/// the identifier in front of it (Claim 6.3). A [`Fault`] ends it.
pub struct LockStep<C: Composite, F> {
    copies: [Copy<C>; 2],
    /// Valid pairs of messages to the parts.
    function: Arc<F>,
    sent: Vec<Pair<RequestOf<C>>>,
    /// The answers of parts since the last pair from the left.
    heard: Vec<OutcomeOf<C>>,
}

#[derive(Clone)]
struct Copy<C: Composite> {
    /// As it was when the last pair came from the left.
    composite: C,
    origin: Origin,
    message: Option<LeftOf<C>>,
    /// What it has asked since then.
    asked: Vec<RequestOf<C>>,
}

/// What a copy does next.
enum Next<C: Composite> {
    Sends(RequestOf<C>),
    Answers(C, Result<C::Answer, AskError>),
}

/// What the two copies do next.
pub(super) type Move<C> = Side<Result<<C as Composite>::Answer, AskError>, Pair<RequestOf<C>>>;

impl<C, F> LockStep<C, F>
where
    C: Composite + Clone,
    C::Answer: PartialEq,
    C::PartAnswer: Clone,
    F: VerificationFunction<Message = RequestOf<C>>,
{
    /// Two copies of this composite, whose parts are private with respect to this function.
    pub fn new(composite: &C, function: F) -> Self {
        let copy = || Copy {
            composite: composite.clone(),
            origin: Origin::new(),
            message: None,
            asked: Vec::new(),
        };
        Self {
            copies: [copy(), copy()],
            function: Arc::new(function),
            sent: Vec::new(),
            heard: Vec::new(),
        }
    }

    /// How many parts were created.
    pub(super) fn created(&self) -> usize {
        let creations = self.sent.iter();
        creations
            .filter(|pair| matches!(pair.zero, Request::Create(_)))
            .count()
    }

    pub(super) fn left(&mut self, pair: Pair<LeftOf<C>>) -> Result<Move<C>, Fault> {
        let [zero, one] = &mut self.copies;
        (zero.message, one.message) = (Some(pair.zero), Some(pair.one));
        self.heard.clear();
        self.advance()
    }

    pub(super) fn right(&mut self, reply: OutcomeOf<C>) -> Result<Move<C>, Fault> {
        self.heard.push(reply);
        self.advance()
    }

    fn advance(&mut self) -> Result<Move<C>, Fault> {
        let [zero, one] = &mut self.copies;
        match (zero.run(&self.heard)?, one.run(&self.heard)?) {
            (Next::Sends(zero), Next::Sends(one)) => self.send(Pair::new(zero, one)),
            (Next::Answers(after_zero, answer), Next::Answers(after_one, other)) => {
                if answer != other {
                    return Err(Fault::Response);
                }
                zero.rest(after_zero);
                one.rest(after_one);
                Ok(Side::Left(answer))
            }
            _ => Err(Fault::Destination),
        }
    }

    fn send(&mut self, pair: Pair<RequestOf<C>>) -> Result<Move<C>, Fault> {
        let same = match (&pair.zero, &pair.one) {
            (Request::Create(zero), Request::Create(one)) => zero == one,
            (Request::Ask(zero), Request::Ask(one)) => zero.to == one.to,
            _ => false,
        };
        if !same {
            return Err(Fault::Destination);
        }
        self.sent.push(pair.clone());
        match self.function.is_valid(&self.sent) {
            true => Ok(Side::Right(pair)),
            false => Err(Fault::Invalid),
        }
    }
}

impl<C: Composite + Clone> Copy<C>
where
    C::PartAnswer: Clone,
{
    /// Runs from the last pair on, with the answers so far: to the next message.
    fn run(&mut self, heard: &[OutcomeOf<C>]) -> Result<Next<C>, Fault> {
        let Some(message) = self.message.clone() else {
            return Err(Fault::NotDeterministic);
        };
        let mut composite = self.composite.clone();
        let mut tape = Tape::<C> {
            heard,
            asked: &self.asked,
            at: 0,
            next: None,
            strayed: false,
        };
        let run = || step(&mut composite, message, &self.origin, &mut tape);
        let answer = catch_unwind(AssertUnwindSafe(run)).map_err(queryable::discard);
        let Tape {
            next, strayed, at, ..
        } = tape;
        if strayed || (next.is_none() && at < heard.len()) {
            return Err(Fault::NotDeterministic);
        }
        match (next, answer) {
            // What comes after a message that was not answered yet does not count.
            (Some(next), _) => {
                self.asked.push(next.clone());
                Ok(Next::Sends(next))
            }
            (None, Ok(answer)) => Ok(Next::Answers(composite, answer)),
            (None, Err(())) => Err(Fault::Panicked),
        }
    }

    fn rest(&mut self, composite: C) {
        self.composite = composite;
        self.message = None;
        self.asked.clear();
    }
}

/// The answers that were given so far. The message after them is noted, and nothing is answered any more.
struct Tape<'a, C: Composite> {
    heard: &'a [OutcomeOf<C>],
    asked: &'a [RequestOf<C>],
    at: usize,
    next: Option<RequestOf<C>>,
    strayed: bool,
}

impl<C: Composite> Right<C> for Tape<'_, C>
where
    C::PartAnswer: Clone,
{
    fn send(&mut self, request: RequestOf<C>) -> OutcomeOf<C> {
        if self.next.is_some() {
            return Err(AskError::Halted);
        }
        let Some(answer) = self.heard.get(self.at) else {
            self.next = Some(request);
            return Err(AskError::Halted);
        };
        self.strayed |= self.asked.get(self.at) != Some(&request);
        self.at += 1;
        answer.clone()
    }
}

impl<C, F> PostProcessor for LockStep<C, F>
where
    C: Composite + Clone,
    C::Answer: PartialEq,
    C::PartAnswer: Clone + Send,
    F: VerificationFunction<Message = RequestOf<C>>,
{
    type Query = Pair<LeftOf<C>>;
    type Answer = C::Answer;
    type InnerQuery = Pair<RequestOf<C>>;
    type InnerAnswer = Outcome<C::PartAnswer>;

    fn step(
        &mut self,
        message: Received<Self>,
        scope: &mut Scope<'_>,
    ) -> Result<Sent<Self>, AskError> {
        let moved = match message {
            Side::Left(pair) => self.left(pair),
            Side::Right(reply) => self.right(reply),
        };
        match moved {
            Ok(Side::Left(answer)) => answer.map(Side::Left),
            Ok(Side::Right(pair)) => Ok(Side::Right(pair)),
            Err(fault) => {
                scope.halt();
                Err(AskError::failed(fault.to_string()))
            }
        }
    }
}

impl<C: Composite + Clone, F> Clone for LockStep<C, F>
where
    C::PartAnswer: Clone,
{
    fn clone(&self) -> Self {
        Self {
            copies: self.copies.clone(),
            function: Arc::clone(&self.function),
            sent: self.sent.clone(),
            heard: self.heard.clone(),
        }
    }
}
