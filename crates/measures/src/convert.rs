//! Conversions between measures: each as a function on losses, and as a [`Conversion`] that
//! [`PrivacyMap::convert`](crate::PrivacyMap::convert) takes. Every answer is an upper bound, rounded up.
//!
//! A conversion applies to the loss of one measurement, or once to the reported total of one session: only those marked
//! [`ConvertsTotals`] take a [`Total`](crate::Total), and what they give is a total again, which cannot be charged.
//!
//! ```
//! use odometry::measures::convert::GaussianToApprox;
//! use odometry::measures::{GaussianDp, PrivacyMap, SymmetricDistance};
//! let map = PrivacyMap::per_record(GaussianDp, "0.5")?;
//! let loss = map.convert(GaussianToApprox::new("1e-5")?).loss(&1)?;
//! assert!(*loss.epsilon() < "1.994".parse()? && *loss.delta() == "1e-5".parse()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A running total is not accepted where a leaf's loss is:
//!
//! ```compile_fail,E0308
//! use odometry::measures::convert::ZcdpToApprox;
//! use odometry::measures::{Conversion, Rho, Total};
//! let conversion = ZcdpToApprox::new("1e-5").unwrap();
//! let running: Total<Rho> = Total::new("0.5".parse().unwrap());
//! conversion.convert(&running);
//! ```
//!
//! and the minimum over the orders of a curve does not apply to totals at all:
//!
//! ```compile_fail,E0277
//! use odometry::measures::convert::CurveToApprox;
//! use odometry::measures::ConvertsTotals;
//! fn takes_totals(_: impl ConvertsTotals) {}
//! let orders = odometry::measures::Orders::new([2, 4]).unwrap();
//! takes_totals(CurveToApprox::new(orders, "1e-5").unwrap());
//! ```

pub use crate::approx::{ApproxToProfile, ApproxToTradeoff};
pub use crate::gaussian::{
    ApproxGaussianToApprox, ApproxToApproxGaussian, GaussianToApprox, GaussianToApproxGaussian,
    GaussianToCurve, GaussianToProfile, GaussianToRenyi, GaussianToTradeoff, GaussianToZcdp,
    TradeoffToApproxGaussian, gaussian_delta, gaussian_epsilon, gaussian_to_zcdp,
};
pub use crate::profile::{ProfileToApprox, ProfileToTradeoff, profile_to_tradeoff};
pub use crate::pure::{
    PureToApprox, PureToCurve, PureToGaussian, PureToRenyi, PureToTradeoff, PureToZcdp,
    pure_to_gaussian, pure_to_renyi, pure_to_zcdp, pure_to_zcdp_quadratic,
};
pub use crate::renyi::{
    CurveToApprox, RenyiToApprox, RenyiToApproxOptimal, curve_delta, curve_epsilon, renyi_delta,
    renyi_delta_optimal, renyi_epsilon, renyi_epsilon_optimal,
};
pub use crate::tradeoff::{
    TradeoffToApprox, TradeoffToGaussian, TradeoffToProfile, tradeoff_to_gaussian,
    tradeoff_to_gaussian_beyond, tradeoff_to_profile,
};
pub use crate::zcdp::{
    ApproxZcdpToApprox, ZcdpToApprox, ZcdpToApproxZcdp, ZcdpToCurve, ZcdpToRenyi, zcdp_delta,
    zcdp_epsilon, zcdp_to_renyi,
};

mod known;

pub use known::{WithConversion, with_conversion};

use crate::{Measure, Name, RuleError};
use exact::{Exact, Parameter, Round};
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

    /// What it is written down as, with its parameters: the same for ever, and no other conversion's. Without it (the default), a
    /// converted map is only a function. [`with_conversion`] finds those of this crate.
    fn name(&self) -> Option<Name> {
        None
    }

    /// The names of the conversions that it is made of, in order. For most that is one.
    fn steps(&self) -> Option<Vec<Name>> {
        Some(vec![self.name()?])
    }
}

/// A conversion that is valid for the reported total of a truncated-view odometer, too: for every threshold `d` in the
/// new measure there is a threshold `d'` in the old one, fixed in advance, such that a total that converts to at
/// most `d` is at most `d'`, and every mechanism with loss `d'` has loss `d`.
///
/// True of pure, zCDP, Gaussian and one-order Rényi totals with parameters fixed in advance; false of the minimum over
/// the orders of a Rényi curve.
pub trait ConvertsTotals: Conversion {}

/// Implements [`Conversion`] for a type, from its measures, its name with parameters, and its function on losses.
macro_rules! conversion {
    (
        $name:ty, $from:ty => $to:ty, |$this:ident| $measures:expr, $text:literal $(, $parameter:literal = $value:expr)*,
        |$loss:ident| $convert:expr
    ) => {
        impl crate::convert::Conversion for $name {
            type From = $from;
            type To = $to;

            fn from(&self) -> $from {
                #[allow(
                    unused_variables,
                    reason = "a conversion without parameters does not look at itself"
                )]
                let $this = self;
                $measures.0
            }

            fn to(&self) -> $to {
                #[allow(
                    unused_variables,
                    reason = "a conversion without parameters does not look at itself"
                )]
                let $this = self;
                $measures.1
            }

            fn convert(
                &self,
                $loss: &<$from as crate::Measure>::Loss,
            ) -> Result<<$to as crate::Measure>::Loss, crate::RuleError> {
                #[allow(
                    unused_variables,
                    reason = "a conversion without parameters does not look at itself"
                )]
                let $this = self;
                $convert
            }

            fn name(&self) -> Option<crate::Name> {
                #[allow(
                    unused_variables,
                    reason = "a conversion without parameters does not look at itself"
                )]
                let $this = self;
                Some(crate::Name::new($text)$(.with($parameter, $value))*)
            }
        }
    };
}
pub(crate) use conversion;

/// Whether a positive number is outside of `2^±512`. The conversions that have to cancel digits (by as many as a small
/// number has zeros) answer such numbers by a closed form that is valid and near, and do not work for seconds.
pub(crate) fn is_extreme(x: &Exact) -> bool {
    let end = Exact::try_from(2f64.powi(512)).unwrap_or(Exact::INFINITY);
    *x > end || x.mul(&end, Round::Down) < Exact::ONE
}

/// A δ that was chosen in advance: above 0 and below 1.
pub(crate) fn check_delta(delta: impl Parameter) -> Result<Exact, RuleError> {
    let delta = RuleError::read("δ", delta)?;
    if delta.is_zero() || delta >= Exact::ONE {
        return Err(RuleError::parameter("δ", &delta, "above 0 and below 1"));
    }
    Ok(delta)
}

/// A δ that was chosen in advance, for losses that may be finite at δ = 0: below 1.
pub(crate) fn check_delta_or_zero(delta: impl Parameter) -> Result<Exact, RuleError> {
    let delta = RuleError::read("δ", delta)?;
    if delta >= Exact::ONE {
        return Err(RuleError::parameter("δ", &delta, "at least 0 and below 1"));
    }
    Ok(delta)
}

/// Two conversions, one after the other.
///
/// ```
/// use odometry::measures::convert::{Then, PureToZcdp, ZcdpToApprox};
/// use odometry::measures::Conversion;
/// let both = Then(PureToZcdp, ZcdpToApprox::new("1e-6")?);
/// assert!(both.convert(&"0.1".parse()?)?.epsilon() < &"0.5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Then<A, B>(
    /// The first.
    pub A,
    /// The second.
    pub B,
);

impl<A: Conversion, B: Conversion<From = A::To>> Conversion for Then<A, B> {
    type From = A::From;
    type To = B::To;

    fn from(&self) -> A::From {
        self.0.from()
    }

    fn to(&self) -> B::To {
        self.1.to()
    }

    fn convert(
        &self,
        leaf: &<A::From as crate::Measure>::Loss,
    ) -> Result<<B::To as crate::Measure>::Loss, RuleError> {
        self.1.convert(&self.0.convert(leaf)?)
    }

    fn steps(&self) -> Option<Vec<Name>> {
        let mut steps = self.0.steps()?;
        steps.extend(self.1.steps()?);
        Some(steps)
    }
}

impl<A: ConvertsTotals, B: ConvertsTotals + Conversion<From = A::To>> ConvertsTotals
    for Then<A, B>
{
}
