//! Complex numbers over a [`Number`]. The error of a product is at most 4 units of the product of the moduli.

use std::ops::{Add, Mul};

use super::Number;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Complex<N> {
    pub(crate) re: N,
    pub(crate) im: N,
}

impl<N: Number> Complex<N> {
    pub(crate) fn new(re: N, im: N) -> Self {
        Complex { re, im }
    }

    pub(crate) fn one() -> Self {
        Complex::new(N::of(1.0), N::of(0.0))
    }

    pub(crate) fn zero() -> Self {
        Complex::new(N::of(0.0), N::of(0.0))
    }

    pub(crate) fn conj(self) -> Self {
        Complex::new(self.re, -self.im)
    }

    #[inline(always)]
    pub(crate) fn times(self, real: N) -> Self {
        Complex::new(self.re * real, self.im * real)
    }

    /// At least the modulus, at most √2 times it.
    #[inline(always)]
    pub(crate) fn size(self) -> f64 {
        self.re.near().abs() + self.im.near().abs()
    }

    /// The `n`-th power, by squaring.
    pub(crate) fn power(self, n: u64) -> Self {
        let (mut power, mut square, mut rest) = (Complex::one(), self, n);
        let mut started = false;
        loop {
            if rest & 1 == 1 {
                power = if started { power * square } else { square };
                started = true;
            }
            rest >>= 1;
            if rest == 0 {
                return power;
            }
            square = square * square;
        }
    }

    pub(crate) fn near(self) -> Complex<f64> {
        Complex::new(self.re.near(), self.im.near())
    }
}

impl<N: Number> Add for Complex<N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl<N: Number> Mul for Complex<N> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Complex::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}
