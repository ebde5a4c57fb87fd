//! Randomized response simulates every pure interactive mechanism (\[VW21\] Thm 1.10), with exactly the same views.

use std::error::Error;

use auditor::{Factor, audit, simulate::randomized_response};
use dashu_ratio::RBig;
use queryable::{AskError, Root};

use crate::shared::{Dice, TwoRounds};

/// Simulates this many random mechanisms; says for how many the views were exactly equal.
pub fn run(trials: u32, seed: u8) -> Result<u32, Box<dyn Error>> {
    let dice = Dice::new(seed)?;
    let mut equal = 0;
    for _ in 0..trials {
        let mechanism = TwoRounds::roll(&dice, 5)?;
        let report = mechanism.audited()?;
        let Some(factor) = report
            .factor(&RBig::ZERO)
            .filter(|factor| *factor > Factor::ONE)
        else {
            continue;
        };
        let simulator = report.simulator(&factor, &RBig::ZERO)?;
        let simulated = audit(|input, root: &Root| {
            let rr = randomized_response(&factor, &RBig::ZERO, input)
                .map_err(|why| AskError::failed(why.to_string()))?;
            let response = root.spawn(rr)?.ask(())?;
            root.spawn(
                simulator
                    .given(response)
                    .map_err(|why| AskError::failed(why.to_string()))?,
            )
        })
        .asking(2, |_| vec![false, true])?;
        equal += u32::from(report.same_views(&simulated));
    }
    Ok(equal)
}
