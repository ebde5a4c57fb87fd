//! Anchors: a receipt that is kept elsewhere, so that an older copy of a ledger is noticed.
//!
//! A chain alone misses that its end was cut off. An anchor says how far it once was. It only helps where whoever can put
//! back an old copy of the ledger cannot put back an old anchor: on another machine, on paper, in another administrator's
//! hands. Rollbacks to a point behind the newest anchor are not noticed.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    ops::ControlFlow,
    path::Path,
};

use odometer::journal::{NoReceipt, Receipt};
use thiserror::Error;

use crate::{
    chain::Damage,
    embedded::sync_directory,
    frame::{Flaw, Frame},
    store::{Store, StoreError},
};

/// Why a ledger does not agree with its anchor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnchorError {
    /// The ledger is older than its anchor.
    #[error(
        "the ledger was rolled back: it ends at record {head}, and its anchor is {anchor}; charges are missing. Put back the \
         newest copy"
    )]
    RolledBack {
        /// The last record of the ledger.
        head: u64,
        /// The anchor.
        anchor: Receipt,
    },
    /// The ledger has another record where its anchor was made.
    #[error(
        "the ledger is another one than that of its anchor {anchor}: record {} is {found}", anchor.seq
    )]
    Diverged {
        /// The anchor.
        anchor: Receipt,
        /// What the ledger has there.
        found: Receipt,
    },
    /// The record to compare with is damaged.
    #[error(transparent)]
    Damage(#[from] Damage),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Does the store have everything up to this anchor?
///
/// # Errors
/// [`AnchorError`].
pub fn check(store: &dyn Store, anchor: &Receipt) -> Result<(), AnchorError> {
    let mut found = None;
    store.read(anchor.seq, &mut |seq, bytes| {
        found = (seq == anchor.seq).then(|| Frame::parse(bytes).map(|frame| frame.receipt()));
        ControlFlow::Break(())
    })?;
    let damaged = |flaw| Damage {
        seq: anchor.seq,
        flaw,
    };
    match found {
        Some(Ok(found)) if found == *anchor => Ok(()),
        Some(Ok(found)) => Err(AnchorError::Diverged {
            anchor: *anchor,
            found,
        }),
        Some(Err(flaw)) => Err(damaged(flaw).into()),
        None => match store.last()? {
            Some((head, _)) if head > anchor.seq => Err(damaged(Flaw::Missing).into()),
            last => Err(AnchorError::RolledBack {
                head: last.map_or(0, |(seq, _)| seq),
                anchor: *anchor,
            }),
        },
    }
}

/// Reads a receipt: exactly what is shown, so that there is one text for each.
///
/// # Errors
/// [`NoReceipt`].
pub fn parse(text: &str) -> Result<Receipt, NoReceipt> {
    text.parse()
}

/// Reads an anchor from a file of one line. No file is no anchor.
///
/// # Errors
/// What the system says; [`io::ErrorKind::InvalidData`] if there is something else in the file.
pub fn read(path: impl AsRef<Path>) -> io::Result<Option<Receipt>> {
    match fs::read_to_string(path) {
        Ok(text) => match parse(text.trim_end_matches('\n')) {
            Ok(receipt) => Ok(Some(receipt)),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes an anchor to a file, durably: beside first, so that there is always a whole one.
///
/// # Errors
/// What the system says.
pub fn write(path: impl AsRef<Path>, anchor: &Receipt) -> io::Result<()> {
    let path = path.as_ref();
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let mut file = File::create(&beside)?;
    writeln!(file, "{anchor}")?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_directory(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_reads_back_and_nothing_else_does() {
        let receipt = Receipt {
            seq: 1_000_000,
            hash: [0xa5; 32],
        };
        let text = receipt.to_string();
        assert_eq!(text, format!("1000000:{}", "a5".repeat(32)));
        assert_eq!(parse(&text), Ok(receipt));
        for wrong in [
            String::new(),
            text.replace(':', ""),
            text.replace('a', "A"),
            format!("+{text}"),
            format!("0{text}"),
            format!("{text}0"),
            text[..text.len() - 1].to_owned(),
            text.replacen("a5a5", "é+", 1),
            text.replacen("a5", "+5", 1),
        ] {
            assert_eq!(parse(&wrong), Err(NoReceipt), "{wrong}");
        }
    }
}
