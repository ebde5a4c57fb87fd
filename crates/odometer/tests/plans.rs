//! Dry runs say what launching then says, and change nothing.

use measures::{Basic, Known, PrivacyMap, PureDp, times};
use odometer::{LaunchError, Measurement, Odometer, Records, Session, Transformation};
use proptest::prelude::*;
use queryable::{AskError, Queryable, Scope, machine, translate};

type Numbers = Records<u8>;
type Pure = Session<Numbers, Basic<PureDp>>;

const DATA: Numbers = Records::new();

fn costs(loss: &str) -> Measurement<Numbers, PureDp, ()> {
    let map = PrivacyMap::per_record(PureDp, loss).unwrap();
    Measurement::new("query", DATA, map, |_, _| Ok(()))
}

fn never(loss: &str) -> Measurement<Numbers, PureDp, ()> {
    let map = PrivacyMap::per_record(PureDp, loss).unwrap();
    Measurement::new("query", DATA, map, |_, _| panic!("it runs"))
}

/// A session with a cap, a capped team, transformed data and parts, all under one filter.
fn places() -> Vec<Pure> {
    let filter = Odometer::new(DATA, Basic::new(PureDp))
        .named("all")
        .filter(1, "2")
        .unwrap();
    let all = filter.invoke(vec![1, 2, 3]).unwrap();
    let team = all.nested("team").capped(1, "0.9").open().unwrap();
    let twice = Transformation::new(DATA, DATA, times(2), |data: &Vec<u8>| Ok(data.repeat(2)));
    let twice = team.nest_after(&twice).unwrap();
    let parity = team.partition(|x| x % 2).unwrap();
    let parts = [parity.part(0).unwrap(), parity.part(1).unwrap()];
    [all, team, twice].into_iter().chain(parts).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One plan for launches in one place, after launches in all places; and a question before every launch.
    #[test]
    fn plans_agree_with_launches(
        before in prop::collection::vec((0usize..5, 1u32..40), 0..8),
        row in (0usize..5, 0usize..60),
        at in 0usize..5,
        list in prop::collection::vec(1u32..60, 1..12),
    ) {
        let places = places();
        for (place, cents) in before {
            let query = costs(&format!("{cents}e-2"));
            let asked = places[place].would_admit(&query);
            prop_assert_eq!(asked, places[place].launch(&query));
        }
        let (place, small) = (&places[row.0], costs("0.01"));
        for _ in 0..row.1 {
            prop_assert_eq!(place.would_admit(&small), place.launch(&small));
        }
        let place = &places[at];
        let before = place.launches().unwrap();
        let mut plan = place.plan().unwrap();
        let planned: Vec<_> = list.iter().map(|cents| plan.launch(&never(&format!("{cents}e-2"))).map(drop)).collect();
        prop_assert_eq!(place.launches().unwrap(), before);
        let launched: Vec<_> = list.iter().map(|cents| place.launch(&costs(&format!("{cents}e-2")))).collect();
        prop_assert_eq!(planned, launched);
        prop_assert_eq!(plan.spent().unwrap(), place.spent().unwrap());
    }

    /// Plans beside each other, for launches in all places in any order.
    #[test]
    fn plans_beside_each_other_agree_with_launches(
        before in prop::collection::vec((0usize..5, 1u32..40), 0..8),
        list in prop::collection::vec((0usize..5, 1u32..60), 1..16),
    ) {
        let places = places();
        for (place, cents) in before {
            let _ = places[place].launch(&costs(&format!("{cents}e-2")));
        }
        let first = places[0].plan().unwrap();
        let mut plans: Vec<_> = places.iter().map(|place| first.beside(place).unwrap()).collect();
        let any = places[0].any().plan().unwrap();
        let mut erased: Vec<_> = places.iter().map(|place| any.beside(&place.any()).unwrap()).collect();
        let mut planned = Vec::new();
        for (place, cents) in &list {
            let query = never(&format!("{cents}e-2"));
            let cost = plans[*place].launch(&query);
            let again = erased[*place].launch(&query);
            prop_assert_eq!(again, cost.clone().map(|cost| cost.map(PureDp::any_loss)));
            planned.push(cost.map(drop));
        }
        let would_be: Vec<_> = plans.iter().map(|plan| plan.spent().unwrap()).collect();
        let launch = |(place, cents): &(usize, u32)| places[*place].launch(&costs(&format!("{cents}e-2")));
        let launched: Vec<_> = list.iter().map(launch).collect();
        prop_assert_eq!(planned, launched);
        let spent: Vec<_> = places.iter().map(|place| place.spent().unwrap()).collect();
        prop_assert_eq!(would_be, spent);
    }
}

#[test]
fn a_question_halts_and_runs_nothing() {
    let filter = Odometer::new(DATA, Basic::new(PureDp))
        .halting()
        .filter(1, "1")
        .unwrap();
    let session = filter.invoke(vec![]).unwrap();
    let team = session.nested("team").open().unwrap();
    assert!(matches!(
        team.would_admit(&never("2")),
        Err(LaunchError::Refused(_))
    ));
    assert!(matches!(
        team.plan().unwrap().launch(&never("2")),
        Err(LaunchError::Refused(_))
    ));
    team.would_admit(&never("1")).unwrap();
    assert_eq!(session.spent().unwrap().unwrap().to_string(), "0");
    team.launch(&costs("1")).unwrap();
    assert!(session.launch(&costs("0.1")).is_err());
    let halted = LaunchError::Halted {
        account: "the session".into(),
    };
    assert_eq!(team.would_admit(&never("0")), Err(halted.clone()));
    assert_eq!(team.plan().unwrap().launch(&never("0")), Err(halted));
}

/// What a queryable answers can be asked from inside a session after interactive post-processing, for the same charge.
#[test]
fn a_post_processed_queryable_answers_in_a_session() {
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let adder = Measurement::new("adder", DATA, map, |_, scope: &mut Scope<'_>| {
        let mut sum = 0;
        scope.spawn(machine(move |x: u64, _: &mut Scope<'_>| {
            sum += x;
            Ok::<_, AskError>(sum)
        }))
    });
    let doubled = adder.postprocess_with(|| translate(|x: u64| x + 1, |x: u64| 2 * x));
    let texts = doubled.postprocess_with(|| translate(|x: u64| x, |x: u64| x.to_string()));
    let session = Odometer::new(DATA, Basic::new(PureDp))
        .open(vec![])
        .unwrap();
    let (one, other): (Queryable<u64, String>, _) = (
        session.launch(&texts).unwrap(),
        session.launch(&texts).unwrap(),
    );
    assert_eq!((one.ask(1), one.ask(2)), (Ok("4".into()), Ok("10".into())));
    assert_eq!(
        other.ask(0),
        Ok("2".into()),
        "every launch has its own state"
    );
    assert_eq!(session.privacy_loss(1).unwrap().to_string(), "0.2");
}

#[test]
fn a_refusal_says_where_it_comes_from() {
    let places = places();
    let refused = |place: usize| match places[place].launch(&costs("5").named("dear")) {
        Err(LaunchError::Refused(refusal)) => *refusal,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(0).path, ["all"]);
    // A part has no cap of its own: the team refuses.
    assert_eq!(refused(3).path, ["all", "team"]);
    assert_eq!(
        (refused(3).account.as_str(), refused(3).launch.as_str()),
        ("team", "`dear`(part = 0)")
    );
}

#[test]
fn the_ledger_lists_what_was_charged() {
    let places = places();
    places[2].launch(&costs("0.1").named("twice")).unwrap();
    places[3].launch(&costs("0.2").named("even")).unwrap();
    let ledger = places[0].ledger(1).unwrap();
    let listed: Vec<_> = ledger
        .iter()
        .map(|charge| {
            (
                &*charge.description.name,
                charge.loss.to_string(),
                charge.count,
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            ("twice", "0.2".to_string(), 1),
            ("even", "0.2".to_string(), 1)
        ]
    );
}
