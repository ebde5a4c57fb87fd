//! Every run of a program over scripted coins, with its exact probability.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use thiserror::Error;

use super::{
    probability::Probability,
    script::{Branch, Script},
};

/// All runs of a program, each with its exact probability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration<R> {
    /// What each run returned, and how likely that run is.
    pub runs: Vec<(R, Probability)>,
    /// The probability of runs that were not enumerated, because a distribution was truncated.
    pub missing: Probability,
}

impl<R: Ord> Enumeration<R> {
    /// The law of the result: runs with equal results are added up.
    pub fn law(self) -> BTreeMap<R, RBig> {
        let mut law = BTreeMap::new();
        for (result, probability) in self.runs {
            *law.entry(result).or_insert(RBig::ZERO) += probability.to_rational();
        }
        law
    }
}

/// Why the runs of a program could not be enumerated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum EnumerateError {
    /// There are more runs than allowed.
    #[error("there are more than {limit} runs")]
    TooManyRuns {
        /// How many were allowed.
        limit: usize,
    },
    /// A run draws more often than [`Script::DEFAULT_DRAWS`], or than its program allowed.
    #[error(
        "a run draws more than {limit} times: if it draws until it likes the outcome, bound the number of tries"
    )]
    TooManyDraws {
        /// How many draws were allowed.
        limit: usize,
    },
    /// A run did not branch as an earlier run had.
    #[error("{0}")]
    Script(String),
    /// A distribution's probabilities do not add up.
    #[error("the probabilities of draw {draw} sum to {sum} with what is missing, not to 1")]
    NotNormalized {
        /// Which draw of the run, from zero.
        draw: usize,
        /// The sum.
        sum: RBig,
    },
}

/// Runs `program` once for every sequence of outcomes of its draws, children's draws included.
///
/// The program must be a function of the coins alone, on one thread; a program that draws differently when replayed is
/// an error.
///
/// ```
/// use odometry::queryable::{Root, coins::{Bit, Probability, enumerate}, machine};
/// let third = Probability::new(1, 3)?;
/// let all = enumerate(100, |script| {
///     let coin = Bit::new(third.clone());
///     let q = Root::scripted(script).spawn(machine(move |(), scope| scope.draw(&coin)))?;
///     Ok::<_, odometry::queryable::AskError>((q.ask(())?, q.ask(())?))
/// })?;
/// assert_eq!(all.runs.len(), 4);
/// assert_eq!(all.law()[&Ok((true, true))], Probability::new(1, 9)?.to_rational());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn enumerate<R>(
    limit: usize,
    mut program: impl FnMut(&Script) -> R,
) -> Result<Enumeration<R>, EnumerateError> {
    let mut path: Vec<Node> = Vec::new();
    let mut runs = Vec::new();
    let mut missing = RBig::ZERO;
    let mut script = Script::new(Vec::new());
    loop {
        if runs.len() == limit {
            return Err(EnumerateError::TooManyRuns { limit });
        }
        let result = program(&script);
        let branches = script.end().map_err(|why| match script.overdrawn() {
            Some(limit) => EnumerateError::TooManyDraws { limit },
            None => EnumerateError::Script(why),
        })?;
        let mass = extend(&mut path, branches, &mut missing);
        runs.push((result, mass));
        match advance(&mut path)? {
            Some(next) => script = next,
            None => {
                let missing = Probability::try_from(missing).unwrap_or(Probability::ONE);
                return Ok(Enumeration { runs, missing });
            }
        }
    }
}

/// A draw on the current path, and how much of its mass has been visited.
struct Node {
    branch: Branch,
    visited: RBig,
    /// The probability of getting to this draw.
    reached: Probability,
}

/// Takes in what a run drew past the replayed prefix; returns the probability of the run.
fn extend(path: &mut Vec<Node>, branches: Vec<Branch>, missing: &mut RBig) -> Probability {
    let known = path.len();
    for (at, branch) in branches.into_iter().enumerate() {
        if at + 1 == known {
            // The last choice of the prefix was new: only now is its probability known.
            path[at].visited += branch.probability.to_rational();
            path[at].branch = branch;
        } else if at >= known {
            let reached = path.last().map_or(Probability::ONE, Node::through);
            *missing += reached.and(&branch.missing).to_rational();
            path.push(Node {
                visited: branch.probability.to_rational(),
                reached,
                branch,
            });
        }
    }
    path.last().map_or(Probability::ONE, Node::through)
}

impl Node {
    fn through(&self) -> Probability {
        self.reached.and(&self.branch.probability)
    }
}

/// The script of the next path; none when all have been taken.
fn advance(path: &mut Vec<Node>) -> Result<Option<Script>, EnumerateError> {
    while let Some(node) = path.last() {
        if node.branch.next.is_some() {
            let branches: Vec<Branch> = path.iter().map(|node| node.branch.clone()).collect();
            return Ok(Script::divert(branches));
        }
        let sum = &node.visited + node.branch.missing.to_rational();
        if sum != RBig::ONE {
            return Err(EnumerateError::NotNormalized {
                draw: path.len() - 1,
                sum,
            });
        }
        path.pop();
    }
    Ok(None)
}
