//! All tests of this crate: one program, which is built once.

#[path = "../../../proofs/tie/cases.rs"]
mod cases;
mod common;

mod admission;
mod attacks;
mod bad_input;
mod budgets;
mod chains;
mod collections;
mod communication;
mod compiler;
mod compositors;
mod depth;
mod distances;
mod durable;
mod extremes;
mod failure;
mod fields;
mod fuses;
mod golden;
mod halting;
mod journal;
mod links;
mod lists;
mod messages;
mod model;
mod partitions;
mod peers;
mod plans;
mod quotas;
mod racing;
mod reference;
mod refusals;
mod remaining;
mod reopening;
mod replaying;
mod reserved;
mod rows;
mod settling;
mod shared;
mod snapshots;
mod stopping;
mod turns;
mod waiting;
mod walk;
