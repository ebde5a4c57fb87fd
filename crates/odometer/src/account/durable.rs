//! Launches that are written down before they run. What is written is collected on the way up, with nothing locked; it is
//! staged where all accounts have agreed, under their locks; and waited for when nothing is locked any more.

use std::{
    cell::{Cell, OnceCell, RefCell},
    sync::Arc,
};

use measures::{Metric, Tallied};

use crate::{
    account::Account,
    account::ascent::{Kind, Launch, Settled, Terms},
    account::bill::Bill,
    error::LaunchError,
    journal::{Books, Drafted, JournalError, Opening, Place, Posting, Record, Settlement},
    measurement::Description,
    sync::MutexGuard,
};

/// What is written down of a launch on its way up.
pub(crate) struct Drafting<'a> {
    books: &'a Books,
    settlement: Cell<Option<Settlement>>,
    draft: RefCell<Option<Drafted>>,
    /// What is written down if an account halts.
    halts: RefCell<Vec<(Place, Drafted)>>,
    halted: RefCell<Option<Result<Drafted, JournalError>>>,
}

impl<'a> Drafting<'a> {
    fn new(books: &'a Books, description: &Arc<Description>, wish: Wish) -> Self {
        Self {
            books,
            settlement: Cell::new(Some(Settlement {
                description: (**description).clone(),
                key: wish.key,
                postings: Vec::new(),
                opens: wish.opens,
            })),
            draft: RefCell::default(),
            halts: RefCell::default(),
            halted: RefCell::default(),
        }
    }

    fn post(&self, posting: Posting) {
        let mut settlement = self.settlement.take();
        if let Some(settlement) = &mut settlement {
            settlement.postings.push(posting);
        }
        self.settlement.set(settlement);
    }

    /// All postings are there.
    pub(super) fn ready(&self) -> Result<(), JournalError> {
        if let Some(settlement) = self.settlement.take() {
            let draft = self.books.draft(Record::Charge(settlement))?;
            self.draft.replace(Some(draft));
        }
        Ok(())
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

    /// The launch was refused. What it tells is written down first.
    fn refused(&self, error: LaunchError) -> LaunchError {
        let told = match self.halted.take() {
            Some(staged) => staged.and_then(Drafted::wait).map(drop),
            // Somebody else has staged what it tells, perhaps only just.
            None if matches!(
                error,
                LaunchError::Halted { .. } | LaunchError::AlreadyCharged { .. }
            ) =>
            {
                self.books.flush()
            }
            None => Ok(()),
        };
        told.err().map_or(error, LaunchError::from)
    }
}

/// What a launch on a ledger asks for besides.
#[derive(Default)]
pub(crate) struct Wish {
    pub(crate) key: Option<String>,
    /// The account of the filter that is launched.
    pub(crate) opens: Option<Opening>,
}

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
        let Some(journaled) = self.journaled() else {
            return Err(unattached());
        };
        let drafting = Drafting::new(&journaled.books, bill.description(), wish);
        let (launch, agreed) = (
            Launch::drafted(kind, &self.label, &drafting),
            Cell::new(false),
        );
        let settled = self.settle_slowly(bill, &launch, &agreed);
        let terms = match settled {
            Err(error) if !agreed.get() => return Err(drafting.refused(*error)),
            _ => launch.terms(),
        };
        let draft = drafting.draft.take().ok_or_else(unattached)?;
        Ok(Staged { terms, draft })
    }

    /// Settles with all prices asked for before anybody locks.
    fn settle_slowly<'l>(
        &'l self,
        bill: &Bill<MI, R::Child>,
        launch: &Launch<'l>,
        agreed: &Cell<bool>,
    ) -> Settled {
        let asked = OnceCell::new();
        self.settle_above(self.demand(bill, launch, &asked)?, agreed)
    }

    /// What is written down of this account, on the way up.
    pub(super) fn draft(
        &self,
        drafting: &Drafting<'_>,
        bill: &Bill<MI, R::Child>,
        may_halt: bool,
    ) -> Result<(), LaunchError> {
        let Some(posting) = self.posting(bill)? else {
            return Ok(());
        };
        let account = posting.account;
        if may_halt && self.cap().is_some_and(|cap| cap.halting) {
            let draft = drafting.books.draft(Record::Halt { account })?;
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
}

pub(crate) fn unattached() -> LaunchError {
    let why = "the session is on no ledger: open it with `open_on` or `filter_on`";
    JournalError::Unsupported(why.into()).into()
}
