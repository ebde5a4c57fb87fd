//! A row of the embedded store: one record, or several that were committed together. One row for many records is one page of many, and
//! is written in a fraction of the time.
//!
//! ```text
//! a record | 2 u16 | length u32 | record | length u32 | record | …
//! ```
//! A record begins with its version, which was never 2: a program that knows no rows of several takes one for a record of a newer
//! version, and refuses it. The lengths are in no hash. Whatever they say, all bytes of a row are handed out as records, and
//! the chain finds what is not as it was written.

use std::{borrow::Cow, iter};

use crate::frame::Frame;

/// What a row of several records begins with.
const SEVERAL: [u8; 2] = 2u16.to_le_bytes();

/// How long the number is that says how long a record is.
const LENGTH: usize = 4;

/// How long a row of several may be: it fills pages of the store.
const LONGEST: usize = (16 << 10) - 128;

/// The records that go into one row each.
pub(crate) fn groups(batch: &[Frame]) -> impl Iterator<Item = &[Frame]> {
    by_bytes(batch, LONGEST - SEVERAL.len(), LENGTH)
}

/// A batch in pieces of so many bytes, with so many more for each record; what is longer is a piece by itself.
pub(crate) fn by_bytes(
    mut batch: &[Frame],
    most: usize,
    more: usize,
) -> impl Iterator<Item = &[Frame]> {
    iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |frame: &&Frame| {
            bytes += more + frame.bytes().len();
            bytes <= most
        };
        let together = batch.iter().take_while(fits).count().max(1);
        let (piece, rest) = batch.split_at_checked(together)?;
        batch = rest;
        Some(piece)
    })
}

/// The row of these records.
pub(crate) fn of(group: &[Frame]) -> Cow<'_, [u8]> {
    if let [frame] = group {
        return Cow::Borrowed(frame.bytes());
    }
    let mut row = Vec::with_capacity(LONGEST);
    row.extend(SEVERAL);
    for frame in group {
        row.extend((frame.bytes().len() as u32).to_le_bytes());
        row.extend(frame.bytes());
    }
    Cow::Owned(row)
}

/// The records of a row, with their numbers. There is at least one.
pub(crate) fn records(first: u64, row: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let several = row.strip_prefix(&SEVERAL).filter(|rest| !rest.is_empty());
    let (is_alone, mut rest) = (several.is_none(), Some(several.unwrap_or(row)));
    let records = iter::from_fn(move || {
        let bytes = rest.take()?;
        if is_alone {
            return Some(bytes);
        }
        let (record, behind) = split(bytes);
        rest = (!behind.is_empty()).then_some(behind);
        Some(record)
    });
    let numbered = move |(at, record)| (first.saturating_add(at as u64), record);
    records.enumerate().map(numbered)
}

/// The number of what comes after a row.
pub(crate) fn after(first: u64, row: &[u8]) -> u64 {
    let last = records(first, row).last();
    last.map_or(first, |(last, _)| last.saturating_add(1))
}

/// The first record, and what is behind it: nothing, if its length makes no sense.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let parts = bytes.split_first_chunk::<LENGTH>();
    let parts = parts
        .and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize));
    parts.unwrap_or((bytes, &[]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        chain::Walk,
        frame::{Kind, Unchained},
    };

    fn frames(bodies: &[Vec<u8>]) -> Vec<Frame> {
        let mut walk = Walk::from_the_start();
        let draft = |body| Unchained::new(Kind::Note, &[], body).unwrap();
        bodies.iter().map(|body| walk.seal(draft(body))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// What goes into rows comes out of them, in order and numbered, and rows of several are not too long.
        #[test]
        fn rows_read_back(bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9000), 1..20)) {
            let frames = frames(&bodies);
            let rows: Vec<(u64, Vec<u8>)> =
                groups(&frames).map(|group| (group[0].seq(), of(group).into_owned())).collect();
            let read: Vec<(u64, Vec<u8>)> = rows
                .iter()
                .flat_map(|(first, row)| records(*first, row))
                .map(|(seq, bytes)| (seq, bytes.to_vec()))
                .collect();
            let written: Vec<(u64, Vec<u8>)> =
                frames.iter().map(|frame| (frame.seq(), frame.bytes().to_vec())).collect();
            prop_assert_eq!(read, written);
            for (group, (first, row)) in groups(&frames).zip(&rows) {
                prop_assert!(group.len() == 1 || row.len() <= LONGEST);
                prop_assert_eq!(after(*first, row), first + group.len() as u64);
            }
        }

        /// Whatever is done to a row: no byte of it that is in no length is left out, and the chain does not take it for what it was.
        #[test]
        fn altered_rows_are_noticed(
            bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 2..6),
            at in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let frames = frames(&bodies);
            let mut row = of(&frames).into_owned();
            let at = at.index(row.len());
            row[at] ^= flip;
            let mut walk = Walk::from_the_start();
            let mut read = records(0, &row);
            let whole = read.by_ref().take(frames.len()).all(|(seq, bytes)| walk.step(seq, bytes).is_ok());
            prop_assert!(!(whole && read.next().is_none() && walk.head() == Some(frames[frames.len() - 1].receipt())));
        }
    }
}
