//! What is said to remain can be launched, and what cannot be launched is not said to remain.

use exact::Exact;
use measures::{Basic, Epsilon, PrivacyMap, PureDp};
use odometer::{LaunchError, Measurement, Odometer, Records};

type Noop = Measurement<Records<u8>, PureDp, ()>;

const DATA: Records<u8> = Records::new();

fn noop(epsilon: Epsilon) -> Noop {
    let map = PrivacyMap::per_record(PureDp, epsilon);
    Measurement::new("noop", DATA, map, |_, _| Ok(()))
}

fn pure() -> Odometer<Records<u8>, Basic<PureDp>> {
    Odometer::new(DATA, Basic::new(PureDp))
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

#[test]
fn a_refusal_shows_what_remains_rounded_down() {
    let session = pure()
        .filter(1, epsilon("1"))
        .unwrap()
        .invoke(vec![])
        .unwrap();
    // The float 0.1 is a little more than one tenth, so a little less than 0.9 remains.
    let float = Epsilon::new(Exact::try_from(0.1).unwrap());
    session.launch(&noop(float)).unwrap();
    let Err(LaunchError::Refused(refusal)) = session.launch(&noop(epsilon("0.9"))) else {
        panic!("0.9 does not fit");
    };
    let shown = refusal.remaining.unwrap();
    assert!(shown.starts_with("0.899999"), "{shown}");
    session.launch(&noop(epsilon(&shown))).unwrap();
}

#[test]
fn nothing_remains_of_a_halted_filter() {
    let filter = pure().halting().filter(1, epsilon("1")).unwrap();
    let session = filter.invoke(vec![]).unwrap();
    assert!(session.launch(&noop(epsilon("2"))).is_err());
    assert_eq!(session.remaining(&1).unwrap(), None);
    assert!(session.launch(&noop(epsilon("0.1"))).is_err());
}

#[test]
fn a_halted_account_above_leaves_nothing_below() {
    let outer = pure().halting().filter(1, epsilon("1")).unwrap();
    let outer = outer.invoke(vec![]).unwrap();
    let inner = outer
        .nested("inner")
        .capped(1, epsilon("0.5"))
        .open()
        .unwrap();
    assert_eq!(inner.remaining(&1).unwrap(), Some(epsilon("0.5")));
    assert!(outer.launch(&noop(epsilon("2"))).is_err());
    assert_eq!(inner.remaining(&1).unwrap(), None);
}

#[test]
fn spending_the_rest_halts_a_filter_only_if_it_asks_for_too_much() {
    let filter = pure().halting().filter(1, epsilon("1")).unwrap();
    let session = filter.invoke(vec![]).unwrap();
    let mut tries = 0;
    // Somebody else is faster while the first measurement is being made.
    let spent = session.spend_rest(&1, |rest| {
        tries += 1;
        if tries == 1 {
            session.launch(&noop(epsilon("0.75"))).unwrap();
        }
        noop(rest.clone())
    });
    assert_eq!((spent, tries), (Ok(()), 2));
    assert_eq!(session.remaining(&1).unwrap(), Some(epsilon("0")));

    let refused = session.spend_rest(&1, |_| noop(epsilon("0.1")));
    assert!(matches!(refused, Err(LaunchError::Refused(_))));
    assert_eq!(session.remaining(&1).unwrap(), None);
}

mod links {
    use super::*;
    use measures::{ApproxDp, convert::PureToApprox, times};
    use odometer::Transformation;
    use proptest::prelude::*;

    fn copies(n: u32) -> Transformation<Records<u8>, Records<u8>> {
        let repeat = move |data: &Vec<u8>| Ok(data.repeat(n as usize));
        Transformation::new(DATA, DATA, times(n), repeat)
    }

    #[test]
    fn a_stability_map_says_at_which_distance_it_is_known() {
        let filter = pure().named("all").filter(1, "1").unwrap();
        let session = filter.invoke(vec![1, 2]).unwrap();
        let same = session.nest_after(&copies(1)).unwrap();
        let twice = same.nest_after(&copies(2)).unwrap();
        twice.launch(&noop(epsilon("0.1"))).unwrap();
        let left = same.remaining(1).unwrap();
        assert_eq!(
            (left.account(), left.loss()),
            (Some("all"), Some(&epsilon("0.8")))
        );
        // One record more before is two more after: that is the distance at which the filter is charged.
        assert_eq!(twice.remaining(2).unwrap(), Some(epsilon("0.8")));
        let unknown = twice.remaining(1).unwrap();
        assert!(unknown.is_unlimited() && unknown.others().eq(["all"]));
        assert!(
            unknown
                .to_string()
                .ends_with("not counting all, which counts differently")
        );
        let map = PrivacyMap::constant_up_to(PureDp, 2, "0.8").unwrap();
        twice
            .launch(&Measurement::new("rest", DATA, map, |_, _| Ok(())))
            .unwrap();
        assert_eq!(session.remaining(1).unwrap(), Some(epsilon("0")));
    }

    #[test]
    fn a_conversion_names_the_caps_above() {
        let filter = Odometer::new(DATA, Basic::new(ApproxDp))
            .named("all")
            .filter(1, "(1, 0)");
        let session = filter.unwrap().invoke(vec![]).unwrap();
        let below = session.nest_in(Basic::new(PureDp), PureToApprox).unwrap();
        let team = below.nested("team").capped(1, "0.5").open().unwrap();
        let left = team.remaining(1).unwrap();
        assert_eq!(
            (left.account(), left.text()),
            (Some("team"), Some("0.5".into()))
        );
        assert!(left.others().eq(["all"]));
        let below = below.remaining(1).unwrap();
        assert!(below.is_unlimited() && below.others().eq(["all"]));
    }

    #[test]
    fn two_partitions_of_the_same_data_share_what_is_left() {
        let session = pure()
            .filter(1, "1")
            .unwrap()
            .invoke(vec![1, 2, 3])
            .unwrap();
        let (parity, size) = (
            session.partition(|x| x % 2).unwrap(),
            session.partition(|x| x / 2).unwrap(),
        );
        parity
            .part(0)
            .unwrap()
            .launch(&noop(epsilon("0.3")))
            .unwrap();
        assert_eq!(
            parity.part(1).unwrap().remaining(1).unwrap(),
            Some(epsilon("1"))
        );
        size.part(0).unwrap().launch(&noop(epsilon("0.3"))).unwrap();
        // At least so much, in any part of any of them.
        for part in [parity.part(0), parity.part(1), size.part(0), size.part(1)] {
            let part = part.unwrap();
            assert_eq!(part.remaining(1).unwrap(), Some(epsilon("0.4")));
            assert!(part.remaining(2).unwrap().is_unlimited());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Wherever it is known: what is shown is admitted, in the account itself, in parts, and after transformations.
        #[test]
        fn what_is_shown_can_be_typed_back(
            thirds in 1u32..1000, launches in prop::collection::vec((0u8..4, 1u64..1 << 53), 0..6), last in 0u8..4,
        ) {
            let budget = Epsilon::new(Exact::ratio(thirds.into(), 3).unwrap());
            let session = pure().filter(1, budget).unwrap().invoke(vec![1, 2, 3]).unwrap();
            let parity = session.partition(|x| x % 2).unwrap();
            let places = [
                session.clone(),
                session.nest_after(&copies(1)).unwrap(),
                parity.part(0).unwrap(),
                parity.part(1).unwrap().nested("capped").capped(1, "100.1").open().unwrap(),
            ];
            for (place, cost) in launches {
                let cost = Epsilon::new(Exact::try_from(cost as f64 / (1u64 << 46) as f64).unwrap());
                let _ = places[place as usize].launch(&noop(cost));
            }
            let place = &places[last as usize];
            let shown = place.remaining(1).unwrap().text().unwrap();
            prop_assert_eq!(place.launch(&noop(epsilon(&shown))), Ok(()), "{}", shown);
            let next = epsilon(&shown).into_value() + Exact::from(1u32);
            prop_assert!(place.launch(&noop(next.into())).is_err());
        }
    }
}
