//! Inversion by table: one half-word decides nearly always, exactly.
//!
//! The table holds the first 32 digits of each cumulative probability, rounded down. A word that differs from them by
//! more than their error decides; any other word, and one past the end of the table, is undecided, and the caller draws
//! on with [`UniformReal`](super::real::UniformReal) from where the word left off.
//!
//! A table takes microseconds to build, so it is built by the first draw: a noise that is only described or priced has none.

use std::sync::{Arc, OnceLock};

/// How many cells of the guide; indexed by the first bits of a word.
const GUIDE_BITS: u32 = 8;

/// Cumulative probabilities to 32 digits.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// `floor(2^32·boundary)` or one less, ascending. The true value is below `words[i] + 2`.
    words: Box<[u32]>,
    /// Where to start looking.
    guide: Box<[u16]>,
}

/// A table that the first draw builds. A clone is the same table.
#[derive(Clone, Debug, Default)]
pub(crate) struct LazyTable(Arc<OnceLock<Table>>);

impl LazyTable {
    /// The table of these boundaries, which must be the same at every call.
    #[inline]
    pub(crate) fn get(&self, boundaries: impl FnOnce() -> Vec<Boundary>) -> &Table {
        self.0.get_or_init(|| Table::new(boundaries()))
    }
}

/// Bounds on a cumulative probability, as fractions of 2^64. They are within 2^32 of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Boundary {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
}

impl Table {
    /// A table of these boundaries, ascending. It ends early where the bounds are too loose or after 2^16 of them: what
    /// follows is undecided.
    pub(crate) fn new(boundaries: impl IntoIterator<Item = Boundary>) -> Self {
        let words: Box<[u32]> = boundaries
            .into_iter()
            .take(usize::from(u16::MAX))
            .take_while(|b| b.lo <= b.hi && b.hi - b.lo < 1 << 32)
            .map(|b| (b.lo >> 32) as u32)
            .collect();
        let mut below = 0;
        let start = |cell: u32| {
            let first = u64::from(cell << (32 - GUIDE_BITS));
            let is_below = |&word: &u32| u64::from(word) + 1 < first;
            while words.get(below).is_some_and(is_below) {
                below += 1;
            }
            below as u16
        };
        let guide = (0..1 << GUIDE_BITS).map(start).collect();
        Self { words, guide }
    }

    /// The number of boundaries at or below the uniform real that starts with `word`, if that is clear.
    pub(crate) fn locate(&self, word: u32) -> Option<usize> {
        let mut index = usize::from(self.guide[(word >> (32 - GUIDE_BITS)) as usize]);
        while let Some(&boundary) = self.words.get(index) {
            if boundary > word {
                return Some(index);
            }
            if word - boundary < 2 {
                return None;
            }
            index += 1;
        }
        None
    }
}
