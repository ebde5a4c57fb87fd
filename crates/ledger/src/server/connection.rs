//! A connection to a server, on a thread of its own.
//!
//! The client runs an asynchronous runtime, and panics on a thread that drives another one, also when it is dropped there. So it
//! never leaves the thread that connects. That thread takes jobs from a channel and ends when the handle is dropped.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use fork_count::Process;
use postgres::{Client, Error, error::SqlState};

use super::error::{ConnectError, reason};
use crate::store::Cause;

/// The name of each thread, as a debugger shows it.
const NAME: &str = "odometry ledger";

/// How long to wait for a new connection: TCP, TLS, log-in and the check of the server's settings.
pub(super) const CONNECTING: Duration = Duration::from_secs(10);

/// How long to wait for the end of a job. It is longer than the server's `statement_timeout`, so that a server that works reports
/// its own error first.
const ANSWERING: Duration = Duration::from_secs(120);

/// How long a server may take. Tests use shorter times.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) connecting: Duration,
    pub(super) answering: Duration,
}

pub(super) const LIMITS: Limits = Limits {
    connecting: CONNECTING,
    answering: ANSWERING,
};

type Job = Box<dyn FnOnce(&mut Client) + Send>;

/// A handle to a connection. To drop it waits for nothing: the thread closes the connection by itself.
pub(super) struct Connection {
    /// Until it is dropped.
    jobs: Option<Sender<Job>>,
    answering: Duration,
    /// In a forked process the thread does not exist.
    process: Process,
}

/// Why a job was not done.
pub(super) enum Failure {
    /// The client or the server reports an error.
    Statement { error: Error, is_closed: bool },
    /// The client panicked, now or before. Its connection is closed.
    Panicked,
    /// The server has not answered for this time. The job may still be done later, so the connection must not be used again.
    Silent(Duration),
    /// The process was forked after the connection was made.
    Forked,
}

impl Connection {
    /// Starts a thread that connects, and waits until it has, for a limited time. The second value of `connect` is returned, too.
    /// After the limit, the thread closes the connection as soon as the server answers or closes it.
    ///
    /// # Errors
    /// Those of `connect`, [`ConnectError::NoThread`], and [`ConnectError::Unreachable`] after the limit.
    pub(super) fn open<X: Send + 'static>(
        at: &str,
        limits: Limits,
        connect: impl FnOnce() -> Result<(Client, X), ConnectError> + Send + 'static,
    ) -> Result<(Self, X), ConnectError> {
        let no_thread = |reason: String| ConnectError::NoThread {
            at: at.to_owned(),
            reason,
        };
        let (jobs, queue) = mpsc::channel();
        let (opened, outcome) = mpsc::sync_channel(1);
        let work = move || match caught(connect) {
            Some(Ok((client, found))) => {
                // If the caller of `open` has given up, the queue is closed, and so is the connection.
                let _ = opened.send(Ok(found));
                serve(client, queue);
            }
            Some(Err(error)) => drop(opened.send(Err(error))),
            None => {}
        };
        let thread = thread::Builder::new().name(NAME.into()).spawn(work);
        thread.map_err(|error| no_thread(error.to_string()))?;
        let found = match outcome.recv_timeout(limits.connecting) {
            Ok(opened) => opened?,
            Err(RecvTimeoutError::Timeout) => {
                return Err(Failure::Silent(limits.connecting).at(at));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(no_thread("the client panicked while it connected".into()));
            }
        };
        let connection = Self {
            jobs: Some(jobs),
            answering: limits.answering,
            process: Process::current(),
        };
        Ok((connection, found))
    }

    /// Does a job on the connection's thread, and waits for it, for a limited time. After [`Failure::Silent`] the caller drops this
    /// handle: then the thread sends no other statement, and closes the connection when the job has ended.
    pub(super) fn run<X: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Client) -> Result<X, Error> + Send + 'static,
    ) -> Result<X, Failure> {
        if !self.process.is_current() {
            return Err(Failure::Forked);
        }
        let (answer, answered) = mpsc::sync_channel(1);
        let job = move |client: &mut Client| {
            let done = job(client).map_err(|error| Failure::Statement {
                is_closed: client.is_closed() || error.is_closed(),
                error,
            });
            let _ = answer.send(done);
        };
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(Box::new(job)));
        if !matches!(sent, Some(Ok(()))) {
            return Err(Failure::Panicked);
        }
        match answered.recv_timeout(self.answering) {
            Ok(done) => done,
            Err(RecvTimeoutError::Timeout) => Err(Failure::Silent(self.answering)),
            Err(RecvTimeoutError::Disconnected) => Err(Failure::Panicked),
        }
    }
}

/// In a forked process nothing is dropped: the thread that holds the other end of the channel, and perhaps its lock, is not there.
impl Drop for Connection {
    fn drop(&mut self) {
        if !self.process.is_current() {
            mem::forget(self.jobs.take());
        }
    }
}

/// Does jobs until the handle is gone, or one of them panics.
fn serve(mut client: Client, queue: Receiver<Job>) {
    caught(|| queue.iter().for_each(|job| job(&mut client)));
    caught(|| drop(client));
    drop(queue);
}

/// Catches a panic. Its payload is not dropped, because that could panic again.
fn caught<R>(run: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(run))
        .map_err(mem::forget)
        .ok()
}

impl Failure {
    /// Is the connection of no use any more?
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Statement { error, is_closed } => *is_closed || has_class(error, &["57P", "08"]),
            Self::Panicked | Self::Silent(_) | Self::Forked => true,
        }
    }

    /// Has the server refused the statement, for a reason that time does not mend?
    pub(super) fn is_refusal(&self) -> bool {
        let Self::Statement { error, .. } = self else {
            return false;
        };
        let is_passing = self.is_closed() || has_class(error, &["57", "08", "25"]);
        error.as_db_error().is_some() && !is_passing
    }

    /// The code of an error of the server's.
    pub(super) fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Statement { error, .. } => error.code(),
            Self::Panicked | Self::Silent(_) | Self::Forked => None,
        }
    }

    /// The error for the operator of the server at this address.
    pub(super) fn at(&self, at: &str) -> ConnectError {
        match self {
            Self::Statement { error, .. } => ConnectError::of(at, error),
            Self::Panicked | Self::Silent(_) => ConnectError::Unreachable {
                at: at.to_owned(),
                reason: self.reason(),
            },
            Self::Forked => ConnectError::NoThread {
                at: at.to_owned(),
                reason: self.reason(),
            },
        }
    }

    /// The text of the system's or the server's error.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Statement { error, .. } => reason(error),
            Self::Panicked => "the client panicked, and its connection was closed".into(),
            Self::Silent(limit) => {
                format!("no answer within {limit:?}, and the connection was given up")
            }
            Self::Forked => Cause::Forked.to_string(),
        }
    }
}

/// Does the code of a server's error begin with one of these? `57P` is a server that stops or starts, `57` a statement that an
/// operator cancelled, `08` a connection that was lost, `25` a transaction that has ended.
fn has_class(error: &Error, classes: &[&str]) -> bool {
    let code = error.code().map(SqlState::code);
    code.is_some_and(|code| classes.iter().any(|class| code.starts_with(class)))
}
