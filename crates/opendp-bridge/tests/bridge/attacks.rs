//! Attacks on the bridge: what runs before it was admitted, and what is built in place of what was promised.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use measures::{Basic, PureDp};
use odometer::{LaunchError, Odometer, Watch};
use opendp::{
    combinators::{
        make_adaptive_composition, make_fully_adaptive_composition, make_privacy_filter,
    },
    core::{
        Function, Measurement, OdometerAnswer, OdometerQuery, PrivacyMap, StabilityMap,
        Transformation,
    },
    domains::{AtomDomain, VectorDomain},
    err,
    error::Fallible,
    fallible,
    interactive::Queryable as TheirQueryable,
    measurements::make_randomized_response_bool,
    metrics::{DiscreteDistance, SymmetricDistance},
};
use opendp_bridge::{
    Built, Constructor, Imported, Interactive, Plain, compositor, export, interactive_with,
    measurement, open_odometer, space, theirs::Pure, total_transformation,
};
use queryable::{AskError, Root};

use crate::support::{Any, Coin, coin};

type Bit = AtomDomain<bool>;

fn bit() -> Bit {
    Bit::default()
}

/// How often something was copied out.
type Copied = Arc<AtomicUsize>;

/// Randomized response that hardly ever lies (ε = 13.8), followed by a function that copies its input out.
fn copying(copied: &Copied) -> impl Fn() -> Fallible<Coin> + Clone + Send + Sync + 'static {
    let copied = Arc::clone(copied);
    move || {
        let copied = Arc::clone(&copied);
        let copy = move |bit: &bool| {
            copied.fetch_add(1, Ordering::SeqCst);
            *bit
        };
        make_randomized_response_bool(0.999_999, false)? >> Function::new(copy)
    }
}

fn two(
    losses: Vec<f64>,
) -> Fallible<Measurement<Bit, DiscreteDistance, Pure, TheirQueryable<Coin, bool>>> {
    make_adaptive_composition(bit(), DiscreteDistance, Pure, 1, losses)
}

#[test]
fn what_is_too_expensive_has_copied_nothing_at_any_door() -> Result<(), Any> {
    let copied = Copied::default();
    let build = copying(&copied);
    let theirs = build()?;
    assert!(theirs.map(&1)? > 13.8);

    // OpenDP's own filter refuses, and the copy is outside.
    let odometer = make_fully_adaptive_composition(bit(), DiscreteDistance, Pure)?;
    let mut filter = make_privacy_filter(odometer, 1, 1.0)?.invoke(&true)?;
    assert!(filter.invoke(theirs).is_err());
    assert_eq!(copied.swap(0, Ordering::SeqCst), 1);

    // Our filter around it, a cap below, a filter in a filter, a compositor of ours.
    let ours = measurement("copying", build.clone())?;
    let odometer = Odometer::new(ours.space().clone(), Basic::new(PureDp));
    let filter = odometer.filter(1, "1")?;
    let session = filter.invoke(true)?;
    let refused = |launched| matches!(launched, Err(LaunchError::Refused(_)));
    assert!(refused(session.launch(&ours)));
    assert!(refused(
        session
            .nested("inner")
            .capped(1, "0.5")
            .open()?
            .launch(&ours)
    ));
    assert!(refused(
        session
            .nested("inner")
            .open()?
            .launch(&ours.postprocess(|bit| bit))
    ));
    assert!(refused(session.launch(&filter)?.launch(&ours)));

    // OpenDP's compositors check first.
    let child = Constructor::new(build);
    let one = compositor("one", || two(vec![1.0]))?.invoke(true)?;
    assert_eq!(one.ask(child.clone()), Err(AskError::Halted));
    let nested = interactive_with(
        "nested",
        PureDp,
        Interactive(Built, Interactive(Built, Plain)),
        || {
            let losses = vec![1.0];
            make_adaptive_composition::<_, _, _, TheirQueryable<Coin, bool>>(
                bit(),
                DiscreteDistance,
                Pure,
                1,
                losses,
            )
        },
    )?;
    let inner = nested
        .invoke(true)?
        .ask(Constructor::new(|| two(vec![1.0])))?;
    assert_eq!(inner.ask(child.clone()), Err(AskError::Halted));

    // Ours in their compositor.
    let mut parent =
        make_adaptive_composition(bit(), DiscreteDistance, Pure, 1, vec![1.0])?.invoke(&true)?;
    let session = parent.eval(&export(&filter)?)??;
    assert!(refused(session.launch(&ours)));
    assert_eq!(copied.load(Ordering::SeqCst), 0);

    // An odometer of theirs has no budget, and promises none: it runs, then it tells.
    let odometer = open_odometer(&Root::from_os()?, PureDp, Plain, true, || {
        make_fully_adaptive_composition::<_, _, _, bool>(bit(), DiscreteDistance, Pure)
    })?;
    odometer.ask(OdometerQuery::Invoke(child))?;
    let OdometerAnswer::PrivacyLoss(loss) = odometer.ask(OdometerQuery::PrivacyLoss(1))? else {
        panic!();
    };
    assert!(loss.to_string().starts_with("13.8"));
    Ok(())
}

/// A measurement with a map that costs `loss` per unit, that counts how often it told the truth.
fn telling(loss: f64, ran: &Copied) -> Fallible<Coin> {
    let ran = Arc::clone(ran);
    let truth = move |bit: &bool| {
        ran.fetch_add(1, Ordering::SeqCst);
        *bit
    };
    Measurement::new(
        bit(),
        DiscreteDistance,
        Pure,
        Function::new(truth),
        PrivacyMap::new(move |d_in: &u32| loss * f64::from(*d_in)),
    )
}

/// Honest on this thread, and on all others what `elsewhere` builds.
fn drifting(
    elsewhere: impl Fn() -> Fallible<Coin> + Send + Sync + 'static,
) -> Result<Imported<Bit, DiscreteDistance, PureDp, bool>, Any> {
    let home = thread::current().id();
    Ok(measurement("drifting", move || {
        if thread::current().id() == home {
            telling(0.001, &Copied::default())
        } else {
            elsewhere()
        }
    })?)
}

fn is_unstable<T>(launched: &Result<T, LaunchError>) -> bool {
    let Err(LaunchError::Failed(AskError::Failed(text))) = launched else {
        return false;
    };
    text.contains("something else than before")
}

#[test]
fn a_constructor_that_promises_here_and_tells_there_does_not_tell() -> Result<(), Any> {
    let ran = Copied::default();
    let told = Arc::clone(&ran);
    let drifting = drifting(move || telling(13.8, &told))?;
    let session = Odometer::new(drifting.space().clone(), Basic::new(PureDp))
        .filter(1, "1")?
        .invoke(true)?;
    session.launch(&drifting)?;
    let there = thread::scope(|scope| scope.spawn(|| session.launch(&drifting)).join().unwrap());
    assert!(is_unstable(&there), "{there:?}");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    session.launch(&drifting)?;
    Ok(())
}

#[test]
fn a_promise_that_was_made_after_it_was_built_holds_for_it_too() -> Result<(), Any> {
    // Honest at distance 2, where it is asked first, and nowhere else.
    let ran = Copied::default();
    let told = Arc::clone(&ran);
    let drifting = drifting(move || {
        let ran = Arc::clone(&told);
        let truth = move |bit: &bool| {
            ran.fetch_add(1, Ordering::SeqCst);
            *bit
        };
        let map = PrivacyMap::new(|d_in: &u32| if *d_in == 2 { 0.002 } else { 13.8 });
        Measurement::new(bit(), DiscreteDistance, Pure, Function::new(truth), map)
    })?;
    let session = Odometer::new(drifting.space().clone(), Basic::new(PureDp))
        .filter(1, "1")?
        .invoke(true)?;
    let (asked, promised) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| -> Result<(), Any> {
        let there = scope.spawn(|| {
            let loss = drifting.map().loss(&2).map(|loss| loss.to_string());
            asked.wait();
            promised.wait();
            (loss, session.launch(&drifting))
        });
        asked.wait();
        assert_eq!(
            drifting.map().loss(&1)?,
            opendp_bridge::Correspondence::loss(&PureDp, &0.001)?
        );
        promised.wait();
        let (loss, launched) = there.join().unwrap();
        assert!(loss.is_ok_and(|loss| loss.starts_with("0.002")));
        assert!(is_unstable(&launched), "{launched:?}");
        Ok(())
    })?;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    Ok(())
}

#[test]
fn an_interactive_constructor_is_held_to_its_map() -> Result<(), Any> {
    let home = thread::current().id();
    let fickle = compositor("fickle", move || {
        let here = thread::current().id() == home;
        two(vec![if here { 0.001 } else { 13.8 }])
    })?;
    let session = Odometer::new(fickle.space().clone(), Basic::new(PureDp))
        .filter(1, "1")?
        .invoke(true)?;
    let launched = session.launch(&fickle);
    assert!(is_unstable(&launched), "{launched:?}");
    Ok(())
}

type Flip = Transformation<Bit, DiscreteDistance, Bit, DiscreteDistance>;

fn flip(stability: u32, function: Function<bool, bool>) -> Fallible<Flip> {
    let map = StabilityMap::new_from_constant(stability);
    Transformation::new(
        bit(),
        DiscreteDistance,
        bit(),
        DiscreteDistance,
        function,
        map,
    )
}

#[test]
fn a_stability_map_is_held_to_what_it_said() -> Result<(), Any> {
    let home = thread::current().id();
    let fickle = total_transformation(move || {
        let here = thread::current().id() == home;
        flip(
            if here { 1 } else { 1000 },
            Function::new(|bit: &bool| !bit),
        )
    })?;
    assert_eq!(fickle.stability(&1)?, 1);
    assert_eq!(fickle.apply(&true), Ok(false));
    let there = thread::scope(|scope| scope.spawn(|| fickle.apply(&true)).join().unwrap());
    assert!(matches!(there, Err(AskError::Failed(text)) if text.contains("something else")));
    Ok(())
}

#[test]
fn a_transformation_that_is_not_total_fails_like_one_of_ours() -> Result<(), Any> {
    let fails = total_transformation(|| {
        flip(
            1,
            Function::new_fallible(|bit: &bool| {
                if *bit {
                    fallible!(FailedFunction, "a secret")
                } else {
                    Ok(true)
                }
            }),
        )
    })?;
    assert_eq!(fails.apply(&false), Ok(true));
    assert_eq!(
        fails.apply(&true),
        Err(AskError::failed("OpenDP: FailedFunction"))
    );
    let panics = total_transformation(|| {
        flip(
            1,
            Function::new(|bit: &bool| if *bit { panic!("a bomb") } else { true }),
        )
    })?;
    assert_eq!(panics.apply(&false), Ok(true));
    assert_eq!(panics.apply(&true), Err(AskError::Panicked));
    assert_eq!(panics.apply(&false), Ok(true));
    Ok(())
}

type Records = VectorDomain<AtomDomain<i32>>;
type Told = Measurement<Records, SymmetricDistance, Pure, usize>;

fn records() -> Records {
    VectorDomain::new(AtomDomain::default())
}

/// A pipeline of OpenDP's, of loss zero, that fails (or panics) iff the value is in the data.
fn fails_on(value: i32, panics: bool) -> impl Fn() -> Fallible<Told> + Send + Sync + 'static {
    let function = move |data: &Vec<i32>| match data.contains(&value) {
        true if panics => std::panic::resume_unwind(Box::new("it is there")),
        true => fallible!(FailedFunction, "it is there"),
        false => Ok(data.clone()),
    };
    move || {
        let changes = Transformation::new(
            records(),
            SymmetricDistance,
            records(),
            SymmetricDistance,
            Function::new_fallible(function),
            StabilityMap::new_from_constant(1),
        )?;
        let nothing = Function::new(|_: &Vec<i32>| 0);
        let free = PrivacyMap::new(|_: &u32| 0.0);
        changes >> Measurement::new(records(), SymmetricDistance, Pure, nothing, free)?
    }
}

/// Asks for every value below a hundred, and says which were found.
fn found(asks: impl Fn(i32) -> bool) -> Vec<i32> {
    (0..100).filter(|value| asks(*value)).collect()
}

#[test]
fn pipelines_that_fail_on_data_tell_one_record_and_not_all() -> Result<(), Any> {
    for panics in [false, true] {
        let given = |value| measurement("pipeline", fails_on(value, panics));
        let watch = Watch::new();
        let session = Odometer::new(given(-1)?.space().clone(), Basic::new(PureDp))
            .watched(&watch)
            .filter(1, "0")?
            .invoke(vec![3, 31, 41, 59, 97])?;
        let found = found(|value| {
            let launched = session.launch(&given(value).unwrap());
            launched.is_err_and(|error| error.was_charged())
        });
        assert_eq!(found, [3], "and then everything has stopped");
        assert_eq!(watch.failures()[0].by, "the OpenDP measurement `pipeline`");
    }
    Ok(())
}

#[test]
fn children_that_fail_on_data_tell_one_record_and_not_all() -> Result<(), Any> {
    let free = compositor("free", || {
        let losses = vec![0.0];
        make_adaptive_composition::<_, _, _, usize>(records(), SymmetricDistance, Pure, 1, losses)
    })?;
    for panics in [false, true] {
        let watch = Watch::new();
        let odometer = Odometer::new(free.space().clone(), Basic::new(PureDp)).watched(&watch);
        let filter = odometer.filter(1, "0")?;
        let session = filter.invoke(vec![3, 31, 41, 59, 97])?;
        let ask = |build| -> Result<_, LaunchError> {
            let child = Constructor::<Told>::new(build);
            Ok(session.launch(&free)?.ask(child))
        };
        // What is refused has read nothing, and stops nothing.
        let build = fails_on(3, panics);
        let expensive = move || -> Fallible<Told> {
            let child = build()?;
            Measurement::new(
                records(),
                SymmetricDistance,
                Pure,
                child.function.clone(),
                PrivacyMap::new(|_: &u32| 0.1),
            )
        };
        let child = Constructor::new(expensive);
        assert_eq!(session.launch(&free)?.ask(child), Err(AskError::Halted));
        assert!(watch.failures().is_empty());

        let found = found(|value| matches!(ask(fails_on(value, panics)), Ok(Err(_))));
        assert_eq!(found, [3], "and then everything has stopped");
        assert_eq!(watch.failures()[0].by, "a child of an OpenDP object");
        let stopped = LaunchError::Stopped { charged: false };
        assert_eq!(session.launch(&free).err(), Some(stopped));
    }
    Ok(())
}

#[test]
fn of_children_under_way_none_is_answered() -> Result<(), Any> {
    let free = compositor("free", || two(vec![0.0]))?;
    let session = Odometer::new(free.space().clone(), Basic::new(PureDp)).open(true)?;
    let (patient, fails) = (session.launch(&free)?, session.launch(&free)?);
    let barriers = Arc::new([Barrier::new(2), Barrier::new(2)]);
    // Harmless, and under way while the other fails.
    let waits = Arc::clone(&barriers);
    let waits = Constructor::new(move || {
        let waits = Arc::clone(&waits);
        let wait = move |_: &bool| {
            waits.iter().all(|barrier| {
                barrier.wait();
                true
            })
        };
        let map = PrivacyMap::new(|_: &u32| 0.0);
        Measurement::new(bit(), DiscreteDistance, Pure, Function::new(wait), map)
    });
    let failing = Constructor::new(|| {
        let fail = |_: &bool| fallible!(FailedFunction, "it is there");
        let map = PrivacyMap::new(|_: &u32| 0.0);
        Measurement::new(
            bit(),
            DiscreteDistance,
            Pure,
            Function::new_fallible(fail),
            map,
        )
    });
    let under_way = thread::spawn(move || patient.ask(waits));
    barriers[0].wait();
    assert_eq!(fails.ask(failing), Err(AskError::Halted));
    barriers[1].wait();
    assert_eq!(under_way.join().unwrap(), Err(AskError::Halted));
    Ok(())
}

#[test]
fn panics_of_maps_and_constructors_are_typed_errors_and_charge_nothing() -> Result<(), Any> {
    let bomb = measurement("bomb", || {
        let map = PrivacyMap::new(|_: &u32| -> f64 { panic!("in the map") });
        Measurement::new(
            bit(),
            DiscreteDistance,
            Pure,
            Function::new(|bit: &bool| *bit),
            map,
        )
    })?;
    let session = Odometer::new(space(bit(), DiscreteDistance)?, Basic::new(PureDp))
        .filter(1, "3")?
        .invoke(true)?;
    let launched = session.launch(&bomb).unwrap_err();
    assert!(matches!(&launched, LaunchError::Map { .. }), "{launched}");
    assert!(launched.to_string().contains("panicked"));

    let nothing = measurement("nothing", || -> Fallible<Coin> {
        panic!("in the constructor")
    });
    assert_eq!(
        nothing.map(drop),
        Err(opendp_bridge::BridgeError::ConstructorPanicked)
    );
    // On another thread, where it is built again.
    let home = thread::current().id();
    let homely = measurement("homely", move || {
        assert_eq!(thread::current().id(), home, "not at home");
        make_randomized_response_bool(0.75, false)
    })?;
    session.launch(&homely)?;
    let there = thread::scope(|scope| {
        let launch = || {
            let away = session.launch(&homely);
            // And the thread is as good as before.
            let fine = measurement("coin", || make_randomized_response_bool(0.75, false));
            (away, fine.map(|fine| session.launch(&fine).is_ok()))
        };
        scope.spawn(launch).join().unwrap()
    });
    let panicked = AskError::failed("the constructor panicked");
    assert_eq!(there.0, Err(LaunchError::Failed(panicked.clone())));
    // Of the filter's 3, two launches of ln 3 were charged.
    assert_eq!(there.1, Ok(false));

    // A child that cannot be built has read nothing.
    let one = compositor("one", || two(vec![1.1]))?.invoke(true)?;
    let child = Constructor::<Coin>::new(|| panic!("in the constructor"));
    assert_eq!(one.ask(child), Err(panicked));
    one.ask(coin(0.75))?;
    Ok(())
}
