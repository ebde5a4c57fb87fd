//! Products of many factors: a mantissa and an exponent, so that nothing underflows.

use crate::numbers::Number;

/// `mantissa · 2^exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled<N> {
    pub(crate) mantissa: N,
    pub(crate) exponent: i64,
}

impl<N: Number> Scaled<N> {
    /// A positive normal number.
    pub(crate) fn of(x: N) -> Self {
        let exponent = ((x.near().to_bits() >> 52) & 0x7ff) as i32 - 1023;
        Scaled {
            mantissa: x.scaled(-exponent),
            exponent: exponent.into(),
        }
    }

    /// With a relative error of two units.
    pub(crate) fn times(self, other: Self) -> Self {
        let product = Scaled::of(self.mantissa * other.mantissa);
        Scaled {
            mantissa: product.mantissa,
            exponent: product.exponent + self.exponent + other.exponent,
        }
    }

    /// The `n`-th power, `n` at least 1: like a product of `n` factors.
    pub(crate) fn power(self, n: u64) -> Self {
        let (mut power, mut square, mut rest) = (None, self, n);
        loop {
            if rest & 1 == 1 {
                power = Some(power.map_or(square, |power: Self| power.times(square)));
            }
            rest >>= 1;
            match (rest, power) {
                (0, Some(power)) => return power,
                (0, None) => return Scaled::of(N::of(1.0)),
                _ => square = square.times(square),
            }
        }
    }

    pub(crate) fn near(self) -> Scaled<f64> {
        Scaled {
            mantissa: self.mantissa.near(),
            exponent: self.exponent,
        }
    }

    /// The logarithm, roughly.
    pub(crate) fn ln(self) -> f64 {
        self.mantissa.near().ln() + self.exponent as f64 * std::f64::consts::LN_2
    }
}
