//! What can be wrong with a server, in words that say what to do. No text has a password in it.

use postgres::{Error, error::SqlState};
use thiserror::Error;

use super::connection::Failure;
use crate::store::{Cause, StoreError};

/// Why a ledger on a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It is no address.
    #[error("this is no address of a PostgreSQL server: write postgres://USER@HOST:PORT/DATABASE")]
    Address,
    /// Addresses are seen by others: in lists of processes, in logs.
    #[error(
        "the address has a password in it, where others can see it: put it into the variable PGPASSWORD or into a pass file"
    )]
    PasswordInAddress,
    /// The address asks for a connection to another machine, and not for its encryption.
    #[error(
        "the address {at} asks for a connection to another machine without encryption, on which passwords and charges could be \
         read and changed: add `sslmode=verify-full` and `sslrootcert=FILE`, or `sslmode=disable` where the network is trusted"
    )]
    Unencrypted {
        /// Where the server is.
        at: String,
    },
    /// The address has a mode of encryption that does not exist here.
    #[error(
        "the address asks for an `sslmode` that is not supported: write `verify-full` (or `require`, which is the same here) with \
         `sslrootcert=FILE`, or `disable`"
    )]
    EncryptionMode,
    /// Without certificates of authorities, no server can be verified.
    #[error(
        "the address asks for an encrypted connection, and names no authority that the server's certificate is verified with: add \
         `sslrootcert=FILE`, a file in PEM form"
    )]
    NoAuthority,
    /// The certificates of authorities cannot be used.
    #[error(
        "the server's certificate cannot be verified with the file {path} of `sslrootcert`: {reason}. Give a file in PEM form with \
         the certificates of the authorities"
    )]
    AuthorityFile {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A Unix socket cannot be encrypted.
    #[error(
        "the address asks for encryption on a Unix socket, where there is none: leave `sslmode` out, because nothing leaves this machine"
    )]
    EncryptedSocket,
    /// The address names a Unix socket and a `hostaddr`.
    #[error(
        "the address {at} asks for a Unix socket and has a `hostaddr`, to which the connection would be made instead, perhaps on another \
         machine: leave `hostaddr` out, or replace the socket by the name of that host"
    )]
    SocketAndHostAddress {
        /// Where the server is.
        at: String,
    },
    /// The server has no encryption.
    #[error(
        "the address asks for an encrypted connection, and the server {at} offers none: set `ssl = on` there, with a certificate"
    )]
    NotEncrypted {
        /// Which one.
        at: String,
    },
    /// The server's certificate is not one that can be trusted. Neither a password nor a charge was sent.
    #[error(
        "the server {at} was not connected to, because its certificate cannot be trusted ({reason}): check the host in the address, the \
         file of `sslrootcert`, and the names and dates in the certificate"
    )]
    Certificate {
        /// Which one.
        at: String,
        /// What is wrong with the certificate.
        reason: String,
    },
    /// A connection needs a thread, and there is none to be had.
    #[error(
        "the server {at} was not connected to, because no thread could be started for the connection ({reason}): raise the limit of \
         threads or memory of this process"
    )]
    NoThread {
        /// Which one.
        at: String,
        /// What the system says.
        reason: String,
    },
    /// The pass file cannot be used.
    #[error("the pass file {path}: {reason}")]
    PassFile {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server does not answer.
    #[error("the server {at} does not answer ({reason}): is it running, and is the address right?")]
    Unreachable {
        /// Which one.
        at: String,
        /// What the system or the server says.
        reason: String,
    },
    /// The server does not know the role, or the password is wrong.
    #[error(
        "the server {at} does not let this role in ({reason}): check the role, the variable PGPASSWORD and the pass file"
    )]
    LoggedOut {
        /// Which one.
        at: String,
        /// What the server says.
        reason: String,
    },
    /// There is no such database, or nobody has set a ledger up in it.
    #[error(
        "there is no ledger at {at} ({reason}): run `setup.sql` there, as the owner of the database"
    )]
    NotSetUp {
        /// Where.
        at: String,
        /// What is missing.
        reason: String,
    },
    /// There is a ledger, and nobody has begun it.
    #[error(
        "the ledger at {at} has no records yet, and whoever only looks writes none: the first program that launches begins it, \
         or `odometry init`"
    )]
    NotBegun {
        /// Where.
        at: String,
    },
    /// The role may not do this.
    #[error(
        "the role at {at} may not do this ({reason}): make it a member of `odometry_writer_…` of this database, or only read as \
         `odometry_reader_…`"
    )]
    Forbidden {
        /// Where.
        at: String,
        /// What the server says.
        reason: String,
    },
    /// The ledger was set up by another version.
    #[error(
        "the ledger at {at} has version {found}, and this program reads 1: use a newer program"
    )]
    Version {
        /// Where.
        at: String,
        /// Its version.
        found: i32,
    },
    /// The server is too old.
    #[error("the server {at} has version {found}: 12 is the oldest that will do")]
    OldServer {
        /// Which one.
        at: String,
        /// Its version.
        found: i32,
    },
    /// The server would lose what it has said is written.
    #[error(
        "the server {at} has `{setting} = off`, and would lose charges in a crash: set it to `on` and restart the server"
    )]
    NotDurable {
        /// Which one.
        at: String,
        /// The setting.
        setting: &'static str,
    },
    /// It follows another server.
    #[error(
        "the server {at} is a standby, which nobody writes to: give the address of the primary"
    )]
    Standby {
        /// Which one.
        at: String,
    },
}

impl ConnectError {
    /// Says what an error of the server's means.
    pub(super) fn of(at: &str, error: &Error) -> Self {
        let (at, refused, reason) = (at.to_owned(), refused_certificate(error), reason(error));
        if let Some(reason) = refused {
            return Self::Certificate { at, reason };
        }
        match error.code() {
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                Self::LoggedOut { at, reason }
            }
            Some(
                &SqlState::INVALID_CATALOG_NAME
                | &SqlState::UNDEFINED_TABLE
                | &SqlState::UNDEFINED_COLUMN
                | &SqlState::INVALID_SCHEMA_NAME,
            ) => Self::NotSetUp { at, reason },
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Self::Forbidden { at, reason },
            // The client itself says so, before it asks the server.
            None if reason.contains("password missing") => Self::LoggedOut { at, reason },
            None if reason.contains("server does not support TLS") => Self::NotEncrypted { at },
            _ => Self::Unreachable { at, reason },
        }
    }

    /// May another try succeed soon?
    pub(super) fn passes(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}

/// What it means that nothing could be read. A server that finds its own files damaged says so; anything else tells nothing of what
/// is in them.
pub(super) fn unread(failure: &Failure) -> StoreError {
    let cause = Cause::System(failure.reason());
    let class = failure.code().map(|code| &code.code()[..2]);
    match class {
        Some("XX" | "58") => StoreError::Unreadable(cause),
        _ => StoreError::Unreachable(cause),
    }
}

/// What is wrong with the server's certificate, or with how it proves that it has it.
fn refused_certificate(error: &Error) -> Option<String> {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let inner = match inner.downcast_ref::<std::io::Error>() {
            Some(error) => error.get_ref().map(|error| error as _),
            None => Some(inner),
        };
        let refused = inner.and_then(|inner: &(dyn std::error::Error + 'static)| {
            inner.downcast_ref::<rustls::Error>()
        });
        if let Some(rustls::Error::InvalidCertificate(reason)) = refused {
            return Some(reason.to_string());
        }
        source = inner.and_then(std::error::Error::source);
    }
    None
}

/// What the server or the system says. The server's details are left out: they show values.
pub(super) fn reason(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}
