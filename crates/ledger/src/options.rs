//! How a ledger is opened: what of it is believed, and how often its anchor is written.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use odometer::journal::{Books, Receipt};

use crate::{
    anchor,
    embedded::Embedded,
    error::LedgerError,
    journal::Writer,
    keys::Keys,
    log::Log,
    opened::{Anchoring, Book, Inner, Ledger, at},
    replay::{self, Replayed},
    sittings::Sittings,
    store::Store,
    sync::Mutex,
};

/// After how many records an anchor is written again, unless told otherwise.
const EVERY: u64 = 1000;

/// How a ledger is opened. Without anything, every record is read, and every checkpoint is compared with the records before it:
/// anybody who can append to the file can append a checkpoint that says something else.
///
/// ```
/// use odometry::ledger::LedgerOptions;
/// # let path = std::env::temp_dir().join(format!("odometry-options-{}.redb", std::process::id()));
/// # let elsewhere = path.with_extension("anchor");
/// # let _ = (std::fs::remove_file(&path), std::fs::remove_file(&elsewhere));
/// let options = LedgerOptions::new().anchored(&elsewhere).anchor_every(100);
/// let ledger = options.clone().open(&path)?;
/// ledger.checkpoint()?; // the anchor is behind it
/// assert_eq!(ledger.unanchored(), Some(0));
/// drop(ledger);
/// let ledger = options.open(&path)?; // so it is believed, and what is before it is not read
/// # drop(ledger);
/// # std::fs::remove_file(&path)?;
/// # std::fs::remove_file(&elsewhere)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a ledger is opened by `open` or `on`"]
pub struct LedgerOptions {
    anchor: Option<PathBuf>,
    every: u64,
    believing: bool,
}

impl Default for LedgerOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl LedgerOptions {
    /// No anchor; nothing is believed.
    pub fn new() -> Self {
        Self {
            anchor: None,
            every: EVERY,
            believing: false,
        }
    }

    /// With an anchor in another file, which should be on another machine: a ledger that is older than it is refused. No such
    /// file is no anchor yet.
    ///
    /// A checkpoint at or before the anchor is believed, because the anchor's hash covers it: then opening takes as long as
    /// replaying what comes after it.
    pub fn anchored(mut self, anchor: impl Into<PathBuf>) -> Self {
        self.anchor = Some(anchor.into());
        self
    }

    /// The anchor is written again after so many records (at least one; without this, a thousand), by whoever waits for one, after
    /// it is durable. Also when the ledger is opened and closed, at every checkpoint, and by [`Ledger::write_anchor`].
    pub fn anchor_every(mut self, records: u64) -> Self {
        self.every = records.max(1);
        self
    }

    /// The last checkpoint is believed, also where no anchor covers it: for files that nobody else can write to.
    pub fn believing_checkpoints(mut self) -> Self {
        self.believing = true;
        self
    }

    /// Opens the ledger in this file, or begins one if there is no such file.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<Ledger, LedgerError> {
        let ledger = self.on(Box::new(Embedded::open(path)?))?;
        ledger.write_anchor()?;
        Ok(ledger)
    }

    /// Opens the ledger in another store, which has been begun.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn on(self, store: Box<dyn Store>) -> Result<Ledger, LedgerError> {
        let anchor = self.checked(&*store)?;
        let covered = |seq: u64| anchor.is_some_and(|anchor| seq <= anchor.seq);
        let Replayed {
            state,
            head,
            end,
            since,
        } = match store.checkpoint()? {
            Some(seq) if self.believing || covered(seq) => replay::from_checkpoint(&*store, seq)?,
            _ => replay::everything(&*store)?,
        };
        let book = Book {
            state,
            keys: Keys::default(),
            since,
        };
        let sittings = store.shared().is_some().then(Sittings::new);
        let (every, written) = (self.every, anchor.map_or(0, |anchor| anchor.seq));
        let anchoring = |path| Anchoring {
            path,
            every,
            written,
        };
        let inner = Arc::new(Inner {
            sittings,
            log: Log::continuing(head, end, store),
            book: Mutex::new(book),
            anchor: self.anchor.map(anchoring).map(Mutex::new),
        });
        let books = Books::new(Writer(inner.clone()));
        Ok(Ledger::new(inner, books))
    }

    /// The anchor, if there is one: the store has everything up to it.
    fn checked(&self, store: &dyn Store) -> Result<Option<Receipt>, LedgerError> {
        let Some(path) = &self.anchor else {
            return Ok(None);
        };
        let anchor = anchor::read(path).map_err(|error| at(path, &error))?;
        if let Some(anchor) = &anchor {
            anchor::check(store, anchor)?;
        }
        Ok(anchor)
    }
}
