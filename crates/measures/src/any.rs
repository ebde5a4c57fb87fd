//! The measures of this crate as values of one type, and their losses: for services that read measure and budgets from a
//! configuration. The list is closed; a measure of your own stays a type.

use crate::loss::scalar::number;
use crate::{
    ApproxDp, ApproxGaussianDp, ApproxZcdp, GaussianDp, Loss, LossError, Measure, Orders,
    ProfileDp, PureDp, RenyiCurveDp, RenyiDp, TradeoffDp, Zcdp,
};
use exact::{Exact, excerpt};
use std::{fmt, str::FromStr};

/// A measure that [`AnyMeasure`] knows: all of this crate's.
pub trait Known: Measure {
    /// This measure as a value among all.
    fn any(&self) -> AnyMeasure;

    /// A loss of this measure as a value among all.
    fn any_loss(loss: Self::Loss) -> AnyLoss;

    /// The loss itself, if it belongs to this measure.
    ///
    /// # Errors
    /// [`LossError::Foreign`] if it is another measure's, or this one's with other parameters.
    fn known_loss(&self, loss: &AnyLoss) -> Result<Self::Loss, LossError>;
}

macro_rules! known {
    ($($(#[$doc:meta])* $name:ident: $measure:ty),* $(,)?) => {
        /// One of this crate's measures, chosen at run time. Its text is a stable name, with parameters where there are any:
        /// `pure`, `approximate`, `zcdp`, `approximate zcdp`, `renyi at order 2`, `renyi at orders 2, 4, 8`, `gaussian`,
        /// `approximate gaussian`, `trade-off`, `profile`.
        ///
        /// ```
        /// use odometry::measures::{AnyMeasure, Loss};
        /// let measure: AnyMeasure = "zcdp".parse()?;
        /// let budget = measure.loss("0.5")?;
        /// assert!(measure.loss("0.1")?.at_most(&budget));
        /// assert!(!"pure".parse::<AnyMeasure>()?.loss("0.1")?.at_most(&budget)); // not comparable
        /// assert!("tight".parse::<AnyMeasure>().unwrap_err().to_string().contains("approximate zcdp"));
        /// # Ok::<(), odometry::measures::LossError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyMeasure {
            $($(#[$doc])* $name($measure),)*
        }

        /// A loss in one of this crate's measures. Losses of different measures are not comparable.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyLoss {
            $($(#[$doc])* $name(<$measure as Measure>::Loss),)*
        }

        $(impl Known for $measure {
            fn any(&self) -> AnyMeasure {
                AnyMeasure::$name(self.clone())
            }

            fn any_loss(loss: Self::Loss) -> AnyLoss {
                AnyLoss::$name(loss)
            }

            fn known_loss(&self, loss: &AnyLoss) -> Result<Self::Loss, LossError> {
                match loss {
                    AnyLoss::$name(loss) => self.check(loss).map(|()| loss.clone()),
                    other => Err(LossError::Foreign {
                        loss: excerpt(other),
                        measure: excerpt(&self.any()),
                    }),
                }
            }
        })*

        impl Loss for AnyLoss {
            fn at_most(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$name(loss), Self::$name(other)) => loss.at_most(other),)*
                    _ => false,
                }
            }

            fn shown_down(&self) -> String {
                match self {
                    $(Self::$name(loss) => loss.shown_down(),)*
                }
            }

            fn on_grid(self) -> Self {
                match self {
                    $(Self::$name(loss) => Self::$name(loss.on_grid()),)*
                }
            }
        }

        impl fmt::Display for AnyLoss {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$name(loss) => fmt::Display::fmt(loss, f),)*
                }
            }
        }
    };
}

known! {
    /// ε.
    Pure: PureDp,
    /// (ε, δ).
    Approx: ApproxDp,
    /// ρ.
    Zcdp: Zcdp,
    /// (ρ, δ).
    ApproxZcdp: ApproxZcdp,
    /// ε at one Rényi order.
    Renyi: RenyiDp,
    /// ε at several Rényi orders.
    RenyiCurve: RenyiCurveDp,
    /// μ.
    Gaussian: GaussianDp,
    /// (μ, δ).
    ApproxGaussian: ApproxGaussianDp,
    /// A trade-off function.
    Tradeoff: TradeoffDp,
    /// A privacy profile.
    Profile: ProfileDp,
}

const NAMES: &str = "pure, approximate, zcdp, approximate zcdp, renyi at order 2, renyi at orders 2, 4, 8, gaussian, \
                     approximate gaussian, trade-off, profile";

impl AnyMeasure {
    /// The loss that a text stands for in this measure; for Rényi privacy at one order, its ε.
    ///
    /// # Errors
    /// [`LossError`] with what would have been understood. Curves, trade-off functions and profiles have no text.
    pub fn loss(&self, text: &str) -> Result<AnyLoss, LossError> {
        let no_text = || LossError::Text {
            text: excerpt(text),
            expected: format!("nothing: losses of the measure {self} have no text"),
        };
        match self {
            Self::Pure(_) => text.parse().map(AnyLoss::Pure),
            Self::Approx(_) => text.parse().map(AnyLoss::Approx),
            Self::Zcdp(_) => text.parse().map(AnyLoss::Zcdp),
            Self::ApproxZcdp(_) => text.parse().map(AnyLoss::ApproxZcdp),
            Self::Renyi(measure) => {
                number(text).map(|epsilon| AnyLoss::Renyi(measure.loss(epsilon)))
            }
            Self::Gaussian(_) => text.parse().map(AnyLoss::Gaussian),
            Self::ApproxGaussian(_) => text.parse().map(AnyLoss::ApproxGaussian),
            Self::RenyiCurve(_) | Self::Tradeoff(_) | Self::Profile(_) => Err(no_text()),
        }
    }
}

impl fmt::Display for AnyMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure(_) => f.write_str("pure"),
            Self::Approx(_) => f.write_str("approximate"),
            Self::Zcdp(_) => f.write_str("zcdp"),
            Self::ApproxZcdp(_) => f.write_str("approximate zcdp"),
            Self::Renyi(measure) => write!(f, "renyi at order {}", exact_text(measure.order())),
            Self::RenyiCurve(measure) => {
                let orders = measure.orders().as_slice();
                let orders: Vec<_> = orders.iter().map(exact_text).collect();
                write!(f, "renyi at orders {}", orders.join(", "))
            }
            Self::Gaussian(_) => f.write_str("gaussian"),
            Self::ApproxGaussian(_) => f.write_str("approximate gaussian"),
            Self::Tradeoff(_) => f.write_str("trade-off"),
            Self::Profile(_) => f.write_str("profile"),
        }
    }
}

/// All digits: two orders that differ have different names.
fn exact_text(number: &Exact) -> String {
    format!("{number:?}")
}

impl FromStr for AnyMeasure {
    type Err = LossError;

    fn from_str(text: &str) -> Result<Self, LossError> {
        let text = text.trim();
        if let Some(orders) = text.strip_prefix("renyi at orders ") {
            let orders = orders
                .split(',')
                .map(number)
                .collect::<Result<Vec<_>, _>>()?;
            return Ok(RenyiCurveDp::new(Orders::new(orders)?).any());
        }
        if let Some(order) = text.strip_prefix("renyi at order ") {
            return Ok(RenyiDp::new(number(order)?)?.any());
        }
        match text {
            "pure" => Ok(PureDp.any()),
            "approximate" => Ok(ApproxDp.any()),
            "zcdp" => Ok(Zcdp.any()),
            "approximate zcdp" => Ok(ApproxZcdp.any()),
            "gaussian" => Ok(GaussianDp.any()),
            "approximate gaussian" => Ok(ApproxGaussianDp.any()),
            "trade-off" => Ok(TradeoffDp.any()),
            "profile" => Ok(ProfileDp.any()),
            _ => Err(LossError::Measure {
                text: excerpt(text),
                expected: NAMES.into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let third = Exact::ratio(7, 3).unwrap();
        let names = [
            "pure",
            "approximate",
            "zcdp",
            "approximate zcdp",
            "renyi at order 2",
            "renyi at orders 1.5, 2, 8",
            "gaussian",
            "approximate gaussian",
            "trade-off",
            "profile",
        ];
        for name in names {
            let measure: AnyMeasure = name.parse().unwrap();
            assert_eq!(measure.to_string(), name);
        }
        let odd = RenyiDp::new(third).unwrap().any();
        assert_eq!(odd.to_string().parse(), Ok(odd));
        for wrong in [
            "",
            "Pure",
            "renyi at order 1",
            "renyi at order x",
            "renyi at orders 3, 2",
            "renyi at orders",
        ] {
            assert!(wrong.parse::<AnyMeasure>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn losses_belong_to_their_measure() {
        let at_two = RenyiDp::new(2).unwrap();
        let loss = at_two.any().loss("0.5").unwrap();
        assert_eq!(
            at_two.known_loss(&loss),
            Ok("0.5 at order 2".parse().unwrap())
        );
        let at_three = RenyiDp::new(3).unwrap();
        assert!(matches!(
            at_three.known_loss(&loss),
            Err(LossError::Foreign { .. })
        ));
        assert!(matches!(
            PureDp.known_loss(&loss),
            Err(LossError::Foreign { .. })
        ));
        assert!(!loss.at_most(&PureDp.any().loss("9").unwrap()));
        for wrong in ["-1", "NaN", "", "(1, 2)", "1e"] {
            assert!(PureDp.any().loss(wrong).is_err(), "{wrong}");
        }
        assert!(ApproxDp.any().loss("(1, 1.5)").is_err());
        let profile = ProfileDp.any().loss("1").unwrap_err().to_string();
        assert!(
            profile.contains("losses of the measure profile have no text"),
            "{profile}"
        );
    }
}
