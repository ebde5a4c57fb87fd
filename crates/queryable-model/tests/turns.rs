//! Turns that race with asks: once a newer turn was returned to anybody, the older child answers no ask that starts.

use std::sync::Arc;

use crate::common::{Adder, adding, every_schedule, many_schedules, root};
use queryable_model::{AskError, Queryable, Root, Scope, Sequence, machine};
use shuttle::sync::Barrier;
use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::thread;

const OUT: Result<u64, AskError> = Err(AskError::OutOfTurn);

/// Asks `q` on another thread while `newer` moves the turn here; the ask may be refused, and must be if it started
/// after `newer` had returned.
fn race(q: &Adder, newer: impl FnOnce() -> Adder) {
    let returned = Arc::new(AtomicBool::new(false));
    let asker = {
        let (q, returned) = (q.clone(), Arc::clone(&returned));
        thread::spawn(move || {
            let late = returned.load(Ordering::SeqCst);
            (late, q.ask(1))
        })
    };
    let newer = newer();
    returned.store(true, Ordering::SeqCst);
    assert_eq!(q.ask(1), OUT);
    assert_eq!(newer.ask(1), Ok(1));
    let (late, answer) = asker.join().unwrap();
    assert!(answer == Ok(1) || answer == OUT);
    assert!(
        !late || answer == OUT,
        "answered after a newer turn was returned"
    );
}

#[test]
fn a_root_moves_the_turn() {
    every_schedule(|| {
        let root = root();
        let older = root.spawn_in_turn(adding()).unwrap();
        race(&older, || root.spawn_in_turn(adding()).unwrap());
    });
}

#[test]
fn a_step_moves_the_turn() {
    many_schedules(|| {
        let parent: Queryable<(), Adder> = root()
            .spawn(machine(|(), scope: &mut Scope<'_>| {
                scope.spawn_in_turn(adding())
            }))
            .unwrap();
        let older = parent.ask(()).unwrap();
        race(&older, || parent.ask(()).unwrap());
    });
}

#[test]
fn a_turn_two_levels_up_ends_the_grandchild() {
    many_schedules(|| {
        let root = root();
        let spawn = |root: &Root| -> Adder {
            let child: Queryable<(), Adder> = root
                .spawn_in_turn(machine(|(), scope: &mut Scope<'_>| {
                    scope.spawn_in_turn(adding())
                }))
                .unwrap();
            child.ask(()).unwrap()
        };
        let older = spawn(&root);
        race(&older, || spawn(&root));
    });
}

#[test]
fn an_ask_that_waits_for_the_lock_can_lose_its_turn() {
    many_schedules(|| {
        let root = root();
        let [inside, go_on] = [(); 2].map(|()| Arc::new(Barrier::new(2)));
        let older = {
            let (inside, go_on) = (Arc::clone(&inside), Arc::clone(&go_on));
            let mut steps = 0;
            root.spawn_in_turn(machine(move |slow: u64, _: &mut Scope<'_>| {
                steps += 1;
                if slow == 1 {
                    inside.wait();
                    go_on.wait();
                }
                Ok(steps)
            }))
            .unwrap()
        };
        let ask = |x| {
            let q = older.clone();
            thread::spawn(move || q.ask(x))
        };
        let slow = ask(1);
        inside.wait();
        let waiting = ask(0);
        let newer = root.spawn_in_turn(adding()).unwrap();
        go_on.wait();
        assert_eq!(slow.join().unwrap(), Ok(1), "under way when the turn moved");
        assert_eq!(waiting.join().unwrap(), OUT);
        assert_eq!(newer.ask(1), Ok(1));
    });
}

#[test]
fn of_two_turns_begun_at_once_one_is_current() {
    every_schedule(|| {
        let sequence = Sequence::new();
        let other = {
            let sequence = sequence.clone();
            thread::spawn(move || sequence.begin_next())
        };
        let mine = sequence.begin_next();
        let theirs = other.join().unwrap();
        assert!(mine.is_current() != theirs.is_current());
    });
}

#[test]
fn of_two_children_spawned_at_once_one_answers() {
    many_schedules(|| {
        let root = root();
        let spawn = {
            let root = root.clone();
            move || root.spawn_in_turn(adding()).unwrap()
        };
        let other = thread::spawn(spawn.clone());
        let mine = spawn();
        let theirs = other.join().unwrap();
        let mut answers = [mine.ask(1), theirs.ask(1)];
        answers.sort();
        assert_eq!(answers, [Ok(1), OUT]);
    });
}

#[test]
fn a_function_under_run_races_with_the_next_turn() {
    many_schedules(|| {
        let root = root();
        let sequence = Sequence::new();
        let launch = |root: &Root, sequence: &Sequence| {
            root.run([sequence.begin_next()], |scope| scope.spawn(adding()))
        };
        let other = {
            let (root, sequence) = (root.clone(), sequence.clone());
            thread::spawn(move || launch(&root, &sequence))
        };
        let mine = launch(&root, &sequence);
        let theirs = other.join().unwrap();
        let answered = [mine, theirs]
            .into_iter()
            .filter(|launched| match launched {
                Ok(child) => child.ask(1).is_ok(),
                Err(error) => {
                    assert_eq!(*error, AskError::OutOfTurn);
                    false
                }
            });
        assert_eq!(answered.count(), 1, "the newest, and only it");
    });
}
