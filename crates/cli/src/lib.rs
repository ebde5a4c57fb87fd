//! `odometry`, the command for whoever answers for a privacy budget, without writing Rust. `docs/custodian.md` is its manual.
//!
//! One file per command in `commands`, each a function from its arguments to what is printed; `items` reads what is composed,
//! `ledgers` looks at a ledger, `report` makes a page of it; `text` makes foreign names harmless, `output` has the forms of an
//! answer. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused (something does not fit a budget), 4 a ledger is damaged or
//! was rolled back.

mod commands;
mod error;
mod items;
mod ledgers;
mod output;
mod report;
mod svg;
mod text;

pub use commands::{Cli, Command};
pub use error::CommandError;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

/// The whole program: arguments of the process in, an exit code out.
pub fn main() -> ExitCode {
    // Wrong usage leaves here, with code 2, and `--help` with 0.
    let cli = Cli::parse();
    quiet_panics();
    // Colours reach a terminal only.
    let mut out = BufWriter::new(anstream::stdout().lock());
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

/// A store that panics over damaged pages is caught and told as damage: nothing else is to be seen of it.
fn quiet_panics() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let foreign = |place: &std::panic::Location<'_>| place.file().contains("redb");
        if !panic.location().is_some_and(foreign) {
            told(panic);
        }
    }));
}
