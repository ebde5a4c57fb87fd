//! Who has contributed what: a row of a few numbers for each unit.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    num::NonZeroU32,
};

use serde::{Deserialize, Serialize};

use crate::sync::{Apart, Mutex, SHARDS, lock};

use super::{
    Replaced,
    index::{Index, tag},
};

/// The slot is free.
const FREE: u32 = u32::MAX;
/// The slot was taken by a part that is gone.
const SPENT: u32 = u32::MAX - 1;
/// Parts have numbers below this.
pub(super) const MAX_PARTS: u32 = 1 << 24;

/// Rows of so many words lie in the index itself: one place in memory less to wait for.
const SHORT: usize = 4;

/// A row is the number of updates, and for each slot the part that took it. Short rows lie in the index; longer ones have
/// one length and lie one after the other, and the index says where.
pub(super) struct Table<X> {
    shards: Vec<Apart<Mutex<Shard<X>>>>,
    hasher: RandomState,
    slots: usize,
    updates: u32,
}

struct Shard<X> {
    index: Index<X, [u32; SHORT]>,
    long: Vec<u32>,
}

/// What one unit has contributed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row<X> {
    unit: X,
    updates: u32,
    /// The numbers of the slots that are taken.
    taken: Vec<usize>,
}

impl<X: Hash + Eq> Table<X> {
    pub(super) fn new(slots: usize, updates: u32) -> Self {
        let shard = |_| {
            Apart(Mutex::new(Shard {
                index: Index::new(),
                long: Vec::new(),
            }))
        };
        Self {
            shards: (0..SHARDS).map(shard).collect(),
            hasher: RandomState::new(),
            slots,
            updates,
        }
    }

    /// Low bits of the hash say which shard, high bits where in it.
    fn shard(&self, unit: &X) -> (&Mutex<Shard<X>>, NonZeroU32) {
        let hash = self.hasher.hash_one(unit);
        (&self.shards[hash as usize % self.shards.len()].0, tag(hash))
    }

    /// Counts an update of this unit to a part that fits into these slots, the best first; or says why not.
    pub(super) fn admit(&self, unit: &X, part: u32, room: &[usize]) -> Result<(), Replaced>
    where
        X: Clone,
    {
        let (shard, tag) = self.shard(unit);
        lock(shard).with_row(unit, tag, self.slots, |row| {
            let Some((updates, slots)) = row.split_first_mut() else {
                return Err(Replaced::TooManyUpdates);
            };
            if *updates >= self.updates {
                return Err(Replaced::TooManyUpdates);
            }
            if !slots.contains(&part) {
                let free = room.iter().find(|slot| slots[**slot] == FREE);
                slots[*free.ok_or(Replaced::TooManyParts)?] = part;
            }
            *updates += 1;
            Ok(())
        })
    }

    /// All rows, unit by unit: what a unit sends meanwhile may be missing.
    pub(super) fn rows(&self) -> Vec<Row<X>>
    where
        X: Clone,
    {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = lock(&shard.0);
            let row = |(unit, short): (&X, &[u32; SHORT])| {
                let words = shard.words(short, self.slots);
                let taken = |slot: &usize| words[1 + slot] != FREE;
                Row {
                    unit: unit.clone(),
                    updates: words[0],
                    taken: (0..self.slots).filter(taken).collect(),
                }
            };
            all.extend(shard.index.iter().map(row));
        }
        all
    }

    /// What these units have contributed counts, and the slots that they took stay taken.
    pub(super) fn restore(&self, rows: &[Row<X>])
    where
        X: Clone,
    {
        for Row {
            unit,
            updates,
            taken,
        } in rows
        {
            let (shard, tag) = self.shard(unit);
            lock(shard).with_row(unit, tag, self.slots, |row| {
                row[0] = row[0].saturating_add(*updates);
                for slot in taken.iter().filter(|slot| **slot < self.slots) {
                    row[1 + slot] = SPENT;
                }
            });
        }
    }

    /// How many units there are.
    pub(super) fn len(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| lock(&shard.0).index.len())
            .sum()
    }
}

impl<X: Hash + Eq + Clone> Shard<X> {
    /// Does something with the row of this unit, a new one if it was never seen.
    fn with_row<R>(
        &mut self,
        unit: &X,
        tag: NonZeroU32,
        slots: usize,
        work: impl FnOnce(&mut [u32]) -> R,
    ) -> R {
        if let Some(short) = self.index.get_mut(tag, unit) {
            return work(words_mut(short, &mut self.long, slots));
        }
        let (unit, mut short) = (unit.clone(), [FREE; SHORT]);
        if slots < SHORT {
            short[0] = 0;
        } else {
            short[..2].copy_from_slice(&split(self.long.len()));
            self.long.push(0);
            self.long.extend(std::iter::repeat_n(FREE, slots));
        }
        let answer = work(words_mut(&mut short, &mut self.long, slots));
        self.index.insert(tag, unit, short);
        answer
    }

    fn words<'a>(&'a self, short: &'a [u32; SHORT], slots: usize) -> &'a [u32] {
        match slots < SHORT {
            true => &short[..=slots],
            false => &self.long[joined(short)..][..=slots],
        }
    }
}

fn words_mut<'a>(short: &'a mut [u32; SHORT], long: &'a mut [u32], slots: usize) -> &'a mut [u32] {
    match slots < SHORT {
        true => &mut short[..=slots],
        false => &mut long[joined(short)..][..=slots],
    }
}

/// A place among the long rows, as two words.
const fn split(at: usize) -> [u32; 2] {
    [at as u32, (at as u64 >> 32) as u32]
}

const fn joined(short: &[u32; SHORT]) -> usize {
    (short[0] as u64 | (short[1] as u64) << 32) as usize
}
