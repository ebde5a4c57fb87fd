//! The store on a PostgreSQL server: many processes write to one ledger, in turns on the row of its head.
//!
//! Two connections: one for the turn, and one for whoever reads. Neither is touched under an account's lock.

mod address;
mod error;
mod turn;
mod until;

use std::{mem, ops::ControlFlow, path::PathBuf, time::Duration};

use fork_count::Process;
use odometer::journal::Receipt;
use postgres::{Client, Error};

pub use self::error::ConnectError;
use self::{
    address::Address,
    error::unread,
    turn::{Turn, head, number, page},
    until::Until,
};
use crate::{
    chain::Walk,
    error::LedgerError,
    frame::{Frame, Kind, Unchained},
    opened::Ledger,
    reader::LedgerReader,
    store::{Cause, Each, Hazard, SharedStore, Store, StoreError},
    sync::{Mutex, lock},
};

/// The version of the tables.
const TABLES: i32 = 1;

/// The oldest server.
const OLDEST: i32 = 120_000;

/// How long to go on trying to reach a server that was there before.
const PATIENCE: Duration = Duration::from_secs(20);

/// Records on a PostgreSQL server. `setup.sql` makes the tables and the roles.
pub struct Postgres {
    address: Address,
    /// Between turns, the connection of the last.
    idle: Mutex<Option<Client>>,
    turn: Mutex<Option<Turn>>,
    reader: Mutex<Option<Client>>,
    hazards: Vec<Hazard>,
    patience: Duration,
    /// Is it only looked at? Then the server is told to let nothing be written.
    only_read: bool,
    /// A forked process has the sockets as well, and would talk in between.
    process: Process,
}

/// What a server says of itself.
struct Settings {
    last: Option<Receipt>,
    follows: bool,
}

impl Postgres {
    /// Connects to a ledger that was set up: `postgres://USER@HOST:PORT/DATABASE`, or `host=/socket/directory user=… dbname=…`.
    /// The password comes from the variable `PGPASSWORD` or from a pass file.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect(address: &str) -> Result<Self, ConnectError> {
        let (store, is_begun) = Self::new(address, false)?;
        if !is_begun {
            store.begin()?;
        }
        Ok(store)
    }

    /// Connects to a ledger to look at it. Nothing is written, also not the first record: one that nobody has begun is
    /// [`ConnectError::NotBegun`]. The role may be one that only reads.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect_to_read(address: &str) -> Result<Self, ConnectError> {
        let (store, is_begun) = Self::new(address, true)?;
        let at = || store.address.shown.clone();
        match is_begun {
            true => Ok(store),
            false => Err(ConnectError::NotBegun { at: at() }),
        }
    }

    /// The store, and whether it has records.
    fn new(address: &str, only_read: bool) -> Result<(Self, bool), ConnectError> {
        let address = Address::parse(address)?;
        let (client, settings) = connected(&address, only_read)?;
        let failover = settings.follows.then_some(Hazard::Failover);
        let network = (!address.local).then_some(Hazard::Network);
        let store = Self {
            hazards: failover.into_iter().chain(network).collect(),
            idle: Mutex::new(None),
            turn: Mutex::new(None),
            reader: Mutex::new(Some(client)),
            process: Process::current(),
            patience: PATIENCE,
            only_read,
            address,
        };
        Ok((store, settings.last.is_some()))
    }

    /// How long to go on trying to reach a server that was there before: 20 seconds unless said.
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// A new connection, to a server that is still as it should be.
    fn connected(&self) -> Result<Client, ConnectError> {
        Ok(connected(&self.address, self.only_read)?.0)
    }

    fn idle(&self) -> Option<Client> {
        lock(&self.idle).take()
    }

    fn keep(&self, client: Client) {
        *lock(&self.idle) = Some(client);
    }

    /// Writes the first record, unless another process has.
    fn begin(&self) -> Result<(), ConnectError> {
        let unreachable = |reason: String| ConnectError::Unreachable {
            at: self.address.shown.clone(),
            reason,
        };
        let turn = self
            .turn()
            .map_err(|cause| unreachable(cause.to_string()))?;
        if turn.head.is_some() {
            self.end(turn);
            return Ok(());
        }
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| unreachable(error.to_string()))?;
        let draft = Unchained::new(Kind::Begin, &[], &id);
        let draft = draft.map_err(|error| unreachable(error.to_string()))?;
        let first = Walk::from_the_start().seal(draft);
        let begun = self.commit(turn, &[first]);
        begun.map_err(|error| unreachable(error.to_string()))
    }

    /// Reads, once more on a new connection if the old one is gone.
    fn look<X>(&self, look: impl Fn(&mut Client) -> Result<X, Error>) -> Result<X, StoreError> {
        if !self.process.is_current() {
            return Err(StoreError::Unreachable(Cause::Forked));
        }
        let mut reader = lock(&self.reader);
        if let Some(client) = reader.as_mut() {
            match look(client) {
                Ok(found) => return Ok(found),
                Err(error) if !client.is_closed() => return Err(unread(&error)),
                Err(_) => *reader = None,
            }
        }
        let client = self.connected().map_err(|error| unreachable(&error))?;
        look(reader.insert(client)).map_err(|error| unread(&error))
    }

    fn read_until(&self, from: u64, until: i64, each: &mut Each<'_>) -> Result<(), StoreError> {
        let mut next = number(from);
        loop {
            // Whoever takes a record may look for others meanwhile.
            let rows = self.look(|client| page(client, next, until))?;
            for (seq, bytes) in &rows {
                if each(*seq, bytes) == ControlFlow::Break(()) {
                    return Ok(());
                }
            }
            match rows.last() {
                Some((seq, _)) => next = number(*seq).saturating_add(1),
                None => return Ok(()),
            }
        }
    }

    fn count(&self, query: &'static str, until: i64) -> Result<Option<u64>, StoreError> {
        let ask = |client: &mut Client| client.query_one(query, &[&until])?.try_get(0);
        let found: Option<i64> = self.look(ask)?;
        Ok(found.map(i64::unsigned_abs))
    }
}

fn unreachable(why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unreachable(Cause::System(why.to_string()))
}

/// A new connection, to a server that is as it should be.
fn connected(address: &Address, only_read: bool) -> Result<(Client, Settings), ConnectError> {
    let mut client = address.connect()?;
    if only_read {
        let told = client.batch_execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
        told.map_err(|error| ConnectError::of(&address.shown, &error))?;
    }
    let settings = checked(address, &mut client)?;
    Ok((client, settings))
}

/// Is the server one that keeps what it says it has written, with a ledger of this version in it?
fn checked(address: &Address, client: &mut Client) -> Result<Settings, ConnectError> {
    let at = &address.shown;
    let asked = client.query_one(
        "SELECT current_setting('server_version_num')::int, current_setting('fsync') = 'on', \
         current_setting('full_page_writes') = 'on', pg_is_in_recovery(), \
         current_setting('synchronous_standby_names') = '' AND (current_setting('archive_mode') <> 'off' \
         OR EXISTS (SELECT FROM pg_stat_get_wal_senders()))",
        &[],
    );
    let row = asked.map_err(|error| ConnectError::of(at, &error))?;
    let at = at.clone();
    if row.get::<_, i32>(0) < OLDEST {
        let found = row.get(0);
        return Err(ConnectError::OldServer { at, found });
    }
    for (column, setting) in [(1, "fsync"), (2, "full_page_writes")] {
        if !row.get::<_, bool>(column) {
            return Err(ConnectError::NotDurable { at, setting });
        }
    }
    if row.get(3) {
        return Err(ConnectError::Standby { at });
    }
    let asked = client.query_opt("SELECT version, seq, hash FROM odometry.head", &[]);
    let Some(tables) = asked.map_err(|error| ConnectError::of(&at, &error))? else {
        let reason = "its head is missing".into();
        return Err(ConnectError::NotSetUp { at, reason });
    };
    match tables.get(0) {
        TABLES => Ok(Settings {
            last: head(tables.get(1), tables.get(2)),
            follows: row.get(4),
        }),
        found => Err(ConnectError::Version { at, found }),
    }
}

impl Store for Postgres {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        if !self.process.is_current() {
            return Err(StoreError::NotWritten(Cause::Forked));
        }
        let none = || StoreError::NotWritten(Cause::System("it is another process's turn".into()));
        let turn = lock(&self.turn).take().ok_or_else(none)?;
        self.commit(turn, batch)
    }

    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError> {
        self.read_until(from, i64::MAX, each)
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        self.until(i64::MAX).last()
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        let query = "SELECT seq FROM odometry.records WHERE sha256(key) = sha256($1) AND key = $1";
        let found = self.look(|client| client.query_opt(query, &[&key]))?;
        Ok(found.map(|row| row.get::<_, i64>(0).unsigned_abs()))
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        self.until(i64::MAX).checkpoint()
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        self.until(i64::MAX).indexed()
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        Some(self)
    }
}

impl SharedStore for Postgres {
    /// As of when it was connected.
    fn hazards(&self) -> &[Hazard] {
        &self.hazards
    }

    fn take_turn(&self, after: &Receipt, each: &mut Each<'_>) -> Result<Receipt, StoreError> {
        if !self.process.is_current() {
            return Err(StoreError::Unreachable(Cause::Forked));
        }
        if self.only_read {
            return Err(unreachable(&"it was opened to be looked at"));
        }
        let mut turn = self.turn().map_err(StoreError::Unreachable)?;
        turn.news(after.seq, each).map_err(|error| unread(&error))?;
        let none = || StoreError::Unreadable(Cause::System("it has no records any more".into()));
        let head = turn.head.ok_or_else(none)?;
        *lock(&self.turn) = Some(turn);
        Ok(head)
    }

    fn give_back(&self) {
        let turn = lock(&self.turn).take();
        if let Some(turn) = turn {
            self.end(turn);
        }
    }

    fn frozen(&self) -> Result<Box<dyn Store + '_>, StoreError> {
        let query = "SELECT max(seq) FROM odometry.records WHERE seq <= $1";
        let last = self.count(query, i64::MAX)?;
        Ok(Box::new(self.until(last.map_or(-1, number))))
    }
}

impl Postgres {
    fn until(&self, until: i64) -> Until<'_> {
        Until { store: self, until }
    }
}

impl Ledger {
    /// Opens the ledger on a PostgreSQL server, which several processes share: `postgres://USER@HOST:PORT/DATABASE`, or
    /// `host=/socket/directory user=… dbname=…`. `setup.sql` has set it up. The password comes from the variable `PGPASSWORD` or
    /// from a pass file. Every launch is admitted on the newest state of all processes.
    ///
    /// Calls block, and may not be made from within an async runtime: use a blocking task. See also
    /// [`hazards`](Self::hazards).
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn connect(address: &str) -> Result<Self, LedgerError> {
        Self::on(Box::new(Postgres::connect(address)?), None)
    }

    /// As [`connect`](Self::connect), with an anchor in this file: a server that is behind it is refused.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn connect_anchored(
        address: &str,
        anchor: impl Into<PathBuf>,
    ) -> Result<Self, LedgerError> {
        let ledger = Self::on(Box::new(Postgres::connect(address)?), Some(anchor.into()))?;
        ledger.write_anchor()?;
        Ok(ledger)
    }
}

impl LedgerReader {
    /// Looks at the ledger on a PostgreSQL server, at the address that [`Ledger::connect`] takes. The role may be one that only
    /// reads, and nothing is written whatever it may.
    ///
    /// # Errors
    /// [`LedgerError::Connect`].
    pub fn connect(address: &str) -> Result<Self, LedgerError> {
        Ok(Self::on(Box::new(Postgres::connect_to_read(address)?)))
    }
}

/// In a forked process the sockets are not even closed: that would say something on them.
impl Drop for Postgres {
    fn drop(&mut self) {
        if !self.process.is_current() {
            mem::forget((
                self.idle(),
                lock(&self.turn).take(),
                lock(&self.reader).take(),
            ));
        }
    }
}
