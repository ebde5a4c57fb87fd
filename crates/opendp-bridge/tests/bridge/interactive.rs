//! OpenDP's interactive measurements and odometers as queryables of ours: threads, turns, panics, nesting.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use measures::{ApproxZcdp, Basic, PureDp};
use odometer::{LaunchError, Odometer};
use opendp::{
    combinators::{
        make_adaptive_composition, make_approximate, make_fully_adaptive_composition,
        make_pureDP_to_zCDP,
    },
    core::{Function, Measurement, OdometerAnswer, OdometerQuery, PrivacyMap},
    domains::AtomDomain,
    error::Fallible,
    interactive::Queryable as TheirQueryable,
    measurements::make_randomized_response_bool,
    metrics::DiscreteDistance,
};
use opendp_bridge::{
    Built, Constructor, Interactive, Plain, TheirCompositor, compositor, interactive,
    interactive_with, open_odometer,
    theirs::{Approximate, Concentrated, Pure},
};
use queryable::{AskError, Root};

use crate::support::{Any, Coin, coin};

fn bit() -> AtomDomain<bool> {
    AtomDomain::default()
}

type Compositor = Measurement<AtomDomain<bool>, DiscreteDistance, Pure, TheirQueryable<Coin, bool>>;

fn make_compositor(losses: Vec<f64>) -> Fallible<Compositor> {
    make_adaptive_composition(bit(), DiscreteDistance, Pure, 1, losses)
}

#[test]
fn a_compositor_is_asked_from_several_threads() -> Result<(), Any> {
    let four = compositor("four coins", || make_compositor(vec![1.1; 4]))?;
    let session = Odometer::new(four.space().clone(), Basic::new(PureDp)).open(true)?;
    let child = session.launch(&four)?;
    let coin = coin(0.75);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..2 {
                    child.ask(coin.clone()).unwrap();
                }
            });
        }
    });
    // "out of queries"
    assert_eq!(child.ask(coin), Err(AskError::Halted));
    assert!(session.privacy_loss(&1)?.to_string().starts_with("4.4"));
    Ok(())
}

#[test]
fn a_deprecated_name_still_goes_through() -> Result<(), Any> {
    #[allow(deprecated, reason = "it still yields a measurement")]
    let one = compositor("one coin", || {
        opendp::combinators::make_sequential_composition(
            bit(),
            DiscreteDistance,
            Pure,
            1,
            vec![1.1],
        )
    })?;
    one.invoke(true)?.ask(coin(0.75))?;
    Ok(())
}

#[test]
fn a_compositor_of_compositors() -> Result<(), Any> {
    let nested = interactive_with(
        "nested",
        PureDp,
        Interactive(Built, Interactive(Built, Plain)),
        || {
            make_adaptive_composition::<_, _, _, TheirQueryable<Coin, bool>>(
                bit(),
                DiscreteDistance,
                Pure,
                1,
                vec![2.2, 1.1],
            )
        },
    )?;
    let outer = nested.invoke(true)?;
    let two = outer.ask(Constructor::new(|| make_compositor(vec![1.1, 1.1])))?;
    let one = outer.ask(Constructor::new(|| make_compositor(vec![1.1])))?;
    // Pure privacy composes concurrently: both answer, in any order, after their parent is gone, too.
    drop(outer);
    two.ask(coin(0.75))?;
    one.ask(coin(0.75))?;
    two.ask(coin(0.75))?;
    assert!(one.ask(coin(0.75)).is_err());
    Ok(())
}

/// A coin in approximate zCDP, which composes only sequentially.
type SequentialCoin =
    Measurement<AtomDomain<bool>, DiscreteDistance, Approximate<Concentrated>, bool>;

fn sequential_coin() -> Constructor<SequentialCoin> {
    Constructor::new(|| {
        make_approximate(make_pureDP_to_zCDP(make_randomized_response_bool(
            0.6, false,
        )?)?)
    })
}

type SequentialPair =
    TheirCompositor<AtomDomain<bool>, DiscreteDistance, Approximate<Concentrated>, bool>;

fn sequential_pair() -> Fallible<SequentialPair> {
    make_adaptive_composition(
        bit(),
        DiscreteDistance,
        Approximate(Concentrated),
        1,
        vec![(0.5, 0.0), (0.5, 0.0)],
    )
}

#[test]
fn children_of_a_sequential_session_keep_to_its_turns() -> Result<(), Any> {
    let pair = compositor("pair", sequential_pair)?;
    let session = Odometer::new(pair.space().clone(), Basic::new(ApproxZcdp)).open(true)?;
    let first = session.launch(&pair)?;
    first.ask(sequential_coin())?;
    let second = session.launch(&pair)?;
    assert_eq!(first.ask(sequential_coin()), Err(AskError::OutOfTurn));
    second.ask(sequential_coin())?;
    Ok(())
}

fn bomb() -> Constructor<Coin> {
    Constructor::new(|| {
        Measurement::new(
            bit(),
            DiscreteDistance,
            Pure,
            Function::new(|_: &bool| -> bool { panic!("a bomb") }),
            PrivacyMap::new(|_: &u32| 0.1),
        )
    })
}

#[test]
fn a_panic_stops_what_is_on_the_same_data_and_nothing_else() -> Result<(), Any> {
    let three = compositor("three", || make_compositor(vec![1.1; 3]))?;
    let odometer = Odometer::new(three.space().clone(), Basic::new(PureDp));
    let (session, others) = (odometer.open(true)?, odometer.open(true)?);
    let (one, same) = (session.launch(&three)?, session.launch(&three)?);
    let other = others.launch(&three)?;
    one.ask(coin(0.75))?;
    assert_eq!(one.ask(bomb()), Err(AskError::Halted));
    // A hundred handles that were kept for this would tell a hundred things.
    for stopped in [one, same] {
        assert_eq!(stopped.ask(coin(0.75)), Err(AskError::Halted));
    }
    other.ask(coin(0.75))?;
    others.launch(&three)?.ask(coin(0.75))?;
    Ok(())
}

#[test]
fn a_loss_that_their_odometer_tells_is_exactly_their_float() -> Result<(), Any> {
    let odometer = open_odometer(&Root::from_os()?, PureDp, Plain, true, || {
        make_fully_adaptive_composition::<_, _, _, bool>(bit(), DiscreteDistance, Pure)
    })?;
    odometer.ask(OdometerQuery::Invoke(coin(0.75)))?;
    let OdometerAnswer::PrivacyLoss(loss) = odometer.ask(OdometerQuery::PrivacyLoss(1))? else {
        panic!();
    };
    let theirs = make_randomized_response_bool(0.75, false)?.map(&1)?;
    assert_eq!(loss, opendp_bridge::Correspondence::loss(&PureDp, &theirs)?);
    Ok(())
}

/// A constructor that waits for a thread which asks `handle`, and gives up soon.
fn waiting(handle: &CoinQueryable) -> Constructor<Coin> {
    let handle = handle.clone();
    let build = move || {
        let asked = std::thread::scope(|scope| scope.spawn(|| handle.ask(coin(0.75))).join());
        assert!(matches!(
            asked,
            Ok(Err(AskError::Failed(_) | AskError::Halted))
        ));
        make_randomized_response_bool(0.75, false)
    };
    Constructor::new(build).within(Duration::from_millis(100))
}

type CoinQueryable = queryable::Queryable<Constructor<Coin>, bool>;

fn is_overdue(asked: &Result<bool, AskError>) -> bool {
    matches!(asked, Err(AskError::Failed(text)) if text.contains("in time"))
}

#[test]
fn a_constructor_that_waits_for_a_thread_that_asks_the_same_object_is_given_up() -> Result<(), Any>
{
    let three = compositor("three", || make_compositor(vec![1.1; 3]))?;
    let handle = three.invoke(true)?;
    handle.ask(coin(0.75))?;
    let asked = handle.ask(waiting(&handle));
    assert!(is_overdue(&asked), "{asked:?}");
    assert!(handle.ask(coin(0.75)).is_err());
    Ok(())
}

#[test]
fn a_constructor_that_waits_for_a_thread_that_asks_a_neighbour_is_given_up() -> Result<(), Any> {
    let nested = interactive_with(
        "nested",
        PureDp,
        Interactive(Built, Interactive(Built, Plain)),
        || {
            make_adaptive_composition::<_, _, _, TheirQueryable<Coin, bool>>(
                bit(),
                DiscreteDistance,
                Pure,
                1,
                vec![2.2, 2.2],
            )
        },
    )?;
    let outer = nested.invoke(true)?;
    let build = Constructor::new(|| make_compositor(vec![1.1, 1.1]));
    let (one, neighbour) = (outer.ask(build.clone())?, outer.ask(build)?);
    let asked = one.ask(waiting(&neighbour));
    assert!(is_overdue(&asked), "{asked:?}");
    Ok(())
}

#[test]
fn a_constructor_that_takes_its_time_is_waited_for() -> Result<(), Any> {
    let one = compositor("one", || make_compositor(vec![1.1]))?.invoke(true)?;
    one.ask(Constructor::new(|| {
        std::thread::sleep(Duration::from_millis(200));
        make_randomized_response_bool(0.75, false)
    }))?;
    Ok(())
}

#[test]
fn the_thread_ends_with_the_last_handle() -> Result<(), Any> {
    // What lives on the thread holds this; when the thread has ended, it is gone.
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let odometer = open_odometer(&Root::from_os()?, PureDp, Plain, true, || {
        make_fully_adaptive_composition::<_, _, _, bool>(bit(), DiscreteDistance, Pure)
    })?;
    let holding = Constructor::new(move || {
        let held = Arc::clone(&held);
        Measurement::new(
            bit(),
            DiscreteDistance,
            Pure,
            Function::new(|x: &bool| *x),
            PrivacyMap::new(move |_: &u32| {
                let _held = &held;
                0.1
            }),
        )
    });
    odometer.ask(OdometerQuery::Invoke(holding))?;
    assert!(Arc::strong_count(&alive) > 1);
    let clone = odometer.clone();
    drop(odometer);
    clone.ask(OdometerQuery::PrivacyLoss(1))?;
    drop(clone);
    for _ in 0..1000 {
        if Arc::strong_count(&alive) == 1 {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the thread is still there");
}

#[test]
fn code_on_the_thread_may_not_use_our_sessions() -> Result<(), Any> {
    let session = Odometer::new(
        opendp_bridge::space(bit(), DiscreteDistance)?,
        Basic::new(PureDp),
    )
    .open(true)?;
    let stolen = session.clone();
    let seen = Arc::new(AtomicUsize::new(0));
    let witness = Arc::clone(&seen);
    let echo = Constructor::new(move || {
        let (stolen, witness) = (stolen.clone(), Arc::clone(&witness));
        Measurement::new(
            bit(),
            DiscreteDistance,
            Pure,
            Function::new(move |x: &bool| {
                let refused = matches!(stolen.privacy_loss(&1), Err(LaunchError::Unusable(_)));
                witness.fetch_add(usize::from(refused), Ordering::SeqCst);
                *x
            }),
            PrivacyMap::new(|_: &u32| 0.1),
        )
    });
    let one = compositor("one", || make_compositor(vec![1.0]))?;
    session.launch(&one)?.ask(echo)?;
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    Ok(())
}

#[test]
fn plain_messages() -> Result<(), Any> {
    // The only queryables of OpenDP's with plain messages that outsiders can get are made by post-processing.
    let plain = interactive("plain", || {
        make_compositor(vec![1.1, 1.1])?
            >> Function::new_fallible(|inner: &TheirQueryable<Coin, bool>| {
                use opendp::interactive::{FromPolyQueryable, IntoPolyQueryable};
                Ok(TheirQueryable::<u8, bool>::from_poly(
                    inner.clone().into_poly(),
                ))
            })
    })?;
    let child = plain.invoke(true)?;
    // The messages are of the wrong type for the compositor inside.
    assert_eq!(child.ask(7), Err(AskError::Halted));
    // The query went to the object itself, which may have read the data.
    let session = Odometer::new(plain.space().clone(), Basic::new(PureDp)).open(true)?;
    let child = session.launch(&plain)?;
    assert!(session.would_admit(&plain).is_ok());
    assert_eq!(child.ask(7), Err(AskError::Halted));
    let stopped = session.launch(&plain).map(drop);
    assert_eq!(stopped, Err(LaunchError::Stopped { charged: false }));
    Ok(())
}

/// A child whose launch goes wrong in some way, with a loss.
fn broken(loss: f64, way: fn() -> Fallible<bool>) -> Constructor<Coin> {
    Constructor::new(move || {
        Measurement::new(
            bit(),
            DiscreteDistance,
            Pure,
            Function::new_fallible(move |_: &bool| way()),
            PrivacyMap::new(move |_: &u32| loss),
        )
    })
}

fn failed() -> Fallible<bool> {
    make_randomized_response_bool(7.0, false).map(|_| true)
}

fn panicked() -> Fallible<bool> {
    panic!("a bomb")
}

#[test]
fn a_failure_inside_cannot_be_had_twice() -> Result<(), Any> {
    // OpenDP runs a child before it charges, so to OpenDP this one never happened.
    let mut theirs = make_compositor(vec![1.1])?.invoke(&true)?;
    let child = broken(1.1, failed).build()?;
    for _ in 0..100 {
        assert!(theirs.eval(&child).is_err());
    }
    theirs.eval(&make_randomized_response_bool(0.75, false)?)?;

    for way in [failed, panicked] {
        let one = compositor("one", || make_compositor(vec![1.1]))?.invoke(true)?;
        assert_eq!(one.ask(broken(1.1, way)), Err(AskError::Halted));
        assert_eq!(one.ask(coin(0.75)), Err(AskError::Halted));

        let odometer = open_odometer(&Root::from_os()?, PureDp, Plain, true, || {
            make_fully_adaptive_composition::<_, _, _, bool>(bit(), DiscreteDistance, Pure)
        })?;
        let launched = odometer.ask(OdometerQuery::Invoke(broken(1.1, way)));
        assert!(matches!(launched, Err(AskError::Halted)));
        // No loss is told that would leave it out.
        let loss = odometer.ask(OdometerQuery::PrivacyLoss(1));
        assert!(matches!(loss, Err(AskError::Halted)));
    }
    Ok(())
}

#[test]
fn too_expensive_looks_the_same_whether_it_failed_or_not() -> Result<(), Any> {
    let one = compositor("one", || make_compositor(vec![1.1]))?;
    for way in [failed, panicked, || Ok(true)] {
        let child = one.invoke(true)?;
        assert_eq!(child.ask(broken(100.0, way)), Err(AskError::Halted));
        assert_eq!(child.ask(coin(0.75)), Err(AskError::Halted));
    }
    Ok(())
}

#[test]
fn a_child_that_cannot_be_built_has_read_nothing_and_halts_nothing() -> Result<(), Any> {
    let one = compositor("one", || make_compositor(vec![1.1]))?.invoke(true)?;
    assert!(matches!(one.ask(coin(7.0)), Err(AskError::Failed(_))));
    one.ask(coin(0.75))?;
    Ok(())
}
