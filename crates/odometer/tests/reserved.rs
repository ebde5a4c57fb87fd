//! What keeps account inside of itself, on a journal: filters and compositors, however they are launched. Their launches are
//! written down before they run, and after a restart they are where they were.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;

use measures::fixed::OptimalPure;
use measures::{ApproxDp, Basic, PrivacyMap, PureDp, times};
use odometer::journal::{Books, Event, JournalError, Memory, Posted, Record, Terms};
use odometer::{
    ComposedBy, Composition, Compositor, Filter, LaunchError, Measurement, Odometer, Records,
    Session, Transformation,
};

type Query<A = usize> = Measurement<Records<i64>, PureDp, A>;
type Approximate = Session<Records<i64>, Basic<ApproxDp>>;
type Pure = Session<Records<i64>, Basic<PureDp>>;
type Slots = Composition<Records<i64>, OptimalPure>;

fn records() -> Records<i64> {
    Records::new()
}

fn query(epsilon: &str) -> Query {
    let map = PrivacyMap::per_record(PureDp, epsilon).unwrap();
    Measurement::new("query", records(), map, |data, _| Ok(data.len()))
}

fn in_approximate(journal: &Memory) -> Approximate {
    let odometer = Odometer::new(records(), Basic::new(ApproxDp)).named("all");
    let books = Books::new(journal.clone());
    odometer
        .filter_on(&books, 1, "(10, 1e-5)", vec![1, 2, 3])
        .unwrap()
}

fn in_pure(journal: &Memory) -> Pure {
    let odometer = Odometer::new(records(), Basic::new(PureDp)).named("all");
    let books = Books::new(journal.clone());
    odometer.filter_on(&books, 1, "1", vec![1, 2, 3]).unwrap()
}

fn restarted(journal: &Memory) -> Memory {
    Memory::replaying(&journal.records()).unwrap()
}

fn compositor(losses: &[&str]) -> Compositor<Records<i64>, OptimalPure> {
    let optimal = OptimalPure::new("1e-6").unwrap();
    Compositor::new(records(), optimal, 1, losses.iter().copied()).named("slots")
}

fn made(
    compositor: Compositor<Records<i64>, OptimalPure>,
) -> ComposedBy<Records<i64>, OptimalPure> {
    compositor.measurement().unwrap()
}

fn left(composition: &Slots) -> Vec<String> {
    let left = composition.left();
    left.iter().map(ToString::to_string).collect()
}

/// The slots that are written down, in order.
fn slots(journal: &Memory) -> Vec<u32> {
    let slot = |record: &Record| match &record.event {
        Event::Charge(charge) => match charge.postings.first()?.price {
            Posted::Slot { slot } => Some(slot),
            _ => None,
        },
        _ => None,
    };
    journal.records().iter().filter_map(slot).collect()
}

fn journal_error<X>(launched: Result<X, LaunchError>) -> JournalError {
    match launched {
        Err(LaunchError::Journal(error)) => *error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was launched"),
    }
}

fn filter(name: &str, budget: &str) -> Filter<Records<i64>, Basic<PureDp>> {
    let odometer = Odometer::new(records(), Basic::new(PureDp)).named(name);
    odometer.filter(1, budget).unwrap()
}

#[test]
fn a_slot_is_written_down_before_what_takes_it_runs() {
    let journal = Memory::new();
    let seen = journal.clone();
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let looks = Measurement::new("looks", records(), map, move |_, _| Ok(slots(&seen)));
    let session = in_approximate(&journal);
    let composition = session.launch(&made(compositor(&["0.1"; 3]))).unwrap();
    assert_eq!(composition.launch(&looks), Ok(vec![0]));
    assert_eq!(composition.launch(&looks), Ok(vec![0, 1]));
}

#[test]
fn a_composition_is_resumed_with_the_slots_that_are_left() {
    let journal = Memory::new();
    let slots_of = made(compositor(&["0.1", "0.3", "0.2", "0.1"]).in_any_order());
    let session = in_approximate(&journal);
    let spent = {
        let composition = session.launch(&slots_of).unwrap();
        composition.launch(&query("0.2")).unwrap();
        composition.launch(&query("0.1")).unwrap();
        session.spent().unwrap()
    };
    assert_eq!(slots(&journal), [2, 0]);
    assert!(matches!(
        journal_error(session.launch(&slots_of)),
        JournalError::Exists { path } if path == "all/slots"
    ));
    drop(session);

    let journal = restarted(&journal);
    let session = in_approximate(&journal);
    let composition = session.resume(&slots_of).unwrap();
    assert_eq!(left(&composition), ["0.3", "0.1"]);
    assert_eq!(session.spent().unwrap(), spent, "it is not charged again");
    // The same one, if it is open.
    let same = session.resume(&slots_of).unwrap();
    same.launch(&query("0.25")).unwrap();
    composition.launch(&query("0.1")).unwrap();
    assert!(matches!(
        same.launch(&query("0")),
        Err(LaunchError::NoSlot { .. })
    ));
    assert_eq!(slots(&journal), [2, 0, 1, 3]);
    drop((session, composition, same));

    let journal = restarted(&journal);
    let session = in_approximate(&journal);
    let composition = session.resume(&slots_of).unwrap();
    assert_eq!(left(&composition), [""; 0]);
    drop(composition);
    // Not with other slots, nor in another order, nor one that was never launched.
    for other in [
        compositor(&["0.1", "0.3", "0.2", "0.2"]).in_any_order(),
        compositor(&["0.1", "0.3", "0.2", "0.1"]),
    ] {
        let error = journal_error(session.resume(&made(other)));
        assert!(matches!(error, JournalError::OtherTerms { .. }), "{error}");
    }
    let never = made(compositor(&["0.1"]).named("never"));
    let error = journal_error(session.resume(&never));
    assert!(error.to_string().contains("launch it"), "{error}");
}

#[test]
fn a_compositor_without_a_name_is_refused_uncharged() {
    let journal = Memory::new();
    let session = in_approximate(&journal);
    let before = journal.records();
    for name in [None, Some("")] {
        let optimal = OptimalPure::new("1e-6").unwrap();
        let unnamed = Compositor::new(records(), optimal, 1, ["0.1"]);
        let unnamed = match name {
            None => unnamed,
            Some(name) => unnamed.named(name),
        };
        let error = journal_error(session.launch(&made(unnamed)));
        assert!(matches!(error, JournalError::Unnamed { .. }), "{error}");
    }
    assert_eq!(journal.records(), before);
    // Without a ledger it needs none.
    let optimal = OptimalPure::new("1e-6").unwrap();
    let unnamed = Compositor::new(records(), optimal, 1, ["0.1"]);
    made(unnamed)
        .invoke(vec![1])
        .unwrap()
        .launch(&query("0.1"))
        .unwrap();
}

#[test]
fn a_slot_in_doubt_does_not_run_and_stays_taken() {
    let journal = Memory::new();
    let session = in_approximate(&journal);
    let composition = session.launch(&made(compositor(&["0.1"; 2]))).unwrap();
    journal.fail_after(0);
    let doubtful = composition.launch(&query("0.1")).unwrap_err();
    assert!(
        doubtful.is_in_doubt() && doubtful.was_charged(),
        "{doubtful}"
    );
    assert_eq!(left(&composition), ["0.1"]);
    assert!(composition.launch(&query("0.1")).is_err(), "it is closed");
}

#[test]
fn threads_take_every_slot_once() {
    let journal = Memory::new();
    let session = in_approximate(&journal);
    let losses = vec!["0.01"; 60];
    let composition = session
        .launch(&made(compositor(&losses).in_any_order()))
        .unwrap();
    let together = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (composition, together) = (composition.clone(), Arc::clone(&together));
            thread::spawn(move || {
                together.wait();
                let launched = (0..30).filter(|_| composition.launch(&query("0.01")).is_ok());
                launched.count()
            })
        })
        .collect();
    let launched: usize = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    assert_eq!(launched, 60);
    let taken = slots(&journal);
    let different: BTreeSet<u32> = taken.iter().copied().collect();
    assert_eq!((taken.len(), different.len()), (60, 60));
}

#[test]
fn a_slot_that_was_taken_twice_is_damage() {
    let journal = Memory::new();
    let slots_of = made(compositor(&["0.1"; 2]));
    in_approximate(&journal)
        .launch(&slots_of)
        .unwrap()
        .launch(&query("0.1"))
        .unwrap();
    let mut forged = journal.records();
    forged.push(forged.last().unwrap().clone());
    let session = in_approximate(&Memory::replaying(&forged).unwrap());
    assert!(session.resume(&slots_of).is_err());
}

#[test]
fn a_filter_in_a_slot_is_resumed_from_there() {
    let journal = Memory::new();
    let slots_of = made(compositor(&["0.5", "0.1"]));
    let red = filter("red", "0.5");
    let inside = in_approximate(&journal)
        .launch(&slots_of)
        .unwrap()
        .launch(&red)
        .unwrap();
    inside.launch(&query("0.2")).unwrap();
    drop(inside);
    let journal = restarted(&journal);
    let session = in_approximate(&journal);
    let composition = session.resume(&slots_of).unwrap();
    assert_eq!(left(&composition), ["0.1"]);
    let inside = composition.resume(&red).unwrap();
    assert_eq!(inside.remaining(1).unwrap(), Some("0.3".parse().unwrap()));
    assert!(composition.resume(&filter("blue", "0.5")).is_err());
    assert!(composition.resume(&query("0.1")).is_err());
}

#[test]
fn a_filter_keeps_its_account_however_it_is_launched() {
    let journal = Memory::new();
    let session = in_pure(&journal);
    let named = filter("named", "0.1").named("another description");
    let processed = filter("processed", "0.2").postprocess(|session: Pure| (session, "handle"));
    session
        .launch(&named)
        .unwrap()
        .launch(&query("0.1"))
        .unwrap();
    session
        .launch(&processed)
        .unwrap()
        .0
        .launch(&query("0.1"))
        .unwrap();
    let erased = session.any().launch(&filter("erased", "0.2")).unwrap();
    erased.launch(&query("0.1")).unwrap();
    let together = [
        filter("one", "0.1"),
        filter("two", "0.1"),
        filter("one", "0.1"),
    ];
    let mut together = session.launch_all(&together);
    let again = together.pop().unwrap();
    assert!(matches!(journal_error(again), JournalError::Exists { .. }));
    for launched in together {
        launched.unwrap().launch(&query("0.05")).unwrap();
    }
    assert_eq!(session.remaining(1).unwrap(), Some("0.3".parse().unwrap()));
    drop((session, erased));

    let session = in_pure(&restarted(&journal));
    assert_eq!(session.remaining(1).unwrap(), Some("0.3".parse().unwrap()));
    let rest = |session: Pure| session.remaining(1).unwrap().text().unwrap();
    assert_eq!(rest(session.resume(&named).unwrap()), "0");
    assert_eq!(rest(session.resume(&processed).unwrap().0), "0.1");
    assert_eq!(
        rest(session.resume(&filter("erased", "0.2")).unwrap()),
        "0.1"
    );
    assert_eq!(rest(session.resume(&filter("one", "0.1")).unwrap()), "0.05");
    assert_eq!(rest(session.resume(&filter("two", "0.1")).unwrap()), "0.05");
}

#[test]
fn a_pipelines_filter_is_resumed_on_the_data_after() {
    let twice = Transformation::new(records(), records(), times(2), |data: &Vec<i64>| {
        Ok([data.clone(), data.clone()].concat())
    });
    let odometer = Odometer::new(records(), Basic::new(PureDp)).named("pipeline");
    let pipeline = (&twice >> &odometer).unwrap();
    let filter = pipeline.filter(1, "0.5").unwrap();
    let journal = Memory::new();
    let session = in_pure(&journal);
    let after = session.launch(&filter).unwrap();
    assert_eq!(after.launch(&query("0.1")), Ok(6));
    drop((after, session));

    let journal = restarted(&journal);
    let session = in_pure(&journal);
    assert_eq!(session.remaining(1).unwrap(), Some("0.5".parse().unwrap()));
    let after = session.resume(&filter).unwrap();
    // 0.2 of 0.5 are spent, at twice the price.
    assert_eq!(after.launch(&query("0.15")), Ok(6));
    assert!(matches!(
        after.launch(&query("0.01")),
        Err(LaunchError::Refused(_))
    ));
    let opened = |record: &Record| match &record.event {
        Event::Open(opening) => matches!(opening.terms, Terms::Account(_)),
        _ => false,
    };
    assert_eq!(
        journal
            .records()
            .iter()
            .filter(|record| opened(record))
            .count(),
        2
    );
}

#[test]
fn a_filter_that_another_measurement_runs_is_refused_uncharged() {
    let journal = Memory::new();
    let session = in_pure(&journal);
    let same = Transformation::new(records(), records(), times(1), |data: &Vec<i64>| {
        Ok(data.clone())
    });
    let behind = same.measure(&filter("red", "0.5")).unwrap();
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let around = filter("red", "0.5").around(map, |filter, data, scope| filter.run(data, scope));
    let before = journal.records();
    for hidden in [
        behind.clone(),
        around,
        behind.clone().named("another"),
        same.measure(&behind).unwrap(),
    ] {
        let error = journal_error(session.launch(&hidden).map(drop));
        assert!(error.to_string().contains("inside"), "{error}");
        assert!(session.resume(&hidden).is_err());
    }
    assert_eq!(journal.records(), before);
    // Without a ledger they are as they were.
    behind
        .invoke(vec![1])
        .unwrap()
        .launch(&query("0.1"))
        .unwrap();
}
