//! The list of an account: the measurements that were launched, with their counts. An equal
//! measurement that has a symbolic form is the same entry when it is made again. Beyond its limit,
//! the list has entries that stand for several measurements.
//!
//! Every child of the account has a share of the list ([`Share`]). A default share is at most half of
//! a list with two entries or more, and a few entries for merged measurements. Several children
//! together can fill the list.

use std::{
    collections::HashMap,
    sync::Arc,
    sync::atomic::{AtomicU32, Ordering},
};

use measures::{Measure, Metric};

use crate::{
    account::cost::Cost,
    measurement::Description,
    planted::{PlantedMistake, is_planted},
};

/// The default share of a child: one in this many entries of its parent's list.
const SHARES: u32 = 16;

/// A default share has at least this many entries, unless that is more than half of the list.
const MIN_SHARE: u32 = 16;

/// The least number of additional entries for merged measurements, in a share and in a list.
const MERGED_IN_SHARE: u32 = 16;
const MERGED_IN_LIST: u32 = 64;

/// Entries are grouped in blocks, so that a question finds those that changed.
const BLOCK: usize = 256;

/// The number of entries that a question reads under one lock.
pub(super) const BATCH: usize = 256;

pub(super) struct Entries<MI: Metric, M: Measure> {
    list: Vec<Entry<MI, M>>,
    /// The number of entries that past launches have added: they leave room for live ones.
    past: usize,
    /// The numbers of entries by the hash of their identity. Of costs with equal hashes, later
    /// ones are at the following numbers.
    index: HashMap<u64, u32>,
    /// For each block: the number of launches after the last launch of one of its entries.
    latest: Vec<u64>,
    /// The last two entries that were launched: the address of the cost, and the number. They are
    /// found without the table.
    last: (usize, u32),
    before: (usize, u32),
}

/// One measurement.
pub(super) struct Entry<MI: Metric, M: Measure> {
    cost: Cost<MI, M>,
    count: u64,
    /// The number of launches in the account after the last launch of this entry.
    latest: u64,
    /// Whether another cost of the same identity was launched, too.
    shared: bool,
}

/// No entry: no cost has this address, and no entry this number.
const NONE: (usize, u32) = (0, u32::MAX);

/// Where the next launch of a cost is counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    /// In the entry with this number.
    Known(u32),
    /// In a new entry, whose index has this key.
    New(u64),
}

/// The entries of its parent's list that a child has taken, with everything below it. It is changed
/// under the parent's lock only.
#[derive(Debug)]
pub(crate) struct Share {
    limit: u32,
    used: AtomicU32,
}

impl Share {
    /// The share of a child in a list with this limit: a stated number of entries, or the default.
    pub(super) fn new(list: u32, stated: Option<u32>) -> Self {
        let default = (list / SHARES).max(MIN_SHARE).min(list / 2).max(1);
        Self {
            limit: stated.unwrap_or(default).min(list),
            used: AtomicU32::new(0),
        }
    }

    fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn take(&self) {
        let used = self.used().saturating_add(1);
        self.used.store(used, Ordering::Relaxed);
    }
}

/// How many entries a list may have.
#[derive(Clone, Copy)]
pub(super) struct Limit<'a> {
    list: u32,
    share: Option<&'a Share>,
    is_past: bool,
    stands_for: StandsFor,
}

/// The launches that an entry stands for.
#[derive(Clone, Copy, PartialEq)]
enum StandsFor {
    Equal,
    Merged,
    Any,
}

impl<'a> Limit<'a> {
    /// The limit of a list, and the share of the child that a launch comes from.
    pub(super) fn new(list: u32, share: Option<&'a Share>) -> Self {
        Self {
            list,
            share,
            is_past: false,
            stands_for: StandsFor::Equal,
        }
    }

    /// The limit of entries for past launches, which a list may have in addition to live ones.
    pub(super) fn of_past(list: u32) -> Self {
        Self {
            is_past: true,
            ..Self::new(list, None)
        }
    }

    /// The limit of entries that stand for several measurements. It is a little higher, so that a
    /// full list still takes launches, as long as these entries have room.
    pub(super) fn merged(self) -> Self {
        Self {
            stands_for: StandsFor::Merged,
            ..self
        }
    }

    /// The limit of the one entry that stands for any launch: every list has room for it.
    pub(super) fn last(self) -> Self {
        Self {
            stands_for: StandsFor::Any,
            ..self
        }
    }

    /// Whether one more entry is allowed next to this number of entries of its kind, past or live.
    fn allows(&self, length: usize) -> bool {
        let extended = |limit: u32, least: u32| {
            let more = match self.stands_for {
                StandsFor::Equal => 0,
                StandsFor::Merged => (limit / SHARES).max(least),
                StandsFor::Any => return u32::MAX,
            };
            limit.saturating_add(more)
        };
        let list = extended(self.list, MERGED_IN_LIST);
        let in_share = |share: &Share| share.used() < extended(share.limit, MERGED_IN_SHARE);
        length < list as usize && self.share.is_none_or(in_share)
    }

    /// The limit that was reached, for texts.
    pub(super) fn reached(&self) -> u32 {
        match self.share {
            Some(share) if share.used() >= share.limit => share.limit,
            _ => self.list,
        }
    }
}

impl<MI: Metric, M: Measure> Entries<MI, M> {
    pub(super) fn new() -> Self {
        Self {
            list: Vec::new(),
            past: 0,
            index: HashMap::new(),
            latest: Vec::new(),
            last: NONE,
            before: NONE,
        }
    }

    /// Where a launch of this cost is counted, with the memory that [`record`](Self::record) needs.
    /// `None` if it needs a new entry and the limit allows none. Its identity must be known.
    #[inline]
    pub(super) fn slot(&mut self, cost: &Cost<MI, M>, limit: &Limit<'_>) -> Option<Slot> {
        let address = cost.address();
        for (known, number) in [self.last, self.before] {
            if known == address {
                return Some(Slot::Known(number));
            }
        }
        self.find(cost, limit)
    }

    fn find(&mut self, cost: &Cost<MI, M>, limit: &Limit<'_>) -> Option<Slot> {
        let mut key = cost.identity().hash();
        while let Some(number) = self.index.get(&key) {
            if self.list[*number as usize].cost.is_same(cost) {
                return Some(Slot::Known(*number));
            }
            key = key.wrapping_add(1);
        }
        let of_its_kind = match limit.is_past {
            true => self.past,
            false => self.list.len() - self.past,
        };
        if !limit.allows(of_its_kind) || self.list.len() >= u32::MAX as usize {
            return None;
        }
        if !is_planted(PlantedMistake::ReservesNothing) {
            self.list.reserve(1);
            self.index.reserve(1);
            self.latest.reserve(1);
        }
        Some(Slot::New(key))
    }

    /// Counts launches in this slot; a new entry is for past launches or for live ones. `launched`
    /// is the number of launches in the account afterwards. Nothing is allocated.
    #[inline]
    pub(super) fn record(
        &mut self,
        (slot, is_past): (Slot, bool),
        cost: &Cost<MI, M>,
        count: u64,
        launched: u64,
    ) {
        let number = match slot {
            Slot::Known(number) => number,
            Slot::New(key) => {
                self.past += usize::from(is_past);
                self.add(key, cost)
            }
        };
        let entry = &mut self.list[number as usize];
        entry.count += count;
        entry.latest = launched;
        entry.shared |= entry.cost.address() != cost.address();
        self.latest[number as usize / BLOCK] = launched;
        if self.last.1 != number {
            self.before = self.last;
            // The entry stores the cost, so the address stays its own.
            self.last = (entry.cost.address(), number);
        }
    }

    fn add(&mut self, key: u64, cost: &Cost<MI, M>) -> u32 {
        let number = self.list.len();
        debug_assert!(number < self.list.capacity(), "no memory was reserved");
        if number.is_multiple_of(BLOCK) {
            self.latest.push(0);
        }
        self.list.push(Entry {
            cost: cost.clone(),
            count: 0,
            latest: 0,
            shared: false,
        });
        self.index.insert(key, number as u32);
        number as u32
    }

    /// Visits the entries from this number on that were launched after the first `seen` launches,
    /// up to a batch. Returns the number from which to read on, if there may be more.
    pub(super) fn visit_changed(
        &self,
        from: usize,
        seen: u64,
        mut visit: impl FnMut(usize, &Entry<MI, M>),
    ) -> Option<usize> {
        let (mut at, mut visited) = (from, 0);
        while at < self.list.len() {
            if self.latest[at / BLOCK] <= seen {
                at = (at / BLOCK + 1) * BLOCK;
                continue;
            }
            if visited == BATCH {
                return Some(at);
            }
            let entry = &self.list[at];
            if entry.latest > seen {
                visit(at, entry);
                visited += 1;
            }
            at += 1;
        }
        None
    }
}

impl<MI: Metric, M: Measure> Entry<MI, M> {
    /// The cost of each launch of this entry, and whether it stands for [equal
    /// ones](Cost::by_form), too.
    pub(super) fn cost(&self) -> (Cost<MI, M>, bool) {
        (self.cost.clone(), self.shared)
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn description(&self) -> &Arc<Description> {
        self.cost.description()
    }
}
