//! The checker can fail: mistakes that were planted in a machine are found, although steps catch panics.

use std::sync::Arc;

use crate::common::{every_schedule, every_schedule_up_to, many_schedules, root};
use queryable_model::{Queryable, Scope, machine};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicU64, Ordering};
use shuttle::thread;

/// Two machines that take two locks inside their steps.
fn two_locks(same_order: bool) {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let root = root();
    let spawn = |swap: bool| -> Queryable<(), ()> {
        let locks = Arc::clone(&locks);
        let step = move |(), _: &mut Scope<'_>| {
            let (a, b) = if swap {
                (&locks.1, &locks.0)
            } else {
                (&locks.0, &locks.1)
            };
            let _a = a.lock();
            let _b = b.lock();
            Ok(())
        };
        root.spawn(machine(step)).unwrap()
    };
    let (first, second) = (spawn(false), spawn(!same_order));
    let thread = thread::spawn(move || first.ask(()).unwrap());
    second.ask(()).unwrap();
    thread.join().unwrap();
}

#[test]
fn locks_in_one_order_are_fine() {
    many_schedules(|| two_locks(true));
}

#[test]
#[should_panic(expected = "deadlock")]
fn locks_in_two_orders_are_found() {
    many_schedules(|| two_locks(false));
}

/// Two machines that add to a shared number, at once or by reading and writing.
fn shared_number(at_once: bool) {
    let number = Arc::new(AtomicU64::new(0));
    let root = root();
    let spawn = || -> Queryable<(), ()> {
        let number = Arc::clone(&number);
        let step = move |(), _: &mut Scope<'_>| {
            if at_once {
                number.fetch_add(1, Ordering::SeqCst);
            } else {
                number.store(number.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
            }
            Ok(())
        };
        root.spawn(machine(step)).unwrap()
    };
    let (first, second) = (spawn(), spawn());
    let thread = thread::spawn(move || first.ask(()).unwrap());
    second.ask(()).unwrap();
    thread.join().unwrap();
    assert_eq!(number.load(Ordering::SeqCst), 2, "an addition was lost");
}

#[test]
fn adding_at_once_is_fine() {
    many_schedules(|| shared_number(true));
}

#[test]
#[should_panic(expected = "an addition was lost")]
fn a_lost_addition_is_found() {
    many_schedules(|| shared_number(false));
}

/// Two threads with one step each that others can see.
fn two_steps() {
    let number = Arc::new(AtomicU64::new(0));
    let add = {
        let number = Arc::clone(&number);
        move || number.fetch_add(1, Ordering::SeqCst)
    };
    let thread = thread::spawn(add.clone());
    add();
    thread.join().unwrap();
    assert_eq!(number.load(Ordering::SeqCst), 2);
}

#[test]
fn schedules_are_counted() {
    let schedules = every_schedule(two_steps);
    assert!(schedules > 1);
    assert_eq!(every_schedule_up_to(schedules, two_steps), schedules);
}

#[test]
#[should_panic(expected = "there are more than 1 schedules")]
fn a_search_that_is_cut_off_fails() {
    every_schedule_up_to(1, two_steps);
}

#[test]
#[should_panic(expected = "an addition was lost")]
fn every_schedule_finds_a_lost_addition() {
    every_schedule(|| shared_number(false));
}
