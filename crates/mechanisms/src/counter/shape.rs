//! How time is cut into blocks of blocks, and how what was measured of the same time is put together.

use crate::error::BuildError;

/// How many blocks of a level make one of the next, from the lowest level up.
///
/// A block is measured when it is finished, and so are the blocks it is made of: two independent estimates of its sum, which
/// are combined by their variances (\[Hon15\], from below only, so that nothing waits for the future). That costs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    arities: Vec<u64>,
    /// For each level, the weight of a block's own measurement against that of its parts, of 2^[`WEIGHT_BITS`].
    weights: Vec<u32>,
}

/// Digits of a weight. Weights are public, and any would be private.
pub(crate) const WEIGHT_BITS: usize = 20;

impl Shape {
    /// Blocks of two, as in the published counter: `⌊log₂ horizon⌋ + 1` levels.
    pub(crate) fn binary(horizon: u64) -> Self {
        Self::from_arities(vec![2; horizon.max(1).ilog2() as usize + 1])
    }

    /// With these arities, if they are enough for the horizon.
    pub(crate) fn new(horizon: u64, arities: Vec<u64>) -> Result<Self, BuildError> {
        let what = "the numbers of blocks that make one of the next level";
        if arities.iter().any(|arity| *arity < 2) {
            return Err(BuildError::out_of_range(what, "at least 2", 1));
        }
        let product = |arities: &[u64]| {
            arities
                .iter()
                .fold(1u64, |n, arity| n.saturating_mul(*arity))
        };
        if product(&arities) < horizon {
            let shown = product(&arities);
            let expected = "such that their product is at least the length of the stream";
            return Err(BuildError::out_of_range(what, expected, shown));
        }
        Ok(Self::from_arities(arities))
    }

    fn from_arities(arities: Vec<u64>) -> Self {
        let variances = variances(&arities);
        let weight = |variance: &f64| (variance * f64::from(1u32 << WEIGHT_BITS)).round() as u32;
        Self {
            weights: variances.iter().map(weight).collect(),
            arities,
        }
    }

    /// The shape with the least error on average, if the variance of the noise grows with this power of the number of levels.
    /// Chosen in floating point: every shape is private at its own price.
    pub(crate) fn best(horizon: u64, power: i32) -> Self {
        Self::least(horizon, power, |arities| mean_variance(horizon, arities))
    }

    /// The same, if the last answer is kept and added to everything that follows.
    pub(crate) fn best_kept(horizon: u64, power: i32) -> Self {
        Self::least(horizon, power, |arities| {
            mean_variance(horizon, arities) + last_variance(horizon, arities)
        })
    }

    fn least(horizon: u64, power: i32, variance: impl Fn(&[u64]) -> f64) -> Self {
        let error = |arities: &Vec<u64>| (arities.len() as f64).powi(power) * variance(arities);
        let most = horizon.max(2).ilog2() as usize + 1;
        let candidates = (1..=most).map(|levels| balanced(horizon, levels));
        let best = candidates.min_by(|one, other| error(one).total_cmp(&error(other)));
        Self::from_arities(best.unwrap_or_else(|| vec![horizon.max(2)]))
    }

    pub(crate) fn arities(&self) -> &[u64] {
        &self.arities
    }

    pub(crate) fn weight(&self, level: usize) -> u32 {
        self.weights.get(level).copied().unwrap_or(0)
    }

    /// Of how many blocks a time is made, at the most.
    pub(crate) fn most_blocks(&self) -> u64 {
        let below = self.arities.iter().map(|arity| arity - 1);
        below.fold(1, u64::saturating_add)
    }
}

/// The variances of the combined estimates, where that of one measurement is 1: `1/(1 + 1/(k·v))` with the `v` of the level below.
fn variances(arities: &[u64]) -> Vec<f64> {
    let mut all = vec![1.0];
    for arity in arities.iter().take(arities.len().saturating_sub(1)) {
        let parts = *arity as f64 * all[all.len() - 1];
        all.push(1.0 / (1.0 + 1.0 / parts));
    }
    all
}

/// The mean over all times of the variance, about: a level has half of its blocks.
fn mean_variance(horizon: u64, arities: &[u64]) -> f64 {
    let mut below = 1.0;
    let mut sum = 0.0;
    for (arity, variance) in arities.iter().zip(variances(arities)) {
        // The last level need not be full.
        let used = (horizon as f64 / below).min(*arity as f64);
        sum += (used - 1.0).max(0.0) / 2.0 * variance;
        below *= *arity as f64;
    }
    // The last time has one block more.
    sum + 1.0 / horizon as f64
}

/// The variance of the last answer: all blocks of the highest level.
fn last_variance(horizon: u64, arities: &[u64]) -> f64 {
    let below: f64 = arities
        .iter()
        .rev()
        .skip(1)
        .map(|arity| *arity as f64)
        .product();
    let variance = variances(arities).last().copied().unwrap_or(1.0);
    (horizon as f64 / below).ceil() * variance
}

/// So many levels of about the same arity, the smaller ones below, whose product is at least the horizon.
fn balanced(horizon: u64, levels: usize) -> Vec<u64> {
    let root = (horizon as f64).powf(1.0 / levels as f64).floor() as u64;
    let mut arities = vec![root.max(2); levels];
    let product = |arities: &[u64]| {
        arities
            .iter()
            .fold(1u64, |n, arity| n.saturating_mul(*arity))
    };
    let mut at = levels;
    while product(&arities) < horizon {
        at = if at == 0 { levels } else { at } - 1;
        arities[at] = arities[at].saturating_add(1);
    }
    arities.sort_unstable();
    arities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_hold_their_horizon_and_the_best_is_better_than_two() {
        for horizon in [
            1,
            2,
            3,
            7,
            64,
            1000,
            1 << 14,
            (1 << 14) + 1,
            1 << 20,
            u64::MAX,
        ] {
            for power in [1, 2] {
                let best = Shape::best(horizon, power);
                assert!(
                    Shape::new(horizon, best.arities.clone()).is_ok(),
                    "{horizon}: {best:?}"
                );
                let error = |shape: &Shape| {
                    (shape.arities.len() as f64).powi(power)
                        * mean_variance(horizon, &shape.arities)
                };
                assert!(error(&best) <= error(&Shape::binary(horizon)));
            }
        }
        assert!(Shape::new(9, vec![3, 2]).is_err());
        assert!(Shape::new(1, vec![1]).is_err());
        assert_eq!(Shape::binary(1000).arities, [2; 10]);
        // Two parts of variance 1 and the block itself: 1/(1 + 1/2).
        assert_eq!(Shape::binary(2).weights[1], ((2 << WEIGHT_BITS) + 1) / 3);
    }
}
