//! Somebody's own measures: OpenDP's under our odometers, ours with OpenDP's noise.

use std::fmt;

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{
    Additive, Basic, Interleaving, Loss, MapError, Measure, PrivacyMap as OurMap, Scale, laws,
};
use odometer::{LaunchError, Measurement, Odometer};
use opendp::{
    combinators::{Adaptivity, Composability, CompositionMeasure},
    core::{Function, Measure as TheirMeasure, Measurement as TheirMeasurement, PrivacyMap},
    domains::AtomDomain,
    err,
    error::Fallible,
    fallible,
    measurements::{NoisePrivacyMap, ZExpFamily, make_laplace},
    metrics::{AbsoluteDistance, DiscreteDistance, L1Distance},
    traits::InfAdd,
};
use opendp_bridge::{
    BridgeError, Composed, Correspondence, NoLoss, OpendpLoss, OpendpMeasure, export,
    measurement_in, space, theirs::Renyi,
};

use crate::support::Any;

/// Somebody's OpenDP measure: the largest loss counts, plus one hundredth for each launch. It is not associative.
#[derive(Clone, Debug, Default, PartialEq)]
struct Largest {
    sequential: bool,
}

impl TheirMeasure for Largest {
    type Distance = f64;
}

impl CompositionMeasure for Largest {
    fn composability(&self, adaptivity: Adaptivity) -> Fallible<Composability> {
        match (adaptivity, self.sequential) {
            (Adaptivity::FullyAdaptive, false) => Ok(Composability::Concurrent),
            _ => Ok(Composability::Sequential),
        }
    }

    fn compose(&self, losses: Vec<f64>) -> Fallible<f64> {
        if losses.iter().any(|loss| loss.is_nan()) {
            return fallible!(FailedMap, "NaN");
        }
        let largest = losses.iter().copied().fold(0.0, f64::max);
        largest.inf_add(&(0.015625 * losses.len() as f64))
    }
}

fn noop(
    measure: Largest,
    loss: f64,
) -> impl Fn() -> Fallible<TheirMeasurement<AtomDomain<bool>, DiscreteDistance, Largest, bool>>
+ Send
+ Sync
+ 'static {
    move || {
        TheirMeasurement::new(
            AtomDomain::default(),
            DiscreteDistance,
            measure.clone(),
            Function::new(|x: &bool| *x),
            PrivacyMap::new(move |_: &u32| loss),
        )
    }
}

#[test]
fn an_opendp_measure_of_somebody_counts_in_our_odometer_and_filter() -> Result<(), Any> {
    let measure = OpendpMeasure::new(Largest::default())?;
    let rule = Composed::concurrent(measure.clone())?;
    let half = measurement_in("half", measure.clone(), noop(Largest::default(), 0.5))?;
    let quarter = measurement_in("quarter", measure.clone(), noop(Largest::default(), 0.25))?;
    let odometer = Odometer::new(half.space().clone(), rule);

    let session = odometer.open(true)?;
    assert_eq!(session.privacy_loss(&1)?.bound(), &OpendpLoss::Value(0.0));
    session.launch(&half)?;
    session.launch(&quarter)?;
    session.launch(&half)?;
    assert_eq!(
        session.privacy_loss(&1)?.bound(),
        &OpendpLoss::Value(0.546875)
    );

    let filter = odometer
        .filter(1, OpendpLoss::Value(0.28125))?
        .invoke(true)?;
    filter.launch(&quarter)?;
    assert!(matches!(filter.launch(&half), Err(LaunchError::Refused(_))));
    filter.launch(&quarter)?;
    assert!(matches!(
        filter.launch(&quarter),
        Err(LaunchError::Refused(_))
    ));
    // And back out as an OpenDP measurement in that measure.
    let out = export(&odometer.filter(1, OpendpLoss::Value(0.5))?)?;
    assert_eq!(out.map(&1)?, 0.5);
    assert!(out.map(&2).is_err());
    Ok(())
}

#[test]
fn its_senseless_losses_are_refused() -> Result<(), Any> {
    let measure = OpendpMeasure::new(Largest::default())?;
    for senseless in [f64::NAN, -0.5] {
        assert!(matches!(
            Correspondence::loss(&measure, &senseless),
            Err(NoLoss::Senseless(_))
        ));
        let launch = measurement_in("bad", measure.clone(), noop(Largest::default(), senseless))?;
        assert!(matches!(
            launch.map().loss(&1),
            Err(MapError::Senseless { .. })
        ));
    }
    // The parameters of the measure are compared.
    let sequential = Largest { sequential: true };
    let other = measurement_in("other", measure, noop(sequential.clone(), 0.5));
    assert!(matches!(other, Err(BridgeError::Unstable { .. })));
    // What it does not allow it does not get.
    let measure = OpendpMeasure::new(sequential)?;
    assert!(matches!(
        Composed::concurrent(measure.clone()),
        Err(BridgeError::Composability { .. })
    ));
    Composed::sequential(measure)?;
    Ok(())
}

#[test]
fn it_keeps_the_laws() -> Result<(), Any> {
    let measure = OpendpMeasure::new(Largest::default())?;
    let losses: Vec<_> = [0.0, 0.125, 0.25, 1.0]
        .map(OpendpLoss::Value)
        .into_iter()
        .chain([OpendpLoss::Infinity])
        .collect();
    laws::check_measure(&measure, &losses)?;
    Ok(())
}

/// A measure of ours that somebody made: ε in units of ln 2, "how many bits". It is a measure of OpenDP's, too.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bits;

#[derive(Clone, Debug, PartialEq)]
struct NumberOfBits(Exact);

impl fmt::Display for NumberOfBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bits", self.0)
    }
}

impl Loss for NumberOfBits {
    fn at_most(&self, other: &Self) -> bool {
        self.0 <= other.0
    }
}

impl Scale for NumberOfBits {
    fn scaled(&self, by: &Exact) -> Self {
        Self(self.0.mul(by, Round::Up))
    }
}

impl Measure for Bits {
    type Loss = NumberOfBits;

    fn zero(&self) -> NumberOfBits {
        NumberOfBits(Exact::ZERO)
    }

    fn infinity(&self) -> NumberOfBits {
        NumberOfBits(Exact::INFINITY)
    }
}

/// Pure privacy in another unit: \[RRUV16\] Thm 3.6, \[HST+23\] Thm 1.19.
impl Additive for Bits {
    const INTERLEAVING: Interleaving = Interleaving::Concurrent;

    fn add(&self, sum: &mut NumberOfBits, loss: &NumberOfBits, n: u64) {
        sum.0 += &loss.0.times(n);
    }

    fn join(&self, one: &mut NumberOfBits, other: &NumberOfBits) {
        one.0 = one.0.clone().max(other.0.clone());
    }

    fn difference(&self, limit: &NumberOfBits, sum: &NumberOfBits) -> Option<NumberOfBits> {
        limit.0.checked_sub(&sum.0).map(NumberOfBits)
    }
}

impl TheirMeasure for Bits {
    type Distance = NumberOfBits;
}

/// The same measure on both sides: losses cross without rounding.
impl Correspondence for Bits {
    type Theirs = Bits;

    fn theirs(&self) -> Bits {
        Bits
    }

    fn loss(&self, distance: &NumberOfBits) -> Result<NumberOfBits, NoLoss> {
        Ok(distance.clone())
    }

    fn distance(&self, loss: &NumberOfBits) -> Result<NumberOfBits, NoLoss> {
        Ok(loss.clone())
    }
}

/// OpenDP's own Laplace noise, counted in bits: d/(s·ln 2), with ln 2 > 0.6931.
impl NoisePrivacyMap<L1Distance<RBig>, Bits> for ZExpFamily<1> {
    fn noise_privacy_map(
        &self,
        _: &L1Distance<RBig>,
        _: &Bits,
    ) -> Fallible<PrivacyMap<L1Distance<RBig>, Bits>> {
        let scale = self.scale.clone();
        Ok(PrivacyMap::new_fallible(move |d_in: &RBig| {
            let ln_2 = RBig::from_parts(6931.into(), 10_000u32.into());
            match Exact::from_rational(&(d_in / (&scale * ln_2)), Round::Up) {
                Ok(bits) => Ok(NumberOfBits(bits)),
                Err(error) => fallible!(FailedMap, "{}", error),
            }
        }))
    }
}

#[test]
fn a_measure_of_ours_gets_opendp_s_noise() -> Result<(), Any> {
    let laplace = measurement_in("laplace", Bits, || {
        make_laplace::<_, _, Bits>(
            AtomDomain::<i32>::default(),
            AbsoluteDistance::<i32>::default(),
            2.0,
            None,
        )
    })?;
    let session = Odometer::new(laplace.space().clone(), Basic::new(Bits))
        .filter(Exact::ONE, NumberOfBits("2".parse()?))?
        .invoke(40)?;
    session.launch(&laplace)?;
    session.launch(&laplace)?;
    let refusal = session.launch(&laplace).unwrap_err().to_string();
    assert!(refusal.contains("bits is left of 2 bits"), "{refusal}");
    Ok(())
}

#[test]
fn a_measure_of_ours_goes_out_exactly() -> Result<(), Any> {
    let space = space(AtomDomain::<bool>::default(), DiscreteDistance)?;
    let map = OurMap::linear(Bits, NumberOfBits("0.1".parse()?));
    let truth = Measurement::new("truth", space, map, |x, _| Ok(**x));
    assert_eq!(export(&truth)?.map(&3)?, NumberOfBits("0.3".parse()?));
    Ok(())
}

#[test]
fn renyi_curves_on_orders_of_our_choice() -> Result<(), Any> {
    use measures::{Orders, RenyiCurveDp, RenyiDp};
    let gaussian = || {
        TheirMeasurement::new(
            AtomDomain::<i32>::default(),
            AbsoluteDistance::<i32>::default(),
            Renyi,
            Function::new(|x: &i32| *x),
            PrivacyMap::new(|d_in: &i32| {
                let d_in = f64::from(*d_in);
                Function::new(move |alpha: &f64| alpha * d_in * d_in / 2.0)
            }),
        )
    };
    let measure = RenyiDp::new("4")?;
    let ours = measurement_in("gaussian", measure.clone(), gaussian)?;
    let session = Odometer::new(ours.space().clone(), Basic::new(measure)).open(1)?;
    session.launch(&ours)?;
    session.launch(&ours)?;
    assert_eq!(
        session.privacy_loss(&"2".parse()?)?.to_string(),
        "16 at order 4"
    );

    let measure = RenyiCurveDp::new(Orders::new([2, 4])?);
    let ours = measurement_in("gaussian", measure.clone(), gaussian)?;
    let session = Odometer::new(ours.space().clone(), Basic::new(measure)).open(1)?;
    session.launch(&ours)?;
    let total = session.privacy_loss(&"1".parse()?)?;
    assert_eq!(
        total.bound().epsilons(),
        ["1".parse()?, "2".parse()?] as [Exact; 2]
    );
    let out = export(&ours)?.map(&1)?;
    assert_eq!((out.eval(&3.0)?, out.eval(&5.0)?), (2.0, f64::INFINITY));
    Ok(())
}
