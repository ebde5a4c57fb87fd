//! Privacy maps: what they compute, how they fail, and which of them are the same.

use exact::{Exact, Round};
use measures::convert::PureToApprox;
use measures::{
    AbsoluteDistance, ApproxDp, ChangeOneDistance, Conversion, Epsilon, EpsilonDelta, L2Distance,
    LossError, MAX_LINKS, MapError, Measure, Mu, Neighbouring, Neighbours, PrivacyMap, PureDp,
    RenyiDp, RuleError, SymmetricDistance, Zcdp, laws, times,
};
use proptest::prelude::*;

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

#[test]
fn maps_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    let map = PrivacyMap::per_record(PureDp, Epsilon::new(exact("0.1")));
    shared(&map);
    let clone = map.clone();
    assert!(map.ptr_eq(&clone));
    let twin = PrivacyMap::per_record(PureDp, Epsilon::new(exact("0.1")));
    assert!(!map.ptr_eq(&twin));
    assert_eq!(
        format!("{map:?}"),
        "PrivacyMap(SymmetricDistance -> PureDp)"
    );
}

#[test]
fn a_failing_map_says_why() {
    let map = PrivacyMap::<SymmetricDistance, _>::new(PureDp, |d| match d {
        1 => Ok(Epsilon::new(Exact::ONE)),
        _ => Err(MapError::failed(d, "calibrated for one record")),
    });
    assert!(map.loss(&1).is_ok());
    let error = map.loss(&2).unwrap_err();
    assert!(
        error.to_string().contains("calibrated for one record"),
        "{error}"
    );
    // Wrapping a map passes its error on.
    assert_eq!(
        map.after::<SymmetricDistance>(times(2)).loss(&1),
        Err(error.clone())
    );
    let unstable = map.after::<SymmetricDistance>(|d| Err(MapError::failed(d, "unbounded")));
    assert!(
        unstable
            .loss(&1)
            .unwrap_err()
            .to_string()
            .contains("unbounded")
    );
}

#[test]
fn a_loss_of_another_measure_is_an_error() {
    let two = RenyiDp::new(2).unwrap();
    let map = PrivacyMap::<Neighbours, _>::new(two, |_| Ok("1 at order 3".parse().unwrap()));
    let error = map.loss(&Neighbouring);
    assert!(
        matches!(
            &error,
            Err(MapError::Senseless {
                source: LossError::Foreign { .. },
                ..
            })
        ),
        "{error:?}"
    );
}

#[test]
fn linear_maps_scale_with_any_distance() {
    let map = PrivacyMap::<AbsoluteDistance, _>::linear(PureDp, Epsilon::new(exact("0.2")));
    assert_eq!(map.loss(&exact("2.5")), Ok(Epsilon::new(exact("0.5"))));
    assert_eq!(map.loss(&Exact::INFINITY), Ok(Epsilon::INFINITY));
    let map = PrivacyMap::<L2Distance, _>::linear(measures::GaussianDp, Mu::new(exact("0.2")));
    assert_eq!(map.loss(&Exact::ZERO), Ok(Mu::ZERO));
}

#[test]
fn quadratic_maps_are_gaussian_noise() {
    let half = measures::Rho::new(exact("0.5"));
    let map = PrivacyMap::<L2Distance, _>::quadratic(Zcdp, half.clone());
    for (distance, rho) in [("0", "0"), ("1", "0.5"), ("2", "2"), ("0.3", "0.045")] {
        assert_eq!(map.loss(&exact(distance)), Ok(rho.parse().unwrap()));
    }
    assert_eq!(map.loss(&Exact::INFINITY), Ok(measures::Rho::INFINITY));
    // Gaussian noise of scale 1 has μ = d_in, hence ρ = d_in²/2: the two kinds of map agree.
    let gaussian = PrivacyMap::<L2Distance, _>::linear(measures::GaussianDp, Mu::new(Exact::ONE))
        .convert(measures::convert::GaussianToZcdp);
    for distance in ["0", "0.25", "1", "3", "12.5"].map(exact) {
        assert_eq!(map.loss(&distance), gaussian.loss(&distance));
    }
    // In zCDP it is the rule for groups, too.
    let steps = PrivacyMap::<SymmetricDistance, _>::quadratic(Zcdp, half);
    for distance in [0, 1, 2, 3, 1000] {
        assert_eq!(steps.loss(&distance), steps.group().loss(&distance));
    }
    let orders = measures::Orders::new([2u32, 8].map(Exact::from)).unwrap();
    let measure = measures::RenyiCurveDp::new(orders);
    let curve =
        PrivacyMap::<SymmetricDistance, _>::quadratic(measure.clone(), measure.loss(Exact::clone));
    let three = measure.loss(|order| order.times(9));
    assert_eq!(curve.loss(&3), Ok(three));
    let two = RenyiDp::new(2).unwrap();
    let one_order =
        PrivacyMap::<SymmetricDistance, _>::quadratic(two.clone(), two.loss(exact("0.1")));
    assert_eq!(one_order.loss(&2), Ok(two.loss(exact("0.4"))));
}

#[test]
fn groups_ask_only_at_distance_one() {
    let one = PrivacyMap::<ChangeOneDistance, _>::constant_up_to(ApproxDp, 1, "(0, 0.2)").unwrap();
    let group = one.group();
    assert_eq!(group.loss(&0), Ok(EpsilonDelta::ZERO));
    assert_eq!(group.loss(&1), one.loss(&1));
    assert_eq!(group.loss(&4), Ok("(0, 0.8)".parse().unwrap()));
    assert_eq!(one.loss(&4), Ok(EpsilonDelta::INFINITY));
    laws::check_map(&group, &[0, 1, 2, 3, 10, 1000]).unwrap();
}

/// A conversion for the test: ε-DP is (ε²/2)-zCDP, but only for small ε.
#[derive(Clone, Debug)]
struct HalfSquare;

impl Conversion for HalfSquare {
    type From = PureDp;
    type To = Zcdp;

    fn from(&self) -> PureDp {
        PureDp
    }

    fn to(&self) -> Zcdp {
        Zcdp
    }

    fn convert(&self, leaf: &Epsilon) -> Result<measures::Rho, RuleError> {
        if *leaf.value() > Exact::ONE {
            return Err(RuleError::parameter("ε", leaf, "at most 1"));
        }
        let square = leaf.value().mul(leaf.value(), Round::Up);
        Ok(square.div(&2u32.into(), Round::Up).into())
    }
}

#[test]
fn maps_convert() {
    let map = PrivacyMap::per_record(PureDp, Epsilon::new(exact("0.5")));
    let converted = map.convert(HalfSquare);
    assert_eq!(converted.loss(&2), Ok("0.5".parse().unwrap()));
    assert_eq!(converted.measure(), &Zcdp);
    let error = converted.loss(&3).unwrap_err();
    assert!(error.to_string().contains("at most 1"), "{error}");
}

proptest! {
    #[test]
    fn our_maps_are_monotone(per_unit in 0f64..10.0, bound in 0u32..10, mut distances in prop::collection::vec(0u32..1000, 1..6)) {
        distances.push(bound);
        let loss = Epsilon::new(Exact::try_from(per_unit).unwrap());
        let linear = PrivacyMap::per_record(PureDp, loss.clone());
        laws::check_map(&linear, &distances).unwrap();
        let constant = PrivacyMap::<SymmetricDistance, _>::constant_up_to(PureDp, bound, loss.clone());
        laws::check_map(&constant, &distances).unwrap();
        laws::check_map(&linear.group(), &distances).unwrap();
        let delta = Exact::try_from(per_unit / 1e4).unwrap();
        let pair = EpsilonDelta::new(loss.value().clone(), delta).unwrap();
        let approximate = PrivacyMap::<SymmetricDistance, _>::constant_up_to(ApproxDp, 1, pair);
        laws::check_map(&approximate.group(), &distances).unwrap();
        prop_assert_eq!(linear.group().loss(&bound), linear.loss(&bound));
        let rho = measures::Rho::new(loss.value().clone());
        laws::check_map(&PrivacyMap::<SymmetricDistance, _>::quadratic(Zcdp, rho), &distances).unwrap();
        prop_assert_eq!(PureDp.infinity(), constant.loss(&1001).unwrap());
    }
}

#[test]
fn multiples_of_distances_do_not_wrap_around() {
    let map = PrivacyMap::per_record(PureDp, Epsilon::new(exact("0.1")));
    let twice = map.after::<SymmetricDistance>(times(2));
    let largest = (1 << 31) - 1;
    let expected = Epsilon::new(exact("0.2").times(u64::from(largest)));
    assert_eq!(twice.loss(&largest), Ok(expected));
    for d_in in [1 << 31, u32::MAX] {
        let error = twice.loss(&d_in).unwrap_err();
        assert!(matches!(error, MapError::Overflow { factor: 2, .. }));
        assert!(error.to_string().contains(&d_in.to_string()), "{error}");
    }
    let none = map.after::<SymmetricDistance>(times(0));
    assert_eq!(none.loss(&u32::MAX), Ok(Epsilon::new(Exact::ZERO)));
    // Real distances: exact, and infinity is a distance.
    let absolute = PrivacyMap::<AbsoluteDistance, _>::linear(PureDp, Epsilon::new(exact("0.1")));
    let thrice = absolute.after::<AbsoluteDistance>(times(3));
    assert_eq!(thrice.loss(&exact("0.5")), Ok(Epsilon::new(exact("0.15"))));
    assert_eq!(thrice.loss(&Exact::INFINITY), Ok(Epsilon::INFINITY));
}

#[test]
fn maps_nest_no_further_than_they_may() {
    // A small stack, on which 200,000 maps inside one another could neither be asked nor dropped.
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let test = || {
        let one = PrivacyMap::per_record(PureDp, Epsilon::new(exact("0.1")));
        for combine in [
            (|map| map.group()) as fn(&PrivacyMap<_, PureDp>) -> PrivacyMap<_, PureDp>,
            |map| map.after::<SymmetricDistance>(times(1)),
        ] {
            let mut map = one.clone();
            for _ in 0..MAX_LINKS {
                map = combine(&map);
            }
            assert_eq!(map.loss(&2), Ok(Epsilon::new(exact("0.2"))));
            let converted = map.convert(PureToApprox);
            for _ in 0..200_000 {
                map = combine(&map);
            }
            let error = MapError::TooDeep { limit: MAX_LINKS };
            assert_eq!(map.loss(&2), Err(error.clone()));
            assert_eq!(converted.loss(&2), Err(error));
        }
    };
    small.spawn(test).unwrap().join().unwrap();
}
