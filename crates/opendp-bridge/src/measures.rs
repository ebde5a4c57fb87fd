//! OpenDP's measures and ours. This is the one file that knows OpenDP's names for them: upstream is about to rename
//! them. Everything else, tests and examples included, uses the names in [`theirs`].
//!
//! | OpenDP | ours | exact? |
//! |---|---|---|
//! | `MaxDivergence`: ε | [`PureDp`] | yes |
//! | `Approximate<MaxDivergence>`: (ε, δ) | [`ApproxDp`] | yes; δ of 1 and more is infinity |
//! | `ZeroConcentratedDivergence`: ρ | [`Zcdp`] | yes |
//! | `Approximate<ZeroConcentratedDivergence>`: (ρ, δ) | [`ApproxZcdp`] | yes; sequential on both sides |
//! | `RenyiDivergence`: a function ε(α) | [`RenyiDp`], [`RenyiCurveDp`] | asked at our orders, each rounded up to a float |
//!
//! `SmoothedMaxDivergence` (a privacy profile) has no composition rule in OpenDP: fix its δ with `make_fix_delta` first.

use std::any::Any;

use exact::{Exact, Round};
use measures::{
    ApproxDp, ApproxZcdp, Epsilon, EpsilonDelta, Name, PureDp, RenyiCurve, RenyiCurveDp, RenyiDp,
    RenyiEpsilon, Rho, RhoDelta, Zcdp,
};
use opendp::core::Function;

use crate::{
    correspondence::{Correspondence, Counterpart, NoLoss, exact_loss, float_loss},
    error::in_full,
};

/// OpenDP's measures under names that do not change.
pub mod theirs {
    pub use opendp::measures::{
        Approximate, MaxDivergence as Pure, PrivacyProfile, RenyiDivergence as Renyi,
        SmoothedMaxDivergence as Profile, ZeroConcentratedDivergence as Concentrated,
    };
}

use theirs::{Approximate, Concentrated, Pure, Renyi};

/// The stable name of a measure of OpenDP's own, if its distances are to be losses as they are.
pub(crate) fn name_of_measure(measure: &dyn Any) -> Option<Name> {
    let name = match measure {
        _ if measure.is::<Pure>() => "opendp-pure",
        _ if measure.is::<Concentrated>() => "opendp-zcdp",
        _ if measure.is::<Approximate<Pure>>() => "opendp-approximate",
        _ if measure.is::<Approximate<Concentrated>>() => "opendp-approximate-zcdp",
        _ => return None,
    };
    Some(Name::new(name))
}

macro_rules! scalars {
    ($($theirs:ident, $ours:ident, $loss:ident;)*) => {$(
        /// Exact into ours, rounded up into theirs.
        impl Correspondence for $ours {
            type Theirs = $theirs;

            fn theirs(&self) -> $theirs {
                $theirs
            }

            fn loss(&self, distance: &f64) -> Result<$loss, NoLoss> {
                Ok($loss::new(exact_loss(*distance)?))
            }

            fn distance(&self, loss: &$loss) -> Result<f64, NoLoss> {
                Ok(float_loss(loss.value()))
            }
        }

        impl Counterpart for $theirs {
            type Ours = $ours;

            fn ours(&self) -> $ours {
                $ours
            }
        }
    )*};
}
scalars! {
    Pure, PureDp, Epsilon;
    Concentrated, Zcdp, Rho;
}

macro_rules! pairs {
    ($($theirs:ident, $ours:ident, $loss:ident, $value:ident;)*) => {$(
        /// Exact into ours, rounded up into theirs. δ of 1 and more guarantees nothing.
        impl Correspondence for $ours {
            type Theirs = Approximate<$theirs>;

            fn theirs(&self) -> Self::Theirs {
                Approximate($theirs)
            }

            fn loss(&self, distance: &(f64, f64)) -> Result<$loss, NoLoss> {
                Ok($loss::saturating(exact_loss(distance.0)?, exact_loss(distance.1)?))
            }

            fn distance(&self, loss: &$loss) -> Result<(f64, f64), NoLoss> {
                Ok((float_loss(loss.$value()), float_loss(loss.delta())))
            }
        }

        impl Counterpart for Approximate<$theirs> {
            type Ours = $ours;

            fn ours(&self) -> $ours {
                $ours
            }
        }
    )*};
}
pairs! {
    Pure, ApproxDp, EpsilonDelta, epsilon;
    Concentrated, ApproxZcdp, RhoDelta, rho;
}

/// The curve at an order. The order is rounded up to a float, which is sound because Rényi divergences grow with the
/// order (\[vEH14\] Thm 3).
fn at_order(curve: &Function<f64, f64>, order: &Exact) -> Result<Exact, NoLoss> {
    let epsilon = curve
        .eval(&order.to_f64(Round::Up))
        .map_err(|error| NoLoss::Failed(in_full(&error)))?;
    Ok(exact_loss(epsilon)?)
}

/// The curve that is known at some orders: at an order in between it is at most its value at the next larger one
/// (\[vEH14\] Thm 3), and beyond the last it is not known. Rounded up.
fn known_at(orders: Vec<Exact>, epsilons: Vec<f64>) -> Function<f64, f64> {
    Function::new(move |alpha: &f64| {
        let known = Exact::try_from(*alpha)
            .ok()
            .and_then(|alpha| orders.iter().position(|order| alpha <= *order));
        known.map_or(f64::INFINITY, |at| epsilons[at])
    })
}

/// At one order.
impl Correspondence for RenyiDp {
    type Theirs = Renyi;

    fn theirs(&self) -> Renyi {
        Renyi
    }

    fn loss(&self, curve: &Function<f64, f64>) -> Result<RenyiEpsilon, NoLoss> {
        Ok(RenyiDp::loss(self, at_order(curve, self.order())?))
    }

    fn distance(&self, loss: &RenyiEpsilon) -> Result<Function<f64, f64>, NoLoss> {
        let orders = vec![self.order().clone()];
        Ok(known_at(orders, vec![float_loss(loss.epsilon())]))
    }
}

/// At a fixed set of orders.
impl Correspondence for RenyiCurveDp {
    type Theirs = Renyi;

    fn theirs(&self) -> Renyi {
        Renyi
    }

    fn loss(&self, curve: &Function<f64, f64>) -> Result<RenyiCurve, NoLoss> {
        let orders = self.orders().as_slice();
        let epsilons: Vec<Exact> = orders
            .iter()
            .map(|order| at_order(curve, order))
            .collect::<Result<_, _>>()?;
        Ok(RenyiCurve::new(self.orders(), epsilons)?)
    }

    fn distance(&self, loss: &RenyiCurve) -> Result<Function<f64, f64>, NoLoss> {
        let epsilons = loss.epsilons().iter().map(float_loss).collect();
        Ok(known_at(self.orders().as_slice().to_vec(), epsilons))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measures::{LossError, Measure, Orders};

    #[test]
    fn floats_are_exact_and_senseless_ones_are_refused() {
        assert_eq!(PureDp.loss(&0.5), Ok("0.5".parse().unwrap()));
        assert_eq!(PureDp.loss(&f64::INFINITY), Ok(PureDp.infinity()));
        for senseless in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            let refused = PureDp.loss(&senseless);
            assert!(matches!(
                refused,
                Err(NoLoss::Senseless(LossError::Text { .. }))
            ));
            assert!(ApproxDp.loss(&(1.0, senseless)).is_err());
            assert!(ApproxZcdp.loss(&(senseless, 0.0)).is_err());
            assert!(Zcdp.loss(&senseless).is_err());
        }
        assert_eq!(ApproxDp.loss(&(1.0, 1.5)), Ok(ApproxDp.infinity()));
    }

    #[test]
    fn losses_go_out_rounded_up() {
        let tenth = PureDp.distance(&"0.1".parse().unwrap()).unwrap();
        assert!(Exact::try_from(tenth).unwrap() >= "0.1".parse().unwrap());
        assert_eq!(tenth, 0.1);
        let third = PureDp
            .distance(&Epsilon::new(Exact::ratio(1, 3).unwrap()))
            .unwrap();
        assert_eq!(third, (1.0f64 / 3.0).next_up());
        assert_eq!(
            ApproxDp.distance(&ApproxDp.infinity()),
            Ok((f64::INFINITY, 1.0))
        );
        assert_eq!(
            ApproxZcdp.distance(&"(0.5, 0.25)".parse().unwrap()),
            Ok((0.5, 0.25))
        );
    }

    #[test]
    fn curves_are_asked_at_our_orders_and_known_below_them() {
        let gaussian = Function::new(|alpha: &f64| alpha / 2.0);
        let at_two = RenyiDp::new(2).unwrap();
        assert_eq!(
            Correspondence::loss(&at_two, &gaussian),
            Ok("1 at order 2".parse().unwrap())
        );
        let orders = Orders::new([2, 8]).unwrap();
        let curve = RenyiCurveDp::new(orders);
        let loss = Correspondence::loss(&curve, &gaussian).unwrap();
        assert_eq!(loss.epsilons(), [1u32.into(), 4u32.into()]);
        let out = curve.distance(&loss).unwrap();
        assert_eq!(out.eval(&1.5).unwrap(), 1.0);
        assert_eq!(out.eval(&2.0).unwrap(), 1.0);
        assert_eq!(out.eval(&2.5).unwrap(), 4.0);
        assert_eq!(out.eval(&9.0).unwrap(), f64::INFINITY);
        assert_eq!(out.eval(&f64::NAN).unwrap(), f64::INFINITY);
        let failing =
            Function::new_fallible(|_: &f64| Err(opendp::error::ErrorVariant::FailedMap.into()));
        assert!(matches!(
            Correspondence::loss(&at_two, &failing),
            Err(NoLoss::Failed(_))
        ));
    }
}
