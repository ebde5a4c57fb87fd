//! What was launched, in order: repeated launches of one measurement are one run.

use measures::{Measure, Metric};

use crate::account::bill::Bill;

/// How many bills are remembered by their address, at the most.
const MOST_RECENT: usize = 1 << 12;

/// As long as there are no more bills than this, all of them are looked at.
const FEW: usize = 64;

/// A quota of bills allows so many runs for each of them.
const RUNS_PER_BILL: usize = 16;

pub(crate) struct Launches<MI: Metric, M: Measure> {
    /// The bills in the order of their first launch. One that comes back after very many others may be listed again.
    bills: Vec<Bill<MI, M>>,
    /// Where bills were listed, by their address. A table that knows all of them would be asked at random places, and
    /// every new measurement would wait for memory.
    recent: Vec<Recent>,
    runs: Vec<Run>,
    /// The address of the last run's bill, which is listed, so that its address stays its own.
    last: Option<usize>,
}

#[derive(Clone, Copy)]
struct Recent {
    /// Some bits of the address; the bill itself decides.
    tag: u32,
    bill: u32,
}

const NEVER: Recent = Recent {
    tag: 0,
    bill: u32::MAX,
};

/// A run ends where the next begins, and the last one where all launches do: one more launch of it changes nothing here. Packed,
/// because there may be one for every launch.
#[derive(Clone, Copy)]
#[repr(Rust, packed(4))]
struct Run {
    bill: u32,
    /// How many launches there were before it.
    begin: u64,
}

/// Where the next launch of a bill goes.
#[derive(Clone, Copy)]
pub(crate) enum Entry {
    /// Into the last run.
    Again,
    /// Into a new run of a bill with this number.
    Known(u32),
    /// Into a run of a new bill.
    New,
}

/// How runs of the list lie between those that were read before and those that will be.
pub(crate) struct Pages {
    /// Where they end.
    pub(crate) to: Position,
    /// Is the first of them the rest of a run that was read in part?
    pub(crate) continues: bool,
}

/// How far into the list somebody has read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Position {
    run: usize,
    within: u64,
}

impl<MI: Metric, M: Measure> Launches<MI, M> {
    pub(crate) fn new() -> Self {
        Self {
            bills: Vec::new(),
            recent: Vec::new(),
            runs: Vec::new(),
            last: None,
        }
    }

    /// Is it the bill of the last run?
    #[inline]
    pub(crate) fn is_last(&self, bill: &Bill<MI, M>) -> bool {
        self.last == Some(bill.address())
    }

    /// Where a launch of this bill goes, with room made for it: [`record`](Self::record) then allocates nothing. `None` if
    /// it would be one more than the quota allows.
    #[inline]
    pub(crate) fn entry(&mut self, bill: &Bill<MI, M>, quota: Option<u32>) -> Option<Entry> {
        match self.is_last(bill) {
            true => Some(Entry::Again),
            false => self.other_entry(bill, quota),
        }
    }

    #[inline(never)]
    fn other_entry(&mut self, bill: &Bill<MI, M>, quota: Option<u32>) -> Option<Entry> {
        let (most_bills, most_runs) = match quota {
            Some(quota) => (quota as usize, RUNS_PER_BILL.saturating_mul(quota as usize)),
            None => (usize::MAX, usize::MAX),
        };
        if self.runs.len() >= most_runs {
            return None;
        }
        let mut known = self.known(bill);
        if known.is_none() && self.bills.len() >= most_bills.min(NEVER.bill as usize) {
            // It may have lost its place in the table to another. Whoever is refused has time.
            known = Some(self.among_the_last(MOST_RECENT, bill)?);
        }
        self.runs.reserve(1);
        let entry = known.map_or(Entry::New, Entry::Known);
        if known.is_none() {
            self.bills.reserve(1);
            if self.recent.len() < MOST_RECENT && self.bills.len() >= self.recent.len() {
                let more = (self.recent.len() * 8).clamp(16, MOST_RECENT);
                self.recent.clear();
                self.recent.resize(more, NEVER);
            }
        }
        Some(entry)
    }

    /// Charges launches where [`entry`](Self::entry) said, after so many others.
    #[inline]
    pub(crate) fn record(&mut self, entry: Entry, bill: &Bill<MI, M>, launched: u64) {
        match entry {
            Entry::Again => {}
            Entry::Known(number) => self.begin(number, bill, launched),
            Entry::New => {
                let number = self.list(bill);
                self.begin(number, bill, launched);
            }
        }
    }

    #[inline(never)]
    fn begin(&mut self, number: u32, bill: &Bill<MI, M>, launched: u64) {
        self.last = Some(bill.address());
        self.runs.push(Run {
            bill: number,
            begin: launched,
        });
    }

    fn list(&mut self, bill: &Bill<MI, M>) -> u32 {
        let (slot, tag) = self.slot(bill);
        let number = self.bills.len() as u32;
        self.bills.push(bill.clone());
        if let Some(recent) = self.recent.get_mut(slot) {
            *recent = Recent { tag, bill: number };
        }
        number
    }

    /// The number of a bill, if it was listed lately.
    fn known(&self, bill: &Bill<MI, M>) -> Option<u32> {
        if self.bills.len() <= FEW {
            return self.among_the_last(FEW, bill);
        }
        let (slot, tag) = self.slot(bill);
        let recent = self.recent.get(slot).filter(|recent| recent.tag == tag)?;
        let known = self.bills.get(recent.bill as usize)?;
        (known.address() == bill.address()).then_some(recent.bill)
    }

    /// The number of a bill, if it is one of the last so many.
    fn among_the_last(&self, most: usize, bill: &Bill<MI, M>) -> Option<u32> {
        let first = self.bills.len().saturating_sub(most);
        let same = |known: &Bill<MI, M>| known.address() == bill.address();
        let found = self.bills[first..].iter().rposition(same)?;
        Some((first + found) as u32)
    }

    /// Where a bill is looked for, and with which tag.
    fn slot(&self, bill: &Bill<MI, M>) -> (usize, u32) {
        let hash = (bill.address() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slots = self.recent.len().max(1);
        ((hash >> 32) as usize % slots, hash as u32)
    }

    /// The runs after `from`, at most `most` of them, of so many launches.
    pub(crate) fn after(
        &self,
        from: Position,
        most: usize,
        launched: u64,
    ) -> (impl Iterator<Item = (u32, u64)> + '_, Pages) {
        let count = move |at: usize| {
            let end = self.runs.get(at + 1).map_or(launched, |next| next.begin);
            end - self.runs[at].begin
        };
        let begun = from.run < self.runs.len();
        // A position of another list may be behind the end of a run.
        let first = from.run + usize::from(begun && count(from.run) <= from.within);
        let end = first.saturating_add(most).min(self.runs.len());
        let unread = move |at: usize| {
            let read = if at == from.run { from.within } else { 0 };
            (self.runs[at].bill, count(at).saturating_sub(read))
        };
        let to = match end > first {
            true => Position {
                run: end - 1,
                within: count(end - 1),
            },
            false => from,
        };
        let continues = first == from.run && from.within > 0;
        ((first..end).map(unread), Pages { to, continues })
    }

    pub(crate) fn bill(&self, number: u32) -> &Bill<MI, M> {
        &self.bills[number as usize]
    }
}
