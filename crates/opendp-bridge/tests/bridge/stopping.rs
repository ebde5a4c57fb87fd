//! After the first failure on data, no imported measurement runs on them: not one that was charged before, not one in a
//! machine that was handed out before, not one whose constructor takes its time.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use measures::{Basic, PureDp};
use odometer::{
    LaunchError, Odometer, Watch,
    journal::{Books, Memory},
};
use odometry::continual::streams::Arriving;
use opendp::{
    combinators::make_adaptive_composition,
    core::{Function, Measurement, PrivacyMap},
    domains::{AtomDomain, VectorDomain},
    error::{ErrorVariant, Fallible},
    interactive::Queryable,
    metrics::SymmetricDistance,
};
use opendp_bridge::{Constructor, Imported, compositor, measurement, theirs::Pure};
use queryable::AskError;

use crate::support::Any;

type Numbers = VectorDomain<AtomDomain<u64>>;
type Theirs = Measurement<Numbers, SymmetricDistance, Pure, ()>;

const BITS: u32 = 12;
const SECRET: u64 = 0b1011_0100_1000;
/// The number of its lowest bit.
const FIRST: u64 = 3;
const STOPPED: LaunchError = LaunchError::Stopped { charged: true };

/// Which bits were looked at.
type Seen = Arc<AtomicU64>;

/// A measurement of loss zero that fails if and only if a bit of some record is set.
fn theirs(bit: u32, seen: &Seen) -> Fallible<Theirs> {
    let seen = Arc::clone(seen);
    let function = move |data: &Vec<u64>| {
        seen.fetch_or(1 << bit, Ordering::SeqCst);
        match data.iter().any(|x| x >> bit & 1 == 1) {
            true => Err(ErrorVariant::FailedFunction.into()),
            false => Ok(()),
        }
    };
    Measurement::new(
        VectorDomain::new(AtomDomain::default()),
        SymmetricDistance,
        Pure,
        Function::new_fallible(function),
        PrivacyMap::new(|_: &u32| 0.0),
    )
}

type Ours = Imported<Numbers, SymmetricDistance, PureDp, ()>;

fn picky(bit: u32, seen: &Seen) -> Result<Ours, Any> {
    let seen = Arc::clone(seen);
    Ok(measurement(format!("picky {bit}"), move || {
        theirs(bit, &seen)
    })?)
}

fn all(seen: &Seen) -> Result<Vec<Ours>, Any> {
    (0..BITS).map(|bit| picky(bit, seen)).collect()
}

/// The bits up to the first that is set.
const UP_TO_FIRST: u64 = (1 << (FIRST + 1)) - 1;

#[test]
fn of_imports_that_are_charged_together_none_runs_after_the_first_failure() -> Result<(), Any> {
    let (seen, survived) = (Seen::default(), Seen::default());
    let all: Vec<_> = all(&seen)?
        .into_iter()
        .enumerate()
        .map(|(bit, picky)| {
            let survived = Arc::clone(&survived);
            picky.postprocess(move |()| survived.fetch_or(1 << bit, Ordering::SeqCst))
        })
        .collect();
    let books = Books::new(Memory::new());
    let odometer = Odometer::new(all[0].space().clone(), Basic::new(PureDp)).named("org");
    let session = odometer.filter_on(&books, 1, "0", vec![SECRET])?;
    for (bit, answer) in session.launch_all(&all).into_iter().enumerate() {
        match bit as u64 {
            0..FIRST => assert!(answer.is_ok()),
            _ => assert_eq!(answer, Err(STOPPED)),
        }
    }
    assert_eq!(seen.load(Ordering::SeqCst), UP_TO_FIRST);
    assert_eq!(survived.load(Ordering::SeqCst), UP_TO_FIRST >> 1);
    Ok(())
}

#[test]
fn imports_in_machines_that_were_handed_out_do_not_run_after_the_first_failure() -> Result<(), Any>
{
    let (seen, watch) = (Seen::default(), Watch::new());
    let all = all(&seen)?;
    let later = Arriving::of(all[0].space().clone());
    let odometer = Odometer::new(later.clone(), Basic::new(PureDp)).watched(&watch);
    let session = odometer.filter(1, "0")?.invoke(())?;
    let machines = all.iter().map(|each| session.launch(&later.once(each)));
    let machines: Vec<_> = machines.collect::<Result<_, _>>()?;
    for (bit, machine) in machines.iter().enumerate() {
        let expected = match bit as u64 {
            0..FIRST => Ok(()),
            _ => Err(AskError::Halted),
        };
        assert_eq!(machine.ask(vec![SECRET]), expected);
    }
    assert_eq!(seen.load(Ordering::SeqCst), UP_TO_FIRST);
    assert_eq!(watch.failures()[0].by, "the OpenDP measurement `picky 3`");
    Ok(())
}

type Children = Measurement<Numbers, SymmetricDistance, Pure, Queryable<Theirs, ()>>;

/// A compositor for one child of loss zero, that says when it is on data.
fn children(seen: &Seen) -> Fallible<Children> {
    let seen = Arc::clone(seen);
    let function = move |data: &Vec<u64>| {
        seen.fetch_or(1, Ordering::SeqCst);
        let (domain, metric) = (VectorDomain::new(AtomDomain::default()), SymmetricDistance);
        make_adaptive_composition(domain, metric, Pure, 1, vec![0.0])?.invoke(data)
    };
    Measurement::new(
        VectorDomain::new(AtomDomain::default()),
        SymmetricDistance,
        Pure,
        Function::new_fallible(function),
        PrivacyMap::new(|_: &u32| 0.0),
    )
}

/// Constructors that end after the first failure: of a measurement, of an object, and of an object's child. All of them
/// were called after the flag had been read.
#[test]
fn an_import_that_was_being_built_does_not_run_after_the_first_failure() -> Result<(), Any> {
    for number in 0..3 {
        let watch = Watch::new();
        let fails = picky(FIRST as u32, &Seen::default())?;
        let odometer = Odometer::new(fails.space().clone(), Basic::new(PureDp)).watched(&watch);
        let session = odometer.filter(1, "0")?.invoke(vec![SECRET])?;
        let begun = Arc::new(Barrier::new(2));
        let (late, armed) = (Seen::default(), Arc::new(AtomicBool::new(false)));
        let wait = {
            let (begun, armed) = (Arc::clone(&begun), Arc::clone(&armed));
            move || {
                if armed.load(Ordering::SeqCst) {
                    begun.wait();
                    while watch.failures().is_empty() {
                        thread::yield_now();
                    }
                }
            }
        };
        let child = {
            let (seen, wait) = (Arc::clone(&late), wait.clone());
            move || {
                wait();
                theirs(0, &seen)
            }
        };
        let alone = measurement("alone", child.clone())?;
        let object = {
            let seen = Arc::clone(&late);
            compositor("object", move || {
                wait();
                children(&seen)
            })?
        };
        let opened = session.launch(&object)?;
        late.store(0, Ordering::SeqCst);
        armed.store(true, Ordering::SeqCst);
        thread::scope(|threads| {
            threads.spawn(|| match number {
                0 => assert_eq!(session.launch(&alone), Err(STOPPED)),
                1 => assert_eq!(session.launch(&object).err(), Some(STOPPED)),
                _ => assert_eq!(
                    opened.ask(Constructor::new(child.clone())),
                    Err(AskError::Halted)
                ),
            });
            begun.wait();
            assert_eq!(session.launch(&fails), Err(STOPPED));
        });
        assert_eq!(late.load(Ordering::SeqCst), 0, "{number}");
    }
    Ok(())
}
