//! Accounts on a journal: their place and their terms, what is written down of a launch, and how an account is put back where
//! it was.

use std::{
    collections::hash_map::Entry,
    sync::{Arc, OnceLock},
};

use measures::{Distance as _, Loss as _, Measure as _, Metric, Tallied};
use queryable::guarded;

use crate::{
    account::addresses::AddressMap,
    account::bill::Bill,
    account::settling::Parent,
    account::{Account, Cap},
    error::{LaunchError, OpenError},
    journal::{
        AccountTerms, Books, Informed, JournalError, MAX_KEY_DEPTH, Opening, Past, Place, Posted,
        Posting, Relation, Run, Segment, Terms,
    },
    measurement::Description,
    sync::{Mutex, MutexGuard, lock},
};

/// How many bills of what was written down are kept.
const MOST_TOLD: usize = 64;

/// What was written down of a launch.
type Written = (Description, Posted);

/// What was written down, and its bill.
pub(super) type Told<MI, M> = (Arc<Written>, Bill<MI, M>);

/// What an account on a journal has besides.
pub(crate) struct Journaled<MI: Metric> {
    pub(crate) books: Books,
    pub(crate) place: Place,
    /// At which distances charges are written down, the cap's first.
    pub(crate) distances: Vec<MI::Distance>,
    /// The least number of messages that it or an account above lets a launch answer.
    pub(crate) messages: Option<u64>,
    /// Which transformation its data come from, if they do: its launches are paid for by that one's stability map.
    through: Option<usize>,
    /// Under a sequential account, held from before a launch is settled until its function runs: otherwise the next launch
    /// moves the turn while this one waits to be written down, and it is charged and never runs.
    gate: Mutex<()>,
}

impl<MI: Metric> Journaled<MI> {
    /// At this place, with its charges written down at these distances.
    pub(crate) fn at(books: &Books, place: Place, distances: Vec<MI::Distance>) -> Self {
        Self {
            books: books.clone(),
            place,
            distances,
            messages: None,
            through: None,
            gate: Mutex::new(()),
        }
    }
}

/// Where an account is opened.
pub(crate) struct Spot<'a, MI: Metric> {
    pub(crate) books: &'a Books,
    pub(crate) parent: Option<Place>,
    pub(crate) segment: Segment,
    pub(crate) relation: Relation,
    pub(crate) metric: &'a MI,
    pub(crate) distances: Vec<MI::Distance>,
    /// How many messages the accounts above let a launch answer.
    pub(crate) messages: Option<u64>,
}

/// What an account is made of.
pub(crate) struct Made<MI: Metric, R: Tallied> {
    pub(crate) label: Arc<str>,
    pub(crate) rule: R,
    pub(crate) cap: Option<Cap<MI, R>>,
    pub(crate) quota: u32,
    /// How many messages a launch answers at the most, where communication must be finite.
    pub(crate) messages: u64,
    pub(crate) parent: Option<Parent<MI, R::Child>>,
    /// Tells transformations apart while they are alive, where the data come from one.
    pub(crate) through: Option<usize>,
    /// Where to note the place on a ledger, before anybody can launch.
    pub(crate) placed: Option<Arc<OnceLock<u64>>>,
    /// Is only its newest launch answered, whatever its rule says?
    pub(crate) sequential: bool,
}

impl<MI: Metric, R: Tallied> Made<MI, R> {
    pub(crate) fn account(self) -> Result<Account<MI, R>, OpenError> {
        let Self {
            label,
            rule,
            cap,
            quota,
            messages,
            parent,
            sequential,
            ..
        } = self;
        let account = Account::new(label, rule, cap, quota, parent)?;
        let account = account.answering_at_most(messages);
        Ok(if sequential {
            account.sequential()
        } else {
            account
        })
    }

    /// The account at this spot: the one that is open, or a new one with everything charged that was charged before.
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
            account.resume(&past)?;
            Ok(account)
        })?;
        let opened = account.journaled();
        if opened.is_some_and(|opened| opened.through != through) {
            // Its launches would read the data after one, and be paid for by the stability map of the other.
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

/// What it is written down as, or who has to say so.
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
        let restore = || self.restore(news, |on, launch| self.told_bill(on, launch));
        guarded(restore).map_err(|_| panicked(self))?
    }
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// How it is opened at this spot.
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

    /// Charges all that was charged before it was opened. Equal launches are the same one there, so none is looked for.
    fn resume(&self, past: &Past) -> Result<(), OpenError> {
        let restore = || self.restore(past, |on, launch| self.read_bill(on, launch));
        guarded(restore).map_err(|_| panicked(self))?
    }

    /// Charges what was charged before, to this account only: those above have postings of their own. Nobody is asked.
    fn restore(
        &self,
        past: &Past,
        bill_of: impl Fn(&Journaled<MI>, &Arc<Written>) -> Result<Bill<MI, R::Child>, OpenError>,
    ) -> Result<(), OpenError> {
        let Some(journaled) = &self.journaled else {
            return Ok(());
        };
        let mut bills: AddressMap<usize, Bill<MI, R::Child>> = AddressMap::default();
        for Run { launch, count } in &past.runs {
            let bill = match bills.entry(Arc::as_ptr(launch).addr()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) => vacant.insert(bill_of(journaled, launch)?),
            };
            self.restore_run(bill, *count)?;
        }
        if past.halted {
            self.halt();
        }
        Ok(())
    }

    /// The bill of what was written down. The last few are kept: other processes launch the same again and again, and every bill is
    /// listed.
    fn told_bill(
        &self,
        journaled: &Journaled<MI>,
        launch: &Arc<Written>,
    ) -> Result<Bill<MI, R::Child>, OpenError> {
        let known = |(other, _): &&Told<MI, R::Child>| other == launch;
        if let Some((_, bill)) = lock(&self.told).iter().find(known) {
            return Ok(bill.clone());
        }
        let bill = self.read_bill(journaled, launch)?;
        let mut told = lock(&self.told);
        if told.len() == MOST_TOLD {
            told.pop_front();
        }
        told.push_back((Arc::clone(launch), bill.clone()));
        Ok(bill)
    }

    fn read_bill(
        &self,
        journaled: &Journaled<MI>,
        launch: &Written,
    ) -> Result<Bill<MI, R::Child>, OpenError> {
        let (description, posted) = launch;
        let at = (&*journaled.distances, &journaled.books);
        Ok(Bill::recorded(description, &self.measure, at, posted)?)
    }

    fn restore_run(&self, bill: &Bill<MI, R::Child>, count: u64) -> Result<(), OpenError> {
        let damaged = |why: &str| OpenError::from(JournalError::Damaged(why.into()));
        let quote = match &self.cap {
            Some(cap) => Some(
                bill.quoted(&cap.d_in)
                    .map_err(|error| damaged(&error.to_string()))?,
            ),
            None => None,
        };
        // Dropped in the opposite order: unlocked first.
        let mut next;
        let mut book = self.busy.book();
        if !book.has_room(count) {
            return Err(damaged("too many launches"));
        }
        if let Some(quote) = &quote {
            let after = book.spent.after(quote, count, &self.zero);
            next = after.map_err(|_| damaged("its parts contradict each other"))?;
            book.spent.make_room(&mut next);
            book.spent.commit(&mut next, false);
        }
        let entry = book.launches.entry(bill, None);
        let entry = entry.ok_or_else(|| damaged("too many launches"))?;
        book.record(entry, bill, count);
        self.busy.publish(&book);
        Ok(())
    }

    /// What this account is charged for a launch, to be written down. Maps are asked: nothing is locked.
    pub(super) fn posting(
        &self,
        bill: &Bill<MI, R::Child>,
    ) -> Result<Option<Posting>, LaunchError> {
        let Some(journaled) = &self.journaled else {
            return Ok(None);
        };
        Ok(Some(Posting {
            account: journaled.place,
            price: bill.posted(&journaled.distances)?,
        }))
    }

    /// The gate of this account, if its launches have to wait for one another.
    pub(super) fn gate(&self) -> Option<MutexGuard<'_, ()>> {
        match (&self.journaled, &self.sequence) {
            (Some(journaled), Some(_)) => Some(lock(&journaled.gate)),
            _ => None,
        }
    }
}
