//! All tests of this crate but for those that need a process of their own: one program, which is built once.

#[path = "../../../proofs/tie/cases.rs"]
mod cases;
mod common;

mod accounts;
mod attacks;
mod composite;
mod composition;
mod filters;
mod game;
mod lemmas;
mod live;
mod local;
mod model;
mod odometers;
mod simulators;
mod theorems;
