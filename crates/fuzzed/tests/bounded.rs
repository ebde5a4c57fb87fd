//! The fuzzers' functions on their seeds and on mutations of them: the same ones on every run, or others with
//! `FUZZED_SEED=… FUZZED_RUNS=…`.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use fuzzed::{Mutations, TARGETS, Target};

/// Mutations per target, where the environment does not say.
const RUNS: u64 = 3_000;

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut files: Vec<_> = std::fs::read_dir(folder.join(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// Fails with the input as text that can be pasted into `printf '…' > FILE`.
fn check(&(name, target): &Target, input: &[u8]) {
    let ended = panic::catch_unwind(AssertUnwindSafe(|| target(input)));
    if let Err(payload) = ended {
        eprintln!("{name} fails on '{}'", input.escape_ascii());
        panic::resume_unwind(payload);
    }
}

fn run(name: &str) {
    let target = TARGETS.iter().find(|target| target.0 == name).unwrap();
    let seeds = seeds(name);
    assert!(seeds.len() >= 5, "{} seeds", seeds.len());
    seeds.iter().for_each(|seed| check(target, seed));
    let mutations = Mutations::new(&seeds, setting("FUZZED_SEED", 1));
    let runs = setting("FUZZED_RUNS", RUNS) as usize;
    mutations.take(runs).for_each(|input| check(target, &input));
}

#[test]
fn numbers() {
    run("numbers");
}

#[test]
fn losses() {
    run("losses");
}

#[test]
fn snapshots() {
    run("snapshots");
}

#[test]
fn records() {
    run("records");
}

#[test]
fn messages() {
    run("messages");
}

#[test]
fn every_target_has_a_fuzzer() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        let source = std::fs::read_to_string(fuzz.join(format!("targets/{name}.rs"))).unwrap();
        assert!(source.contains(&format!("fuzzed::{name}(")), "{name}");
    }
}
