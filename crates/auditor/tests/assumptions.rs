//! What the auditor must not take for granted: offers that change, randomness behind its back, orders that tell too little,
//! destructors; and that a verdict says what it did take for granted.

use std::{
    cmp::Ordering,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::common::{always, probability};
use auditor::{AuditError, Input, Part, Report, audit, player};
use dashu_ratio::RBig;
use measures::Epsilon;
use queryable::{AskError, Root, Scope, coins::Bit, compose::Routed, machine};

/// Answers its input to query 1, and nothing to query 0.
fn tells_on_one(input: Input, root: &Root) -> Result<queryable::Queryable<u8, bool>, AskError> {
    root.spawn(machine(move |query: u8, _| {
        Ok(query == 1 && input == Input::One)
    }))
}

#[test]
fn offers_in_another_order_on_the_other_input_are_found() {
    // As a hash set of two does half of the time: the audit would compare query 0 with query 1.
    let asked = AtomicUsize::new(0);
    let offer = |_: &[_]| match asked.fetch_add(1, Relaxed) {
        0 | 1 => vec![0, 1],
        _ => vec![1, 0],
    };
    let found = audit(tells_on_one).on_one_thread().asking(1, offer).err();
    assert_eq!(found, Some(AuditError::OffersChanged { round: 0 }));
}

#[test]
fn offers_that_change_after_one_history_are_found() {
    // The second history is possible under one input only: the other input never asks for its offers.
    let asked = AtomicUsize::new(0);
    let offer = |history: &[queryable::Exchange<u8, bool>]| match history {
        [] => vec![1],
        [round] if round.answer == Ok(true) => vec![asked.fetch_add(1, Relaxed) as u8],
        _ => vec![0],
    };
    let found = audit(tells_on_one).on_one_thread().asking(2, offer).err();
    assert_eq!(found, Some(AuditError::OffersChanged { round: 1 }));
}

#[test]
fn offers_of_concurrent_parts_that_change_are_found() {
    let build = |input: Input, root: &Root| {
        root.spawn(machine(move |Routed { to: _, query }: Routed<u8>, _| {
            Ok(query == 1 && input == Input::One)
        }))
    };
    // The order of the queries changes between one replay of the part and the next.
    for first in [2, 4, 6, 8, 12, 16] {
        let asked = AtomicUsize::new(0);
        let turning = Part::new(1, move |_: &[_]| {
            let mut both = [0, 1].map(|query| Routed { to: 0, query });
            if asked.fetch_add(1, Relaxed) >= first {
                both.reverse();
            }
            both.to_vec()
        });
        let other = Part::new(1, |_: &[_]| vec![Routed { to: 1, query: 0 }]);
        let found = audit(build)
            .on_one_thread()
            .concurrently(&[turning, other])
            .err();
        assert!(
            matches!(found, Some(AuditError::OffersChanged { .. })),
            "{first}: {found:?}"
        );
    }
}

#[test]
fn rare_randomness_without_coins_is_found() {
    // One build in a hundred leaks, without a coin: one path per input.
    for phase in [0, 1, 7, 50, 99] {
        let built = AtomicUsize::new(phase);
        let leaky = |input: Input, root: &Root| {
            let leaks = built.fetch_add(1, Relaxed) % 100 == 99;
            root.spawn(machine(move |(), _| Ok(leaks && input == Input::One)))
        };
        let found = audit(leaky).on_one_thread().asking(1, always(vec![()]));
        let found = found.err();
        assert_eq!(
            found,
            Some(AuditError::HiddenRandomness { round: 0 }),
            "{phase}"
        );
    }
}

/// An answer whose order looks at one field, and whose equality at both.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lazy(u8, bool);

impl PartialOrd for Lazy {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Lazy {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

#[test]
fn an_order_that_is_coarser_than_equality_is_found() {
    // Told apart by its order alone, a machine that answers its input has equal views.
    let by_input = |input: Input, root: &Root| {
        root.spawn(machine(move |(), _| Ok(Lazy(0, input == Input::One))))
    };
    let found = audit(by_input)
        .trusting_equality()
        .asking(1, always(vec![()]))
        .err();
    assert_eq!(found, Some(AuditError::CoarseOrder { round: 0 }));
    let by_coin = |_: Input, root: &Root| {
        root.spawn(machine(move |(), scope: &mut Scope<'_>| {
            Ok(Lazy(0, scope.draw(&Bit::fair())?))
        }))
    };
    let found = audit(by_coin)
        .trusting_equality()
        .asking(1, always(vec![()]))
        .err();
    assert_eq!(found, Some(AuditError::CoarseOrder { round: 0 }));
}

/// A player whose destructor panics under one input.
struct Bomb(Input);

impl Bomb {
    fn ticks(&self) -> bool {
        true
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(self.0 == Input::Zero, "expected by the test");
    }
}

#[test]
fn a_panicking_destructor_is_a_typed_error() {
    let build = |input: Input, _: &Root| {
        let bomb = Bomb(input);
        Ok(player(move |()| Ok(bomb.ticks())))
    };
    for one in [false, true] {
        let audit = audit(build);
        let audit = if one { audit.on_one_thread() } else { audit };
        let found = audit.asking(1, always(vec![()])).err();
        assert_eq!(found, Some(AuditError::DestructorPanicked));
    }
    // As well when the system is dropped because a step panicked.
    let build = |input: Input, _: &Root| {
        let bomb = Bomb(input);
        Ok(player(move |()| -> Result<(), AskError> {
            panic!("expected by the test: {}", bomb.ticks())
        }))
    };
    let found = audit(build).asking(2, always(vec![()])).err();
    assert_eq!(found, Some(AuditError::DestructorPanicked));
}

#[test]
fn a_verdict_says_what_was_asked_and_where_it_was_cut_off() {
    // Leaks in the third round.
    let build = |input: Input, root: &Root| {
        let mut asked = 0;
        root.spawn(machine(move |_: u8, _| {
            asked += 1;
            Ok(asked == 3 && input == Input::One)
        }))
    };
    let report = audit(build).asking(2, always(vec![0, 1])).unwrap();
    let verdict = report.claims(&Epsilon::ZERO).unwrap();
    assert!(verdict.holds());
    assert_eq!(&verdict.coverage, report.coverage());
    let coverage = &verdict.coverage;
    assert_eq!((coverage.depth, coverage.cut_off), (2, true));
    assert_eq!(coverage.offered, [2, 2]);
    assert_eq!((coverage.merged, coverage.reruns), (None, 512));
    assert_eq!(
        verdict.to_string(),
        "holds: δ(ε) ≤ 0 where 0 was claimed; ε = 0 would do at this δ\n\
         audited: 2 queries offered after each history; histories of up to 2 rounds, some of them cut off there; \
         512 runs repeated on each input"
    );
    let deeper = audit(build).asking(3, always(vec![0, 1])).unwrap();
    let verdict = deeper.claims(&Epsilon::ZERO).unwrap();
    assert!(verdict.attack().is_some());
    let text = verdict.to_string();
    assert!(
        text.contains("at every ε\nask ") && text.contains("\naudited: 2 queries"),
        "{text}"
    );

    // Offers that end by themselves are not cut off, and that is all that is said: this machine leaks in the next round.
    let offer = |history: &[queryable::Exchange<u8, bool>]| match history.len() {
        0 => vec![0],
        1 => vec![0, 1, 1],
        _ => vec![],
    };
    let report = audit(build).asking(5, offer).unwrap();
    let coverage = report.coverage();
    assert_eq!((coverage.depth, coverage.cut_off), (2, false));
    assert_eq!(coverage.offered, [1, 3]);
    assert_eq!(
        coverage.to_string(),
        "1 to 3 queries offered after each history; histories of up to 2 rounds, each until nothing more was offered; \
         512 runs repeated on each input"
    );
    let nothing = audit(build).asking(5, always(vec![])).unwrap();
    assert_eq!(
        (nothing.coverage().depth, nothing.coverage().offered),
        (0, [0, 0])
    );
}

/// Three parts of one machine that leak in an order which the check of merged interleavings does not look at.
fn leaks_on(
    order: &'static [usize],
) -> impl Fn(Input, &Root) -> Result<queryable::Queryable<Routed<()>, bool>, AskError> {
    move |input: Input, root: &Root| {
        let mut seen = vec![];
        root.spawn(machine(move |Routed { to, query: () }, _| {
            seen.push(to);
            Ok(seen == order && input == Input::One)
        }))
    }
}

fn parts(depths: &[usize]) -> Vec<Part<Routed<()>, bool>> {
    let part = |(to, depth): (usize, &usize)| {
        Part::new(*depth, move |_: &[_]| vec![Routed { to, query: () }])
    };
    depths.iter().enumerate().map(part).collect()
}

#[test]
fn a_verdict_says_what_merging_assumes() {
    for (order, depths, turns) in [
        (&[2, 1, 0][..], &[1, 1, 1][..], 4),
        (&[0, 1, 0, 1, 0], &[3, 2], 4),
    ] {
        let merged = audit(leaks_on(order)).concurrently(&parts(depths)).unwrap();
        let verdict = merged.claims(&Epsilon::ZERO).unwrap();
        let assumed = verdict.coverage.merged.unwrap();
        assert!(verdict.holds() && verdict.coverage.cut_off);
        assert_eq!((assumed.parts, assumed.turns), (depths.len(), turns));
        assert_eq!(verdict.coverage.depth, depths.iter().sum::<usize>());
        let text = verdict.to_string();
        let said = format!(
            "interleavings of {} parts merged, assuming that no part minds the others (checked for every two in up to 4 \
             turns, and for all in one order)",
            depths.len()
        );
        assert!(text.contains(&said), "{text}");
        // Unmerged, nothing is assumed.
        let unmerged = audit(leaks_on(order))
            .unmerged()
            .concurrently(&parts(depths))
            .unwrap();
        let verdict = unmerged.claims(&Epsilon::ZERO).unwrap();
        assert!(verdict.attack().is_some() && verdict.coverage.merged.is_none());
    }
    // More turns find more.
    let found = audit(leaks_on(&[0, 1, 0, 1, 0]))
        .turns(5)
        .concurrently(&parts(&[3, 2]))
        .err();
    assert_eq!(found, Some(AuditError::NotIndependent { part: 0 }));
    let fewer = audit(leaks_on(&[]))
        .turns(3)
        .concurrently(&parts(&[3, 2]))
        .unwrap();
    assert_eq!(fewer.coverage().merged.unwrap().turns, 3);
}

#[test]
fn reruns_are_as_many_as_asked_for() {
    let coins = |flips: usize| {
        move |_: Input, root: &Root| {
            root.spawn(machine(move |(), scope: &mut Scope<'_>| {
                for _ in 0..flips {
                    scope.draw(&Bit::fair())?;
                }
                Ok(())
            }))
        }
    };
    // With fewer paths than reruns, and with more.
    for (flips, reruns) in [
        (0, 0),
        (0, 1),
        (0, 7),
        (2, 7),
        (5, 7),
        (5, 1),
        (5, 2),
        (11, 512),
    ] {
        let built = AtomicUsize::new(0);
        let build = |input: Input, root: &Root| {
            built.fetch_add(1, Relaxed);
            coins(flips)(input, root)
        };
        let report = audit(build)
            .reruns(reruns)
            .asking(1, always(vec![()]))
            .unwrap();
        assert_eq!(report.coverage().reruns, reruns);
        assert_eq!(report.stats().runs, 2 << flips);
        assert_eq!(built.load(Relaxed), 2 * ((1 << flips) + reruns));
    }
}

#[test]
fn truncated_draws_are_said() {
    // Shows one of three outcomes.
    struct Cut;
    impl queryable::coins::Distribution for Cut {
        type Outcome = u8;
        fn sample(&self, _: &mut dyn rand_core::Rng) -> u8 {
            unreachable!("only enumerated here")
        }
        fn arity(&self) -> usize {
            1
        }
        fn outcome(&self, _: usize) -> (u8, queryable::coins::Probability) {
            (0, probability(1, 3))
        }
        fn missing(&self) -> queryable::coins::Probability {
            probability(2, 3)
        }
    }
    let build =
        |_: Input, root: &Root| root.spawn(machine(|(), scope: &mut Scope<'_>| scope.draw(&Cut)));
    let report: Report<(), u8> = audit(build).asking(1, always(vec![()])).unwrap();
    let verdict = report.claims(&Epsilon::ZERO).unwrap();
    assert!(!verdict.holds() && verdict.attack().is_none());
    assert_eq!(
        verdict.coverage.missing,
        [crate::common::ratio(2, 3), crate::common::ratio(2, 3)]
    );
    assert!(
        verdict
            .to_string()
            .contains("draws truncated, up to 2/3 of the mass")
    );
    assert_ne!(report.total_variation().most, RBig::ZERO);
}
