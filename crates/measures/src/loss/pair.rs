//! What the losses with a failure probability have in common: a value and a δ, ordered coordinate-wise, with one single
//! value for "no guarantee".

/// Defines a loss with a value and a failure probability δ.
macro_rules! delta_loss {
    ($(#[$doc:meta])* $name:ident, $value:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "Fields", into = "Fields")]
        pub struct $name {
            $value: exact::Exact,
            delta: exact::Exact,
        }

        /// The serialized form; reading it goes through the same checks as [`new`](
        #[doc = concat!($text, ")")]
        #[derive(serde::Serialize, serde::Deserialize)]
        struct Fields {
            $value: exact::Exact,
            delta: exact::Exact,
        }

        impl $name {
            /// The least loss.
            pub const ZERO: $name = $name { $value: exact::Exact::ZERO, delta: exact::Exact::ZERO };
            /// No guarantee. There is one value for it: an infinite first coordinate or δ = 1 becomes this.
            pub const INFINITY: $name = $name { $value: exact::Exact::INFINITY, delta: exact::Exact::ONE };

            /// The loss with these coordinates. δ above 1 is an error; a loss that guarantees nothing (an infinite first
            /// coordinate, or δ = 1) becomes [`INFINITY`](Self::INFINITY).
            pub fn new($value: exact::Exact, delta: exact::Exact) -> Result<Self, crate::LossError> {
                if delta > exact::Exact::ONE {
                    return Err(crate::LossError::Delta { delta: delta.to_string() });
                }
                Ok(Self::saturating($value, delta))
            }

            /// The loss with these coordinates; δ of 1 and more guarantees nothing, and so becomes
            /// [`INFINITY`](Self::INFINITY). For sums, where δ above 1 is no mistake.
            pub fn saturating($value: exact::Exact, delta: exact::Exact) -> Self {
                if $value.is_infinite() || delta >= exact::Exact::ONE {
                    return Self::INFINITY;
                }
                $name { $value, delta }
            }

            /// The first coordinate.
            pub const fn $value(&self) -> &exact::Exact {
                &self.$value
            }

            /// The failure probability.
            pub const fn delta(&self) -> &exact::Exact {
                &self.delta
            }

            /// Whether this loss guarantees nothing.
            pub fn is_infinite(&self) -> bool {
                self.$value.is_infinite()
            }
        }

        impl crate::Loss for $name {
            #[inline]
            fn at_most(&self, other: &Self) -> bool {
                self.$value <= other.$value && self.delta <= other.delta
            }

            fn shown_down(&self) -> String {
                let down = crate::loss::scalar::down;
                format!("({}, {})", down(&self.$value), down(&self.delta))
            }

            fn on_grid(self) -> Self {
                let on_grid = crate::adaptive::on_grid;
                Self::saturating(on_grid(self.$value), on_grid(self.delta))
            }

            fn written(&self) -> Option<String> {
                Some(format!("({}, {})", self.$value.text(), self.delta.text()))
            }

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let readable = crate::loss::scalar::readable;
                let (value, delta) = (readable(&self.$value), readable(&self.delta));
                write!(f, "{}({value}, {delta})", stringify!($name))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "({}, {})", self.$value, self.delta)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::LossError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let ($value, delta) = crate::loss::pair::coordinates(text)?;
                $name::new($value, delta)
            }
        }

        impl TryFrom<Fields> for $name {
            type Error = crate::LossError;

            fn try_from(fields: Fields) -> Result<Self, Self::Error> {
                $name::new(fields.$value, fields.delta)
            }
        }

        impl From<$name> for Fields {
            fn from(loss: $name) -> Self {
                Fields { $value: loss.$value, delta: loss.delta }
            }
        }
    };
}

/// Sums of such losses, coordinate by coordinate.
macro_rules! delta_adds {
    ($name:ident, $value:ident) => {
        impl $name {
            /// Adds `n` times `other`, exactly; a sum that guarantees nothing becomes infinity.
            #[inline]
            pub(crate) fn add(&mut self, other: &Self, n: u64) {
                crate::adaptive::add_times(&mut self.$value, &other.$value, n);
                crate::adaptive::add_times(&mut self.delta, &other.delta, n);
                if self.$value.is_infinite() || self.delta >= exact::Exact::ONE {
                    *self = Self::INFINITY;
                }
            }
        }
    };
}

pub(crate) use {delta_adds, delta_loss};

use super::scalar::number;
use crate::LossError;
use exact::{Exact, excerpt};

/// Reads `(a, b)`.
pub(crate) fn coordinates(text: &str) -> Result<(Exact, Exact), LossError> {
    let inner = text
        .trim()
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    match inner.and_then(|inner| inner.split_once(',')) {
        Some((first, second)) => Ok((number(first)?, number(second)?)),
        None => Err(LossError::Text {
            text: excerpt(text),
            expected: "a pair such as (1, 1e-6)".into(),
        }),
    }
}
