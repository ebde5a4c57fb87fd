//! All tests of this crate: one program, which is built once.

mod common;

mod accounts;
mod detects;
mod exhaustive;
mod journal;
