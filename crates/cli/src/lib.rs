//! `odometry`, the command for whoever answers for a privacy budget, without writing Rust. `docs/custodian.md` is its manual.
//!
//! One file per command in `commands`, each a function from its arguments to what is printed; `items` reads what is composed,
//! `text` makes foreign names harmless, `output` has the forms of an answer. Exit codes: 0 done, 1 failed, 2 wrong usage,
//! 3 refused (something does not fit a budget).

mod commands;
mod error;
mod items;
mod output;
mod svg;
mod text;

pub use commands::{Cli, Command};
pub use error::CommandError;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

/// The whole program: arguments of the process in, an exit code out.
pub fn main() -> ExitCode {
    // Wrong usage leaves here, with code 2, and `--help` with 0.
    let cli = Cli::parse();
    let mut out = io::stdout().lock();
    let done = cli.command.run(&mut out).and_then(|code| {
        out.flush().map_err(CommandError::from)?;
        Ok(code)
    });
    match done {
        Ok(code) => code,
        // Whoever reads has seen enough.
        Err(CommandError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            // If not even this can be written, the code has to do.
            let _ = writeln!(
                io::stderr(),
                "odometry: {}",
                text::plain(&failure.to_string())
            );
            failure.code()
        }
    }
}
