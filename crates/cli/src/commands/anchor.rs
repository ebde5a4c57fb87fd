//! `odometry anchor`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use ledger::anchor;
use odometer::journal::Receipt;
use serde_json::json;

use crate::error::CommandError;
use crate::ledgers::{StoreArguments, read_anchor};
use crate::output;
use crate::text::plain;

/// Arguments of `anchor`.
#[derive(Debug, Args)]
pub struct Anchor {
    #[command(subcommand)]
    to_do: ToDo,
}

/// What is done with an anchor.
#[derive(Debug, Subcommand)]
enum ToDo {
    /// Writes the receipt of the last record to a file, which belongs on another machine
    Write(Place),
    /// Does the ledger have everything up to the anchor? The exit code is 4 if not
    Check(Place),
}

/// Which anchor of which ledger.
#[derive(Debug, Args)]
struct Place {
    /// The anchor's file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreArguments,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Anchor {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        match self.to_do {
            ToDo::Write(place) => place.write(out),
            ToDo::Check(place) => place.check(out),
        }
    }
}

impl Place {
    fn write(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let viewed = self.store.view()?;
        // An anchor that is there is never replaced by an older one, nor by another ledger's.
        if self.file.exists() {
            viewed.ledger.check(&read_anchor(&self.file)?)?;
        }
        // An anchor vouches for the checkpoints before it, so they are compared first.
        let head = viewed.ledger.verify()?;
        let failed = |source| CommandError::File {
            path: self.file.display().to_string(),
            source,
        };
        anchor::write(&self.file, &head).map_err(failed)?;
        self.tell(&head, &head, "now has record", out)
    }

    fn check(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let viewed = self.store.view()?;
        let anchor = read_anchor(&self.file)?;
        viewed.ledger.check(&anchor)?;
        let (_, head) = viewed.state()?;
        self.tell(&anchor, &head, "is kept: the ledger has record", out)
    }

    fn tell(
        &self,
        anchor: &Receipt,
        head: &Receipt,
        words: &str,
        out: &mut dyn Write,
    ) -> Result<ExitCode, CommandError> {
        if self.json {
            let answer = json!({"anchor": anchor.to_string(), "head": head.to_string()});
            output::json(&answer, out)?;
        } else {
            let file = plain(&self.file.display().to_string());
            writeln!(out, "The anchor {file} {words} {anchor}.")?;
            let since = head.seq - anchor.seq;
            if since > 0 {
                writeln!(
                    out,
                    "{since} records are newer: a rollback of those would not be noticed."
                )?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
