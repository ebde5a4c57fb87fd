//! What the fuzzers run. Each function takes any bytes, reads them as somebody outside would be read, and panics if a
//! law is broken. `fuzz/` gives them to libFuzzer; this crate's test gives them the same seeds and a bounded number of
//! mutations on every run of the tests, so that they cannot rot. `docs/testing.md` says how to run the long ones.
//!
//! Nothing in here panics on purpose, not even where the library would catch it: libFuzzer ends at the first panic.

mod loss;
mod message;
mod mutate;
mod number;
mod record;
mod snapshot;

pub use loss::losses;
pub use message::messages;
pub use mutate::Mutations;
pub use number::numbers;
pub use record::records;
pub use snapshot::snapshots;

/// A function to fuzz, under the name of its seeds and its fuzz target.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 5] = [
    ("numbers", numbers),
    ("losses", losses),
    ("snapshots", snapshots),
    ("records", records),
    ("messages", messages),
];

/// What an error may say, in bytes. Whoever sends a long text must not get it back.
const LONGEST_ERROR: usize = 1_024;

/// An error's text is short, whatever was sent. (Errors of the JSON reader are not ours, and repeat what they do not like.)
fn check_error(error: &dyn std::error::Error) {
    let length = error.to_string().len();
    assert!(length <= LONGEST_ERROR, "an error of {length} bytes");
}
