//! Adversaries as machines, for [`Root::interact`](queryable::Root::interact) and the statistical auditor: they hear
//! answers and make moves.

use std::sync::Arc;

use queryable::{Heard, Machine, Move, Scope, coins::Uniform, machine};

use crate::{
    attack::{Attack, Plan, Play},
    factor::Factor,
    profile::Direction,
    report::Report,
};

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
        let plan = Plan::greedy(self.graph.outline(), factor, direction);
        crate::attack::described(&self.graph, &plan, factor, direction)
    }
}
