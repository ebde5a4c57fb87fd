//! What may be written where a loss is wanted: the loss itself, its text, or an exact number.

use crate::{Loss, LossError};
use exact::Exact;
use std::str::FromStr;

/// Something that stands for a loss: the loss or a reference to it; its text; and, where a loss is one number, an [`Exact`]
/// or a whole number.
///
/// What cannot fail is made without a `Result`. Text may be wrong: what is made from it is a `Result` with the same
/// [`LossError`] that parsing it gives.
///
/// ```
/// use odometry::measures::{Epsilon, LossError, PrivacyMap, PureDp};
/// let tenth: Epsilon = "0.1".parse()?;
/// let from_text = PrivacyMap::per_record(PureDp, "0.1")?;
/// let from_loss = PrivacyMap::per_record(PureDp, &tenth);
/// assert_eq!(from_text.loss(&3).unwrap(), from_loss.loss(&3).unwrap());
/// assert!(matches!(PrivacyMap::per_record(PureDp, "-1"), Err(LossError::Text { .. })));
/// # Ok::<(), LossError>(())
/// ```
///
/// A float is no exact number:
///
/// ```compile_fail,E0277
/// use odometry::measures::{PrivacyMap, PureDp};
/// PrivacyMap::per_record(PureDp, 0.1); // error: write it as text, "0.1"
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which loss `{L}` is wanted",
    label = "expected a loss, or its text",
    note = "write a number as text, `\"0.1\"`: a float is not the decimal that was typed, and losses are exact",
    note = "text is read here: write `\"0.1\"` instead of `\"0.1\".parse()?`",
    note = "a `Total` is not the loss of a measurement, and cannot be charged"
)]
pub trait IntoLoss<L: Loss> {
    /// A `T` that was made from the loss; for text, if there was one.
    type Made<T>;

    /// The loss.
    ///
    /// # Errors
    /// Only for text: as parsing it.
    fn into_loss(self) -> Result<L, LossError>;

    /// Makes something from the loss.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, IntoLoss};
    /// let tenth: Epsilon = "0.1".parse()?;
    /// let shown = IntoLoss::<Epsilon>::make(&tenth, |loss| loss.to_string());
    /// assert_eq!(IntoLoss::<Epsilon>::make("0.1", |loss| loss.to_string()), Ok(shown));
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    fn make<T>(self, with: impl FnOnce(L) -> T) -> Self::Made<T>;
}

impl<L: Loss> IntoLoss<L> for L {
    type Made<T> = T;

    fn into_loss(self) -> Result<L, LossError> {
        Ok(self)
    }

    fn make<T>(self, with: impl FnOnce(L) -> T) -> T {
        with(self)
    }
}

impl<L: Loss> IntoLoss<L> for &L {
    type Made<T> = T;

    fn into_loss(self) -> Result<L, LossError> {
        Ok(self.clone())
    }

    fn make<T>(self, with: impl FnOnce(L) -> T) -> T {
        with(self.clone())
    }
}

/// Whole numbers have one type here, so that the compiler knows which one a `3` is.
macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl<L: Loss + From<Exact>> IntoLoss<L> for $number {
            type Made<T> = T;

            fn into_loss(self) -> Result<L, LossError> {
                Ok(Exact::from(self).into())
            }

            fn make<T>(self, with: impl FnOnce(L) -> T) -> T {
                with(Exact::from(self).into())
            }
        }
    )*};
}

numbers!(Exact, u32);

macro_rules! texts {
    ($($text:ty),*) => {$(
        impl<L: Loss + FromStr<Err = LossError>> IntoLoss<L> for $text {
            type Made<T> = Result<T, LossError>;

            fn into_loss(self) -> Result<L, LossError> {
                self.parse()
            }

            fn make<T>(self, with: impl FnOnce(L) -> T) -> Result<T, LossError> {
                self.parse().map(with)
            }
        }
    )*};
}

texts!(&str, String, &String);

/// A reference to an exact number, too.
impl<L: Loss + From<Exact>> IntoLoss<L> for &Exact {
    type Made<T> = T;

    fn into_loss(self) -> Result<L, LossError> {
        Ok(self.clone().into())
    }

    fn make<T>(self, with: impl FnOnce(L) -> T) -> T {
        with(self.clone().into())
    }
}
