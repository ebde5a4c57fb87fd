//! The reduction of \[HST+23\] Thm 3.4 (and \[HSV25\] Thm 12.4): a concurrent filter of interactive (ε, δ)
//! mechanisms has exactly the views of a post-processing of a filter of randomized responses. The post-processing
//! launches RR_{ε,δ} where the analyst launches a mechanism, and answers the analyst's queries with that mechanism's
//! simulator.

use std::{error::Error, sync::Arc};

use auditor::{
    Factor, Input, Report, audit, player,
    simulate::{InputResponse, Simulator, randomized_response},
};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{ApproxDp, Basic, EpsilonDelta, PrivacyMap, SymmetricDistance};
use odometer::{Any, Measurement, Odometer, Session};
use queryable::{AskError, Queryable, Root};

use crate::{
    filters::{Ask, Seen, ask, bits, launch, measurement, offer},
    shared::{Dice, TwoRounds},
};

type Child<A> = Measurement<Any<u8, SymmetricDistance>, ApproxDp, A>;

struct Mechanism {
    interactive: Child<Queryable<bool, bool>>,
    response: Child<InputResponse>,
    simulator: Simulator<bool, bool>,
    loss: EpsilonDelta,
}

fn failed(why: impl ToString) -> AskError {
    AskError::failed(why.to_string())
}

fn mechanism(dice: &Dice, delta: &RBig) -> Result<Mechanism, Box<dyn Error>> {
    let mechanism = TwoRounds::roll(dice, 25)?;
    let report = mechanism.audited()?;
    // At least a little ε, as the simulator needs; a larger one does no harm.
    let least = Factor::new(11, 10)?;
    let factor = report.factor(delta).ok_or("no ε at this δ")?.max(least);
    let loss = EpsilonDelta::new(
        factor.epsilon().most,
        Exact::from_rational(delta, Round::Up)?,
    )?;
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, loss.clone());
    let (told, share) = (factor.clone(), delta.clone());
    let response = Measurement::new(
        "randomized response",
        bits(),
        map,
        move |bit: &Arc<u8>, scope| {
            let input = if **bit == 0 { Input::Zero } else { Input::One };
            scope
                .spawn(randomized_response(&told, &share, input).map_err(failed)?)?
                .ask(())
        },
    );
    Ok(Mechanism {
        interactive: measurement(&mechanism, ApproxDp, loss.clone()),
        response,
        simulator: report.simulator(&factor, delta)?,
        loss,
    })
}

/// Are the views the same; the budget; the audit.
pub type Outcome = (bool, EpsilonDelta, Report<Ask, Seen>);

/// Are the views exactly the same, over all adversaries of this depth? Also the audit of the filter.
pub fn run(depth: usize, seed: u8) -> Result<Outcome, Box<dyn Error>> {
    let dice = Dice::new(seed)?;
    let twentieth = RBig::from_parts(1.into(), 20u8.into());
    let mechanisms = [mechanism(&dice, &twentieth)?, mechanism(&dice, &twentieth)?];
    let [a, b] = [&mechanisms[0].loss, &mechanisms[1].loss];
    let budget = EpsilonDelta::saturating(a.epsilon() + b.epsilon(), a.delta() + b.delta());
    let filter = |root: &Root, input: Input| -> Result<Session<_, Basic<ApproxDp>>, AskError> {
        let filter = Odometer::new(bits(), Basic::new(ApproxDp))
            .filter(1, budget.clone())
            .map_err(failed)?;
        filter
            .invoke_in(root, &Arc::new(input.index() as u8))
            .map_err(failed)
    };
    let real = audit(|input, root: &Root| {
        let session = filter(root, input)?;
        let mut machines = vec![];
        let mechanisms = &mechanisms;
        Ok(player(move |message| match message {
            Ask::Launch(name) => Ok(match launch(&session, &mechanisms[name].interactive)? {
                Some(machine) => {
                    machines.push(machine);
                    Seen::Started
                }
                None => Seen::Refused,
            }),
            Ask::Query(number, query) => ask(&machines, number, query),
        }))
    })
    .trusting_equality()
    .asking(depth, offer(2, 3))?;
    let simulated = audit(|input, root: &Root| {
        let session = filter(root, input)?;
        let (mut machines, own) = (vec![], root.branch()?);
        let mechanisms = &mechanisms;
        Ok(player(move |message| match message {
            Ask::Launch(name) => Ok(match launch(&session, &mechanisms[name].response)? {
                Some(response) => {
                    let simulated = mechanisms[name].simulator.given(response);
                    let simulated = simulated.map_err(|why| AskError::failed(why.to_string()))?;
                    machines.push(own.spawn(simulated)?);
                    Seen::Started
                }
                None => Seen::Refused,
            }),
            Ask::Query(number, query) => ask(&machines, number, query),
        }))
    })
    .trusting_equality()
    .asking(depth, offer(2, 3))?;
    Ok((real.same_views(&simulated), budget, real))
}
