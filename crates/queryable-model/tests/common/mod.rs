//! How the model checker is run: every schedule of the small ones, many random and many adversarial (PCT) ones of the
//! others. Seeds are fixed, so a failure is a failure again.
#![allow(dead_code, reason = "each test file uses some of them")]

use queryable_model::{AskError, Machine, Queryable, Root, Scope, machine};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner, check_dfs};

/// Every schedule, up to a bound that only a growing test would reach.
pub fn every_schedule(test: impl Fn() + Send + Sync + 'static) {
    check_dfs(test, Some(200_000));
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
