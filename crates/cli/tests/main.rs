//! All tests of this crate: one program, which is built once.

mod common;
#[cfg(unix)]
#[path = "../../ledger/tests/server/mod.rs"]
mod postgres;

mod calculator;
mod custodian;
mod damaged;
mod fields;
mod ledger;
mod report;
mod server;
mod terminal;
