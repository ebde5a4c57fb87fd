//! What a bill remembers: its price at the first few distances at which it was launched. Maps never change.

use std::sync::OnceLock;

use measures::{Distance, Loss};

use crate::account::bill::Quote;

/// How many distances are remembered. The caps above a session seldom have so many different ones.
const MOST: usize = 4;

/// The first price is kept in place, since nearly all bills are launched at one distance.
pub(super) struct Remembered<D, L>(OnceLock<Price<D, L>>);

struct Price<D, L> {
    d_in: D,
    quote: Quote<L>,
    next: OnceLock<Box<Price<D, L>>>,
}

impl<D: Distance, L: Loss> Remembered<D, L> {
    pub(super) const fn nothing() -> Self {
        Self(OnceLock::new())
    }

    #[inline]
    pub(super) fn get(&self, d_in: &D) -> Option<&Quote<L>> {
        let mut price = self.0.get()?;
        while price.d_in != *d_in {
            price = price.next.get()?;
        }
        Some(&price.quote)
    }

    /// Remembers a price, unless there are too many.
    pub(super) fn keep(&self, d_in: &D, quote: &Quote<L>) -> Option<&Quote<L>> {
        let new = || Price {
            d_in: d_in.clone(),
            quote: quote.clone(),
            next: OnceLock::new(),
        };
        let mut price = self.0.get_or_init(new);
        for _ in 1..MOST {
            if price.d_in == *d_in {
                break;
            }
            price = price.next.get_or_init(|| Box::new(new()));
        }
        (price.d_in == *d_in).then_some(&price.quote)
    }
}
