//! Finite communication under accounts: where a rule's theorem asks for it, a launch with everything it spawns answers at
//! most as many messages as the account says; elsewhere nothing is counted.

use measures::{
    ApproxDp, ApproxZcdp, Basic, GaussianDp, Measure, PrivacyMap, PureDp, SymmetricDistance, Zcdp,
    adaptive::GaussianComposition, convert::PureToApprox, fixed::Optimal,
};
use odometer::{Compositor, LaunchError, Measurement, Odometer, Records};
use queryable::{AskError, DEFAULT_MESSAGES, Queryable, Scope, machine};

type Data = Records<i64>;
type Echo = Queryable<u8, u8>;

const DATA: Data = Records::new();

const fn over(limit: u64) -> AskError {
    AskError::TooManyMessages { limit }
}

/// An interactive measurement that answers two machines of the same launch.
fn echoes<M: Measure>(map: PrivacyMap<SymmetricDistance, M>) -> Measurement<Data, M, [Echo; 2]> {
    let echo = || machine(|x: u8, _: &mut Scope<'_>| Ok(x));
    Measurement::new("echoes", DATA, map, move |_, scope| {
        Ok([scope.spawn(echo())?, scope.spawn(echo())?])
    })
}

fn pure() -> Measurement<Data, PureDp, [Echo; 2]> {
    echoes(PrivacyMap::per_record(PureDp, "0.1").unwrap())
}

fn approx() -> Measurement<Data, ApproxDp, [Echo; 2]> {
    echoes(PrivacyMap::constant_up_to(ApproxDp, 1, "(0.1, 1e-9)").unwrap())
}

/// How many messages the two machines answer, asked in turns, before both refuse: at most 100.
fn answered([one, other]: &[Echo; 2]) -> (u64, Option<AskError>) {
    let mut answered = 0;
    for _ in 0..50 {
        for echo in [one, other] {
            match echo.ask(1) {
                Ok(_) => answered += 1,
                Err(error) => return (answered, Some(error)),
            }
        }
    }
    (answered, None)
}

#[test]
fn under_rules_for_finite_communication_a_launch_answers_so_many_messages() {
    let session = Odometer::new(DATA, Basic::new(ApproxDp))
        .answering_at_most(7)
        .open(vec![])
        .unwrap();
    for _ in 0..3 {
        let launched = session.launch(&approx()).unwrap();
        assert_eq!(answered(&launched), (7, Some(over(7))));
    }
    let map = PrivacyMap::per_record(GaussianDp, "0.1").unwrap();
    let session = Odometer::new(DATA, GaussianComposition)
        .answering_at_most(4)
        .filter(1, "1")
        .unwrap()
        .invoke(vec![])
        .unwrap();
    let launched = session.launch(&echoes(map)).unwrap();
    assert_eq!(answered(&launched), (4, Some(over(4))));
}

#[test]
fn under_other_rules_nothing_is_counted() {
    let session = Odometer::new(DATA, Basic::new(PureDp))
        .answering_at_most(3)
        .open(vec![])
        .unwrap();
    assert_eq!(answered(&session.launch(&pure()).unwrap()), (100, None));
    let session = Odometer::new(DATA, Basic::new(Zcdp))
        .answering_at_most(3)
        .open(vec![])
        .unwrap();
    let zcdp = echoes(PrivacyMap::constant_up_to(Zcdp, 1, "0.1").unwrap());
    assert_eq!(answered(&session.launch(&zcdp).unwrap()), (100, None));
    let session = Odometer::new(DATA, Basic::new(ApproxZcdp))
        .answering_at_most(3)
        .open(vec![])
        .unwrap();
    let approx_zcdp = echoes(PrivacyMap::constant_up_to(ApproxZcdp, 1, "(0.1, 1e-9)").unwrap());
    let launched = session.launch(&approx_zcdp).unwrap();
    assert_eq!(answered(&launched), (100, None));
}

#[test]
fn the_default_is_far_away() {
    assert_eq!(DEFAULT_MESSAGES, 1 << 48);
    let session = Odometer::new(DATA, Basic::new(ApproxDp))
        .open(vec![])
        .unwrap();
    assert_eq!(answered(&session.launch(&approx()).unwrap()), (100, None));
}

/// A pure session below an (ε, δ) account: its launches are children of that account, too.
#[test]
fn every_account_on_the_way_up_has_a_say() {
    let above = Odometer::new(DATA, Basic::new(ApproxDp))
        .answering_at_most(5)
        .open(vec![])
        .unwrap();
    let below = above.nest_in(Basic::new(PureDp), PureToApprox).unwrap();
    let launched = below.launch(&pure()).unwrap();
    assert_eq!(answered(&launched), (5, Some(over(5))));
    let nested = above.nested("team red").open().unwrap();
    let launched = nested.launch(&approx()).unwrap();
    assert_eq!(answered(&launched), (5, Some(over(5))));
    let parity = above.partition(|x: &i64| x % 2).unwrap();
    let launched = parity.part(0).unwrap().launch(&approx()).unwrap();
    assert_eq!(answered(&launched), (5, Some(over(5))));
}

/// A filter that was launched is one launch: what is launched in it are its messages.
#[test]
fn a_reserved_filter_with_all_its_launches_is_one_launch() {
    let above = Odometer::new(DATA, Basic::new(ApproxDp))
        .answering_at_most(6)
        .open(vec![])
        .unwrap();
    let inner = Odometer::new(DATA, Basic::new(ApproxDp)).filter(1, "(1, 1e-6)");
    let inner = above.launch(&inner.unwrap()).unwrap();
    let first = inner.launch(&approx()).unwrap(); // one message
    assert_eq!((first[0].ask(1), first[1].ask(1)), (Ok(1), Ok(1)));
    let second = inner.launch(&approx()).unwrap();
    assert_eq!((second[0].ask(1), first[0].ask(1)), (Ok(1), Ok(1)));
    assert_eq!(second[0].ask(1), Err(over(6)));
    // Nothing is charged for what could not answer.
    let spent = inner.spent().unwrap();
    let refused = inner.launch(&approx()).unwrap_err();
    assert_eq!(refused, LaunchError::Unusable(over(6)));
    assert!(!refused.was_charged());
    assert_eq!(inner.spent().unwrap(), spent);
    // Another launch of the account above has messages of its own.
    assert_eq!(answered(&above.launch(&approx()).unwrap()).0, 6);
}

#[test]
fn a_compositor_counts_for_each_slot() {
    let optimal = Optimal::new("1e-6").unwrap();
    let compositor = Compositor::new(DATA, optimal, 1, vec!["(0.1, 1e-9)"; 2])
        .answering_at_most(3)
        .measurement()
        .unwrap();
    let composition = compositor.invoke(vec![]).unwrap();
    for _ in 0..2 {
        let launched = composition.launch(&approx()).unwrap();
        assert_eq!(answered(&launched), (3, Some(over(3))));
    }
}
