//! All tests of this crate but for those that need a process of their own: one program, which is built once.

mod common;

mod accuracy;
mod cores;
mod counter;
mod forms;
mod hypotheses;
mod keys;
mod laws;
mod noninteractive;
mod optimal_noise;
mod order;
mod propose;
mod relations;
mod sampling;
mod selection;
mod sparse_vector;
mod spend;
mod statistics;
