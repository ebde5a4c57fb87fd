//! Many launches of one measurement through many sessions: all accounts are exact, and no launch too many is admitted.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use exact::Exact;
use measures::{
    ApproxDp, ApproxZcdp, Basic, Epsilon, Loss as _, Measure, PrivacyMap, PureDp, SymmetricDistance,
};
use odometer::{LaunchError, Measurement, Odometer};
use proptest::prelude::*;
use queryable::{AskError, Queryable, Scope, machine};

use crate::common::observed::{Event, Observed, Observer};
use crate::common::{
    BASIC, On, PureSession, filtered, loss, open, open_with, pure, records, spent,
};

fn launched(session: &PureSession) -> u64 {
    let launches = session.launches().unwrap();
    launches.iter().map(|(_, count)| count).sum()
}

/// Launches up to so many times. Says how many were admitted; those come first.
fn launch(session: &PureSession, query: &On<PureDp, ()>, times: u64) -> u64 {
    let admitted = (0..times).take_while(|_| match session.launch(query) {
        Ok(()) => true,
        Err(LaunchError::Refused(_)) => false,
        Err(other) => panic!("{other}"),
    });
    admitted.count() as u64
}

fn units(n: u64) -> Epsilon {
    Epsilon::new(Exact::from(n))
}

/// A line of a script: where it launches, which measurement, how often, and whether a question follows.
type Line = (usize, usize, u64, bool);

fn lines() -> impl Strategy<Value = Vec<Line>> {
    proptest::collection::vec((0..5usize, 0..2usize, 1..60u64, any::<bool>()), 1..30)
}

proptest! {
    /// Whatever is launched through the top, through two sessions below it, one below those, and a part, the accounts admit what fits
    /// and know what they have admitted.
    #[test]
    fn accounts_know_what_they_have_admitted(lines in lines(), budget in 1..600u64, capped in any::<bool>()) {
        let top = if capped { filtered(&budget.to_string()) } else { open() };
        let budget = if capped { budget } else { u64::MAX };
        let below = ["one", "other"].map(|name| top.nested(name).open().unwrap());
        let deep = below[0].nested("deep").capped(1, "100").open().unwrap();
        let part = top.partition(|record: &i64| *record).unwrap().part(1).unwrap();
        let costs = [1, 2];
        let queries = costs.map(|cost| pure(&cost.to_string()));
        let (mut all, mut by) = (0, [0; 5]);
        for (through, which, times, asked) in lines {
            let session = [&top, &below[0], &below[1], &deep, &part][through];
            let fits = (budget - all) / costs[which];
            let fits = if through == 3 { fits.min((100 - by[3]) / costs[which]) } else { fits };
            let admitted = launch(session, &queries[which], times);
            prop_assert_eq!(admitted, times.min(fits));
            all += admitted * costs[which];
            by[through] += admitted * costs[which];
            if asked {
                prop_assert_eq!(spent(&top, 1), units(all));
            }
        }
        prop_assert_eq!(spent(&top, 1), units(all));
        prop_assert_eq!(spent(&below[0], 1), units(by[1] + by[3]));
        prop_assert_eq!(spent(&below[1], 1), units(by[2]));
        prop_assert_eq!(spent(&deep, 1), units(by[3]));
        if capped {
            prop_assert_eq!(top.remaining(&1).unwrap(), Some(units(budget - all)));
            prop_assert_eq!(top.spent().unwrap().unwrap().bound().clone(), units(all));
        }
    }
}

#[test]
fn hundreds_of_sessions_take_turns() {
    let top = filtered("7000");
    let query = pure("1");
    let sessions: Vec<PureSession> = (0..200)
        .map(|_| top.nested("inner").open().unwrap())
        .collect();
    for round in 1..=4 {
        for session in &sessions {
            assert_eq!(launch(session, &query, 8), 8);
        }
        assert_eq!(launched(&top), 1600 * round);
        assert_eq!(spent(&top, 1), units(1600 * round));
    }
    drop(sessions);
    assert_eq!(launch(&top, &query, 1000), 600);
    assert_eq!(launched(&top), 7000);
}

/// Launches of a session that was dropped stay charged above, and the rest of the budget is there.
#[test]
fn what_a_dropped_session_has_left_is_there() {
    let top = filtered("1000");
    let query = pure("1");
    let session = top.nested("inner").open().unwrap();
    assert_eq!(launch(&session, &query, 700), 700);
    drop(session);
    assert_eq!(launch(&top, &query, 700), 300);
    assert_eq!(spent(&top, 1), units(1000));
}

/// A launch within a limit sees the launches of all sessions below.
#[test]
fn limits_that_depend_on_what_was_launched_see_every_launch() {
    let top = open();
    let query = pure("1");
    let session = top.nested("inner").open().unwrap();
    assert_eq!(launch(&session, &query, 50), 50);
    assert!(top.launch_within(&query, &1, "50").is_err());
    top.launch_within(&query, &1, "51").unwrap();
    assert_eq!(launch(&session, &query, 50), 50);
    assert_eq!(top.loss_after(&query, &1).unwrap().bound(), &loss("102"));
    assert_eq!(launched(&top), 101);
}

/// A filter that has halted refuses launches of all sessions below.
#[test]
fn halted_is_halted_for_everybody() {
    let filter = Odometer::new(records(), BASIC)
        .halting()
        .filter(1, "1000")
        .unwrap();
    let top = filter.invoke(vec![1]).unwrap();
    let (query, dear) = (pure("1"), pure("1001"));
    let sessions = [(); 2].map(|()| top.nested("inner").open().unwrap());
    for session in &sessions {
        assert_eq!(launch(session, &query, 100), 100);
    }
    assert!(matches!(
        sessions[0].launch(&dear),
        Err(LaunchError::Refused(_))
    ));
    for session in sessions.iter().chain([&top]) {
        assert!(matches!(
            session.launch(&query),
            Err(LaunchError::Halted { .. })
        ));
    }
    assert_eq!(launched(&top), 200);
}

fn echo<M: Measure>(map: PrivacyMap<SymmetricDistance, M>) -> On<M, Queryable<u64, u64>> {
    Measurement::new("echo", records(), map, |_, scope| {
        scope.spawn(machine(|x: u64, _: &mut Scope<'_>| Ok(x)))
    })
}

/// Where launches take turns, every one takes its own, however many come in a row.
#[test]
fn in_a_row_launches_still_take_turns() {
    let session = open_with(Basic::new(ApproxZcdp));
    let inner = session.nested("inner").open().unwrap();
    let query = echo(PrivacyMap::new(ApproxZcdp, |_| Ok(loss("(0.1, 0)"))));
    for through in [&session, &inner] {
        let mut last = through.launch(&query).unwrap();
        for _ in 0..50 {
            let next = through.launch(&query).unwrap();
            assert_eq!(last.ask(1), Err(AskError::OutOfTurn));
            assert_eq!(next.ask(1), Ok(1));
            last = next;
        }
    }
}

/// Where communication is finite, it is so for every launch.
#[test]
fn in_a_row_launches_still_answer_so_many_messages() {
    let odometer = Odometer::new(records(), Basic::new(ApproxDp)).answering_at_most(3);
    let session = odometer.open(vec![1]).unwrap();
    let inner = session.nested("inner").open().unwrap();
    let query = echo(PrivacyMap::constant_up_to(ApproxDp, 1, "(0.1, 1e-9)").unwrap());
    for through in [&session, &inner] {
        for _ in 0..50 {
            let echo = through.launch(&query).unwrap();
            let answered = (0..10).filter(|_| echo.ask(1).is_ok()).count();
            assert_eq!(answered, 3);
        }
    }
}

/// Questions about a launch charge nothing, and refuse nothing that fits.
#[test]
fn asking_takes_nothing_away() {
    let top = filtered("500");
    let query = pure("1");
    let sessions = [(); 2].map(|()| top.nested("inner").open().unwrap());
    for round in 1..=250 {
        for session in &sessions {
            session.would_admit(&query).unwrap();
            assert_eq!(launch(session, &query, 1), 1, "round {round}");
        }
    }
    assert!(sessions[0].would_admit(&query).is_err());
}

/// Four threads launch through three sessions, some with another measurement between; a fifth asks all the time. Exactly
/// what fits is admitted, and no answer falls or counts what has not begun.
#[test]
fn threads_race_against_an_exact_budget() {
    for round in 0..10 {
        let top = filtered("20000");
        let one = pure("1");
        let map = PrivacyMap::per_record(PureDp, "1").unwrap();
        let other = Measurement::new("other", records(), map, |_, _| Ok(()));
        let sessions = [(); 2].map(|()| top.nested("inner").open().unwrap());
        let through = [&top, &sessions[0], &sessions[1], &sessions[1]];
        let (admitted, begun, ended) =
            (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            let launching = through.map(|session| {
                let (one, other, admitted, begun) = (&one, &other, &admitted, &begun);
                scope.spawn(move || {
                    for i in 0..8000u64 {
                        begun.fetch_add(1, Ordering::SeqCst);
                        let query = if i % 1000 == 999 { other } else { one };
                        admitted.fetch_add(launch(session, query, 1), Ordering::SeqCst);
                    }
                })
            });
            scope.spawn(|| {
                let mut last = units(0);
                while !ended.load(Ordering::SeqCst) {
                    let known = admitted.load(Ordering::SeqCst);
                    let now = spent(&top, 1);
                    assert!(last.at_most(&now), "a loss fell");
                    assert!(units(known).at_most(&now), "a launch was forgotten");
                    assert!(
                        now.at_most(&units(begun.load(Ordering::SeqCst))),
                        "too many"
                    );
                    last = now;
                    thread::yield_now();
                }
            });
            for thread in launching {
                thread.join().unwrap();
            }
            ended.store(true, Ordering::SeqCst);
        });
        assert_eq!(admitted.into_inner(), 20000, "round {round}");
        assert_eq!(launched(&top), 20000);
        assert_eq!(spent(&top, 1), units(20000));
    }
}

/// Has others launch while the rule is asked about a limit.
#[derive(Clone, Debug)]
struct Meanwhile(Arc<Mutex<Option<Sender<()>>>>, Arc<Mutex<Receiver<()>>>);

impl Observer for Meanwhile {
    fn told(&self, _: Event) {}

    fn told_of_limit(&self, _: &Epsilon) {
        let first = self.0.lock().unwrap().take();
        if let Some(others) = first {
            others.send(()).unwrap();
            self.1.lock().unwrap().recv().unwrap();
        }
    }
}

/// A launch within a limit was found to fit; then other threads launch. It does not fit any more.
#[test]
fn what_was_counted_since_a_question_counts() {
    let ((go, going), (gone, wait)) = (channel(), channel());
    let observer = Meanwhile(Arc::new(Mutex::new(Some(go))), Arc::new(Mutex::new(wait)));
    let session = open_with(Observed(observer));
    let query = pure("1");
    thread::scope(|scope| {
        let (others, unit) = (session.clone(), query.clone());
        scope.spawn(move || {
            going.recv().unwrap();
            (0..50).for_each(|_| others.launch(&unit).unwrap());
            gone.send(()).unwrap();
        });
        let refused = session.launch_within(&query, 1, "20");
        assert!(
            matches!(refused, Err(LaunchError::Refused(_))),
            "{refused:?}"
        );
    });
    assert_eq!(session.privacy_loss(1).unwrap().bound(), &units(50));
}
