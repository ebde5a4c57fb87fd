//! Finite communication under accounts: where a rule's theorem asks for it, a launch with everything it spawns answers at
//! most as many messages as the account says; elsewhere nothing is counted.

use std::sync::Arc;

use measures::{
    ApproxDp, ApproxZcdp, Basic, GaussianDp, Measure, PrivacyMap, PureDp, SymmetricDistance, Zcdp,
    adaptive::GaussianComposition, convert::PureToApprox, fixed::Optimal,
};
use odometer::{Compositor, LaunchError, Measurement, Odometer, Records};
use queryable::{
    AskError, DEFAULT_MESSAGES, PostProcessor, Queryable, Received, Root, Scope, Sent, Side,
    machine, translate,
};

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

/// A machine that always answers `()`, and does as much inside as there are records: its map of (0, 0) is true of it.
fn constant(inside: fn(usize, &mut Scope<'_>) -> Result<(), AskError>) -> Constant {
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(0, 0)").unwrap();
    Measurement::new("constant", DATA, map, move |data, scope| {
        let n = data.len();
        inside(n, scope)?;
        scope.spawn(machine(move |(), scope: &mut Scope<'_>| inside(n, scope)))
    })
}

type Constant = Measurement<Data, ApproxDp, Queryable<(), ()>>;

/// What happens inside of a launch is not communication: otherwise the number of answers would depend on data.
#[test]
fn the_number_of_answers_does_not_depend_on_data() {
    let asks = |n: usize, scope: &mut Scope<'_>| {
        let inner = scope.spawn(machine(|(), _: &mut Scope<'_>| Ok(())))?;
        (0..n).try_for_each(|_| inner.ask(()))
    };
    let post_processes = |n: usize, scope: &mut Scope<'_>| {
        let inner = scope.spawn(machine(|(), _: &mut Scope<'_>| Ok(())))?;
        let front = scope.postprocess(&inner, translate(|()| (), |()| ()))?;
        (0..n).try_for_each(|_| front.ask(()))
    };
    let in_a_root = |n: usize, scope: &mut Scope<'_>| {
        let root = scope.root()?;
        let inner = root.spawn(machine(|(), _: &mut Scope<'_>| Ok(())))?;
        let front = root.postprocess(&inner, translate(|()| (), |()| ()))?;
        (0..n).try_for_each(|_| front.ask(()))?;
        (0..n).try_for_each(|_| root.run([], |_| Ok(())))
    };
    // A session of its own inside: its launches and their messages.
    let in_a_session = |n: usize, scope: &mut Scope<'_>| {
        let failed = |error: LaunchError| AskError::failed(error.to_string());
        let odometer = Odometer::new(DATA, Basic::new(ApproxDp)).answering_at_most(1_000);
        let session = odometer.open_in(&scope.root()?, Default::default());
        let session = session.map_err(|error| failed(error.into()))?;
        (0..n).try_for_each(|_| {
            let [one, other] = session.launch(&approx()).map_err(failed)?;
            one.ask(1).and(other.ask(2)).map(drop)
        })
    };
    for inside in [asks, post_processes, in_a_root, in_a_session] {
        for records in [0, 1, 40] {
            let open = || {
                let odometer = Odometer::new(DATA, Basic::new(ApproxDp)).answering_at_most(10);
                odometer.open(vec![7; records]).unwrap()
            };
            let count = |asked: &Queryable<(), ()>| {
                let mut answers = 0;
                loop {
                    match asked.ask(()) {
                        Ok(()) => answers += 1,
                        Err(error) => return (answers, error),
                    }
                }
            };
            let machine = open().launch(&constant(inside)).unwrap();
            assert_eq!(count(&machine), (10, over(10)), "{records} records");
            // Below a filter, what is launched in it is part of one launch: one message for the launch there.
            let filter = Odometer::new(DATA, Basic::new(ApproxDp)).filter(1, "(0, 0)");
            let below = open().launch(&filter.unwrap()).unwrap();
            let machine = below.launch(&constant(inside)).unwrap();
            assert_eq!(count(&machine), (9, over(10)), "{records} records");
        }
    }
}

/// A machine of another launch that asks is an analyst to this one.
#[test]
fn another_launch_that_asks_is_counted() {
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(1, 0.1)").unwrap();
    let asks = Measurement::new("asks", DATA, map, |_, scope| {
        let odometer = Odometer::new(DATA, Basic::new(ApproxDp)).answering_at_most(3);
        let session = odometer.open_in(&scope.root()?, Default::default());
        let session = session.map_err(|error| AskError::failed(error.to_string()))?;
        let launched = session.launch(&approx());
        let [echo, _] = launched.map_err(|error| AskError::failed(error.to_string()))?;
        scope.spawn(machine(move |n: u8, _: &mut Scope<'_>| {
            Ok((0..n).take_while(|_| echo.ask(1).is_ok()).count())
        }))
    });
    let session = Odometer::new(DATA, Basic::new(ApproxDp)).answering_at_most(100);
    let asking = session.open(vec![]).unwrap().launch(&asks);
    // The echo is no machine below that one: it was launched before.
    assert_eq!(asking.unwrap().ask(5), Ok(0));
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(1, 0.1)").unwrap();
    let within = Measurement::new("asks within", DATA, map, |_, scope| {
        let odometer = Odometer::new(DATA, Basic::new(ApproxDp)).answering_at_most(3);
        let session = odometer.open_in(&scope.root()?, Default::default());
        let session = session.map_err(|error| AskError::failed(error.to_string()))?;
        let launched = session.launch(&approx());
        let echoes = launched.map_err(|error| AskError::failed(error.to_string()))?;
        Ok(answered(&echoes))
    });
    assert_eq!(
        session.open(vec![]).unwrap().launch(&within),
        Ok((3, Some(over(3))))
    );
}

/// Counts how often it is answered.
struct Often(u64);
impl PostProcessor for Often {
    type Query = ();
    type Answer = u64;
    type InnerQuery = u8;
    type InnerAnswer = u8;

    fn step(&mut self, message: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        let answered = self.0;
        Ok(match message {
            Side::Right(Err(error)) => {
                assert_eq!(error, over(7));
                Side::Left(answered)
            }
            Side::Right(Ok(_)) if answered == 999 => Side::Left(1_000),
            Side::Right(Ok(_)) => {
                self.0 += 1;
                Side::Right(1)
            }
            Side::Left(()) => Side::Right(1),
        })
    }
}

/// A post-processor that asks a thousand times in one step speaks for the analyst: it ends at the limit.
#[test]
fn a_post_processor_that_asks_very_often_is_counted() {
    let open = || {
        let odometer = Odometer::new(DATA, Basic::new(ApproxDp)).answering_at_most(7);
        odometer.open(vec![]).unwrap()
    };
    // In front of the handle, as part of the measurement, and in a root that was handed out.
    let [echo, _] = open().launch(&approx()).unwrap();
    let often = Root::from_os()
        .unwrap()
        .postprocess(&echo, Often(0))
        .unwrap();
    assert_eq!(often.ask(()), Ok(7));
    let map = || PrivacyMap::constant_up_to(ApproxDp, 1, "(0.1, 1e-9)").unwrap();
    let one = Measurement::new("one", DATA, map(), |_, scope| {
        scope.spawn(machine(|x: u8, _: &mut Scope<'_>| Ok(x)))
    });
    let front = open().launch(&one.postprocess_with(|| Often(0))).unwrap();
    // The question is a message, too: the post-processor was spawned by the launch.
    assert_eq!(front.ask(()), Ok(6));
    let hands_out = Measurement::new("hands out", DATA, map(), |_, scope| {
        let echo = scope.spawn(machine(|x: u8, _: &mut Scope<'_>| Ok(x)))?;
        Ok((scope.root()?, echo))
    });
    let (root, echo) = open().launch(&hands_out).unwrap();
    assert_eq!(root.postprocess(&echo, Often(0)).unwrap().ask(()), Ok(6));
}

/// Post-processing is the analyst's code also where another measurement's function runs it: it ends at the limit.
#[test]
fn post_processing_that_runs_inside_a_function_is_counted() {
    let open = || {
        let odometer = Odometer::new(DATA, Basic::new(ApproxDp)).answering_at_most(7);
        odometer.open(vec![]).unwrap()
    };
    let map = || PrivacyMap::constant_up_to(ApproxDp, 1, "(0.1, 1e-9)").unwrap();
    let one = Measurement::new("one", DATA, map(), |_, scope| {
        scope.spawn(machine(|x: u8, _: &mut Scope<'_>| Ok(x)))
    });
    fn around<A: 'static>(
        inner: &Measurement<Data, ApproxDp, A>,
    ) -> Measurement<Data, ApproxDp, A> {
        inner.around(inner.map().clone(), |inner, data, scope| {
            inner.run(data, scope)
        })
    }
    let asks = |echo: &Echo| (0..1_000).take_while(|_| echo.ask(1).is_ok()).count();
    // Without post-processing, the analyst is counted.
    assert_eq!(asks(&open().launch(&around(&one)).unwrap()), 7);
    // The question is a message, too.
    let front = around(&one.postprocess_with(|| Often(0)));
    assert_eq!(open().launch(&front).unwrap().ask(()), Ok(6));
    let again = around(&around(&one.postprocess_with(|| Often(0))));
    assert_eq!(open().launch(&again).unwrap().ask(()), Ok(6));
    let closure = around(&one.postprocess(move |echo| asks(&echo)));
    assert_eq!(open().launch(&closure), Ok(7));
    // In a step of a machine that was handed out: one message is the question to it.
    let inside = one.postprocess(move |echo| asks(&echo));
    let later = inside.around(map(), |inner, data, scope| {
        let (inner, data) = (inner.clone(), Arc::clone(data));
        scope.spawn(machine(move |(), scope: &mut Scope<'_>| {
            inner.run(&data, scope)
        }))
    });
    assert_eq!(open().launch(&later).unwrap().ask(()), Ok(6));
    // The function's own asks are free before and after.
    let free = inside.around(map(), move |inner, data, scope| {
        let own = scope.spawn(machine(|x: u8, _: &mut Scope<'_>| Ok(x)))?;
        let before = asks(&own);
        let within = inner.run(data, scope)?;
        Ok([before, within, asks(&own)])
    });
    assert_eq!(open().launch(&free), Ok([1_000, 7, 1_000]));
}
