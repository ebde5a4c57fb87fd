//! Conversions between measures (part F of the spec): each as a function on losses, and as a [`Conversion`] that
//! [`PrivacyMap::convert`](crate::PrivacyMap::convert) takes. Every answer is an upper bound, rounded up.
//!
//! A conversion applies to the loss of one measurement, or once to the reported total of one session: only those marked
//! [`ConvertsTotals`] take a [`Total`](crate::Total), and what they give is a total again, which cannot be charged.
//!
//! ```
//! use measures::convert::GaussianToApprox;
//! use measures::{GaussianDp, PrivacyMap, SymmetricDistance};
//! let map = PrivacyMap::linear(SymmetricDistance, GaussianDp, "0.5".parse()?);
//! let loss = map.convert(GaussianToApprox::new("1e-5".parse()?)?).loss(&1)?;
//! assert!(*loss.epsilon() < "1.994".parse()? && *loss.delta() == "1e-5".parse()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A running total is not accepted where a leaf's loss is:
//!
//! ```compile_fail,E0308
//! use measures::convert::ZcdpToApprox;
//! use measures::{Conversion, Rho, Total};
//! let conversion = ZcdpToApprox::new("1e-5".parse().unwrap()).unwrap();
//! let running: Total<Rho> = Total::new("0.5".parse().unwrap());
//! conversion.convert(&running);
//! ```
//!
//! and the minimum over the orders of a curve does not apply to totals at all:
//!
//! ```compile_fail,E0277
//! use measures::convert::CurveToApprox;
//! use measures::ConvertsTotals;
//! fn takes_totals(_: impl ConvertsTotals) {}
//! let orders = measures::Orders::new([2u32.into(), 4u32.into()]).unwrap();
//! takes_totals(CurveToApprox::new(orders, "1e-5".parse().unwrap()).unwrap());
//! ```

mod concentrated;
mod dual;
mod gaussian;
mod one_order;
pub(crate) mod orders;
mod pure;
mod renyi;

pub use concentrated::{
    ApproxZcdpToApprox, ZcdpToApprox, ZcdpToApproxZcdp, ZcdpToCurve, ZcdpToRenyi, zcdp_delta,
    zcdp_epsilon, zcdp_to_renyi,
};
pub use dual::{
    ApproxToProfile, ApproxToTradeoff, ProfileToApprox, ProfileToTradeoff, TradeoffToApprox,
    TradeoffToProfile, profile_to_tradeoff, tradeoff_to_profile,
};
pub use gaussian::{
    GaussianToApprox, GaussianToCurve, GaussianToProfile, GaussianToRenyi, GaussianToTradeoff,
    GaussianToZcdp, gaussian_delta, gaussian_epsilon, gaussian_to_zcdp,
};
pub use one_order::{RenyiToApproxOptimal, renyi_delta_optimal, renyi_epsilon_optimal};
pub use pure::{
    PureToApprox, PureToCurve, PureToGaussian, PureToRenyi, PureToTradeoff, PureToZcdp,
    pure_to_gaussian, pure_to_renyi, pure_to_zcdp, pure_to_zcdp_quadratic,
};
pub use renyi::{
    CurveToApprox, RenyiToApprox, curve_delta, curve_epsilon, renyi_delta, renyi_epsilon,
};

use crate::{Conversion, ConvertsTotals, RuleError};
use exact::Exact;

/// Implements [`Conversion`] for a type, from its measures and its function on losses.
macro_rules! conversion {
    ($name:ty, $from:ty => $to:ty, |$this:ident| $measures:expr, |$loss:ident| $convert:expr) => {
        impl crate::Conversion for $name {
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
        }
    };
}
use conversion;

/// A δ that was chosen in advance: above 0 and below 1.
fn check_delta(delta: Exact) -> Result<Exact, RuleError> {
    if delta.is_zero() || delta >= Exact::ONE {
        return Err(RuleError::parameter("δ", &delta, "above 0 and below 1"));
    }
    Ok(delta)
}

/// A δ that was chosen in advance, for losses that may be finite at δ = 0: below 1.
fn check_delta_or_zero(delta: Exact) -> Result<Exact, RuleError> {
    if delta >= Exact::ONE {
        return Err(RuleError::parameter("δ", &delta, "at least 0 and below 1"));
    }
    Ok(delta)
}

/// Two conversions, one after the other.
///
/// ```
/// use measures::convert::{Then, PureToZcdp, ZcdpToApprox};
/// use measures::Conversion;
/// let both = Then(PureToZcdp, ZcdpToApprox::new("1e-6".parse()?)?);
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
}

impl<A: ConvertsTotals, B: ConvertsTotals + Conversion<From = A::To>> ConvertsTotals
    for Then<A, B>
{
}
