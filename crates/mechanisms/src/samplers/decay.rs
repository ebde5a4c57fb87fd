//! A ratio between zero and one, `q`, whose powers are wanted: `e^−rate` for a rational rate, or rational itself.

use std::fmt;

use dashu_base::{BitTest, Inverse};
use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::{Exact, Round, interval::Interval};

use super::real::exp_neg;
use crate::{
    error::BuildError,
    parameter::{Parameter, positive, shown},
};

/// The ratio of neighbouring probabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decay {
    /// `e^−rate`, the rate above zero.
    Exp {
        /// The rate.
        rate: RBig,
    },
    /// This number, strictly between zero and one.
    Ratio(RBig),
}

impl Decay {
    /// `e^(−1/scale)`.
    pub(super) fn of_scale(scale: impl Parameter) -> Result<Self, BuildError> {
        let rate = positive("the scale", scale)?.inv();
        Ok(Self::Exp { rate })
    }

    /// This ratio, strictly between zero and one.
    pub(super) fn of_ratio(ratio: impl Parameter) -> Result<Self, BuildError> {
        let ratio = positive("the ratio", ratio)?;
        if ratio >= RBig::ONE {
            let expected = "strictly between 0 and 1";
            return Err(BuildError::out_of_range("the ratio", expected, ratio));
        }
        Ok(Self::Ratio(ratio))
    }

    /// `q^exponent`.
    pub(crate) fn power(&self, exponent: &UBig, bits: usize) -> Interval {
        match self {
            Self::Exp { rate } => exp_neg(&(rate * RBig::from(exponent.clone())), bits),
            Self::Ratio(ratio) => {
                // Every squaring and product loses a few units, each of which later squarings double.
                let work = bits + 2 * exponent.bit_len() + 4;
                let base = Interval::rational(ratio, work);
                let mut power = Interval::int(1u8, work);
                for bit in (0..exponent.bit_len()).rev() {
                    power = &power * &power;
                    if exponent.bit(bit) {
                        power = &power * &base;
                    }
                }
                power.with_bits(bits)
            }
        }
    }

    /// Its parameter, with the parameter's name.
    pub(crate) fn parameter(&self) -> (&'static str, String) {
        match self {
            Self::Exp { rate } => ("scale", shown(&(RBig::ONE / rate))),
            Self::Ratio(ratio) => ("ratio", shown(ratio)),
        }
    }

    /// Bounds on `−ln q`, the loss per unit: the upper one is what may be claimed.
    ///
    /// For a rational ratio, `Exact`'s logarithm, or `1 − q ≤ −ln q ≤ (1 − q)/q` where that is tighter: so close to one
    /// that `Exact` cannot tell.
    pub(crate) fn rate(&self) -> (RBig, RBig) {
        match self {
            Self::Exp { rate } => (rate.clone(), rate.clone()),
            Self::Ratio(ratio) => {
                let log = |round: Round| {
                    let ratio = Exact::from_rational(ratio, round.reversed()).ok()?;
                    ratio.neg_ln(round)?.to_rational()
                };
                let rest = RBig::ONE - ratio;
                let above = &rest / ratio;
                let lo = log(Round::Down).map_or(rest.clone(), |log| log.max(rest));
                let hi = log(Round::Up).map_or(above.clone(), |log| log.min(above));
                (lo, hi)
            }
        }
    }
}

impl fmt::Display for Decay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exp { rate } => write!(f, "scale {}", RBig::ONE / rate),
            Self::Ratio(ratio) => write!(f, "ratio {ratio}"),
        }
    }
}
