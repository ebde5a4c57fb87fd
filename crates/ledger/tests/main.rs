//! All tests of this crate: one program, which is built once. Those that run it again, as a child, name their module.

mod common;
mod server;

mod attacks;
mod budgets;
mod chain;
mod checkpoints;
mod crashes;
mod failing;
mod killed;
mod log;
mod parts;
mod postgres;
mod postgres_cut;
mod postgres_failover;
mod postgres_processes;
mod reader;
mod sessions;
