//! `transformation >> odometer` and `transformation >> filter` with OpenDP's transformations, and what crosses the bridge
//! one way and another: errors, threads, comparisons.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use measures::{Basic, LossError, MapError, PureDp};
use odometer::{LaunchError, Odometer, OpenError, Watch};
use opendp::{
    core::{Function, Measurement, PrivacyMap, StabilityMap, Transformation},
    domains::{AtomDomain, VectorDomain},
    err,
    error::Fallible,
    fallible,
    measurements::make_laplace,
    metrics::{AbsoluteDistance, DiscreteDistance, SymmetricDistance},
    transformations::{make_clamp, make_count, make_sum},
};
use opendp_bridge::{BridgeError, measurement, space, theirs::Pure, total_transformation};
use queryable::AskError;

use crate::support::{Any, coin};

type Numbers = VectorDomain<AtomDomain<i32>>;

fn any() -> Numbers {
    VectorDomain::new(AtomDomain::default())
}

fn up_to(top: i32) -> Fallible<Numbers> {
    Ok(VectorDomain::new(AtomDomain::new_closed((0, top))?))
}

fn noisy_sum(
    top: i32,
    scale: f64,
) -> impl Fn() -> Fallible<Measurement<Numbers, SymmetricDistance, Pure, i32>> + Send + Sync + 'static
{
    move || {
        let (number, metric) = (
            AtomDomain::<i32>::default(),
            AbsoluteDistance::<i32>::default(),
        );
        make_sum(up_to(top)?, SymmetricDistance)?
            >> make_laplace::<_, _, Pure>(number, metric, scale, None)?
    }
}

#[test]
fn a_transformation_then_an_odometer_then_a_filter() -> Result<(), Any> {
    let clamp = total_transformation(|| make_clamp(any(), SymmetricDistance, (0, 10)))?;
    let sum = measurement("noisy sum", noisy_sum(10, 20.0))?;
    let odometer = Odometer::new(clamp.output().clone(), Basic::new(PureDp));
    let pipeline = (&clamp >> &odometer)?;

    let session = pipeline.open(vec![5, 500])?;
    session.after.launch(&sum)?;
    assert_eq!(session.before.privacy_loss(&1)?.to_string(), "0.5");
    assert_eq!(session.before.privacy_loss(&3)?.to_string(), "1.5");

    let filtered = pipeline.filter(1, "1")?.invoke(vec![5, 500])?;
    filtered.launch(&sum)?;
    filtered.launch(&sum)?;
    assert!(matches!(
        filtered.launch(&sum),
        Err(LaunchError::Refused(_))
    ));
    Ok(())
}

#[test]
fn a_stability_map_multiplies() -> Result<(), Any> {
    let twice = total_transformation(|| {
        let both = |data: &Vec<i32>| [data.clone(), data.clone()].concat();
        let stability = StabilityMap::new_from_constant(2);
        Transformation::new(
            up_to(10)?,
            SymmetricDistance,
            up_to(10)?,
            SymmetricDistance,
            Function::new(both),
            stability,
        )
    })?;
    let sum = measurement("noisy sum", noisy_sum(10, 20.0))?;
    assert_eq!(twice.stability(&3)?, 6);
    assert_eq!((&twice >> &sum)?.map().loss(&1)?, "1".parse()?);
    let other = measurement("noisy sum", noisy_sum(11, 20.0))?;
    let mismatch = (&twice >> &other).unwrap_err().to_string();
    assert!(
        mismatch.contains("bounds=[0, 10]") && mismatch.contains("bounds=[0, 11]"),
        "{mismatch}"
    );
    Ok(())
}

#[test]
fn domains_metrics_and_their_parameters_are_compared() -> Result<(), Any> {
    let ten = measurement("noisy sum", noisy_sum(10, 20.0))?;
    let eleven = measurement("noisy sum", noisy_sum(11, 20.0))?;
    let session = Odometer::new(ten.space().clone(), Basic::new(PureDp)).open(vec![1, 2])?;
    assert!(matches!(
        session.launch(&eleven),
        Err(LaunchError::Space { .. })
    ));
    assert_eq!(session.privacy_loss(&1)?.to_string(), "0");
    // Data outside of the domain are refused at the door.
    let outside = Odometer::new(ten.space().clone(), Basic::new(PureDp)).open(vec![11]);
    assert!(matches!(outside, Err(OpenError::NotInSpace { .. })));
    Ok(())
}

/// A measurement that does nothing, with this map.
fn with_map(
    map: impl Fn(u32) -> Fallible<f64> + Copy + Send + Sync + 'static,
) -> Result<opendp_bridge::Imported<AtomDomain<bool>, DiscreteDistance, PureDp, bool>, BridgeError>
{
    measurement("nothing", move || {
        Measurement::new(
            AtomDomain::<bool>::default(),
            DiscreteDistance,
            Pure,
            Function::new(|x: &bool| *x),
            PrivacyMap::new_fallible(move |d_in: &u32| map(*d_in)),
        )
    })
}

#[test]
fn senseless_and_failing_maps_are_typed_errors_and_refuse_the_launch() -> Result<(), Any> {
    for senseless in [f64::NAN, -0.5, f64::NEG_INFINITY] {
        let measurement = with_map(move |_| Ok(senseless))?;
        let session = Odometer::new(measurement.space().clone(), Basic::new(PureDp))
            .filter(1, "1")?
            .invoke(true)?;
        let refused = session.launch(&measurement).unwrap_err();
        let LaunchError::Map {
            source: MapError::Senseless { distance, source },
            ..
        } = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!(distance, "1");
        assert!(matches!(source, LossError::Text { .. }));
        assert_eq!(session.remaining(&1)?, Some("1".parse()?));
    }
    let failing = with_map(|d_in| fallible!(FailedMap, "no idea at {}", d_in))?;
    let Err(MapError::Failed { reason, .. }) = failing.map().loss(&7) else {
        panic!();
    };
    assert_eq!(reason, "OpenDP: FailedMap: no idea at 7");
    let infinite = with_map(|_| Ok(f64::INFINITY))?;
    assert_eq!(infinite.map().loss(&1)?, "inf".parse()?);
    Ok(())
}

#[test]
fn of_an_error_at_release_only_the_operator_learns_the_kind_and_the_charge_stays() -> Result<(), Any>
{
    let leaky = measurement("leaky", || {
        Measurement::new(
            AtomDomain::<i32>::default(),
            DiscreteDistance,
            Pure,
            Function::new_fallible(|x: &i32| -> Fallible<i32> {
                fallible!(FailedCast, "the secret is {}", x)
            }),
            PrivacyMap::new(|_: &u32| 0.25),
        )
    })?;
    let kind = AskError::failed("OpenDP: FailedCast");
    let watch = Watch::new();
    let session = Odometer::new(leaky.space().clone(), Basic::new(PureDp))
        .watched(&watch)
        .open(42)?;
    let stopped = LaunchError::Stopped { charged: true };
    assert_eq!(session.launch(&leaky), Err(stopped));
    assert_eq!(watch.failures()[0].error, kind);
    assert_eq!(session.privacy_loss(&1)?.to_string(), "0.25");
    // Outside of any session it is the caller's own.
    assert_eq!(leaky.invoke(42), Err(LaunchError::Failed(kind)));
    Ok(())
}

#[test]
fn errors_at_construction_keep_their_text() {
    let bad = measurement("bad", || {
        opendp::measurements::make_randomized_response_bool(1.5, false)
    });
    let error = bad.unwrap_err();
    let BridgeError::Construction {
        kind,
        text: Some(text),
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!(kind, "MakeMeasurement");
    assert!(text.contains("probability") && error.to_string().ends_with(text.as_str()));
}

#[test]
fn a_constructor_that_changes_its_mind_is_refused() -> Result<(), Any> {
    let built = Arc::new(AtomicU32::new(0));
    let fickle = {
        let built = Arc::clone(&built);
        measurement("fickle", move || {
            let top = if built.fetch_add(1, Ordering::SeqCst) < 2 {
                10
            } else {
                11
            };
            noisy_sum(top, 20.0)()
        })?
    };
    // Twice to learn what it is; the third time it is something else.
    let session = Odometer::new(fickle.space().clone(), Basic::new(PureDp)).open(vec![1])?;
    let error = session.launch(&fickle).unwrap_err().to_string();
    assert!(error.contains("something else"), "{error}");
    Ok(())
}

#[test]
fn a_panic_is_contained_and_later_launches_on_the_thread_work() -> Result<(), Any> {
    let coin = coin(0.75);
    let fine = measurement("coin", move || Ok(coin.build().unwrap()))?;
    let broken = measurement("broken", || {
        Measurement::new(
            AtomDomain::<bool>::default(),
            DiscreteDistance,
            Pure,
            Function::new(|_: &bool| -> bool { panic!("in the mechanism") }),
            PrivacyMap::new(|_: &u32| 0.5),
        )
    })?;
    let odometer = Odometer::new(fine.space().clone(), Basic::new(PureDp));
    let (session, others) = (odometer.open(true)?, odometer.open(true)?);
    let stopped = LaunchError::Stopped { charged: true };
    assert_eq!(session.launch(&broken), Err(stopped));
    for _ in 0..3 {
        others.launch(&fine)?;
    }
    assert_eq!(others.launches()?.iter().map(|run| run.1).sum::<u64>(), 3);
    Ok(())
}

#[test]
fn code_that_sees_data_may_not_use_our_sessions_before_or_after_a_panic() -> Result<(), Any> {
    let odometer = Odometer::new(
        space(AtomDomain::<bool>::default(), DiscreteDistance)?,
        Basic::new(PureDp),
    );
    let session = odometer.open(true)?;
    let stolen = session.clone();
    let spy = measurement("spy", move || {
        let stolen = stolen.clone();
        Measurement::new(
            AtomDomain::<bool>::default(),
            DiscreteDistance,
            Pure,
            Function::new(move |_: &bool| {
                matches!(stolen.privacy_loss(&1), Err(LaunchError::Unusable(_)))
            }),
            PrivacyMap::new(|_: &u32| 0.5),
        )
    })?;
    let broken = measurement("broken", || {
        Measurement::new(
            AtomDomain::<bool>::default(),
            DiscreteDistance,
            Pure,
            Function::new(|_: &bool| -> bool { panic!("in the mechanism") }),
            PrivacyMap::new(|_: &u32| 0.5),
        )
    })?;
    assert_eq!(session.launch(&spy), Ok(true));
    for _ in 0..2 {
        let stopped = LaunchError::Stopped { charged: true };
        assert_eq!(odometer.open(true)?.launch(&broken), Err(stopped));
        assert_eq!(session.launch(&spy), Ok(true));
    }
    Ok(())
}

#[test]
fn two_threads_share_one_filter_and_spend_it_to_zero() -> Result<(), Any> {
    let count = measurement("noisy count", || {
        let (number, metric) = (
            AtomDomain::<i32>::default(),
            AbsoluteDistance::<i32>::default(),
        );
        make_count(any(), SymmetricDistance)?
            >> make_laplace::<_, _, Pure>(number, metric, 8.0, None)?
    })?;
    let session = Odometer::new(count.space().clone(), Basic::new(PureDp))
        .filter(1, "10")?
        .invoke(vec![1; 50])?;
    let answered: usize = std::thread::scope(|scope| {
        let ask = || (0..60).filter(|_| session.launch(&count).is_ok()).count();
        let threads = [scope.spawn(ask), scope.spawn(ask)];
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    });
    assert_eq!(answered, 80);
    assert_eq!(session.remaining(&1)?, Some("0".parse()?));
    Ok(())
}
