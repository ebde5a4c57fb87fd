//! The threads of interactive OpenDP objects, and how many an account, a data set and the process may hold. One test, alone in its
//! process: it counts threads.

use std::{thread, time::Duration};

use measures::{Basic, PureDp};
use odometer::{LaunchError, Measurement, Odometer, Session};
use opendp::{
    combinators::make_adaptive_composition,
    core::{Function, Measurement as TheirMeasurement, PrivacyMap},
    domains::AtomDomain,
    metrics::DiscreteDistance,
};
use opendp_bridge::{Constructor, OpendpSpace, compositor, theirs::Pure};
use queryable::{Queryable, ThreadLimits};

type Any = Box<dyn std::error::Error>;
type Coin = TheirMeasurement<AtomDomain<bool>, DiscreteDistance, Pure, bool>;
type Bit = OpendpSpace<AtomDomain<bool>, DiscreteDistance>;
type Handle = Queryable<Constructor<Coin>, bool>;
type Two = Measurement<Bit, PureDp, Handle>;
type On = Session<Bit, Basic<PureDp>>;

/// What is launched here until it is refused, and the reason.
fn all(session: &On, measurement: &Two) -> (Vec<Handle>, String) {
    let before = session.privacy_loss(&1).unwrap();
    let mut kept = Vec::new();
    loop {
        match session.launch(measurement) {
            Ok(handle) => kept.push(handle),
            Err(refused) => {
                assert!(matches!(refused, LaunchError::NotReady { .. }), "{refused}");
                assert!(!refused.was_charged());
                let now = session.privacy_loss(&1).unwrap();
                assert_eq!(kept.is_empty(), now == before, "each launch was charged");
                return (kept, refused.to_string());
            }
        }
        assert!(kept.len() <= 1024);
    }
}

/// A thread ends a moment after its last handle.
fn launches_soon(session: &On, measurement: &Two) -> Handle {
    for _ in 0..2000 {
        match session.launch(measurement) {
            Ok(handle) => return handle,
            Err(refused) => assert!(!refused.was_charged()),
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("there is no room");
}

#[test]
fn one_account_or_data_set_leaves_threads_to_others_and_a_refusal_is_not_charged() -> Result<(), Any>
{
    let two = compositor("two", || {
        make_adaptive_composition::<_, _, _, bool>(
            AtomDomain::<bool>::default(),
            DiscreteDistance,
            Pure,
            1,
            vec![0.5, 0.5],
        )
    })?;
    let odometer = Odometer::new(two.space().clone(), Basic::new(PureDp));
    let organisation = odometer.clone().named("the organisation").open(true)?;
    let other = odometer.clone().named("another").open(false)?;
    let (red, blue) = (
        organisation.nested("red").open()?,
        organisation.nested("blue").open()?,
    );

    // A team, also through what it opens below itself, holds 64.
    let mut kept = vec![red.launch(&two)?];
    let project = red.nested("project").open()?;
    kept.extend(all(&project, &two).0);
    assert_eq!(kept.len(), 64);
    for below in [&red, &project, &project.nested("deeper").open()?] {
        let (none, why) = all(below, &two);
        assert!(
            none.is_empty() && why.contains("the account `red`"),
            "{why}"
        );
        assert!(why.contains("ThreadLimits::account"), "{why}");
        let would = below.would_admit(&two).unwrap_err();
        assert_eq!(would.to_string(), why);
    }
    // Whatever is made from it is refused, too.
    let more = two.postprocess(|handle| handle);
    assert!(matches!(
        red.launch(&more),
        Err(LaunchError::NotReady { .. })
    ));

    // A filter that a team launched belongs to the team.
    let filter = odometer.clone().named("reserved").filter(1, "2")?;
    let reserved = red.launch(&filter)?;
    assert!(all(&reserved, &two).1.contains("the account `red`"));
    let reserved = blue.launch(&filter)?;
    kept.push(reserved.launch(&two)?);
    kept.extend(all(&blue, &two).0);
    assert_eq!(kept.len(), 128);

    // All sessions on the data hold 256.
    kept.extend(all(&organisation, &two).0);
    assert_eq!(kept.len(), 256);
    let why = all(&organisation, &two).1;
    assert!(why.contains("the data set of `the organisation`"), "{why}");
    assert!(why.contains("ThreadLimits::data_set"), "{why}");
    let green = organisation.nested("green").open()?;
    assert!(all(&green, &two).1.contains("the data set of"));

    // On other data there is room, until there is none in the process.
    let mut held = vec![other.launch(&two)?];
    held.extend(all(&other, &two).0);
    assert_eq!(held.len(), 256);
    for _ in 0..2 {
        held.extend(all(&odometer.open(true)?, &two).0);
    }
    assert_eq!(kept.len() + held.len(), 1024);
    let fifth = odometer.open(true)?;
    let why = all(&fifth, &two).1;
    assert!(why.contains("ThreadLimits::process"), "{why}");

    // Those that are kept answer.
    let coin = Constructor::<Coin>::new(|| {
        opendp::measurements::make_randomized_response_bool(0.6, false)
    });
    for handle in kept.iter().chain(&held) {
        handle.ask(coin.clone())?;
    }
    // A thread that ends makes room: when its handle is dropped, and when its object panics.
    drop(held.pop());
    let last = launches_soon(&fifth, &two);
    assert!(fifth.launch(&two).is_err());
    let panics = Constructor::<Coin>::new(|| {
        TheirMeasurement::new(
            AtomDomain::<bool>::default(),
            DiscreteDistance,
            Pure,
            Function::new_fallible(|_: &bool| panic!("as planned")),
            PrivacyMap::new(|_: &u32| 0.0),
        )
    });
    assert!(last.ask(panics).is_err());
    let stopped = matches!(
        fifth.launch(&two),
        Err(LaunchError::Stopped { charged: false })
    );
    assert!(stopped, "OpenDP's code has failed on these data");
    let sixth = odometer.open(true)?;
    let also = launches_soon(&sixth, &two);
    assert!(sixth.launch(&two).is_err());
    drop((held, last, also));

    // The same for a data set and an account. Both red and the data set are full.
    let red_only = kept.remove(0);
    assert!(all(&green, &two).0.is_empty());
    drop(red_only);
    kept.push(launches_soon(&green, &two));
    drop(kept.pop());
    kept.push(launches_soon(&red, &two));
    assert!(all(&red, &two).1.contains("the account `red`"));

    // The limits are in use.
    let asked = ThreadLimits {
        process: 2000,
        ..ThreadLimits::default()
    };
    assert!(!asked.set());
    assert_eq!(ThreadLimits::current(), ThreadLimits::default());
    Ok(())
}
