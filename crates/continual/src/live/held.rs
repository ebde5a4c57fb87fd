//! What the index holds of a unit, in one word.

use super::index::VALUE_BITS;

/// Parts have numbers below this.
pub(super) const MAX_PARTS: u32 = (1 << PART_BITS) - 1;
/// In the place of a part's number: the slot was taken by a part that is gone.
pub(super) const SPENT: u32 = MAX_PARTS;
const PART_BITS: u32 = 24;
const SLOT_BITS: u32 = 6;
const UPDATE_BITS: u32 = VALUE_BITS - 1 - SLOT_BITS - PART_BITS;

/// What the index holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The only slot that is taken, by which part, and the number of updates.
    One { slot: u32, part: u32, updates: u32 },
    /// Where the row begins.
    Long(usize),
}

impl Held {
    /// So many updates fit, if the row is not a long one.
    pub(super) const UPDATES: u32 = (1 << UPDATE_BITS) - 1;
    const LONG: u64 = 1 << (VALUE_BITS - 1);

    pub(super) const fn pack(self) -> u64 {
        match self {
            Self::Long(at) => Self::LONG | at as u64,
            Self::One {
                slot,
                part,
                updates,
            } => {
                let parts = (slot as u64) << PART_BITS | part as u64;
                parts << UPDATE_BITS | updates as u64
            }
        }
    }

    pub(super) const fn unpack(value: u64) -> Self {
        if value & Self::LONG != 0 {
            return Self::Long((value & !Self::LONG) as usize);
        }
        let parts = value >> UPDATE_BITS;
        Self::One {
            slot: (parts >> PART_BITS) as u32,
            part: parts as u32 & MAX_PARTS,
            updates: value as u32 & Self::UPDATES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::MAX_SLOTS;

    #[test]
    fn what_is_packed_is_unpacked() {
        let one = |slot, part, updates| Held::One {
            slot,
            part,
            updates,
        };
        for held in [
            one(0, 0, 0),
            one(63, SPENT, Held::UPDATES),
            one(1, MAX_PARTS - 1, 1),
            Held::Long(0),
            Held::Long((1 << (VALUE_BITS - 1)) - 1),
        ] {
            assert!(held.pack() < 1 << VALUE_BITS);
            assert_eq!(Held::unpack(held.pack()), held);
        }
        assert_eq!(MAX_SLOTS, 1 << SLOT_BITS);
    }
}
