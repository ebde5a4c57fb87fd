//! The embedded store: one file, which belongs to one process.

use std::{
    fs::{self, File},
    io, mem,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use fork_count::Process;
use redb::{
    Builder, Database, DatabaseError, Key, ReadOnlyTable, ReadableDatabase, ReadableTable,
    ReadableTableMetadata, StorageBackend, StorageError, TableDefinition, TableError, Value,
    backends::FileBackend,
};

use crate::{
    chain::Walk,
    frame::{Frame, Kind, Unchained},
    laid::Laid,
    problem::{OpenStoreError, Problem},
    row,
    store::{Cause, Each, Store, StoreError},
};

const RECORDS: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("records");
const KEYS: TableDefinition<'static, &[u8], u64> = TableDefinition::new("keys");
const CHECKPOINTS: TableDefinition<'static, u64, ()> = TableDefinition::new("checkpoints");

/// How much of the file is kept in memory. A launch needs a path of the tree.
const CACHE: usize = 64 << 20;

/// Records in one file, a `redb` database. The file is locked while it is open: another process, or another opener in this
/// one, gets [`OpenStoreError::InUse`].
pub struct Embedded {
    /// Until it is dropped.
    database: Option<Database>,
    /// A forked process has the file and its lock as well, and would write into what this one writes.
    process: Process,
}

/// In a forked process it is not even closed: that would write. Closing writes where room is, and `redb` panics if that is damaged:
/// the records are there all the same.
impl Drop for Embedded {
    fn drop(&mut self) {
        let database = self.database.take();
        match self.process.is_current() {
            true => drop(catch_unwind(AssertUnwindSafe(|| drop(database)))),
            false => mem::forget(database),
        }
    }
}

impl Embedded {
    /// Opens a ledger's file, or begins a new one if there is no such file.
    ///
    /// A new file is made beside and gets its name when it is whole and durable, so a crash leaves no half ledger. An
    /// empty file is not taken for a new one: it may be what is left of an old one.
    ///
    /// # Errors
    /// [`OpenStoreError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenStoreError> {
        let path = path.as_ref();
        if !path.exists() {
            begin(path).map_err(|problem| problem.at(path))?;
        }
        Self::open_existing(path)
    }

    fn open_existing(path: &Path) -> Result<Self, OpenStoreError> {
        Self::standing_for(path, || {
            let file = File::options().read(true).write(true).open(path)?;
            Ok(Laid::new(FileBackend::new(file).map_err(io::Error::other)?))
        })
    }

    /// A store on another storage than a file. It begins with no record at all if the storage is empty.
    ///
    /// # Errors
    /// [`OpenStoreError`].
    pub fn on(backend: impl StorageBackend) -> Result<Self, OpenStoreError> {
        let store = Self::opened(|| builder().create_with_backend(Laid::new(backend)));
        store.map_err(|problem| problem.at(Path::new("on a storage of its own")))
    }

    /// The store in this file, which is there already, on a storage that stands for it.
    pub(crate) fn standing_for<B: StorageBackend>(
        path: &Path,
        backend: impl FnOnce() -> io::Result<B>,
    ) -> Result<Self, OpenStoreError> {
        let open = || {
            not_empty(path)?;
            let backend = backend()?;
            Self::opened(|| builder().create_with_backend(backend))?.begun()
        };
        open().map_err(|problem: Problem| problem.at(path))
    }

    /// Itself, if it has records.
    fn begun(self) -> Result<Self, Problem> {
        match self.last()? {
            Some(_) => Ok(self),
            None => Err(Problem::Wrong("it has no records".into())),
        }
    }

    fn opened(open: impl FnOnce() -> Result<Database, DatabaseError>) -> Result<Self, Problem> {
        // A damaged file must not bring the process down.
        match catch_unwind(AssertUnwindSafe(open)) {
            Ok(database) => Ok(Self {
                database: Some(database?),
                process: Process::current(),
            }),
            Err(_) => Err(Problem::Wrong("its pages are damaged".into())),
        }
    }

    /// The database, for the process that has opened it.
    fn database(&self) -> Result<&Database, Cause> {
        let database = self.database.as_ref();
        database
            .filter(|_| self.process.is_current())
            .ok_or(Cause::Forked)
    }

    /// Writes the record that every ledger begins with.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn begin(&self) -> Result<(), StoreError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)
            .map_err(|error| StoreError::NotWritten(Cause::System(error.to_string())))?;
        self.begin_as(&id)
    }

    fn begin_as(&self, id: &[u8]) -> Result<(), StoreError> {
        let draft = Unchained::new(Kind::Begin, &[], id);
        let draft =
            draft.map_err(|error| StoreError::NotWritten(Cause::System(error.to_string())))?;
        self.append(&[Walk::from_the_start().seal(draft)])
    }

    fn write(&self, batch: &[Frame]) -> Result<(), StoreError> {
        let database = self.database().map_err(StoreError::NotWritten)?;
        let mut transaction = database.begin_write().map_err(not_written)?;
        // Analysts choose names, so they choose bytes: with one phase, bytes that look like a commit could be taken for one.
        transaction.set_two_phase_commit(true);
        {
            let mut records = transaction.open_table(RECORDS).map_err(not_written)?;
            let end = records.last().map_err(not_written)?;
            let next = end.map_or(0, |(first, row)| row::after(first.value(), row.value()));
            taken(batch.first().is_some_and(|frame| frame.seq() != next))?;
            for group in row::groups(batch) {
                let row = row::of(group);
                records.insert(group[0].seq(), &*row).map_err(not_written)?;
            }
            for frame in batch {
                if let Some(key) = frame.key() {
                    let mut keys = transaction.open_table(KEYS).map_err(not_written)?;
                    let before = keys
                        .insert(key, frame.seq())
                        .map_err(not_written)?
                        .is_some();
                    taken(before)?;
                }
                if frame.kind() == Kind::Checkpoint {
                    let mut all = transaction.open_table(CHECKPOINTS).map_err(not_written)?;
                    all.insert(frame.seq(), ()).map_err(not_written)?;
                }
            }
        }
        transaction
            .commit()
            .map_err(|error| StoreError::InDoubt(cause(&error.into())))
    }
}

/// A record with this number or key is there, or the one before it is not: somebody else has written.
fn taken(there: bool) -> Result<(), StoreError> {
    let why = || Cause::System("the number or the key of a record is not free".into());
    match there {
        true => Err(StoreError::NotWritten(why())),
        false => Ok(()),
    }
}

impl Store for Embedded {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        self.write(batch)
    }

    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError> {
        self.look(RECORDS, |records| {
            let first = records.range(..=from)?.next_back().transpose()?;
            let first = first.map_or(from, |(first, _)| first.value());
            for entry in records.range(first..)? {
                let (first, row) = entry?;
                for (seq, bytes) in row::records(first.value(), row.value()) {
                    if seq >= from && each(seq, bytes) == ControlFlow::Break(()) {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
        .map(|read| read.unwrap_or(()))
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        let last = self.look(RECORDS, |records| {
            let last = records.last()?.and_then(|(first, row)| {
                let last = row::records(first.value(), row.value()).last()?;
                Some((last.0, last.1.to_vec()))
            });
            Ok(last)
        });
        last.map(Option::flatten)
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        let found = self.look(KEYS, |keys| Ok(keys.get(key)?.map(|seq| seq.value())));
        found.map(Option::flatten)
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        let last = self.look(CHECKPOINTS, |all| {
            Ok(all.last()?.map(|(seq, _)| seq.value()))
        });
        last.map(Option::flatten)
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        let keys = self.look(KEYS, |keys| keys.len())?;
        let checkpoints = self.look(CHECKPOINTS, |all| all.len())?;
        Ok((keys.unwrap_or(0), checkpoints.unwrap_or(0)))
    }
}

impl Embedded {
    /// Reads from a table. One that nobody has written to yet is not there. Damaged pages may make `redb` panic: that is an
    /// error like others.
    fn look<K: Key + 'static, V: Value + 'static, T>(
        &self,
        table: TableDefinition<'static, K, V>,
        look: impl FnOnce(ReadOnlyTable<K, V>) -> Result<T, StorageError>,
    ) -> Result<Option<T>, StoreError> {
        let looked = catch_unwind(AssertUnwindSafe(|| {
            let database = self.database().map_err(StoreError::Unreadable)?;
            let transaction = database.begin_read().map_err(unreadable)?;
            match transaction.open_table(table) {
                Ok(table) => look(table).map(Some).map_err(unreadable),
                Err(TableError::TableDoesNotExist(_)) => Ok(None),
                Err(error) => Err(unreadable(error)),
            }
        }));
        looked.unwrap_or(Err(StoreError::Unreadable(Cause::Panicked)))
    }
}

fn not_empty(path: &Path) -> Result<(), Problem> {
    match fs::metadata(path)?.len() {
        0 => Err(Problem::Wrong("it is empty".into())),
        _ => Ok(()),
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    builder
}

/// Makes a new file, whole, under another name, and gives it its own only if nobody else has made one meanwhile.
fn begin(path: &Path) -> Result<(), Problem> {
    let beside = beside(path);
    let made = begin_beside(&beside, path);
    // What is in the way of nothing else.
    let _ = fs::remove_file(&beside);
    made
}

fn begin_beside(beside: &Path, path: &Path) -> Result<(), Problem> {
    let store = Embedded::opened(|| builder().create(beside))?;
    store.begin()?;
    drop(store);
    match fs::hard_link(beside, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => {
            other?;
            sync_directory(path)?;
            Ok(())
        }
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    name.into()
}

/// Makes a new name durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match File::open(directory.unwrap_or(Path::new("."))) {
        Ok(directory) => directory.sync_all(),
        // Not every system opens directories.
        Err(_) if !cfg!(unix) => Ok(()),
        Err(error) => Err(error),
    }
}

fn cause(error: &redb::Error) -> Cause {
    match error {
        redb::Error::Io(error) => error.into(),
        other => Cause::System(other.to_string()),
    }
}

fn not_written(error: impl Into<redb::Error>) -> StoreError {
    StoreError::NotWritten(cause(&error.into()))
}

fn unreadable(error: impl Into<redb::Error>) -> StoreError {
    StoreError::Unreadable(cause(&error.into()))
}
