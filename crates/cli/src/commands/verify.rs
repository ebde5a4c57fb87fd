//! `odometry verify`.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::error::CommandError;
use crate::ledgers::{StoreArguments, Tree};
use crate::output;
use crate::text::plain;

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    store: StoreArguments,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let viewed = self.store.view()?;
        // What the charges amount to can be computed, too.
        let (state, head) = viewed.ledger.verified()?;
        let tree = Tree::of(&state)?;
        let (keys, checkpoints) = viewed.ledger.store().indexed()?;
        let over: Vec<&str> = tree
            .accounts
            .iter()
            .filter(|account| {
                account
                    .terms()
                    .is_some_and(|(_, reckoning)| !reckoning.fits)
            })
            .map(|account| account.path.as_str())
            .collect();
        if self.json {
            let answer = json!({
                "store": viewed.place,
                "intact": true,
                "records": head.seq + 1,
                "head": head.to_string(),
                "accounts": tree.accounts.len(),
                "checkpoints": checkpoints,
                "keys": keys,
                "over_budget": over,
                "anchor": viewed.anchor.as_ref().map(|(_, anchor)| anchor.to_string()),
            });
            output::json(&answer, out)?;
            return Ok(ExitCode::SUCCESS);
        }
        let records = head.seq + 1;
        writeln!(
            out,
            "{} is intact: {records} records, every hash, {checkpoints} checkpoints, {keys} request keys.",
            plain(&viewed.place)
        )?;
        writeln!(out, "The last record is {head}.")?;
        match &viewed.anchor {
            Some((file, anchor)) => writeln!(
                out,
                "It has everything up to its anchor {}, record {}.",
                plain(&file.display().to_string()),
                anchor.seq
            )?,
            None => writeln!(
                out,
                "Without --anchor nobody can tell whether records are missing at the end: an old copy is intact, too."
            )?,
        }
        for path in over {
            writeln!(
                out,
                "{} is over its budget, and admits nothing.",
                plain(path)
            )?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
