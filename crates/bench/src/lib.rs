//! What the command line asks for, and how it is timed. The measurements are in `main.rs`, which has no tests: it takes longer to build than
//! this.

pub mod goals;
pub mod measure;
pub mod plan;
