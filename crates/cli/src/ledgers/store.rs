//! Which ledger is looked at, and what is said if it cannot be.

use std::path::{Path, PathBuf};

use clap::Args;
use ledger::{LedgerError, LedgerReader, OpenStoreError, Store, Untouched, anchor};
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

    /// The file of an embedded ledger.
    pub(crate) fn file(&self) -> Result<PathBuf, CommandError> {
        let place = self.place()?;
        match is_address(&place) {
            false => Ok(PathBuf::from(place)),
            true => Err(CommandError::input(
                "--store",
                "this build of odometry reads ledgers in files only, not those on a PostgreSQL server",
            )),
        }
    }

    /// What was written after `--anchor`, or in the environment.
    pub(crate) fn anchor_file(&self) -> Option<PathBuf> {
        let said = std::env::var_os("ODOMETRY_ANCHOR").filter(|path| !path.is_empty());
        self.anchor.clone().or_else(|| said.map(PathBuf::from))
    }

    /// Opens the ledger to look at it, and compares it with its anchor, if one was given.
    pub(crate) fn view(&self) -> Result<Viewed, CommandError> {
        let path = self.file()?;
        let store = Untouched::open(&path).map_err(|error| in_words(error, &path))?;
        let ledger = LedgerReader::on(Box::new(Watched::new(Box::new(store) as Box<dyn Store>)?));
        let anchor = match self.anchor_file() {
            Some(file) => {
                let anchor = read_anchor(&file)?;
                ledger.check(&anchor)?;
                Some((file, anchor))
            }
            None => None,
        };
        let place = path.display().to_string();
        Ok(Viewed {
            ledger,
            place,
            anchor,
        })
    }
}

impl Viewed {
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
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| place.starts_with(scheme))
}

/// Says by whom a ledger is in use.
pub(crate) fn in_words(error: OpenStoreError, path: &Path) -> CommandError {
    match error {
        OpenStoreError::InUse { path: place } => CommandError::InUse {
            path: place,
            holder: holder::of(path).unwrap_or_else(|| "another process".into()),
        },
        other => LedgerError::from(other).into(),
    }
}
