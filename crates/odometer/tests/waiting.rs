//! User-supplied rules and maps that take their time delay only the launches and questions that need them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::observed::{Event, Observed, Observer};
use crate::common::*;
use measures::{ApproxDp, Basic, Epsilon, PrivacyMap, PureDp, convert::PureToApprox};
use odometer::{Measurement, Odometer};

/// User-supplied code that says when it has begun, and waits until it may go on. Afterwards it does not wait again.
#[derive(Clone, Debug)]
struct Waits(Arc<Mutex<Option<Ends>>>);

/// One end sends that it has begun, and the other one lets it go on.
type Ends = (Sender<()>, Receiver<()>);

impl Waits {
    /// Code that does not wait yet.
    fn new() -> Self {
        Self(Arc::default())
    }

    /// From now on it waits once. Returns the ends for the test.
    fn arm(&self) -> (Receiver<()>, Sender<()>) {
        let ((begins, begun), (go_on, goes_on)) = (channel(), channel());
        *self.0.lock().unwrap() = Some((begins, goes_on));
        (begun, go_on)
    }

    fn wait(&self) {
        let first = self.0.lock().unwrap().take();
        if let Some((begins, goes_on)) = first {
            begins.send(()).unwrap();
            goes_on.recv_timeout(Duration::from_secs(60)).unwrap();
        }
    }
}

impl Observer for Waits {
    fn told(&self, event: Event) {
        if event == Event::Fits {
            self.wait();
        }
    }
}

#[test]
fn a_rule_that_takes_its_time_delays_no_sibling() {
    let root = filtered_with(Basic::new(ApproxDp), "(1, 1e-6)");
    let rule = Waits::new();
    let pure_below = root.nest_in(Observed(rule.clone()), PureToApprox).unwrap();
    let slow = pure_below.nested("slow").capped(1, "1").open().unwrap();
    let (begun, go_on) = rule.arm();
    let sibling = root
        .nested("sibling")
        .capped(1, "(1, 1e-6)")
        .open()
        .unwrap();
    thread::scope(|scope| {
        let launching = scope.spawn(|| slow.launch(&pure("0.1")));
        begun.recv_timeout(Duration::from_secs(60)).unwrap();
        // The rule of `slow` is asked now. Launches and questions elsewhere do not wait.
        sibling.launch(&flat(ApproxDp, "(0.2, 0)")).unwrap();
        root.launch(&flat(ApproxDp, "(0.3, 0)")).unwrap();
        assert_eq!(root.privacy_loss(1).unwrap().to_string(), "(0.5, 0)");
        assert_eq!(
            root.remaining(1).unwrap().text().unwrap(),
            "(0.5, 0.000001)"
        );
        go_on.send(()).unwrap();
        launching.join().unwrap().unwrap();
    });
    assert_eq!(root.privacy_loss(1).unwrap().to_string(), "(0.6, 0)");
}

/// A measurement whose map waits at this distance.
fn waiting_at(d_in: u32, waits: Waits) -> On<PureDp, ()> {
    let map = PrivacyMap::new(PureDp, move |at: &u32| {
        if *at == d_in {
            waits.wait();
        }
        Ok(loss::<Epsilon>("0.1"))
    });
    Measurement::new("waiting", records(), map, |_, _| Ok(()))
}

#[test]
fn a_map_that_takes_its_time_in_a_question_delays_no_launch() {
    let session = filtered("1");
    let team = session.nested("team").open().unwrap();
    let map = Waits::new();
    let (begun, go_on) = map.arm();
    team.launch(&waiting_at(2, map)).unwrap();
    thread::scope(|scope| {
        let asking = scope.spawn(|| spent(&session, 2));
        begun.recv_timeout(Duration::from_secs(60)).unwrap();
        team.launch(&pure("0.2")).unwrap();
        session.would_admit(&pure("0.7")).unwrap();
        assert_eq!(spent(&session, 1), loss("0.3"));
        assert_eq!(session.launches().unwrap().len(), 2);
        go_on.send(()).unwrap();
        asking.join().unwrap();
    });
    assert_eq!(spent(&session, 2), loss("0.5"));
}

#[test]
fn a_map_that_takes_its_time_at_a_launch_delays_no_other_launch() {
    let session = filtered("1");
    let map = Waits::new();
    let (begun, go_on) = map.arm();
    let slow = waiting_at(1, map);
    thread::scope(|scope| {
        let launching = scope.spawn(|| session.launch(&slow));
        begun.recv_timeout(Duration::from_secs(60)).unwrap();
        session.launch(&pure("0.2")).unwrap();
        assert_eq!(spent(&session, 1), loss("0.2"));
        go_on.send(()).unwrap();
        launching.join().unwrap().unwrap();
    });
    assert_eq!(spent(&session, 1), loss("0.3"));
}

#[test]
fn threads_that_ask_at_one_new_distance_share_one_reading() {
    const THREADS: usize = 4;
    let asked = Arc::new(AtomicUsize::new(0));
    let session = Odometer::new(records(), BASIC).open(vec![1]).unwrap();
    for _ in 0..100 {
        let asked = Arc::clone(&asked);
        let map = PrivacyMap::new(PureDp, move |_: &u32| {
            asked.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            Ok(loss::<Epsilon>("0.1"))
        });
        let query = Measurement::new("counting", records(), map, |_, _| Ok(()));
        session.launch(&query).unwrap();
    }
    for d_in in 1..=10 {
        let (barrier, before) = (Barrier::new(THREADS), asked.load(Ordering::SeqCst));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    assert_eq!(spent(&session, d_in), loss("10"));
                });
            }
        });
        assert_eq!(asked.load(Ordering::SeqCst) - before, 100, "every map once");
    }
}
