//! What the compiler says where a newcomer goes wrong: each message says what to write instead.
//!
//! The texts are the pinned toolchain's (`rust-toolchain.toml`): after a change of it, look at them and write them again with
//! `OVERWRITE=1 cargo test -p odometry-odometer --test main compiler::`.
//!
//! The programs are compiled against the library that these tests were built with. (`trybuild` would check the whole workspace again for them,
//! which took as long as all other tests of this crate together.)

use serde::Deserialize;
use std::{
    env, fs, iter,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compiler");

/// Compiles a program against a build of the facade, as far as errors come from (no code is generated).
fn compiled(program: &Path, facade: &Path) -> Output {
    let metadata = env::temp_dir().join(format!("odometry-compiler-{}", std::process::id()));
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--edition=2024",
            "--crate-type=bin",
            "--emit=metadata",
            "--error-format=json",
            "--verbose",
        ])
        .arg("--extern")
        .arg(format!("odometry={}", facade.display()))
        .arg("-L")
        .arg(format!("dependency={}", facade.parent().unwrap().display()))
        .arg("-o")
        .arg(&metadata)
        .arg(program)
        .output()
        .unwrap();
    let _ = fs::remove_file(metadata);
    output
}

/// The build of the facade that these tests were linked with, or one like it: the newest with which a right program compiles.
fn facade() -> PathBuf {
    let tests = env::current_exe().unwrap();
    let is_facade = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libodometry-") && name.ends_with(".rlib")
    };
    let beside = fs::read_dir(tests.parent().unwrap()).unwrap();
    let mut builds: Vec<PathBuf> = beside.map(|file| file.unwrap().path()).collect();
    builds.retain(is_facade);
    builds.sort_by_key(|build| fs::metadata(build).unwrap().modified().unwrap());
    let right = Path::new(PROGRAMS).join("right.rs");
    let compiles = |build: &PathBuf| compiled(&right, build).status.success();
    builds
        .into_iter()
        .rev()
        .find(compiles)
        .expect("no build of the facade fits this compiler")
}

#[derive(Deserialize)]
struct Message {
    level: String,
    message: String,
    spans: Vec<Span>,
    children: Vec<Message>,
}

#[derive(Deserialize)]
struct Span {
    is_primary: bool,
    label: Option<String>,
}

/// What it says in our words, a line each: headlines, labels and notes. The rest is the compiler's own, and depends on what else is in the build: where a
/// bound stands, which types have a trait (OpenDP's too), where a name needs no path.
fn said(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let messages = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let ours = messages.filter(|message: &Message| !message.spans.is_empty());
    let lines = ours.flat_map(|message| {
        let labels = message.spans.into_iter().filter(|span| span.is_primary);
        let labels = labels.filter_map(|span| span.label);
        let notes = message.children.into_iter();
        let notes = notes.filter(|child| child.level == "note" && child.spans.is_empty());
        iter::once(format!("{}: {}", message.level, message.message))
            .chain(labels.map(|label| format!("  here: {label}")))
            .chain(notes.map(|child| format!("  note: {}", child.message)))
    });
    lines
        .map(|line| line.replace("odometry::prelude::", "") + "\n")
        .collect()
}

#[test]
fn the_compiler_says_what_to_write() {
    let facade = facade();
    let mut wrong = 0;
    for file in fs::read_dir(PROGRAMS).unwrap() {
        let program = file.unwrap().path();
        if program.extension().is_none_or(|end| end != "rs") || program.ends_with("right.rs") {
            continue;
        }
        let output = compiled(&program, &facade);
        assert!(!output.status.success(), "{} compiles", program.display());
        let (said, expected) = (said(&output), program.with_extension("stderr"));
        if env::var_os("OVERWRITE").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        assert_eq!(
            said,
            fs::read_to_string(&expected).unwrap(),
            "{}",
            program.display()
        );
        wrong += 1;
    }
    assert_eq!(wrong, 4);
}
