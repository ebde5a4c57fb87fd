//! What the losses with one coordinate have in common: a total order, text, and serialization as that text.

/// Defines a loss that is a name around one [`Exact`](exact::Exact) value.
macro_rules! scalar_loss {
    ($(#[$doc:meta])* $name:ident, $kind:ident = $scale:ident::$scaled:ident) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(exact::Exact);

        impl $name {
            /// The least loss.
            pub const ZERO: $name = $name(exact::Exact::ZERO);
            /// No guarantee.
            pub const INFINITY: $name = $name(exact::Exact::INFINITY);

            /// The loss with this value.
            pub const fn new(value: exact::Exact) -> Self {
                $name(value)
            }

            /// The value.
            pub const fn value(&self) -> &exact::Exact {
                &self.0
            }

            /// The value itself.
            pub fn into_value(self) -> exact::Exact {
                self.0
            }
        }

        impl crate::Loss for $name {
            #[inline]
            fn at_most(&self, other: &Self) -> bool {
                self.0 <= other.0
            }

            fn shown_down(&self) -> String {
                crate::loss::scalar::down(&self.0)
            }

            fn on_grid(self) -> Self {
                $name(crate::adaptive::on_grid(self.0))
            }

            fn written(&self) -> Option<String> {
                Some(self.0.text())
            }

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn $kind(&self, by: &exact::Exact) -> Option<Self> {
                Some(crate::$scale::$scaled(self, by))
            }

            fn in_ratio(&self, times: &exact::Exact, over: &exact::Exact) -> Option<Self> {
                crate::loss::scalar::in_ratio(&self.0, times, over).map($name)
            }
        }

        impl From<exact::Exact> for $name {
            fn from(value: exact::Exact) -> Self {
                $name(value)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), crate::loss::scalar::readable(&self.0))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::LossError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                crate::loss::scalar::number(text).map($name)
            }
        }
    };
}

pub(crate) use scalar_loss;

use crate::LossError;
use exact::{Exact, Round, excerpt};

/// `x·times/over`, rounded up once. Infinity where there is no bound.
pub(crate) fn in_ratio(x: &Exact, times: &Exact, over: &Exact) -> Option<Exact> {
    let over = over.to_rational().filter(|over| !over.is_zero())?;
    let ratio = times.to_rational()? / over;
    let product = x.to_rational().map(|x| x * ratio);
    let product = product.and_then(|product| Exact::from_rational(&product, Round::Up).ok());
    Some(product.unwrap_or(Exact::INFINITY))
}

/// A number in at most the 17 digits that are displayed, rounded down.
pub(crate) fn down(value: &Exact) -> String {
    value.decimal(17, Round::Down)
}

/// A number for people who debug: all digits, or about how much it is where there are too many.
pub(crate) fn readable(value: &Exact) -> String {
    let digits = format!("{value:?}");
    match digits.contains('*') {
        true => format!("about {value}"),
        false => digits,
    }
}

/// A number inside of a loss's text.
pub(crate) fn number(text: &str) -> Result<Exact, LossError> {
    text.trim().parse().map_err(|_| LossError::Text {
        text: excerpt(text),
        expected: "a non-negative number such as 0.5 or 1e-6, or inf".into(),
    })
}
