//! Masses of runs and of histories: exact, and in machine words while they fit, which is nearly always.

use std::num::NonZero;

use dashu_base::Gcd;
use dashu_int::UBig;
use dashu_ratio::RBig;
use queryable::coins::Probability;

use crate::limits::heap;

/// A rational that is not negative.
#[derive(Clone, Debug)]
pub(crate) enum Mass {
    /// Numerator and denominator, not always in lowest terms.
    Small(u64, NonZero<u64>),
    Big(Box<RBig>),
}

impl Mass {
    pub(crate) const ZERO: Self = Self::Small(0, NonZero::<u64>::MIN);
    pub(crate) const ONE: Self = Self::Small(1, NonZero::<u64>::MIN);

    fn big(value: RBig) -> Self {
        Self::Big(Box::new(value))
    }

    #[inline]
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Small(numerator, _) => *numerator == 0,
            Self::Big(value) => value.is_zero(),
        }
    }

    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        match self {
            Self::Small(numerator, denominator) => *numerator == denominator.get(),
            Self::Big(value) => **value == RBig::ONE,
        }
    }

    pub(crate) fn to_rational(&self) -> RBig {
        match self {
            Self::Small(numerator, denominator) => {
                RBig::from_parts((*numerator).into(), UBig::from(denominator.get()))
            }
            Self::Big(value) => RBig::clone(value),
        }
    }

    #[inline]
    pub(crate) fn times(&self, factor: &Probability) -> Self {
        let product = match (self, factor.words()) {
            (Self::Small(n, d), Some((m, e))) => small_product((*n, *d), (m, e)),
            _ => None,
        };
        product.unwrap_or_else(|| Self::big(self.to_rational() * factor.to_rational()))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let sum = match (&*self, other) {
            (Self::Small(n, d), Self::Small(m, e)) => small_sum((*n, *d), (*m, *e)),
            _ => None,
        };
        *self = sum.unwrap_or_else(|| Self::big(self.to_rational() + other.to_rational()));
    }

    /// The bytes that do not fit into its own place.
    #[inline]
    pub(crate) fn heap(&self) -> usize {
        match self {
            Self::Small(..) => 0,
            Self::Big(value) => size_of::<RBig>() + heap(value),
        }
    }
}

impl From<&RBig> for Mass {
    fn from(value: &RBig) -> Self {
        let small = || {
            let numerator = u64::try_from(value.numerator()).ok()?;
            let denominator = u64::try_from(value.denominator()).ok()?;
            Some(Self::Small(numerator, NonZero::new(denominator)?))
        };
        small().unwrap_or_else(|| Self::big(value.clone()))
    }
}

impl From<&Probability> for Mass {
    #[inline]
    fn from(value: &Probability) -> Self {
        let words = value.words();
        let small = words.and_then(|(n, d)| Some(Self::Small(n, NonZero::new(d)?)));
        small.unwrap_or_else(|| Self::big(value.to_rational()))
    }
}

fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// This fraction, if it fits: in lowest terms only where it must.
fn fitting(numerator: u128, denominator: u128) -> Option<Mass> {
    let small = |n: u128, d: u128| {
        let denominator = NonZero::new(d.try_into().ok()?)?;
        Some(Mass::Small(n.try_into().ok()?, denominator))
    };
    small(numerator, denominator).or_else(|| {
        let common = numerator.gcd(denominator);
        small(numerator / common, denominator / common)
    })
}

#[inline]
fn small_product((n, d): (u64, NonZero<u64>), (m, e): (u64, u64)) -> Option<Mass> {
    match (n.checked_mul(m), d.get().checked_mul(e)) {
        (Some(n), Some(d)) => Some(Mass::Small(n, NonZero::new(d)?)),
        _ => fitting(wide(n, m), wide(d.get(), e)),
    }
}

fn small_sum((n, d): (u64, NonZero<u64>), (m, e): (u64, NonZero<u64>)) -> Option<Mass> {
    match (n, m) {
        (0, _) => return Some(Mass::Small(m, e)),
        (_, 0) => return Some(Mass::Small(n, d)),
        _ => {}
    }
    if d == e {
        return match n.checked_add(m) {
            Some(sum) => Some(Mass::Small(sum, d)),
            None => fitting(u128::from(n) + u128::from(m), d.get().into()),
        };
    }
    let (d, e) = (d.get(), e.get());
    let common = d.gcd(e);
    let (up, down) = (e / common, d / common);
    let sum = wide(n, up).checked_add(wide(m, down))?;
    fitting(sum, wide(d, up))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Small ones, and ones at and past the end of a word.
    fn rational() -> impl Strategy<Value = RBig> {
        let part = || {
            prop_oneof![
                0u128..60,
                (u128::from(u64::MAX) - 60)..(u128::from(u64::MAX) + 60),
                any::<u128>()
            ]
        };
        (part(), part()).prop_map(|(n, d)| RBig::from_parts(n.into(), UBig::from(d.max(1))))
    }

    proptest! {
        #[test]
        fn masses_are_rationals(values in prop::collection::vec((rational(), any::<bool>()), 1..12)) {
            let (mut mass, mut expected) = (Mass::ONE, RBig::ONE);
            for (value, product) in values {
                match Probability::try_from(value.clone()) {
                    Ok(probability) if product => {
                        (mass, expected) = (mass.times(&probability), expected * &value);
                        let alone = Mass::from(&probability).to_rational();
                        prop_assert_eq!(&alone, &value);
                    }
                    _ => {
                        mass.add(&Mass::from(&value));
                        expected += &value;
                    }
                }
                prop_assert_eq!(&mass.to_rational(), &expected);
                prop_assert_eq!(mass.is_zero(), expected.is_zero());
                prop_assert_eq!(mass.is_one(), expected == RBig::ONE);
                let boxed = match mass {
                    Mass::Small(..) => 0,
                    Mass::Big(_) => size_of::<RBig>(),
                };
                prop_assert_eq!(mass.heap(), boxed + heap(&expected));
            }
        }
    }

    #[test]
    fn shares_add_up_to_one() {
        for parts in [1u64, 3, 7, 1 << 40, u64::MAX] {
            let share = RBig::from_parts(1.into(), UBig::from(parts));
            let mut mass = Mass::from(&share);
            mass.add(&Mass::from(&(RBig::ONE - share)));
            assert!(mass.is_one(), "{parts}");
        }
    }
}
