//! A journal in memory: for tests, for snapshots, and to see what a journal has to do.

use std::{collections::HashMap, sync::Arc};

use crate::{
    journal::{
        Draft, Event, Invalid, Journal, JournalError, OpenedPlace, Opening, Past, Place, Receipt,
        Record, Snapshot, State, Written,
    },
    sync::{Mutex, lock},
};

/// A journal in memory. A clone is the same journal. Nothing of it survives by itself: it is for tests, and for services that
/// write [snapshots](Self::snapshot) down where a [ledger](crate::journal) would be too much. What was charged after the last
/// snapshot is lost with the process, and that is a refund.
///
/// ```
/// use odometry::measures::{Basic, PrivacyMap, PureDp};
/// use odometry::odometer::journal::{Books, Memory, Snapshot};
/// use odometry::odometer::{Measurement, Odometer, Records};
/// # let records = Records::<i64>::new();
/// # let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.4")?, |_, _| Ok(42));
/// let organisation = Odometer::new(records, Basic::new(PureDp)).named("the organisation");
/// let journal = Memory::for_snapshots();
/// let session = organisation.filter_on(&Books::new(journal.clone()), 1, "1", vec![1, 2, 3])?;
/// session.link("parity").partition(1, |x: &i64| x % 2)?.part(0)?.launch(&query)?;
/// let saved = serde_json::to_string(&journal.snapshot()?)?;
///
/// let snapshot: Snapshot = serde_json::from_str(&saved)?;
/// let journal = Memory::restored_by_operator(&snapshot);
/// let session = organisation.filter_on(&Books::new(journal), 1, "1", vec![1, 2, 3])?;
/// assert_eq!(session.remaining(1)?, Some("0.6".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Memory(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    state: State,
    /// How many records were written.
    written: u64,
    /// All of them, unless only what they amount to is wanted.
    records: Option<Vec<Record>>,
    /// Launches with request keys.
    keys: HashMap<(Place, String), (u64, Record)>,
    /// How many more records are written before writing fails.
    left: Option<u64>,
    closed: bool,
}

impl Memory {
    /// A journal without records, which keeps all that will be: for tests.
    pub fn new() -> Self {
        Self::of(Log {
            records: Some(Vec::new()),
            ..Log::default()
        })
    }

    /// A journal without records, which keeps what they amount to, and not themselves.
    pub fn for_snapshots() -> Self {
        Self::of(Log::default())
    }

    fn of(log: Log) -> Self {
        Self(Arc::new(Mutex::new(log)))
    }

    /// The journal with these records.
    ///
    /// # Errors
    /// [`Invalid`] if one does not fit those before it.
    pub fn replaying(records: &[Record]) -> Result<Self, Invalid> {
        let journal = Self::new();
        for record in records {
            lock(&journal.0).write(record.clone())?;
        }
        Ok(journal)
    }

    /// All that was charged so far: every account, and all as of one moment.
    ///
    /// # Errors
    /// [`JournalError::Closed`] if a record is in doubt.
    pub fn snapshot(&self) -> Result<Snapshot, JournalError> {
        let log = lock(&self.0);
        log.check_open()?;
        let mut keyed: Vec<(u64, Record)> = log.keys.values().cloned().collect();
        keyed.sort_by_key(|(seq, _)| *seq);
        Ok(Snapshot {
            state: log.state.clone(),
            keyed,
            written: log.written,
        })
    }

    /// The journal of which this is a snapshot. Sessions that are opened on it by their names are where they were.
    ///
    /// **For operators, never for analysts:** whatever was charged after the snapshot is given back, although the answers were.
    /// Only the newest snapshot refunds nothing, and only if nothing was launched after it. Whoever restores one vouches for that,
    /// and that the process of which it is has ended: two of them would spend every budget twice.
    pub fn restored_by_operator(snapshot: &Snapshot) -> Self {
        let mut log = Log {
            state: snapshot.state.clone(),
            written: snapshot.written,
            ..Log::default()
        };
        for (seq, record) in &snapshot.keyed {
            log.remember(*seq, record);
        }
        Self::of(log)
    }

    /// All records, in order. None of a journal [for snapshots](Self::for_snapshots).
    pub fn records(&self) -> Vec<Record> {
        lock(&self.0).records.clone().unwrap_or_default()
    }

    /// After so many more records, it is not known whether one was written, and no other is.
    pub fn fail_after(&self, records: u64) {
        lock(&self.0).left = Some(records);
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Log {
    fn write(&mut self, record: Record) -> Result<Written, Invalid> {
        self.check_reference(&record)?;
        let opened = self.state.apply(&record)?;
        let seq = self.written;
        self.written = seq.saturating_add(1);
        self.remember(seq, &record);
        if let Some(records) = &mut self.records {
            records.push(record);
        }
        Ok(Written {
            receipt: receipt(seq),
            opened,
        })
    }

    /// Is the record that this one refers to there? There is no more than its number to compare.
    fn check_reference(&self, record: &Record) -> Result<(), Invalid> {
        match record.event.refers_to() {
            Some(earlier) if earlier.seq >= self.written || *earlier != receipt(earlier.seq) => {
                Err(Invalid(format!("there is no record {earlier}")))
            }
            _ => Ok(()),
        }
    }

    /// Remembers a launch that has a key.
    fn remember(&mut self, seq: u64, record: &Record) {
        if let Some(key) = keyed(record) {
            self.keys.insert(key, (seq, record.clone()));
        }
    }

    fn check_open(&self) -> Result<(), JournalError> {
        match self.closed {
            false => Ok(()),
            true => Err(JournalError::Closed {
                reason: "a record is in doubt".into(),
            }),
        }
    }

    fn check(&self, record: &Record) -> Result<(), JournalError> {
        self.check_open()?;
        let fields = record.fields.encode();
        fields.map_err(|error| JournalError::Unsupported(error.to_string()))?;
        if let Some(key) = keyed(record)
            && let Some((seq, launch)) = self.keys.get(&key)
        {
            return Err(taken(key.1, *seq, launch.is_same_launch(record)));
        }
        if let Event::Charge(charge) = &record.event
            && let Some(opening) = &charge.opens
            && let Some(place) = self.state.at(opening.parent, &opening.segment)
        {
            let path = self.state.path(place).to_string();
            return Err(JournalError::Exists { path });
        }
        let damaged = |Invalid(why)| JournalError::Damaged(why);
        self.check_reference(record).map_err(damaged)?;
        self.state.check(record).map_err(damaged)?;
        self.state.room_for(record)
    }
}

/// The request key of a launch, and whose it is.
fn keyed(record: &Record) -> Option<(Place, String)> {
    let Event::Charge(charge) = &record.event else {
        return None;
    };
    Some((charge.account()?, charge.key.clone()?))
}

fn taken(key: String, seq: u64, same: bool) -> JournalError {
    match same {
        true => JournalError::AlreadyCharged {
            key,
            receipt: receipt(seq),
        },
        false => JournalError::OtherLaunch { key, seq },
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
                let mut draft = self.draft(opening.clone().into())?;
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
            let seq = log.written;
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
