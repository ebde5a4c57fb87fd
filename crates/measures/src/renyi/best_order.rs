//! The choice of a Rényi order. Every order gives a valid bound, so it may be searched in floating point; the bound at
//! the order found is then computed with certainty.

use exact::Exact;

/// An order α, kept as `α − 1` so that orders near one stay precise.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) less_one: Exact,
}

impl Order {
    /// For α > 1.
    pub(crate) fn of(order: &Exact) -> Order {
        Order {
            less_one: order.saturating_sub(&Exact::ONE),
        }
    }

    pub(crate) fn value(&self) -> Exact {
        Exact::ONE + &self.less_one
    }
}

/// The order that makes `objective(α − 1)` least, or nearly so: a golden-section search over the logarithm of `α − 1`.
pub(crate) fn best_order(objective: impl Fn(f64) -> f64) -> Order {
    let at = |t: f64| objective(t.exp());
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = coarse_bracket(&at);
    for _ in 0..80 {
        let left = high - ratio * (high - low);
        let right = low + ratio * (high - low);
        if at(left) <= at(right) {
            high = right;
        } else {
            low = left;
        }
    }
    let less_one = Exact::try_from(((low + high) / 2.0).exp());
    Order {
        less_one: less_one.unwrap_or(Exact::ONE),
    }
}

/// Where a coarse walk over all sensible orders finds the least value.
fn coarse_bracket(at: &impl Fn(f64) -> f64) -> (f64, f64) {
    let points = (-40..=400).map(f64::from);
    let key = |t: f64| {
        Some(at(t))
            .filter(|value| !value.is_nan())
            .unwrap_or(f64::INFINITY)
    };
    let best = points
        .min_by(|&a, &b| key(a).total_cmp(&key(b)))
        .unwrap_or(0.0);
    (best - 1.0, best + 1.0)
}
