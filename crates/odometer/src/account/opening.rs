//! Accounts on a journal: their place and their terms, and how what was charged before is charged
//! again when they are opened.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use measures::{Distance as _, Loss as _, Measure as _, Metric, Tallied};
use queryable::guarded;

use crate::{
    account::admission::{Admission, Kind, Unrecorded},
    account::cost::Cost,
    account::step::AccountStep,
    account::{Account, Cap, Parent},
    error::{LaunchError, OpenError},
    journal::{
        AccountTerms, Books, Informed, JournalError, MAX_KEY_DEPTH, Opening, Past, Place, Relation,
        Run, Segment, Terms,
    },
    sync::Mutex,
};

/// The additional parts of an account on a journal.
pub(crate) struct Journaled<MI: Metric> {
    pub(crate) books: Books,
    pub(crate) place: Place,
    /// The distances at which charges are recorded, the cap's first.
    pub(crate) distances: Vec<MI::Distance>,
    /// The least number of messages that this account and those above let a launch answer.
    pub(crate) messages: Option<u64>,
    /// The transformation that produced the data, if any: its stability map determines the costs of
    /// launches.
    through: Option<usize>,
    /// See [`TurnLocks`](crate::account::admission::TurnLocks).
    pub(super) turn_lock: Mutex<()>,
}

impl<MI: Metric> Journaled<MI> {
    /// An account at this place, whose charges are recorded at these distances.
    pub(crate) fn at(books: &Books, place: Place, distances: Vec<MI::Distance>) -> Self {
        Self {
            books: books.clone(),
            place,
            distances,
            messages: None,
            through: None,
            turn_lock: Mutex::new(()),
        }
    }
}

/// The place on a journal where an account is opened.
pub(crate) struct Spot<'a, MI: Metric> {
    pub(crate) books: &'a Books,
    pub(crate) parent: Option<Place>,
    pub(crate) segment: Segment,
    pub(crate) relation: Relation,
    pub(crate) metric: &'a MI,
    pub(crate) distances: Vec<MI::Distance>,
    /// The least number of messages that the accounts above let a launch answer.
    pub(crate) messages: Option<u64>,
}

/// The parts of an account that is opened.
pub(crate) struct Made<MI: Metric, R: Tallied> {
    pub(crate) label: Arc<str>,
    pub(crate) rule: R,
    pub(crate) cap: Option<Cap<MI, R>>,
    pub(crate) quota: u32,
    /// The number of entries of the parent's list that it may use, if that was stated.
    pub(crate) share: Option<u32>,
    /// The number of messages that a launch may answer, where communication must be finite.
    pub(crate) messages: u64,
    pub(crate) parent: Option<Parent<MI, R::Child>>,
    /// Identifies the transformation that produced the data, while it is alive.
    pub(crate) through: Option<usize>,
    /// Where to store the place on a ledger, before the first launch.
    pub(crate) placed: Option<Arc<OnceLock<u64>>>,
    /// Whether only its newest launch is answered, whatever its rule says.
    pub(crate) sequential: bool,
}

impl<MI: Metric, R: Tallied> Made<MI, R> {
    pub(crate) fn account(self) -> Result<Account<MI, R>, OpenError> {
        let Self {
            label,
            rule,
            cap,
            quota,
            share,
            messages,
            parent,
            sequential,
            ..
        } = self;
        let account = Account::new(label, rule, cap, (quota, share), parent)?;
        let account = account.answering_at_most(messages);
        Ok(if sequential {
            account.sequential()
        } else {
            account
        })
    }

    /// The account at this place: the one that is open, or a new one with all past charges.
    pub(crate) fn account_on(self, spot: Spot<'_, MI>) -> Result<Arc<Account<MI, R>>, OpenError> {
        let (through, placed) = (self.through, self.placed.clone());
        let account = self.account()?;
        let opening = account.opening(&spot)?;
        let Spot {
            books, distances, ..
        } = spot;
        let messages = account.messages.into_iter().chain(spot.messages).min();
        let account = books.open(&opening, |place, past| {
            if let Some(placed) = &placed {
                let _ = placed.set(u64::from(place.0));
            }
            let journaled = Journaled {
                messages,
                through,
                ..Journaled::at(books, place, distances)
            };
            let account = account.on(journaled);
            account.charge_past(&past)?;
            Ok(account)
        })?;
        let opened = account.journaled();
        if opened.is_some_and(|opened| opened.through != through) {
            // Its launches would read the data of one transformation at the cost of another.
            return Err(JournalError::OtherTerms {
                path: account.label.to_string(),
                stored: "another transformation, and is open".into(),
                asked: "this one (a clone of the first is the same)".into(),
            }
            .into());
        }
        Ok(account)
    }
}

fn panicked<MI: Metric, R: Tallied>(account: &Account<MI, R>) -> OpenError {
    OpenError::RulePanicked {
        account: account.label.to_string(),
    }
}

/// The stored name, or the error that states which method is missing.
pub(crate) fn stored<X>(
    what: impl FnOnce() -> String,
    name: Option<X>,
    method: &'static str,
) -> Result<X, JournalError> {
    name.ok_or_else(|| JournalError::NotStorable {
        what: what(),
        method,
    })
}

impl<MI: Metric, R: Tallied> Informed for Account<MI, R> {
    fn told(&self, news: &Past) -> Result<(), OpenError> {
        self.charge_past(news)
    }
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// The record that opens it at this place.
    pub(crate) fn opening(&self, spot: &Spot<'_, MI>) -> Result<Opening, OpenError> {
        let segment = &spot.segment;
        let sequential = self.sequence.is_some();
        spot.books.check_turns(sequential, &self.label)?;
        if segment.is_unnamed() {
            let what = "a session on a ledger".into();
            return Err(JournalError::Unnamed { what }.into());
        }
        if matches!(segment, Segment::Key(key) if !key.within(MAX_KEY_DEPTH)) {
            let why = format!("the key of a part is a list in more than {MAX_KEY_DEPTH} others");
            return Err(JournalError::Unsupported(why).into());
        }
        let terms = guarded(|| self.terms(spot)).map_err(|_| panicked(self))??;
        Ok(Opening {
            parent: spot.parent,
            segment: segment.clone(),
            terms: Terms::Account(terms),
        })
    }

    fn terms(&self, spot: &Spot<'_, MI>) -> Result<AccountTerms, JournalError> {
        let distance = |d_in: &MI::Distance| {
            d_in.written().ok_or_else(|| JournalError::NotStorable {
                what: format!("the distance {d_in}"),
                method: "`Distance::written`",
            })
        };
        let budget = match &self.cap {
            None => None,
            Some(cap) => Some(
                cap.budget
                    .written()
                    .ok_or_else(|| JournalError::NotStorable {
                        what: format!("the budget {}", cap.budget),
                        method: "`Loss::written`",
                    })?,
            ),
        };
        let (rule, measure, metric) = (&self.rule, &self.measure, spot.metric);
        Ok(AccountTerms {
            relation: spot.relation.clone(),
            rule: stored(|| format!("the rule {rule:?}"), rule.name(), "`Rule::name`")?,
            measure: stored(
                || format!("the measure {measure:?}"),
                measure.name(),
                "`Measure::name`",
            )?,
            metric: stored(
                || format!("the metric {metric:?}"),
                metric.name(),
                "`Metric::name`",
            )?,
            distances: spot
                .distances
                .iter()
                .map(distance)
                .collect::<Result<_, _>>()?,
            budget,
            halting: self.cap.as_ref().is_some_and(|cap| cap.halting),
            quota: self.quota,
            sequential: self.sequence.is_some(),
            messages: self.messages,
        })
    }

    pub(crate) fn journaled(&self) -> Option<&Journaled<MI>> {
        self.journaled.as_deref()
    }

    /// Charges what was charged before: at the opening, or by another process meanwhile. Accounts
    /// above have postings of their own. No rule is asked; in a full list, launches are merged.
    fn charge_past(&self, past: &Past) -> Result<(), OpenError> {
        let Some(journaled) = &self.journaled else {
            return Ok(());
        };
        for Run { launch, count } in &past.runs {
            let at = (&*journaled.distances, &journaled.books);
            let cost = guarded(|| Cost::recorded(launch, &self.measure, at));
            let cost = cost.map_err(|_| panicked(self))??;
            self.charge_run(cost, *count)?;
        }
        if past.halted {
            self.state().halted = true;
        }
        Ok(())
    }

    fn charge_run(&self, cost: Cost<MI, R::Child>, count: u64) -> Result<(), OpenError> {
        let charge = || {
            let step = AccountStep::prepare(self, Cow::Owned(cost), None)?;
            let mut admission = Admission::alone(step);
            admission.admit(Kind::Past(count), &mut Unrecorded)
        };
        let charged = charge().map(drop);
        charged.map_err(|error| match error {
            LaunchError::RulePanicked { .. } => panicked(self),
            LaunchError::Contradiction => damaged("its parts contradict each other"),
            LaunchError::LedgerFull { .. } => damaged("too many launches"),
            error => damaged(&error.to_string()),
        })
    }
}

fn damaged(why: &str) -> OpenError {
    JournalError::Damaged(why.into()).into()
}
