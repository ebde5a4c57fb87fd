//! Request keys that are on their way: those of drafts, and those of staged records that the store may not have yet.

use std::{collections::HashMap, sync::Arc};

use odometer::journal::{Receipt, Record};

use crate::ticket::Ticket;

/// Keys that the store's index cannot be asked about.
#[derive(Default)]
pub(crate) struct Keys {
    staged: HashMap<Vec<u8>, (Ticket, Arc<Record>)>,
    /// How many drafts have each of these keys. What is staged under them is kept: a draft has asked the store before.
    drafted: HashMap<Vec<u8>, usize>,
    /// When to forget what the store has.
    enough: usize,
}

impl Keys {
    /// The record that was staged under a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<(Ticket, Arc<Record>)> {
        self.staged.get(key).cloned()
    }

    /// A draft has this key from now on.
    pub(crate) fn draft(&mut self, key: &[u8]) {
        *self.drafted.entry(key.to_vec()).or_default() += 1;
    }

    /// Another process has written a record with this key. Whoever drafts it later finds it in the store.
    pub(crate) fn heard(&mut self, key: &[u8], receipt: Receipt, record: impl FnOnce() -> Record) {
        if self.drafted.contains_key(key) {
            let written = (Ticket::durable(receipt), Arc::new(record()));
            self.staged.insert(key.to_vec(), written);
        }
    }

    /// A draft with this key is gone.
    pub(crate) fn gone(&mut self, key: &[u8]) {
        if let Some(count) = self.drafted.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.drafted.remove(key);
            }
        }
    }

    /// A record was staged; all up to this number are durable.
    pub(crate) fn stage(&mut self, key: Vec<u8>, staged: (Ticket, Arc<Record>), durable: u64) {
        self.staged.insert(key, staged);
        if self.staged.len() > self.enough {
            let drafted = &self.drafted;
            self.staged.retain(|key, (ticket, _)| {
                ticket.receipt().seq > durable || drafted.contains_key(key)
            });
            self.enough = 2 * self.staged.len() + 1024;
        }
    }
}
