//! All tests of this crate but for those that need a process of their own: one program, which is built once.

mod bad_input;
mod exact_sums;
mod joint;
mod mechanisms;
mod sampled;
mod tightness;
