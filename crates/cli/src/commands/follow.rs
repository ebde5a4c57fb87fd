//! Records as they come in, on a server.

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use ledger::LedgerEntry;
use odometer::journal::Receipt;

use crate::error::CommandError;
use crate::ledgers::Viewed;

/// How often the server is asked.
const PAUSE: Duration = Duration::from_millis(500);

/// A ledger in a file cannot be followed.
pub(super) fn is_possible(viewed: &Viewed) -> Result<(), CommandError> {
    match viewed.is_live() {
        true => Ok(()),
        false => Err(CommandError::input(
            "--follow",
            "a ledger in a file belongs to one process at a time, so nothing comes in while it is looked at; \
             look again when that process has ended (`odometry charges --since SEQ`)",
        )),
    }
}

/// The records from a number on, until one of them cannot be taken.
pub(super) fn entries(
    viewed: &Viewed,
    from: u64,
    mut each: impl FnMut(LedgerEntry) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let mut taken = Ok(());
    viewed.ledger.entries(from, |entry| {
        taken = each(entry);
        match &taken {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    taken
}

/// The records after this one as they come in, and nothing after each look. It ends when somebody ends it, or with an error: a
/// server that is behind what was seen has lost charges.
pub(super) fn forever(
    viewed: &Viewed,
    mut last: Receipt,
    mut each: impl FnMut(Option<LedgerEntry>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    loop {
        thread::sleep(PAUSE);
        viewed.ledger.check(&last)?;
        let before = last;
        entries(viewed, before.seq.saturating_add(1), |entry| {
            last = entry.receipt;
            each(Some(entry))
        })?;
        if last != before {
            each(None)?;
        }
    }
}
