//! A survey of 100,000 people, analysed by two analysts at once under one budget.
//!
//! The people are made up, the same ones every time; the questions are real OpenDP pipelines (clamp, sum, count,
//! histogram, mean) and our own sparse vector. Everything is charged to one budget of the organisation, exactly, before it
//! runs, and kept in a ledger on disk: a second run has what the first has left. Writes the people, the ledger, the account
//! and a chart below `target/survey`.
//!
//! ```text
//! cargo run --release --example survey              # -- --fresh forgets what was charged before
//! cargo run --release --example survey -- --csv FILE --column NAME --budget EPSILON
//! ```
//!
//! The noise of OpenDP's mechanisms comes from OpenDP's generator: add `--features use-openssl` for a secure one.

mod arguments;
mod chart;
mod csv;
mod own_file;
mod people;
mod questions;
mod story;
mod table;

use std::process::ExitCode;

use arguments::{Arguments, USAGE};

/// Whatever went wrong, in words.
type Problem = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match Arguments::read(&words) {
        Ok(Arguments::Help) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Ok(Arguments::People { fresh }) => story::run(fresh),
        Ok(Arguments::OwnFile {
            file,
            column,
            budget,
        }) => own_file::run(&file, &column, &budget),
        Err(problem) => Err(format!("{problem}\n\n{USAGE}").into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("survey: {problem}");
            ExitCode::FAILURE
        }
    }
}
