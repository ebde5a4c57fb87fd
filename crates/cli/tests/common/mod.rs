//! Running the command as a user does.
#![allow(dead_code, reason = "each test uses some of it")]

pub mod program;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run left behind.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs `odometry` in a folder, through pipes.
pub fn run_in(folder: &Path, arguments: &[&str], input: &str) -> Ran {
    run_with(folder, arguments, input, &[])
}

/// The same, with this in the environment.
pub fn run_with(folder: &Path, arguments: &[&str], input: &str, set: &[(&str, &str)]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_odometry"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE")
        .env_remove("ODOMETRY_STORE")
        .env_remove("ODOMETRY_ANCHOR")
        .envs(set.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let done = child.wait_with_output().unwrap();
    Ran {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

pub fn run(arguments: &[&str]) -> Ran {
    run_in(&std::env::temp_dir(), arguments, "")
}

/// An empty folder of this test's own.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
