//! An account: what was launched under one session and everything live below it, what that amounts to, and, if it is
//! capped, whether one more launch fits.
//!
//! Two locks. The book is locked for the check and the charge only; the readings, for the questions about the loss.
//! Neither is held while a mechanism or anybody's map runs.

use std::cell::RefCell;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use measures::{
    Adaptive, FilterRule, Interleaving, Metric, PrivacyMap, Rule, Tallied, Total, TotalLoss,
};
use queryable::{Sequence, Turn};

use crate::{
    bill::{Bill, Quote},
    error::{LaunchError, Refusal},
    ledger::{Entry, Ledger, Position},
    measurement::Description,
    payer::Parent,
    quote::quote,
    tallies::{Pending, Tallies},
};

/// How deep sessions may be nested live.
pub const MAX_NESTING: u16 = 256;

/// How many distances an account remembers its reading for.
const MAX_READINGS: usize = 16;

/// How many runs are read from the ledger at a time.
const BATCH: usize = 256;

type Child<R> = <R as Rule>::Child;
type Loss<R> = measures::ChildLoss<R>;
type TallyOf<R> = <R as Tallied>::Tally;

pub(crate) struct Account<MI: Metric, R: FilterRule> {
    pub(crate) label: Arc<str>,
    pub(crate) rule: R,
    pub(crate) measure: Child<R>,
    zero: TallyOf<R>,
    cap: Option<Cap<MI, R>>,
    /// Whose turn it is among all leaves charged here, if the rule is sequential.
    sequence: Option<Sequence>,
    pub(crate) parent: Option<Parent<MI, Child<R>>>,
    pub(crate) depth: u16,
    book: Mutex<Book<MI, R>>,
    launched: AtomicU64,
    readings: Mutex<Vec<Reading<MI, R>>>,
}

/// A budget at a distance.
pub(crate) struct Cap<MI: Metric, R: FilterRule> {
    pub(crate) d_in: MI::Distance,
    pub(crate) limit: TotalLoss<R>,
    pub(crate) gate: R::Gate,
    /// The halting form of the papers: no launch after a refusal.
    pub(crate) halting: bool,
}

impl<MI: Metric, R: FilterRule> Cap<MI, R> {
    pub(crate) fn new(
        rule: &R,
        d_in: MI::Distance,
        limit: TotalLoss<R>,
        halting: bool,
    ) -> Result<Self, LaunchError> {
        let gate = rule.open(&limit)?;
        Ok(Self {
            d_in,
            limit,
            gate,
            halting,
        })
    }
}

impl<MI: Metric, R: FilterRule> Clone for Cap<MI, R> {
    fn clone(&self) -> Self {
        let Self {
            d_in,
            limit,
            gate,
            halting,
        } = self;
        Self {
            d_in: d_in.clone(),
            limit: limit.clone(),
            gate: gate.clone(),
            halting: *halting,
        }
    }
}

struct Book<MI: Metric, R: FilterRule> {
    ledger: Ledger<MI, Child<R>>,
    /// What was charged at the cap's distance.
    spent: Tallies<TallyOf<R>>,
    halted: bool,
}

/// The loss at one distance, as far as the ledger has been read.
pub(crate) struct Reading<MI: Metric, R: FilterRule> {
    d_in: MI::Distance,
    tallies: Tallies<TallyOf<R>>,
    read: Position,
    pub(crate) launched: u64,
}

/// Why an account did not admit a launch. The numbers are put into words when no lock is held any more.
pub(crate) enum No<R: FilterRule> {
    Over {
        spent: TallyOf<R>,
    },
    Halted,
    /// The account has moved on since the question was prepared.
    Moved,
    Error(LaunchError),
}

/// What an account must agree to before a launch is charged to it.
pub(crate) struct Demand<'a, MI: Metric, R: FilterRule> {
    pub(crate) bill: &'a Bill<MI, Child<R>>,
    pub(crate) description: &'a Arc<Description>,
    /// The cost at the cap's distance, if there is a cap.
    pub(crate) quote: Option<Quote<Loss<R>>>,
    /// Only if exactly this many launches have been charged.
    pub(crate) launched: Option<u64>,
    /// Where the turns of the launch are collected.
    pub(crate) turns: &'a RefCell<Vec<Turn>>,
    /// How many launches this stands for: one, unless a snapshot is restored.
    pub(crate) count: u64,
}

impl<MI: Metric, R: FilterRule> Account<MI, R> {
    pub(crate) fn new(
        label: Arc<str>,
        rule: R,
        cap: Option<Cap<MI, R>>,
        parent: Option<Parent<MI, Child<R>>>,
    ) -> Result<Self, LaunchError> {
        let depth = parent.as_ref().map_or(0, |parent| parent.depth() + 1);
        if depth >= MAX_NESTING {
            return Err(LaunchError::TooDeep { limit: MAX_NESTING });
        }
        let zero = rule.start();
        let sequential = matches!(R::INTERLEAVING, Interleaving::Sequential);
        Ok(Self {
            label,
            measure: rule.child(),
            cap,
            sequence: sequential.then(Sequence::new),
            parent,
            depth,
            book: Mutex::new(Book {
                ledger: Ledger::new(),
                spent: Tallies::new(zero.clone()),
                halted: false,
            }),
            launched: AtomicU64::new(0),
            readings: Mutex::new(Vec::new()),
            zero,
            rule,
        })
    }

    pub(crate) fn cap(&self) -> Option<&Cap<MI, R>> {
        self.cap.as_ref()
    }

    /// How many launches have been charged.
    pub(crate) fn launched(&self) -> u64 {
        self.launched.load(Ordering::Acquire)
    }

    /// What the launch would cost at the cap's distance. Runs the map: no lock is held.
    pub(crate) fn quote(
        &self,
        bill: &Bill<MI, Child<R>>,
        description: &Description,
    ) -> Result<Option<Quote<Loss<R>>>, LaunchError> {
        self.cap
            .as_ref()
            .map(|cap| quote(bill, description, &cap.d_in))
            .transpose()
    }

    /// Checks, asks `above` whether all others agree, and only then charges. The book is locked meanwhile.
    #[inline]
    pub(crate) fn charge(
        &self,
        demand: &Demand<'_, MI, R>,
        above: &mut dyn FnMut() -> bool,
    ) -> Result<bool, No<R>> {
        let mut book = lock(&self.book);
        let launched = self.launched.load(Ordering::Relaxed);
        if demand.launched.is_some_and(|expected| expected != launched) {
            return Err(No::Moved);
        }
        if launched.checked_add(demand.count).is_none() || book.ledger.is_full() {
            return Err(No::Error(LaunchError::LedgerFull));
        }
        let pending = match (&self.cap, &demand.quote) {
            (Some(cap), Some(quote)) => Some(self.admit(&mut book, cap, quote, demand.count)?),
            _ => None,
        };
        if !above() {
            return Ok(false);
        }
        if let Some(pending) = pending {
            book.spent.commit(pending);
        }
        book.ledger
            .record(demand.bill, demand.description, demand.count);
        if let Some(sequence) = &self.sequence {
            demand.turns.borrow_mut().push(sequence.begin_next());
        }
        self.launched.fetch_add(demand.count, Ordering::Release);
        Ok(true)
    }

    #[inline]
    fn admit(
        &self,
        book: &mut Book<MI, R>,
        cap: &Cap<MI, R>,
        quote: &Quote<Loss<R>>,
        count: u64,
    ) -> Result<Pending<TallyOf<R>>, No<R>> {
        if book.halted {
            return Err(No::Halted);
        }
        let pending = book.spent.after(quote, count, &self.zero);
        if self.rule.fits(&cap.gate, pending.total()) {
            return Ok(pending);
        }
        book.halted = cap.halting;
        Err(No::Over {
            spent: book.spent.total().clone(),
        })
    }

    /// Puts a refusal into words; no lock is held.
    pub(crate) fn explain(
        &self,
        no: No<R>,
        description: &Description,
        quote: Option<&Quote<Loss<R>>>,
    ) -> LaunchError {
        let (spent, cap) = match (no, &self.cap) {
            (No::Over { spent }, Some(cap)) => (spent, cap),
            (No::Error(error), _) => return error,
            (No::Moved, _) => return LaunchError::Contended,
            _ => {
                return LaunchError::Halted {
                    account: self.label.to_string(),
                };
            }
        };
        let asked = quote
            .and_then(Quote::leaf)
            .map_or_else(String::new, ToString::to_string);
        LaunchError::Refused(Box::new(Refusal {
            account: self.label.to_string(),
            measure: format!("{:?}", self.rule.total()),
            launch: description.to_string(),
            d_in: cap.d_in.to_string(),
            asked,
            spent: self.rule.spent(&cap.gate, &spent).to_string(),
            remaining: self
                .rule
                .remaining(&cap.gate, &spent)
                .map(|loss| loss.to_string()),
            limit: cap.limit.to_string(),
        }))
    }

    /// What one more launch could cost within the cap, if there is one at this distance.
    pub(crate) fn remaining(&self, d_in: &MI::Distance) -> Option<Loss<R>> {
        let cap = self.cap.as_ref().filter(|cap| cap.d_in == *d_in)?;
        let spent = lock(&self.book).spent.total().clone();
        self.rule.remaining(&cap.gate, &spent)
    }

    /// How much of the cap has been spent.
    pub(crate) fn spent(&self) -> Option<Total<TotalLoss<R>>> {
        let cap = self.cap.as_ref()?;
        let spent = lock(&self.book).spent.total().clone();
        Some(self.rule.spent(&cap.gate, &spent))
    }

    /// Everything that was launched, in order, each run with its count.
    pub(crate) fn launches(&self) -> Vec<(Arc<Description>, u64)> {
        let book = lock(&self.book);
        book.ledger
            .runs()
            .map(|(entry, count)| (Arc::clone(&entry.description), count))
            .collect()
    }

    /// Everything that was charged at the cap's distance: descriptions, quotes and counts.
    pub(crate) fn charges(
        &self,
        d_in: &MI::Distance,
    ) -> Result<Vec<Charged<Loss<R>>>, LaunchError> {
        let mut charges = Vec::new();
        let mut position = Position::default();
        loop {
            let (batch, to) = self.batch(position);
            if batch.is_empty() {
                return Ok(charges);
            }
            position = to;
            for (_, entry, count) in batch {
                let quote = quote(&entry.bill, &entry.description, d_in)?;
                charges.push((entry.description, quote, count));
            }
        }
    }

    #[allow(
        clippy::type_complexity,
        reason = "entry numbers, entries and counts, and where they end"
    )]
    fn batch(&self, from: Position) -> (Vec<(u32, Entry<MI, Child<R>>, u64)>, Position) {
        let book = lock(&self.book);
        let (runs, to) = book.ledger.after(from, BATCH);
        let entries = runs
            .into_iter()
            .map(|(number, count)| (number, book.ledger.entry(number).clone(), count));
        (entries.collect(), to)
    }
}

pub(crate) type Charged<L> = (Arc<Description>, Quote<L>, u64);

impl<MI: Metric, R: FilterRule> Reading<MI, R> {
    /// Everything read so far, for the rule.
    pub(crate) fn total(&self) -> &TallyOf<R> {
        self.tallies.total()
    }
}

impl<MI: Metric, R: FilterRule> Account<MI, R> {
    /// What was charged up to some moment after the call, at this distance.
    pub(crate) fn reading(&self, d_in: &MI::Distance) -> Result<Reading<MI, R>, LaunchError> {
        let until = self.launched();
        let mut reading = self.remembered(d_in);
        if reading.launched >= until {
            return Ok(reading);
        }
        // Each different map is asked once, however often its measurement was launched.
        let mut quotes: Vec<Option<Quote<Loss<R>>>> = Vec::new();
        while reading.launched < until {
            let (batch, to) = self.batch(reading.read);
            for (number, entry, count) in batch {
                let number = number as usize;
                quotes.resize(quotes.len().max(number + 1), None);
                let quote = match &mut quotes[number] {
                    Some(quote) => quote,
                    empty => empty.insert(quote(&entry.bill, &entry.description, d_in)?),
                };
                reading.tallies.absorb(quote, count, &self.zero);
                reading.launched += count;
            }
            reading.read = to;
        }
        self.remember(&reading);
        Ok(reading)
    }

    fn remembered(&self, d_in: &MI::Distance) -> Reading<MI, R> {
        let readings = lock(&self.readings);
        let known = readings
            .iter()
            .find(|reading| reading.d_in == *d_in)
            .cloned();
        known.unwrap_or_else(|| Reading {
            d_in: d_in.clone(),
            tallies: Tallies::new(self.zero.clone()),
            read: Position::default(),
            launched: 0,
        })
    }

    /// Keeps a reading, unless another thread has read further; the oldest of too many is forgotten.
    fn remember(&self, reading: &Reading<MI, R>) {
        let mut readings = lock(&self.readings);
        match readings.iter_mut().find(|known| known.d_in == reading.d_in) {
            Some(known) if known.launched < reading.launched => known.clone_from(reading),
            Some(_) => {}
            None => {
                if readings.len() == MAX_READINGS {
                    readings.remove(0);
                }
                readings.push(reading.clone());
            }
        }
    }

    /// The reading with one more launch, and how many launches it was taken after.
    pub(crate) fn reading_after(
        &self,
        bill: &Bill<MI, Child<R>>,
        description: &Description,
        d_in: &MI::Distance,
    ) -> Result<(TallyOf<R>, u64), LaunchError> {
        let quote = quote(bill, description, d_in)?;
        let reading = self.reading(d_in)?;
        let after = reading.tallies.after(&quote, 1, &self.zero);
        Ok((after.total().clone(), reading.launched))
    }
}

impl<MI: Metric, R: Adaptive> Account<MI, R> {
    /// Why a launch would pass a limit that is not the cap.
    pub(crate) fn refusal(
        &self,
        map: &PrivacyMap<MI, Child<R>>,
        description: &Description,
        d_in: &MI::Distance,
        limit: &TotalLoss<R>,
    ) -> Result<Refusal, LaunchError> {
        let asked = quote(&Bill::Direct(map.clone()), description, d_in)?;
        let reading = self.reading(d_in)?;
        Ok(Refusal {
            account: self.label.to_string(),
            measure: format!("{:?}", self.rule.total()),
            launch: description.to_string(),
            d_in: d_in.to_string(),
            asked: asked.leaf().map_or_else(String::new, ToString::to_string),
            spent: self.rule.loss(reading.total()).to_string(),
            remaining: self
                .rule
                .room(reading.total(), limit)
                .map(|loss| loss.to_string()),
            limit: limit.to_string(),
        })
    }
}

impl<MI: Metric, R: FilterRule> Clone for Reading<MI, R> {
    fn clone(&self) -> Self {
        Self {
            d_in: self.d_in.clone(),
            tallies: self.tallies.clone(),
            ..*self
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
