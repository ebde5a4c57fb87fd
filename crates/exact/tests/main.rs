//! All tests of this crate but for those that need a process of their own: one program, which is built once.

mod basics;
mod functions;
mod interval;
mod laws;
mod normal;
mod text;
