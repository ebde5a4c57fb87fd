//! Privacy loss distributions on a grid: losses are [moved there](super::spread) so that every δ
//! that is read off is an upper bound, and mass that is cut off counts as an infinite loss.
//!
//! Masses are `f64`, added and multiplied but never subtracted. A number that took `r` roundings
//! is then at least `(1 + 2^-52)^-r` times the exact one, and what underflows is below `2^-1000` in
//! all; both are made good when a δ is read off.

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};

use crate::numeric::{Float, Interval};

/// The distribution of a privacy loss under the first law of its pair.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    step: RBig,
    /// The loss of `masses[0]`.
    origin: RBig,
    masses: Vec<f64>,
    /// The mass of the losses that are infinite, or have been cut off.
    infinite: f64,
    /// The largest number of roundings that went into a mass.
    roundings: u64,
}

/// Longer convolutions are refused.
const MOST_PRODUCTS: usize = 1 << 33;

/// What underflow may have lost, with room to spare: `2^-1000`.
const UNDERFLOW: f64 = f64::from_bits((1023 - 1000) << 52);

impl Grid {
    /// The loss that is zero.
    pub(super) fn zero(step: &RBig) -> Grid {
        Grid {
            step: step.clone(),
            origin: RBig::ZERO,
            masses: vec![1.0],
            infinite: UNDERFLOW,
            roundings: 0,
        }
    }

    /// The distribution with these atoms: a mass, rounded up, and its place on the grid.
    pub(super) fn from_atoms(step: &RBig, atoms: &[(f64, i64)], infinite: f64) -> Grid {
        let places = atoms.iter().map(|&(_, place)| place);
        let (Some(first), Some(last)) = (places.clone().min(), places.max()) else {
            return Grid {
                masses: vec![],
                infinite: infinite + UNDERFLOW,
                ..Grid::zero(step)
            };
        };
        let mut masses = vec![0.0; (last - first) as usize + 1];
        for &(mass, place) in atoms {
            masses[(place - first) as usize] += mass;
        }
        Grid {
            origin: step * RBig::from(IBig::from(first)),
            masses,
            infinite: infinite + UNDERFLOW,
            roundings: atoms.len() as u64,
            ..Grid::zero(step)
        }
    }

    fn len(&self) -> usize {
        self.masses.len()
    }

    /// How many points have mass.
    fn atoms(&self) -> usize {
        self.masses.iter().filter(|mass| **mass > 0.0).count()
    }

    /// The sum of this loss and an independent one on the same step; `None` if that is too much work.
    pub(super) fn convolved(&self, other: &Grid) -> Option<Grid> {
        let (long, short) = if self.atoms() >= other.atoms() {
            (self, other)
        } else {
            (other, self)
        };
        if short.atoms().saturating_mul(long.len()) > MOST_PRODUCTS {
            return None;
        }
        let mut masses = vec![0.0; (long.len() + short.len()).saturating_sub(1)];
        let atoms = short
            .masses
            .iter()
            .enumerate()
            .filter(|(_, mass)| **mass > 0.0);
        for (i, mass) in atoms.clone() {
            for (sum, part) in masses[i..].iter_mut().zip(&long.masses) {
                *sum += mass * part;
            }
        }
        Some(Grid {
            step: self.step.clone(),
            origin: &self.origin + &other.origin,
            masses,
            infinite: (self.infinite + other.infinite + UNDERFLOW) * (1.0 + 4.0 * f64::EPSILON),
            roundings: self.roundings + other.roundings + atoms.count() as u64 + 1,
        })
    }

    /// The sum of `count` independent copies; `cut` of mass may be cut off after each product.
    pub(super) fn repeated(&self, count: u64, cut: f64) -> Option<Grid> {
        let mut power = self.clone();
        let mut result = Grid::zero(&self.step);
        let mut left = count;
        while left > 0 {
            if left % 2 == 1 {
                result = result.convolved(&power)?.trimmed(cut);
            }
            left /= 2;
            if left > 0 {
                power = power.convolved(&power)?.trimmed(cut);
            }
        }
        Some(result)
    }

    /// Cuts off the largest losses, as long as their mass is at most `cut`, and moves as much of
    /// the smallest losses up to the smallest that stays.
    pub(super) fn trimmed(mut self, cut: f64) -> Grid {
        let mut above = 0.0;
        while let Some(&mass) = self.masses.last()
            && (above + mass) * (1.0 + f64::EPSILON) <= cut
        {
            above = (above + mass) * (1.0 + f64::EPSILON);
            self.masses.pop();
        }
        self.infinite = (self.infinite + above * self.slack()) * (1.0 + f64::EPSILON);
        let mut below = 0.0;
        let mut start = 0;
        while start + 1 < self.len() && below + self.masses[start] <= cut {
            below += self.masses[start];
            start += 1;
        }
        self.masses.drain(..start);
        self.origin += &self.step * RBig::from(start);
        if let Some(first) = self.masses.first_mut() {
            *first += below;
        }
        self.roundings += start as u64 + 1;
        self
    }

    /// Makes good for all roundings so far.
    fn slack(&self) -> f64 {
        1.0 + (self.roundings + 4) as f64 * f64::EPSILON
    }

    /// For each point of the grid, an upper bound on δ there. With `g` the step and `α_j` the mass
    /// above point `j`, the finite part obeys `δ_j = (1−e^−g) α_j + e^−g δ_{j+1}`: no subtraction.
    pub(super) fn deltas(&self) -> Vec<f64> {
        let step = Interval::rational(&self.step, 128);
        let decay = (-&step).exp().map_or(1.0, |decay| to_f64_up(&decay.hi));
        let jump = (-&step).exp().map_or(1.0, |decay| {
            to_f64_up(&(&Interval::int(1u8, 128) - &decay).hi)
        });
        let slack = 1.0 + (self.roundings + 8 * self.len() as u64 + 8) as f64 * f64::EPSILON;
        let mut deltas = vec![0.0; self.len()];
        let (mut above, mut delta) = (0.0, 0.0);
        for (j, mass) in self.masses.iter().enumerate().rev() {
            delta = jump * above + decay * delta;
            deltas[j] = ((delta * slack + self.infinite) * (1.0 + f64::EPSILON)).min(1.0);
            above += mass;
        }
        deltas
    }

    /// The least point of the grid, not below zero, whose δ is at most `delta`.
    pub(super) fn epsilon_at(&self, delta: &Exact) -> Exact {
        if self.masses.is_empty() {
            return if to_exact(self.infinite) <= *delta {
                Exact::ZERO
            } else {
                Exact::INFINITY
            };
        }
        let target = delta.to_f64(Round::Down);
        let deltas = self.deltas();
        let found = deltas
            .iter()
            .rposition(|&at| at > target)
            .map_or(0, |last| last + 1);
        if found == deltas.len() {
            return Exact::INFINITY;
        }
        let loss = &self.origin + &self.step * RBig::from(found);
        Exact::from_rational(&loss, Round::Up).unwrap_or(Exact::ZERO)
    }

    /// Upper bounds on δ at these values of ε.
    pub(super) fn deltas_at(&self, epsilons: &[Exact]) -> Vec<Exact> {
        let deltas = self.deltas();
        let at = |epsilon: &Exact| {
            let Some(epsilon) = epsilon.to_rational() else {
                return to_exact(self.infinite);
            };
            let place = ((epsilon - &self.origin) / &self.step).floor();
            if place < IBig::ZERO {
                return Exact::ONE;
            }
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            to_exact(deltas.get(place).copied().unwrap_or(self.infinite).min(1.0))
        };
        epsilons.iter().map(at).collect()
    }
}

fn to_exact(value: f64) -> Exact {
    Exact::try_from(value).unwrap_or(Exact::INFINITY)
}

/// The least `f64` at or above a non-negative number.
pub(super) fn to_f64_up(value: &Float) -> f64 {
    value.to_exact(Round::Up).to_f64(Round::Up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_off_only_raises_delta() {
        let step = RBig::from(1u8) / RBig::from(64u8);
        let coin = Grid::from_atoms(&step, &[(0.75, 70), (0.25, -70)], 0.0);
        let whole = coin.repeated(30, 0.0).unwrap();
        let cut = coin.repeated(30, 1e-4).unwrap();
        assert!(cut.len() < whole.len());
        let epsilons: Vec<Exact> = (0u32..20).map(Exact::from).collect();
        for (more, less) in cut
            .deltas_at(&epsilons)
            .iter()
            .zip(whole.deltas_at(&epsilons))
        {
            // Both were raised to make good for roundings, the longer one by more.
            let slack = more.mul(&"1e-10".parse().unwrap(), Round::Up);
            assert!(more.clone() + slack >= less, "{more} {less}");
        }
    }

    #[test]
    fn a_sum_of_losses_in_any_order() {
        let step = RBig::from(1u8) / RBig::from(8u8);
        let a = Grid::from_atoms(&step, &[(0.5, 3), (0.5, -1)], 0.0);
        let b = Grid::from_atoms(&step, &[(0.25, 9), (0.75, 0)], 0.0625);
        let (ab, ba) = (a.convolved(&b).unwrap(), b.convolved(&a).unwrap());
        assert_eq!(ab.masses, ba.masses);
        assert_eq!(ab.origin, RBig::from(-1) / RBig::from(8u8));
        assert!(ab.infinite >= 0.0625 && ab.infinite < 0.0626);
        // The mass above 12/8 is nothing but what was infinite.
        assert_eq!(
            ab.deltas_at(&["1.5".parse().unwrap()]),
            vec![to_exact(ab.infinite * (1.0 + f64::EPSILON))]
        );
    }
}
