//! A ratio between zero and one, `q`, whose powers are wanted: `e^−rate` for a rational rate, or rational itself.

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};

use super::fixed::{Bounds, exp_neg};

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
    /// `q^exponent`.
    pub(crate) fn power(&self, exponent: &UBig, bits: usize) -> Bounds {
        match self {
            Self::Exp { rate } => exp_neg(&(rate * RBig::from(exponent.clone())), bits),
            Self::Ratio(ratio) => {
                // Every squaring and product loses a few units, each of which later squarings double.
                let work = bits + 2 * dashu_base::BitTest::bit_len(exponent) + 4;
                let base = Bounds::rational(ratio, work);
                let mut power = Bounds::one(work);
                for bit in (0..dashu_base::BitTest::bit_len(exponent)).rev() {
                    power = power.mul(&power, work);
                    if dashu_base::BitTest::bit(exponent, bit) {
                        power = power.mul(&base, work);
                    }
                }
                power.narrowed(work, bits)
            }
        }
    }

    /// Bounds on `−ln q`: the loss per unit. The upper one is what may be claimed.
    pub(crate) fn rate(&self) -> (RBig, RBig) {
        match self {
            Self::Exp { rate } => (rate.clone(), rate.clone()),
            Self::Ratio(ratio) => {
                let log = |up: Round| {
                    let ratio = Exact::from_rational(ratio, up.reversed()).ok()?;
                    ratio.neg_ln(up)?.to_rational()
                };
                // A ratio that is rounded out of range has no useful bound: none is claimed.
                let hi = log(Round::Up).unwrap_or_else(|| RBig::from(UBig::ONE << 64));
                (log(Round::Down).unwrap_or(RBig::ZERO), hi)
            }
        }
    }

    /// `−ln q`, rounded up: infinity where no bound is known.
    pub(crate) fn loss(&self) -> Exact {
        match self {
            Self::Exp { rate } => Exact::from_rational(rate, Round::Up).unwrap_or(Exact::INFINITY),
            Self::Ratio(ratio) => Exact::from_rational(ratio, Round::Down)
                .ok()
                .and_then(|ratio| ratio.neg_ln(Round::Up))
                .unwrap_or(Exact::INFINITY),
        }
    }
}
