//! Events that happen at some time: the largest probability, over adversaries, that they ever do.
//!
//! This is what a time-uniform odometer is judged by (\[RRUV16\] Def 3.1): with which probability does the realized
//! privacy loss ever pass what the odometer reported?

use dashu_ratio::RBig;
use exact::{Exact, Round};
use queryable::Exchange;

use crate::{
    attack::{Attack, Plan, Play},
    error::AuditError,
    factor::{Enclosure, Factor},
    report::Report,
    shown::digits,
    system::Input,
};

/// Which realized losses count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tail {
    /// `ln(p_b / p_other)` above the bound.
    Upper,
    /// Its absolute value above the bound.
    Both,
}

impl<Q: Clone, A: Clone> Report<Q, A> {
    /// The largest probability under `input` that `happens` is true of some history, and the adversary that attains it.
    /// `happens` is given the history and its probabilities under the two inputs.
    ///
    /// # Errors
    /// [`AuditError::Merged`] if interleavings were merged; [`AuditError::Truncated`] if draws were truncated.
    pub fn ever(
        &self,
        input: Input,
        happens: impl Fn(&[Exchange<Q, A>], &RBig, &RBig) -> bool,
    ) -> Result<(RBig, Attack<Q, A>), AuditError> {
        if self.graph.merged {
            return Err(AuditError::Merged);
        }
        self.demand_everything("the probability of a history")?;
        let mut happened = vec![false; self.graph.nodes.len()];
        self.mark(0, &mut vec![], &happens, &mut happened);
        let worth = |at: usize| match happened[at] {
            true => self.graph.masses.of(at, input.index()),
            false => RBig::ZERO,
        };
        let (plan, probability) = Plan::best(&self.graph.nodes, worth, |sum, part| sum + part);
        let play: Play<Q, A> = plan.play(&self.graph, &|at| happened[at]);
        let claim = format!(
            "it happens with probability {} on input {}",
            digits(&probability),
            input.index()
        );
        Ok((probability, Attack { claim, play }))
    }

    /// Marks the histories where it happened; what comes after does not matter, and the plan stops there.
    fn mark(
        &self,
        at: usize,
        history: &mut Vec<Exchange<Q, A>>,
        happens: &impl Fn(&[Exchange<Q, A>], &RBig, &RBig) -> bool,
        happened: &mut [bool],
    ) {
        let [p0, p1] = [0, 1].map(|input| self.graph.masses.of(at, input));
        happened[at] = happens(history, &p0, &p1);
        for edge in &self.graph.nodes[at].edges {
            for (answer, child) in &edge.to {
                history.push(Exchange {
                    query: edge.query.clone(),
                    answer: answer.clone(),
                });
                self.mark(*child, history, happens, happened);
                history.pop();
            }
        }
    }

    /// The largest probability under `input` that the realized loss ever passes what `bound` reports for the history.
    /// Enclosure, because `e^bound` is rounded; the attack is certain.
    ///
    /// # Errors
    /// As [`ever`](Self::ever).
    pub fn ever_passes(
        &self,
        input: Input,
        tail: Tail,
        bound: impl Fn(&[Exchange<Q, A>]) -> Exact,
    ) -> Result<(Enclosure<RBig>, Attack<Q, A>), AuditError> {
        let passed = |round: Round| {
            let bound = &bound;
            move |history: &[Exchange<Q, A>], p0: &RBig, p1: &RBig| {
                let bound = bound(history);
                if bound.is_infinite() {
                    return false;
                }
                let factor = Factor::of_epsilon(&bound, round);
                let passes = |y: &RBig, x: &RBig| match &factor {
                    Some(factor) => *y > factor.as_rational() * x,
                    // Past all numbers: only an infinite loss is for certain larger.
                    None => x.is_zero() && !y.is_zero(),
                };
                let (mine, other) = input.pick((p0, p1), (p1, p0));
                passes(mine, other) || (tail == Tail::Both && passes(other, mine))
            }
        };
        let (least, attack) = self.ever(input, passed(Round::Up))?;
        let (most, _) = self.ever(input, passed(Round::Down))?;
        Ok((Enclosure { least, most }, attack))
    }
}
