//! How the model checker is run, and what most models need. Seeds are fixed, so a failure is a failure again.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::sync::Arc;

use measures::{Basic, Epsilon, PrivacyMap, PureDp, SymmetricDistance};
use odometer_model::{AnyOf, LaunchError, Measurement, Odometer, Session, Space};
use queryable::Root;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, Runner};

pub type Pure = Basic<PureDp>;
pub type PureSession = Session<AnyOf<Vec<i64>>, SymmetricDistance, Pure>;
pub type Query = Measurement<AnyOf<Vec<i64>>, SymmetricDistance, PureDp, ()>;

/// Many random schedules, and many adversarial ones (PCT).
pub fn many_schedules(test: impl Fn() + Send + Sync + Copy + 'static) {
    let random = RandomScheduler::new_from_seed(0x0d0e_7e12, 700);
    Runner::new(random, Config::default()).run(test);
    let adversarial = PctScheduler::new_from_seed(0x0d0e_7e12, 3, 700);
    Runner::new(adversarial, Config::default()).run(test);
}

pub fn records() -> Space<AnyOf<Vec<i64>>, SymmetricDistance> {
    Space::any(SymmetricDistance)
}

pub fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

pub fn query(cost: &str) -> Query {
    let map = PrivacyMap::linear(SymmetricDistance, PureDp, epsilon(cost));
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
        .invoke_in(&root(), Arc::new(vec![1, 2]))
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
