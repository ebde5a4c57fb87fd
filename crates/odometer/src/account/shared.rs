//! Work that one question shares among the parts of a partition. Many parts have the same launches:
//! their maps are asked once, and equal tallies are computed once. The loss at distance 64 over
//! 100,000 parts (`bench partition`) takes several times as long without this.

use std::{ops::RangeInclusive, sync::Arc};

use measures::{Loss as _, MapError, Measure, PrivacyMap, SymmetricDistance, Tally};
use queryable::guarded;

use crate::{
    account::addresses::AddressMap, account::cost::Cost, account::tallies::Launches,
    partition::split::Curve,
};

/// The number of different values that are shared. After that a question starts again.
const MAX_SHARED: usize = 1024;

/// The losses of launches in parts at each number of units, by the address of their cost.
pub(crate) struct SharedCurves<M: Measure>(AddressMap<usize, Known<M>>);

/// The cost is stored, so that its address stays its own.
struct Known<M: Measure> {
    cost: Cost<SymmetricDistance, M>,
    sizes: RangeInclusive<u32>,
    losses: Arc<[M::Loss]>,
}

impl<M: Measure> Default for SharedCurves<M> {
    fn default() -> Self {
        Self(AddressMap::default())
    }
}

impl<M: Measure> SharedCurves<M> {
    /// The losses of this map, which is that of the cost, at these numbers of units.
    pub(super) fn losses(
        &mut self,
        cost: &Cost<SymmetricDistance, M>,
        map: &PrivacyMap<SymmetricDistance, M>,
        sizes: RangeInclusive<u32>,
    ) -> Result<Arc<[M::Loss]>, MapError> {
        let known = self.0.get(&cost.address());
        if let Some(known) = known.filter(|known| known.sizes == sizes) {
            return Ok(Arc::clone(&known.losses));
        }
        let at = |size| Ok(map.loss(&size)?.on_grid());
        let losses: Arc<[M::Loss]> = sizes.clone().map(at).collect::<Result<_, _>>()?;
        if self.0.len() >= MAX_SHARED {
            self.0.clear();
        }
        let known = Known {
            cost: cost.clone(),
            sizes,
            losses: Arc::clone(&losses),
        };
        self.0.insert(known.cost.address(), known);
        Ok(losses)
    }
}

/// Curves of tallies, by what they were before and what was absorbed.
pub(crate) struct SharedTallies<T: Tally> {
    empty: Option<Curve<T>>,
    known: AddressMap<(usize, usize, u64), Absorbed<T>>,
}

/// Both inputs are stored, so that their addresses stay their own.
struct Absorbed<T: Tally> {
    _inputs: (Curve<T>, Arc<[T::Loss]>),
    after: Curve<T>,
}

impl<T: Tally> Default for SharedTallies<T> {
    fn default() -> Self {
        Self {
            empty: None,
            known: AddressMap::default(),
        }
    }
}

/// The destructors of tallies are user-supplied.
impl<T: Tally> Drop for SharedTallies<T> {
    fn drop(&mut self) {
        let (empty, known) = (self.empty.take(), std::mem::take(&mut self.known));
        let _ = guarded(|| drop(empty));
        for absorbed in known.into_values() {
            let _ = guarded(|| drop(absorbed));
        }
    }
}

impl<T: Tally> SharedTallies<T> {
    /// The curve of a part without launches, for this number of sizes.
    pub(super) fn empty(&mut self, sizes: usize, zero: &T) -> Curve<T> {
        match &self.empty {
            Some(empty) if empty.len() == sizes => Arc::clone(empty),
            _ => Arc::clone(self.empty.insert(vec![zero.clone(); sizes].into())),
        }
    }

    /// The curve after these launches.
    pub(super) fn after(&mut self, before: &Curve<T>, launches: &Launches<'_, T>) -> Curve<T> {
        let Some(losses) = launches.shared else {
            return launches.onto(before);
        };
        let address = |curve: *const ()| curve.addr();
        let key = (
            address(Arc::as_ptr(before).cast()),
            address(Arc::as_ptr(losses).cast()),
            launches.n,
        );
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(&known.after);
        }
        let after = launches.onto(before);
        if self.known.len() >= MAX_SHARED {
            self.known.clear();
        }
        let absorbed = Absorbed {
            _inputs: (Arc::clone(before), Arc::clone(losses)),
            after: Arc::clone(&after),
        };
        self.known.insert(key, absorbed);
        after
    }
}
