//! Statistics, with an error that is stated and proven: Chernoff's bound for every event, and a union bound over them.

use std::{collections::BTreeMap, fmt::Debug};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;

use super::{Distribution, Enumerated, Mistake, between, float, shown};

/// The probability that a right sampler is called wrong, at the most.
const ERROR: f64 = 1e-10;

/// Draws so many times and compares how often every outcome came, and how often one up to it, with the enumerated
/// probabilities. A right sampler is called wrong with probability `1e-10` at the most, over the seed.
///
/// An outcome of probability `p` that is sampled with another probability is found once that differs by more than about
/// `√(2p·ln(4·arity/1e-10)/draws)`, plus what is [missing](Distribution::missing).
///
/// # Errors
/// The [`Mistake`] that was found.
pub fn check_by_drawing<D: Distribution>(law: &D, draws: u32, seed: [u8; 32]) -> Result<(), Mistake>
where
    D::Outcome: Ord + Debug,
{
    let enumerated = Enumerated::of(law)?;
    let mut bits = ChaCha20Rng::from_seed(seed);
    let mut drawn: BTreeMap<D::Outcome, u32> = BTreeMap::new();
    for _ in 0..draws {
        *drawn.entry(law.sample(&mut bits)).or_default() += 1;
    }
    let missing = float(&enumerated.missing);
    // Each outcome and each set of all outcomes up to one, and all that are not enumerated; too many and too few.
    let events = 2 * enumerated.outcomes.len() + 1;
    let test = Test {
        draws: draws.into(),
        limit: (2.0 * events as f64 / ERROR).ln(),
    };
    let (mut up_to, mut seen_up_to) = (0.0, 0);
    for (outcome, probability) in &enumerated.outcomes {
        let probability = float(probability);
        let seen = drawn.get(outcome).copied().unwrap_or(0);
        test.fits(
            || shown(outcome),
            seen,
            (probability, probability + missing),
        )?;
        up_to += probability;
        seen_up_to += seen;
        let name = || format!("everything up to {}", shown(outcome));
        test.fits(name, seen_up_to, (up_to, up_to + missing))?;
    }
    let name = || "what is not enumerated".to_owned();
    test.fits(name, draws - seen_up_to, (0.0, missing))
}

struct Test {
    draws: f64,
    limit: f64,
}

impl Test {
    /// An event of a probability between these two is seen so often with probability `e^(−draws·KL)` at the most.
    fn fits(
        &self,
        name: impl Fn() -> String,
        seen: u32,
        (least, most): (f64, f64),
    ) -> Result<(), Mistake> {
        let share = f64::from(seen) / self.draws;
        let nearest = share.clamp(least, most.max(least));
        if self.draws * divergence(share, nearest.min(1.0)) <= self.limit {
            return Ok(());
        }
        Err(Mistake::AnotherLaw {
            outcomes: name(),
            enumerated: between(least, most),
            sampled: format!("of about {share:e}"),
        })
    }
}

/// The divergence of a bit that is one with probability `p` from one with probability `q`.
fn divergence(p: f64, q: f64) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    part(p, q) + part(1.0 - p, 1.0 - q)
}
