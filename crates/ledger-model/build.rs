//! Makes `src/sync.rs` of `ledger` choose the model checker's primitives.

fn main() {
    println!("cargo::rustc-cfg=model");
    println!("cargo::rerun-if-changed=build.rs");
}
