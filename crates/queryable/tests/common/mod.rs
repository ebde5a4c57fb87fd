//! Small things that several tests use.
#![allow(dead_code, reason = "each test file uses some of them")]

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use queryable::coins::{Bit, Probability, Script, enumerate};
use queryable::{AskError, Queryable, Root, machine};

pub fn prob(numerator: u64, denominator: u64) -> Probability {
    Probability::new(numerator, denominator).unwrap()
}

pub fn ratio(numerator: u64, denominator: u64) -> RBig {
    RBig::from_parts(numerator.into(), denominator.into())
}

pub fn bit(numerator: u64, denominator: u64) -> Bit {
    Bit::new(prob(numerator, denominator))
}

pub fn root() -> Root {
    Root::seeded([7; 32])
}

/// The law of what a program returns over a scripted root; checks that nothing is missing and that it sums to one.
pub fn law<R: Ord>(mut program: impl FnMut(&Root) -> R) -> BTreeMap<R, RBig> {
    let runs = enumerate(20_000, |script: &Script| program(&Root::scripted(script))).unwrap();
    assert!(runs.missing.is_zero());
    let law = runs.law();
    assert_eq!(law.values().fold(RBig::ZERO, |sum, p| sum + p), RBig::ONE);
    law
}

/// Remembers what it is told, and tells it to whoever asks with `None`.
pub fn echo(root: &Root) -> Queryable<Option<u64>, u64> {
    let mut heard = 0;
    root.spawn(machine(move |said: Option<u64>, _| {
        heard = said.unwrap_or(heard);
        Ok(heard)
    }))
    .unwrap()
}

/// Adds up what it is asked; a zero is a wrong query.
pub fn adder(root: &Root) -> Queryable<u64, u64> {
    root.spawn(adding()).unwrap()
}

pub fn adding() -> impl queryable::Machine<Query = u64, Answer = u64> {
    let mut sum = 0;
    machine(move |x: u64, _| {
        if x == 0 {
            return Err(AskError::invalid("zero"));
        }
        sum += x;
        Ok(sum)
    })
}
