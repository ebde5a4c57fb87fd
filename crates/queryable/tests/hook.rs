//! The process's panic hook is left alone. A file of its own, because the hook is the process's.

mod common;

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};

use queryable::{AskError, machine};

static HOOKED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn the_hook_is_called_and_stays() {
    panic::set_hook(Box::new(|_| {
        HOOKED.fetch_add(1, Ordering::SeqCst);
    }));
    let q = common::root()
        .spawn(machine(|(), _| -> Result<(), _> { panic!("in a step") }))
        .unwrap();
    assert_eq!(q.ask(()), Err(AskError::Panicked));
    assert_eq!(HOOKED.load(Ordering::SeqCst), 1);
    assert_eq!(
        q.ask(()),
        Err(AskError::Panicked),
        "later asks do not panic again"
    );
    assert_eq!(HOOKED.load(Ordering::SeqCst), 1);
    assert!(panic::catch_unwind(|| panic!("elsewhere")).is_err());
    assert_eq!(HOOKED.load(Ordering::SeqCst), 2);
}
