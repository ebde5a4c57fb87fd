//! Threads that race against exact budgets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{PureSession, counted, filtered, loss, open, pure, spent};
use measures::Epsilon;
use odometer::LaunchError;

fn race(sessions: &[PureSession], each: impl Fn(&PureSession, usize) + Sync) {
    thread::scope(|scope| {
        for (number, session) in sessions.iter().enumerate() {
            let each = &each;
            scope.spawn(move || each(session, number));
        }
    });
}

#[test]
fn exactly_as_many_launches_are_admitted_as_fit() {
    for round in 0..40 {
        let session = filtered("1");
        let runs = Arc::new(AtomicUsize::new(0));
        let (admitted, query) = (AtomicUsize::new(0), counted("0.01", &runs));
        race(&vec![session.clone(); 4], |session, _| {
            for _ in 0..40 {
                match session.launch(&query) {
                    Ok(()) => drop(admitted.fetch_add(1, Ordering::SeqCst)),
                    Err(LaunchError::Refused(_)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        });
        assert_eq!(admitted.into_inner(), 100, "round {round}");
        assert_eq!(runs.load(Ordering::SeqCst), 100);
        assert_eq!(session.remaining(&1).unwrap(), Some(loss("0")));
        assert_eq!(spent(&session, 1), loss("1"));
    }
}

#[test]
fn nested_caps_admit_exactly_as_many_as_the_tightest_of_them() {
    for _ in 0..20 {
        let organisation = filtered("1");
        let teams = ["0.5", "0.3", "0.7"]
            .map(|cap| organisation.nested("inner").capped(1, cap).open().unwrap());
        let sessions: Vec<PureSession> = teams
            .iter()
            .flat_map(|team| {
                [
                    team.nested("inner").open().unwrap(),
                    team.nested("inner").open().unwrap(),
                ]
            })
            .collect();
        let admitted: Vec<AtomicUsize> = (0..6).map(|_| AtomicUsize::new(0)).collect();
        let query = pure("0.01");
        race(&sessions, |session, number| {
            for _ in 0..80 {
                if session.launch(&query).is_ok() {
                    admitted[number].fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        let admitted: Vec<u64> = admitted
            .iter()
            .map(|n| n.load(Ordering::SeqCst) as u64)
            .collect();
        let of_team = |team: usize| admitted[2 * team] + admitted[2 * team + 1];
        assert_eq!(
            of_team(0) + of_team(1) + of_team(2),
            100,
            "the organisation is spent to zero"
        );
        for (number, team) in teams.iter().enumerate() {
            let charged = Epsilon::new(loss::<Epsilon>("0.01").value().times(of_team(number)));
            assert_eq!(spent(team, 1), charged);
        }
        for (session, admitted) in sessions.iter().zip(admitted) {
            assert_eq!(
                spent(session, 1),
                Epsilon::new(loss::<Epsilon>("0.01").value().times(admitted))
            );
        }
        assert_eq!(organisation.remaining(&1).unwrap(), Some(loss("0")));
    }
}

#[test]
fn spending_the_rest_is_one_operation() {
    for _ in 0..40 {
        let session = filtered("1");
        let (tenth, rest) = (pure("0.1"), AtomicUsize::new(0));
        race(&vec![session.clone(); 4], |session, number| {
            if number == 0 {
                session
                    .spend_rest(&1, |left| pure(&left.to_string()))
                    .unwrap();
                rest.fetch_add(1, Ordering::SeqCst);
            } else {
                (0..3).for_each(|_| drop(session.launch(&tenth)));
            }
        });
        assert_eq!(rest.into_inner(), 1);
        assert_eq!(
            spent(&session, 1),
            loss("1"),
            "spent to exactly zero, whatever came in between"
        );
    }
}

#[test]
fn a_conditional_launch_never_passes_its_limit() {
    for _ in 0..40 {
        let session = open();
        let query = pure("0.1");
        let admitted = AtomicUsize::new(0);
        race(&vec![session.clone(); 4], |session, _| {
            for _ in 0..10 {
                match session.launch_within(&query, &1, "1.2") {
                    Ok(()) => drop(admitted.fetch_add(1, Ordering::SeqCst)),
                    Err(LaunchError::Refused(_) | LaunchError::Contended) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        });
        assert_eq!(admitted.into_inner(), 12);
        assert_eq!(spent(&session, 1), loss("1.2"));
    }
}

#[test]
fn questions_at_many_distances_are_answered_while_others_launch() {
    let session = open();
    let queries: Vec<_> = (0..7).map(|_| pure("0.001")).collect();
    thread::scope(|scope| {
        for thread in 0..2 {
            let (session, queries) = (&session, &queries);
            scope.spawn(move || {
                for i in 0..1500 {
                    session.launch(&queries[(i * (thread + 1)) % 7]).unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let mut before: Vec<Epsilon> = vec![loss("0"); 20];
                for i in 0..400u32 {
                    // More distances than are remembered.
                    let d_in = 1 + i % 20;
                    let now = spent(&session, d_in);
                    assert!(
                        measures::Loss::at_most(&before[d_in as usize - 1], &now),
                        "a loss fell"
                    );
                    before[d_in as usize - 1] = now;
                }
            });
        }
    });
    for d_in in 1..=20u32 {
        let expected = Epsilon::new(loss::<Epsilon>("3").value().times(d_in.into()));
        assert_eq!(spent(&session, d_in), expected);
    }
}

#[test]
fn parts_race_like_sessions() {
    for _ in 0..10 {
        let session = filtered("1");
        let partition = session.partition(|record: &i64| *record).unwrap();
        let parts = [1, 2, 3, 4].map(|key| partition.part(key).unwrap());
        let (query, admitted) = (pure("0.1"), AtomicUsize::new(0));
        race(&parts, |part, _| {
            for _ in 0..15 {
                if part.launch(&query).is_ok() {
                    admitted.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        assert_eq!(
            admitted.into_inner(),
            40,
            "each part spends the whole budget"
        );
        assert_eq!(spent(&session, 1), loss("1"));
        assert_eq!(spent(&session, 2), loss("2"));
    }
}

#[test]
fn sessions_and_what_is_made_of_them_may_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<PureSession>();
    crosses::<odometer::Partition<crate::common::Numbers, u8, crate::common::Pure>>();
    crosses::<odometer::Composition<crate::common::Numbers, measures::fixed::Optimal>>();
    crosses::<LaunchError>();
}
