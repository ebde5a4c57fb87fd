//! What a journal's records amount to: every place with its terms, and what was charged to it. Replaying is applying them in
//! order; admission is not asked again, and nothing is computed again.

use std::collections::{BTreeSet, HashMap};

use exact::excerpt;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::journal::{
    BudgetProposal, ChargeRecord, Event, Fields, JournalError, NewBudget, Opening, Past, Path,
    Place, Posted, Record, SecondRun, Segment, Terms,
    charged::Charged,
    fields::{MAX_LINE, is_line},
    record::{AccountTerms, Step},
    terms::difference,
};

/// All places of a journal, and what was charged to them. It serializes, for checkpoints and [snapshots](crate::journal::Snapshot).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Known>", into = "Vec<Known>")]
pub struct State {
    places: Vec<Known>,
    /// How many places there are below each, however deep.
    pub(super) descendants: Vec<u32>,
    below: HashMap<Option<Place>, HashMap<Segment, Place>>,
}

/// What is known of one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    opening: Opening,
    charged: Charged,
    halted: bool,
    /// Those of the record that opened it.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    fields: Fields,
    /// The budget that was proposed last, until it is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proposal: Option<BudgetProposal>,
    /// The numbers of the charges that have run a second time.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    second_runs: BTreeSet<u64>,
}

/// A record that does not fit what is there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl State {
    /// Nothing at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Is there no place?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The place that is to be opened, if it is there.
    ///
    /// # Errors
    /// [`JournalError::OtherTerms`] if it is there with other terms.
    pub fn find(&self, opening: &Opening) -> Result<Option<Place>, JournalError> {
        let Some(place) = self.at(opening.parent, &opening.segment) else {
            return Ok(None);
        };
        let known = self
            .known(place)
            .map_err(|Invalid(why)| JournalError::Damaged(why))?;
        if let Some(price) = &known.fields.partition_price {
            // No price but the first is implemented here.
            return Err(JournalError::OtherTerms {
                path: self.path(place).to_string(),
                stored: format!("the price of its parts `{}`", excerpt(price)),
                asked: "the first price of parts".into(),
            });
        }
        match difference(&known.opening.terms, &opening.terms) {
            None => Ok(Some(place)),
            Some((stored, asked)) => Err(JournalError::OtherTerms {
                path: self.path(place).to_string(),
                stored,
                asked,
            }),
        }
    }

    /// The place with this segment below another, or among the roots.
    pub fn at(&self, parent: Option<Place>, segment: &Segment) -> Option<Place> {
        self.below.get(&parent)?.get(segment).copied()
    }

    /// The opening of a place, with its terms as they are now.
    pub fn opening(&self, place: Place) -> Option<&Opening> {
        Some(&self.places.get(place.0 as usize)?.opening)
    }

    /// The terms of a place as they are now.
    pub fn terms(&self, place: Place) -> Option<&Terms> {
        self.opening(place).map(|opening| &opening.terms)
    }

    /// The place whose path has this text.
    pub fn named(&self, path: &str) -> Option<Place> {
        let mut places = (0..self.places.len() as u32).map(Place);
        places.find(|place| self.path(*place).to_string() == path)
    }

    /// The optional fields of the record that opened a place. A filter or compositor that was launched has none.
    pub fn fields(&self, place: Place) -> Option<&Fields> {
        Some(&self.places.get(place.0 as usize)?.fields)
    }

    /// The budget that was proposed for an account, if it is not decided yet.
    pub fn proposal(&self, place: Place) -> Option<&BudgetProposal> {
        self.places.get(place.0 as usize)?.proposal.as_ref()
    }

    /// The path of a place.
    pub fn path(&self, place: Place) -> Path {
        let mut segments = Vec::new();
        let mut next = self.opening(place);
        while let Some(opening) = next {
            segments.push(opening.segment.clone());
            next = opening.parent.and_then(|parent| self.opening(parent));
        }
        Path::new(segments.into_iter().rev())
    }

    /// What was charged to a place.
    pub fn past(&self, place: Place) -> Option<Past> {
        let known = self.places.get(place.0 as usize)?;
        Some(Past {
            runs: known.charged.runs(),
            halted: known.halted,
        })
    }

    /// Would this record fit? Records that were written down did.
    ///
    /// # Errors
    /// [`Invalid`], with what does not fit.
    pub fn check(&self, record: &Record) -> Result<(), Invalid> {
        self.check_event(&record.event)
    }

    fn check_event(&self, event: &Event) -> Result<(), Invalid> {
        match event {
            Event::Open(opening) => self.check_opening(opening, self.places.len()),
            Event::Charge(charge) => self.check_charge(charge),
            Event::Halt(halt) => {
                let reason = halt.reason.as_deref();
                reason.map_or(Ok(()), |reason| check_line("a reason", reason))?;
                self.account(halt.account).map(drop)
            }
            Event::Budget(new) | Event::ProposedBudget(new) => self.check_budget(new),
            Event::DecidedBudget(decision) => self.check_decision(decision),
            Event::Note(note) => check_line("a note", &note.text),
            Event::SecondRun(run) => self.check_second_run(run),
            Event::Unknown(_) => Ok(()),
        }
    }

    fn check_second_run(&self, run: &SecondRun) -> Result<(), Invalid> {
        self.account(run.account)?;
        match self.known(run.account)?.second_runs.contains(&run.of.seq) {
            true => Err(invalid(format!("record {} had its second run", run.of.seq))),
            false => Ok(()),
        }
    }

    /// Applies a record: the place that it opens, if it opens one. One that does not fit changes nothing.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn apply(&mut self, record: &Record) -> Result<Option<Place>, Invalid> {
        self.apply_event(&record.event, &record.fields)
    }

    /// The same, for a reader whose records share their events.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn apply_event(
        &mut self,
        event: &Event,
        fields: &Fields,
    ) -> Result<Option<Place>, Invalid> {
        self.check_event(event)?;
        match event {
            Event::Open(opening) => return Ok(Some(self.add(opening.clone(), fields.clone()))),
            Event::Charge(charge) => {
                for posting in &charge.postings {
                    let known = self.checked(posting.account);
                    known.charged.add(&charge.description, &posting.price, 1);
                }
                let opens = charge.opens.clone();
                return Ok(opens.map(|opening| self.add(opening, Fields::default())));
            }
            Event::Halt(halt) => self.checked(halt.account).halted = true,
            Event::Budget(new) => self.set_budget(new),
            Event::ProposedBudget(change) => {
                self.checked(change.account).proposal = Some(BudgetProposal {
                    change: change.clone(),
                    fields: fields.clone(),
                });
            }
            Event::DecidedBudget(decision) => {
                self.checked(decision.change.account).proposal = None;
                if decision.approved {
                    self.set_budget(&decision.change);
                }
            }
            Event::SecondRun(run) => {
                self.checked(run.account).second_runs.insert(run.of.seq);
            }
            Event::Note(_) | Event::Unknown(_) => {}
        }
        Ok(None)
    }

    /// A place that is there.
    fn checked(&mut self, place: Place) -> &mut Known {
        &mut self.places[place.0 as usize]
    }

    fn set_budget(&mut self, new: &NewBudget) {
        if let Terms::Account(terms) = &mut self.checked(new.account).opening.terms {
            terms.budget = Some(new.new.clone());
        }
    }

    fn check_charge(&self, charge: &ChargeRecord) -> Result<(), Invalid> {
        let Some(leaf) = charge.postings.first() else {
            return Err(invalid("a launch was charged to nobody"));
        };
        for posting in &charge.postings {
            let known = self.known(posting.account)?;
            if let Posted::Part { path, .. } = &posting.price {
                path.iter().try_for_each(|step| self.check_part(step))?;
            }
            let fits = match (&known.opening.terms, &posting.price) {
                (Terms::Account(_), Posted::Direct { .. } | Posted::Part { .. }) => true,
                (Terms::Compositor(terms), Posted::Slot { slot }) => {
                    (*slot as usize) < terms.slots.len()
                }
                _ => false,
            };
            if !fits {
                return Err(invalid(format!(
                    "place {} takes no such charge",
                    posting.account
                )));
            }
        }
        match &charge.opens {
            Some(opening) if opening.parent != Some(leaf.account) => {
                Err(invalid("what was launched was opened elsewhere"))
            }
            Some(opening) => self.check_opening(opening, self.places.len()),
            None => Ok(()),
        }
    }

    fn check_part(&self, step: &Step) -> Result<(), Invalid> {
        let (part, partition) = (self.known(step.part)?, self.known(step.partition)?);
        let below = part.opening.parent == Some(step.partition);
        match (&partition.opening.terms, below) {
            (Terms::Partition(_), true) => Ok(()),
            _ => Err(invalid(format!(
                "place {} is no part of {}",
                step.part, step.partition
            ))),
        }
    }

    fn check_opening(&self, opening: &Opening, places: usize) -> Result<(), Invalid> {
        if u32::try_from(places).is_err() {
            return Err(invalid("there are too many places"));
        }
        if let Some(parent) = opening.parent {
            self.known(parent)?;
        }
        match self.at(opening.parent, &opening.segment) {
            Some(place) => {
                let path = excerpt(&self.path(place));
                Err(invalid(format!("{path} is opened twice")))
            }
            None => Ok(()),
        }
    }

    fn known(&self, place: Place) -> Result<&Known, Invalid> {
        let known = self.places.get(place.0 as usize);
        known.ok_or_else(|| invalid(format!("there is no place {place}")))
    }

    pub(super) fn account(&self, place: Place) -> Result<&AccountTerms, Invalid> {
        match &self.known(place)?.opening.terms {
            Terms::Account(terms) => Ok(terms),
            _ => Err(invalid(format!("place {place} is no account"))),
        }
    }

    /// Adds a place that was checked.
    fn add(&mut self, opening: Opening, fields: Fields) -> Place {
        let known = Known {
            opening,
            charged: Charged::default(),
            halted: false,
            fields,
            proposal: None,
            second_runs: BTreeSet::new(),
        };
        self.add_known(known)
    }

    fn add_known(&mut self, known: Known) -> Place {
        let place = Place(self.places.len() as u32);
        let siblings = self.below.entry(known.opening.parent).or_default();
        siblings.insert(known.opening.segment.clone(), place);
        let mut above = known.opening.parent;
        while let Some(next) = above {
            self.descendants[next.0 as usize] += 1;
            above = self.places[next.0 as usize].opening.parent;
        }
        self.places.push(known);
        self.descendants.push(0);
        place
    }
}

impl From<State> for Vec<Known> {
    fn from(state: State) -> Self {
        state.places
    }
}

impl TryFrom<Vec<Known>> for State {
    type Error = Invalid;

    fn try_from(places: Vec<Known>) -> Result<Self, Invalid> {
        let mut state = Self::new();
        for known in places {
            state.check_opening(&known.opening, state.len())?;
            state.add_known(known);
        }
        Ok(state)
    }
}

fn check_line(what: &str, text: &str) -> Result<(), Invalid> {
    match is_line(text) {
        true => Ok(()),
        false => Err(invalid(format!(
            "{what} is not one line of up to {MAX_LINE} bytes without control characters"
        ))),
    }
}

pub(super) fn invalid(why: impl Into<String>) -> Invalid {
    Invalid(why.into())
}
