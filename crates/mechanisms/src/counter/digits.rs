//! Times in digits that may be negative, from the lowest up: how many blocks they are, and which digits are best.

/// The most blocks of a level in one of the next: half of them get their noise in one step.
pub(super) const MOST: u64 = 1 << 16;

/// The largest digit of so many values.
pub(super) const fn largest(arity: u64) -> u64 {
    arity / 2
}

/// Of how many blocks a time is made, on average.
pub(super) fn mean_blocks(horizon: u64, arities: &[u64]) -> f64 {
    let (mut sum, mut below) = (0.0, 1.0);
    for arity in arities {
        let up = largest(*arity) as f64;
        let (all, down) = (*arity as f64, *arity as f64 - 1.0 - up);
        sum += (up * (up + 1.0) + down * (down + 1.0)) / (2.0 * all);
        below *= all;
    }
    sum + horizon as f64 / below / 2.0
}

/// Of how many blocks this time is made.
pub(super) fn blocks_at(mut time: u64, arities: &[u64]) -> f64 {
    let mut blocks = 0;
    for arity in arities {
        let digit = time % arity;
        time /= arity;
        if digit <= largest(*arity) {
            blocks += digit;
        } else {
            blocks += arity - digit;
            time += 1;
        }
    }
    (blocks + time) as f64
}

/// The arities with the least error, if the variance of the noise grows with this power of the number of levels: a
/// level of `k` needs `k/4` blocks, the highest one half of what there are, so about `(2·horizon)^(1/levels)` each. Chosen in floating point: every
/// choice is private at its own price.
pub(super) fn best(horizon: u64, power: i32, blocks: impl Fn(&[u64]) -> f64) -> Vec<u64> {
    let error = |arities: &Vec<u64>| (arities.len() as f64 + 1.0).powi(power) * blocks(arities);
    let mut best = Vec::new();
    for levels in 1..=horizon.max(1).ilog2() as usize + 1 {
        let about = (2.0 * horizon as f64).powf(1.0 / (levels as f64 + 1.0)) as u64;
        for arity in about.saturating_sub(2).max(2)..=about + 2 {
            for larger in 0..levels {
                let mut arities = vec![arity; levels];
                arities[levels - larger..].fill(arity + 1);
                if error(&arities) < error(&best) {
                    best = arities;
                }
            }
        }
    }
    best
}
