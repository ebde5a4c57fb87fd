//! How a launch is settled: which maps are asked, who is named, whose turn it is, and that nothing is locked when anybody's
//! destructor runs.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::observed::{Event, Observed, Observer};
use crate::common::*;
use measures::adaptive::TimeUniformBasic;
use measures::convert::PureToApprox;
use measures::{
    ApproxDp, ApproxZcdp, Basic, Epsilon, Interleaving, MapError, PrivacyMap, PureDp, Rule,
    Tallied, TimeUniform, Total, TotalLoss,
};
use odometer::{LaunchError, Measurement, Odometer, Session, TimeUniformOdometer};
use queryable::AskError;

/// A mechanism that costs 0.5 per unit of distance, and counts how often its map is asked.
fn asked(times: &Arc<AtomicUsize>) -> On<PureDp, ()> {
    let times = Arc::clone(times);
    let map = PrivacyMap::new(PureDp, move |d: &u32| {
        times.fetch_add(1, Ordering::SeqCst);
        Ok(Epsilon::new(loss::<exact::Exact>("0.5").times((*d).into())))
    });
    Measurement::new("asked", records(), map, |_, _| Ok(()))
}

#[test]
fn caps_at_many_distances_are_all_charged() {
    // More distances than a cost remembers: those of the last accounts are asked for again and again.
    let mut path = vec![open()];
    for d_in in [7, 6, 5, 4, 3, 2, 1, 1] {
        let above = path.last().unwrap();
        path.push(above.nested("inner").capped(d_in, "100").open().unwrap());
    }
    let times = Arc::new(AtomicUsize::new(0));
    let query = asked(&times);
    let leaf = path.last().unwrap();
    for launched in 1..=5_u64 {
        leaf.launch(&query).unwrap();
        assert_eq!(times.load(Ordering::SeqCst) as u64, 4 + 3 * launched);
        for session in &path[1..] {
            let spent = session.spent().unwrap().unwrap();
            let units = launched * u64::from(*session.cap().unwrap().0);
            let expected = loss::<exact::Exact>("0.5").times(units);
            assert_eq!(spent.bound().value(), &expected);
        }
    }
    for session in &path {
        assert_eq!(session.launches().unwrap()[0].1, 5);
    }
}

#[test]
fn remembered_prices_are_not_asked_for_again() {
    let root = filtered("100");
    let path = [3, 2, 1].map(|d_in| root.nested("inner").capped(d_in, "100").open().unwrap());
    let times = Arc::new(AtomicUsize::new(0));
    let query = asked(&times);
    for _ in 0..10 {
        path.iter()
            .for_each(|session| session.launch(&query).unwrap());
    }
    assert_eq!(times.load(Ordering::SeqCst), 3);
}

#[test]
fn every_map_is_asked_before_anybody_refuses() {
    let root = Odometer::new(records(), BASIC).filter(2, "100");
    let root = root.unwrap().invoke(vec![]).unwrap();
    let leaf = root.nested("leaf").capped(1, "1").halting().open();
    let leaf = leaf.unwrap();
    let map = PrivacyMap::new(PureDp, |d: &u32| match d {
        1 => Ok(loss("5")),
        _ => Err(MapError::failed(d, "not calibrated")),
    });
    let odd = Measurement::new("odd", records(), map, |_, _| Ok(()));
    assert!(matches!(leaf.launch(&odd), Err(LaunchError::Map { .. })));
    leaf.launch(&pure("0.5")).unwrap();
    refusal(leaf.launch(&pure("5")).unwrap_err());
    assert!(matches!(
        leaf.launch(&pure("0.5")),
        Err(LaunchError::Halted { .. })
    ));
}

thread_local! {
    /// Does the rule panic on this thread?
    static PANICS: Cell<bool> = const { Cell::new(false) };
    /// Are the sessions tried when a tally is dropped on this thread?
    static TRIES: Cell<bool> = const { Cell::new(false) };
}

/// A rule that panics when told to, and whose tallies try what they find when they are dropped.
type Probed = Observed<Arc<Probe>>;

#[derive(Debug, Default)]
struct Probe {
    sessions: Mutex<Vec<Session<Numbers, Probed>>>,
    free: AtomicUsize,
    locked: AtomicUsize,
}

impl Probe {
    /// Can another thread use all sessions?
    fn try_sessions(self: &Arc<Self>) {
        let (said, heard) = mpsc::channel();
        let sessions = self.sessions.lock().unwrap().clone();
        thread::spawn(move || {
            sessions.iter().for_each(|session| {
                session.spent().unwrap();
            });
            let _ = said.send(());
        });
        let found = match heard.recv_timeout(Duration::from_secs(20)) {
            Ok(()) => &self.free,
            Err(_) => &self.locked,
        };
        found.fetch_add(1, Ordering::SeqCst);
    }
}

impl Observer for Arc<Probe> {
    fn told(&self, event: Event) {
        if event == Event::Drop && TRIES.get() {
            self.try_sessions();
        }
    }

    fn told_of_limit(&self, limit: &Epsilon) {
        // The root's limit: those below have agreed.
        assert!(!PANICS.get() || *limit != loss("10"), "careless");
    }
}

#[test]
fn nothing_is_locked_when_a_tally_is_dropped() {
    let probe = Arc::new(Probe::default());
    let rule: Probed = Observed(Arc::clone(&probe));
    let root = Odometer::new(records(), rule).filter(1, "10");
    let root = root.unwrap().invoke(vec![]).unwrap();
    let middle = root.nested("inner").capped(1, "100").open().unwrap();
    let leaf = middle.nested("inner").capped(1, "1000").open().unwrap();
    *probe.sessions.lock().unwrap() = vec![root, middle, leaf.clone()];
    let tried = |query: &On<PureDp, ()>| {
        let before = probe.free.load(Ordering::SeqCst);
        TRIES.set(true);
        let launched = leaf.launch(query);
        TRIES.set(false);
        assert_eq!(probe.locked.load(Ordering::SeqCst), 0);
        (launched, probe.free.load(Ordering::SeqCst) - before)
    };
    let query = pure("1");
    // Each of three accounts drops its old tally; or the one that was computed, and the root that of its refusal.
    assert_eq!(tried(&query), (Ok(()), 3));
    assert_eq!(tried(&query), (Ok(()), 3));
    let (refused, dropped) = tried(&pure("20"));
    refusal(refused.unwrap_err());
    assert!(dropped >= 4, "{dropped}");
    PANICS.set(true);
    let (panicked, dropped) = tried(&query);
    PANICS.set(false);
    assert!(matches!(panicked, Err(LaunchError::RulePanicked { .. })));
    assert_eq!(dropped, 3);
    assert_eq!(tried(&query), (Ok(()), 3));
    probe.sessions.lock().unwrap().clear();
}

#[test]
fn the_account_whose_rule_panics_is_named() {
    let root = Odometer::new(records(), Basic::new(ApproxDp)).named("the root");
    let root = root.filter(1, "(1, 0)").unwrap();
    let root = root.invoke(vec![]).unwrap();
    let probed = root
        .nest_in(Observed(Arc::<Probe>::default()), PureToApprox)
        .unwrap();
    let careless = probed.nested("careless").capped(1, "10");
    let careless = careless.open().unwrap();
    let leaf = careless.nested("the leaf").capped(1, "5");
    let leaf = leaf.open().unwrap();
    PANICS.set(true);
    // On the way at once, and where prices have to be asked for.
    for query in [pure("0.1"), pure("0.1")] {
        for _ in 0..2 {
            let panicked = leaf.launch(&query).unwrap_err();
            assert_eq!(panicked.to_string(), "the rule of careless panicked");
        }
        PANICS.set(false);
        leaf.launch(&query).unwrap();
        PANICS.set(true);
    }
    PANICS.set(false);
    // Both measurements are equal, so they are one entry.
    assert_eq!(root.launches().unwrap()[0].1, 2);
}

#[test]
fn a_launch_has_its_turn_in_every_sequential_account() {
    let mut path = vec![filtered_with(Basic::new(ApproxZcdp), "(10, 1e-3)")];
    for _ in 0..9 {
        path.push(path.last().unwrap().nested("inner").open().unwrap());
    }
    let query = interactive(&flat(ApproxZcdp, "(0.1, 0)"));
    let leaf = path.last().unwrap();
    for session in &path {
        let first = leaf.launch(&query).unwrap();
        assert_eq!(first.ask(1), Ok(1));
        let second = session.launch(&query).unwrap();
        assert_eq!(first.ask(1), Err(AskError::OutOfTurn));
        assert_eq!(second.ask(1), Ok(1));
    }
}

/// A rule that is concurrent in the other sense.
#[derive(Clone, Debug)]
struct Both;

impl Rule for Both {
    type Child = PureDp;
    type Total = PureDp;
    const INTERLEAVING: Interleaving = Interleaving::Concurrent;
    fn child(&self) -> PureDp {
        PureDp
    }
    fn total(&self) -> PureDp {
        PureDp
    }
}

impl Tallied for Both {
    type Tally = <TimeUniformBasic as Tallied>::Tally;
    fn start(&self) -> Self::Tally {
        TimeUniformBasic.start()
    }
}

impl TimeUniform for Both {
    fn bound(&self, tally: &Self::Tally) -> Total<TotalLoss<Self>> {
        TimeUniformBasic.bound(tally)
    }
}

#[test]
fn a_time_uniform_session_is_sequential_whatever_its_rule_says() {
    let session = TimeUniformOdometer::new(records(), Both)
        .open(vec![1])
        .unwrap();
    let query = interactive(&pure("0.1"));
    let first = session.launch(&query).unwrap();
    let second = session.launch(&query).unwrap();
    assert_eq!(first.ask(1), Err(AskError::OutOfTurn));
    assert_eq!(second.ask(1), Ok(1));
    assert_eq!(session.bound(&1).unwrap().to_string(), "0.2");
}
