//! `odometry init`.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use ledger::anchor;
use serde_json::json;

use crate::error::CommandError;
use crate::ledgers::{StoreArguments, Whereabouts};
use crate::output;
use crate::text::plain;

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct Init {
    #[command(flatten)]
    store: StoreArguments,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Init {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let whereabouts = self.store.whereabouts()?;
        let place = whereabouts.to_string();
        let anchored = self.store.anchor_file();
        let file = match &whereabouts {
            Whereabouts::File(path) => Some(path),
            Whereabouts::Server(_) => None,
        };
        for taken in [file, anchored.as_ref()].into_iter().flatten() {
            if taken.exists() {
                return Err(there(taken.display().to_string()));
            }
        }
        let ledger = whereabouts.open(None)?;
        let head = ledger.head();
        if head.seq > 0 {
            return Err(there(place));
        }
        if let Some(file) = &anchored {
            let failed = |source| CommandError::File {
                path: file.display().to_string(),
                source,
            };
            anchor::write(file, &head).map_err(failed)?;
        }
        if self.json {
            output::json(&json!({"store": place, "receipt": head.to_string()}), out)?;
        } else {
            writeln!(out, "{} is begun: {head}", plain(&place))?;
            writeln!(
                out,
                "Accounts are opened by the program that launches (`Ledger::open`, `filter_on`), with their budgets."
            )?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn there(path: String) -> CommandError {
    let source = std::io::Error::new(
        std::io::ErrorKind::AlreadyExists,
        "it is there already, and stays as it is",
    );
    CommandError::File { path, source }
}
