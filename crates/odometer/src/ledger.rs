//! What was launched, in order: repeated launches of one measurement are one run.

use std::sync::Arc;

use measures::{Measure, Metric};

use crate::{
    addresses::AddressMap,
    bill::{Bill, BillId},
    measurement::Description,
};

pub(crate) struct Ledger<MI: Metric, M: Measure> {
    /// Each different bill with each different description once. They stay alive here, so their ids stay their own.
    entries: Vec<Entry<MI, M>>,
    index: AddressMap<EntryId, u32>,
    runs: Vec<Run>,
}

pub(crate) struct Entry<MI: Metric, M: Measure> {
    pub(crate) bill: Bill<MI, M>,
    pub(crate) description: Arc<Description>,
}

/// The bill, and the address of the description.
type EntryId = (BillId, usize);

impl<MI: Metric, M: Measure> Entry<MI, M> {
    #[inline]
    fn id(&self) -> EntryId {
        entry_id(&self.bill, &self.description)
    }
}

#[inline]
fn entry_id<MI: Metric, M: Measure>(bill: &Bill<MI, M>, description: &Arc<Description>) -> EntryId {
    (bill.id(), Arc::as_ptr(description).addr())
}

/// Packed, because there may be one for every launch.
#[derive(Clone, Copy)]
#[repr(Rust, packed(4))]
struct Run {
    entry: u32,
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
            entries: Vec::new(),
            index: AddressMap::default(),
            runs: Vec::new(),
        }
    }

    /// Is there no room for another measurement?
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() >= u32::MAX as usize
    }

    #[inline]
    pub(crate) fn record(
        &mut self,
        bill: &Bill<MI, M>,
        description: &Arc<Description>,
        count: u64,
    ) {
        let id = entry_id(bill, description);
        if let Some(run) = self.runs.last_mut()
            && self.entries[run.entry as usize].id() == id
        {
            run.count += count;
            return;
        }
        let entries = &mut self.entries;
        let entry = *self.index.entry(id).or_insert_with(|| {
            entries.push(Entry {
                bill: bill.clone(),
                description: Arc::clone(description),
            });
            (entries.len() - 1) as u32
        });
        self.runs.push(Run { entry, count });
    }

    /// The runs after `from`, at most `most` of them: entries with counts, and where they end.
    pub(crate) fn after(&self, from: Position, most: usize) -> (Vec<(u32, u64)>, Position) {
        let mut batch: Vec<(u32, u64)> = Vec::new();
        let mut to = from;
        for (at, run) in self.runs.iter().enumerate().skip(from.run).take(most) {
            let read = if at == from.run { from.within } else { 0 };
            if run.count > read {
                batch.push((run.entry, run.count - read));
            }
            to = Position {
                run: at,
                within: run.count,
            };
        }
        (batch, to)
    }

    pub(crate) fn entry(&self, number: u32) -> &Entry<MI, M> {
        &self.entries[number as usize]
    }

    /// Everything, in order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (&Entry<MI, M>, u64)> {
        self.runs
            .iter()
            .map(|run| (self.entry(run.entry), run.count))
    }
}

impl<MI: Metric, M: Measure> Clone for Entry<MI, M> {
    fn clone(&self) -> Self {
        Self {
            bill: self.bill.clone(),
            description: Arc::clone(&self.description),
        }
    }
}
