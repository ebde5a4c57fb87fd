//! Launches on a journal. The layer wraps an [`Admission`]: the record is prepared with nothing
//! locked, and enters the queue where all accounts have agreed. Its wait holds no account's lock and
//! no write lease, but the turn locks of sequential accounts. One launch is a group of one.

use measures::{Metric, Tallied};

use crate::{
    account::admission::{Admission, Admitted, Kind, Staging, TurnLocks},
    account::cost::Cost,
    account::opening::Journaled,
    account::{Account, Payer as _},
    error::LaunchError,
    journal::{
        Books, ChargeRecord, Drafted, Halt, JournalError, Opening, Posting, Record, Written,
    },
    measurement::Description,
    sync::{MutexGuard, lock},
};

/// A prepared launch on a journal: nothing is locked.
pub(crate) struct Durable<'a> {
    books: &'a Books,
    admission: Admission<'a>,
    records: Records,
}

/// The records that a launch may stage.
struct Records {
    charge: Drafted,
    /// For each account that may halt: the number of its step, and the record of that.
    halts: Vec<(usize, Drafted)>,
    /// The halt that was staged.
    halted: Option<Drafted>,
}

/// A launch that was charged and recorded, and may run.
pub(crate) struct Charged<'a> {
    pub(crate) admitted: Admitted,
    pub(crate) written: Written,
    pub(crate) turn_locks: TurnLocks<'a>,
}

/// The parts of a record that are not costs.
#[derive(Default)]
pub(crate) struct Request {
    /// The analyst's key for this launch.
    pub(crate) key: Option<String>,
    /// The account of the filter that is launched.
    pub(crate) opens: Option<Opening>,
}

impl Staging for Records {
    fn charge(&mut self) -> Result<(), JournalError> {
        self.charge.stage()
    }

    fn halt(&mut self, step: usize) -> Result<(), JournalError> {
        let found = self.halts.iter().position(|(at, _)| *at == step);
        if let Some(at) = found {
            // An error leaves the draft here: it is dropped when nothing is locked.
            self.halts[at].1.stage()?;
            self.halted = Some(self.halts.swap_remove(at).1);
        }
        Ok(())
    }
}

impl<'a> Durable<'a> {
    /// Prepares a launch, and its records. Maps are asked, so nothing may be locked.
    ///
    /// # Errors
    /// [`LaunchError`]; for a key that is there already it waits until that record is written.
    pub(crate) fn prepare<MI: Metric, R: Tallied>(
        account: &'a Account<MI, R>,
        cost: &'a Cost<MI, R::Child>,
        kind: Kind,
        request: Request,
    ) -> Result<Self, LaunchError> {
        let books = &account.journaled().ok_or_else(not_on_a_ledger)?.books;
        let admission = Admission::prepare(account, cost)?;
        let (mut postings, mut halts) = (Vec::new(), Vec::new());
        for (at, step) in admission.steps().iter().enumerate() {
            let Some(posting) = step.posting()? else {
                continue;
            };
            if kind.halts() && step.is_halting() {
                let account = posting.account;
                halts.push((
                    at,
                    books.draft(
                        Halt {
                            account,
                            reason: None,
                        }
                        .into(),
                    )?,
                ));
            }
            postings.push(posting);
        }
        let charge = books.draft(charge(cost.description(), request, postings));
        Ok(Self {
            admission,
            records: Records {
                charge: charge.map_err(|error| refused(books, error.into(), None))?,
                halts,
                halted: None,
            },
            books,
        })
    }

    /// Takes the turn locks of sequential accounts, from the leaf to the root.
    fn turn_locks(&self) -> TurnLocks<'a> {
        let steps = self.admission.steps().iter();
        steps.filter_map(|step| step.turn_lock()).collect()
    }

    /// Admits the launch and stages its record, under a write lease if the journal has one.
    fn stage(mut self, kind: Kind) -> Staged<'a> {
        let admitted = self.admission.admit(kind, &mut self.records);
        Staged {
            books: self.books,
            admitted,
            records: self.records,
        }
    }

    /// Charges a prepared launch, and waits for its record.
    ///
    /// # Errors
    /// [`LaunchError`]: nothing was charged, unless it [was](LaunchError::was_charged).
    pub(crate) fn charge(self, kind: Kind) -> Result<Charged<'a>, LaunchError> {
        let books = self.books;
        let turn_locks = self.turn_locks();
        let charged = charge_all(books, vec![Ok(self)], kind).pop();
        let (admitted, written) = charged.unwrap_or(Err(LaunchError::Contended))?;
        Ok(Charged {
            admitted,
            written,
            turn_locks,
        })
    }
}

/// Charges prepared launches in order, under one write lease, and waits for all records.
pub(crate) fn charge_all<'a>(
    books: &'a Books,
    prepared: Vec<Result<Durable<'a>, LaunchError>>,
    kind: Kind,
) -> Vec<Result<(Admitted, Written), LaunchError>> {
    let lease = match books.enter() {
        Ok(lease) => lease,
        Err(error) => return prepared.iter().map(|_| Err(error.clone().into())).collect(),
    };
    let stage = |prepared: Result<Durable<'a>, LaunchError>| Ok(prepared?.stage(kind));
    let staged: Vec<Result<Staged<'a>, LaunchError>> = prepared.into_iter().map(stage).collect();
    drop(lease);
    let wait = |staged: Result<Staged<'a>, LaunchError>| staged?.wait();
    staged.into_iter().map(wait).collect()
}

/// A launch whose record was staged, or that was refused.
struct Staged<'a> {
    books: &'a Books,
    admitted: Result<Admitted, LaunchError>,
    records: Records,
}

impl Staged<'_> {
    /// Waits for the record, with no account locked and without a write lease. The caller may hold
    /// turn locks.
    fn wait(self) -> Result<(Admitted, Written), LaunchError> {
        let Records { charge, halted, .. } = self.records;
        match self.admitted {
            Ok(admitted) => {
                let written = charge.wait().map_err(LaunchError::in_doubt)?;
                Ok((admitted, written))
            }
            Err(error) => Err(refused(self.books, error, halted)),
        }
    }
}

/// The error of a launch that was refused. No caller learns of a halt, or of another launch with the
/// same key, before that is written.
fn refused(books: &Books, error: LaunchError, halted: Option<Drafted>) -> LaunchError {
    let tells_of_a_record = matches!(
        error,
        LaunchError::Halted { .. } | LaunchError::AlreadyCharged { .. }
    );
    let written = match halted {
        Some(halt) => halt.wait().map(drop),
        None if tells_of_a_record => books.flush(),
        None => Ok(()),
    };
    written.err().map_or(error, LaunchError::from)
}

fn charge(description: &Description, request: Request, postings: Vec<Posting>) -> Record {
    ChargeRecord {
        description: description.clone(),
        key: request.key,
        postings,
        opens: request.opens,
    }
    .into()
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// The turn lock of this account, if it is sequential and on a journal.
    pub(super) fn turn_lock(&self) -> Option<MutexGuard<'_, ()>> {
        match (&self.journaled, &self.sequence) {
            (Some(journaled), Some(_)) => Some(lock(&journaled.turn_lock)),
            _ => None,
        }
    }

    /// How something runs again that was charged before: it may answer as many messages as at its
    /// launch. Not below a sequential account, where its turn has passed.
    pub(crate) fn resumed(&self, on: &Journaled<MI>) -> Result<Admitted, JournalError> {
        if self.is_sequential() {
            let why = "below a sequential account, the turn of a filter ends with the process";
            return Err(JournalError::Unsupported(why.into()));
        }
        Ok(Admitted {
            turns: Vec::new(),
            messages: on.messages,
        })
    }
}

pub(crate) fn not_on_a_ledger() -> LaunchError {
    let why = "the session is on no ledger: open it with `open_on` or `filter_on`";
    JournalError::Unsupported(why.into()).into()
}
