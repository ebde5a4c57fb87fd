//! The values of a cost at the first few distances at which it was charged. Maps never change.

use std::sync::OnceLock;

use measures::{Distance, Loss};

use crate::account::cost::CostAt;

/// The number of distances that are remembered. The caps above a session seldom have as many.
const MAX_REMEMBERED: usize = 4;

/// The first value is stored in place, since nearly all costs are charged at one distance.
pub(super) struct Remembered<D, L>(OnceLock<Value<D, L>>);

struct Value<D, L> {
    d_in: D,
    cost: CostAt<L>,
    next: OnceLock<Box<Value<D, L>>>,
}

impl<D: Distance, L: Loss> Remembered<D, L> {
    pub(super) const fn nothing() -> Self {
        Self(OnceLock::new())
    }

    #[inline]
    pub(super) fn get(&self, d_in: &D) -> Option<&CostAt<L>> {
        let mut value = self.0.get()?;
        while value.d_in != *d_in {
            value = value.next.get()?;
        }
        Some(&value.cost)
    }

    /// Remembers a value, unless there are too many. Returns what is remembered at this distance.
    pub(super) fn keep(&self, d_in: &D, cost: &CostAt<L>) -> Option<&CostAt<L>> {
        let new = || Value {
            d_in: d_in.clone(),
            cost: cost.clone(),
            next: OnceLock::new(),
        };
        let mut value = self.0.get_or_init(new);
        for _ in 1..MAX_REMEMBERED {
            if value.d_in == *d_in {
                break;
            }
            value = value.next.get_or_init(|| Box::new(new()));
        }
        (value.d_in == *d_in).then_some(&value.cost)
    }
}
