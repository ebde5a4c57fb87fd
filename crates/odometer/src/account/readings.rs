//! The losses that an account was asked for: for each of a few distances, how many launches of each
//! entry were read, and what they amount to. A question reads only what is new.

use std::sync::Arc;

use measures::Tally;

use crate::{
    account::tallies::Tallies,
    sync::{Mutex, lock},
};

/// The number of distances that an account remembers.
const MAX_READINGS: usize = 16;

pub(super) struct Readings<D, T>(Mutex<Vec<Arc<Reading<D, T>>>>);

/// The reading at one distance. Threads that ask at one distance share it: one reads, and the others
/// wait for it.
pub(super) struct Reading<D, T> {
    d_in: D,
    progress: Mutex<Progress<T>>,
}

/// How far the list was read.
pub(super) struct Progress<T> {
    /// What was read; `None` before the first launch, and after a panic of a tally.
    pub(super) tallies: Option<Tallies<T>>,
    /// The number of launches that were read.
    pub(super) launched: u64,
    /// For each entry, the number of launches that were read.
    pub(super) counts: Vec<u64>,
    /// Every entry that changed after this number of launches is still to be read.
    pub(super) seen: u64,
}

impl<T> Progress<T> {
    pub(super) fn nothing() -> Self {
        Self {
            tallies: None,
            launched: 0,
            counts: Vec::new(),
            seen: 0,
        }
    }
}

impl<D, T> Reading<D, T> {
    pub(super) fn progress(&self) -> &Mutex<Progress<T>> {
        &self.progress
    }
}

impl<D: Clone + PartialEq, T: Tally> Readings<D, T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The reading at this distance. If there are too many, the oldest is forgotten. Distances are
    /// compared and copied by user-supplied code, which may panic.
    pub(super) fn at(&self, d_in: &D) -> Arc<Reading<D, T>> {
        let find = |readings: &[Arc<Reading<D, T>>]| {
            let mut found = readings.iter().filter(|reading| reading.d_in == *d_in);
            found.next().cloned()
        };
        if let Some(known) = find(&lock(&self.0)) {
            return known;
        }
        let new = Arc::new(Reading {
            d_in: d_in.clone(),
            progress: Mutex::new(Progress::nothing()),
        });
        let mut readings = lock(&self.0);
        if let Some(faster) = find(&readings) {
            return faster;
        }
        readings.push(Arc::clone(&new));
        let forgotten = (readings.len() > MAX_READINGS).then(|| readings.remove(0));
        // Destructors are user-supplied: nothing is locked.
        drop(readings);
        drop(forgotten);
        new
    }
}
