//! All tests of this crate: one program, which is built once.

mod common;

mod detects;
mod meters;
mod races;
mod turns;
