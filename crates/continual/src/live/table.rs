//! Who has contributed what: a row of a few numbers for each unit.

use std::hash::{BuildHasher, Hash, RandomState};

use serde::{Deserialize, Serialize};

use crate::sync::{Apart, Mutex, SHARDS, lock};

use super::{
    Replaced,
    held::{Held, SPENT},
    index::Index,
};

/// In long rows: the slot is free.
const FREE: u32 = u32::MAX;

/// Most units touch one part. Their row is a number in the index: which part, in which slot, and how many updates. The rows of all
/// others have one length, `1 + slots` words (the number of updates, and for each slot the part that took it), lie one after the other, and the
/// index says where.
pub(super) struct Table<X> {
    shards: Vec<Apart<Mutex<Shard<X>>>>,
    hasher: RandomState,
    slots: usize,
    updates: u32,
}

struct Shard<X> {
    index: Index<X>,
    long: Vec<u32>,
}

/// An update of a unit to a part that fits into these slots, the best first.
pub(super) struct Asked<'a, X> {
    pub(super) unit: &'a X,
    pub(super) part: u32,
    pub(super) room: &'a [usize],
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
    fn shard(&self, hash: u64) -> &Mutex<Shard<X>> {
        &self.shards[hash as usize % self.shards.len()].0
    }

    /// Counts an update of this unit to a part that fits into these slots, the best first; or says why not.
    pub(super) fn admit(&self, unit: &X, part: u32, room: &[usize]) -> Result<(), Replaced>
    where
        X: Clone,
    {
        let hash = self.hasher.hash_one(unit);
        self.admit_in(&mut lock(self.shard(hash)), hash, unit, part, room)
    }

    /// The same for many, in their order, with one lock for all that are in one shard.
    pub(super) fn admit_all(&self, asked: &[Asked<'_, X>]) -> Vec<Result<(), Replaced>>
    where
        X: Clone,
    {
        let hashes = asked.iter().map(|asked| self.hasher.hash_one(asked.unit));
        let hashes: Vec<u64> = hashes.collect();
        let shard_of = |at: usize| hashes[at] as usize % self.shards.len();
        // By shard, and in it what comes first stays first, for every unit.
        let both = |at: usize| (shard_of(at) as u64) << 32 | at as u64;
        let mut order: Vec<u64> = (0..asked.len()).map(both).collect();
        order.sort_unstable();
        let place = |both: &u64| (*both as u32) as usize;
        let mut answers = vec![Err(Replaced::TooManyUpdates); asked.len()];
        for group in order.chunk_by(|one, other| one >> 32 == other >> 32) {
            let mut shard = lock(&self.shards[shard_of(place(&group[0]))].0);
            // To look at all places first lets the processor fetch them from memory at the same time.
            let seen = group.iter().map(place);
            let seen = seen.filter(|at| shard.index.is_taken(hashes[*at]));
            std::hint::black_box(seen.count());
            for at in group.iter().map(place) {
                let Asked { unit, part, room } = &asked[at];
                answers[at] = self.admit_in(&mut shard, hashes[at], unit, *part, room);
            }
        }
        answers
    }

    fn admit_in(
        &self,
        shard: &mut Shard<X>,
        hash: u64,
        unit: &X,
        part: u32,
        room: &[usize],
    ) -> Result<(), Replaced>
    where
        X: Clone,
    {
        let Some((at, value)) = shard.index.find(hash, unit) else {
            let slot = *room.first().ok_or(Replaced::TooManyParts)? as u32;
            let one = Held::One {
                slot,
                part,
                updates: 1,
            };
            shard.insert(unit.clone(), one, &self.hasher);
            return Ok(());
        };
        let row = match Held::unpack(value) {
            Held::Long(row) => row,
            Held::One { updates, .. } if updates >= self.updates => {
                return Err(Replaced::TooManyUpdates);
            }
            Held::One {
                slot,
                part: before,
                updates,
            } => {
                let same = before == part;
                if same && updates < Held::UPDATES {
                    let updates = updates + 1;
                    let one = Held::One {
                        slot,
                        part,
                        updates,
                    };
                    shard.index.set(at, one.pack());
                    return Ok(());
                }
                if !same && room.iter().all(|other| *other == slot as usize) {
                    return Err(Replaced::TooManyParts);
                }
                let row = shard.lengthen(self.slots, [(slot as usize, before)], updates);
                shard.index.set(at, Held::Long(row).pack());
                row
            }
        };
        count(
            &mut shard.long[row..][..=self.slots],
            self.updates,
            part,
            room,
        )
    }

    /// All rows, unit by unit: what a unit sends meanwhile may be missing.
    pub(super) fn rows(&self) -> Vec<Row<X>>
    where
        X: Clone,
    {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = lock(&shard.0);
            let row = |(unit, value): (&X, u64)| {
                let (updates, taken) = match Held::unpack(value) {
                    Held::One { slot, updates, .. } => (updates, vec![slot as usize]),
                    Held::Long(row) => {
                        let words = &shard.long[row..][..=self.slots];
                        let taken = |slot: &usize| words[1 + slot] != FREE;
                        (words[0], (0..self.slots).filter(taken).collect())
                    }
                };
                let unit = unit.clone();
                Row {
                    unit,
                    updates,
                    taken,
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
        for row in rows {
            let hash = self.hasher.hash_one(&row.unit);
            let mut shard = lock(self.shard(hash));
            self.restore_in(&mut shard, hash, row);
        }
    }

    fn restore_in(&self, shard: &mut Shard<X>, hash: u64, row: &Row<X>)
    where
        X: Clone,
    {
        let taken = row.taken.iter().filter(|slot| **slot < self.slots);
        let found = shard.index.find(hash, &row.unit);
        let (known, updates, at) = match found.map(|(at, value)| (at, Held::unpack(value))) {
            Some((_, Held::Long(at))) => {
                let words = &mut shard.long[at..][..=self.slots];
                words[0] = words[0].saturating_add(row.updates);
                taken.for_each(|slot| words[1 + slot] = SPENT);
                return;
            }
            Some((
                at,
                Held::One {
                    slot,
                    part,
                    updates,
                },
            )) => (Some((slot as usize, part)), updates, Some(at)),
            None => (None, 0, None),
        };
        let slots: Vec<_> = known
            .into_iter()
            .chain(taken.map(|slot| (*slot, SPENT)))
            .collect();
        let updates = updates.saturating_add(row.updates);
        let held = match slots.as_slice() {
            [(slot, part)] if updates <= Held::UPDATES => Held::One {
                slot: *slot as u32,
                part: *part,
                updates,
            },
            _ => Held::Long(shard.lengthen(self.slots, slots, updates)),
        };
        match at {
            Some(at) => shard.index.set(at, held.pack()),
            None => shard.insert(row.unit.clone(), held, &self.hasher),
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

impl<X: Hash + Eq> Shard<X> {
    fn insert(&mut self, unit: X, held: Held, hasher: &RandomState) {
        self.index
            .insert(unit, held.pack(), |unit| hasher.hash_one(unit));
    }
}

impl<X> Shard<X> {
    /// A new long row, with these slots taken by these parts: where it begins.
    fn lengthen(
        &mut self,
        slots: usize,
        taken: impl IntoIterator<Item = (usize, u32)>,
        updates: u32,
    ) -> usize {
        let at = self.long.len();
        self.long.push(updates);
        self.long.extend(std::iter::repeat_n(FREE, slots));
        for (slot, part) in taken {
            self.long[at + 1 + slot] = part;
        }
        at
    }
}

/// Counts an update in a long row.
fn count(row: &mut [u32], most: u32, part: u32, room: &[usize]) -> Result<(), Replaced> {
    let Some((updates, slots)) = row.split_first_mut() else {
        return Err(Replaced::TooManyUpdates);
    };
    if *updates >= most {
        return Err(Replaced::TooManyUpdates);
    }
    if !slots.contains(&part) {
        let free = room.iter().find(|slot| slots[**slot] == FREE);
        slots[*free.ok_or(Replaced::TooManyParts)?] = part;
    }
    *updates += 1;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// All rows as long ones, from the beginning.
    #[test]
    fn short_rows_count_as_long_ones_do() {
        for (slots, most) in [(1, 3), (2, 5), (3, 4), (5, 40)] {
            let (mut table, mut model) = (Table::new(slots, most), HashMap::new());
            let mut state = 1u64;
            let mut next = move |below: u64| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) % below
            };
            for step in 0..4000 {
                let (unit, part) = (next(60), next(7) as u32);
                // Each part has its own room, in its own order.
                let room: Vec<usize> = (0..slots)
                    .map(|slot| (slot + part as usize) % slots)
                    .take(1 + part as usize % slots)
                    .collect();
                let row = model.entry(unit).or_insert_with(|| {
                    let mut row = vec![FREE; slots + 1];
                    row[0] = 0;
                    row
                });
                let expected = count(row, most, part, &room);
                assert_eq!(table.admit(&unit, part, &room), expected, "{step}");
                if step % 1000 == 999 {
                    let again = Table::new(slots, most);
                    again.restore(&table.rows());
                    table = again;
                    for row in model.values_mut() {
                        let taken = row[1..].iter_mut().filter(|part| **part != FREE);
                        taken.for_each(|part| *part = SPENT);
                    }
                }
            }
            assert_eq!(table.len(), model.len());
        }
    }

    /// More updates than a short row can count.
    #[test]
    fn a_row_that_counts_far_becomes_long() {
        let table = Table::new(2, u32::MAX);
        let row = Row {
            unit: 'a',
            updates: Held::UPDATES - 1,
            taken: vec![1],
        };
        table.restore(&[row]);
        for _ in 0..3 {
            assert_eq!(table.admit(&'a', 5, &[0, 1]), Ok(()));
        }
        let rows = table.rows();
        assert_eq!(
            (rows[0].updates, &rows[0].taken[..]),
            (Held::UPDATES + 2, &[0, 1][..])
        );
        assert_eq!(table.admit(&'a', 6, &[0, 1]), Err(Replaced::TooManyParts));
        let table = Table::new(1, u32::MAX);
        let unit = 'b';
        table.restore(&[Row {
            unit,
            updates: u32::MAX - 1,
            taken: vec![],
        }]);
        assert_eq!(table.admit(&unit, 0, &[0]), Ok(()));
        assert_eq!(table.admit(&unit, 0, &[0]), Err(Replaced::TooManyUpdates));
    }
}
