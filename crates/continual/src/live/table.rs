//! Who has contributed what: a row of a few numbers for each unit.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
};

use serde::{Deserialize, Serialize};

use crate::sync::{Mutex, lock};

use super::Replaced;

/// How many locks the table has.
const SHARDS: usize = 16;

/// The slot is free.
const FREE: u32 = u32::MAX;
/// The slot was taken by a part that is gone.
const SPENT: u32 = u32::MAX - 1;
/// Parts have numbers below this.
pub(super) const MAX_PARTS: u32 = 1 << 24;

/// A row is the number of updates, and for each slot the part that took it. Rows have one length and lie one after the
/// other, so that a unit takes a few words and a place in an index.
pub(super) struct Table<X> {
    shards: Vec<Mutex<Shard<X>>>,
    hasher: RandomState,
    slots: usize,
    updates: u32,
}

struct Shard<X> {
    index: HashMap<X, usize>,
    rows: Vec<u32>,
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
            Mutex::new(Shard {
                index: HashMap::new(),
                rows: Vec::new(),
            })
        };
        Self {
            shards: (0..SHARDS).map(shard).collect(),
            hasher: RandomState::new(),
            slots,
            updates,
        }
    }

    fn shard(&self, unit: &X) -> &Mutex<Shard<X>> {
        &self.shards[self.hasher.hash_one(unit) as usize % SHARDS]
    }

    /// Counts an update of this unit to a part that fits into these slots, the best first; or says why not.
    pub(super) fn admit(&self, unit: &X, part: u32, room: &[usize]) -> Result<(), Replaced>
    where
        X: Clone,
    {
        let mut shard = lock(self.shard(unit));
        let row = shard.row(unit, self.slots);
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
    }

    /// All rows, unit by unit: what a unit sends meanwhile may be missing.
    pub(super) fn rows(&self) -> Vec<Row<X>>
    where
        X: Clone,
    {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = lock(shard);
            let row = |(unit, at): (&X, &usize)| {
                let words = &shard.rows[*at..][..=self.slots];
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
            let mut shard = lock(self.shard(unit));
            let row = shard.row(unit, self.slots);
            row[0] = row[0].saturating_add(*updates);
            for slot in taken.iter().filter(|slot| **slot < self.slots) {
                row[1 + slot] = SPENT;
            }
        }
    }

    /// How many units there are.
    pub(super) fn len(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| lock(shard).index.len())
            .sum()
    }
}

impl<X: Hash + Eq + Clone> Shard<X> {
    /// The row of this unit, a new one if it was never seen.
    fn row(&mut self, unit: &X, slots: usize) -> &mut [u32] {
        let at = match self.index.get(unit) {
            Some(at) => *at,
            None => {
                let at = self.rows.len();
                self.rows.push(0);
                self.rows.extend(std::iter::repeat_n(FREE, slots));
                self.index.insert(unit.clone(), at);
                at
            }
        };
        &mut self.rows[at..=at + slots]
    }
}
