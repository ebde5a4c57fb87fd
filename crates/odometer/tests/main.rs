//! All tests of this crate but for those that need a process of their own: one program, which is built once.

mod common;

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
mod fuses;
mod golden;
mod halting;
mod journal;
mod links;
mod messages;
mod partitions;
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
mod turns;
