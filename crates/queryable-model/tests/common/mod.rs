//! How the model checker is run: every schedule of the small ones, many random and many adversarial (PCT) ones of the
//! others. Seeds are fixed, so a failure is a failure again.
#![allow(dead_code, reason = "each test file uses some of them")]

use queryable_model::{AskError, Machine, Queryable, Root, Scope, machine};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

/// Every schedule, and their number. A test with more than a million fails: it would not run all of them.
pub fn every_schedule(test: impl Fn() + Send + Sync + 'static) -> usize {
    every_schedule_up_to(1_000_000, test)
}

pub fn every_schedule_up_to(most: usize, test: impl Fn() + Send + Sync + 'static) -> usize {
    let scheduler = DfsScheduler::new(Some(most + 1), false);
    let schedules = Runner::new(scheduler, Config::default()).run(test);
    assert!(schedules <= most, "there are more than {most} schedules");
    schedules
}

pub fn many_schedules(test: impl Fn() + Send + Sync + Copy + 'static) {
    let random = RandomScheduler::new_from_seed(0x0d0e_7e12, 1_500);
    Runner::new(random, Config::default()).run(test);
    let adversarial = PctScheduler::new_from_seed(0x0d0e_7e12, 3, 1_500);
    Runner::new(adversarial, Config::default()).run(test);
}

pub fn root() -> Root {
    Root::seeded([7; 32])
}

pub fn adding() -> impl Machine<Query = u64, Answer = u64> {
    let mut sum = 0;
    machine(move |x: u64, _: &mut Scope<'_>| {
        sum += x;
        Ok(sum)
    })
}

pub type Adder = Queryable<u64, u64>;
pub type Outcome = Result<u64, AskError>;
