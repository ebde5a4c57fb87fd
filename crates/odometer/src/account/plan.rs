//! Dry runs: copies of accounts, which are charged like accounts, by [`Kind::Planned`]. An account
//! is locked for the copy only.
//!
//! [`Kind::Planned`]: crate::account::admission::Kind::Planned

use std::sync::{Arc, OnceLock, Weak};

use measures::Metric;
use measures::Tallied;

use crate::{
    account::entries::Share,
    account::readings::Readings,
    account::tallies::Tallies,
    account::{Account, State},
    error::LaunchError,
    sync::{Mutex, lock},
};

/// The dry runs that count together: they share one copy of each account. It keeps the copies
/// alive. A clone is the same.
#[derive(Clone, Default)]
pub(crate) struct Copies(Arc<Mutex<Vec<Arc<dyn Send + Sync>>>>);

impl Copies {
    /// Identifies the dry runs while a copy is alive.
    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// The copies of one account that are alive, by the address of their [`Copies`].
pub(super) struct CopiesOf<A>(Mutex<Vec<(usize, Weak<A>)>>);

impl<A> Default for CopiesOf<A> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<A> CopiesOf<A> {
    fn find(&self, copies: &Copies) -> Option<Arc<A>> {
        let alive = lock(&self.0);
        let mut of = alive
            .iter()
            .filter(|(address, _)| *address == copies.address());
        of.find_map(|(_, copy)| copy.upgrade())
    }

    /// Keeps a copy, unless another thread was faster: then that one.
    fn keep(&self, copies: &Copies, new: &Arc<A>) -> Arc<A> {
        let mut alive = lock(&self.0);
        alive.retain(|(_, copy)| copy.strong_count() > 0);
        let mut of = alive
            .iter()
            .filter(|(address, _)| *address == copies.address());
        if let Some(faster) = of.find_map(|(_, copy)| copy.upgrade()) {
            return faster;
        }
        alive.push((copies.address(), Arc::downgrade(new)));
        Arc::clone(new)
    }
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// The copy of this account for these dry runs, made when it is first needed.
    pub(crate) fn copy(self: &Arc<Self>, copies: &Copies) -> Result<Arc<Self>, LaunchError> {
        if let Some(copy) = self.copies.find(copies) {
            return Ok(copy);
        }
        let new = Arc::new(self.new_copy(copies)?);
        let copy = self.copies.keep(copies, &new);
        lock(&copies.0).push(Arc::clone(&copy) as _);
        Ok(copy)
    }

    fn new_copy(self: &Arc<Self>, copies: &Copies) -> Result<Self, LaunchError> {
        let parent = match &self.parent {
            Some(parent) => Some(Arc::clone(parent).copied(copies)?),
            None => None,
        };
        self.ruled(|| {
            let (spent, halted): (Tallies<R::Tally>, bool) = {
                let state = self.state();
                (state.spent.clone(), state.halted)
            };
            Self {
                label: Arc::clone(&self.label),
                rule: self.rule.clone(),
                measure: self.measure.clone(),
                zero: self.zero.clone(),
                cap: self.cap.clone(),
                quota: self.quota,
                share: Share::new(self.quota, None),
                messages: None,
                sequence: None,
                parent,
                depth: self.depth,
                tenant: OnceLock::new(),
                journaled: None,
                state: Mutex::new(State::new(spent, halted)),
                readings: Readings::new(),
                copies: CopiesOf::default(),
            }
        })
    }
}
