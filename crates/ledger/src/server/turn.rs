//! One transaction: the head row is locked, news are read, records are inserted, the head moves, and all of it is committed.
//!
//! A connection that breaks before `COMMIT` was sent has written nothing. One that breaks later leaves a doubt, which the head
//! row resolves: nobody gets it before the old transaction has ended, one way or the other.

use std::{
    ops::ControlFlow,
    thread,
    time::{Duration, Instant},
};

use odometer::journal::Receipt;
use postgres::{Client, Error};

use super::{
    Postgres,
    connection::{Connection, Failure},
    error::ConnectError,
};
use crate::{
    frame::{Frame, Hash, Kind},
    row::by_bytes,
    store::{Cause, Each, StoreError},
};

/// `synchronous_commit` in each transaction, whatever the server's or the role's default is. Whoever waits longer for the turn
/// is told so; whoever keeps it longer without a word loses it.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
    SET LOCAL synchronous_commit = on; \
    SET LOCAL lock_timeout = '10s'; \
    SET LOCAL idle_in_transaction_session_timeout = '10s'; \
    SET LOCAL statement_timeout = '60s'";

const PAGE: i64 = 1024;

/// After so many bytes a page ends, and so does a statement that inserts: what a server takes in one message is limited, and so is
/// what a process has in memory for others. (One record may be longer by itself.)
const BYTES: usize = 16 << 20;

/// The head row, locked; nothing is written yet.
pub(super) struct Turn {
    connection: Connection,
    /// Nothing before the first record.
    pub(super) head: Option<Receipt>,
}

/// Tells commits apart.
type CommitId = [u8; 16];

/// Why records were not committed.
enum Failed {
    /// They are not there, for certain. Perhaps they can be written again.
    Before(Failure),
    /// Somebody else has written.
    Fenced,
    /// `COMMIT` was sent.
    AtCommit(Failure),
}

impl Turn {
    /// Takes the turn on this connection.
    fn take(connection: Connection) -> Result<Self, Failure> {
        let head = connection.run(|client| {
            client.batch_execute(BEGIN)?;
            let row = client.query_one("SELECT seq, hash FROM odometry.head FOR UPDATE", &[])?;
            Ok(head(row.get(0), row.get(1)))
        })?;
        Ok(Self { connection, head })
    }

    /// Hands out what comes after a record.
    pub(super) fn news(&self, after: u64, each: &mut Each<'_>) -> Result<(), Failure> {
        let mut next = number(after).saturating_add(1);
        let last = self.head.map_or(-1, |head| number(head.seq));
        while next <= last {
            let rows = self
                .connection
                .run(move |client| page(client, next, last))?;
            for (seq, bytes) in &rows {
                if each(*seq, bytes) == ControlFlow::Break(()) {
                    return Ok(());
                }
            }
            match rows.last() {
                Some((seq, _)) => next = number(*seq).saturating_add(1),
                None => break,
            }
        }
        Ok(())
    }

    fn write(self, batch: &[Frame], id: &CommitId) -> Result<Connection, Failed> {
        let Some(last) = batch.last().map(Frame::receipt) else {
            return Ok(self.connection);
        };
        let expected = self.head.map_or(-1, |head| number(head.seq));
        for some in by_bytes(batch, BYTES, 0) {
            self.insert(some, id).map_err(Failed::Before)?;
        }
        let moved = self.connection.run(move |client| {
            client.execute(
                "UPDATE odometry.head SET seq = $1, hash = $2 WHERE seq = $3",
                &[&number(last.seq), &&last.hash[..], &expected],
            )
        });
        if moved.map_err(Failed::Before)? != 1 {
            return Err(Failed::Fenced);
        }
        let committed = self.connection.run(|client| client.batch_execute("COMMIT"));
        committed.map_err(Failed::AtCommit)?;
        Ok(self.connection)
    }

    fn insert(&self, batch: &[Frame], id: &CommitId) -> Result<(), Failure> {
        let seqs: Vec<i64> = batch.iter().map(|frame| number(frame.seq())).collect();
        let key = |frame: &Frame| frame.key().map(<[u8]>::to_vec);
        let keys: Vec<Option<Vec<u8>>> = batch.iter().map(key).collect();
        let checkpoint = |frame: &Frame| frame.kind() == Kind::Checkpoint;
        let checkpoints: Vec<bool> = batch.iter().map(checkpoint).collect();
        let bytes: Vec<Vec<u8>> = batch.iter().map(|frame| frame.bytes().to_vec()).collect();
        let id = *id;
        let inserted = self.connection.run(move |client| {
            client.execute(
                "INSERT INTO odometry.records (seq, key, checkpoint, bytes, commit_id) \
                 SELECT *, $5::bytea FROM unnest($1::bigint[], $2::bytea[], $3::boolean[], $4::bytea[])",
                &[&seqs, &keys, &checkpoints, &bytes, &&id[..]],
            )
        });
        inserted.map(drop)
    }

    /// Was this commit done? Its bytes are not enough: another process may have written the same.
    fn has(&self, last: &Frame, id: &CommitId) -> Result<bool, Failure> {
        let query = "SELECT FROM odometry.records WHERE seq = $1 AND commit_id = $2";
        let (seq, id) = (number(last.seq()), *id);
        let found = self
            .connection
            .run(move |client| client.query_opt(query, &[&seq, &&id[..]]));
        Ok(found?.is_some())
    }
}

impl Postgres {
    /// Takes the turn, on a new connection if the old one is gone. Nothing has been written, so trying again is safe.
    pub(super) fn turn(&self) -> Result<Turn, Cause> {
        let mut old = self.idle();
        self.patiently(Instant::now() + self.patience, || {
            let connection = match old.take() {
                Some(connection) => connection,
                None => self.connected()?,
            };
            Turn::take(connection).map_err(|failure| failure.at(&self.address.shown))
        })
        .map_err(|error| Cause::System(error.to_string()))
    }

    /// Gives the turn back.
    pub(super) fn end(&self, turn: Turn) {
        // A connection that does not answer is dropped, which ends its transaction, too.
        let ended = turn
            .connection
            .run(|client| client.batch_execute("ROLLBACK"));
        if ended.is_ok() {
            self.keep(turn.connection);
        }
    }

    /// Writes in this turn, and finds out what came of it if the connection breaks.
    pub(super) fn commit(&self, turn: Turn, batch: &[Frame]) -> Result<(), StoreError> {
        let mut id = CommitId::default();
        getrandom::fill(&mut id)
            .map_err(|error| StoreError::NotWritten(Cause::System(error.to_string())))?;
        let (before, mut pause) = (turn.head, None);
        let (mut turn, mut in_doubt) = (Some(turn), false);
        loop {
            let here = match turn.take() {
                Some(turn) => turn,
                None => {
                    let deadline = pause.get_or_insert_with(|| self.pause()).deadline;
                    let again = self
                        .again(deadline)
                        .map_err(|cause| doubt(in_doubt, cause))?;
                    if again.head != before {
                        return self.found(again, in_doubt, (batch, &id));
                    }
                    // Not there, and nobody else has written: what was admitted still is.
                    in_doubt = false;
                    again
                }
            };
            let failure = match here.write(batch, &id) {
                Ok(connection) => {
                    self.keep(connection);
                    return Ok(());
                }
                Err(Failed::Fenced) => return Err(StoreError::NotWritten(fenced())),
                Err(Failed::Before(failure)) => failure,
                Err(Failed::AtCommit(failure)) => {
                    in_doubt = true;
                    failure
                }
            };
            if failure.is_refusal() && !in_doubt {
                return Err(StoreError::NotWritten(Cause::System(failure.reason())));
            }
            // From the first failure on: a server that is silent takes longer than the patience to fail.
            if !pause.get_or_insert_with(|| self.pause()).wait() {
                let cause = failure.at(&self.address.shown);
                return Err(doubt(in_doubt, Cause::System(cause.to_string())));
            }
        }
    }

    fn pause(&self) -> Pause {
        Pause::until(Instant::now() + self.patience)
    }

    /// The head row once more, on a new connection.
    fn again(&self, deadline: Instant) -> Result<Turn, Cause> {
        let taken = self.patiently(deadline, || {
            let taken = Turn::take(self.connected()?);
            taken.map_err(|failure| failure.at(&self.address.shown))
        });
        taken.map_err(|error| Cause::System(error.to_string()))
    }

    /// The head has moved: by us, or by others.
    fn found(
        &self,
        turn: Turn,
        in_doubt: bool,
        (batch, id): (&[Frame], &CommitId),
    ) -> Result<(), StoreError> {
        let there = batch.last().map_or(Ok(true), |last| turn.has(last, id));
        self.end(turn);
        match there {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::NotWritten(fenced())),
            Err(failure) => Err(doubt(in_doubt, Cause::System(failure.reason()))),
        }
    }

    /// Tries until it succeeds, or fails in a way that time does not mend.
    pub(super) fn patiently<X>(
        &self,
        deadline: Instant,
        mut attempt: impl FnMut() -> Result<X, ConnectError>,
    ) -> Result<X, ConnectError> {
        let mut pause = Pause::until(deadline);
        loop {
            match attempt() {
                Err(error) if error.passes() && pause.wait() => {}
                done => return done,
            }
        }
    }
}

/// Between one try and the next: short at first, then longer.
struct Pause {
    deadline: Instant,
    next: Duration,
}

impl Pause {
    fn until(deadline: Instant) -> Self {
        let next = Duration::from_millis(10);
        Self { deadline, next }
    }

    /// Waits a while, unless it is too late for another try.
    fn wait(&mut self) -> bool {
        let in_time = Instant::now() + self.next < self.deadline;
        if in_time {
            thread::sleep(self.next);
            self.next = (2 * self.next).min(Duration::from_millis(320));
        }
        in_time
    }
}

fn doubt(in_doubt: bool, cause: Cause) -> StoreError {
    match in_doubt {
        true => StoreError::InDoubt(cause),
        false => StoreError::NotWritten(cause),
    }
}

fn fenced() -> Cause {
    Cause::System("this process lost its turn, and another one has written".into())
}

pub(super) fn page(
    client: &mut Client,
    from: i64,
    until: i64,
) -> Result<Vec<(u64, Vec<u8>)>, Error> {
    let rows = client.query(
        "SELECT seq, bytes FROM ( \
           SELECT seq, bytes, sum(octet_length(bytes)) OVER (ORDER BY seq) - octet_length(bytes) AS before \
           FROM (SELECT seq, bytes FROM odometry.records WHERE seq BETWEEN $1 AND $2 ORDER BY seq LIMIT $3) AS page \
         ) AS sums WHERE before < $4 ORDER BY seq",
        &[&from, &until, &PAGE, &(BYTES as i64)],
    )?;
    let row = |row: &postgres::Row| (row.get::<_, i64>(0).unsigned_abs(), row.get(1));
    Ok(rows.iter().map(row).collect())
}

/// The head, if there is one.
pub(super) fn head(seq: i64, hash: &[u8]) -> Option<Receipt> {
    let seq = u64::try_from(seq).ok()?;
    let hash = Hash::try_from(hash).ok()?;
    Some(Receipt { seq, hash })
}

/// Numbers beyond are reached by nobody.
pub(super) fn number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}
