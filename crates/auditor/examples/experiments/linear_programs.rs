//! Randomized response simulates (ε, δ) mechanisms, too, by linear programming (\[VW21\] §6): two rounds, one-bit
//! messages, ten parameters per input. For each mechanism, ε = PrivLoss(M, δ) is computed exactly; a linear program
//! looks for a post-processing of RR_{ε,δ} with the mechanism's laws; and the simulator of the proofs is the exact
//! certificate that one exists.

use std::error::Error;

use auditor::{Factor, Input, audit, simulate::randomized_response};
use dashu_ratio::RBig;
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome, Variable};
use queryable::{AskError, Root};

use crate::shared::{Dice, TwoRounds, decimal};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// How many mechanisms were tried.
    pub trials: u32,
    /// For how many the linear program has a solution, up to 1e-7.
    pub feasible: u32,
    /// For how many the simulator's views were exactly equal.
    pub certified: u32,
    /// The largest deviation of the linear programs' solutions.
    pub deviation: f64,
}

/// Tries this many random mechanisms; every `certify`-th is certified exactly as well.
pub fn run(trials: u32, certify: u32, seed: u8) -> Result<Found, Box<dyn Error>> {
    let dice = Dice::new(seed)?;
    let mut found = Found {
        trials: 0,
        feasible: 0,
        certified: 0,
        deviation: 0.0,
    };
    while found.trials < trials {
        let mechanism = TwoRounds::roll(&dice, 0)?;
        let delta = RBig::from_parts(dice.below(60)?.into(), 100u8.into());
        let report = mechanism.audited()?;
        let Some(factor) = report.factor(&delta).filter(|factor| *factor > Factor::ONE) else {
            continue;
        };
        found.trials += 1;
        let deviation = solve(&mechanism, decimal(factor.as_rational()), decimal(&delta))?;
        found.deviation = found.deviation.max(deviation);
        found.feasible += u32::from(deviation < 1e-7);
        if found.trials.is_multiple_of(certify) {
            let simulator = report.simulator(&factor, &delta)?;
            let simulated = audit(|input, root: &Root| {
                let rr = randomized_response(&factor, &delta, input)
                    .map_err(|why| AskError::failed(why.to_string()))?;
                let response = root.spawn(rr)?.ask(())?;
                root.spawn(
                    simulator
                        .given(response)
                        .map_err(|why| AskError::failed(why.to_string()))?,
                )
            })
            .asking(2, |_| vec![false, true])?;
            found.certified += u32::from(report.same_views(&simulated));
        }
    }
    Ok(found)
}

/// The least deviation of a post-processing's laws from the mechanism's, for RR with this `e^ε` and δ.
pub fn solve(mechanism: &TwoRounds, t: f64, delta: f64) -> Result<f64, Box<dyn Error>> {
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let deviation = program.add_var(1.0, (0.0, 1.0));
    // The four things that randomized response can say, and the law of the answers given each.
    let laws: Vec<Law> = (0..4).map(|_| Law::new(&mut program)).collect();
    for input in Input::BOTH {
        let truth = (1.0 - delta) * t / (1.0 + t);
        let lie = (1.0 - delta) / (1.0 + t);
        let said = input.pick([delta, 0.0, truth, lie], [0.0, delta, lie, truth]);
        for code in 0..16 {
            let history = [8, 4, 2, 1].map(|bit| code & bit != 0);
            let mass = mechanism.mass(input, history);
            let mixture = laws
                .iter()
                .zip(said)
                .map(|(law, weight)| (law.second[code], weight));
            let mut low: Vec<(Variable, f64)> = mixture.collect();
            let mut high = low.clone();
            low.push((deviation, 1.0));
            high.push((deviation, -1.0));
            program.add_constraint(low, ComparisonOp::Ge, mass);
            program.add_constraint(high, ComparisonOp::Le, mass);
        }
    }
    match program.solve()? {
        SolveOutcome::Solution(solution) => Ok(solution.objective()),
        SolveOutcome::Interrupted(_) => Err("the solver stopped early".into()),
    }
}

/// The law of two answers to two queries: the second answer cannot change the first, nor the second query.
struct Law {
    second: Vec<Variable>,
}

impl Law {
    fn new(program: &mut Problem) -> Self {
        let first: Vec<Variable> = (0..4).map(|_| program.add_var(0.0, (0.0, 1.0))).collect();
        let second: Vec<Variable> = (0..16).map(|_| program.add_var(0.0, (0.0, 1.0))).collect();
        for pair in first.chunks(2) {
            program.add_constraint([(pair[0], 1.0), (pair[1], 1.0)], ComparisonOp::Eq, 1.0);
        }
        for (at, pair) in second.chunks(2).enumerate() {
            let sum = [(pair[0], 1.0), (pair[1], 1.0), (first[at / 2], -1.0)];
            program.add_constraint(sum, ComparisonOp::Eq, 0.0);
        }
        Self { second }
    }
}
