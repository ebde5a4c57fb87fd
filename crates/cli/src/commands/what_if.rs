//! `odometry what-if`.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use odometer::journal::{AccountTerms, JournalError, Relation, State};
use serde_json::{Value, json};

use crate::error::{CommandError, REFUSED};
use crate::items;
use crate::ledgers::{Account, Amount, Reckoning, Standing, StoreArguments, Tree, reckon};
use crate::output::{self, columns};
use crate::text::plain;

/// Arguments of `what-if`.
#[derive(Debug, Args)]
pub struct WhatIf {
    /// The account that would launch
    path: String,
    /// The loss of one launch, in the account's measure and at its distance: 0.1, or "(0.1, 1e-9)"
    loss: String,
    /// How many launches
    #[arg(long, short, default_value = "1")]
    times: String,
    #[command(flatten)]
    store: StoreArguments,
    /// Answer in JSON; losses are exact text
    #[arg(long)]
    json: bool,
}

/// What an account would say.
struct Verdict<'a> {
    account: &'a Account,
    budget: Option<String>,
    after: Reckoning,
}

impl Verdict<'_> {
    fn refuses(&self) -> bool {
        self.account.halted || !self.after.fits
    }

    fn words(&self) -> String {
        match (&self.after.unknown, self.refuses()) {
            (Some(_), false) => "not known here",
            (_, true) if self.account.halted => "refuses: it has halted",
            (_, true) => "refuses",
            (None, false) if self.budget.is_none() => "has no limit",
            (None, false) => "admits it",
        }
        .into()
    }

    fn json(&self) -> Value {
        json!({
            "account": self.account.path,
            "verdict": self.words(),
            "refuses": self.refuses(),
            "budget": self.budget,
            "spent_after": Amount::json(self.after.spent.as_ref()),
            "left_after": Amount::json(self.after.left.as_ref()),
            "unknown": self.after.unknown,
        })
    }

    fn row(&self) -> Vec<String> {
        vec![
            plain(&self.account.path),
            self.words(),
            Amount::or_dash(self.after.spent.as_ref()),
            plain(self.budget.as_deref().unwrap_or("–")),
            Amount::or_dash(self.after.left.as_ref()),
        ]
    }
}

impl WhatIf {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let times =
            items::count(&self.times).map_err(|reason| CommandError::input("--times", reason))?;
        let viewed = self.store.view()?;
        let (state, _) = viewed.state()?;
        let tree = Tree::of(&state)?;
        let verdicts = self.verdicts(&tree, &state, times)?;
        let refused = verdicts.iter().any(Verdict::refuses);
        let unknown = verdicts
            .iter()
            .any(|verdict| verdict.after.unknown.is_some());
        if self.json {
            let accounts: Vec<Value> = verdicts.iter().map(Verdict::json).collect();
            let answer = json!({
                "loss": self.loss, "times": times, "refused": refused, "all_known": !unknown, "accounts": accounts,
            });
            output::json(&answer, out)?;
        } else {
            let rows: Vec<Vec<String>> = verdicts.iter().map(Verdict::row).collect();
            let header = ["account", "would", "spent then", "budget", "left then"];
            write!(out, "{}", columns(&header, &rows))?;
            for verdict in &verdicts {
                if let Some(why) = &verdict.after.unknown {
                    writeln!(out, "{}: {}.", plain(&verdict.account.path), plain(why))?;
                }
            }
            let sentence = match (refused, unknown) {
                (true, _) => "It would be refused. Nothing was charged.",
                (false, true) => {
                    "It would be admitted as far as is known here. Nothing was charged."
                }
                (false, false) => "It would be admitted. Nothing was charged.",
            };
            writeln!(out, "{sentence}")?;
        }
        Ok(match refused {
            true => ExitCode::from(REFUSED),
            false => ExitCode::SUCCESS,
        })
    }

    /// What the account and all above would say, up to a filter that was launched, which has paid for everything below it.
    fn verdicts<'a>(
        &self,
        tree: &'a Tree,
        state: &State,
        times: u64,
    ) -> Result<Vec<Verdict<'a>>, CommandError> {
        let first = tree.at(&self.path)?;
        let Some((leaf, _)) = first.terms() else {
            let reason = format!("is a {}, and launches nothing itself", first.kind());
            return Err(CommandError::input(&self.path, reason));
        };
        let (mut verdicts, mut next, mut known) = (Vec::new(), Some(first), true);
        while let Some(account) = next {
            next = tree.above(account);
            let Standing::Account { terms, .. } = &account.standing else {
                continue;
            };
            known = known && counts_alike(leaf, terms);
            let after = match known {
                true => self.after(account, terms, state, times)?,
                false => Reckoning {
                    fits: true,
                    unknown: Some(
                        "it counts other data, or in another way; what it would be charged depends on what is launched"
                            .into(),
                    ),
                    ..Reckoning::default()
                },
            };
            verdicts.push(Verdict {
                account,
                budget: terms.budget.clone(),
                after,
            });
            match terms.relation {
                Relation::Reserved | Relation::Root => break,
                Relation::Nested => {}
                _ => known = false,
            }
        }
        Ok(verdicts)
    }

    fn after(
        &self,
        account: &Account,
        terms: &AccountTerms,
        state: &State,
        times: u64,
    ) -> Result<Reckoning, CommandError> {
        reckon(state, account.place, terms, Some((&self.loss, times))).map_err(
            |error| match error {
                JournalError::Unsupported(reason) => {
                    let reason = format!(
                        "{reason} ({} counts in {})",
                        account.path,
                        account.measure()
                    );
                    CommandError::input(exact::excerpt(&self.loss), reason)
                }
                other => CommandError::Ledger(other.into()),
            },
        )
    }
}

/// Is an account charged the very loss that another one is?
fn counts_alike(one: &AccountTerms, other: &AccountTerms) -> bool {
    let (at, above) = (one.distances.first(), other.distances.first());
    (&one.measure, &one.metric, at) == (&other.measure, &other.metric, above)
}
