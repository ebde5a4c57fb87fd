//! exp, ln and their kin, in both directions.
use dashu_base::Abs;
use dashu_base::Sign;
use dashu_base::UnsignedAbs;
use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use dashu_int::IBig;

use crate::Round;
use crate::directed::{round_binary, round_ratio};
use crate::repr::Exact;

type Float = FBig<HalfEven, 2>;
const PRECISION: usize = 400;

fn float(x: &Exact) -> Float {
    let (num, den) = x.ratio_parts();
    let f = |n: dashu_int::UBig| {
        Float::from_parts(IBig::from(n), 0)
            .with_precision(PRECISION)
            .value()
    };
    f(num) / f(den)
}

/// |x| widened by 2^-200 relative.
fn result(x: Float, round: Round) -> Exact {
    let repr = x.into_repr();
    let (m, e) = (
        repr.significand().clone().unsigned_abs(),
        repr.exponent() as i64,
    );
    let _ = Sign::Positive;
    let m: dashu_int::UBig = m << 300usize;
    let margin = &m >> 200usize;
    let m = match round {
        Round::Up => m + margin,
        Round::Down => m - margin,
    };
    round_binary(m, e - 300, false, round)
}

fn tiny(x: &Exact) -> bool {
    *x < Exact::flat(1, -200, 0)
}

/// x to x(1 + 2^-190).
fn just_above(x: &Exact, round: Round) -> Exact {
    match round {
        Round::Down => x.rounded(round),
        Round::Up => (x.rounded(round) + x.rounded(round).mul(&Exact::flat(1, -190, 0), round))
            .rounded(round),
    }
}
fn just_below(x: &Exact, round: Round) -> Exact {
    match round {
        Round::Up => x.rounded(round),
        Round::Down => {
            let r = x.rounded(round);
            r.saturating_sub(&r.mul(&Exact::flat(1, -190, 0), Round::Up))
                .rounded(round)
        }
    }
}

fn largest_or_infinity(round: Round) -> Exact {
    round_binary(dashu_int::UBig::ONE, 20_000, false, round)
}
fn smallest_or_zero(round: Round) -> Exact {
    round_binary(dashu_int::UBig::ONE, -20_000, false, round)
}

impl Exact {
    /// `e^x`.
    pub fn exp(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::INFINITY;
        }
        if self.is_zero() {
            return Exact::ONE;
        }
        if *self > Exact::from(11_400u32) {
            return largest_or_infinity(round);
        }
        result(float(self).exp(), round)
    }
    /// `e^x - 1`.
    pub fn exp_m1(&self, round: Round) -> Exact {
        if self.is_infinite() || self.is_zero() {
            return self.clone();
        }
        if *self > Exact::from(11_400u32) {
            return largest_or_infinity(round);
        }
        if tiny(self) {
            return just_above(self, round);
        }
        result(float(self).exp_m1(), round)
    }
    /// `e^-x`.
    pub fn exp_neg(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::ZERO;
        }
        if self.is_zero() {
            return Exact::ONE;
        }
        if *self > Exact::from(11_400u32) {
            return smallest_or_zero(round);
        }
        result((-float(self)).exp(), round).min(Exact::ONE)
    }
    /// `1 - e^-x`.
    pub fn one_minus_exp_neg(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::ONE;
        }
        if self.is_zero() {
            return Exact::ZERO;
        }
        if *self > Exact::from(1_000u32) {
            return match round {
                Round::Up => Exact::ONE,
                Round::Down => just_below(&Exact::ONE, round),
            };
        }
        if tiny(self) {
            return just_below(self, round);
        }
        result((-float(self)).exp_m1(), round).min(Exact::ONE)
    }
    /// `ln x`; `None` for `x < 1`, where it is negative.
    pub fn ln(&self, round: Round) -> Option<Exact> {
        let above = self.checked_sub(&Exact::ONE)?;
        Some(above.ln_1p(round))
    }
    /// `ln(1 + x)`.
    pub fn ln_1p(&self, round: Round) -> Exact {
        if self.is_infinite() || self.is_zero() {
            return self.clone();
        }
        if tiny(self) {
            return just_below(self, round);
        }
        if *self < Exact::ONE {
            return result(float(self).ln_1p(), round);
        }
        result(float(&(self + &Exact::ONE)).ln(), round)
    }
    /// `-ln x`, for `0 <= x <= 1`; infinity for 0, `None` for `x > 1`.
    pub fn neg_ln(&self, round: Round) -> Option<Exact> {
        let below = Exact::ONE.checked_sub(self)?;
        if below <= Exact::flat(1, -1, 0) {
            return below.neg_ln_1m(round);
        }
        if self.is_zero() {
            return Some(Exact::INFINITY);
        }
        let x = float(self).ln();
        Some(result(x.abs(), round))
    }
    /// `-ln(1 - x)`, for `0 <= x <= 1`; infinity for 1, `None` for `x > 1`.
    pub fn neg_ln_1m(&self, round: Round) -> Option<Exact> {
        let below = Exact::ONE.checked_sub(self)?;
        if below < Exact::flat(1, -1, 0) {
            return below.neg_ln(round);
        }
        if self.is_zero() {
            return Some(Exact::ZERO);
        }
        if tiny(self) {
            return Some(just_above(self, round));
        }
        Some(result((-float(self)).ln_1p(), round))
    }
    /// The square root: exact for squares, otherwise to 128 significant bits.
    pub fn sqrt(&self, round: Round) -> Exact {
        use dashu_base::{BitTest, SquareRootRem};
        if self.is_infinite() || self.is_zero() {
            return self.clone();
        }
        let (m, two, five) = self.reduced();
        if two % 2 == 0 && five % 2 == 0 {
            let (root, rest) = m.sqrt_rem();
            if rest.is_zero() && root.bit_len() <= 128 {
                return Exact::from_big(root, two / 2, five / 2);
            }
        }
        let (num, den) = self.ratio_parts();
        let mut shift = 264 + den.bit_len() as i64 - num.bit_len() as i64;
        shift += shift & 1;
        let (q, r1) = if shift >= 0 {
            let n = num << shift as usize;
            (&n / &den, !(&n % &den).is_zero())
        } else {
            let d = den << -shift as usize;
            (&num / &d, !(&num % &d).is_zero())
        };
        let (root, r2) = q.sqrt_rem();
        let _ = round_ratio;
        round_binary(root, -shift / 2, r1 || !r2.is_zero(), round)
    }
    /// The hyperbolic tangent.
    pub fn tanh(&self, round: Round) -> Exact {
        let t = self.times(2).exp_m1(round);
        if t.is_infinite() {
            return Exact::ONE;
        }
        t.div(&(&t + &Exact::from(2u8)), round)
    }
}
