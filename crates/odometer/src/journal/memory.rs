//! A journal that forgets: for tests, and to see what a journal has to do.

use std::{collections::HashMap, sync::Arc};

use crate::{
    journal::{
        Draft, Invalid, Journal, JournalError, OpenedPlace, Opening, Past, Place, Receipt, Record,
        State, Written,
    },
    sync::{Mutex, lock},
};

/// A journal in memory. A clone is the same journal. Nothing of it survives: it is for tests.
///
/// ```
/// use odometry::odometer::journal::Memory;
/// let journal = Memory::new();
/// // … a process writes, and ends in the middle of something …
/// let after_a_restart = Memory::replaying(&journal.records()).unwrap();
/// # let _ = after_a_restart;
/// ```
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    state: State,
    records: Vec<Record>,
    keys: HashMap<(Place, String), u64>,
    /// How many more records are written before writing fails.
    left: Option<u64>,
    closed: bool,
}

impl Memory {
    /// A journal without records.
    pub fn new() -> Self {
        Self::default()
    }

    /// The journal with these records.
    ///
    /// # Errors
    /// [`Invalid`] if one does not fit those before it.
    pub fn replaying(records: &[Record]) -> Result<Self, Invalid> {
        let mut log = Log::default();
        for record in records {
            log.write(record.clone())?;
        }
        Ok(Self(Arc::new(Mutex::new(log))))
    }

    /// All records, in order.
    pub fn records(&self) -> Vec<Record> {
        lock(&self.0).records.clone()
    }

    /// After so many more records, it is not known whether one was written, and no other is.
    pub fn fail_after(&self, records: u64) {
        lock(&self.0).left = Some(records);
    }
}

impl Log {
    fn write(&mut self, record: Record) -> Result<Written, Invalid> {
        let opened = self.state.apply(&record)?;
        let seq = self.records.len() as u64;
        if let Record::Charge(charge) = &record
            && let (Some(key), Some(leaf)) = (&charge.key, charge.postings.first())
        {
            self.keys.insert((leaf.account, key.clone()), seq);
        }
        self.records.push(record);
        Ok(Written {
            receipt: receipt(seq),
            opened,
        })
    }

    fn check(&self, record: &Record) -> Result<(), JournalError> {
        if self.closed {
            let reason = "a record is in doubt".into();
            return Err(JournalError::Closed { reason });
        }
        if let Record::Charge(charge) = record {
            if let (Some(key), Some(leaf)) = (&charge.key, charge.postings.first())
                && let Some(seq) = self.keys.get(&(leaf.account, key.clone()))
            {
                return Err(self.taken(key, *seq, record));
            }
            if let Some(opening) = &charge.opens
                && let Some(place) = self.state.at(opening.parent, &opening.segment)
            {
                let path = self.state.path(place).to_string();
                return Err(JournalError::Exists { path });
            }
        }
        let damaged = |Invalid(why)| JournalError::Damaged(why);
        self.state.check(record).map_err(damaged)?;
        self.state.room_for(record)
    }

    fn taken(&self, key: &str, seq: u64, record: &Record) -> JournalError {
        let key = key.to_string();
        match self.records.get(seq as usize) == Some(record) {
            true => JournalError::AlreadyCharged {
                key,
                receipt: receipt(seq),
            },
            false => JournalError::OtherLaunch { key, seq },
        }
    }
}

/// There is no chain: the number stands for it.
fn receipt(seq: u64) -> Receipt {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&seq.to_be_bytes());
    Receipt { seq, hash }
}

impl Journal for Memory {
    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        let found = lock(&self.0).state.find(opening)?;
        let place = match found {
            Some(place) => place,
            None => {
                let mut draft = self.draft(Record::Open(opening.clone()))?;
                draft.stage()?;
                let written = draft.wait()?;
                let none = || JournalError::Damaged("nothing was opened".into());
                written.opened.ok_or_else(none)?
            }
        };
        let past = lock(&self.0).state.past(place);
        Ok(OpenedPlace {
            place,
            past: past.unwrap_or_default(),
            draft: None,
        })
    }

    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError> {
        let log = lock(&self.0);
        let found = log.state.find(opening)?;
        Ok(found.map(|place| (place, log.state.past(place).unwrap_or_default())))
    }

    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError> {
        lock(&self.0).check(&record)?;
        Ok(Box::new(Drafted {
            journal: self.clone(),
            record: Some(record),
            written: None,
        }))
    }

    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

struct Drafted {
    journal: Memory,
    record: Option<Record>,
    written: Option<Result<Written, JournalError>>,
}

impl Draft for Drafted {
    fn stage(&mut self) -> Result<(), JournalError> {
        let mut log = lock(&self.journal.0);
        let Some(record) = self.record.take() else {
            return Err(JournalError::Damaged("a draft was staged twice".into()));
        };
        log.check(&record)?;
        if log.left == Some(0) {
            let seq = log.records.len() as u64;
            log.closed = true;
            self.written = Some(Err(JournalError::InDoubt { seq }));
            return Ok(());
        }
        log.left = log.left.map(|left| left - 1);
        let written = log.write(record);
        self.written = Some(written.map_err(|Invalid(why)| JournalError::Damaged(why)));
        Ok(())
    }

    fn wait(self: Box<Self>) -> Result<Written, JournalError> {
        let never = || Err(JournalError::Damaged("a draft was not staged".into()));
        self.written.unwrap_or_else(never)
    }
}
