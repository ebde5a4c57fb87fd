//! All tests of this crate: one program, which is built once. Those that run it again, as a child, name their module.

mod common;
#[cfg(unix)]
mod server;

mod attacks;
mod budgets;
mod chain;
mod checkpoints;
mod crashes;
mod failing;
mod golden;
mod killed;
mod log;
mod parts;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
mod postgres_async;
#[cfg(unix)]
mod postgres_cut;
#[cfg(unix)]
mod postgres_failover;
#[cfg(unix)]
mod postgres_processes;
#[cfg(unix)]
mod postgres_records;
#[cfg(unix)]
mod postgres_restart;
#[cfg(unix)]
mod postgres_tls;
mod reader;
mod sessions;
