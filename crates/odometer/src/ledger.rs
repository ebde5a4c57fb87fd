//! What was launched, in order: repeated launches of one measurement are one run.

use measures::{Measure, Metric};

use crate::bill::Bill;

/// How many bills are remembered by their address, at the most.
const MOST_RECENT: usize = 1 << 12;

pub(crate) struct Ledger<MI: Metric, M: Measure> {
    /// The bills in the order of their first launch. One that comes back after very many others may be listed again.
    bills: Vec<Bill<MI, M>>,
    /// Where bills were listed, by their address. A table that knows all of them would be asked at random places, and
    /// every new measurement would wait for memory.
    recent: Vec<Recent>,
    runs: Vec<Run>,
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

/// Packed, because there may be one for every launch.
#[derive(Clone, Copy)]
#[repr(Rust, packed(4))]
struct Run {
    bill: u32,
    count: u64,
}

/// How far into the ledger somebody has read.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Position {
    run: usize,
    within: u64,
}

impl<MI: Metric, M: Measure> Ledger<MI, M> {
    pub(crate) fn new() -> Self {
        Self {
            bills: Vec::new(),
            recent: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Is there no room for another measurement?
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.bills.len() >= u32::MAX as usize
    }

    #[inline]
    pub(crate) fn record(&mut self, bill: &Bill<MI, M>, count: u64) {
        if let Some(run) = self.runs.last_mut()
            && self.bills[run.bill as usize].address() == bill.address()
        {
            run.count += count;
            return;
        }
        let bill = self.number(bill);
        self.runs.push(Run { bill, count });
    }

    fn number(&mut self, bill: &Bill<MI, M>) -> u32 {
        if self.recent.len() < MOST_RECENT && self.bills.len() >= self.recent.len() {
            let more = (self.recent.len() * 8).clamp(16, MOST_RECENT);
            self.recent.clear();
            self.recent.resize(more, NEVER);
        }
        let address = bill.address();
        let hash = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (slot, tag) = ((hash >> 32) as usize % self.recent.len(), hash as u32);
        let Recent {
            tag: known,
            bill: number,
        } = self.recent[slot];
        let found = self.bills.get(number as usize).filter(|_| known == tag);
        if found.is_some_and(|known| known.address() == address) {
            return number;
        }
        let number = self.bills.len() as u32;
        self.bills.push(bill.clone());
        self.recent[slot] = Recent { tag, bill: number };
        number
    }

    /// The runs after `from`, at most `most` of them: bills with counts, and where they end.
    pub(crate) fn after(
        &self,
        from: Position,
        most: usize,
    ) -> (impl Iterator<Item = (u32, u64)> + '_, Position) {
        let runs = self.runs.iter().enumerate().skip(from.run).take(most);
        let unread = move |(at, run): (usize, &Run)| {
            let read = if at == from.run { from.within } else { 0 };
            (run.bill, run.count - read)
        };
        let last = (from.run + most).min(self.runs.len()).checked_sub(1);
        let to = last.map_or(from, |run| Position {
            run,
            within: self.runs[run].count,
        });
        (runs.map(unread).filter(|(_, count)| *count > 0), to)
    }

    pub(crate) fn bill(&self, number: u32) -> &Bill<MI, M> {
        &self.bills[number as usize]
    }

    /// Everything, in order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (&Bill<MI, M>, u64)> {
        self.runs.iter().map(|run| (self.bill(run.bill), run.count))
    }
}
