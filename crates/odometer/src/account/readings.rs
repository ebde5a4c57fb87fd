//! The losses that an account has been asked for: for each of a few distances, how far the list of launches has been read, and what
//! that amounts to. A question reads only what is new.

use std::mem;

use measures::Tally;

use crate::{
    account::launches::Position,
    account::tallies::Tallies,
    sync::{Mutex, lock},
};

/// How many distances an account remembers.
const MOST: usize = 16;

pub(crate) struct Readings<D, T>(Mutex<Known<D, T>>);

struct Known<D, T> {
    readings: Vec<Reading<D, T>>,
    /// How many there have ever been.
    numbered: u64,
}

/// The loss at one distance, as far as the list has been read.
pub(crate) struct Reading<D, T> {
    d_in: D,
    number: u64,
    pub(crate) tallies: Tallies<T>,
    pub(crate) read: Position,
    /// How many launches that were.
    pub(crate) launched: u64,
    /// How many threads are reading on. Meanwhile it is not forgotten.
    readers: usize,
}

impl<D: Clone + PartialEq, T: Tally> Readings<D, T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Known {
            readings: Vec::new(),
            numbered: 0,
        }))
    }

    /// Looks at a reading, if it is remembered.
    #[inline]
    pub(crate) fn look<X>(
        &self,
        d_in: &D,
        look: impl FnOnce(&Reading<D, T>) -> Option<X>,
    ) -> Option<X> {
        let known = lock(&self.0);
        known
            .readings
            .iter()
            .find(|reading| reading.d_in == *d_in)
            .and_then(look)
    }

    /// Remembers this distance at least until the answer is dropped; the oldest that nobody reads is forgotten.
    pub(crate) fn hold(&self, d_in: &D, zero: &T) -> Held<'_, D, T> {
        let mut known = lock(&self.0);
        let found = known
            .readings
            .iter_mut()
            .find(|reading| reading.d_in == *d_in);
        let (number, forgotten) = match found {
            Some(reading) => {
                reading.readers += 1;
                (reading.number, None)
            }
            None => known.begin(d_in, zero),
        };
        drop(known);
        let held = Held {
            readings: self,
            number,
        };
        // A tally's destructor is foreign: nothing is locked, and what is held will be let go.
        drop(forgotten);
        held
    }
}

impl<D, T: Tally> Reading<D, T> {
    /// Takes out what was read, and starts anew.
    pub(crate) fn take(&mut self, zero: &T) -> (Tallies<T>, u64) {
        let tallies = mem::replace(&mut self.tallies, Tallies::new(zero.clone()));
        self.read = Position::default();
        (tallies, mem::take(&mut self.launched))
    }

    /// Brings the total up to date, if enough was read. What was there before is handed back, to be dropped when nothing
    /// is locked (single tallies that are replaced meanwhile go here: they may use no session); if one panics, an empty reading is left.
    pub(crate) fn settle(&mut self, until: u64, zero: &T) -> Option<Tallies<T>> {
        if self.launched < until || self.tallies.is_settled() {
            return None;
        }
        let read = self.read;
        let (mut tallies, launched) = self.take(zero);
        tallies.settle(zero);
        Some(self.put(tallies, read, launched))
    }

    /// Has been read up to here. What was there before is handed back, to be dropped when nothing is locked.
    #[must_use]
    pub(crate) fn put(&mut self, tallies: Tallies<T>, read: Position, launched: u64) -> Tallies<T> {
        self.read = read;
        self.launched = launched;
        mem::replace(&mut self.tallies, tallies)
    }
}

impl<D: Clone, T: Tally> Known<D, T> {
    /// A new reading, with one reader; and one that was forgotten for it.
    fn begin(&mut self, d_in: &D, zero: &T) -> (u64, Option<Reading<D, T>>) {
        let (d_in, zero) = (d_in.clone(), zero.clone());
        let mut idle = self
            .readings
            .iter()
            .position(|reading| reading.readers == 0);
        let oldest = idle.take_if(|_| self.readings.len() >= MOST);
        let forgotten = oldest.map(|oldest| self.readings.remove(oldest));
        self.numbered += 1;
        self.readings.push(Reading {
            d_in,
            number: self.numbered,
            tallies: Tallies::new(zero),
            read: Position::default(),
            launched: 0,
            readers: 1,
        });
        (self.numbered, forgotten)
    }
}

/// A reading that is not forgotten.
pub(crate) struct Held<'a, D, T> {
    readings: &'a Readings<D, T>,
    number: u64,
}

impl<D, T> Held<'_, D, T> {
    /// It is there as long as it is held.
    pub(crate) fn with<X>(&self, act: impl FnOnce(&mut Reading<D, T>) -> X) -> Option<X> {
        let mut known = lock(&self.readings.0);
        let mut readings = known.readings.iter_mut();
        readings
            .find(|reading| reading.number == self.number)
            .map(act)
    }
}

impl<D, T> Drop for Held<'_, D, T> {
    fn drop(&mut self) {
        self.with(|reading| reading.readers -= 1);
    }
}
