//! The conversions of this crate by their stable names: for maps that were written down.

use super::*;
use crate::name::{number, numbers, parameter};
use crate::{Orders, RenyiDp};

/// What to do with a conversion that was found by its name: see [`with_conversion`].
pub trait WithConversion {
    /// What comes of it.
    type Out;

    /// This one it is.
    fn conversion<C: Conversion>(self, conversion: C) -> Self::Out;
}

/// Finds one of this crate's conversions by its [name](Conversion::name), and hands it over. `None` for every other name.
///
/// ```
/// use odometry::measures::convert::{WithConversion, ZcdpToApprox, with_conversion};
/// use odometry::measures::{Conversion, Measure, Name};
/// struct Target;
/// impl WithConversion for Target {
///     type Out = Option<Name>;
///     fn conversion<C: Conversion>(self, conversion: C) -> Option<Name> { conversion.to().name() }
/// }
/// let name = ZcdpToApprox::new("1e-6")?.name().unwrap();
/// assert_eq!(with_conversion(&name, Target), Some(Some(Name::new("approximate"))));
/// assert_eq!(with_conversion(&Name::new("mine"), Target), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn with_conversion<V: WithConversion>(name: &Name, with: V) -> Option<V::Out> {
    let (head, inside) = name.split()?;
    let delta = || number(inside, "delta");
    let order = || RenyiDp::new(number(inside, "order")?).ok();
    let orders = || Orders::new(numbers(parameter(inside, "orders")?)?).ok();
    let count = |of: &str| parameter(inside, of)?.parse::<u32>().ok();
    let found = Found { name, with };
    match head {
        "pure-to-approximate" => found.is(PureToApprox),
        "pure-to-zcdp" => found.is(PureToZcdp),
        "pure-to-renyi" => found.is(PureToRenyi { order: order()? }),
        "pure-to-renyi-curve" => found.is(PureToCurve { orders: orders()? }),
        "pure-to-gaussian" => found.is(PureToGaussian),
        "pure-to-trade-off" => found.is(PureToTradeoff),
        "gaussian-to-zcdp" => found.is(GaussianToZcdp),
        "gaussian-to-renyi" => found.is(GaussianToRenyi { order: order()? }),
        "gaussian-to-renyi-curve" => found.is(GaussianToCurve { orders: orders()? }),
        "gaussian-to-approximate" => found.is(GaussianToApprox::new(delta()?).ok()?),
        "gaussian-to-profile" => found.is(GaussianToProfile {
            points: count("points")?,
        }),
        "gaussian-to-trade-off" => found.is(GaussianToTradeoff {
            tangents: count("tangents")?,
        }),
        "gaussian-to-approximate-gaussian" => found.is(GaussianToApproxGaussian),
        "approximate-to-approximate-gaussian" => found.is(ApproxToApproxGaussian),
        "trade-off-to-approximate-gaussian" => {
            found.is(TradeoffToApproxGaussian::new(delta()?).ok()?)
        }
        "approximate-gaussian-to-approximate" => {
            found.is(ApproxGaussianToApprox::new(delta()?).ok()?)
        }
        "zcdp-to-renyi" => found.is(ZcdpToRenyi { order: order()? }),
        "zcdp-to-renyi-curve" => found.is(ZcdpToCurve { orders: orders()? }),
        "zcdp-to-approximate" => found.is(ZcdpToApprox::new(delta()?).ok()?),
        "zcdp-to-approximate-zcdp" => found.is(ZcdpToApproxZcdp),
        "approximate-zcdp-to-approximate" => found.is(ApproxZcdpToApprox::new(delta()?).ok()?),
        "profile-to-approximate" => found.is(ProfileToApprox::new(delta()?).ok()?),
        "profile-to-trade-off" => found.is(ProfileToTradeoff),
        "trade-off-to-approximate" => found.is(TradeoffToApprox::new(delta()?).ok()?),
        "trade-off-to-profile" => found.is(TradeoffToProfile),
        "trade-off-to-gaussian" => found.is(TradeoffToGaussian),
        "renyi-to-approximate" => found.is(RenyiToApprox::new(order()?, delta()?).ok()?),
        "renyi-to-approximate-optimal" => {
            found.is(RenyiToApproxOptimal::new(order()?, delta()?).ok()?)
        }
        "renyi-curve-to-approximate" => found.is(CurveToApprox::new(orders()?, delta()?).ok()?),
        "approximate-to-trade-off" => found.is(ApproxToTradeoff),
        "approximate-to-profile" => found.is(ApproxToProfile),
        _ => None,
    }
}

/// The name that a conversion must have: what was read back wrongly is not handed over.
struct Found<'a, V> {
    name: &'a Name,
    with: V,
}

impl<V: WithConversion> Found<'_, V> {
    fn is<C: Conversion>(self, conversion: C) -> Option<V::Out> {
        let same = conversion.name().as_ref() == Some(self.name);
        same.then(|| self.with.conversion(conversion))
    }
}
