//! The accounts of a ledger, as a tree.

use odometer::journal::{AccountTerms, Opening, Place, Relation, State, Terms};
use serde_json::{Value, json};

use super::reckoning::{Amount, Reckoning, reckon, share};
use crate::error::CommandError;

/// All accounts, in the order of a tree: each before those below it.
pub(crate) struct Tree {
    pub(crate) accounts: Vec<Account>,
}

/// One place of the tree.
pub(crate) struct Account {
    pub(crate) place: Place,
    /// From the root down.
    pub(crate) path: String,
    /// Its own part of the path.
    pub(crate) name: String,
    pub(crate) depth: usize,
    /// For each account above and itself: is it the last of its siblings?
    pub(crate) last: Vec<bool>,
    /// How often something was charged to it.
    pub(crate) launches: u64,
    pub(crate) halted: bool,
    pub(crate) standing: Standing,
}

/// What there is to say of a place.
#[allow(clippy::large_enum_variant, reason = "nearly all places are accounts")]
pub(crate) enum Standing {
    Account {
        terms: AccountTerms,
        reckoning: Reckoning,
    },
    Partition {
        most: u32,
    },
    Compositor {
        rule: String,
        slots: usize,
    },
}

impl Tree {
    /// The tree of everything.
    pub(crate) fn of(state: &State) -> Result<Tree, CommandError> {
        let mut below: Vec<Vec<Place>> = vec![Vec::new(); state.len()];
        let mut roots = Vec::new();
        for number in 0..state.len() as u32 {
            let place = Place(number);
            match state.opening(place).and_then(|opening| opening.parent) {
                Some(Place(parent)) => below[parent as usize].push(place),
                None => roots.push(place),
            }
        }
        let mut tree = Tree {
            accounts: Vec::new(),
        };
        // Not recursive: names and depth are the analysts'.
        let mut waiting: Vec<(Place, Vec<bool>)> = ordered(&roots, &[]);
        while let Some((place, last)) = waiting.pop() {
            waiting.extend(ordered(&below[place.0 as usize], &last));
            if let Some(opening) = state.opening(place) {
                tree.accounts.push(account(state, place, opening, last)?);
            }
        }
        Ok(tree)
    }

    /// The account at a path, and everything below it.
    pub(crate) fn under(&self, path: &str) -> Result<&[Account], CommandError> {
        let found = self
            .accounts
            .iter()
            .position(|account| account.path == path);
        let at = found.ok_or_else(|| no_such(path))?;
        let rest = &self.accounts[at + 1..];
        let depth = self.accounts[at].depth;
        let below = rest.iter().take_while(|account| account.depth > depth);
        Ok(&self.accounts[at..=at + below.count()])
    }

    /// The account at a path.
    pub(crate) fn at(&self, path: &str) -> Result<&Account, CommandError> {
        Ok(&self.under(path)?[0])
    }

    /// The account above another.
    pub(crate) fn above(&self, account: &Account) -> Option<&Account> {
        let at = self
            .accounts
            .iter()
            .position(|other| other.place == account.place)?;
        let above = |other: &&Account| other.depth < account.depth;
        self.accounts[..at].iter().rev().find(above)
    }
}

fn no_such(path: &str) -> CommandError {
    let reason = "there is no account with this path; `odometry show` lists them all";
    CommandError::input(path, reason)
}

/// Places with their lines, the first on top of the pile.
fn ordered(places: &[Place], above: &[bool]) -> Vec<(Place, Vec<bool>)> {
    let count = places.len();
    let line = |(at, place): (usize, &Place)| {
        let mut line = above.to_vec();
        line.push(at + 1 == count);
        (*place, line)
    };
    places
        .iter()
        .enumerate()
        .rev()
        .map(|(at, place)| line((at, place)))
        .collect()
}

fn account(
    state: &State,
    place: Place,
    opening: &Opening,
    last: Vec<bool>,
) -> Result<Account, CommandError> {
    let past = state.past(place).unwrap_or_default();
    let standing = match &opening.terms {
        Terms::Account(terms) => Standing::Account {
            reckoning: reckon(state, place, terms, None)
                .map_err(|error| CommandError::Ledger(error.into()))?,
            terms: terms.clone(),
        },
        Terms::Partition(terms) => Standing::Partition { most: terms.most },
        Terms::Compositor(terms) => Standing::Compositor {
            rule: terms.rule.to_string(),
            slots: terms.slots.len(),
        },
    };
    Ok(Account {
        place,
        path: state.path(place).to_string(),
        name: opening.segment.to_string(),
        depth: last.len() - 1,
        last,
        launches: past
            .runs
            .iter()
            .fold(0, |sum, run| sum.saturating_add(run.count)),
        halted: past.halted,
        standing,
    })
}

impl Account {
    /// Its terms, if it counts losses.
    pub(crate) fn terms(&self) -> Option<(&AccountTerms, &Reckoning)> {
        match &self.standing {
            Standing::Account { terms, reckoning } => Some((terms, reckoning)),
            _ => None,
        }
    }

    /// How much of its budget is spent.
    pub(crate) fn share(&self) -> Option<f64> {
        let (terms, reckoning) = self.terms()?;
        share(&reckoning.spent.as_ref()?.exact, terms.budget.as_ref()?)
    }

    /// What limits an account without a budget.
    pub(crate) fn without_budget(&self) -> &'static str {
        match self.depth {
            0 => "no limit",
            _ => "as above",
        }
    }

    /// Does it admit nothing any more that costs something?
    pub(crate) fn exhausted(&self) -> bool {
        let left = |reckoning: &Reckoning| reckoning.left.as_ref().map(|left| left.exact.clone());
        match self.terms() {
            Some((terms, _)) if terms.budget.is_none() => false,
            Some((_, reckoning)) if reckoning.unknown.is_some() => self.halted,
            Some((_, reckoning)) => {
                let nothing = |left: String| left == "0" || left.starts_with("(0, ");
                self.halted || !reckoning.fits || left(reckoning).is_some_and(nothing)
            }
            None => false,
        }
    }

    /// What it is, in words.
    pub(crate) fn kind(&self) -> String {
        match &self.standing {
            Standing::Account { terms, .. } => match terms.relation {
                Relation::Root => "root",
                Relation::Nested => "nested",
                Relation::Converted => "in another measure",
                Relation::Transformed => "after a transformation",
                Relation::Part => "part",
                Relation::Reserved => "filter",
            }
            .into(),
            Standing::Partition { most: 1 } => "partition".into(),
            Standing::Partition { most } => format!("partition, records in up to {most} parts"),
            Standing::Compositor { slots, .. } => format!("compositor of {slots}"),
        }
    }

    /// In which measure and at which distance it counts.
    pub(crate) fn measure(&self) -> String {
        match self.terms() {
            Some((terms, _)) => match terms.distances.first() {
                Some(distance) => format!("{} at {distance}", terms.measure),
                None => terms.measure.to_string(),
            },
            None => String::new(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let mut value = json!({
            "path": self.path,
            "kind": self.kind(),
            "launches": self.launches,
            "halted": self.halted,
        });
        match &self.standing {
            Standing::Account { terms, reckoning } => {
                value["rule"] = json!(terms.rule.as_str());
                value["measure"] = json!(terms.measure.as_str());
                value["metric"] = json!(terms.metric.as_str());
                value["distance"] = json!(terms.distances.first());
                value["budget"] = json!(terms.budget);
                value["spent"] = Amount::json(reckoning.spent.as_ref());
                value["left"] = Amount::json(reckoning.left.as_ref());
                value["exhausted"] = json!(self.exhausted());
                if let Some(why) = &reckoning.unknown {
                    value["unknown"] = json!(why);
                }
            }
            Standing::Partition { most } => value["most"] = json!(most),
            Standing::Compositor { rule, slots } => {
                value["rule"] = json!(rule);
                value["slots"] = json!(slots);
            }
        }
        value
    }
}
