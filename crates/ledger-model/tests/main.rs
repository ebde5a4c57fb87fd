//! All tests of this crate: one program, which is built once.

mod commit;
mod sittings;
