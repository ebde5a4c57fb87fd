//! The commands and their arguments, one file each.

mod calibrate;
mod compose;
mod manual;
pub(crate) mod rules;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::CommandError;

/// Privacy budgets, for whoever answers for them.
///
/// Every number is taken exactly as it is written, and every answer is an upper bound: rounded up, never to nearest.
/// Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 refused (something does not fit a budget).
#[derive(Debug, Parser)]
#[command(name = "odometry", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `odometry` can do.
#[derive(Debug, Subcommand)]
#[non_exhaustive]
pub enum Command {
    /// What losses and mechanisms amount to together, under every rule that is valid
    Compose(compose::Compose),
    /// The noise for a budget, or how many runs fit into it
    Calibrate(calibrate::Calibrate),
    /// Completions for a shell, to be loaded by it
    Completions(manual::Completions),
    /// The manual page, in the form that `man` reads
    Manual,
}

impl Command {
    /// Does it, and writes the answer.
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        match self {
            Command::Compose(command) => command.run(out),
            Command::Calibrate(command) => command.run(out),
            Command::Completions(command) => command.run(out),
            Command::Manual => manual::manual(out),
        }
    }
}
