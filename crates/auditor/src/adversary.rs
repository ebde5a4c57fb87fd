//! Adversaries as machines, for [`Root::interact`](queryable::Root::interact) and the statistical auditor: they hear
//! answers and make moves.

use std::sync::Arc;

use queryable::{AskError, Heard, Machine, Move, Scope, coins::Uniform, machine};

use crate::{
    attack::{Attack, Plan, Play},
    factor::Factor,
    profile::Direction,
    report::Report,
};

/// Asks the same query again and again, adds up what each answer tells, and stops when the sum passes a curve
/// (\[RRUV16\] Alg 5). `tells` is the realized loss of one answer, `curve` the bound after `t` answers.
pub fn stopping_time<Q: Clone + Send, A>(
    query: Q,
    mut tells: impl FnMut(&A) -> f64 + Send,
    curve: impl Fn(u64) -> f64 + Send,
) -> impl Machine<Query = Heard<A>, Answer = Move<Q>> {
    let (mut sum, mut answers) = (0.0, 0);
    machine(move |heard: Heard<A>, _: &mut Scope<'_>| {
        match heard {
            None => {}
            Some(Ok(answer)) => {
                sum += tells(&answer);
                answers += 1;
            }
            Some(Err(_)) => return Ok(Move::Halt),
        }
        Ok(match answers > 0 && sum > curve(answers) {
            true => Move::Halt,
            false => Move::Ask(query.clone()),
        })
    })
}

/// Asks one query after another until an answer is bad for the system, then strikes (\[HSV25\] Thm 5.2): `next` gives
/// the queries, `None` to give up; `bad` recognises the answer; `strike` gives the last query, told how many were
/// asked.
pub fn first_bad_answer<Q: Send, A>(
    mut next: impl FnMut(usize) -> Option<Q> + Send,
    bad: impl Fn(&Result<A, AskError>) -> bool + Send,
    strike: impl Fn(usize) -> Q + Send,
) -> impl Machine<Query = Heard<A>, Answer = Move<Q>> {
    let (mut asked, mut struck) = (0, false);
    machine(move |heard: Heard<A>, _: &mut Scope<'_>| {
        if struck {
            return Ok(Move::Halt);
        }
        if heard.is_some_and(|answer| bad(&answer)) {
            struck = true;
            return Ok(Move::Ask(strike(asked)));
        }
        let query = next(asked);
        asked += 1;
        Ok(query.map_or(Move::Halt, Move::Ask))
    })
}

/// Asks what its coins say, among what is offered; halts when nothing is.
pub fn random<Q: Send, A>(
    mut offer: impl FnMut(&Heard<A>) -> Vec<Q> + Send,
) -> impl Machine<Query = Heard<A>, Answer = Move<Q>> {
    machine(move |heard: Heard<A>, scope: &mut Scope<'_>| {
        let mut offered = offer(&heard);
        let Ok(choice) = Uniform::below(offered.len() as u64) else {
            return Ok(Move::Halt);
        };
        let choice = scope.draw(&choice)? as usize;
        Ok(Move::Ask(offered.swap_remove(choice)))
    })
}

impl<Q: Clone + Send + Sync, A: Clone + PartialEq + Send + Sync> Attack<Q, A> {
    /// The attack as an adversary. It halts at an answer that it does not know.
    pub fn adversary(&self) -> impl Machine<Query = Heard<A>, Answer = Move<Q>> + use<Q, A> {
        let root = Arc::new(self.play.clone());
        let mut path: Vec<usize> = vec![];
        let mut lost = false;
        machine(move |heard: Heard<A>, _: &mut Scope<'_>| {
            if let Some(answer) = heard {
                match at(&root, &path) {
                    Play::Ask { answers, .. } => {
                        let known = answers.iter().position(|(known, _)| *known == answer);
                        lost |= known.is_none();
                        path.extend(known);
                    }
                    Play::Stop { .. } => lost = true,
                }
            }
            Ok(match at(&root, &path) {
                Play::Ask { query, .. } if !lost => Move::Ask(query.clone()),
                _ => Move::Halt,
            })
        })
    }
}

fn at<'a, Q, A>(root: &'a Play<Q, A>, path: &[usize]) -> &'a Play<Q, A> {
    path.iter().fold(root, |play, &number| match play {
        Play::Ask { answers, .. } => &answers[number].1,
        stop => stop,
    })
}

impl<Q: Clone, A: Clone> Report<Q, A> {
    /// The adversary that looks one answer ahead: it asks what would tell the most if it were the last query, and stops
    /// where nothing does. Never better than [`attack`](Self::attack), and often as good.
    pub fn greedy_attack(&self, factor: &Factor, direction: Direction) -> Attack<Q, A> {
        let plan = Plan::greedy(&self.graph, factor, direction);
        crate::attack::described(&self.graph, &plan, factor, direction)
    }
}
