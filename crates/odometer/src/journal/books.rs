//! A journal, and the accounts that are open on it in this process.

use std::{
    any::Any,
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
};

use fork_count::Process;
use queryable::{AskError, Root, guarded};

use crate::{
    account::cost::GroupId,
    error::OpenError,
    journal::{
        Draft, Event, Journal, JournalError, NewBudget, OpenedPlace, Opening, Past, Path, Place,
        Receipt, Record, Relation, Sitting, Terms, Written,
        news::{self, Informed},
    },
    sync::{Mutex, lock},
};

/// A journal with the sessions that are open on it. Opening a path that is open gives the same account: two accounts of one
/// budget would both spend it. A clone is the same books.
///
/// ```
/// use odometry::measures::{Basic, PrivacyMap, PureDp};
/// use odometry::odometer::journal::{Books, Memory};
/// use odometry::odometer::{Measurement, Odometer, Records};
/// let records = Records::<i64>::new();
/// let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.4")?, |_, _| Ok(42));
/// let organisation = Odometer::new(records, Basic::new(PureDp)).named("the organisation");
///
/// let journal = Memory::new(); // yours is on disk
/// let session = organisation.filter_on(&Books::new(journal.clone()), 1, "1", vec![1, 2, 3])?;
/// session.launch(&query)?; // written down before it ran
/// drop(session);
///
/// let again = Books::new(Memory::replaying(&journal.records())?);
/// let session = organisation.filter_on(&again, 1, "1", vec![1, 2, 3])?;
/// assert_eq!(session.remaining(1)?, Some("0.6".parse()?)); // a restart refunds nothing
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Books(Arc<Inner>);

struct Inner {
    journal: Box<dyn Journal>,
    /// Whose accounts these are: a forked process has copies of them, and would spend their budgets again.
    process: Process,
    /// Coins for tests; otherwise the operating system's.
    coins: Option<Root>,
    open: Mutex<HashMap<Place, Weak<dyn Informed>>>,
    groups: Mutex<HashMap<Place, GroupId>>,
    /// Why nothing is written any more.
    closed: Mutex<Option<String>>,
}

impl Books {
    /// The books of this journal. It is taken whole: two books of one journal would spend its budgets twice.
    pub fn new(journal: impl Journal) -> Self {
        Self::with_coins(Box::new(journal), None)
    }

    /// Books whose sessions draw from this root. **Only for tests:** after a restart a seeded root gives the same noise again,
    /// and whoever has both answers has the data.
    pub fn with_repeated_coins_for_tests(journal: impl Journal, root: &Root) -> Self {
        Self::with_coins(Box::new(journal), Some(root.clone()))
    }

    fn with_coins(journal: Box<dyn Journal>, coins: Option<Root>) -> Self {
        Self(Arc::new(Inner {
            journal,
            process: Process::current(),
            coins,
            open: Mutex::new(HashMap::new()),
            groups: Mutex::new(HashMap::new()),
            closed: Mutex::new(None),
        }))
    }

    /// Coins for a root session. Asked before anything is locked, and by nobody in a forked process.
    pub(crate) fn root(&self) -> Result<Root, AskError> {
        if !self.0.process.is_current() {
            return Err(AskError::Forked);
        }
        match &self.0.coins {
            Some(root) => Ok(root.clone()),
            None => Root::from_os(),
        }
    }

    /// The partition at this place, for accounts.
    pub(crate) fn group(&self, place: Place) -> GroupId {
        let mut groups = lock(&self.0.groups);
        groups
            .entry(place)
            .or_insert_with(|| GroupId::at(place))
            .clone()
    }

    /// Do other processes write, too?
    pub(crate) fn is_shared(&self) -> bool {
        guarded(|| self.0.journal.has_other_writers()).unwrap_or(true)
    }

    /// Turns cannot be ended in another process.
    pub(crate) fn check_turns(&self, sequential: bool, name: &str) -> Result<(), JournalError> {
        if !sequential || !self.is_shared() {
            return Ok(());
        }
        let why = format!(
            "{name} is sequential, and other processes write to this ledger: a turn cannot be ended in another process. Take a \
             rule for concurrent composition, or a ledger of this process alone"
        );
        Err(JournalError::Unsupported(why))
    }

    /// Enters a sitting: until it is left, what is open here is up to date.
    pub(crate) fn enter(&self) -> Result<Entered<'_>, JournalError> {
        let tell = &mut |records: &[Record]| news::tell(self, records);
        Ok(Entered {
            sitting: self.ask(|journal| journal.enter(tell))?,
            books: self,
        })
    }

    /// Does something in a [sitting](Sitting): what is open here is up to date with all other processes, and nobody else writes
    /// meanwhile. No session can be used in it.
    ///
    /// # Errors
    /// As [`Journal::enter`].
    pub fn sitting<X>(&self, act: impl FnOnce() -> X) -> Result<X, JournalError> {
        let _sitting = self.enter()?;
        guarded(act).map_err(|_| self.close("it panicked"))
    }

    /// What is open at these places.
    pub(super) fn open_at(
        &self,
        places: impl Iterator<Item = Place>,
    ) -> Vec<(Place, Arc<dyn Informed>)> {
        let open = lock(&self.0.open);
        let there = |place: Place| Some((place, open.get(&place)?.upgrade()?));
        places.filter_map(there).collect()
    }

    /// What is open at a place, or what `make` makes of its past.
    pub(crate) fn open<T: Informed>(
        &self,
        opening: &Opening,
        make: impl FnOnce(Place, Past) -> Result<T, OpenError>,
    ) -> Result<Arc<T>, OpenError> {
        let sitting = self.enter()?;
        let opened = self.open_sitting(opening, make);
        drop(sitting);
        let (made, draft) = opened?;
        self.written(draft)?;
        Ok(made)
    }

    /// Looked for, made and noted as one step: nothing can be charged to it in between.
    fn open_sitting<T: Informed>(
        &self,
        opening: &Opening,
        make: impl FnOnce(Place, Past) -> Result<T, OpenError>,
    ) -> Result<(Arc<T>, New), OpenError> {
        let mut open = lock(&self.0.open);
        let OpenedPlace { place, past, draft } = match is_reserved(opening) {
            false => self.ask(|journal| journal.open(opening))?,
            true => self.found(opening)?,
        };
        if let Some(there) = open.get(&place).and_then(Weak::upgrade) {
            // The terms are the same, so the types are, unless somebody gave one name to two things.
            let same_name = || JournalError::NotStorable {
                what: "one of two rules or metrics of the same name".into(),
                method: "`name`, with a name of its own",
            };
            let there: Arc<dyn Any + Send + Sync> = there;
            return Ok((there.downcast().map_err(|_| same_name())?, draft));
        }
        let made = Arc::new(make(place, past)?);
        open.retain(|_, there| there.strong_count() > 0);
        let there: Arc<dyn Informed> = made.clone();
        open.insert(place, Arc::downgrade(&there));
        Ok((made, draft))
    }

    fn found(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        let found = self.ask(|journal| journal.find(opening))?;
        let (place, past) = found.ok_or_else(never_launched)?;
        let draft = None;
        Ok(OpenedPlace { place, past, draft })
    }

    /// Waits until a place is written down, if it is new.
    fn written(&self, draft: New) -> Result<(), JournalError> {
        let wait = |draft| Drafted::new(self, draft).wait().map(drop);
        draft.map_or(Ok(()), wait)
    }

    /// Was it launched before, with these terms?
    pub(crate) fn launched(&self, opening: &Opening) -> Result<(), JournalError> {
        let _sitting = self.enter()?;
        self.found(opening).map(drop)
    }

    /// The place of something that is nothing in this process, such as a partition.
    pub(crate) fn place(&self, opening: &Opening) -> Result<Place, JournalError> {
        let sitting = self.enter()?;
        let opened = self.ask(|journal| journal.open(opening));
        drop(sitting);
        let OpenedPlace { place, draft, .. } = opened?;
        self.written(draft)?;
        Ok(place)
    }

    /// Writes another budget down, which [`State::new_budget`](crate::journal::State::new_budget) has made. An account that is
    /// open admits launches by the budget that it knows, so it must be closed: it is opened again with the new one.
    ///
    /// # Errors
    /// [`JournalError::InUse`] if the account is open; [`JournalError::Damaged`] if its budget is not what the record says.
    pub fn change_budget(&self, path: &Path, new: NewBudget) -> Result<Receipt, JournalError> {
        let account = new.account;
        let mut draft = self.draft(Event::Budget(new).into())?;
        let sitting = self.enter()?;
        let open = lock(&self.0.open);
        if open.get(&account).and_then(Weak::upgrade).is_some() {
            let path = path.to_string();
            return Err(JournalError::InUse { path });
        }
        // Staged as one step with the look: whoever opens the account from now on sees the new budget.
        let staged = draft.stage();
        drop(open);
        drop(sitting);
        staged?;
        Ok(draft.wait()?.receipt)
    }

    pub(crate) fn draft(&self, record: Record) -> Result<Drafted, JournalError> {
        let draft = self.ask(|journal| journal.draft(record))?;
        Ok(Drafted::new(self, draft))
    }

    /// Waits until everything that was staged is written down.
    pub(crate) fn flush(&self) -> Result<(), JournalError> {
        self.ask(|journal| journal.flush())
    }

    /// Journals are somebody's code. One that panics writes nothing any more.
    fn ask<X>(
        &self,
        ask: impl FnOnce(&dyn Journal) -> Result<X, JournalError>,
    ) -> Result<X, JournalError> {
        if let Some(reason) = lock(&self.0.closed).clone() {
            return Err(JournalError::Closed { reason });
        }
        match guarded(|| ask(&*self.0.journal)) {
            Ok(answer) => answer,
            Err(_) => Err(self.close("it panicked")),
        }
    }

    /// Nothing is written from now on.
    #[cold]
    pub(super) fn close(&self, reason: &str) -> JournalError {
        let mut closed = lock(&self.0.closed);
        let reason = closed.get_or_insert_with(|| reason.into()).clone();
        JournalError::Closed { reason }
    }
}

/// A filter or a compositor is opened by its launch, which is charged for it, and by nothing else.
fn is_reserved(opening: &Opening) -> bool {
    match &opening.terms {
        Terms::Account(terms) => terms.relation == Relation::Reserved,
        Terms::Compositor(_) => true,
        Terms::Partition(_) => false,
    }
}

fn never_launched() -> JournalError {
    let why = "nothing of this name was launched here: launch it, and resume it after a restart";
    JournalError::Unsupported(why.into())
}

/// The record that opens a place, if it is new.
type New = Option<Box<dyn Draft>>;

/// Whoever is in a sitting, if there are any. It is left when this is dropped.
pub(crate) struct Entered<'a> {
    sitting: Option<Box<dyn Sitting>>,
    books: &'a Books,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Some(sitting) = self.sitting.take()
            && guarded(|| sitting.leave()).is_err()
        {
            self.books.close("it panicked");
        }
    }
}

/// A draft that closes the books when it is in doubt.
pub(crate) struct Drafted {
    books: Books,
    draft: Box<dyn Draft>,
    /// Why it is in doubt since it was staged.
    doubt: Option<JournalError>,
}

impl Drafted {
    fn new(books: &Books, draft: Box<dyn Draft>) -> Self {
        Self {
            books: books.clone(),
            draft,
            doubt: None,
        }
    }

    /// Stages it, under the accounts' locks. A draft that panics may be in the queue nevertheless:
    /// it counts as staged, nothing is written after it, and [`wait`](Self::wait) returns the
    /// error.
    pub(crate) fn stage(&mut self) -> Result<(), JournalError> {
        // Another launch may be in doubt since this was drafted.
        if let Some(reason) = lock(&self.books.0.closed).clone() {
            return Err(JournalError::Closed { reason });
        }
        match guarded(|| self.draft.stage()) {
            Ok(staged) => staged,
            Err(_) => {
                self.doubt = Some(self.books.close("it panicked"));
                Ok(())
            }
        }
    }

    /// Waits until it is written. Any error leaves it in doubt.
    pub(crate) fn wait(self) -> Result<Written, JournalError> {
        let Self {
            books,
            draft,
            doubt,
        } = self;
        if let Some(doubt) = doubt {
            let _ = guarded(|| drop(draft));
            return Err(doubt);
        }
        match guarded(|| draft.wait()) {
            Ok(Ok(written)) => Ok(written),
            Ok(Err(error)) => {
                books.close("a record is in doubt");
                Err(error)
            }
            Err(_) => Err(books.close("it panicked")),
        }
    }
}

impl fmt::Debug for Books {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Books")
    }
}
