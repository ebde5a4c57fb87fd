//! How the model checker is run, and what most models need. Seeds are fixed, so a failure is a failure again.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::sync::Arc;

use measures::{Basic, Epsilon, PrivacyMap, PureDp};
use odometer_model::{LaunchError, Measurement, Odometer, Records, Session};
use queryable::Root;
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, Runner};

pub type Pure = Basic<PureDp>;
pub type PureSession = Session<Records<i64>, Pure>;
pub type Query = Measurement<Records<i64>, PureDp, ()>;

/// Every schedule there is. Says how many.
pub fn every_schedule(test: impl Fn() + Send + Sync + 'static) -> usize {
    Runner::new(DfsScheduler::new(None, false), Config::default()).run(test)
}

/// The first so many of all schedules, and as many adversarial ones (PCT). Says how many in all.
pub fn some_schedules(each: usize, test: impl Fn() + Send + Sync + Copy + 'static) -> usize {
    let first = DfsScheduler::new(Some(each), false);
    let adversarial = PctScheduler::new_from_seed(0x0d0e_7e12, 4, each);
    Runner::new(first, Config::default()).run(test)
        + Runner::new(adversarial, Config::default()).run(test)
}

/// Many random schedules, and many adversarial ones (PCT).
pub fn many_schedules(test: impl Fn() + Send + Sync + Copy + 'static) {
    let random = RandomScheduler::new_from_seed(0x0d0e_7e12, 700);
    Runner::new(random, Config::default()).run(test);
    let adversarial = PctScheduler::new_from_seed(0x0d0e_7e12, 3, 700);
    Runner::new(adversarial, Config::default()).run(test);
}

pub fn records() -> Records<i64> {
    Records::new()
}

pub fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

pub fn query(cost: &str) -> Query {
    let map = PrivacyMap::per_record(PureDp, epsilon(cost));
    Measurement::new("query", records(), map, |_, _| Ok(()))
}

pub fn root() -> Root {
    Root::seeded([7; 32])
}

pub fn odometer() -> PureSession {
    let odometer = Odometer::new(records(), Basic::new(PureDp));
    odometer.open_in(&root(), Arc::new(vec![1, 2])).unwrap()
}

pub fn filter(budget: &str) -> PureSession {
    let filter = Odometer::new(records(), Basic::new(PureDp)).filter(1, epsilon(budget));
    filter
        .unwrap()
        .invoke_in(&root(), &Arc::new(vec![1, 2]))
        .unwrap()
}

pub fn spent(session: &PureSession) -> Epsilon {
    session.privacy_loss(&1).unwrap().bound().clone()
}

/// Launches, and says whether that was admitted; anything but a refusal is a mistake.
pub fn admitted(session: &PureSession, query: &Query) -> u64 {
    match session.launch(query) {
        Ok(()) => 1,
        Err(LaunchError::Refused(_)) => 0,
        Err(other) => panic!("{other}"),
    }
}

pub fn spawn<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    thread::spawn(run)
}
