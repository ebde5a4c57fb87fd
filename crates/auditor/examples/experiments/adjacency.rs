//! Adjacent datasets chosen per launch by the adversary (\[RRUV16\] Alg 2; \[HSV25\] footnote 2). One account over
//! several pairs of datasets: the same bounds hold.

use std::{error::Error, sync::Arc};

use auditor::{Factor, Input, Report, audit, player};
use exact::Exact;
use measures::{Basic, Epsilon, PrivacyMap, PureDp};
use odometer::{LaunchError, Measurement, Odometer, Records};
use queryable::{
    AskError, Root,
    coins::{Bit, Probability},
};

/// Launches on the pair of datasets with this number, with this mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Which pair.
    pub pair: usize,
    /// Which mechanism.
    pub mechanism: usize,
}

/// Pairs of adjacent datasets: one record more on the one side or on the other.
const PAIRS: [[&[u8]; 2]; 3] = [[&[1, 2], &[1]], [&[3], &[3, 5]], [&[], &[8]]];

fn failed(why: impl ToString) -> AskError {
    AskError::failed(why.to_string())
}

/// Randomized responses to "is the number of records even", with `e^ε` = 2 and 3, under a filter that has room for one of
/// each. The budget and the audit; answers are 0, 1, or 2 for a refusal.
pub fn run(depth: usize) -> Result<(Epsilon, Report<Launch, u8>), Box<dyn Error>> {
    let factors = [Factor::new(2, 1)?, Factor::new(3, 1)?];
    let epsilons = factors.each_ref().map(|factor| factor.epsilon().most);
    let budget = Epsilon::from(&epsilons[0] + &epsilons[1]);
    // The account is over all datasets at once: the input says on which side of every pair they lie.
    let space = Records::<Vec<u8>>::new();
    let measurement = |launch: Launch| -> Result<_, AskError> {
        let epsilon: Exact = epsilons[launch.mechanism].clone();
        let map = PrivacyMap::constant_up_to(PureDp, 1, epsilon);
        let lie = Bit::new(Probability::new(1, 3 + launch.mechanism as u64).map_err(failed)?);
        Ok(Measurement::new(
            "parity",
            space,
            map,
            move |data: &Arc<Vec<Vec<u8>>>, scope| {
                Ok(data[launch.pair].len().is_multiple_of(2) ^ scope.draw(&lie)?)
            },
        ))
    };
    let report = audit(|input: Input, root: &Root| {
        let data = PAIRS.map(|pair| pair[input.index()].to_vec()).to_vec();
        let filter = Odometer::new(space, Basic::new(PureDp))
            .filter(1, budget.clone())
            .map_err(failed)?;
        let session = filter.invoke_in(root, &Arc::new(data)).map_err(failed)?;
        Ok(player(move |message: Launch| {
            match session.launch(&measurement(message)?) {
                Ok(answer) => Ok(u8::from(answer)),
                Err(LaunchError::Refused(_)) => Ok(2),
                Err(other) => Err(failed(other)),
            }
        }))
    })
    .asking(depth, |_| {
        let pairs = 0..PAIRS.len();
        pairs
            .flat_map(|pair| (0..2).map(move |mechanism| Launch { pair, mechanism }))
            .collect()
    })?;
    Ok((budget, report))
}
