//! What other processes have written: read when this one gets its turn.

use std::ops::ControlFlow;

use odometer::journal::{JournalError, Record, Tell};

use super::{Inner, damaged};
use crate::{
    chain::Walk,
    codec,
    frame::Kind,
    store::{Cause, StoreError},
    sync::lock,
};

/// So many records are told at once.
const SOME: usize = 4096;

impl Inner {
    /// Takes the turn, and brings everything that is open up to date.
    pub(super) fn catch_up(&self, tell: &mut Tell<'_>) -> Result<(), JournalError> {
        let mut walk = self.log.end()?;
        let Some(before) = walk.head() else {
            return Err(JournalError::Damaged("it has no records".into()));
        };
        let (mut news, mut wrong) = (Vec::new(), None);
        let Some(shared) = self.log.store().shared() else {
            return Ok(());
        };
        let taken = shared.take_turn(&before, &mut |at, bytes| {
            let heard = self.hear(&mut walk, at, bytes).and_then(|record| {
                news.extend(record);
                if news.len() < SOME {
                    return Ok(());
                }
                tell(&std::mem::take(&mut news))
            });
            match heard {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    wrong = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        // Also if not everything could be read: what has been heard is not heard again.
        let told = tell(&news);
        self.log.advance(walk);
        let head = match (wrong, told, taken) {
            (Some(error), _, _) | (None, Err(error), _) => return Err(self.give_up(error)),
            (None, Ok(()), Err(error)) => {
                let reason = error.to_string();
                return Err(match error {
                    StoreError::Unreadable(_) => self.give_up(JournalError::Damaged(reason)),
                    _ => JournalError::Unreachable { reason },
                });
            }
            (None, Ok(()), Ok(head)) => head,
        };
        match walk.head() {
            Some(known) if known == head => Ok(()),
            Some(known) => {
                let why = format!(
                    "it ends at {head}, and this process has seen {known}: it was rolled back, or a failover has lost records"
                );
                Err(self.give_up(JournalError::Damaged(why)))
            }
            None => Err(self.give_up(JournalError::Damaged("it has no records".into()))),
        }
    }

    /// What is in memory is not what was written: nothing more may be charged on its grounds.
    fn give_up(&self, error: JournalError) -> JournalError {
        self.log.stop(Cause::System(error.to_string()));
        self.log.give_back();
        error
    }

    fn hear(&self, walk: &mut Walk, at: u64, bytes: &[u8]) -> Result<Option<Record>, JournalError> {
        let broken = |why: String| JournalError::Damaged(format!("record {at}: {why}"));
        let frame = walk
            .step(at, bytes)
            .map_err(|damage| match damage.flaw.is_newer() {
                true => JournalError::Newer {
                    reason: damage.to_string(),
                },
                false => broken(damage.to_string()),
            })?;
        let mut book = lock(&self.book);
        match frame.kind() {
            Kind::Checkpoint => {
                if codec::checkpoint(&book.state).map_err(broken)? != frame.body() {
                    let why = "it says something else than the records before it";
                    return Err(broken(why.into()));
                }
                book.since = 0;
                Ok(None)
            }
            _ => {
                let record = codec::record(&frame).map_err(broken)?;
                let store = self.log.store();
                let reference = codec::check_reference(store, at, &record.event);
                reference.map_err(super::unreadable)?.map_err(broken)?;
                book.state.apply(&record).map_err(damaged)?;
                book.since += 1;
                if let Some(key) = frame.key() {
                    book.keys.heard(key, frame.receipt(), || record.clone());
                }
                Ok(Some(record))
            }
        }
    }
}
