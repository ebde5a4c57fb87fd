//! All tests of this crate but for those that need a process of their own: one program, which is built once.

#[path = "../../../proofs/tie/cases.rs"]
mod cases;
mod common;

mod accounts;
mod assumptions;
mod claims;
mod closed_forms;
mod composition;
mod continual;
mod equal_answers;
mod exact;
mod guards;
mod limits;
mod measurements;
mod merging;
mod model;
mod odometers;
mod printing;
mod refutations;
mod replays;
mod sessions;
mod simulators;
mod truncation;
