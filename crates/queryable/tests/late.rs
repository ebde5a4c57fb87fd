//! Queries that still change while a step runs, and answers that are given after their turn.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::root;
use queryable::{AskError, Queryable, Root, Scope, Sequence, machine, translate};

/// Says that the step has begun, and what to answer is sent later.
type Changing = (Sender<()>, Receiver<u64>);

fn listener(root: &Root) -> Queryable<Changing, u64> {
    root.spawn_in_turn(machine(|(begun, later): Changing, _| {
        begun.send(()).map_err(|_| AskError::failed("gone"))?;
        later.recv().map_err(|_| AskError::failed("gone"))
    }))
    .unwrap()
}

/// What an older child answers to a query into which the answer of a newer one is sent while it steps.
fn attack(root: &Root, older: &Queryable<Changing, u64>) -> Result<u64, AskError> {
    let ((begun, wait), (send, later)) = (channel(), channel());
    thread::scope(|s| {
        let asked = s.spawn(|| older.ask((begun, later)));
        wait.recv().unwrap();
        let newer = root.spawn_in_turn(machine(|(), _| Ok(42))).unwrap();
        send.send(newer.ask(()).unwrap()).unwrap();
        asked.join().unwrap()
    })
}

#[test]
fn a_query_that_still_changes_brings_a_newer_answer_to_an_older_child() {
    // What the hypothesis of sequential composition excludes: an answer counts from its check, so this one is given.
    let root = root();
    assert_eq!(attack(&root, &listener(&root)), Ok(42));
}

#[test]
fn a_root_that_withholds_late_answers_keeps_it_back() {
    let root = root().withholding().unwrap();
    let older = listener(&root);
    // In time, it answers.
    let ((begun, _wait), (send, later)) = (channel(), channel());
    send.send(7).unwrap();
    assert_eq!(older.ask((begun, later)), Ok(7));
    assert_eq!(attack(&root, &older), Err(AskError::OutOfTurn));
    // Whatever stands below or in front: a branch, a machine's child, a processor.
    let branch = root.branch().unwrap();
    assert_eq!(
        attack(&branch, &listener(&branch)),
        Err(AskError::OutOfTurn)
    );
    let parent = root.spawn(machine(|(), scope: &mut Scope<'_>| scope.root()));
    let below = parent.unwrap().ask(()).unwrap();
    assert_eq!(attack(&below, &listener(&below)), Err(AskError::OutOfTurn));
    let inner = listener(&root);
    let front = root
        .postprocess(&inner, translate(|q: Changing| q, |x: u64| x))
        .unwrap();
    assert_eq!(attack(&root, &front), Err(AskError::OutOfTurn));
}

#[test]
fn errors_are_withheld_like_answers() {
    for withholding in [false, true] {
        let mut root = root();
        if withholding {
            root = root.withholding().unwrap();
        }
        let moving = root.clone();
        // The analyst's side of the root, moved while the step runs.
        let turn = move || {
            thread::spawn(move || drop(moving.spawn_in_turn(machine(|(), _| Ok(())))))
                .join()
                .unwrap();
        };
        let q = root.spawn_in_turn(machine(move |(), _| {
            turn.clone()();
            Err::<(), _>(AskError::failed("what was seen"))
        }));
        let expected = match withholding {
            true => AskError::OutOfTurn,
            false => AskError::failed("what was seen"),
        };
        assert_eq!(q.unwrap().ask(()), Err(expected));
    }
}

/// An answer that asks its machine when it is dropped.
struct Asks(
    Option<Queryable<Root, Asks>>,
    Arc<Mutex<Vec<Option<AskError>>>>,
);

impl Drop for Asks {
    fn drop(&mut self) {
        if let Some(q) = self.0.take() {
            let heard = q.ask(root()).err();
            self.1.lock().unwrap().push(heard);
        }
    }
}

#[test]
fn a_withheld_answer_is_dropped_unlocked_and_asks_nobody() {
    let heard: Arc<Mutex<Vec<Option<AskError>>>> = Arc::default();
    let own: Arc<Mutex<Option<Queryable<Root, Asks>>>> = Arc::default();
    let root = root().withholding().unwrap();
    let q = {
        let (own, heard) = (Arc::clone(&own), Arc::clone(&heard));
        root.spawn_in_turn(machine(move |root: Root, _| {
            let turn = || drop(root.spawn_in_turn(machine(|(), _| Ok(()))));
            thread::scope(|s| s.spawn(turn).join().unwrap());
            Ok(Asks(own.lock().unwrap().take(), Arc::clone(&heard)))
        }))
        .unwrap()
    };
    *own.lock().unwrap() = Some(q.clone());
    assert_eq!(q.ask(root.clone()).err(), Some(AskError::OutOfTurn));
    assert_eq!(*heard.lock().unwrap(), [Some(AskError::NotSpawnedHere)]);
}

#[test]
fn functions_and_machines_without_turns_are_never_withheld() {
    let root = root().withholding().unwrap();
    let sequence = Sequence::new();
    let turn = sequence.begin_next();
    let run = root.run([turn], |_| {
        sequence.begin_next();
        Ok(1)
    });
    assert_eq!(run, Ok(1));
    let moves = sequence.clone();
    let q = root.spawn(machine(move |(), _| {
        moves.begin_next();
        Ok(1)
    }));
    assert_eq!(q.unwrap().ask(()), Ok(1));
}
