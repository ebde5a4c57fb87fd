//! Launches that are written down before they run, under every kind of schedule: a disk that syncs in a thread of its own.

use std::sync::Arc;

use crate::common::*;
use measures::{ApproxZcdp, Basic, PrivacyMap, PureDp};
use odometer_model::journal::{
    Books, Draft, Event, Journal, JournalError, Memory, OpenedPlace, Opening, Past, Place, Record,
    Written,
};
use odometer_model::{LaunchError, Measurement, Odometer};
use shuttle::sync::{Condvar, Mutex};

/// What is planted.
#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// Nobody waits for the disk.
    RunsBeforeItIsWritten,
    /// The disk wakes those who wait before it says that it has written.
    WakesTooEarly,
}

#[derive(Clone)]
struct Disk(Arc<Inner>);

struct Inner {
    memory: Memory,
    mistake: Mistake,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    staged: usize,
    written: usize,
    closing: bool,
}

impl Disk {
    fn new(mistake: Mistake) -> Self {
        Self(Arc::new(Inner {
            memory: Memory::new(),
            mistake,
            queue: Mutex::new(Queue::default()),
            changed: Condvar::new(),
        }))
    }

    /// Writes what is staged, until it is closed.
    fn run(&self) {
        loop {
            let mut queue = self.0.queue.lock().unwrap();
            while queue.staged == queue.written && !queue.closing {
                queue = self.0.changed.wait(queue).unwrap();
            }
            if queue.staged == queue.written {
                return;
            }
            let staged = queue.staged;
            drop(queue); // it takes its time, and others stage
            if self.0.mistake == Mistake::WakesTooEarly {
                self.0.changed.notify_all();
                self.0.queue.lock().unwrap().written = staged;
                continue;
            }
            self.0.queue.lock().unwrap().written = staged;
            self.0.changed.notify_all();
        }
    }

    fn wait_for(&self, record: usize) {
        let mut queue = self.0.queue.lock().unwrap();
        while queue.written < record {
            queue = self.0.changed.wait(queue).unwrap();
        }
    }

    fn close(&self) {
        self.0.queue.lock().unwrap().closing = true;
        self.0.changed.notify_all();
    }

    /// Is a launch of this name written?
    fn has(&self, name: &str) -> bool {
        let written = self.0.queue.lock().unwrap().written;
        let records = self.0.memory.records().into_iter();
        let charges = records.filter_map(|record| match record.event {
            Event::Charge(charge) => Some(charge),
            _ => None,
        });
        charges
            .take(written)
            .any(|charge| charge.description.name == name)
    }
}

struct Waiting {
    disk: Disk,
    draft: Box<dyn Draft>,
    record: usize,
}

impl Journal for Disk {
    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        self.0.memory.open(opening)
    }

    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError> {
        self.0.memory.find(opening)
    }

    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError> {
        Ok(Box::new(Waiting {
            disk: self.clone(),
            draft: self.0.memory.draft(record)?,
            record: 0,
        }))
    }

    fn flush(&self) -> Result<(), JournalError> {
        let staged = self.0.queue.lock().unwrap().staged;
        self.wait_for(staged);
        Ok(())
    }
}

impl Draft for Waiting {
    fn stage(&mut self) -> Result<(), JournalError> {
        let mut queue = self.disk.0.queue.lock().unwrap();
        self.draft.stage()?;
        queue.staged += 1;
        self.record = queue.staged;
        drop(queue);
        self.disk.0.changed.notify_all();
        Ok(())
    }

    fn wait(self: Box<Self>) -> Result<Written, JournalError> {
        if self.disk.0.mistake != Mistake::RunsBeforeItIsWritten {
            self.disk.wait_for(self.record);
        }
        self.draft.wait()
    }
}

/// A measurement that says whether its own charge is written.
fn looks(
    disk: &Disk,
    name: &'static str,
    cost: &str,
) -> Measurement<odometer_model::Records<i64>, PureDp, bool> {
    let map = PrivacyMap::per_record(PureDp, epsilon(cost));
    let disk = disk.clone();
    Measurement::new(name, records(), map, move |_, _| Ok(disk.has(name)))
}

fn books(disk: &Disk) -> Books {
    Books::with_repeated_coins_for_tests(disk.clone(), &root())
}

/// Three threads on two levels, a budget for two of them.
fn everything_that_runs_is_written(mistake: Mistake) {
    let disk = Disk::new(mistake);
    let odometer = Odometer::new(records(), Basic::new(PureDp)).named("all");
    let session = odometer
        .filter_on(&books(&disk), 1, epsilon("2"), vec![1])
        .unwrap();
    let team = session.nested("team").open().unwrap();
    let writing = {
        let disk = disk.clone();
        spawn(move || disk.run())
    };
    let threads = [
        (session.clone(), "one"),
        (team.clone(), "two"),
        (team, "three"),
    ];
    let threads = threads.map(|(session, name)| {
        let looks = looks(&disk, name, "1");
        spawn(move || match session.launch(&looks) {
            Ok(written) => {
                assert!(written, "it ran before it was written down");
                1
            }
            Err(LaunchError::Refused(_)) => 0,
            Err(other) => panic!("{other}"),
        })
    });
    let launched: usize = threads.map(|thread| thread.join().unwrap()).iter().sum();
    assert_eq!(launched, 2);
    disk.close();
    writing.join().unwrap();
    let again = Memory::replaying(&disk.0.memory.records()).unwrap();
    let again = Books::with_repeated_coins_for_tests(again, &root());
    let again = odometer
        .filter_on(&again, 1, epsilon("2"), vec![1])
        .unwrap();
    assert_eq!(spent(&again), spent(&session));
}

#[test]
fn nothing_runs_before_it_is_written_down() {
    many_schedules(|| everything_that_runs_is_written(Mistake::None));
}

#[test]
#[should_panic(expected = "it ran before it was written down")]
fn running_too_early_is_found() {
    many_schedules(|| everything_that_runs_is_written(Mistake::RunsBeforeItIsWritten));
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_lost_wake_up_is_found() {
    many_schedules(|| everything_that_runs_is_written(Mistake::WakesTooEarly));
}

/// Whoever is charged runs, although the turn moves at the charge and the disk takes its time.
#[test]
fn sequential_launches_all_run() {
    many_schedules(|| {
        let disk = Disk::new(Mistake::None);
        let odometer = Odometer::new(records(), Basic::new(ApproxZcdp)).named("all");
        let session = odometer.open_on(&books(&disk), 1, vec![1]).unwrap();
        let team = session.nested("team").open().unwrap();
        let writing = {
            let disk = disk.clone();
            spawn(move || disk.run())
        };
        let threads = [session.clone(), team].map(|session| {
            let map = PrivacyMap::constant_up_to(ApproxZcdp, 1, "(0.1, 0)").unwrap();
            let query = Measurement::new("query", records(), map, |_, _| Ok(()));
            spawn(move || session.launch(&query).unwrap())
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        disk.close();
        writing.join().unwrap();
        assert_eq!(
            session.privacy_loss(1).unwrap().bound().to_string(),
            "(0.2, 0)"
        );
    });
}

/// A halt that somebody was told of is written.
#[test]
fn whoever_is_told_of_a_halt_finds_it_written() {
    many_schedules(|| {
        let disk = Disk::new(Mistake::None);
        let odometer = Odometer::new(records(), Basic::new(PureDp))
            .named("all")
            .halting();
        let session = odometer
            .filter_on(&books(&disk), 1, epsilon("1"), vec![1])
            .unwrap();
        let writing = {
            let disk = disk.clone();
            spawn(move || disk.run())
        };
        let threads = [(); 2].map(|()| {
            let (session, disk) = (session.clone(), disk.clone());
            spawn(move || {
                session.launch(&query("2")).unwrap_err();
                assert_eq!(
                    disk.0.queue.lock().unwrap().written,
                    1,
                    "told before it was written"
                );
            })
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        disk.close();
        writing.join().unwrap();
    });
}
