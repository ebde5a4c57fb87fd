//! How far an audit may go, and what its histories weigh.

use std::sync::atomic::{AtomicI64, Ordering};

use dashu_base::BitTest;
use dashu_ratio::RBig;
use queryable::coins::Script;

use crate::error::AuditError;

/// How many runs are made at most, unless said otherwise.
pub const DEFAULT_RUNS: u64 = 100_000_000;

/// How many rounds a history may have: attacks are trees, and are walked recursively.
pub const MAX_ROUNDS: usize = 2000;

/// How many draws a run may make, unless said otherwise.
pub const DEFAULT_DRAWS: usize = Script::DEFAULT_DRAWS;

/// About how many bytes the histories may take, unless said otherwise: 4 GiB.
pub const DEFAULT_MEMORY: u64 = 4 << 30;

/// How many runs are made again per input, unless said otherwise.
pub const DEFAULT_RERUNS: usize = 512;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) runs: u64,
    pub(crate) draws: usize,
    pub(crate) memory: u64,
    pub(crate) reruns: usize,
    /// How many outcomes of a draw are told apart.
    pub(crate) outcomes: usize,
}

impl Limits {
    /// This script within these limits.
    pub(crate) fn applied(&self, script: Script) -> Script {
        script.at_most(self.draws).cut_to(self.outcomes)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            runs: DEFAULT_RUNS,
            draws: DEFAULT_DRAWS,
            memory: DEFAULT_MEMORY,
            reruns: DEFAULT_RERUNS,
            outcomes: usize::MAX,
        }
    }
}

/// An error if histories would be too long.
pub(crate) fn check_depth(depth: usize) -> Result<(), AuditError> {
    if depth <= MAX_ROUNDS {
        return Ok(());
    }
    Err(AuditError::Parameter {
        name: "the depth",
        value: depth.to_string(),
        expected: "at most 2000 rounds",
    })
}

/// What all threads of an audit hold together, in bytes, estimated.
pub(crate) struct Memory {
    limit: u64,
    used: AtomicI64,
}

impl Memory {
    pub(crate) fn new(limit: u64) -> Self {
        let used = AtomicI64::new(0);
        Self { limit, used }
    }

    pub(crate) fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes these bytes, or gives them back.
    pub(crate) fn change(&self, bytes: i64) -> Result<(), AuditError> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        let used = used.saturating_add(bytes);
        match u64::try_from(used).is_ok_and(|used| used > self.limit) {
            true => Err(self.too_much()),
            false => Ok(()),
        }
    }

    /// Takes these bytes.
    pub(crate) fn take(&self, bytes: u128) -> Result<(), AuditError> {
        self.change(bytes.min(i64::MAX as u128 / 2) as i64)
    }

    pub(crate) fn too_much(&self) -> AuditError {
        AuditError::TooMuchMemory { limit: self.limit }
    }
}

/// One thread's part of it: settled now and then, so that threads do not wait for one another.
pub(crate) struct Meter<'a> {
    memory: &'a Memory,
    unsettled: i64,
    grain: i64,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(memory: &'a Memory) -> Self {
        let grain = (memory.limit / 64).min(1 << 20) as i64;
        Self {
            memory,
            unsettled: 0,
            grain,
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), AuditError> {
        self.unsettled = self.unsettled.saturating_add_unsigned(bytes as u64);
        match self.unsettled > self.grain {
            true => self.settle(),
            false => Ok(()),
        }
    }

    #[inline]
    pub(crate) fn give_back(&mut self, bytes: usize) {
        self.unsettled = self.unsettled.saturating_sub_unsigned(bytes as u64);
    }

    /// What took so many bytes takes so many now.
    pub(crate) fn change(&mut self, before: usize, now: usize) -> Result<(), AuditError> {
        self.give_back(before);
        self.take(now)
    }

    pub(crate) fn settle(&mut self) -> Result<(), AuditError> {
        self.memory.change(std::mem::take(&mut self.unsettled))
    }
}

/// The bytes of a number that do not fit into its own place.
pub(crate) fn heap(value: &RBig) -> usize {
    long(value.numerator().bit_len()) + long(value.denominator().bit_len())
}

/// The same of an integer of so many bits.
pub(crate) fn long(bits: usize) -> usize {
    if bits <= 128 { 0 } else { bits / 8 }
}
