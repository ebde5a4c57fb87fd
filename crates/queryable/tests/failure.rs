//! Wrong queries, halts and panics: what they leave as it was, and what they end.

use std::panic::panic_any;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::{adder, adding, root};
use queryable::coins::Bit;
use queryable::{AskError, Machine, Queryable, Root, Scope, machine, once};

#[test]
fn a_wrong_query_leaves_the_state() {
    let root = root();
    let q = adder(&root);
    assert_eq!(q.ask(2), Ok(2));
    assert_eq!(q.ask(0), Err(AskError::invalid("zero")));
    assert_eq!(q.ask(3), Ok(5));
}

#[test]
fn a_wrong_query_takes_no_coins() {
    let run = |wrong: bool| {
        let q = root()
            .spawn(machine(|ok: bool, scope: &mut Scope<'_>| {
                if !ok {
                    return Err(AskError::invalid("no"));
                }
                scope.draw(&Bit::fair())
            }))
            .unwrap();
        (0..64)
            .map(|_| {
                if wrong {
                    assert!(q.ask(false).is_err());
                }
                q.ask(true).unwrap()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn a_noninteractive_function_answers_once() {
    let root = root();
    let q = root.spawn(once(|x: u64, _| Ok(x))).unwrap();
    assert_eq!((q.ask(1), q.ask(1)), (Ok(1), Err(AskError::Halted)));
    let q = root
        .spawn(once(|_: u64, _| Err::<u64, _>(AskError::failed("no"))))
        .unwrap();
    assert_eq!(q.ask(1), Err(AskError::failed("no")));
    assert_eq!(q.ask(1), Err(AskError::Halted));
}

#[test]
fn the_machine_halts_after_its_last_answer_or_error() {
    let root = root();
    for last in [Ok(1), Err(AskError::failed("the end"))] {
        let said = last.clone();
        let q = root
            .spawn(machine(move |(), scope: &mut Scope<'_>| {
                scope.halt();
                said.clone()
            }))
            .unwrap();
        assert_eq!(q.ask(()), last);
        assert_eq!(q.ask(()), Err::<u64, _>(AskError::Halted));
    }
}

#[test]
fn the_analyst_halts_every_clone_and_no_child() {
    let root = root();
    let parent: Queryable<(), Queryable<u64, u64>> = root
        .spawn(machine(|(), scope: &mut Scope<'_>| scope.spawn(adding())))
        .unwrap();
    let child = parent.ask(()).unwrap();
    let clone = parent.clone();
    clone.halt().unwrap();
    clone.halt().unwrap();
    assert_eq!(parent.ask(()).unwrap_err(), AskError::Halted);
    assert_eq!(child.ask(1), Ok(1));
}

#[test]
fn a_panic_stays_a_panic_when_halted() {
    let q = root()
        .spawn(machine(|(), _| -> Result<(), _> { panic!("oh") }))
        .unwrap();
    assert_eq!(q.ask(()), Err(AskError::Panicked));
    q.halt().unwrap();
    assert_eq!(q.ask(()), Err(AskError::Panicked));
}

#[test]
fn a_childs_end_does_not_end_its_parent() {
    let root = root();
    for panics in [false, true] {
        let mut child: Option<Queryable<u64, u64>> = None;
        let parent = root
            .spawn(machine(move |x: u64, scope: &mut Scope<'_>| {
                if child.is_none() {
                    child = Some(scope.spawn(machine(move |x: u64, scope: &mut Scope<'_>| {
                        assert!(x != 9 || !panics, "nine");
                        if x == 9 {
                            scope.halt();
                        }
                        Ok(x)
                    }))?);
                }
                match x {
                    0 => Ok(0),
                    _ => child.as_ref().ok_or(AskError::Halted)?.ask(x),
                }
            }))
            .unwrap();
        assert_eq!(parent.ask(1), Ok(1));
        let _ = parent.ask(9);
        let gone = if panics {
            AskError::Panicked
        } else {
            AskError::Halted
        };
        assert_eq!(
            parent.ask(1),
            Err(gone.clone()),
            "the child's error, passed on"
        );
        assert_eq!(parent.ask(1), Err(gone));
        assert_eq!(parent.ask(0), Ok(0), "the parent lives");
    }
}

#[test]
fn a_panic_halts_only_that_machine() {
    let root = root();
    let bystander = adder(&root);
    let parent: Queryable<bool, Queryable<u64, u64>> = root
        .spawn(machine(|panics: bool, scope: &mut Scope<'_>| {
            let child = scope.spawn(adding())?;
            assert!(!panics, "as told");
            Ok(child)
        }))
        .unwrap();
    let clone = parent.clone();
    let child = parent.ask(false).unwrap();
    assert_eq!(parent.ask(true).unwrap_err(), AskError::Panicked);
    for handle in [&parent, &clone] {
        assert_eq!(handle.ask(false).unwrap_err(), AskError::Panicked);
    }
    // From another thread, too: no lock is poisoned.
    thread::scope(|s| {
        let gone = s.spawn(|| clone.ask(false).unwrap_err()).join().unwrap();
        assert_eq!(gone, AskError::Panicked);
    });
    assert_eq!(child.ask(1), Ok(1), "children that were handed out live");
    assert_eq!(bystander.ask(1), Ok(1));
    assert_eq!(adder(&root).ask(1), Ok(1), "the root spawns on");
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("from a destructor");
    }
}

#[test]
fn a_payload_whose_destructor_panics_is_harmless() {
    let root = root();
    let q = root
        .spawn(machine(|(), _| -> Result<(), _> { panic_any(Bomb) }))
        .unwrap();
    assert_eq!(q.ask(()), Err(AskError::Panicked));
    assert_eq!(q.ask(()), Err(AskError::Panicked));
    assert_eq!(
        root.run([], |_| -> Result<(), _> { panic_any(Bomb) }),
        Err(AskError::Panicked)
    );
    assert_eq!(adder(&root).ask(1), Ok(1));
}

/// A machine whose destructor panics.
struct Mine(#[allow(dead_code)] Bomb);

impl Machine for Mine {
    type Query = bool;
    type Answer = u64;
    fn step(&mut self, panics: bool, _: &mut Scope<'_>) -> Result<u64, AskError> {
        assert!(!panics, "as told");
        Ok(1)
    }
}

#[test]
fn a_state_whose_destructor_panics_is_harmless() {
    let root = root();
    drop(root.spawn(Mine(Bomb)).unwrap());
    // After a panic of its own.
    let q = root.spawn(Mine(Bomb)).unwrap();
    assert_eq!(q.ask(true), Err(AskError::Panicked));
    drop(q);
    // Inside another machine's step, which goes on; and while that step unwinds, which would abort the process.
    let parent = root
        .spawn(machine(|panics: bool, scope: &mut Scope<'_>| {
            let child = scope.spawn(Mine(Bomb))?;
            let answer = child.ask(false)?;
            assert!(!panics, "as told");
            Ok(answer)
        }))
        .unwrap();
    assert_eq!(parent.ask(false), Ok(1));
    assert_eq!(parent.ask(true), Err(AskError::Panicked));
    assert_eq!(adder(&root).ask(1), Ok(1));
}

#[test]
fn a_query_whose_destructor_panics_leaves_no_lock_behind() {
    struct Letter(#[allow(dead_code)] Option<Bomb>);
    let q = root().spawn(machine(|_: Letter, _| Ok(1))).unwrap();
    assert_eq!(q.ask(Letter(None)), Ok(1));
    q.halt().unwrap();
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = q.ask(Letter(Some(Bomb)));
    }));
    std::mem::forget(refused.unwrap_err());
    assert_eq!(q.ask(Letter(None)), Err(AskError::Halted));
}

/// A query that asks the machine again when it is dropped.
struct Persistent {
    of: Option<Queryable<Persistent, u64>>,
    heard: Arc<Mutex<Vec<Result<u64, AskError>>>>,
}

impl Drop for Persistent {
    fn drop(&mut self) {
        if let Some(q) = self.of.take() {
            let heard = Arc::clone(&self.heard);
            let again = q.ask(Persistent { of: None, heard });
            self.heard.lock().unwrap().push(again);
        }
    }
}

#[test]
fn a_query_whose_destructor_asks_again_is_not_stuck() {
    let heard = Arc::default();
    let ask = |q: &Queryable<Persistent, u64>| {
        let query = Persistent {
            of: Some(q.clone()),
            heard: Arc::clone(&heard),
        };
        q.ask(query)
    };
    let root = root();
    let q = root
        .spawn_in_turn(machine(|_: Persistent, _| Ok(1)))
        .unwrap();
    // Inside the step it is refused like any ask; when the query itself is refused, the analyst's side drops it.
    assert_eq!(ask(&q), Ok(1));
    let _newer = root.spawn_in_turn(adding()).unwrap();
    assert_eq!(ask(&q), Err(AskError::OutOfTurn));
    q.halt().unwrap();
    assert_eq!(ask(&q), Err(AskError::Halted));
    let expected = [
        AskError::NotSpawnedHere,
        AskError::OutOfTurn,
        AskError::Halted,
    ]
    .map(Err);
    assert_eq!(*heard.lock().unwrap(), expected);
}

#[test]
fn the_last_handle_may_be_dropped_inside_a_step() {
    // A machine drops the only other handle of its child, and a machine's own handle is dropped while it steps.
    let root = root();
    let slot: Arc<Mutex<Option<Queryable<(), u64>>>> = Arc::default();
    let own = Arc::clone(&slot);
    let q = root
        .spawn(machine(move |(), scope: &mut Scope<'_>| {
            own.lock().unwrap().take();
            drop(scope.spawn(adding())?);
            Ok(1)
        }))
        .unwrap();
    *slot.lock().unwrap() = Some(q.clone());
    assert_eq!((q.ask(()), q.ask(())), (Ok(1), Ok(1)));
}

#[test]
fn a_function_that_fails_or_panics_spends_only_itself() {
    let root = root();
    let failed = root.run([], |_| Err::<(), _>(AskError::failed("no")));
    assert_eq!(failed, Err(AskError::failed("no")));
    assert_eq!(root.run([], |scope| scope.spawn(adding())?.ask(4)), Ok(4));
}

#[test]
fn wrong_queries_leave_every_seeded_run_as_it_was() {
    // A tree with coins: the same answers with and without wrong queries in between.
    let run = |wrong: bool| {
        let root = Root::seeded([3; 32]);
        let parent: Queryable<u64, Queryable<(), bool>> = root
            .spawn(machine(|x: u64, scope: &mut Scope<'_>| {
                if x == 0 {
                    return Err(AskError::invalid("zero"));
                }
                scope.spawn(machine(|(), scope: &mut Scope<'_>| {
                    scope.draw(&Bit::fair())
                }))
            }))
            .unwrap();
        (0..32)
            .flat_map(|_| {
                if wrong {
                    assert!(parent.ask(0).is_err());
                }
                let child = parent.ask(1).unwrap();
                [child.ask(()).unwrap(), child.ask(()).unwrap()]
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
}
