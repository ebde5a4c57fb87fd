//! What the compiler says where a newcomer goes wrong: each message says what to write instead.
//!
//! The texts are the pinned toolchain's (`rust-toolchain.toml`): after a change of it, look at them and write them again with
//! `OVERWRITE=compiler cargo test -p odometry-odometer --test main compiler::`.
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
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=bin", "--emit=metadata"]);
    rustc.arg("--error-format=json");
    // Types are not shortened, which would depend on where names need a path.
    rustc.arg("--verbose");
    rustc
        .arg("--extern")
        .arg(format!("odometry={}", facade.display()));
    let dependencies = facade.parent().unwrap();
    // Under `--target`, procedural macros are one level up: in the folder of the same profile without a target.
    let profile = dependencies.parent().unwrap();
    let of_the_host = profile.join("../..").join(profile.file_name().unwrap());
    for folder in [dependencies.to_owned(), of_the_host.join("deps")] {
        rustc
            .arg("-L")
            .arg(format!("dependency={}", folder.display()));
    }
    let output = rustc.arg("-o").arg(&metadata).arg(program).output();
    let _ = fs::remove_file(metadata);
    output.unwrap()
}

/// The build of the facade that these tests were linked with, or one like it: the newest that this compiler can read with what
/// it needs. A right program must compile against it.
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
    let mut why = String::from("there is none");
    for build in builds.into_iter().rev() {
        let output = compiled(&right, &build);
        if output.status.success() {
            return build;
        }
        why = String::from_utf8_lossy(&output.stderr).into_owned();
        // Left by another compiler, or with dependencies that were built again since.
        let is_stale = ["E0460", "E0463", "E0514"]
            .iter()
            .any(|code| why.contains(code));
        assert!(is_stale, "a right program does not compile: {why}");
    }
    panic!("no build of the facade can be read: {why}");
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
    file_name: String,
    is_primary: bool,
    label: Option<String>,
}

/// What it says that does not depend on what else is in the build, a line each: headlines, labels, notes, and what it would change
/// in the program. Left out are where a bound stands, which types have a trait (OpenDP's too), where a name needs no path.
fn said(program: &Path, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let read = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{text}"));
    let messages = text.lines().map(read);
    let placed = messages.filter(|message: &Message| !message.spans.is_empty());
    let is_in_program = |span: &Span| program.ends_with(&span.file_name);
    let is_kept = |child: &Message| match &*child.level {
        "help" => child.spans.iter().any(is_in_program),
        level => level == "note" && child.spans.is_empty(),
    };
    let lines = placed.flat_map(|message| {
        let labels = message.spans.into_iter().filter(|span| span.is_primary);
        let labels = labels.filter_map(|span| span.label);
        let children = message.children.into_iter().filter(is_kept);
        iter::once(format!("{}: {}", message.level, message.message))
            .chain(labels.map(|label| format!("  here: {label}")))
            .chain(children.map(|child| format!("  {}: {}", child.level, child.message)))
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
        let (said, expected) = (said(&program, &output), program.with_extension("stderr"));
        if env::var_os("OVERWRITE").is_some_and(|what| what == "compiler") {
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
    assert_eq!(wrong, 5);
}
