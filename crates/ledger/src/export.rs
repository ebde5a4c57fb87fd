//! A ledger as one plain file: what to keep beside the store, and what another program can check.
//!
//! ```text
//! "odometry ledger\n" | for each record: length u32, little endian | the record, as in [`frame`](crate::frame)
//! ```

use std::{
    io::{self, Read, Write},
    ops::ControlFlow,
};

use odometer::journal::Receipt;
use thiserror::Error;

use crate::{
    chain::{Damage, Walk, WalkError},
    frame::{Flaw, Frame, LONGEST},
    store::Store,
};

const TITLE: &[u8; 16] = b"odometry ledger\n";

/// Why a ledger was not written to a file, or read from one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The file begins with something else.
    #[error("this is no exported ledger")]
    Title,
    /// A record is damaged, in the file or in the store.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The operating system says this.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Damage> for ExportError {
    fn from(damage: Damage) -> Self {
        Self::Walk(damage.into())
    }
}

/// Writes all records of a store, and checks their chain on the way. The answer is the last of them.
///
/// # Errors
/// [`ExportError`].
pub fn write(store: &dyn Store, mut to: impl Write) -> Result<Option<Receipt>, ExportError> {
    to.write_all(TITLE)?;
    let (mut walk, mut written) = (Walk::from_the_start(), Ok(()));
    walk.through(store, |frame| {
        let bytes = frame.bytes();
        // A record is shorter than `LONGEST`.
        let length = (bytes.len() as u32).to_le_bytes();
        written = to.write_all(&length).and_then(|()| to.write_all(bytes));
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    written?;
    to.flush()?;
    Ok(walk.head())
}

/// Reads all records of a file, and checks their chain on the way. The answer is the last of them.
///
/// # Errors
/// [`ExportError`].
pub fn read(
    mut from: impl Read,
    mut each: impl FnMut(&Frame<&[u8]>),
) -> Result<Option<Receipt>, ExportError> {
    let mut title = [0; TITLE.len()];
    from.read_exact(&mut title)
        .map_err(|_| ExportError::Title)?;
    if title != *TITLE {
        return Err(ExportError::Title);
    }
    let mut walk = Walk::from_the_start();
    let mut bytes = Vec::new();
    for seq in 0.. {
        let short = Damage {
            seq,
            flaw: Flaw::Short,
        };
        match record(&mut from, &mut bytes)? {
            Some(true) => each(&walk.step(seq, bytes.as_slice())?),
            Some(false) => return Err(short.into()),
            None => break,
        }
    }
    Ok(walk.head())
}

/// The bytes of the next record, if there is one; `false` if it is cut off. Nothing is allocated for bytes that are not there.
fn record(mut from: impl Read, bytes: &mut Vec<u8>) -> io::Result<Option<bool>> {
    bytes.clear();
    match from.by_ref().take(4).read_to_end(bytes)? {
        0 => return Ok(None),
        4 => {}
        _ => return Ok(Some(false)),
    }
    let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
    bytes.clear();
    if length > LONGEST {
        return Ok(Some(false));
    }
    let read = from.take(length as u64).read_to_end(bytes)?;
    Ok(Some(read == length))
}
