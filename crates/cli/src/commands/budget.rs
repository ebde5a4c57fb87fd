//! `odometry budget`: the one command that writes to a ledger that is there.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use ledger::{Ledger, LedgerError};
use odometer::journal::{BudgetError, Receipt};
use serde_json::json;

use crate::error::{CommandError, REFUSED};
use crate::ledgers::StoreArguments;
use crate::output;
use crate::text::plain;

/// Arguments of `budget`.
#[derive(Debug, Args)]
pub struct ChangeBudget {
    /// The account
    path: String,
    /// Its budget from now on: 4, or "(4, 1e-6)"
    new: String,
    /// Why: one line, which is recorded
    #[arg(long, short)]
    reason: String,
    #[command(flatten)]
    store: StoreArguments,
    /// Answer in JSON; losses are exact text
    #[arg(long)]
    json: bool,
}

impl ChangeBudget {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        // What is not there is not begun, and what is damaged or rolled back is not written to.
        drop(self.store.view()?);
        let ledger = self.store.whereabouts()?.open(self.store.anchor_file())?;
        let old = ledger.budget(&self.path);
        let changed = ledger.change_budget(&self.path, &self.new, &self.reason);
        let closed = ledger.close();
        match changed {
            Ok(receipt) => {
                // It is durable, whatever became of the anchor.
                let told = self.tell(old, &ledger, &receipt, out)?;
                closed?;
                Ok(told)
            }
            Err(
                error @ (BudgetError::NoBudget { .. }
                | BudgetError::FilterOnly { .. }
                | BudgetError::Reserved { .. }
                | BudgetError::OtherRule { .. }),
            ) => {
                if self.json {
                    let answer = json!({"refused": true, "why": error.to_string()});
                    output::json(&answer, out)?;
                } else {
                    writeln!(
                        out,
                        "Refused: {}. Nothing was changed.",
                        plain(&error.to_string())
                    )?;
                }
                Ok(ExitCode::from(REFUSED))
            }
            Err(BudgetError::Journal(error)) => Err(LedgerError::from(error).into()),
            Err(error) => Err(CommandError::input("budget", error)),
        }
    }

    fn tell(
        &self,
        old: Option<String>,
        ledger: &Ledger,
        receipt: &Receipt,
        out: &mut dyn Write,
    ) -> Result<ExitCode, CommandError> {
        let new = ledger.budget(&self.path);
        if self.json {
            let answer = json!({"account": self.path, "old": old, "new": new, "receipt": receipt.to_string()});
            output::json(&answer, out)?;
        } else {
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            writeln!(
                out,
                "The budget of {} was {old} and is {new} from now on.",
                plain(&self.path)
            )?;
            writeln!(out, "Receipt: {receipt}")?;
            writeln!(
                out,
                "The program that launches has to open the account with the new budget."
            )?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
