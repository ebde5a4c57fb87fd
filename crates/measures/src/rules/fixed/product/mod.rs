//! Products of trade-off functions.

mod coarsen;
mod path;

use self::coarsen::coarsened;
use self::path::Path;
use crate::{FixedRule, Measure, RuleError, Tradeoff, TradeoffDp};

/// The product `f₁ ⊗ f₂ ⊗ …` of trade-off functions (\[DRS19\] Thm 3.2): the trade-off function of the product laws. A
/// piecewise linear function belongs to two discrete laws, whose products are multiplied out and sorted by likelihood
/// ratio.
///
/// Hypotheses: all losses are fixed before the first launch. Children may be interactive and interleave, with finite
/// communication (\[HST+23\] Thm 3.3). Rounding: down, which claims less: corners to multiples of `2^-256`
/// and 128 bits, and from more than [`corners`](TradeoffProduct::corners) corners to fewer tangents.
///
/// ```
/// use odometry::measures::fixed::TradeoffProduct;
/// use odometry::measures::{FixedRule, Loss, Tradeoff};
/// let one = Tradeoff::from_approx(&"(0.5, 0)".parse()?);
/// let two = TradeoffProduct::default().compose(&[one.clone(), one])?;
/// assert!(two.at_most(&Tradeoff::from_approx(&"(1.000001, 0)".parse()?)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Natural filters for f-DP are not free (\[RHL+26\]), and so:
///
/// ```compile_fail,E0277
/// fn filter(_rule: impl odometry::measures::FilterRule) {}
/// filter(odometry::measures::fixed::TradeoffProduct::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TradeoffProduct {
    corners: usize,
}

impl Default for TradeoffProduct {
    fn default() -> Self {
        TradeoffProduct { corners: 128 }
    }
}

impl TradeoffProduct {
    /// The rule that keeps at most this many corners after each product, from 8 to 1024. More are tighter, at a cost
    /// that grows with the square.
    pub fn new(corners: usize) -> Result<Self, RuleError> {
        if !(8..=1024).contains(&corners) {
            return Err(RuleError::parameter("corners", &corners, "from 8 to 1024"));
        }
        Ok(TradeoffProduct { corners })
    }

    /// The products of neighbours. Equal pairs in a row are multiplied once.
    fn in_pairs(&self, parts: &[Path]) -> Vec<Path> {
        let mut products: Vec<Path> = Vec::with_capacity(parts.len().div_ceil(2));
        let mut last: Option<&[Path]> = None;
        for pair in parts.chunks(2) {
            let product = match (pair, products.last()) {
                (_, Some(known)) if last == Some(pair) => known.clone(),
                ([f, g], _) => coarsened(f.product(g), self.corners),
                (rest, _) => rest[0].clone(),
            };
            products.push(product);
            last = Some(pair);
        }
        products
    }

    /// How many corners are kept.
    pub const fn corners(&self) -> usize {
        self.corners
    }
}

rule! { TradeoffProduct, TradeoffDp => TradeoffDp, ConcurrentFinite, |rule| {
    crate::Name::new("tradeoff-product").with("corners", rule.corners)
} }

impl FixedRule for TradeoffProduct {
    fn compose(&self, losses: &[Tradeoff]) -> Result<Tradeoff, RuleError> {
        // A child without loss changes nothing, and would only cost a rounding.
        let losses: Vec<&Tradeoff> = losses
            .iter()
            .filter(|loss| **loss != TradeoffDp.zero())
            .collect();
        if let [only] = losses[..] {
            return Ok(only.clone());
        }
        let paths = losses.into_iter().map(Path::of);
        let mut parts: Vec<Path> = paths.map(|path| coarsened(path, self.corners)).collect();
        // In pairs, so that a path is made coarser only log k times.
        while parts.len() > 1 {
            parts = self.in_pairs(&parts);
        }
        Ok(parts
            .first()
            .map_or_else(|| TradeoffDp.zero(), Path::to_tradeoff))
    }
}
