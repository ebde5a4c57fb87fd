//! What most tests need: records, mechanisms that only cost, and mechanisms that leave traces.
#![allow(dead_code, reason = "each test file uses some of it")]

pub mod observed;

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use measures::{Basic, Epsilon, LossError, Measure, PrivacyMap, PureDp, Scale, Zcdp};
use odometer::{LaunchError, Measurement, Odometer, Records, Refusal, Session};
use queryable::{AskError, Queryable, Scope, machine};

pub type Numbers = Records<i64>;
pub type Pure = Basic<PureDp>;
pub type PureSession = Session<Numbers, Pure>;
pub type On<M, A> = Measurement<Numbers, M, A>;

pub const BASIC: Pure = Basic::new(PureDp);

pub fn records() -> Numbers {
    Records::new()
}

pub fn loss<L: FromStr>(text: &str) -> L
where
    L::Err: std::fmt::Debug,
{
    text.parse().unwrap()
}

/// A mechanism that answers nothing and costs this much per unit of distance.
pub fn costs<M: Measure>(measure: M, per_unit: &str) -> On<M, ()>
where
    M::Loss: Scale + FromStr<Err = LossError>,
{
    let map = PrivacyMap::per_record(measure, per_unit).unwrap();
    Measurement::new("query", records(), map, |_, _| Ok(()))
}

pub fn pure(per_unit: &str) -> On<PureDp, ()> {
    costs(PureDp, per_unit)
}

/// As [`pure`], and counts how often it ran.
pub fn counted(per_unit: &str, runs: &Arc<AtomicUsize>) -> On<PureDp, ()> {
    let runs = Arc::clone(runs);
    let map = PrivacyMap::per_record(PureDp, per_unit).unwrap();
    Measurement::new("counted", records(), map, move |_, _| {
        runs.fetch_add(1, Ordering::SeqCst);
        Ok(())
    })
}

/// A mechanism that answers nothing and costs this much at distance 1.
pub fn zcdp(at_one: &str) -> On<Zcdp, ()> {
    let map = PrivacyMap::quadratic(Zcdp, at_one).unwrap();
    Measurement::new("query", records(), map, |_, _| Ok(()))
}

/// A mechanism whose answer can be asked: it adds up what it is asked. It costs as much as this one.
pub fn interactive<M: Measure>(query: &On<M, ()>) -> On<M, Queryable<u64, u64>> {
    Measurement::new("interactive", records(), query.map().clone(), |_, scope| {
        let mut sum = 0;
        scope.spawn(machine(move |x: u64, _: &mut Scope<'_>| {
            sum += x;
            Ok(sum)
        }))
    })
}

/// A mechanism that fails.
pub fn failing(per_unit: &str) -> On<PureDp, ()> {
    let map = PrivacyMap::per_record(PureDp, per_unit).unwrap();
    Measurement::new("failing", records(), map, |_, _| {
        Err(AskError::failed("no luck"))
    })
}

pub fn open() -> PureSession {
    Odometer::new(records(), BASIC).open(vec![1, 2, 3]).unwrap()
}

/// A filter at distance 1.
pub fn filtered(budget: &str) -> PureSession {
    let filter = Odometer::new(records(), BASIC).filter(1, budget);
    filter.unwrap().invoke(vec![1, 2, 3]).unwrap()
}

pub fn spent(session: &PureSession, d_in: u32) -> Epsilon {
    session.privacy_loss(&d_in).unwrap().bound().clone()
}

pub fn refusal(error: LaunchError) -> Refusal {
    match error {
        LaunchError::Refused(refusal) => *refusal,
        other => panic!("not a refusal: {other:?}"),
    }
}

/// A mechanism that costs this much at any distance.
pub fn flat<M: Measure>(measure: M, cost: &str) -> On<M, ()>
where
    M::Loss: FromStr,
    <M::Loss as FromStr>::Err: std::fmt::Debug,
{
    let cost: M::Loss = loss(cost);
    let map = PrivacyMap::new(measure, move |_| Ok(cost.clone()));
    Measurement::new("flat", records(), map, |_, _| Ok(()))
}

/// A session under this rule.
pub fn open_with<R: measures::Adaptive>(rule: R) -> Session<Numbers, R> {
    Odometer::new(records(), rule).open(vec![1, 2, 3]).unwrap()
}

/// A filter under this rule, at distance 1.
pub fn filtered_with<R: measures::FilterRule>(rule: R, budget: &str) -> Session<Numbers, R>
where
    measures::TotalLoss<R>: FromStr<Err = LossError>,
{
    let filter = Odometer::new(records(), rule).filter(1, budget);
    filter.unwrap().invoke(vec![1, 2, 3]).unwrap()
}
