//! The commands and their arguments, one file each.

mod anchor;
mod budget;
mod calibrate;
mod charges;
mod compose;
mod doctor;
mod explain;
mod export;
mod follow;
mod init;
mod manual;
mod report;
pub(crate) mod rules;
mod show;
mod verify;
mod what_if;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::CommandError;

/// Privacy budgets, for whoever answers for them.
///
/// Every number is taken exactly as it is written, and every answer is an upper bound: rounded up, never to nearest.
/// Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 refused (something does not fit a budget), 4 a ledger is
/// damaged, or older than its anchor.
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
    /// Who has spent what: the tree of accounts with budgets, what is spent and what is left
    Show(show::Show),
    /// What was charged, record by record
    Charges(charges::Charges),
    /// One record: what was launched, and what it did to every account on the way
    Explain(explain::Explain),
    /// Would this fit? Nothing is charged; the exit code is 3 if it would be refused
    WhatIf(what_if::WhatIf),
    /// Gives an account another budget, with a reason that is recorded
    Budget(budget::ChangeBudget),
    /// Are the books intact? Reads every record; the exit code is 4 if not
    Verify(verify::Verify),
    /// Keeps a receipt of the last record elsewhere, so that an old copy of the ledger is noticed
    Anchor(anchor::Anchor),
    /// Everything, for other programs
    Export(export::Export),
    /// Everything on one page, to read, print and keep
    Report(report::WriteReport),
    /// Is this a good place for a ledger, and is it well?
    Doctor(doctor::Doctor),
    /// Begins a new ledger
    Init(init::Init),
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
            Command::Show(command) => command.run(out),
            Command::Charges(command) => command.run(out),
            Command::Explain(command) => command.run(out),
            Command::WhatIf(command) => command.run(out),
            Command::Budget(command) => command.run(out),
            Command::Verify(command) => command.run(out),
            Command::Anchor(command) => command.run(out),
            Command::Export(command) => command.run(out),
            Command::Report(command) => command.run(out),
            Command::Doctor(command) => command.run(out),
            Command::Init(command) => command.run(out),
            Command::Compose(command) => command.run(out),
            Command::Calibrate(command) => command.run(out),
            Command::Completions(command) => command.run(out),
            Command::Manual => manual::manual(out),
        }
    }
}
