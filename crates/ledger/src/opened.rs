//! A ledger: a journal on a store.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use odometer::journal::{Books, Journal as _, JournalError, Receipt, Record, State};

use crate::{
    anchor, codec,
    error::LedgerError,
    export::{self, ExportError},
    frame::{Kind, Unchained},
    journal::Writer,
    keys::Keys,
    log::Log,
    options::LedgerOptions,
    replay,
    sittings::Sittings,
    store::{Hazard, SharedStore, Store},
    sync::{Mutex, lock},
};

/// A ledger on which sessions are opened. A clone is the same ledger.
///
/// ```
/// use odometry::{ledger::Ledger, prelude::*};
///
/// # let path = std::env::temp_dir().join(format!("odometry-doc-{}.redb", std::process::id()));
/// # let _ = std::fs::remove_file(&path);
/// let people = Records::<bool>::new();
/// let organisation = Odometer::new(people, Basic::new(PureDp)).named("the organisation");
/// let anybody = Measurement::new("anybody", people, PrivacyMap::per_record(PureDp, "1")?, |_, _| Ok(true)); // yours adds noise
///
/// let ledger = Ledger::open(&path)?; // begun, if there is no such file
/// let session = organisation.filter_on(ledger.books(), 1, "3", vec![true])?; // new, or where it was
/// session.launch(&anybody)?; // durable before it ran
/// drop((session, ledger)); // or the process is killed
///
/// let ledger = Ledger::open(&path)?;
/// let session = organisation.filter_on(ledger.books(), 1, "3", vec![true])?;
/// assert_eq!(session.remaining(1)?, Some("2".parse()?)); // nothing is refunded
/// # drop((session, ledger));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Ledger {
    inner: Arc<Inner>,
    books: Books,
}

pub(crate) struct Inner {
    pub(crate) log: Log,
    /// Locked before the log is, and never while something is waited for.
    pub(crate) book: Mutex<Book>,
    /// Locked while it is written: two writers would mix their lines, or the older one would come last.
    pub(crate) anchor: Option<Mutex<Anchoring>>,
    /// If other processes write, too: nothing is staged but in one of these.
    pub(crate) sittings: Option<Sittings>,
}

/// A receipt that is kept elsewhere.
pub(crate) struct Anchoring {
    pub(crate) path: PathBuf,
    /// After how many records it is written again.
    pub(crate) every: u64,
    /// The number of the record that it is of.
    pub(crate) written: u64,
}

impl Anchoring {
    /// Never over a newer one: another process may have written that.
    fn write(&mut self, head: &Receipt) -> io::Result<()> {
        let there = anchor::read(&self.path)?.map(|anchor| anchor.seq);
        if there.is_none_or(|seq| seq < head.seq) {
            anchor::write(&self.path, head)?;
        }
        self.written = head.seq.max(there.unwrap_or(0));
        Ok(())
    }
}

impl Inner {
    /// Writes the anchor again, if it is far behind; something was just made durable, and nothing is locked. If that fails, the
    /// charge stands all the same: the next one tries again, and so does whoever closes the ledger.
    pub(crate) fn anchor_if_due(&self) {
        if let Some(anchor) = &self.anchor
            && let Ok(mut anchoring) = anchor.try_lock()
        {
            let head = self.log.head();
            if head.seq >= anchoring.written.saturating_add(anchoring.every) {
                let _ = anchoring.write(&head);
            }
        }
    }
}

/// What has been staged so far amounts to this.
pub(crate) struct Book {
    pub(crate) state: State,
    pub(crate) keys: Keys,
    /// How many records there are after the last checkpoint.
    pub(crate) since: u64,
}

/// PostgreSQL takes a gigabyte in one message.
const MOST_ON_A_SERVER: usize = 1 << 29;

/// A ledger that is closed with more records than this after its last checkpoint gets a new one.
const MANY: u64 = 10_000;

impl Ledger {
    /// Opens the ledger in this file, or begins one if there is no such file. Everything is replayed, its chain is checked, and
    /// every checkpoint is compared with the records before it. [`LedgerOptions`] has ways that are quicker.
    ///
    /// # Errors
    /// [`LedgerError`]: the file is in use, is no ledger, is damaged, was written by a newer program.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LedgerError> {
        LedgerOptions::new().open(path)
    }

    /// The same, with an anchor in another file, which should be on another machine: a ledger that is older than it is
    /// refused, and a checkpoint that it covers is believed. See [`LedgerOptions::anchored`].
    ///
    /// # Errors
    /// [`LedgerError`]; [`LedgerError::Anchor`] if an old copy was put back.
    pub fn open_anchored(
        path: impl AsRef<Path>,
        anchor: impl Into<PathBuf>,
    ) -> Result<Self, LedgerError> {
        LedgerOptions::new().anchored(anchor).open(path)
    }

    /// Opens the ledger in another store, which has been begun, and checks it against an anchor in this file.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn on(store: Box<dyn Store>, anchor: Option<PathBuf>) -> Result<Self, LedgerError> {
        let options = LedgerOptions::new();
        match anchor {
            Some(anchor) => options.anchored(anchor).on(store),
            None => options.on(store),
        }
    }

    pub(crate) fn new(inner: Arc<Inner>, books: Books) -> Self {
        Self { inner, books }
    }

    /// What sessions are opened on: [`Odometer::filter_on`](odometer::Odometer::filter_on) and
    /// [`open_on`](odometer::Odometer::open_on). There is one for a ledger, so that a path is one account.
    pub fn books(&self) -> &Books {
        &self.books
    }

    #[cfg(test)]
    pub(crate) fn inner(&self) -> Arc<Inner> {
        self.inner.clone()
    }

    /// Where what was charged could be lost all the same: show them to whoever runs the server.
    pub fn hazards(&self) -> &[Hazard] {
        let shared = self.inner.log.store().shared();
        shared.map_or(&[], SharedStore::hazards)
    }

    /// The last durable record.
    pub fn head(&self) -> Receipt {
        self.inner.log.head()
    }

    /// Reads what other processes have written since: what is left, shown and asked is as of now. (Launches do so by
    /// themselves.) Nothing happens where nobody else writes.
    ///
    /// # Errors
    /// [`LedgerError::Journal`].
    pub fn refresh(&self) -> Result<(), LedgerError> {
        Ok(self.books.sitting(|| ())?)
    }

    /// Everything that was charged, as far as this process knows: see [`refresh`](Self::refresh).
    pub fn state(&self) -> State {
        lock(&self.inner.book).state.clone()
    }

    /// Reads everything again: every hash, both indices, and whether every checkpoint is what the records before it amount
    /// to. The answer is the last durable record.
    ///
    /// # Errors
    /// [`LedgerError`], with the first record that is wrong.
    pub fn verify(&self) -> Result<Receipt, LedgerError> {
        Ok(replay::verified(self.inner.log.store())?.head)
    }

    /// Writes the state of all accounts down, so that opening the ledger takes as long as replaying what comes later.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn checkpoint(&self) -> Result<Receipt, LedgerError> {
        let ticket = self.books.sitting(|| {
            let mut book = lock(&self.inner.book);
            let full = |reason: String| JournalError::Full { reason };
            let body = codec::checkpoint(&book.state).map_err(full)?;
            if self.inner.sittings.is_some() && body.len() > MOST_ON_A_SERVER {
                return Err(full("a server takes no checkpoint as long as this".into()).into());
            }
            let draft = Unchained::new(Kind::Checkpoint, &[], &body);
            let ticket = self
                .inner
                .log
                .stage(draft.map_err(|error| full(error.to_string()))?)?;
            book.since = 0;
            Ok::<_, LedgerError>(ticket)
        })??;
        let receipt = self.inner.log.wait(&ticket)?;
        self.write_anchor()?;
        Ok(receipt)
    }

    /// Writes the last durable record to the anchor's file, if there is one.
    ///
    /// # Errors
    /// [`LedgerError::AnchorFile`].
    pub fn write_anchor(&self) -> Result<(), LedgerError> {
        match &self.inner.anchor {
            Some(anchor) => {
                let mut anchoring = lock(anchor);
                let written = anchoring.write(&self.head());
                written.map_err(|error| at(&anchoring.path, &error))
            }
            None => Ok(()),
        }
    }

    /// How many durable records there are behind the anchor, if there is one: what a rollback could take away unnoticed.
    pub fn unanchored(&self) -> Option<u64> {
        let written = lock(self.inner.anchor.as_ref()?).written;
        Some(self.head().seq.saturating_sub(written))
    }

    /// Writes all durable records to a plain file, and checks their chain on the way.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn export(&self, to: impl io::Write) -> Result<Option<Receipt>, ExportError> {
        export::write(self.inner.log.store(), to)
    }

    /// Writes one record, with whatever events and fields it has. Sessions that are open are not notified: it is for records that
    /// this version only reads and writes, and for tests.
    ///
    /// # Errors
    /// [`JournalError`]: it does not fit those before it, or it was not written.
    #[doc(hidden)]
    pub fn write_record(&self, record: Record) -> Result<Receipt, JournalError> {
        let mut draft = Writer(self.inner.clone()).draft(record)?;
        self.books.sitting(|| draft.stage())??;
        Ok(draft.wait()?.receipt)
    }

    /// Writes what is staged, perhaps a checkpoint, and the anchor; nothing can be charged any more. The file stays locked
    /// until everything that was opened on the ledger is gone.
    ///
    /// A ledger that is dropped without being closed loses nothing that ran.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn close(&self) -> Result<(), LedgerError> {
        if lock(&self.inner.book).since > MANY {
            self.checkpoint()?;
        }
        self.inner.log.close()?;
        self.write_anchor()
    }
}

pub(crate) fn at(path: &Path, error: &io::Error) -> LedgerError {
    LedgerError::AnchorFile {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
