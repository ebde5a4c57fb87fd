//! Searching for a number: the least one that will do, where nothing is known but a yes or no at each.

use dashu_int::UBig;

use crate::repr::Exact;

/// What [`Exact::least`] found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Least {
    /// This number fits, and the one before it does not.
    Found(Exact),
    /// Even the smallest number fits.
    All,
    /// Not even the largest number fits.
    None,
}

/// Numbers are looked for from `2^-LIMIT` to `2^LIMIT`.
const LIMIT: i64 = 1024;

impl Exact {
    /// The least number that fits, among those with `bits` significant bits (from 1 to 64) between `2^-1024` and `2^1024`,
    /// for `fits` that holds from some number on.
    ///
    /// What is found was asked and fits, and the number just before it, a relative `2^(1−bits)` less at the most, was
    /// asked and does not: this holds for every `fits`, and if it is not monotone there may be smaller numbers that fit,
    /// too. The search begins at `2^near`; it asks about `bits` times, and twice the logarithm of the exponents between
    /// there and what is found.
    ///
    /// ```
    /// use odometry::exact::{Exact, search::Least};
    /// let third = Exact::ratio(1, 3)?;
    /// let Least::Found(found) = Exact::least(20, 0, |x| *x >= third) else { unreachable!() };
    /// assert!(found >= third && found.times(1 << 19) <= third.times((1 << 19) + 1));
    /// let Least::Found(ten) = Exact::least(20, 0, |x| *x >= Exact::from(10u8)) else { unreachable!() };
    /// assert_eq!(ten, Exact::from(10u8));
    /// assert_eq!(Exact::least(20, 0, |_| false), Least::None);
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn least(bits: u32, near: i32, mut fits: impl FnMut(&Exact) -> bool) -> Least {
        let scale = Places(bits.clamp(1, 64) - 1);
        let (bottom, top) = (scale.of_power(-LIMIT), scale.of_power(LIMIT));
        let start = scale.of_power(i64::from(near).clamp(-LIMIT, LIMIT));
        let downwards = fits(&scale.number(start));
        // The last place that was asked, and how far to go from it.
        let (mut at, mut step) = (start, scale.of_power(1));
        let (mut low, mut high) = loop {
            let next = match downwards {
                true => (at - step).max(bottom),
                false => (at + step).min(top),
            };
            match (downwards, next == at) {
                (true, true) => return Least::All,
                (false, true) => return Least::None,
                _ => (),
            }
            match (downwards, fits(&scale.number(next))) {
                (true, false) => break (next, at),
                (false, true) => break (at, next),
                _ => (at, step) = (next, step * 2),
            }
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match fits(&scale.number(middle)) {
                true => high = middle,
                false => low = middle,
            }
        }
        Least::Found(scale.number(high))
    }
}

/// Numbers with so many bits after the leading one, counted in ascending order as floats are: the exponent, then those
/// bits.
struct Places(u32);

impl Places {
    fn of_power(&self, exponent: i64) -> i128 {
        i128::from(exponent) << self.0
    }

    fn number(&self, place: i128) -> Exact {
        let exponent = (place >> self.0) as i32;
        let bits = (place - (i128::from(exponent) << self.0)) as u128;
        let mantissa = UBig::from(bits | 1 << self.0);
        Exact::from_big(mantissa, i64::from(exponent) - i64::from(self.0), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ends_are_reported() {
        assert_eq!(Exact::least(8, 0, |_| true), Least::All);
        assert_eq!(Exact::least(8, 0, |_| false), Least::None);
        assert_eq!(Exact::least(8, i32::MAX, |_| false), Least::None);
        assert_eq!(Exact::least(8, i32::MIN, |_| true), Least::All);
    }

    proptest! {
        #[test]
        fn the_least_is_found(mantissa in 1u64.., two in -1000i64..900, bits in 1u32..=64, near in -40i32..40) {
            let bound = Exact::from_big(mantissa.into(), two, 0);
            let (mut asked, mut most_refused) = (0, Exact::ZERO);
            let found = Exact::least(bits, near, |x| {
                asked += 1;
                if *x < bound {
                    most_refused = most_refused.clone().max(x.clone());
                }
                *x >= bound
            });
            let Least::Found(found) = found else { panic!("{found:?}") };
            prop_assert!(found >= bound && most_refused < bound);
            // Neighbours are a relative 2^(1-bits) apart.
            let apart = found.checked_sub(&most_refused).unwrap();
            prop_assert!(apart.mul(&Exact::flat(1 << (bits - 1), 0, 0), crate::Round::Down) <= found);
            prop_assert!(asked <= bits + 25, "{asked}");
        }
    }
}
