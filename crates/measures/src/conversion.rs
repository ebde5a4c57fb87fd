//! What a conversion between measures is. The conversions themselves are in `convert`.
//!
//! A conversion applies to the loss of one measurement (a leaf), or once at the top of one session. Converting a running
//! total and charging it onwards is invalid: what was spent was chosen by looking at answers, and the bound of a
//! conversion does not survive that. So [`Conversion::convert`] takes a loss, running totals are of the type
//! [`Total`](crate::Total), and only conversions marked [`ConvertsTotals`] apply to these.

use crate::{Measure, RuleError};
use std::fmt::Debug;

/// A bound in one measure from a bound in another: a value, because it may have parameters, like a δ.
pub trait Conversion: Clone + Debug + Send + Sync + 'static {
    /// The measure that is converted from.
    type From: Measure;
    /// The measure that is converted to.
    type To: Measure;

    /// The measure that is converted from, with its parameters.
    fn from(&self) -> Self::From;

    /// The measure that is converted to, with its parameters.
    fn to(&self) -> Self::To;

    /// A loss that every measurement with the loss `leaf` has, rounded up.
    fn convert(
        &self,
        leaf: &<Self::From as Measure>::Loss,
    ) -> Result<<Self::To as Measure>::Loss, RuleError>;
}

/// A conversion that is valid for the reported total of a truncated-view odometer, too: for every threshold `d` in the
/// new measure there is a threshold `d'` in the old one, fixed in advance, such that a total that converts to at
/// most `d` is at most `d'`, and every mechanism with loss `d'` has loss `d`.
///
/// True of pure, zCDP, Gaussian and one-order Rényi totals with parameters fixed in advance; false of the minimum over
/// the orders of a Rényi curve.
pub trait ConvertsTotals: Conversion {}
