//! `odometry show`.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use odometer::journal::Receipt;
use serde_json::{Value, json};

use super::follow;
use crate::error::CommandError;
use crate::ledgers::{Account, Amount, StoreArguments, Tree, Viewed};
use crate::output::{self, BOLD, bar, columns};
use crate::text::plain;

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct Show {
    /// Only this account and those below it
    path: Option<String>,
    /// Show it again whenever something was charged (on a server only)
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    store: StoreArguments,
    /// Answer in JSON; losses are exact text
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let viewed = self.store.view()?;
        if !self.follow {
            self.once(&viewed, out)?;
            return Ok(ExitCode::SUCCESS);
        }
        follow::is_possible(&viewed)?;
        let head = self.once(&viewed, out)?;
        out.flush()?;
        follow::forever(&viewed, head, |entry| match entry {
            Some(_) => Ok(()),
            None => {
                writeln!(out)?;
                self.once(&viewed, out)?;
                Ok(out.flush()?)
            }
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// The tree as it is now, and its last record.
    fn once(&self, viewed: &Viewed, out: &mut dyn Write) -> Result<Receipt, CommandError> {
        let (state, head) = viewed.state()?;
        let tree = Tree::of(&state)?;
        let accounts = match &self.path {
            Some(path) => tree.under(path)?,
            None => &tree.accounts,
        };
        if self.json {
            let accounts: Vec<Value> = accounts.iter().map(Account::json).collect();
            let answer =
                json!({"store": viewed.place, "head": head.to_string(), "accounts": accounts});
            output::json(&answer, out)?;
        } else if accounts.is_empty() {
            writeln!(out, "{}: no account was opened yet.", plain(&viewed.place))?;
        } else {
            table(accounts, out)?;
            writeln!(out, "Up to record {}.", head.seq)?;
        }
        Ok(head)
    }
}

fn table(accounts: &[Account], out: &mut dyn Write) -> Result<(), CommandError> {
    let top = accounts[0].depth;
    let rows: Vec<Vec<String>> = accounts.iter().map(|account| row(account, top)).collect();
    let header = [
        "account",
        "",
        "spent",
        "budget",
        "left",
        "launches",
        "counted in",
    ];
    write!(out, "{}", columns(&header, &rows))?;
    footer(accounts, out)
}

fn row(account: &Account, top: usize) -> Vec<String> {
    let name = format!("{}{}", branches(&account.last[top..]), plain(&account.name));
    let Some((terms, reckoning)) = account.terms() else {
        let launches = match account.launches {
            0 => String::new(),
            launches => launches.to_string(),
        };
        return [name, String::new(), format!("({})", account.kind())]
            .into_iter()
            .chain([String::new(), String::new(), launches, String::new()])
            .collect();
    };
    let left = match (&terms.budget, account.halted) {
        (_, true) => "halted".into(),
        (None, _) => account.without_budget().into(),
        (Some(_), _) if !reckoning.fits => "none: over".into(),
        (Some(_), _) => Amount::or_dash(reckoning.left.as_ref()),
    };
    vec![
        name,
        account.share().map(bar).unwrap_or_default(),
        Amount::or_dash(reckoning.spent.as_ref()),
        plain(terms.budget.as_deref().unwrap_or("–")),
        left,
        account.launches.to_string(),
        plain(&account.measure()),
    ]
}

/// The lines of the tree in front of a name.
fn branches(last: &[bool]) -> String {
    let Some((own, above)) = last[1..].split_last() else {
        return String::new();
    };
    let mut text: String = above
        .iter()
        .map(|last| if *last { "   " } else { "│  " })
        .collect();
    text.push_str(if *own { "└─ " } else { "├─ " });
    text
}

fn footer(accounts: &[Account], out: &mut dyn Write) -> Result<(), CommandError> {
    let exhausted: Vec<String> = accounts
        .iter()
        .filter(|account| account.exhausted())
        .map(|account| plain(&account.path))
        .collect();
    writeln!(out)?;
    if !exhausted.is_empty() {
        let list = exhausted.join(", ");
        writeln!(out, "{BOLD}Exhausted:{BOLD:#} {list}.")?;
    }
    for account in accounts {
        if let Some((_, reckoning)) = account.terms()
            && let Some(why) = &reckoning.unknown
        {
            writeln!(out, "{}: {}.", plain(&account.path), plain(why))?;
        }
    }
    writeln!(
        out,
        "Totals are recomputed from the charges with the built-in rules: spent is rounded up, left is rounded down."
    )?;
    Ok(())
}
