//! Real forks. One test after the other in a process with one thread, because a child has only the thread that forked.

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    let tests: [(&str, fn()); 7] = [
        ("children_and_grandchildren_are_other_processes", processes),
        ("a_forked_root_refuses_and_the_parent_goes_on", roots),
        ("a_forked_machine_is_neither_asked_nor_halted", machines),
        ("a_step_that_forks_draws_and_spawns_no_more", steps),
        ("a_forked_session_refuses_uncharged", sessions),
        ("a_forked_ledger_is_neither_opened_nor_written", ledgers),
        ("roots_made_after_the_fork_work", after),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
}

#[cfg(unix)]
use cases::*;

#[cfg(unix)]
mod cases {
    use std::io::{Write, stderr};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use fork_count::Process;
    use ledger::{Ledger, LedgerError};
    use measures::{Basic, PrivacyMap, PureDp};
    use odometer::{LaunchError, Measurement, Odometer, OpenError, Records};
    use queryable::coins::Uniform;
    use queryable::{AskError, Machine, Queryable, Root, Scope, machine, translate};

    /// Runs `child` in a forked process; it must not panic.
    #[allow(unsafe_code, reason = "there is no safe way to fork")]
    fn fork(child: impl FnOnce()) {
        // SAFETY: this process has one thread, so the child has everything that this process has. It leaves by `_exit`,
        // so that nothing that the parent does when it ends is done twice.
        let status = unsafe {
            match libc::fork() {
                -1 => panic!("cannot fork"),
                0 => {
                    let outcome = catch_unwind(AssertUnwindSafe(child));
                    let _ = stderr().flush();
                    libc::_exit(i32::from(outcome.is_err()));
                }
                child => {
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                    status
                }
            }
        };
        assert_eq!(status, 0, "the child failed");
    }

    const FORKED: AskError = AskError::Forked;

    fn drawing() -> impl Machine<Query = (), Answer = u64> {
        let word = Uniform::below(1 << 60).unwrap();
        machine(move |(), scope: &mut Scope<'_>| scope.draw(&word))
    }

    fn drawn(root: &Root) -> Result<u64, AskError> {
        let word = Uniform::below(1 << 60).unwrap();
        root.run([], |scope| scope.draw(&word))
    }

    pub fn processes() {
        let parent = Process::current();
        fork(move || {
            assert!(!parent.is_current());
            let child = Process::current();
            assert!(child.is_current() && child != parent);
            fork(move || {
                assert!(!child.is_current() && !parent.is_current());
                assert!(Process::current().is_current());
            });
            assert!(child.is_current());
        });
        assert!(parent.is_current());
        assert_eq!(parent, Process::current());
    }

    pub fn roots() {
        let (root, reference) = (Root::seeded([1; 32]), Root::seeded([1; 32]));
        fork(|| {
            let root = &root;
            assert_eq!(root.check(), Err(FORKED));
            assert_eq!(drawn(root), Err(FORKED));
            assert_eq!(root.run([], |_| Ok(())), Err(FORKED));
            assert_eq!(root.spawn(drawing()).unwrap_err(), FORKED);
            assert_eq!(root.spawn_in_turn(drawing()).unwrap_err(), FORKED);
            assert_eq!(root.branch().unwrap_err(), FORKED);
            let analyst = machine(|_, _: &mut Scope<'_>| Ok(queryable::Move::<()>::Halt));
            let other = Root::seeded([2; 32]).spawn(drawing()).unwrap();
            assert_eq!(root.interact(analyst, &other, 1).unwrap_err(), FORKED);
            let front = root.postprocess(&other, translate(|(): ()| (), |x: u64| x));
            assert_eq!(front.unwrap_err(), FORKED);
            assert!(FORKED.to_string().contains("after the fork"));
        });
        assert_eq!(root.check(), Ok(()));
        assert_eq!(drawn(&root), drawn(&reference), "nothing was drawn");
        let spawned = |root: &Root| root.spawn(drawing()).unwrap().ask(()).unwrap();
        assert_eq!(spawned(&root), spawned(&reference), "nothing was spawned");
    }

    pub fn machines() {
        let seeded = || {
            let root = Root::seeded([3; 32]);
            let q = root.spawn(drawing()).unwrap();
            let unborn = root.spawn(drawing()).unwrap();
            let processor = translate(|(): ()| (), |x: u64| x);
            let front = root.postprocess(&q, processor).unwrap();
            let in_turn = root.spawn_in_turn(drawing()).unwrap();
            q.ask(()).unwrap();
            (root, [q, unborn, front, in_turn])
        };
        let (_root, all) = seeded();
        fork(|| {
            let own = Root::seeded([4; 32]);
            for q in &all {
                assert_eq!(q.ask(()), Err(FORKED));
                assert_eq!(q.halt(), Err(FORKED));
                let front = own.postprocess(q, translate(|(): ()| (), |x: u64| x));
                assert_eq!(front.unwrap_err(), FORKED);
                assert_eq!(own.run([], |_| q.ask(())), Err(FORKED));
            }
        });
        let (_reference, others) = seeded();
        let answers = |all: &[Queryable<(), u64>]| all.iter().map(|q| q.ask(())).collect();
        let (ours, theirs): (Vec<_>, Vec<_>) = (answers(&all), answers(&others));
        assert!(ours.iter().all(Result::is_ok));
        assert_eq!(ours, theirs);
    }

    pub fn steps() {
        let root = Root::seeded([5; 32]);
        let word = Uniform::below(10).unwrap();
        let step = |scope: &mut Scope<'_>| {
            let child = scope.spawn(drawing())?;
            fork(|| {
                assert_eq!(scope.draw(&word), Err(FORKED));
                assert_eq!(scope.spawn(drawing()).unwrap_err(), FORKED);
                assert_eq!(scope.spawn_in_turn(drawing()).unwrap_err(), FORKED);
                assert_eq!(scope.root().unwrap_err(), FORKED);
                assert_eq!(child.ask(()), Err(FORKED));
            });
            scope.draw(&word)?;
            child.ask(())
        };
        root.run([], step).unwrap();
    }

    pub fn sessions() {
        let records = Records::<bool>::new();
        let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
        let word = Uniform::below(1 << 60).unwrap();
        let noise = Measurement::new("noise", records, map, move |_, scope| scope.draw(&word));
        let filter = Odometer::new(records, Basic::new(PureDp)).filter(1, "1");
        let session = filter.unwrap().invoke(vec![true]).unwrap();
        let nested = session.nested("inner").capped(1, "1").open().unwrap();
        session.launch(&noise).unwrap();
        fork(|| {
            let refused = Some(LaunchError::Unusable(FORKED));
            for session in [&session, &nested] {
                let launched = session.launch(&noise).err();
                assert!(launched.as_ref().is_some_and(|error| !error.was_charged()));
                assert_eq!(launched, refused);
                assert_eq!(session.remaining(1).err(), refused);
                assert_eq!(session.privacy_loss(1).err(), refused);
                assert_eq!(session.loss_after(&noise, 1).err(), refused);
                assert_eq!(session.spent().err(), refused);
                let opened = session.nested("inner").open().err();
                assert_eq!(opened, Some(OpenError::Unusable(FORKED)));
                let rest = session.spend_rest(1, |_| noise.clone());
                assert_eq!(rest.err(), refused);
            }
        });
        assert_eq!(session.remaining(1).unwrap(), Some("0.5".parse().unwrap()));
        nested.launch(&noise).unwrap();
        assert_eq!(session.remaining(1).unwrap(), Some("0".parse().unwrap()));
    }

    /// A forked process has a copy of all accounts, and the file with its lock.
    pub fn ledgers() {
        let path = std::env::temp_dir().join(format!("odometry-fork-{}.redb", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let records = Records::<bool>::new();
        let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
        let query = Measurement::new("query", records, map, |_, _| Ok(()));
        let odometer = Odometer::new(records, Basic::new(PureDp));
        let open = |ledger: &Ledger| odometer.filter_on(ledger.books(), 1, "1", vec![true]);
        let ledger = Ledger::open(&path).unwrap();
        let session = open(&ledger).unwrap();
        session.launch(&query).unwrap();
        let (head, mut held) = (ledger.head(), Some((ledger, session)));
        fork(|| {
            let (ledger, session) = held.take().unwrap();
            assert_eq!(open(&ledger).err(), Some(OpenError::Unusable(FORKED)));
            let launched = session.request("again").launch(&query).err();
            assert_eq!(launched, Some(LaunchError::Unusable(FORKED)));
            assert!(matches!(ledger.checkpoint(), Err(LedgerError::Commit(_))));
            assert!(ledger.verify().is_err());
            drop((ledger, session));
        });
        let (ledger, session) = held.take().unwrap();
        session.launch(&query).unwrap();
        assert!(session.launch(&query).is_err());
        assert_eq!(ledger.verify().unwrap().seq, head.seq + 1);
        drop((ledger, session));
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.verify().unwrap().seq, head.seq + 1);
        assert!(open(&ledger).unwrap().launch(&query).is_err());
        std::fs::remove_file(&path).unwrap();
    }

    pub fn after() {
        let before = Root::from_os().unwrap();
        fork(move || {
            let root = Root::from_os().unwrap();
            drawn(&root).unwrap();
            let q = root.spawn(drawing()).unwrap();
            q.ask(()).unwrap();
            q.halt().unwrap();
            // Dropping what the parent made is no use of it.
            drop(before);
        });
    }
}
