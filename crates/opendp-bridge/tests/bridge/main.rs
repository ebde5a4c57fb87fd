//! The bridge against real OpenDP, no mock.

mod attacks;
mod calibrate;
mod combinators;
mod defects;
mod interactive;
mod ledger;
mod mechanisms;
mod names;
mod ours;
mod out;
mod own_measures;
mod pipelines;
mod rounding;
mod scenarios;
mod stopping;
mod support;
mod turns;
