//! Tallies are somebody's code: they may panic when they are copied, added to or dropped, at any moment. A launch is then
//! charged everywhere or nowhere, and the error says which; a question is answered, or asked again.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::observed::{Event, Observed, Observer};
use crate::common::*;
use exact::Exact;
use odometer::{Filter, LaunchError, Odometer, Records, Session};

const EVENTS: [Event; 6] = [
    Event::Clone,
    Event::Drop,
    Event::Absorb,
    Event::Merge,
    Event::Join,
    Event::Fits,
];

thread_local! {
    /// The event that panics, and how many of its kind happen before.
    static FUSE: Cell<Option<(Event, usize)>> = const { Cell::new(None) };
}

fn happens(event: Event) {
    let lit = FUSE.get().filter(|(awaited, _)| *awaited == event);
    match lit {
        Some((_, 0)) if !std::thread::panicking() => {
            FUSE.set(None);
            // Without the hook, which would print thousands of traces.
            std::panic::resume_unwind(Box::new("it went wrong"));
        }
        Some((_, before)) => FUSE.set(Some((event, before.saturating_sub(1)))),
        None => {}
    }
}

/// Told to the fuse of this thread.
#[derive(Clone, Debug)]
struct Fuse;

impl Observer for Fuse {
    fn told(&self, event: Event) {
        happens(event);
    }
}

type Fused = Observed<Fuse>;
type FusedSession = Session<Records<i64>, Fused>;

/// A filter whose budget holds at this distance.
fn filter(d_in: u32) -> Filter<Records<i64>, Fused> {
    let odometer = Odometer::new(records(), Observed(Fuse)).named("fused");
    odometer.filter(d_in, "10").unwrap()
}

/// Sessions below one another, the root first: where to launch is the last one.
type Chain = Vec<FusedSession>;

fn levels() -> Chain {
    let top = filter(1).invoke(vec![1, 2, 3]).unwrap();
    let middle = top.nested("inner").capped(1, "9").open().unwrap();
    let leaf = middle.nested("inner").capped(1, "8").open().unwrap();
    vec![top, middle, leaf]
}

/// A chain that goes through a part, after launches in so many other parts, and perhaps in that part.
fn parted(d_in: u32, others: i64, before: bool) -> Chain {
    let top = filter(d_in).invoke(vec![1, 2, 3]).unwrap();
    let middle = top.nested("inner").capped(d_in, "9").open().unwrap();
    let partition = middle.partition(|record: &i64| *record).unwrap();
    for other in 1..=others {
        let other = partition.part(other).unwrap();
        other.launch(&pure("0.5")).unwrap();
    }
    let part = partition.part(0).unwrap();
    if before {
        part.launch(&pure("0.5")).unwrap();
    }
    let leaf = part.nested("inner").capped(d_in, "8").open().unwrap();
    vec![top, middle, leaf]
}

fn listed(session: &FusedSession) -> u64 {
    session.launches().unwrap().iter().map(|(_, n)| n).sum()
}

/// Burns the fuse at every moment of one launch. Where nothing is dropped before the charge, destructors do no harm.
fn all_or_none(drops_before: bool, chain: impl Fn() -> Chain) {
    for event in EVENTS {
        for moment in 0.. {
            let chain = chain();
            let leaf = chain.last().unwrap();
            let runs = Arc::new(AtomicUsize::new(0));
            let query = counted("0.5", &runs);
            let before: Vec<u64> = chain.iter().map(listed).collect();

            FUSE.set(Some((event, moment)));
            let launched = leaf.launch(&query);
            let burnt = FUSE.take().is_none();

            let charged: Vec<u64> = chain
                .iter()
                .zip(&before)
                .map(|(session, before)| listed(session) - before)
                .collect();
            let all = launched
                .as_ref()
                .map_or_else(LaunchError::was_charged, |()| true);
            let expected = vec![u64::from(all); chain.len()];
            assert_eq!(charged, expected, "{event:?} {moment}: {launched:?}");
            assert_eq!(runs.load(Ordering::SeqCst), usize::from(all));
            if event == Event::Drop && !drops_before {
                launched.unwrap();
            }
            // The caps agree with the lists, and everything goes on.
            leaf.launch(&query).unwrap();
            for session in &chain {
                let (d_in, _) = session.cap().unwrap();
                let (spent, read) = (
                    session.spent().unwrap().unwrap(),
                    session.privacy_loss(d_in),
                );
                assert_eq!(spent, read.unwrap(), "{event:?} {moment}");
            }
            let spent = leaf.spent().unwrap().unwrap();
            let units = u64::from(*leaf.cap().unwrap().0) * (1 + u64::from(all));
            let expected = loss::<Exact>("0.5").times(units);
            assert_eq!(spent.bound().value(), &expected, "{event:?} {moment}");
            if !burnt {
                break;
            }
        }
    }
}

#[test]
fn three_levels_are_charged_all_or_none() {
    all_or_none(false, levels);
}

#[test]
fn accounts_above_a_part_are_charged_all_or_none() {
    for d_in in [1, 2, 3] {
        for (others, before) in [(0, false), (0, true), (1, false), (3, true), (4, false)] {
            all_or_none(true, || parted(d_in, others, before));
        }
    }
}

#[test]
fn questions_are_right_after_a_panic_at_any_moment() {
    // Sixteen distances are remembered: with more, some are forgotten.
    for (chain, distances) in [(levels as fn() -> Chain, 20), (|| parted(2, 3, true), 3)] {
        for event in EVENTS {
            for moment in 0.. {
                let chain = chain();
                let (top, leaf) = (&chain[0], chain.last().unwrap());
                leaf.launch(&pure("0.5")).unwrap();
                FUSE.set(Some((event, moment)));
                let failed = (1..distances)
                    .filter(|d_in| top.privacy_loss(d_in).is_err())
                    .count();
                let burnt = FUSE.take().is_none();
                assert!(failed <= 1, "{event:?} {moment}");
                leaf.launch(&pure("0.5")).unwrap();
                let d_in = top.cap().unwrap().0;
                let (spent, read) = (
                    top.spent().unwrap().unwrap(),
                    top.privacy_loss(d_in).unwrap(),
                );
                assert_eq!(spent, read, "{event:?} {moment}");
                for d_in in 1..distances {
                    let once = top.privacy_loss(&d_in).unwrap();
                    assert_eq!(once, top.privacy_loss(&d_in).unwrap(), "{event:?} {moment}");
                }
                if !burnt {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_panic_while_a_refusal_is_prepared_does_not_halt() {
    let odometer = Odometer::new(records(), Observed(Fuse)).halting();
    for event in [Event::Clone, Event::Drop, Event::Fits] {
        for moment in 0.. {
            let filter = odometer.filter(1, "1").unwrap();
            let session = filter.invoke(vec![]).unwrap();
            session.launch(&pure("0.5")).unwrap();
            FUSE.set(Some((event, moment)));
            let refused = session.launch(&pure("0.75")).unwrap_err();
            let burnt = FUSE.take().is_none();
            assert!(!refused.was_charged());
            assert_eq!(listed(&session), 1);
            let halted = matches!(
                session.launch(&pure("0.5")),
                Err(LaunchError::Halted { .. })
            );
            let said_no = matches!(refused, LaunchError::Refused(_));
            assert!(halted || !said_no, "{event:?} {moment}: {refused}");
            if !burnt {
                assert!(halted);
                break;
            }
        }
    }
}
