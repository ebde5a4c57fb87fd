//! Asks, halts, panics, spawns and drops that race on shared handles: every answer is given once, nothing is lost.

use std::sync::Arc;

use crate::common::{Adder, Outcome, adding, every_schedule, many_schedules, root};
use queryable_model::coins::Uniform;
use queryable_model::compose::{Numbered, Numbering, Routed};
use queryable_model::{AskError, Machine, Queryable, Root, Scope, machine, translate};
use shuttle::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use shuttle::thread;

/// Asks on a thread of its own.
fn ask_apart(q: &Adder, x: u64) -> thread::JoinHandle<Outcome> {
    let q = q.clone();
    thread::spawn(move || q.ask(x))
}

#[test]
fn asks_of_one_machine_take_turns() {
    every_schedule(|| {
        let q = root().spawn(adding()).unwrap();
        let other = ask_apart(&q, 1);
        let mine = q.ask(1).unwrap();
        let theirs = other.join().unwrap().unwrap();
        assert_eq!(mine.min(theirs), 1);
        assert_eq!(mine.max(theirs), 2);
        assert_eq!(q.ask(1), Ok(3));
    });
}

#[test]
fn three_threads_one_machine_and_a_processor() {
    many_schedules(|| {
        let root = root();
        let q = root.spawn(adding()).unwrap();
        let front = root
            .postprocess(&q, translate(|x: u64| x, |x: u64| x))
            .unwrap();
        let threads = [ask_apart(&q, 1), ask_apart(&front, 1), ask_apart(&front, 1)];
        let mut seen = threads.map(|t| t.join().unwrap().unwrap());
        seen.sort();
        assert_eq!(seen, [1, 2, 3]);
    });
}

#[test]
fn a_halt_lets_the_answer_under_way_finish_and_no_other() {
    every_schedule(|| {
        let q = root().spawn(adding()).unwrap();
        let halted = Arc::new(AtomicBool::new(false));
        let asker = {
            let (q, halted) = (q.clone(), Arc::clone(&halted));
            thread::spawn(move || {
                let before = halted.load(Ordering::SeqCst);
                (before, q.ask(1))
            })
        };
        q.halt().unwrap();
        halted.store(true, Ordering::SeqCst);
        let (before, answer) = asker.join().unwrap();
        assert!(matches!(answer, Ok(1) | Err(AskError::Halted)));
        assert!(!before || answer.is_err(), "answered after the halt");
        assert_eq!(q.ask(1), Err(AskError::Halted));
    });
}

#[test]
fn a_panic_is_seen_by_everybody_after_it() {
    many_schedules(|| {
        let root = root();
        let mut left = 2;
        let q = root
            .spawn(machine(move |x: u64, _: &mut Scope<'_>| {
                left -= 1;
                // Without a message through the hook: there are thousands of runs.
                if left < 0 {
                    std::panic::resume_unwind(Box::new("worn out"));
                }
                Ok(x)
            }))
            .unwrap();
        let bystander = root.spawn(adding()).unwrap();
        let threads = [ask_apart(&q, 1), ask_apart(&q, 1), ask_apart(&bystander, 1)];
        let mine = q.ask(1);
        let [a, b, other] = threads.map(|t| t.join().unwrap());
        let mut seen = [mine, a, b];
        seen.sort();
        assert_eq!(seen, [Ok(1), Ok(1), Err(AskError::Panicked)]);
        assert_eq!((other, q.ask(1)), (Ok(1), Err(AskError::Panicked)));
    });
}

/// Counts how often it is dropped.
struct Counted {
    drops: Arc<AtomicU64>,
    child: Option<Queryable<(), ()>>,
}

impl Machine for Counted {
    type Query = ();
    type Answer = ();
    fn step(&mut self, (): (), scope: &mut Scope<'_>) -> Result<(), AskError> {
        let drops = Arc::clone(&self.drops);
        self.child = Some(scope.spawn(Counted { drops, child: None })?);
        Ok(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn every_state_is_dropped_once() {
    many_schedules(|| {
        let drops = Arc::new(AtomicU64::new(0));
        let q = root()
            .spawn(Counted {
                drops: Arc::clone(&drops),
                child: None,
            })
            .unwrap();
        let threads = [(); 2].map(|()| {
            let q = q.clone();
            thread::spawn(move || {
                q.ask(()).unwrap();
                drop(q);
            })
        });
        drop(q);
        for thread in threads {
            thread.join().unwrap();
        }
        // Two asks spawned a child each; the second replaced the first.
        assert_eq!(drops.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn a_parent_and_the_analyst_ask_the_same_child() {
    many_schedules(|| {
        let root = root();
        let mut child: Option<Adder> = None;
        let parent: Queryable<u64, (Adder, u64)> = root
            .spawn(machine(move |x: u64, scope: &mut Scope<'_>| {
                if child.is_none() {
                    child = Some(scope.spawn(adding())?);
                }
                let child = child.as_ref().ok_or(AskError::Halted)?;
                Ok((child.clone(), child.ask(x)?))
            }))
            .unwrap();
        let (child, _) = parent.ask(1).unwrap();
        // A processor on the child, one on the parent, and both directly.
        let on_child = root
            .postprocess(&child, translate(|x: u64| x, |x: u64| x))
            .unwrap();
        let on_parent = root
            .postprocess(&parent, translate(|x: u64| x, |(_, sum): (Adder, u64)| sum))
            .unwrap();
        let threads = [
            ask_apart(&on_child, 1),
            ask_apart(&on_parent, 1),
            ask_apart(&child, 1),
        ];
        parent.ask(1).unwrap();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
        assert_eq!(child.ask(1), Ok(6), "every ask counted");
    });
}

/// A query that carries a handle.
struct Knock(Queryable<Knock, u64>);

#[test]
fn machines_that_ask_one_another_are_refused_not_stuck() {
    many_schedules(|| {
        let root = root();
        let knocks = || {
            machine(|Knock(at): Knock, _: &mut Scope<'_>| {
                let back = Knock(at.clone());
                at.ask(back)
            })
        };
        let (a, b) = (root.spawn(knocks()).unwrap(), root.spawn(knocks()).unwrap());
        let other = {
            let (a, b) = (a.clone(), b.clone());
            thread::spawn(move || b.ask(Knock(a)))
        };
        let refused = Err(AskError::NotSpawnedHere);
        assert_eq!(a.ask(Knock(b)), refused);
        assert_eq!(other.join().unwrap(), refused);
    });
}

#[test]
fn a_destructor_on_another_thread_asks_nobody() {
    struct Tells(Adder, Arc<AtomicBool>);
    impl Drop for Tells {
        fn drop(&mut self) {
            let refused = self.0.ask(1) == Err(AskError::NotSpawnedHere);
            self.1.store(refused, Ordering::SeqCst);
        }
    }
    many_schedules(|| {
        let root = root();
        let friend = root.spawn(adding()).unwrap();
        let refused = Arc::new(AtomicBool::new(false));
        let tells = Tells(friend.clone(), Arc::clone(&refused));
        let q = root
            .spawn(machine(move |(), _: &mut Scope<'_>| {
                let _ = &tells;
                Ok(0)
            }))
            .unwrap();
        let clone = q.clone();
        let other = thread::spawn(move || clone.ask(()).map(drop));
        let asks = ask_apart(&friend, 1);
        drop(q);
        other.join().unwrap().unwrap();
        assert_eq!(asks.join().unwrap(), Ok(1), "the analyst may ask meanwhile");
        assert!(refused.load(Ordering::SeqCst));
    });
}

#[test]
fn children_of_a_shared_root_have_different_coins() {
    many_schedules(|| {
        let root = root();
        let spawn = {
            let root = root.clone();
            move || {
                let many = Uniform::below(1 << 60).unwrap();
                let q = root
                    .spawn(machine(move |(), scope: &mut Scope<'_>| scope.draw(&many)))
                    .unwrap();
                q.ask(()).unwrap()
            }
        };
        let other = thread::spawn(spawn.clone());
        let mine = spawn();
        assert_ne!(mine, other.join().unwrap());
    });
}

#[test]
fn functions_that_race_for_blocks_get_different_ones_and_skip_none() {
    const THREADS: u64 = 3;
    const EACH: u64 = 2;
    fn draws(root: &Root, count: u64) -> Vec<u64> {
        let many = Uniform::below(1 << 60).unwrap();
        let draw = |_| root.run([], |scope| scope.draw(&many)).unwrap();
        (0..count).map(draw).collect()
    }
    many_schedules(|| {
        let root = root();
        let spawn = |_| {
            let root = root.clone();
            thread::spawn(move || draws(&root, EACH))
        };
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        let drawn = threads.into_iter().flat_map(|t| t.join().unwrap());
        let mut drawn: Vec<u64> = drawn.chain(draws(&root, 3)).collect();
        let count = drawn.len();
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn.len(), count, "a block was given out twice");
        // At most three blocks of the last batch are left.
        let first = draws(&crate::common::root(), count as u64 + 3);
        assert!(drawn.iter().all(|word| first.contains(word)));
    });
}

/// A machine that answers handles to children.
struct Child(Queryable<u64, Child>);

impl Numbering for Child {
    type Query = u64;
    type Message = usize;
    fn number(self, number: &mut dyn FnMut(Queryable<u64, Self>) -> usize) -> usize {
        number(self.0)
    }
}

fn parent() -> Box<dyn Machine<Query = u64, Answer = Child>> {
    Box::new(machine(|_: u64, scope: &mut Scope<'_>| {
        scope.spawn(parent()).map(Child)
    }))
}

#[test]
fn numbers_are_given_once() {
    many_schedules(|| {
        let tree = Arc::new(Numbered::new(root().spawn(parent()).unwrap()));
        let ask = {
            let tree = Arc::clone(&tree);
            move |to| tree.ask(Routed { to, query: 0 })
        };
        let other = thread::spawn({
            let ask = ask.clone();
            move || ask(0).unwrap()
        });
        let mut numbers = [ask(0).unwrap(), other.join().unwrap()];
        numbers.sort();
        assert_eq!(numbers, [1, 2]);
        assert_eq!(ask(2).unwrap(), 3);
    });
}
