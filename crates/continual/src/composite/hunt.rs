//! The hunt for faults: a composite in lock step, on all valid inputs and with all answers that its parts could give.

use queryable::{AskError, Side};
use thiserror::Error;

use crate::{
    compose::{Outcome, Request},
    pair::Pair,
    verification::VerificationFunction,
};

use super::{
    Composite, LeftOf, OutcomeOf,
    lock_step::{Fault, LockStep, Move},
};

/// A fault, and the input at whose last pair it shows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{fault}")]
pub struct Found<M> {
    /// What is wrong.
    #[source]
    pub fault: Fault,
    /// The pairs.
    pub pairs: Vec<Pair<M>>,
}

/// What a part of a composite could answer.
pub type AnswersOf<C> = Vec<Result<<C as Composite>::PartAnswer, AskError>>;

/// Follows a composite in lock step through all sequences of at most `length` of these pairs that are valid for
/// `function`, with all answers that `answers` says a part could give to a query. What is sent to the parts must be valid
/// for `parts`. Says in how many ways it can go.
///
/// It is a hunt, not a proof: offer pairs and answers that make a difference.
///
/// # Errors
/// The first [`Fault`] that is found.
pub fn hunt<C, F, G>(
    composite: &C,
    function: &F,
    parts: G,
    pairs: &[Pair<LeftOf<C>>],
    answers: impl Fn(&C::PartQuery) -> AnswersOf<C>,
    length: usize,
) -> Result<u64, Found<LeftOf<C>>>
where
    C: Composite + Clone,
    C::Answer: PartialEq,
    C::PartAnswer: Clone,
    F: VerificationFunction<Message = LeftOf<C>>,
    G: VerificationFunction<Message = super::RequestOf<C>>,
{
    let mut ways = 0;
    let mut waiting = vec![(LockStep::new(composite, parts), Vec::new())];
    while let Some((copies, before)) = waiting.pop() {
        ways += 1;
        for pair in pairs.iter().filter(|_| before.len() < length) {
            let mut now = before.clone();
            now.push(pair.clone());
            if !function.is_valid(&now) {
                continue;
            }
            let mut copies = copies.clone();
            let found = |fault| Found {
                fault,
                pairs: now.clone(),
            };
            let moved = copies.left(pair.clone()).map_err(found)?;
            let rested = every_answer((copies, moved), &answers).map_err(found)?;
            waiting.extend(rested.into_iter().map(|copies| (copies, now.clone())));
        }
    }
    Ok(ways)
}

/// Where the copies can be when they have answered to the left.
fn every_answer<C, G>(
    start: (LockStep<C, G>, Move<C>),
    answers: &impl Fn(&C::PartQuery) -> AnswersOf<C>,
) -> Result<Vec<LockStep<C, G>>, Fault>
where
    C: Composite + Clone,
    C::Answer: PartialEq,
    C::PartAnswer: Clone,
    G: VerificationFunction<Message = super::RequestOf<C>>,
{
    let mut rested = Vec::new();
    let mut running = vec![start];
    while let Some((copies, moved)) = running.pop() {
        let replies: Vec<OutcomeOf<C>> = match moved {
            Side::Left(_) => {
                rested.push(copies);
                continue;
            }
            Side::Right(pair) => match pair.zero {
                Request::Create(_) => vec![Ok(Outcome::Created(copies.created() - 1))],
                Request::Ask(asked) => {
                    let answers = answers(&asked.query).into_iter();
                    answers.map(|answer| answer.map(Outcome::Answer)).collect()
                }
            },
        };
        for reply in replies {
            let mut copies = copies.clone();
            let moved = copies.right(reply)?;
            running.push((copies, moved));
        }
    }
    Ok(rested)
}
