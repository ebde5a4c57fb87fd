//! An account: what was launched under one session and everything live below it, what that amounts to, and, if it is
//! capped, whether one more launch fits.
//!
//! Two locks. The book is locked for the check and the charge only; the readings, for the questions about the loss.
//! Neither is held while a mechanism or anybody's map runs.

use std::{
    cell::{OnceCell, RefCell},
    sync::Arc,
};

use measures::{
    FilterRule, Interleaving, Loss as _, Metric, Rule, Tallied, Tally, Total, TotalLoss,
};
use queryable::{Sequence, Turn, guarded};

use crate::{
    bill::{Bill, Quote},
    error::{LaunchError, Refusal},
    ledger::{Ledger, Position},
    measurement::Description,
    payer::Parent,
    readings::Readings,
    sync::{AtomicU64, Mutex, Ordering, lock},
    tallies::Tallies,
};

/// How deep sessions may be nested live.
pub const MAX_NESTING: u16 = 256;

/// How many runs are read from the ledger at a time.
const BATCH: usize = 256;

pub(crate) type Child<R> = <R as Rule>::Child;
pub(crate) type Loss<R> = measures::ChildLoss<R>;
pub(crate) type TallyOf<R> = <R as Tallied>::Tally;

pub(crate) struct Account<MI: Metric, R: FilterRule> {
    pub(crate) label: Arc<str>,
    pub(crate) rule: R,
    pub(crate) measure: Child<R>,
    pub(crate) zero: TallyOf<R>,
    cap: Option<Cap<MI, R>>,
    /// Whose turn it is among all leaves charged here, if the rule is sequential.
    sequence: Option<Sequence>,
    pub(crate) parent: Option<Parent<MI, Child<R>>>,
    pub(crate) depth: u16,
    book: Mutex<Book<MI, R>>,
    launched: AtomicU64,
    pub(crate) readings: Readings<MI::Distance, TallyOf<R>>,
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
        account: &str,
        rule: &R,
        d_in: MI::Distance,
        limit: TotalLoss<R>,
        halting: bool,
    ) -> Result<Self, LaunchError> {
        let open = guarded(|| rule.open(&limit));
        let gate = open.map_err(|_| LaunchError::RulePanicked {
            account: account.into(),
        })??;
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

/// Why an account did not admit a launch. The numbers are put into words when no lock is held any more.
pub(crate) enum No<R: FilterRule> {
    /// Too little is left; this much was spent.
    Over(TallyOf<R>),
    Halted,
    Contradiction,
    /// The account has moved on since the question was prepared.
    Moved,
    Full,
}

/// What an account must agree to before a launch is charged to it.
pub(crate) struct Demand<'a, MI: Metric, R: FilterRule> {
    pub(crate) bill: &'a Bill<MI, Child<R>>,
    /// The cost at the cap's distance, if there is a cap.
    pub(crate) quote: Option<&'a Quote<Loss<R>>>,
    /// Only if exactly this many launches have been charged.
    pub(crate) launched: Option<u64>,
    /// Where the turns of the launch are collected.
    pub(crate) turns: &'a RefCell<Vec<Turn>>,
    /// How many launches this stands for: one, unless a snapshot is restored.
    pub(crate) count: u64,
    /// A refusal leads to another try, so it does not halt the account.
    pub(crate) tentative: bool,
    /// Set when the account says no.
    pub(crate) no: OnceCell<Box<No<R>>>,
}

impl<MI: Metric, R: FilterRule> Demand<'_, MI, R> {
    #[cold]
    fn refuse(&self, no: No<R>) -> bool {
        // There is one refusal at the most.
        let _ = self.no.set(Box::new(no));
        false
    }
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
            readings: Readings::new(),
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

    /// Checks, asks `above` whether all others agree, and only then charges. The book is locked meanwhile. Says whether
    /// it was charged; if this account said no, why is left in the demand.
    pub(crate) fn charge(
        &self,
        demand: &Demand<'_, MI, R>,
        above: &mut dyn FnMut() -> bool,
    ) -> bool {
        let mut book = lock(&self.book);
        let book = &mut *book;
        let launched = self.launched.load(Ordering::Relaxed);
        if demand.launched.is_some_and(|expected| expected != launched) {
            return demand.refuse(No::Moved);
        }
        let Some(after) = launched.checked_add(demand.count) else {
            return demand.refuse(No::Full);
        };
        if book.ledger.is_full() {
            return demand.refuse(No::Full);
        }
        let agreed = match (&self.cap, demand.quote, &mut book.spent) {
            (Some(_), Some(_), _) if book.halted => return demand.refuse(No::Halted),
            // Almost always: spelled out, because copies cost as much as all the rest.
            (Some(cap), Some(Quote::Direct(loss)), Tallies::Plain(spent)) => {
                let next = spent.after(loss, demand.count);
                if !self.rule.fits(&cap.gate, &next) {
                    book.halted = cap.halting && !demand.tentative;
                    return demand.refuse(No::Over(spent.clone()));
                }
                above() && {
                    *spent = next;
                    true
                }
            }
            (Some(cap), Some(quote), spent) => {
                let Ok(next) = spent.after(quote, demand.count, &self.zero) else {
                    return demand.refuse(No::Contradiction);
                };
                if !self.rule.fits(&cap.gate, next.total()) {
                    book.halted = cap.halting && !demand.tentative;
                    return demand.refuse(No::Over(spent.total().clone()));
                }
                above() && {
                    spent.commit(next, &self.zero);
                    true
                }
            }
            _ => above(),
        };
        if !agreed {
            return false;
        }
        book.ledger.record(demand.bill, demand.count);
        if let Some(sequence) = &self.sequence {
            demand.turns.borrow_mut().push(sequence.begin_next());
        }
        // Only changed under the lock.
        self.launched.store(after, Ordering::Release);
        true
    }

    /// Puts a refusal into words; no lock is held.
    #[cold]
    pub(crate) fn explain(&self, no: &No<R>, demand: &Demand<'_, MI, R>) -> LaunchError {
        let (bill, quote) = (demand.bill, demand.quote);
        let (spent, cap) = match (no, &self.cap) {
            (No::Over(spent), Some(cap)) => (spent, cap),
            (No::Full, _) => return LaunchError::LedgerFull,
            (No::Moved, _) => return LaunchError::Contended,
            (No::Contradiction, _) => return contradiction(),
            (No::Halted | No::Over(_), _) => {
                return LaunchError::Halted {
                    account: self.label.to_string(),
                };
            }
        };
        let refusal = || {
            let remaining = self.rule.remaining(&cap.gate, spent);
            let spent = self.rule.spent(&cap.gate, spent);
            self.refusal(
                bill.description(),
                &cap.d_in,
                &cap.limit,
                quote,
                remaining,
                &spent,
            )
        };
        self.ruled(refusal).map_or_else(
            |error| error,
            |refusal| LaunchError::Refused(Box::new(refusal)),
        )
    }

    pub(crate) fn refusal(
        &self,
        description: &Description,
        d_in: &MI::Distance,
        limit: &TotalLoss<R>,
        quote: Option<&Quote<Loss<R>>>,
        remaining: Option<Loss<R>>,
        spent: &Total<TotalLoss<R>>,
    ) -> Refusal {
        let asked = quote.and_then(Quote::leaf);
        Refusal {
            account: self.label.to_string(),
            measure: format!("{:?}", self.rule.total()),
            launch: description.to_string(),
            d_in: d_in.to_string(),
            asked: asked.map_or_else(String::new, ToString::to_string),
            spent: spent.to_string(),
            remaining: remaining.map(|loss| loss.shown_down()),
            limit: limit.shown_down(),
        }
    }

    /// Asks the rule, which may be somebody's code: it may use no session, and its panics are caught.
    #[inline]
    pub(crate) fn ruled<X>(&self, ask: impl FnOnce() -> X) -> Result<X, LaunchError> {
        guarded(ask).map_err(|_| LaunchError::RulePanicked {
            account: self.label.to_string(),
        })
    }

    /// What one more launch could cost within the cap, if there is one at this distance: `Some(None)` if nothing is
    /// admitted any more, or the rule cannot tell.
    pub(crate) fn remaining(
        &self,
        d_in: &MI::Distance,
    ) -> Result<Option<Option<Loss<R>>>, LaunchError> {
        self.ruled(|| {
            let cap = self.cap.as_ref().filter(|cap| cap.d_in == *d_in)?;
            let spent = {
                let book = lock(&self.book);
                (!book.halted).then(|| book.spent.total().clone())
            };
            Some(spent.and_then(|spent| self.rule.remaining(&cap.gate, &spent)))
        })
    }

    /// How much of the cap has been spent.
    pub(crate) fn spent(&self) -> Result<Option<Total<TotalLoss<R>>>, LaunchError> {
        self.ruled(|| {
            let cap = self.cap.as_ref()?;
            let spent = lock(&self.book).spent.total().clone();
            Some(self.rule.spent(&cap.gate, &spent))
        })
    }

    /// Has the halting form refused?
    pub(crate) fn has_halted(&self) -> bool {
        lock(&self.book).halted
    }

    pub(crate) fn halt(&self) {
        lock(&self.book).halted = true;
    }

    /// Everything that was launched, in order, each run with its count.
    pub(crate) fn launches(&self) -> Vec<(Arc<Description>, u64)> {
        let book = lock(&self.book);
        book.ledger
            .runs()
            .map(|(bill, count)| (Arc::clone(bill.description()), count))
            .collect()
    }

    /// A few runs of the ledger: the numbers of their bills, and counts; the bills that are not `known`; and where they
    /// end.
    pub(crate) fn batch(&self, from: Position, known: impl Fn(u32) -> bool) -> Batch<MI, R> {
        let book = lock(&self.book);
        let (runs, to) = book.ledger.after(from, BATCH);
        let mut batch = Batch {
            runs: Vec::with_capacity(BATCH),
            unknown: Vec::new(),
            to,
        };
        for (number, count) in runs {
            batch.runs.push((number, count));
            if !known(number) {
                batch
                    .unknown
                    .push((number, book.ledger.bill(number).clone()));
            }
        }
        batch
    }
}

/// Some runs of the ledger.
pub(crate) struct Batch<MI: Metric, R: FilterRule> {
    pub(crate) runs: Vec<(u32, u64)>,
    pub(crate) unknown: Vec<(u32, Bill<MI, Child<R>>)>,
    pub(crate) to: Position,
}

pub(crate) fn contradiction() -> LaunchError {
    let why = "a stability map gives other distances than it gave before; maps must not change";
    LaunchError::Unsupported(why.into())
}
