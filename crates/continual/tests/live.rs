//! The production side: what is replaced and who notices, exactly; bounds, slots, late parts, restarts, threads.

use std::{collections::HashMap, thread};

use crate::common::{loss, probability, ratio, total_variation};
use auditor::{Input, Report, audit, player};
use continual::{
    AllowanceError, StreamMessage,
    live::{
        ContributionBounds, Contributions, GroupBy, Handles, Live, LiveError, LivePart, MAX_SLOTS,
        Replaced,
    },
};
use measures::{Epsilon, EpsilonDelta};
use proptest::prelude::*;
use queryable::{AskError, Exchange, Machine, Root, Scope, coins::Categorical, machine};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// A counter that adds noise of −1, 0 or 1 (¼, ½, ¼) with every update.
fn noisy_sum() -> impl Machine<Query = Live<i64, ()>, Answer = i64> {
    let outcomes = [(-1, 1), (0, 2), (1, 1)].map(|(step, n)| (step, probability(n, 4)));
    let noise = Categorical::new(outcomes.to_vec()).unwrap();
    let mut sum = 0;
    machine(move |message: Live<i64, ()>, scope: &mut Scope<'_>| {
        if let StreamMessage::Update(update) = message {
            sum += update.unwrap_or(0) + scope.draw(&noise)?;
        }
        Ok(sum)
    })
}

/// No noise.
fn sum() -> impl Machine<Query = Live<i64, ()>, Answer = i64> {
    let mut sum = 0;
    machine(move |message: Live<i64, ()>, _: &mut Scope<'_>| {
        if let StreamMessage::Update(Some(update)) = message {
            sum += update;
        }
        Ok(sum)
    })
}

/// All updates, in their order; halts after fifty.
fn last() -> impl Machine<Query = Live<i64, ()>, Answer = Vec<Option<i64>>> {
    let mut all = Vec::new();
    machine(move |message: Live<i64, ()>, scope: &mut Scope<'_>| {
        if let StreamMessage::Update(update) = message {
            all.push(update);
            if all.len() == 50 {
                scope.halt();
            }
        }
        Ok(all.clone())
    })
}

/// Time, and the number of updates that were not empty.
fn steps() -> impl Machine<Query = Live<i64, ()>, Answer = (u32, u32)> {
    let (mut time, mut full) = (0, 0);
    machine(move |message: Live<i64, ()>, _: &mut Scope<'_>| {
        if let StreamMessage::Update(update) = message {
            time += 1;
            full += u32::from(update.is_some());
        }
        Ok((time, full))
    })
}

/// One user sends 1 twice, and may send once; the neighbour is nobody. The adversary reads after each update.
fn game(told: bool, dropped: bool) -> Report<bool, i64> {
    let build = move |input: Input, root: &Root| {
        let bounds = ContributionBounds::equal(1, Epsilon::ZERO, 1).unwrap();
        let live = GroupBy::new(bounds, |_: &()| {
            Some(LivePart::new(Epsilon::ZERO, noisy_sum()))
        });
        let (writer, reader) = live
            .open::<&str>(root)
            .map_err(|_| AskError::failed("open"))?;
        reader
            .create([()])
            .map_err(|_| AskError::failed("create"))?;
        let mut sent = 0;
        Ok(player(move |write: bool| {
            let failed = |_: LiveError| AskError::failed("live");
            if !write {
                return reader.ask((), ()).map_err(failed);
            }
            sent += 1;
            if input == Input::One {
                return writer.step(&()).map_err(failed).map(|()| 0);
            }
            if dropped && sent > 1 {
                return Ok(0);
            }
            let recorded = writer.update(&"user", &(), 1).map_err(failed)?;
            assert_eq!(recorded.is_ok(), sent == 1);
            Ok(i64::from(told && recorded.is_err()))
        }))
    };
    audit(build)
        .asking(4, |history: &[Exchange<bool, i64>]| {
            vec![history.len().is_multiple_of(2)]
        })
        .unwrap()
}

#[test]
fn a_reader_must_not_notice_what_is_replaced() {
    assert_eq!(total_variation(&game(false, false)), ratio(1, 2)); // as here: replaced, and a step
    assert_eq!(total_variation(&game(false, true)), ratio(5, 8)); // dropped without a step
    assert_eq!(total_variation(&game(true, false)), ratio(1, 1)); // if the reader were told
}

fn open<A: 'static, M>(bounds: ContributionBounds, part: fn() -> M) -> Handles<u8, u32, i64, (), A>
where
    M: Machine<Query = Live<i64, ()>, Answer = A> + 'static,
{
    // Part 100 and above cost twice as much.
    let live = GroupBy::new(bounds, move |key: &u8| {
        let loss = if *key < 100 { "0.1" } else { "0.2" };
        (*key != 0).then(|| LivePart::new(epsilon(loss), part()))
    });
    live.open(&Root::seeded([3; 32])).unwrap()
}

#[test]
fn units_are_bounded_in_parts_and_updates() {
    let bounds = ContributionBounds::equal(2, epsilon("0.1"), 4).unwrap();
    let (writer, reader) = open(bounds, steps);
    reader.create([1, 2, 3]).unwrap();
    let update = |unit, part| writer.update(&unit, &part, 1).unwrap();
    assert_eq!(update(7, 1), Ok(()));
    assert_eq!(update(7, 2), Ok(()));
    assert_eq!(update(7, 3), Err(Replaced::TooManyParts));
    assert_eq!(update(7, 1), Ok(()));
    assert_eq!(update(7, 2), Ok(()));
    assert_eq!(update(7, 1), Err(Replaced::TooManyUpdates));
    assert_eq!(update(8, 3), Ok(())); // others are not concerned
    assert_eq!(update(8, 9), Err(Replaced::NoSuchPart));
    // Every update for a part was a step of it.
    let seen = |part| reader.ask(part, ()).unwrap();
    assert_eq!((seen(1), seen(2), seen(3)), ((3, 2), (2, 2), (2, 1)));
    assert_eq!((writer.units(), reader.parts()), (2, 3));
    // A late part begins empty; an update did not create it.
    assert_eq!(seen(9), (0, 0));
    assert_eq!(update(8, 9), Ok(()));
    assert_eq!(seen(9), (1, 1));
    assert_eq!(reader.ask(0, ()), Err(LiveError::Unknown));
}

#[test]
fn parts_of_different_losses_take_slots_that_fit() {
    let slots = vec![epsilon("0.2"), epsilon("0.1")];
    let bounds = ContributionBounds::new(slots, 9).unwrap();
    assert_eq!(bounds.price(), loss("(0.3, 0)"));
    let (writer, reader) = open(bounds, sum);
    reader.create([1, 2, 3, 100, 101]).unwrap();
    let update = |unit, part| writer.update(&unit, &part, 1).unwrap();
    // The cheap part takes the small slot, so the dear one still fits; and the other way round.
    assert_eq!((update(7, 1), update(7, 100)), (Ok(()), Ok(())));
    assert_eq!((update(8, 100), update(8, 1)), (Ok(()), Ok(())));
    assert_eq!((update(9, 1), update(9, 2)), (Ok(()), Ok(())));
    assert_eq!(update(9, 100), Err(Replaced::TooManyParts));
    assert_eq!(
        (update(10, 100), update(10, 101)),
        (Ok(()), Err(Replaced::TooManyParts))
    );
    // A part for which no slot would ever have room is not created.
    let (_, reader) = open(
        ContributionBounds::equal(2, epsilon("0.1"), 1).unwrap(),
        sum,
    );
    let refused = reader.create([100]).unwrap_err();
    assert!(
        matches!(refused, LiveError::Refused(AllowanceError::NoSlot { .. })),
        "{refused}"
    );
}

#[test]
fn what_is_created_counts_against_the_delta() {
    let part = |key: &u8| {
        let delta = if *key < 100 { "(0.1, 0.1)" } else { "(0.1, 0)" };
        Some(LivePart::new(loss(delta), sum()))
    };
    let bounds = ContributionBounds::equal(1, epsilon("0.1"), 1)
        .unwrap()
        .with_delta("0.19".parse().unwrap());
    assert_eq!(bounds.price(), loss("(0.1, 0.19)"));
    let live = GroupBy::new(bounds, part);
    let root = Root::seeded([0; 32]);
    let (writer, reader) = live.open::<u32>(&root).unwrap();
    reader.create([1, 2, 1, 2]).unwrap();
    let refused = reader.ask(3, ()).unwrap_err();
    assert!(matches!(
        refused,
        LiveError::Refused(AllowanceError::Leak { .. })
    ));
    assert_eq!(
        refused.to_string(),
        "the part may not be created: the δ of everything created would be 0.271, above the 0.19 that was fixed in \
         advance (a function that is not swap-symmetric counts twice)"
    );
    reader.create([100]).unwrap(); // pure
    // Also after a restart: the parts are gone, what they cost is not.
    let (_, reader) = live.restore(&root, &writer.contributions()).unwrap();
    assert!(reader.create([1]).is_err());
    reader.create([100]).unwrap();
    // Pure bounds take pure parts only.
    let pure = GroupBy::new(
        ContributionBounds::equal(1, epsilon("0.1"), 1).unwrap(),
        part,
    );
    let (_, reader) = pure.open::<u32>(&root).unwrap();
    assert!(reader.create([1]).is_err() && reader.create([100]).is_ok());
}

#[test]
fn contributions_are_written_down_and_restored() {
    let live = |k| {
        GroupBy::new(
            ContributionBounds::equal(k, epsilon("0.1"), 3).unwrap(),
            |_: &u8| Some(LivePart::new(epsilon("0.1"), sum())),
        )
    };
    let root = Root::seeded([0; 32]);
    let (writer, reader) = live(2).open::<u32>(&root).unwrap();
    reader.create([1, 2, 3]).unwrap();
    for (unit, part) in [(7, 1), (8, 1), (8, 2), (9, 3), (9, 3), (9, 3)] {
        assert_eq!(writer.update(&unit, &part, 1).unwrap(), Ok(()));
    }
    let text = serde_json::to_string(&writer.contributions()).unwrap();
    let table: Contributions<u32> = serde_json::from_str(&text).unwrap();
    let (writer, reader) = live(2).restore(&root, &table).unwrap();
    reader.create([1, 2]).unwrap();
    let update = |unit, part| writer.update(&unit, &part, 1).unwrap();
    assert_eq!(reader.ask(1, ()).unwrap(), 0); // a new mechanism
    assert_eq!(update(7, 1), Ok(())); // takes a second slot: it is another part now
    assert_eq!(update(7, 2), Err(Replaced::TooManyParts));
    assert_eq!(update(8, 1), Err(Replaced::TooManyParts));
    assert_eq!(update(9, 1), Err(Replaced::TooManyUpdates));
    assert_eq!(update(10, 1), Ok(()));
    assert_eq!(
        live(3).restore(&root, &table).unwrap_err(),
        LiveError::OtherBounds
    );
}

/// Bounds that nobody can make are not read either.
#[test]
fn bounds_are_checked_when_they_are_read() {
    let bounds = ContributionBounds::equal(2, epsilon("0.1"), 3).unwrap();
    let text = serde_json::to_value(&bounds).unwrap();
    let read = |text: &serde_json::Value| serde_json::from_value(text.clone());
    assert_eq!(read(&text).unwrap(), bounds);
    let slot = &text["slots"][0];
    for (field, wrong) in [
        ("slots", serde_json::json!([])),
        ("slots", vec![slot.clone(); MAX_SLOTS + 1].into()),
        ("updates", 0.into()),
        ("delta", "-0.1".into()),
    ] {
        let mut forged = text.clone();
        forged[field] = wrong;
        let read: Result<ContributionBounds, _> = read(&forged);
        assert!(read.is_err(), "{forged}");
    }
}

#[test]
fn a_hidden_update_is_a_step_of_every_part() {
    let (writer, reader) = open(
        ContributionBounds::equal(1, epsilon("0.1"), 9).unwrap(),
        steps,
    );
    reader.create([1, 2]).unwrap();
    let hidden = |unit, part| writer.update_everywhere(&unit, &part, 1).unwrap();
    assert_eq!(hidden(7, 1), Ok(()));
    assert_eq!(hidden(7, 2), Err(Replaced::TooManyParts));
    assert_eq!(hidden(8, 9), Err(Replaced::NoSuchPart));
    let seen = |part| reader.ask(part, ()).unwrap();
    assert_eq!((seen(1), seen(2)), ((3, 1), (3, 0)));
}

#[test]
fn bounds_that_bound_nothing_are_errors() {
    let bounds = |parts, updates| ContributionBounds::equal(parts, Epsilon::ZERO, updates).is_ok();
    assert!(bounds(1, 1) && bounds(MAX_SLOTS, u32::MAX));
    assert!(!bounds(0, 1) && !bounds(1, 0) && !bounds(MAX_SLOTS + 1, 1));
    assert!(!bounds(usize::MAX, 1));
}

#[test]
fn what_a_mechanism_did_not_take_stays_counted() {
    let bounds = ContributionBounds::equal(1, epsilon("0.1"), 1).unwrap();
    let (writer, reader) = open(bounds, || {
        machine(|_: Live<i64, ()>, _| Err::<u8, _>(AskError::failed("x")))
    });
    reader.create([1]).unwrap();
    assert!(writer.update(&7, &1, 1).is_err());
    assert!(writer.update(&7, &1, 1).is_err());
    let table = serde_json::to_value(writer.contributions()).unwrap();
    assert_eq!(table["rows"][0]["updates"], 1);
}

/// Four threads write for the same units, one creates parts: nobody contributes more than it may.
#[test]
fn threads_keep_the_bounds() {
    let (writer, reader) = open(
        ContributionBounds::equal(2, epsilon("0.1"), 5).unwrap(),
        sum,
    );
    reader.create([1]).unwrap();
    let counted: Vec<HashMap<(u32, u8), i64>> = thread::scope(|scope| {
        let write = |offset: u32| {
            let writer = writer.clone();
            scope.spawn(move || {
                let mut counted = HashMap::new();
                for step in 0..2000 {
                    let (unit, part) = (step % 50, 1 + ((step + offset) % 7) as u8);
                    if writer.update(&unit, &part, 1).unwrap().is_ok() {
                        *counted.entry((unit, part)).or_insert(0) += 1;
                    }
                }
                counted
            })
        };
        let threads: Vec<_> = (0..4).map(write).collect();
        let reader = reader.clone();
        scope.spawn(move || (2..8).for_each(|part| reader.create([part]).unwrap()));
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let mut by_unit: HashMap<u32, (i64, std::collections::BTreeSet<u8>)> = HashMap::new();
    let mut by_part: HashMap<u8, i64> = HashMap::new();
    for ((unit, part), n) in counted.into_iter().flatten() {
        let (updates, parts) = by_unit.entry(unit).or_default();
        *updates += n;
        parts.insert(part);
        *by_part.entry(part).or_default() += n;
    }
    assert_eq!(by_unit.len(), 50);
    assert!(
        by_unit
            .values()
            .all(|(updates, parts)| *updates == 5 && parts.len() <= 2)
    );
    for (part, n) in by_part {
        assert_eq!(reader.ask(part, ()).unwrap(), n);
    }
}

proptest! {
    /// Rows of any length, short ones in the index and long ones elsewhere, count the same; also when they are restored.
    #[test]
    fn any_number_of_slots(slots in 1usize..8, sent in prop::collection::vec((0u32..3, 1u8..10), 0..60)) {
        let live = GroupBy::new(ContributionBounds::equal(slots, epsilon("0.1"), 12).unwrap(), |_: &u8| {
            Some(LivePart::new(epsilon("0.1"), sum()))
        });
        let root = Root::seeded([3; 32]);
        let (writer, reader) = live.open::<u32>(&root).unwrap();
        reader.create(1..10).unwrap();
        let mut units: HashMap<u32, (usize, Vec<u8>)> = HashMap::new();
        for (unit, part) in &sent {
            let (updates, parts) = units.entry(*unit).or_default();
            let expected = match (*updates < 12, parts.contains(part), parts.len() < slots) {
                (false, ..) => Err(Replaced::TooManyUpdates),
                (true, false, false) => Err(Replaced::TooManyParts),
                _ => Ok(()),
            };
            prop_assert_eq!(&writer.update(unit, part, 1).unwrap(), &expected);
            if expected.is_ok() {
                *updates += 1;
                parts.retain(|known| known != part);
                parts.push(*part);
            }
        }
        prop_assert_eq!(writer.units(), units.len());
        let (writer, reader) = live.restore(&root, &writer.contributions()).unwrap();
        reader.create(1..10).unwrap();
        for (unit, (updates, parts)) in units {
            // Every part is another one now.
            let left = (12 - updates).min(slots - parts.len());
            let counted = (1..10).filter(|part| writer.update(&unit, part, 1).unwrap().is_ok()).count();
            prop_assert_eq!(counted, left);
        }
    }

    /// What is sent together is told, counted and stepped as if it came one by one; across batches, too.
    #[test]
    fn together_or_one_by_one(sent in prop::collection::vec((0u32..40, 1u8..6, 1i64..9), 0..1400)) {
        let bounds = || ContributionBounds::equal(2, epsilon("0.1"), 30).unwrap();
        let ((one, one_reads), (all, all_reads)) = (open(bounds(), last), open(bounds(), last));
        one_reads.create([1, 2, 3, 4]).unwrap();
        all_reads.create([1, 2, 3, 4]).unwrap();
        let one_by_one = sent.iter().map(|(unit, part, by)| one.update(unit, part, *by));
        prop_assert_eq!(one_by_one.collect::<Vec<_>>(), all.update_all(sent.clone()));
        for part in 1..5 {
            prop_assert_eq!(one_reads.ask(part, ()), all_reads.ask(part, ()));
        }
        let rows = |contributions: &Contributions<u32>| {
            let json = serde_json::to_value(contributions).unwrap();
            let mut rows: Vec<_> = json["rows"].as_array().unwrap().iter().map(ToString::to_string).collect();
            rows.sort();
            rows
        };
        prop_assert_eq!(rows(&one.contributions()), rows(&all.contributions()));
    }

    /// Against a model: what one unit has counted is within its bounds, whatever it sends, and does not depend on others.
    #[test]
    fn a_unit_is_judged_by_its_own_updates(sent in prop::collection::vec((0u32..3, 1u8..5), 0..40)) {
        let bounds = || ContributionBounds::equal(2, epsilon("0.1"), 6).unwrap();
        let run = |only: Option<u32>| {
            let (writer, reader) = open(bounds(), sum);
            reader.create([1, 2, 3]).unwrap();
            let mine = sent.iter().filter(move |(unit, _)| only.is_none_or(|only| only == *unit));
            let recorded = mine.map(|(unit, part)| (*unit, writer.update(unit, part, 1).unwrap()));
            recorded.collect::<Vec<_>>()
        };
        let all = run(None);
        for unit in 0..3 {
            let mine: Vec<_> = all.iter().filter(|(who, _)| *who == unit).cloned().collect();
            prop_assert!(mine.iter().filter(|(_, recorded)| recorded.is_ok()).count() <= 6);
            prop_assert_eq!(mine, run(Some(unit)));
        }
    }
}

/// The whole thing in the privacy game: a user with two slots, four parts; the price covers it, and is reached.
#[test]
fn the_price_covers_the_stream() {
    // Each part answers an update by randomized response: ln 3 for one update of a unit.
    let ln_3 = epsilon("1.0987");
    let build = {
        let ln_3 = ln_3.clone();
        move |input: Input, root: &Root| {
            let price = ln_3.clone();
            let response = move |_: &u8| {
                let lie = queryable::coins::Bit::new(probability(1, 4));
                let mut last = false;
                let part = machine(move |message: Live<bool, ()>, scope: &mut Scope<'_>| {
                    if let StreamMessage::Update(update) = message {
                        last = scope.draw(&lie)? ^ update.unwrap_or(false);
                    }
                    Ok(last)
                });
                Some(LivePart::new(price.clone(), part))
            };
            let live = GroupBy::new(
                ContributionBounds::equal(2, ln_3.clone(), 2).unwrap(),
                response,
            );
            let failed = |_: LiveError| AskError::failed("live");
            let (writer, reader) = live.open::<u8>(root).map_err(failed)?;
            reader.create(0..3).map_err(failed)?;
            Ok(player(move |part: u8| {
                match input {
                    Input::Zero => writer.update(&1, &part, true).map(drop),
                    Input::One => writer.step(&part),
                }
                .map_err(failed)?;
                reader.ask(part, ()).map_err(failed)
            }))
        }
    };
    let report = audit(build)
        .asking(4, |_: &[Exchange<u8, bool>]| vec![0, 1, 2])
        .unwrap();
    let price: EpsilonDelta = ContributionBounds::equal(2, ln_3, 2).unwrap().price();
    assert!(report.claims(&price).unwrap().holds());
    assert_eq!(
        report.factor(&ratio(0, 1)),
        Some(auditor::Factor::new(9, 1).unwrap())
    );
}
