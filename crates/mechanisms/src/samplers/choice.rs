//! Choosing among candidates by penalties: the laws of the exponential mechanism and of permute-and-flip.
//!
//! A candidate's penalty is how far it is from the best, in units of `ε/2Δ` already: the mechanisms compute it. Both
//! laws are exact for rational penalties; the probabilities are irrational and enumerated by lower bounds.

use dashu_ratio::RBig;
use exact::interval::Interval;
use queryable::coins::Distribution;
use rand_core::Rng;

use super::{
    enumeration::{Enumeration, Filled, delegates_to_enumeration},
    limits::{PENALTY_BITS, shorter_than},
    real::{UniformReal, exp_neg, lower, probability, upper},
    width::below,
};
use crate::error::BuildError;

/// Digits of the enumerated probabilities.
const ENUMERATED_BITS: usize = 128;

/// Penalties, the least of which is zero.
#[derive(Clone, Debug)]
struct Penalties(Vec<RBig>);

impl Penalties {
    /// With as many outcomes to enumerate.
    fn read(penalties: Vec<RBig>) -> Result<(Self, Enumeration<usize>), BuildError> {
        let least = penalties.iter().min().cloned();
        let least = least.ok_or(BuildError::Empty {
            what: "the candidates",
        })?;
        let behind = |penalty| shorter_than(PENALTY_BITS, "a penalty", penalty - &least);
        let penalties = penalties.into_iter().map(behind);
        let read = Self(penalties.collect::<Result<_, _>>()?);
        let enumeration = Enumeration::new(read.len());
        Ok((read, enumeration))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// True with probability `e^−penalty`.
    fn flip(&self, candidate: usize, bits: &mut dyn Rng) -> bool {
        let penalty = &self.0[candidate];
        penalty.is_zero() || UniformReal::new().below(|precision| exp_neg(penalty, precision), bits)
    }

    fn weights(&self) -> Vec<Interval> {
        let weight = |penalty| exp_neg(penalty, ENUMERATED_BITS + 16);
        self.0.iter().map(weight).collect()
    }
}

fn uniform(n: usize, bits: &mut dyn Rng) -> usize {
    let half = bits.next_u32();
    below(n as u64, half, bits) as usize
}

/// The number of a candidate, with probability proportional to `e^−penalty` (\[MT07\]).
///
/// ```
/// use dashu_ratio::RBig;
/// use odometry::mechanisms::samplers::ExponentialChoice;
/// use odometry::queryable::coins::Distribution;
/// let choice = ExponentialChoice::new(vec![RBig::ZERO, RBig::ONE])?;
/// let first = choice.outcome(0).1; // 1/(1 + e^-1)
/// assert!((first.to_rational().to_f64().value() - 0.7310585786300049).abs() < 1e-15);
/// # Ok::<(), odometry::mechanisms::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExponentialChoice {
    penalties: Penalties,
    enumeration: Enumeration<usize>,
}

impl ExponentialChoice {
    /// Among candidates with these penalties. Only differences of penalties matter.
    ///
    /// # Errors
    /// [`BuildError::Empty`]; [`BuildError::TooLong`] for penalties of more than 8192 bits.
    pub fn new(penalties: Vec<RBig>) -> Result<Self, BuildError> {
        let (penalties, enumeration) = Penalties::read(penalties)?;
        Ok(Self {
            penalties,
            enumeration,
        })
    }

    fn enumerated(&self) -> &Filled<usize> {
        self.enumeration.get(|_| {
            let weights = self.penalties.weights();
            let zero = Interval::int(0u8, ENUMERATED_BITS + 16);
            let sum = weights.iter().fold(zero, |sum, weight| &sum + weight);
            // The best candidate's weight is one, so the sum is not zero.
            let share = |weight: &Interval| weight.div(&sum).unwrap_or_else(probability);
            let mass = |weight| lower(&share(weight), ENUMERATED_BITS);
            weights.iter().map(mass).enumerate().collect()
        })
    }
}

impl Distribution for ExponentialChoice {
    type Outcome = usize;

    /// A uniform candidate, kept with probability `e^−penalty`: some candidate is always kept.
    fn sample(&self, bits: &mut dyn Rng) -> usize {
        loop {
            let candidate = uniform(self.penalties.len(), bits);
            if self.penalties.flip(candidate, bits) {
                return candidate;
            }
        }
    }

    delegates_to_enumeration!(usize);
}

/// The first candidate in a random order whose coin, heads with probability `e^−penalty`, shows heads
/// (\[MS20\] Alg 1). It is also the law of report-noisy-max with exponential noise (\[DKS+21\]).
///
/// ```
/// use dashu_ratio::RBig;
/// use odometry::mechanisms::samplers::PermuteAndFlip;
/// use odometry::queryable::coins::Distribution;
/// let choice = PermuteAndFlip::new(vec![RBig::ZERO, RBig::ONE])?;
/// let second = choice.outcome(1).1; // e^-1 / 2
/// assert!((second.to_rational().to_f64().value() - 0.18393972058572117).abs() < 1e-15);
/// # Ok::<(), odometry::mechanisms::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PermuteAndFlip {
    penalties: Penalties,
    enumeration: Enumeration<usize>,
}

impl PermuteAndFlip {
    /// Among candidates with these penalties. Only differences of penalties matter.
    ///
    /// # Errors
    /// [`BuildError::Empty`]; [`BuildError::TooLong`] for penalties of more than 8192 bits.
    pub fn new(penalties: Vec<RBig>) -> Result<Self, BuildError> {
        let (penalties, enumeration) = Penalties::read(penalties)?;
        Ok(Self {
            penalties,
            enumeration,
        })
    }

    /// In an order given by independent uniform times, a candidate wins with probability
    /// `p_i · ∫ Π_{j≠i} (1 − t·p_j) dt` over `[0, 1]`: the smaller, the larger the others' `p_j` are.
    fn enumerated(&self) -> &Filled<usize> {
        self.enumeration.get(|_| {
            let bits = ENUMERATED_BITS;
            let weights = self.penalties.weights();
            let upper: Vec<RBig> = weights.iter().map(|weight| upper(weight, bits)).collect();
            let mass = |i: usize| lower(&weights[i], bits) * none_before(&upper, i);
            (0..weights.len()).map(|i| (i, mass(i))).collect()
        })
    }
}

/// `∫ Π_{j≠i} (1 − t·p_j) dt` over `[0, 1]`.
fn none_before(p: &[RBig], i: usize) -> RBig {
    let mut product = vec![RBig::ONE];
    for (_, p) in p.iter().enumerate().filter(|(j, _)| *j != i) {
        product.push(RBig::ZERO);
        for k in (1..product.len()).rev() {
            let less = &product[k - 1] * p;
            product[k] -= less;
        }
    }
    let mut integral = RBig::ZERO;
    for (k, coefficient) in product.iter().enumerate() {
        integral += coefficient / RBig::from(k + 1);
    }
    integral
}

impl Distribution for PermuteAndFlip {
    type Outcome = usize;

    fn sample(&self, bits: &mut dyn Rng) -> usize {
        let mut left: Vec<usize> = (0..self.penalties.len()).collect();
        loop {
            // The best candidate's coin always shows heads, so the list does not run out.
            let candidate = left.swap_remove(uniform(left.len(), bits));
            if self.penalties.flip(candidate, bits) {
                return candidate;
            }
        }
    }

    delegates_to_enumeration!(usize);
}
