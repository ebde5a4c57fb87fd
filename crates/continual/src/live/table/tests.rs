//! The table against a model, and at its limits.

use std::{
    cell::RefCell,
    hash::Hasher,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::*;
use crate::live::MAX_SLOTS;

fn admit<X: Hash + Eq + Clone>(
    table: &Table<X>,
    unit: X,
    part: u32,
    room: &[usize],
) -> Result<(), Replaced> {
    let unit = &unit;
    table.admit(&Asked { unit, part, room })
}

/// The number of updates of a unit, and the part that took each slot.
type Model = (u32, Vec<Option<u32>>);

fn expected(
    (updates, slots): &mut Model,
    max_updates: u32,
    part: u32,
    room: &[usize],
) -> Result<(), Replaced> {
    if *updates == max_updates {
        return Err(Replaced::TooManyUpdates);
    }
    if !slots.contains(&Some(part)) {
        let free = room.iter().find(|slot| slots[**slot].is_none());
        slots[*free.ok_or(Replaced::TooManyParts)?] = Some(part);
    }
    *updates += 1;
    Ok(())
}

/// Short and long rows, one by one and together, also after a restart.
#[test]
fn the_table_agrees_with_a_model() {
    for (slots, max_updates) in [(1, 3), (2, 5), (3, 4), (5, 40)] {
        let (mut table, mut model) = (Table::new(slots, max_updates), HashMap::new());
        let mut state = 1u64;
        let mut next = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for step in 0..40 {
            // Each part has its own room, in its own order.
            let mut update = |_| {
                let (unit, part) = (next(60), next(7) as u32);
                let room = (0..slots).map(|slot| (slot + part as usize) % slots);
                let room: Vec<usize> = room.take(1 + part as usize % slots).collect();
                (unit, part, room)
            };
            let sent: Vec<_> = (0..100).map(&mut update).collect();
            let asked = sent.iter().map(|(unit, part, room)| Asked {
                unit,
                part: *part,
                room,
            });
            let answers = match step % 2 {
                0 => table.admit_all(&asked.collect::<Vec<_>>()),
                _ => asked.map(|asked| table.admit(&asked)).collect(),
            };
            for ((unit, part, room), answer) in sent.iter().zip(answers) {
                let row = model.entry(*unit).or_insert((0, vec![None; slots]));
                assert_eq!(answer, expected(row, max_updates, *part, room), "{step}");
            }
            if step % 10 == 9 {
                let again = Table::new(slots, max_updates);
                again.restore(&table.rows());
                table = again;
                for (_, slots) in model.values_mut() {
                    let taken = slots.iter_mut().filter(|part| part.is_some());
                    taken.for_each(|part| *part = Some(SPENT));
                }
            }
        }
        assert_eq!(table.len(), model.len());
    }
}

#[test]
fn a_row_with_many_updates_becomes_long() {
    let table = Table::new(2, u32::MAX);
    let most = u32::from(u16::MAX);
    let row = |unit, updates, taken| Row {
        unit,
        updates,
        taken,
    };
    table.restore(&[row('a', most - 1, vec![1])]);
    for _ in 0..3 {
        assert_eq!(admit(&table, 'a', 5, &[0, 1]), Ok(()));
    }
    assert_eq!(table.rows(), [row('a', most + 2, vec![0, 1])]);
    assert_eq!(admit(&table, 'a', 6, &[0, 1]), Err(Replaced::TooManyParts));
    let table = Table::new(1, u32::MAX);
    table.restore(&[row('b', u32::MAX - 1, vec![])]);
    assert_eq!(admit(&table, 'b', 0, &[0]), Ok(()));
    assert_eq!(admit(&table, 'b', 0, &[0]), Err(Replaced::TooManyUpdates));
    // One part, and no other, from the first update to the last one that is counted.
    let table = Table::new(1, most + 2);
    for _ in 0..most + 2 {
        assert_eq!(admit(&table, 'c', 3, &[0]), Ok(()));
    }
    assert_eq!(admit(&table, 'c', 3, &[0]), Err(Replaced::TooManyUpdates));
    assert_eq!(table.rows(), [row('c', most + 2, vec![0])]);
}

/// A unit that is in a stored table several times has contributed all of it.
#[test]
fn rows_of_one_unit_add_up() {
    let row = |updates, taken: &[usize]| Row {
        unit: 'a',
        updates,
        taken: taken.to_vec(),
    };
    for (rows, sum) in [
        ([row(1, &[0]), row(2, &[0])], row(3, &[0])),
        ([row(1, &[0]), row(2, &[2, 9])], row(3, &[0, 2])),
        (
            [row(u32::MAX, &[0, 1]), row(2, &[2])],
            row(u32::MAX, &[0, 1, 2]),
        ),
        ([row(60_000, &[1]), row(60_000, &[1])], row(120_000, &[1])),
    ] {
        let table = Table::new(3, 9);
        table.restore(&rows);
        assert_eq!(table.rows(), [sum]);
    }
}

/// A row that could not be added admits nothing, and is stored so.
#[test]
fn a_row_that_does_not_exist_is_full() {
    let mut long = LongRows {
        words: vec![0, FREE, FREE],
        slots: 2,
    };
    assert_eq!(long.admit(0, 9, 1, &[0]), Ok(()));
    for row in [1, u32::MAX] {
        assert_eq!(
            long.admit(row, 9, 1, &[0, 1]),
            Err(Replaced::TooManyUpdates)
        );
        assert_eq!(long.read(row), (u32::MAX, vec![0, 1]));
    }
}

thread_local! {
    /// Hashing a unit in this range panics.
    static BAD: RefCell<Range<u64>> = const { RefCell::new(0..0) };
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Panics(u64);

impl Hash for Panics {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!BAD.with_borrow(|bad| bad.contains(&self.0)), "a bad hash");
        self.0.hash(state);
    }
}

/// The standard map hashes its keys again when it grows: a panic there refunds nothing.
#[test]
fn a_hash_that_panics_while_the_map_grows_loses_nothing() {
    const UNITS: u64 = 2000;
    let (table, mut panicked) = (Table::new(1, 2), 0);
    for unit in 0..UNITS {
        let update = || admit(&table, Panics(unit), 1, &[0]);
        BAD.set(unit / 2..unit);
        let caught = catch_unwind(AssertUnwindSafe(update));
        BAD.set(0..0);
        if caught.is_err() {
            panicked += 1;
            assert_eq!(table.len(), unit as usize);
            assert_eq!(update(), Ok(()));
        }
    }
    assert!(panicked > 50, "{panicked}");
    assert_eq!(table.len(), UNITS as usize);
    for unit in 0..UNITS {
        let sent = [(); 2].map(|()| admit(&table, Panics(unit), 1, &[0]));
        assert_eq!(sent, [Ok(()), Err(Replaced::TooManyUpdates)], "{unit}");
    }
}

#[test]
fn a_contribution_is_small() {
    assert_eq!(size_of::<(u64, Contribution)>(), 16);
    assert_eq!(size_of::<(u32, Contribution)>(), 12);
    assert!(MAX_SLOTS <= usize::from(u8::MAX));
}
