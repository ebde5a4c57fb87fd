//! Completions and the manual page, both from the arguments themselves.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::error::CommandError;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// For which shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        // The generator panics where it cannot write, so it writes to memory.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "odometry", &mut script);
        out.write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// One page: the command, then each of its subcommands.
pub(crate) fn manual(out: &mut dyn Write) -> Result<ExitCode, CommandError> {
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(out)?;
    for subcommand in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        clap_mangen::Man::new(subcommand.clone()).render(out)?;
    }
    Ok(ExitCode::SUCCESS)
}
