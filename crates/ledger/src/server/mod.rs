//! The store on a PostgreSQL server: many processes write to one ledger, in turns on the row of its head.
//!
//! Two connections, each on a thread of its own: one for the turn, and one for reads. Neither is touched under an
//! account's lock, and neither depends on the caller's runtime.

mod address;
mod connection;
mod error;
mod parameters;
mod settings;
#[cfg(all(test, target_os = "linux"))]
mod silent;
mod tls;
mod turn;
mod until;

use std::{
    ops::ControlFlow,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use fork_count::Process;
use odometer::journal::Receipt;
use postgres::{Client, Error};

pub use self::error::ConnectError;
use self::{
    address::Address,
    connection::{Connection, Failure, LIMITS, Limits},
    error::unread,
    settings::{Settings, checked},
    turn::{Turn, number, page},
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

/// How long to go on trying to reach a server that was there before.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many records are counted by one statement, which has to end within the server's `statement_timeout`.
const COUNTED: i64 = 1 << 18;

/// Records on a PostgreSQL server. `setup.sql` makes the tables and the roles.
pub struct Postgres {
    address: Arc<Address>,
    /// Between turns, the connection of the last.
    idle: Mutex<Option<Connection>>,
    turn: Mutex<Option<Turn>>,
    reader: Mutex<Option<Connection>>,
    hazards: Vec<Hazard>,
    patience: Duration,
    limits: Limits,
    /// Is it only looked at? Then the server is told to let nothing be written.
    only_read: bool,
    /// A forked process has the sockets as well, and would talk in between.
    process: Process,
}

impl Postgres {
    /// Connects to a ledger that was set up: `postgres://USER@HOST:PORT/DATABASE`, or `host=/socket/directory user=… dbname=…`.
    /// The password comes from the variable `PGPASSWORD` or from a pass file. [`Ledger::connect`] documents encryption and threads.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect(address: &str) -> Result<Self, ConnectError> {
        let (store, is_begun) = Self::new(address, false, LIMITS)?;
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
        let (store, is_begun) = Self::new(address, true, LIMITS)?;
        let at = || store.address.shown.clone();
        match is_begun {
            true => Ok(store),
            false => Err(ConnectError::NotBegun { at: at() }),
        }
    }

    /// The store, and whether it has records.
    fn new(address: &str, only_read: bool, limits: Limits) -> Result<(Self, bool), ConnectError> {
        let address = Arc::new(Address::parse(address)?);
        let (connection, settings) = connected(&address, only_read, limits)?;
        let failover = settings.follows.then_some(Hazard::Failover);
        let network = address.is_exposed().then_some(Hazard::Network);
        let store = Self {
            hazards: failover.into_iter().chain(network).collect(),
            idle: Mutex::new(None),
            turn: Mutex::new(None),
            reader: Mutex::new(Some(connection)),
            process: Process::current(),
            patience: PATIENCE,
            limits,
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
    fn connected(&self) -> Result<Connection, ConnectError> {
        Ok(connected(&self.address, self.only_read, self.limits)?.0)
    }

    fn idle(&self) -> Option<Connection> {
        lock(&self.idle).take()
    }

    fn keep(&self, connection: Connection) {
        *lock(&self.idle) = Some(connection);
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

    /// Reads, on a new connection if the old one is gone. A store that is written to waits for a server that restarts; one that
    /// is only looked at tries once more.
    fn look<X: Send + 'static>(
        &self,
        look: impl Fn(&mut Client) -> Result<X, Error> + Clone + Send + 'static,
    ) -> Result<X, StoreError> {
        if !self.process.is_current() {
            return Err(StoreError::Unreachable(Cause::Forked));
        }
        let patience = if self.only_read {
            Duration::ZERO
        } else {
            self.patience
        };
        let began = Instant::now();
        let deadline = began + patience;
        let mut reader = lock(&self.reader);
        let old = reader.take();
        if old.is_none() && began.elapsed() > self.patience + self.limits.connecting {
            // Each look-up that waits would otherwise try for as long as the one before it.
            return Err(unreachable(
                &"another look-up has waited for the server in vain",
            ));
        }
        let mut look_on = |connection: Connection| match connection.run(look.clone()) {
            Err(failure) if failure.is_closed() => Err(failure),
            done => {
                *reader = Some(connection);
                Ok(done)
            }
        };
        if let Some(old) = old
            && let Ok(done) = look_on(old)
        {
            return done.map_err(|failure| unread(&failure));
        }
        let looked = self.patiently(deadline, || {
            let connection = self.connected()?;
            match look_on(connection) {
                Err(failure) if is_unreadable(&failure) => Ok(Err(failure)),
                done => done.map_err(|failure| failure.at(&self.address.shown)),
            }
        });
        let done = looked.map_err(|error| unreachable(&error))?;
        done.map_err(|failure| unread(&failure))
    }

    fn read_until(&self, from: u64, until: i64, each: &mut Each<'_>) -> Result<(), StoreError> {
        let mut next = number(from);
        loop {
            // Whoever takes a record may look for others meanwhile.
            let rows = self.look(move |client| page(client, next, until))?;
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

    /// The number of records that a query counts, which takes the first and the last of a range. Each statement counts a limited
    /// number, so that it ends in time.
    fn count_in_ranges(&self, query: &'static str, until: i64) -> Result<u64, StoreError> {
        let last = "SELECT max(seq) FROM odometry.records WHERE seq <= $1";
        let last = self.count(last, until)?.map_or(-1, number);
        let (mut from, mut counted) = (0, 0);
        while from <= last {
            let to = last.min(from.saturating_add(COUNTED - 1));
            let ask = move |client: &mut Client| client.query_one(query, &[&from, &to])?.try_get(0);
            let found: i64 = self.look(ask)?;
            counted += found.unsigned_abs();
            from = to.saturating_add(1);
        }
        Ok(counted)
    }

    fn count(&self, query: &'static str, until: i64) -> Result<Option<u64>, StoreError> {
        let ask = move |client: &mut Client| client.query_one(query, &[&until])?.try_get(0);
        let found: Option<i64> = self.look(ask)?;
        Ok(found.map(i64::unsigned_abs))
    }
}

/// Has the server found its own files damaged? Then trying again does not help.
fn is_unreadable(failure: &Failure) -> bool {
    matches!(unread(failure), StoreError::Unreadable(_))
}

fn unreachable(why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unreachable(Cause::System(why.to_string()))
}

/// A new connection, to a server that is as it should be.
fn connected(
    address: &Arc<Address>,
    only_read: bool,
    limits: Limits,
) -> Result<(Connection, Settings), ConnectError> {
    let there = Arc::clone(address);
    Connection::open(&address.shown, limits, move || {
        let mut client = there.connect()?;
        let session = match only_read {
            true => {
                "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY; SET statement_timeout = '60s'"
            }
            false => "SET statement_timeout = '60s'",
        };
        let set = client.batch_execute(session);
        set.map_err(|error| ConnectError::of(&there.shown, &error))?;
        let settings = checked(&there, &mut client)?;
        Ok((client, settings))
    })
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
        let key = key.to_vec();
        let found = self.look(move |client| client.query_opt(query, &[&key]))?;
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
        let turn = self.turn().map_err(StoreError::Unreachable)?;
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
    /// To a server on another machine, the connection is encrypted and the server's certificate is verified:
    /// `sslmode=verify-full` with `sslrootcert=FILE`, the certificates of the authorities. Without encryption it is refused, unless
    /// the address has `sslmode=disable`.
    ///
    /// Connections live on threads of their own, so a ledger is used and dropped on any thread, also inside of an asynchronous
    /// runtime. Calls wait for the server, and block the thread they are made on: where other tasks need it, use a blocking task.
    /// See also [`hazards`](Self::hazards).
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
