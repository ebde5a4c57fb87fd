//! Sittings under many schedules: two processes with several threads each, which write to one store in turns. Nobody sleeps
//! for ever, nobody runs before its record is written, and one budget is spent to exactly zero.

use std::sync::{
    Arc, Mutex as Plain, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use ledger_model::{
    Each, Hazard, Log, SharedStore, Sittings, Store, StoreError,
    chain::Walk,
    frame::{Frame, Kind, Unchained},
};
use odometer::journal::{JournalError, Receipt};
use shuttle::{
    Config, Runner,
    scheduler::{PctScheduler, RandomScheduler},
    sync::{Condvar, Mutex},
    thread,
};

/// What a server has: records, and whose turn it is.
struct Server {
    records: Plain<Vec<Receipt>>,
    taken: Mutex<bool>,
    free: Condvar,
}

impl Server {
    fn last(&self) -> Receipt {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        *records.last().unwrap()
    }

    fn give(&self) {
        *self.taken.lock().unwrap() = false;
        self.free.notify_one();
    }
}

struct Connection(Arc<Server>);

impl Store for Connection {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        thread::yield_now();
        assert!(*self.0.taken.lock().unwrap(), "it has the turn");
        {
            let mut records = self.0.records.lock().unwrap();
            assert_eq!(records.last().unwrap().seq + 1, batch[0].seq());
            records.extend(batch.iter().map(Frame::receipt));
        }
        self.0.give();
        Ok(())
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        Some(self)
    }

    fn read(&self, _: u64, _: &mut Each<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        Ok(None)
    }

    fn find(&self, _: &[u8]) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        Ok((0, 0))
    }
}

impl SharedStore for Connection {
    fn take_turn(&self, _: &Receipt, _: &mut Each<'_>) -> Result<Receipt, StoreError> {
        let mut taken = self.0.taken.lock().unwrap();
        while *taken {
            taken = self.0.free.wait(taken).unwrap();
        }
        *taken = true;
        Ok(self.0.last())
    }

    fn give_back(&self) {
        self.0.give();
    }

    fn frozen(&self) -> Result<Box<dyn Store + '_>, StoreError> {
        Ok(Box::new(Self(Arc::clone(&self.0))))
    }

    fn hazards(&self) -> &[Hazard] {
        &[]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// What others wrote is not heard.
    Deaf,
    /// A launch runs without waiting for its record.
    Early,
    /// The turn cannot be taken, once.
    Unreachable,
}

fn draft() -> Unchained {
    Unchained::new(Kind::Note, &[], &[]).unwrap()
}

struct Process {
    log: Log,
    sittings: Sittings,
    /// What it has heard of, and staged itself.
    spent: Plain<usize>,
    failures: AtomicUsize,
}

impl Process {
    fn launch(&self, budget: usize, mistake: Mistake, server: &Server, ran: &AtomicUsize) {
        let opened = self.sittings.enter(|| {
            if mistake == Mistake::Unreachable && self.failures.fetch_add(1, Ordering::SeqCst) == 0
            {
                return Err(JournalError::Unreachable {
                    reason: String::new(),
                });
            }
            let shared = self.log.store().shared().unwrap();
            let head = shared.take_turn(&self.log.head(), &mut |_, _| {
                std::ops::ControlFlow::Continue(())
            });
            let head = head.unwrap();
            self.log.advance(Walk::after(&head));
            if mistake != Mistake::Deaf {
                *self.spent.lock().unwrap() = head.seq as usize;
            }
            Ok(())
        });
        if opened.is_err() {
            return;
        }
        let ticket = {
            // As under the accounts' locks: no other thread runs here.
            let mut spent = self.spent.lock().unwrap();
            (*spent < budget).then(|| {
                *spent += 1;
                draft()
            })
        };
        let ticket = ticket.map(|draft| self.log.stage(draft).unwrap());
        self.sittings.leave(|| self.log.rise());
        if let Some(ticket) = ticket {
            if mistake != Mistake::Early {
                self.log.wait(&ticket).unwrap();
            }
            assert!(
                server.last().seq >= ticket.receipt().seq,
                "it ran before it was written"
            );
            ran.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn program(budget: usize, each: usize, mistake: Mistake) {
    let begin = Unchained::new(Kind::Begin, &[], &[]).unwrap();
    let first = Walk::from_the_start().seal(begin).receipt();
    let server = Arc::new(Server {
        records: Plain::new(vec![first]),
        taken: Mutex::new(false),
        free: Condvar::new(),
    });
    let ran = Arc::new(AtomicUsize::new(0));
    let mut threads = Vec::new();
    for _ in 0..2 {
        let process = Arc::new(Process {
            log: Log::after(first, Box::new(Connection(server.clone()))),
            sittings: Sittings::new(),
            spent: Plain::new(0),
            failures: AtomicUsize::new(0),
        });
        for _ in 0..2 {
            let (process, server, ran) = (process.clone(), server.clone(), ran.clone());
            threads.push(thread::spawn(move || {
                for _ in 0..each {
                    process.launch(budget, mistake, &server, &ran);
                }
            }));
        }
    }
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let (written, ran) = (server.last().seq as usize, ran.load(Ordering::SeqCst));
    assert_eq!(written, ran);
    assert!(written <= budget, "more was spent than there is");
    if mistake == Mistake::None {
        assert_eq!(written, budget.min(4 * each));
    }
}

fn many_schedules(test: impl Fn() + Send + Sync + Copy + 'static) {
    let random = RandomScheduler::new_from_seed(0x5177_1265, 1_500);
    Runner::new(random, Config::default()).run(test);
    let adversarial = PctScheduler::new_from_seed(0x5177_1265, 4, 1_500);
    Runner::new(adversarial, Config::default()).run(test);
}

#[test]
fn one_budget_is_spent_to_exactly_zero() {
    many_schedules(|| program(5, 2, Mistake::None));
}

#[test]
fn who_cannot_enter_tells_all_who_waited_and_the_next_can() {
    many_schedules(|| program(8, 2, Mistake::Unreachable));
}

#[test]
#[should_panic(expected = "more was spent than there is")]
fn whoever_does_not_hear_of_others_is_found() {
    many_schedules(|| program(3, 2, Mistake::Deaf));
}

#[test]
#[should_panic(expected = "it ran before it was written")]
fn whoever_does_not_wait_is_found() {
    many_schedules(|| program(5, 2, Mistake::Early));
}
