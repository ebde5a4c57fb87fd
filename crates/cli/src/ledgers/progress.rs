//! A bar on the standard error while a long ledger is read. In a pipe there is none.

use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ledger::frame::Frame;
use ledger::{Each, SharedStore, Store, StoreError};

/// Shorter ledgers are read before anybody has seen a bar.
const LONG: u64 = 100_000;

/// The bar moves after so many records.
const STEP: u64 = 4096;

/// A store whose readers see how far they are.
pub(super) struct Watched<S> {
    store: S,
    bar: ProgressBar,
    read: AtomicU64,
}

impl Watched<Box<dyn Store>> {
    pub(super) fn new(store: Box<dyn Store>) -> Result<Self, StoreError> {
        let records = store.last()?.map_or(0, |(seq, _)| seq);
        let target = match records > LONG {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(records), target);
        let style = ProgressStyle::with_template("{bar:40} {pos} of {len} records");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Ok(Self {
            store,
            bar,
            read: AtomicU64::new(0),
        })
    }
}

impl Store for Watched<Box<dyn Store>> {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        self.store.append(batch)
    }

    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError> {
        self.bar.set_position(from);
        let read = self.store.read(from, &mut |seq, bytes| {
            if self
                .read
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(STEP)
            {
                self.bar.set_position(seq);
            }
            each(seq, bytes)
        });
        self.bar.finish_and_clear();
        read
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        self.store.shared()
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        self.store.last()
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        self.store.find(key)
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        self.store.checkpoint()
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        self.store.indexed()
    }
}
