//! What launches in parts cost at each number of units, while one question is answered: many parts have the same launches, and their
//! maps are asked once.

use std::{ops::RangeInclusive, sync::Arc};

use measures::{Loss as _, MapError, Measure, PrivacyMap, SymmetricDistance};

use crate::{account::bill::Bill, account::few::Few};

/// The curves that were asked for last.
pub(crate) struct Curves<M: Measure>(Few<Known<M>>);

struct Known<M: Measure> {
    bill: Bill<SymmetricDistance, M>,
    sizes: RangeInclusive<u32>,
    losses: Arc<[M::Loss]>,
}

impl<M: Measure> Default for Curves<M> {
    fn default() -> Self {
        Self(Few::default())
    }
}

impl<M: Measure> Curves<M> {
    /// What this map, which is the bill's, says at these numbers of units.
    pub(super) fn of(
        &mut self,
        bill: &Bill<SymmetricDistance, M>,
        map: &PrivacyMap<SymmetricDistance, M>,
        sizes: RangeInclusive<u32>,
    ) -> Result<Arc<[M::Loss]>, MapError> {
        let same =
            |known: &Known<M>| known.bill.address() == bill.address() && known.sizes == sizes;
        if let Some(known) = self.0.find(same) {
            return Ok(Arc::clone(&known.losses));
        }
        let at = |size| Ok(map.loss(&size)?.on_grid());
        let losses: Arc<[M::Loss]> = sizes.clone().map(at).collect::<Result<_, _>>()?;
        self.0.keep(Known {
            bill: bill.clone(),
            sizes,
            losses: Arc::clone(&losses),
        });
        Ok(losses)
    }
}
