//! The blocks of one key's stream 0, one for each child, and who gets which.
//!
//! A function under `Root::run` gets the next block from 0 on when it first draws or spawns. A child that is spawned gets
//! a number at once and its block, from 2^63 on, when it first needs it. So no two children share a block, and a function
//! that draws nothing uses none up.

use std::sync::{OnceLock, TryLockError};

use chacha20::{ChaChaCore, R20, variants::Legacy};
use rand_core::{SeedableRng, block::Generator};
use zeroize::Zeroizing;

use super::stream::{BLOCK, Block, Key};
use crate::sync::{AtomicU64, Mutex, Ordering, thread_index};

/// How many blocks are made at a time: as many as ChaCha20 makes in the time of one.
pub(super) const BATCH: usize = 4;
/// Where the blocks of numbered children begin.
const NUMBERED: u64 = 1 << 63;
/// How many batches are open at a time, if their order need not reproduce: a power of two.
const SHELVES: usize = if cfg!(model) { 1 } else { 4 };

type Buffer = Zeroizing<[u32; BATCH * BLOCK]>;

/// The children's blocks under one key.
pub(crate) struct Blocks {
    key: Key,
    /// Blocks go to functions in the order in which they first draw, so that a seeded run reproduces; otherwise threads
    /// that run functions at the same time take them from different batches.
    ordered: bool,
    desk: OnceLock<Box<Desk>>,
}

/// Where functions under `run` get their blocks: made by the first of them.
struct Desk {
    taken: Apart<AtomicU64>,
    shelves: Box<[Apart<Mutex<Batch>>]>,
}

/// Two cache lines of its own: processors fetch them in pairs.
#[repr(align(128))]
struct Apart<T>(T);

/// Blocks that are made and not taken yet.
pub(super) struct Batch {
    pub(super) words: Buffer,
    left: usize,
}

impl Batch {
    pub(super) fn empty() -> Self {
        Self {
            words: Buffer::new([0; BATCH * BLOCK]),
            left: 0,
        }
    }

    pub(super) fn take(&mut self, fill: impl FnOnce(&mut Buffer)) -> Block {
        if self.left == 0 {
            fill(&mut self.words);
            self.left = BATCH;
        }
        let next = BATCH - self.left;
        self.left -= 1;
        Block::take(&mut self.words.as_chunks_mut().0[next])
    }
}

impl Blocks {
    pub(super) fn new(key: Key, ordered: bool) -> Self {
        Self {
            key,
            ordered,
            desk: OnceLock::new(),
        }
    }

    /// The blocks of the children of a child without coins of its own: a root.
    pub(super) fn below(&self, number: u64) -> Self {
        Self::new(self.numbered(number).into_key(), self.ordered)
    }

    pub(super) fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// The block of the spawned child with this number.
    pub(super) fn numbered(&self, number: u64) -> Block {
        self.alone(NUMBERED | number)
    }

    /// The block of the function that draws next. It never waits: who finds a batch in use makes a block alone.
    pub(super) fn next(&self) -> Block {
        let desk = self.desk.get_or_init(|| Box::new(Desk::new(self.ordered)));
        let take = |count: usize| desk.taken.0.fetch_add(count as u64, Ordering::Relaxed);
        let shelf = &desk.shelves[thread_index() & (desk.shelves.len() - 1)].0;
        let mut batch = match shelf.try_lock() {
            Ok(batch) => batch,
            Err(TryLockError::Poisoned(batch)) => batch.into_inner(),
            Err(TryLockError::WouldBlock) => return self.alone(take(1)),
        };
        batch.take(|words| self.fill(take(BATCH), words))
    }

    #[cfg(test)]
    pub(super) fn while_in_use(&self, other: impl FnOnce()) {
        let desk = self.desk.get().expect("somebody has drawn");
        let batch = desk.shelves[0].0.lock();
        other();
        drop(batch);
    }

    fn alone(&self, at: u64) -> Block {
        let mut words = Buffer::new([0; BATCH * BLOCK]);
        self.fill(at, &mut words);
        Block::take(&mut words.as_chunks_mut().0[0])
    }

    fn fill(&self, at: u64, words: &mut Buffer) {
        let mut core = ChaChaCore::<R20, Legacy>::from_seed(self.key.bytes());
        core.set_block_pos(at);
        core.generate(words);
    }
}

impl Desk {
    fn new(ordered: bool) -> Self {
        let shelves = if ordered { 1 } else { SHELVES };
        let shelf = |_| Apart(Mutex::new(Batch::empty()));
        Self {
            taken: Apart(AtomicU64::new(0)),
            shelves: (0..shelves).map(shelf).collect(),
        }
    }
}
