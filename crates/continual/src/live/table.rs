//! The contributions of all units: a standard map in shards, each behind its own lock.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    ops::Range,
};

use serde::{Deserialize, Serialize};

use super::Replaced;
use crate::sync::{Apart, Mutex, SHARDS, lock};

/// Parts have numbers below this.
pub(super) const MAX_PARTS: u32 = (1 << 24) - 1;
/// Instead of a part's number: the part that took the slot existed before a restart.
const SPENT: u32 = MAX_PARTS;
/// Instead of a part's number: the slot is free.
const FREE: u32 = u32::MAX;

/// The contributions of all units. The hash of a unit selects its shard.
pub(super) struct Table<X> {
    shards: Vec<Apart<Mutex<Shard<X>>>>,
    hasher: RandomState,
    max_updates: u32,
}

/// A part of the table. No unit is ever removed: to forget a contribution is to refund it.
struct Shard<X> {
    units: HashMap<X, Contribution>,
    long: LongRows,
}

/// The contribution of one unit, in eight bytes: most units touch one part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Contribution {
    /// `part` took the only slot that is not free.
    OnePart { slot: u8, updates: u16, part: u32 },
    /// The number of a row in [`Shard::long`].
    Long(u32),
}

/// Rows for units that touched several parts, or sent many updates: the number of updates, and for each slot the part
/// that took it. All rows have the same length and lie one after the other.
struct LongRows {
    words: Vec<u32>,
    slots: usize,
}

/// An update of a unit for the part with this number, which fits in the slots `room`, the best one first.
pub(super) struct Asked<'a, X> {
    pub(super) unit: &'a X,
    pub(super) part: u32,
    pub(super) room: &'a [usize],
}

/// The contribution of one unit, as it is stored and restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row<X> {
    unit: X,
    updates: u32,
    /// The numbers of the slots that are taken.
    taken: Vec<usize>,
}

impl<X: Hash + Eq> Table<X> {
    pub(super) fn new(slots: usize, max_updates: u32) -> Self {
        let shard = |_| {
            Apart(Mutex::new(Shard {
                units: HashMap::new(),
                long: LongRows {
                    words: Vec::new(),
                    slots,
                },
            }))
        };
        Self {
            shards: (0..SHARDS).map(shard).collect(),
            hasher: RandomState::new(),
            max_updates,
        }
    }

    fn shard_of(&self, unit: &X) -> usize {
        self.hasher.hash_one(unit) as usize % self.shards.len()
    }

    /// Counts an update of a unit, or returns the reason why it exceeds the bounds.
    pub(super) fn admit(&self, asked: &Asked<'_, X>) -> Result<(), Replaced>
    where
        X: Clone,
    {
        let shard = &self.shards[self.shard_of(asked.unit)].0;
        lock(shard).admit(self.max_updates, asked)
    }

    /// The same for many updates in their order, with one lock for all that are in one shard.
    pub(super) fn admit_all(&self, asked: &[Asked<'_, X>]) -> Vec<Result<(), Replaced>>
    where
        X: Clone,
    {
        let shards: Vec<usize> = asked
            .iter()
            .map(|asked| self.shard_of(asked.unit))
            .collect();
        // By shard. The sort is stable, so the updates of one unit keep their order.
        let mut order: Vec<usize> = (0..asked.len()).collect();
        order.sort_by_key(|at| shards[*at]);
        let mut answers = vec![Err(Replaced::TooManyUpdates); asked.len()];
        for group in order.chunk_by(|one, other| shards[*one] == shards[*other]) {
            let mut shard = lock(&self.shards[shards[group[0]]].0);
            for at in group {
                answers[*at] = shard.admit(self.max_updates, &asked[*at]);
            }
        }
        answers
    }

    /// All rows. An update that is sent meanwhile may be missing.
    pub(super) fn rows(&self) -> Vec<Row<X>>
    where
        X: Clone,
    {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = lock(&shard.0);
            all.extend(shard.units.iter().map(|(unit, held)| {
                let (updates, taken) = shard.read(*held);
                Row {
                    unit: unit.clone(),
                    updates,
                    taken,
                }
            }));
        }
        all
    }

    /// Adds the updates in these rows, and takes the slots that they took.
    pub(super) fn restore(&self, rows: &[Row<X>])
    where
        X: Clone,
    {
        for row in rows {
            let shard = &self.shards[self.shard_of(&row.unit)].0;
            lock(shard).restore(row);
        }
    }

    /// The number of units.
    pub(super) fn len(&self) -> usize {
        let shards = self.shards.iter();
        shards.map(|shard| lock(&shard.0).units.len()).sum()
    }
}

impl<X: Hash + Eq + Clone> Shard<X> {
    /// As [`Table::admit`]. User-supplied code (hash, comparison, clone) runs before anything changes.
    fn admit(&mut self, max_updates: u32, asked: &Asked<'_, X>) -> Result<(), Replaced> {
        let Asked { unit, part, room } = *asked;
        let Some(held) = self.units.get_mut(unit) else {
            let first = Contribution::OnePart {
                slot: *room.first().ok_or(Replaced::TooManyParts)? as u8,
                updates: 1,
                part,
            };
            self.units.insert(unit.clone(), first);
            return Ok(());
        };
        let row = match *held {
            Contribution::Long(row) => row,
            Contribution::OnePart { updates, .. } if u32::from(updates) >= max_updates => {
                return Err(Replaced::TooManyUpdates);
            }
            Contribution::OnePart {
                slot,
                updates,
                part: only,
            } => {
                if only == part && updates < u16::MAX {
                    let updates = updates + 1;
                    *held = Contribution::OnePart {
                        slot,
                        updates,
                        part,
                    };
                    return Ok(());
                }
                let slot = usize::from(slot);
                if only != part && room.iter().all(|other| *other == slot) {
                    return Err(Replaced::TooManyParts);
                }
                let row = self.long.push(updates.into(), [(slot, only)]);
                *held = Contribution::Long(row);
                row
            }
        };
        self.long.admit(row, max_updates, part, room)
    }

    /// Adds the contribution in this row. A unit may have several rows.
    fn restore(&mut self, row: &Row<X>) {
        let held = self.units.get(&row.unit);
        let (before, mut taken) = held.map_or((0, Vec::new()), |held| self.read(*held));
        let updates = row.updates.saturating_add(before);
        let slots = self.long.slots;
        taken.extend(row.taken.iter().filter(|slot| **slot < slots));
        taken.sort_unstable();
        taken.dedup();
        let restored = match (taken.as_slice(), u16::try_from(updates)) {
            ([slot], Ok(updates)) => Contribution::OnePart {
                slot: *slot as u8,
                updates,
                part: SPENT,
            },
            _ => {
                let taken = taken.iter().map(|slot| (*slot, SPENT));
                Contribution::Long(self.long.push(updates, taken))
            }
        };
        match self.units.get_mut(&row.unit) {
            Some(held) => *held = restored,
            None => drop(self.units.insert(row.unit.clone(), restored)),
        }
    }
}

impl<X> Shard<X> {
    /// The number of updates, and the slots that are taken.
    fn read(&self, contribution: Contribution) -> (u32, Vec<usize>) {
        match contribution {
            Contribution::OnePart { slot, updates, .. } => (updates.into(), vec![slot.into()]),
            Contribution::Long(row) => self.long.read(row),
        }
    }
}

/// A row that does not exist admits nothing: there is one number for all rows after the first `u32::MAX`.
impl LongRows {
    /// Adds a row, and returns its number.
    fn push(&mut self, updates: u32, taken: impl IntoIterator<Item = (usize, u32)>) -> u32 {
        let start = self.words.len();
        let number = u32::try_from(start / (1 + self.slots)).unwrap_or(u32::MAX);
        if number < u32::MAX {
            self.words.push(updates);
            self.words.extend(std::iter::repeat_n(FREE, self.slots));
            for (slot, part) in taken {
                self.words[start + 1 + slot] = part;
            }
        }
        number
    }

    fn range(&self, row: u32) -> Range<usize> {
        let start = row as usize * (1 + self.slots);
        start..start + 1 + self.slots
    }

    fn read(&self, row: u32) -> (u32, Vec<usize>) {
        match self.words.get(self.range(row)) {
            Some([updates, slots @ ..]) => {
                let taken = |slot: &usize| slots[*slot] != FREE;
                (*updates, (0..slots.len()).filter(taken).collect())
            }
            _ => (u32::MAX, (0..self.slots).collect()),
        }
    }

    /// Counts an update.
    fn admit(
        &mut self,
        row: u32,
        max_updates: u32,
        part: u32,
        room: &[usize],
    ) -> Result<(), Replaced> {
        let range = self.range(row);
        let Some([updates, slots @ ..]) = self.words.get_mut(range) else {
            return Err(Replaced::TooManyUpdates);
        };
        if *updates >= max_updates {
            return Err(Replaced::TooManyUpdates);
        }
        if !slots.contains(&part) {
            let free = room.iter().find(|slot| slots[**slot] == FREE);
            slots[*free.ok_or(Replaced::TooManyParts)?] = part;
        }
        *updates += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
