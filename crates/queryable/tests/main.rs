//! All tests of this crate but for those that need a process of their own: one program, which is built once.

mod common;

mod canonical;
mod compose;
mod depth;
mod distributions;
mod failure;
mod late;
mod laws;
mod meters;
mod payloads;
mod postprocess;
mod probability;
mod reach;
mod replay;
mod sampling;
mod script;
mod stress;
mod traits;
mod turns;
