//! Numbers cross the bridge exactly one way, and rounded up by less than one float the other way.

use exact::Exact;
use measures::{ApproxDp, Epsilon, EpsilonDelta, Loss, PureDp};
use opendp_bridge::{Correspondence, OpendpDistance};
use proptest::prelude::*;

fn rational() -> impl Strategy<Value = Exact> {
    (any::<u64>(), 1..=u64::MAX).prop_map(|(a, b)| Exact::ratio(a.into(), b.into()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn floats_come_back_as_they_went(distance in 0.0..1e300f64, small in 0.0..1e-300f64) {
        for distance in [distance, small] {
            let loss = PureDp.loss(&distance).unwrap();
            prop_assert_eq!(PureDp.distance(&loss), Ok(distance));
            prop_assert_eq!(f64::at_least(&distance.exact().unwrap()), Ok(distance));
        }
    }

    #[test]
    fn losses_go_out_to_the_next_float(epsilon in rational(), delta in rational()) {
        let out = PureDp.distance(&Epsilon::new(epsilon.clone())).unwrap();
        prop_assert!(Exact::try_from(out).unwrap() >= epsilon);
        prop_assert!(out == 0.0 || Exact::try_from(out.next_down()).unwrap() < epsilon);
        let loss = EpsilonDelta::saturating(epsilon, delta);
        let back = ApproxDp.loss(&ApproxDp.distance(&loss).unwrap()).unwrap();
        prop_assert!(loss.at_most(&back));
    }

    #[test]
    fn distances_round_up_to_the_next_integer(distance in 0u32..1_000_000, parts in 1u32..1000) {
        let exact = Exact::ratio(distance.into(), parts.into()).unwrap();
        let up = i64::at_least(&exact).unwrap();
        prop_assert_eq!(up, i64::from(distance.div_ceil(parts)));
        prop_assert!(f32::at_least(&exact).unwrap().exact().unwrap() >= exact);
    }
}
