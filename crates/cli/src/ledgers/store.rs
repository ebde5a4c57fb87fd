//! Which ledger is looked at, and what is said if it cannot be.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use ledger::{
    Ledger, LedgerError, LedgerReader, OpenStoreError, Postgres, Store, Untouched, anchor,
};
use odometer::journal::{Receipt, State};

use super::{holder, progress::Watched};
use crate::error::CommandError;

/// Which ledger.
#[derive(Clone, Debug, Args)]
pub struct StoreArguments {
    /// The ledger: a file, or postgres://…; without it, what ODOMETRY_STORE says
    #[arg(long, short, value_name = "FILE|URL")]
    store: Option<String>,
    /// Refuse a ledger that is older than this anchor; without it, what ODOMETRY_ANCHOR says
    #[arg(long, short, value_name = "FILE")]
    anchor: Option<PathBuf>,
}

/// Where a ledger is.
pub(crate) enum Whereabouts {
    File(PathBuf),
    /// Its address has no password in it: such an address is refused.
    Server(String),
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Whereabouts::File(path) => path.display().fmt(f),
            Whereabouts::Server(address) => f.write_str(address),
        }
    }
}

/// A ledger that is looked at.
pub(crate) struct Viewed {
    pub(crate) ledger: LedgerReader,
    /// What it is called.
    pub(crate) place: String,
    /// The anchor that it was compared with.
    pub(crate) anchor: Option<(PathBuf, Receipt)>,
}

impl StoreArguments {
    /// What was written after `--store`, or in the environment.
    pub(crate) fn place(&self) -> Result<String, CommandError> {
        let said = self.store.clone();
        let said = said.or_else(|| std::env::var("ODOMETRY_STORE").ok());
        said.filter(|place| !place.is_empty()).ok_or_else(|| {
            let reason = "which ledger? Write --store FILE, or set ODOMETRY_STORE";
            CommandError::input("--store", reason)
        })
    }

    /// Where the ledger is.
    pub(crate) fn whereabouts(&self) -> Result<Whereabouts, CommandError> {
        let place = self.place()?;
        Ok(match is_address(&place) {
            true => Whereabouts::Server(place),
            false => Whereabouts::File(PathBuf::from(place)),
        })
    }

    /// What was written after `--anchor`, or in the environment.
    pub(crate) fn anchor_file(&self) -> Option<PathBuf> {
        let said = std::env::var_os("ODOMETRY_ANCHOR").filter(|path| !path.is_empty());
        self.anchor.clone().or_else(|| said.map(PathBuf::from))
    }

    /// Opens the ledger to look at it, and compares it with its anchor, if one was given.
    pub(crate) fn view(&self) -> Result<Viewed, CommandError> {
        let whereabouts = self.whereabouts()?;
        let store: Box<dyn Store> = match &whereabouts {
            Whereabouts::File(path) => {
                Box::new(Untouched::open(path).map_err(|error| in_words(error, path))?)
            }
            Whereabouts::Server(address) => Box::new(Postgres::connect_to_read(address)?),
        };
        let ledger = LedgerReader::on(Box::new(Watched::new(store)?));
        let anchor = match self.anchor_file() {
            Some(file) => {
                let anchor = read_anchor(&file)?;
                ledger.check(&anchor)?;
                Some((file, anchor))
            }
            None => None,
        };
        Ok(Viewed {
            ledger,
            place: whereabouts.to_string(),
            anchor,
        })
    }
}

impl Whereabouts {
    /// Opens the ledger to write to it. What is not there is begun.
    pub(crate) fn open(&self, anchor: Option<PathBuf>) -> Result<Ledger, CommandError> {
        let opened = match (self, anchor) {
            (Whereabouts::File(path), Some(anchor)) => Ledger::open_anchored(path, anchor),
            (Whereabouts::File(path), None) => Ledger::open(path),
            (Whereabouts::Server(address), Some(anchor)) => {
                Ledger::connect_anchored(address, anchor)
            }
            (Whereabouts::Server(address), None) => Ledger::connect(address),
        };
        opened.map_err(|error| match (error, self) {
            (LedgerError::Open(error), Whereabouts::File(path)) => in_words(error, path),
            (other, _) => other.into(),
        })
    }
}

impl Viewed {
    /// Is it on a server, so that others write to it while it is looked at?
    pub(crate) fn is_live(&self) -> bool {
        self.ledger.store().shared().is_some()
    }

    /// What everything amounts to, from the last checkpoint on, and the last record.
    pub(crate) fn state(&self) -> Result<(State, Receipt), CommandError> {
        Ok(self.ledger.state()?)
    }
}

/// An anchor that must be there.
pub(crate) fn read_anchor(path: &Path) -> Result<Receipt, CommandError> {
    let place = path.display().to_string();
    let failed = |source| CommandError::File {
        path: place.clone(),
        source,
    };
    let none = || std::io::Error::from(std::io::ErrorKind::NotFound);
    anchor::read(path)
        .and_then(|anchor| anchor.ok_or_else(none))
        .map_err(failed)
}

fn is_address(place: &str) -> bool {
    let words = [
        "host=",
        "hostaddr=",
        "user=",
        "dbname=",
        "password=",
        "port=",
    ];
    let said = |word: &str| words.iter().any(|key| word.starts_with(key));
    place.contains("://") || place.split_whitespace().any(said)
}

/// Says by whom a ledger is in use.
fn in_words(error: OpenStoreError, path: &Path) -> CommandError {
    match error {
        OpenStoreError::InUse { path: place } => CommandError::InUse {
            path: place,
            holder: holder::of(path).unwrap_or_else(|| "another process".into()),
        },
        other => LedgerError::from(other).into(),
    }
}
