//! The decisions of the current run: what was asked and what was drawn. Not generic in what is asked and answered, so that
//! it is compiled once.

use queryable::coins::{Branch, Script};

use crate::{
    error::AuditError,
    limits::{Memory, Meter},
    mass::Mass,
    weigh,
};

/// A query on the current path.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) node: usize,
    pub(crate) choice: usize,
    /// How many queries there are to choose from. What is offered after a history never changes once it is in the tree.
    choices: usize,
    /// How many coins were drawn before it.
    coins_before: usize,
    pub(crate) child: usize,
}

/// What is known of a draw on the current path, besides its branching.
struct Draw {
    visited: Mass,
    /// The probability of getting to this draw.
    reached: Mass,
}

impl Draw {
    /// Besides itself: the branch, in a list with room for as many again.
    fn weight(&self, branch: &Branch) -> usize {
        let long = self.reached.heap() + self.visited.heap() + weigh::long_branch(branch);
        size_of::<Self>() + 2 * size_of::<Branch>() + long
    }
}

/// Where the mass of outcomes is kept that were not enumerated.
pub(crate) trait Missing {
    /// While this was answered, or else while the system was built.
    fn missing(&mut self, ask: Option<Ask>) -> &mut Mass;
}

/// What was asked and drawn in the current run, and what that weighs.
pub(crate) struct Decisions<'a> {
    pub(crate) meter: Meter<'a>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) branches: Vec<Branch>,
    draws: Vec<Draw>,
    /// Whether the last of these draws has a new choice in the next run.
    diverted: bool,
}

impl<'a> Decisions<'a> {
    pub(crate) fn new(memory: &'a Memory) -> Self {
        Self {
            meter: Meter::new(memory),
            asks: Vec::new(),
            branches: Vec::new(),
            draws: Vec::new(),
            diverted: false,
        }
    }

    /// The first of so many queries is asked next.
    pub(crate) fn ask_first(&mut self, node: usize, choices: usize, script: &Script) {
        self.asks.push(Ask {
            node,
            choice: 0,
            choices,
            coins_before: script.drawn(),
            child: 0,
        });
    }

    /// Ends a run and takes in what it drew past the replayed prefix; returns the probability of the run.
    pub(crate) fn take_in(
        &mut self,
        script: &mut Script,
        tree: &mut dyn Missing,
    ) -> Result<Mass, AuditError> {
        let known = self.draws.len();
        self.branches = end(script)?;
        if std::mem::take(&mut self.diverted) {
            // Only now is the probability of the new choice known.
            let branch = &self.branches[known - 1];
            self.meter.take(weigh::long_branch(branch))?;
            let probability = Mass::from(&branch.probability);
            let visited = &mut self.draws[known - 1].visited;
            weigh::add(&mut self.meter, 1, visited, &probability)?;
        }
        for at in known..self.branches.len() {
            let reached = self.through(at);
            let branch = &self.branches[at];
            if !branch.missing.is_zero() {
                let ask = self.asks.iter().rev().find(|ask| ask.coins_before <= at);
                let place = tree.missing(ask.copied());
                // Kept in the tree or the graph, and in two sums over what comes after.
                let missing = reached.times(&branch.missing);
                weigh::add(&mut self.meter, 3, place, &missing)?;
            }
            let visited = Mass::from(&branch.probability);
            let draw = Draw { visited, reached };
            self.meter.take(draw.weight(branch))?;
            self.draws.push(draw);
        }
        Ok(self.through(self.branches.len()))
    }

    /// The probability of the first `count` outcomes of the current path.
    fn through(&self, count: usize) -> Mass {
        match count {
            0 => Mass::ONE,
            _ => {
                let probability = &self.branches[count - 1].probability;
                self.draws[count - 1].reached.times(probability)
            }
        }
    }

    /// Goes back to the last decision that can be taken otherwise, and sets the script to it: the first ask whose answer
    /// may be new. `None` when all runs have been made.
    pub(crate) fn advance(&mut self, script: &mut Script) -> Result<Option<usize>, AuditError> {
        loop {
            let asked_at = self.asks.last().map_or(0, |ask| ask.coins_before);
            if self.branches.len() > asked_at {
                let last = self.branches.last();
                if let Some((last, next)) = last.and_then(|last| Some((last, last.next?))) {
                    self.meter.give_back(weigh::long_branch(last));
                    self.diverted = true;
                    script.rewind(std::mem::take(&mut self.branches), next);
                    return Ok(Some(self.asks.len().saturating_sub(1)));
                }
                self.check_sum()?;
                if let (Some(branch), Some(draw)) = (self.branches.pop(), self.draws.pop()) {
                    self.meter.give_back(draw.weight(&branch));
                }
                continue;
            }
            let Some(ask) = self.asks.last_mut() else {
                return Ok(None);
            };
            if ask.choice + 1 < ask.choices {
                ask.choice += 1;
                let last = self.branches.last().map_or(0, |last| last.choice);
                script.rewind(std::mem::take(&mut self.branches), last);
                return Ok(Some(self.asks.len() - 1));
            }
            self.asks.pop();
        }
    }

    fn check_sum(&self) -> Result<(), AuditError> {
        let (Some(branch), Some(draw)) = (self.branches.last(), self.draws.last()) else {
            return Ok(());
        };
        let mut sum = draw.visited.clone();
        sum.add(&Mass::from(&branch.missing));
        if !sum.is_one() {
            return Err(AuditError::NotNormalized {
                draw: self.branches.len() - 1,
                sum: sum.to_rational(),
            });
        }
        Ok(())
    }
}

/// Ends a run: all its draws, unless something is wrong with them.
pub(crate) fn end(script: &mut Script) -> Result<Vec<Branch>, AuditError> {
    script.end().map_err(|why| match script.overdrawn() {
        Some(limit) => AuditError::TooManyDraws { limit },
        None => AuditError::Script(why),
    })
}
