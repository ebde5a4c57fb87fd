//! What the compiler says where a newcomer goes wrong: each message says what to write instead.
//!
//! The texts are the pinned toolchain's (`rust-toolchain.toml`): after a change of it, look at them and write them again with
//! `TRYBUILD=overwrite cargo test -p odometry-odometer --test main compiler::`.

#[test]
fn the_compiler_says_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/compiler/*.rs");
}
