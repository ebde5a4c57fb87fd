//! Writers and readers race: no schedule lets a unit contribute more than it may, or a part be created twice or for
//! nothing.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use continual_model::{
    StreamMessage,
    live::{ContributionBounds, Contributions, GroupBy, Handles, Live, LivePart, Reader, Writer},
};
use measures::{Epsilon, EpsilonDelta};
use queryable::{Root, Scope, machine};
use shuttle::{
    Config, Runner,
    scheduler::{DfsScheduler, PctScheduler, RandomScheduler},
    thread,
};

/// Every schedule there is. Says how many.
fn every_schedule(test: impl Fn() + Send + Sync + 'static) -> usize {
    Runner::new(DfsScheduler::new(None, false), Config::default()).run(test)
}

/// Random schedules and adversarial ones (PCT). Seeds are fixed, so a failure is a failure again.
fn many_schedules(test: impl Fn() + Send + Sync + Copy + 'static) {
    let random = RandomScheduler::new_from_seed(0x0d0e_7e12, 500);
    Runner::new(random, Config::default()).run(test);
    let adversarial = PctScheduler::new_from_seed(0x0d0e_7e12, 3, 500);
    Runner::new(adversarial, Config::default()).run(test);
}

type Sums = Handles<u8, u8, u32, (), u32>;
type Sender = Writer<u8, u8, u32, (), u32>;
type Asker = Reader<u8, u8, u32, (), u32>;

/// Parts that add up, each (0.1, 0.1), of which so much δ may be created; `made` counts them.
fn open(parts: usize, updates: u32, delta: &str, made: &Arc<AtomicU32>) -> Sums {
    let made = Arc::clone(made);
    let sum = move |_: &u8| {
        let (mut sum, made, mut first) = (0, Arc::clone(&made), true);
        let part = machine(move |message: Live<u32, ()>, _: &mut Scope<'_>| {
            if std::mem::take(&mut first) {
                made.fetch_add(1, Ordering::Relaxed);
            }
            if let StreamMessage::Update(Some(update)) = message {
                sum += update;
            }
            Ok(sum)
        });
        Some(LivePart::new(
            "(0.1, 0.1)".parse::<EpsilonDelta>().unwrap(),
            part,
        ))
    };
    let tenth: Epsilon = "0.1".parse().unwrap();
    let bounds = ContributionBounds::equal(parts, tenth, updates).unwrap();
    let bounds = bounds.with_delta(delta.parse().unwrap());
    let live = GroupBy::new(bounds, sum);
    live.open(&Root::seeded([7; 32])).unwrap()
}

#[test]
fn two_writers_share_one_update() {
    let schedules = every_schedule(|| {
        let (writer, reader) = open(1, 1, "0.1", &Arc::default());
        reader.create([1]).unwrap();
        let other = {
            let writer = writer.clone();
            thread::spawn(move || writer.update(&7, &1, 1).unwrap().is_ok())
        };
        let mine = writer.update(&7, &1, 1).unwrap().is_ok();
        assert!(mine ^ other.join().unwrap());
        assert_eq!(reader.ask(1, ()).unwrap(), 1);
    });
    assert!(schedules > 1, "{schedules}");
}

#[test]
fn two_questions_create_one_part() {
    let schedules = every_schedule(|| {
        let made = Arc::default();
        let (_, reader) = open(1, 1, "0.1", &made); // enough for one
        let other = {
            let reader = reader.clone();
            thread::spawn(move || reader.ask(1, ()).unwrap())
        };
        reader.ask(1, ()).unwrap();
        other.join().unwrap();
        assert_eq!((made.load(Ordering::Relaxed), reader.parts()), (1, 1));
    });
    assert!(schedules > 1, "{schedules}");
}

#[test]
fn the_delta_is_spent_once() {
    many_schedules(|| {
        let (_, reader) = open(2, 9, "0.19", &Arc::default()); // enough for two
        let create = |part: u8| {
            let reader = reader.clone();
            thread::spawn(move || reader.create([part]).is_ok())
        };
        let created = [create(1), create(2), create(3)].map(|thread| thread.join().unwrap());
        assert_eq!(created.into_iter().filter(|done| *done).count(), 2);
        assert_eq!(reader.parts(), 2);
    });
}

#[test]
fn parts_and_updates_are_bounded_while_parts_come() {
    many_schedules(|| {
        let (writer, reader) = open(1, 2, "0.5", &Arc::default());
        reader.create([1]).unwrap();
        let write = |part: u8| {
            let writer = writer.clone();
            thread::spawn(move || {
                let sent = [0; 2].map(|_| writer.update(&7, &part, 1).unwrap().is_ok());
                sent.into_iter().filter(|counted| *counted).count() as u32
            })
        };
        let writers = [write(1), write(2)];
        reader.create([2]).unwrap();
        let counted = writers.map(|thread| thread.join().unwrap());
        // One slot: one of the parts, and at most two updates.
        assert!(
            counted == [0, counted[1]] || counted == [counted[0], 0],
            "{counted:?}"
        );
        let sums = [1, 2].map(|part| reader.ask(part, ()).unwrap());
        assert_eq!(sums, counted);
    });
}

#[test]
fn a_table_is_never_ahead_of_what_was_sent() {
    many_schedules(|| {
        let (writer, reader) = open(1, 2, "0.1", &Arc::default());
        reader.create([1]).unwrap();
        let other = {
            let writer = writer.clone();
            thread::spawn(move || writer.update(&7, &1, 1).unwrap())
        };
        let early: Contributions<u8> = writer.contributions();
        other.join().unwrap().unwrap();
        let late = writer.contributions();
        let again = writer.contributions();
        assert_eq!(late, again);
        assert!(early == late || format!("{early:?}").contains("rows: []"));
    });
}

// Planted mistakes: the same handles, and a bound that is looked at in one step and used in the next.

/// Two writers, each of which sends if the table is empty.
fn look_and_send(at_once: bool) {
    let updates = if at_once { 1 } else { 2 };
    let (writer, reader) = open(1, updates, "0.1", &Arc::default());
    reader.create([1]).unwrap();
    let send = move |writer: &Sender| {
        let empty = format!("{:?}", writer.contributions()).contains("rows: []");
        (at_once || empty) && writer.update(&7, &1, 1).unwrap().is_ok()
    };
    let other = {
        let writer = writer.clone();
        thread::spawn(move || send(&writer))
    };
    let sent = [send(&writer), other.join().unwrap()];
    assert_ne!(sent, [true; 2], "a unit contributed twice");
    assert_eq!(reader.ask(1, ()).unwrap(), 1);
}

#[test]
fn one_step_is_fine() {
    many_schedules(|| look_and_send(true));
}

#[test]
#[should_panic(expected = "a unit contributed twice")]
fn two_steps_are_found() {
    many_schedules(|| look_and_send(false));
}

/// Two readers, each of which creates a part if there is none.
fn look_and_create(at_once: bool) {
    let delta = if at_once { "0.1" } else { "0.19" };
    let (_, reader) = open(1, 1, delta, &Arc::default());
    let create = move |reader: &Asker, part: u8| {
        (at_once || reader.parts() == 0) && reader.create([part]).is_ok()
    };
    let other = {
        let reader = reader.clone();
        thread::spawn(move || create(&reader, 2))
    };
    let created = [create(&reader, 1), other.join().unwrap()];
    assert_ne!(created, [true; 2], "δ was spent twice");
    assert_eq!(reader.parts(), 1);
}

#[test]
fn creating_in_one_step_is_fine() {
    every_schedule(|| look_and_create(true));
}

#[test]
#[should_panic(expected = "δ was spent twice")]
fn creating_in_two_steps_is_found() {
    every_schedule(|| look_and_create(false));
}
