//! Walking along the chain: every record is read once, in order, and checked against all before it.

use std::ops::ControlFlow;

use odometer::journal::Receipt;
use thiserror::Error;

use crate::{
    frame::{Flaw, Frame, Hash, Kind, NO_HASH, Unchained},
    store::{Store, StoreError},
};

/// Something is wrong with the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("record {seq} {}: {flaw}", if flaw.is_newer() { "cannot be read" } else { "is damaged" })]
pub struct Damage {
    /// The first record that is not as it was written.
    pub seq: u64,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// Why a walk ended early.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WalkError {
    /// A record is damaged.
    #[error(transparent)]
    Damage(#[from] Damage),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A place in the chain: what the next record must be.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    next: u64,
    before: Hash,
    /// The version of the record before: the next one has no older version.
    version: u16,
}

impl Walk {
    /// In front of the first record.
    pub const fn from_the_start() -> Self {
        Self {
            next: 0,
            before: NO_HASH,
            version: 0,
        }
    }

    /// Behind this record, which is believed. The next one may have any version.
    pub const fn after(receipt: &Receipt) -> Self {
        Self {
            // A number that nobody reaches, whatever a damaged record says.
            next: receipt.seq.saturating_add(1),
            before: receipt.hash,
            version: 0,
        }
    }

    /// Behind this record, which is believed. The next one has its version or a newer one.
    pub(crate) fn behind<B: AsRef<[u8]>>(frame: &Frame<B>) -> Self {
        Self {
            version: frame.version(),
            ..Self::after(&frame.receipt())
        }
    }

    /// The next record, which a store keeps under this number.
    ///
    /// # Errors
    /// [`Damage`].
    pub fn step<B: AsRef<[u8]>>(&mut self, at: u64, bytes: B) -> Result<Frame<B>, Damage> {
        let seq = self.next;
        let damage = |flaw| Damage { seq, flaw };
        if at != seq {
            return Err(damage(Flaw::Missing));
        }
        let frame = Frame::read(bytes, seq, &self.before).map_err(damage)?;
        if (frame.kind() == Kind::Begin) != (seq == 0) {
            return Err(damage(Flaw::Altered));
        }
        let (found, after) = (frame.version(), self.version);
        if found < after {
            return Err(damage(Flaw::Older { found, after }));
        }
        *self = Self::behind(&frame);
        Ok(frame)
    }

    /// Puts a new record here.
    pub fn seal(&mut self, draft: Unchained) -> Frame {
        let frame = draft.seal(self.next, &self.before);
        *self = Self::behind(&frame);
        frame
    }

    /// Where it stands: the last record that was read.
    pub fn head(&self) -> Option<Receipt> {
        Some(Receipt {
            seq: self.next.checked_sub(1)?,
            hash: self.before,
        })
    }

    /// Reads all records of a store from here on.
    ///
    /// # Errors
    /// [`WalkError`].
    pub fn through(
        &mut self,
        store: &dyn Store,
        mut each: impl FnMut(&Frame<&[u8]>) -> ControlFlow<()>,
    ) -> Result<(), WalkError> {
        let mut damage = None;
        store.read(self.next, &mut |at, bytes| match self.step(at, bytes) {
            Ok(frame) => each(&frame),
            Err(found) => {
                damage = Some(found);
                ControlFlow::Break(())
            }
        })?;
        damage.map_or(Ok(()), |damage| Err(damage.into()))
    }
}

/// Reads everything, and checks every hash and both indices. The answer is the last record.
///
/// # Errors
/// [`WalkError`]: the first record that is not as it was written. Records that are missing at the end leave no trace in the
/// chain: compare the answer with an anchor.
pub fn verify(store: &dyn Store) -> Result<Option<Receipt>, WalkError> {
    let (mut walk, mut keys, mut checkpoints) = (Walk::from_the_start(), 0, None);
    let mut count = 0;
    let mut wrong = None;
    walk.through(store, |frame| {
        if frame.kind() == Kind::Checkpoint {
            checkpoints = Some(frame.seq());
            count += 1;
        }
        if let Some(key) = frame.key() {
            keys += 1;
            match store.find(key) {
                Ok(Some(seq)) if seq == frame.seq() => {}
                other => {
                    wrong = Some((frame.seq(), other));
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    })?;
    if let Some((seq, found)) = wrong {
        found?;
        return Err(disagrees(seq));
    }
    let head = walk.head();
    if store.indexed()? != (keys, count) || store.checkpoint()? != checkpoints {
        return Err(disagrees(head.map_or(0, |head| head.seq)));
    }
    Ok(head)
}

fn disagrees(seq: u64) -> WalkError {
    let flaw = Flaw::Index;
    Damage { seq, flaw }.into()
}
