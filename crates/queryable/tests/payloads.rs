//! What a panic carries is dropped once, by nobody's lock, and does no harm.

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::{adder, root};
use queryable::coins::Bit;
use queryable::{
    AskError, Heard, Machine, Move, Queryable, Root, Scope, guarded, machine, once, translate,
};

/// Counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn every_payload_is_dropped_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let throw = {
        let drops = Arc::clone(&drops);
        move || -> u64 { panic_any(Counted(Arc::clone(&drops))) }
    };
    let dropped = |expected: usize, what: &str| {
        assert_eq!(drops.load(Ordering::SeqCst), expected, "{what}");
    };
    let root = root();
    let step = || {
        let throw = throw.clone();
        root.spawn(machine(move |(), _| Ok(throw()))).unwrap()
    };

    let q = step();
    assert_eq!(q.ask(()), Err(AskError::Panicked));
    dropped(1, "a step");
    assert_eq!(q.ask(()), Err(AskError::Panicked));
    dropped(1, "a step that panicked before");

    assert_eq!(root.run([], |_| Ok(throw())), Err(AskError::Panicked));
    dropped(2, "a function");
    assert_eq!(guarded(&throw), Err(AskError::Panicked));
    dropped(3, "guarded code");

    let inner = root.spawn(machine(|(), _| Ok(1))).unwrap();
    let thrown = throw.clone();
    let processor = translate(|(): ()| (), move |_: u64| thrown());
    let front = root.postprocess(&inner, processor).unwrap();
    assert_eq!(front.ask(()), Err(AskError::Panicked));
    dropped(4, "a post-processor");

    let thrown = throw.clone();
    let analyst = machine(move |_: Heard<u64>, _| Ok(Move::Ask(thrown())));
    root.interact(analyst, &adder(&root), 3).unwrap();
    dropped(5, "an analyst");

    let inside = step();
    let parent = root.spawn(once(move |(), scope: &mut Scope<'_>| {
        let thrown = throw.clone();
        let child = scope.spawn(machine(move |(), _| Ok(thrown())))?;
        assert_eq!(child.ask(()), Err(AskError::Panicked));
        assert_eq!(inside.ask(()), Err(AskError::NotSpawnedHere));
        Ok(())
    }));
    assert_eq!(parent.unwrap().ask(()), Ok(()));
    dropped(6, "a child's step");
}

#[test]
fn a_destructors_payload_is_dropped_once() {
    struct Throws(Arc<AtomicUsize>);
    impl Drop for Throws {
        fn drop(&mut self) {
            panic_any(Counted(Arc::clone(&self.0)));
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let state = Throws(Arc::clone(&drops));
    drop(root().spawn(machine(move |(), _| {
        let _ = &state;
        Ok(())
    })));
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

/// A payload that asks its machine when it is dropped, here and on another thread.
struct Asks {
    of: Queryable<Option<Box<Asks>>, u64>,
    heard: Arc<Mutex<Vec<Result<u64, AskError>>>>,
}

impl Drop for Asks {
    fn drop(&mut self) {
        let here = self.of.ask(None);
        let there = thread::scope(|s| s.spawn(|| self.of.ask(None)).join().unwrap());
        self.heard.lock().unwrap().extend([here, there]);
    }
}

#[test]
fn a_payload_is_dropped_when_its_machine_is_not_locked() {
    let root = root();
    let heard = Arc::default();
    let q = root
        .spawn(machine(|thrown: Option<Box<Asks>>, _| match thrown {
            Some(thrown) => panic_any(thrown),
            None => Ok(1),
        }))
        .unwrap();
    let payload = Asks {
        of: q.clone(),
        heard: Arc::clone(&heard),
    };
    assert_eq!(q.ask(None), Ok(1));
    assert_eq!(q.ask(Some(Box::new(payload))), Err(AskError::Panicked));
    // A destructor may ask nobody; whoever may finds the machine unlocked.
    let expected = [AskError::NotSpawnedHere, AskError::Panicked].map(Err);
    assert_eq!(*heard.lock().unwrap(), expected);
}

/// A payload whose destructor panics with the next one.
struct Chain {
    left: usize,
    drops: Arc<AtomicUsize>,
}

impl Drop for Chain {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
        if self.left > 0 {
            // Not through the hook, which would print each.
            std::panic::resume_unwind(Box::new(Chain {
                left: self.left - 1,
                drops: Arc::clone(&self.drops),
            }));
        }
    }
}

#[test]
fn payloads_whose_destructors_panic_again_do_no_harm() {
    let throw = |left: usize| {
        let drops = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&drops);
        let q = root().spawn(machine(move |(), _| -> Result<u64, AskError> {
            let drops = Arc::clone(&counter);
            std::panic::resume_unwind(Box::new(Chain { left, drops }))
        }));
        assert_eq!(q.unwrap().ask(()), Err(AskError::Panicked));
        drops.load(Ordering::SeqCst)
    };
    assert_eq!((throw(0), throw(1), throw(20)), (1, 2, 21));
    // An endless chain is cut: what is left is forgotten.
    assert!(throw(usize::MAX) <= 1000);
    let root = root();
    let bit = |root: &Root| root.run([], |scope| scope.draw(&Bit::fair()));
    assert!(bit(&root).is_ok());
    assert_eq!(adder(&root).ask(1), Ok(1));
}

#[test]
fn a_chain_of_payloads_may_begin_while_another_step_unwinds() {
    struct Throws(usize, Arc<AtomicUsize>);
    impl Drop for Throws {
        fn drop(&mut self) {
            let (left, drops) = (self.0, Arc::clone(&self.1));
            std::panic::resume_unwind(Box::new(Chain { left, drops }));
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&drops);
    let parent = root().spawn(machine(move |panics: bool, scope: &mut Scope<'_>| {
        let state = Throws(20, Arc::clone(&counter));
        let _child = scope.spawn(machine(move |(), _| {
            let _ = &state;
            Ok(())
        }))?;
        assert!(!panics, "the child is dropped now");
        Ok(())
    }));
    assert_eq!(parent.unwrap().ask(true), Err(AskError::Panicked));
    assert_eq!(drops.load(Ordering::SeqCst), 21);
}

#[test]
fn a_payload_that_holds_a_long_chain_of_machines_is_dropped_by_a_loop() {
    struct Holds(#[allow(dead_code)] Option<Queryable<(), u64>>);
    impl Machine for Holds {
        type Query = ();
        type Answer = u64;
        fn step(&mut self, (): (), _: &mut Scope<'_>) -> Result<u64, AskError> {
            Ok(1)
        }
    }
    let root = root();
    let mut last = None;
    for _ in 0..100_000 {
        last = Some(root.spawn(Holds(last)).unwrap());
    }
    let mut last = last.map(Mutex::new);
    let thrown = root.run([], |_| -> Result<(), _> { panic_any(last.take()) });
    assert_eq!(thrown, Err(AskError::Panicked));
}
