//! Launches that are written down before they run. What is written is collected on the way up, with nothing locked; it is
//! staged where all accounts have agreed, under their locks; and waited for when nothing is locked any more.

use std::{
    any::Any,
    cell::{Cell, OnceCell, RefCell},
    collections::VecDeque,
    sync::Arc,
};

use measures::{Metric, Tallied};

use crate::{
    account::Account,
    account::ascent::{Kind, Launch, Settled, Terms},
    account::bill::{Bill, Quote},
    account::journaled::Journaled,
    error::LaunchError,
    journal::{Books, ChargeRecord, Drafted, Entered, Halt, JournalError, Opening, Place, Posting},
    measurement::Description,
    sync::MutexGuard,
};

/// What is written down of a launch on its way up.
pub(crate) struct Drafting<'a> {
    books: &'a Books,
    settlement: Cell<Option<ChargeRecord>>,
    draft: RefCell<Option<Drafted>>,
    /// What is written down if an account halts.
    halts: RefCell<Vec<(Place, Drafted)>>,
    halted: RefCell<Option<Result<Drafted, JournalError>>>,
    way: Way,
    /// The prices that were asked for before a sitting, in order.
    quotes: RefCell<VecDeque<Box<dyn Any>>>,
}

/// How far a launch goes on this way up.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Into a sitting of its own, and to the end.
    Alone,
    /// To the end, in a sitting that others have entered.
    Together,
    /// Up to the sitting: nobody else waits while maps are asked.
    Before,
    /// From there on: nothing is asked, and nothing is drafted.
    Within,
}

/// What a launch may do when all its postings are there.
pub(super) enum Ready<'a> {
    /// Lock: accounts are up to date while this is kept.
    Now(Option<Entered<'a>>),
    /// Wait for a sitting.
    Later,
}

impl<'a> Drafting<'a> {
    fn new(books: &'a Books, description: &Arc<Description>, wish: Wish, way: Way) -> Self {
        Self {
            books,
            settlement: Cell::new(Some(ChargeRecord {
                description: (**description).clone(),
                key: wish.key,
                postings: Vec::new(),
                opens: wish.opens,
            })),
            draft: RefCell::default(),
            halts: RefCell::default(),
            halted: RefCell::default(),
            way,
            quotes: RefCell::default(),
        }
    }

    /// Keeps a price for the sitting.
    pub(super) fn note<L: Clone + 'static>(&self, quote: Option<&Quote<L>>) {
        if let (Way::Before, Some(quote)) = (self.way, quote) {
            let quote = Box::new(quote.clone());
            self.quotes.borrow_mut().push_back(quote);
        }
    }

    /// What the next account on the way up has asked for before, if it has a price.
    pub(super) fn asked<L: Clone + 'static>(
        drafting: Option<&Self>,
        priced: bool,
    ) -> OnceCell<Quote<L>> {
        let drafting = drafting.filter(|drafting| priced && drafting.way == Way::Within);
        let quote = drafting.and_then(|drafting| drafting.quotes.borrow_mut().pop_front());
        let quote = quote.and_then(|quote| quote.downcast::<Quote<L>>().ok());
        quote.map_or_else(OnceCell::new, |quote| OnceCell::from(*quote))
    }

    fn post(&self, posting: Posting) {
        let mut settlement = self.settlement.take();
        if let Some(settlement) = &mut settlement {
            settlement.postings.push(posting);
        }
        self.settlement.set(settlement);
    }

    /// All postings are there. Nothing is locked yet.
    pub(super) fn ready(&self) -> Result<Ready<'a>, JournalError> {
        if let Some(settlement) = self.settlement.take() {
            let draft = self.books.draft(settlement.into())?;
            self.draft.replace(Some(draft));
        }
        match self.way {
            Way::Alone => self.books.enter().map(|sitting| Ready::Now(Some(sitting))),
            Way::Together | Way::Within => Ok(Ready::Now(None)),
            Way::Before => Ok(Ready::Later),
        }
    }

    /// All accounts have agreed, and are locked.
    pub(super) fn stage(&self) -> Result<(), JournalError> {
        match &mut *self.draft.borrow_mut() {
            Some(draft) => draft.stage(),
            None => Ok(()),
        }
    }

    /// An account halts, and is locked: it is written down before anybody is told.
    fn halt(&self, account: Place) {
        let mut halts = self.halts.borrow_mut();
        let found = halts.iter().position(|(place, _)| *place == account);
        if let Some((_, mut draft)) = found.map(|at| halts.swap_remove(at)) {
            let staged = draft.stage();
            self.halted.replace(Some(staged.map(|()| draft)));
        }
    }
}

/// A launch that was refused. Nobody is told before what that tells is written down.
pub(crate) struct Refusal {
    error: LaunchError,
    halted: Option<Result<Drafted, JournalError>>,
    books: Books,
}

impl Refusal {
    /// Waits, with nothing locked and in no sitting.
    pub(crate) fn told(self) -> LaunchError {
        let told = match self.halted {
            Some(staged) => staged.and_then(Drafted::wait).map(drop),
            // Somebody else has staged what it tells, perhaps only just.
            None if matches!(
                self.error,
                LaunchError::Halted { .. } | LaunchError::AlreadyCharged { .. }
            ) =>
            {
                self.books.flush()
            }
            None => Ok(()),
        };
        told.err().map_or(self.error, LaunchError::from)
    }
}

/// What a launch on a ledger asks for besides.
#[derive(Default)]
pub(crate) struct Wish {
    pub(crate) key: Option<String>,
    /// The account of the filter that is launched.
    pub(crate) opens: Option<Opening>,
}

/// A launch that can be charged together with others, or why not.
pub(crate) type Stageable<'b, MI, M> = Result<(&'b Bill<MI, M>, Wish), LaunchError>;

/// A launch that was charged, and will be written down.
pub(crate) struct Staged {
    pub(crate) terms: Terms,
    pub(crate) draft: Drafted,
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// Settles a launch in this account and all above, and stages it.
    #[cold]
    pub(crate) fn settle_durably(
        &self,
        bill: &Bill<MI, R::Child>,
        kind: Kind,
        wish: Wish,
    ) -> Result<Staged, LaunchError> {
        let settled = match self.journaled() {
            Some(on) => {
                let drafting = Drafting::new(&on.books, bill.description(), wish, Way::Alone);
                self.settle_staged(bill, kind, &drafting)
            }
            None => return Err(unattached()),
        };
        settled.map_err(|refusal| refusal.told())
    }

    /// Settles several launches in order, and stages them together.
    pub(crate) fn settle_all(
        &self,
        on: &Journaled<MI>,
        launches: Vec<Stageable<'_, MI, R::Child>>,
    ) -> Vec<Result<Staged, LaunchError>> {
        let is_shared = on.books.is_shared();
        let drafted = |launch: Stageable<'_, MI, R::Child>| {
            let (bill, wish) = launch?;
            let draft = |way| Drafting::new(&on.books, bill.description(), wish, way);
            let drafting = match is_shared {
                true => self.drafted(bill, draft(Way::Before))?,
                false => draft(Way::Together),
            };
            Ok((bill.clone(), drafting))
        };
        let drafted: Vec<Result<_, LaunchError>> = launches.into_iter().map(drafted).collect();
        let sitting = match on.books.enter() {
            Ok(sitting) => sitting,
            Err(error) => return drafted.iter().map(|_| Err(error.clone().into())).collect(),
        };
        let stage = |drafted: Result<(Bill<MI, R::Child>, Drafting<'_>), LaunchError>| {
            let (bill, drafting) = drafted?;
            Ok(self.settle_staged(&bill, Kind::Plain, &drafting))
        };
        let staged: Vec<_> = drafted.into_iter().map(stage).collect();
        drop(sitting);
        let told = |staged: Result<Result<Staged, Box<Refusal>>, LaunchError>| {
            staged?.map_err(|refusal| refusal.told())
        };
        staged.into_iter().map(told).collect()
    }

    /// Has everybody's map asked, here and everywhere above, and everything written that is to be staged: all that others need not wait
    /// for.
    fn drafted<'a>(
        &self,
        bill: &Bill<MI, R::Child>,
        mut drafting: Drafting<'a>,
    ) -> Result<Drafting<'a>, LaunchError> {
        let launch = Launch::drafted(Kind::Plain, &self.label, &drafting);
        let drafted = self.settle_slowly(bill, &launch, &Cell::new(false));
        drafted.map_err(|error| *error)?;
        drafting.way = Way::Within;
        Ok(drafting)
    }

    fn settle_staged(
        &self,
        bill: &Bill<MI, R::Child>,
        kind: Kind,
        drafting: &Drafting<'_>,
    ) -> Result<Staged, Box<Refusal>> {
        let (launch, agreed) = (
            Launch::drafted(kind, &self.label, drafting),
            Cell::new(false),
        );
        let settled = self.settle_slowly(bill, &launch, &agreed);
        let error = match (settled, drafting.draft.take()) {
            (Err(error), _) if !agreed.get() => *error,
            (_, Some(draft)) => {
                let terms = launch.terms();
                return Ok(Staged { terms, draft });
            }
            (_, None) => unattached(),
        };
        Err(Box::new(Refusal {
            error,
            halted: drafting.halted.take(),
            books: drafting.books.clone(),
        }))
    }

    /// Settles with all prices asked for before anybody locks.
    fn settle_slowly<'l>(
        &'l self,
        bill: &Bill<MI, R::Child>,
        launch: &Launch<'l>,
        agreed: &Cell<bool>,
    ) -> Settled {
        let asked = Drafting::asked(launch.drafting, self.cap().is_some());
        self.settle_above(self.demand(bill, launch, &asked)?, agreed)
    }

    /// What is written down of this account, on the way up.
    pub(super) fn draft(
        &self,
        drafting: &Drafting<'_>,
        bill: &Bill<MI, R::Child>,
        may_halt: bool,
    ) -> Result<(), LaunchError> {
        if drafting.way == Way::Within {
            return Ok(());
        }
        let Some(posting) = self.posting(bill)? else {
            return Ok(());
        };
        let account = posting.account;
        if may_halt && self.cap().is_some_and(|cap| cap.halting) {
            let draft = drafting.books.draft(
                Halt {
                    account,
                    reason: None,
                }
                .into(),
            )?;
            drafting.halts.borrow_mut().push((account, draft));
        }
        drafting.post(posting);
        Ok(())
    }

    /// This account has halted, and is locked.
    #[cold]
    pub(super) fn halt_durably(&self, drafting: &Drafting<'_>) {
        if let Some(journaled) = self.journaled() {
            drafting.halt(journaled.place);
        }
    }

    /// The gates of this account and all above.
    pub(crate) fn gates(&self) -> Vec<MutexGuard<'_, ()>> {
        let mut gates = Vec::new();
        crate::account::settling::Payer::pass(self, &mut gates);
        gates
    }

    /// On which terms something runs again that was charged before: it may answer as many messages as at its launch. Not below
    /// a sequential account, where its turn has passed.
    pub(crate) fn resumed(&self, on: &Journaled<MI>) -> Result<Terms, JournalError> {
        if !self.gates().is_empty() {
            let why = "below a sequential account, the turn of a filter ends with the process";
            return Err(JournalError::Unsupported(why.into()));
        }
        Ok(Terms {
            turns: Vec::new(),
            messages: on.messages,
        })
    }
}

pub(crate) fn unattached() -> LaunchError {
    let why = "the session is on no ledger: open it with `open_on` or `filter_on`";
    JournalError::Unsupported(why.into()).into()
}
