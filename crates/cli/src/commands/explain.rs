//! `odometry explain`.

use std::io::Write;
use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::Args;
use ledger::{LedgerEntry, WrittenDown, anchor};
use odometer::journal::{JournalError, Place, Receipt, State, Terms};
use serde_json::{Value, json};

use crate::error::{CORRUPT, CommandError};
use crate::ledgers::{Amount, Event, EventKind, Reckoning, StoreArguments, Viewed, reckon};
use crate::output::{self, columns};
use crate::text::plain;

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The number of a record, its receipt (SEQ:HASH), or the request key of a launch
    #[arg(value_name = "SEQ|KEY")]
    which: String,
    /// Take it for a key, whatever it looks like
    #[arg(long)]
    key: bool,
    #[command(flatten)]
    store: StoreArguments,
    /// Answer in JSON; losses are exact text
    #[arg(long)]
    json: bool,
}

/// What a record did to one account.
struct Effect {
    path: String,
    loss: String,
    budget: Option<String>,
    before: Reckoning,
    after: Reckoning,
}

impl Explain {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let viewed = self.store.view()?;
        let mut code = ExitCode::SUCCESS;
        let numbers = self.numbers(&viewed)?;
        let mut answers: Vec<Value> = Vec::new();
        for (at, number) in numbers.iter().enumerate() {
            let (entry, before, after) = around(&viewed, *number)?;
            let event = Event::of(&entry, &after);
            let effects = effects(&event, &before, &after)?;
            let genuine = self
                .receipt()
                .is_none_or(|receipt| receipt == entry.receipt);
            if !genuine {
                code = ExitCode::from(CORRUPT);
            }
            if self.json {
                answers.push(as_json(&event, &effects, genuine));
            } else {
                if at > 0 {
                    writeln!(out)?;
                }
                as_text(&event, &effects, genuine, out)?;
            }
        }
        if self.json {
            let answer = match answers.as_slice() {
                [one] => one.clone(),
                all => json!(all),
            };
            output::json(&answer, out)?;
        }
        Ok(code)
    }

    fn receipt(&self) -> Option<Receipt> {
        anchor::parse(&self.which).ok().filter(|_| !self.key)
    }

    /// The records that are meant: a key may be taken once in every account.
    fn numbers(&self, viewed: &Viewed) -> Result<Vec<u64>, CommandError> {
        if let Some(receipt) = self.receipt() {
            return Ok(vec![receipt.seq]);
        }
        if let Some(number) = self.which.parse().ok().filter(|_| !self.key) {
            return Ok(vec![number]);
        }
        let (state, _) = viewed.state()?;
        let mut numbers = Vec::new();
        for place in 0..state.len() as u32 {
            numbers.extend(viewed.ledger.find(Place(place), &self.which)?);
        }
        match numbers.is_empty() {
            true => Err(CommandError::input(
                &self.which,
                "no launch has this key, and it is no record's number",
            )),
            false => Ok(numbers),
        }
    }
}

/// A record, what everything amounted to before it, and after it: all records up to it are replayed.
fn around(viewed: &Viewed, number: u64) -> Result<(LedgerEntry, State, State), CommandError> {
    let mut state = State::new();
    let mut found = None;
    let mut wrong = None;
    viewed.ledger.entries(0, |entry| {
        let last = entry.receipt.seq == number;
        let before = last.then(|| state.clone());
        if let WrittenDown::Event(record) = &entry.written
            && let Err(error) = state.apply(record)
        {
            let seq = entry.receipt.seq;
            let reason = error.to_string();
            wrong = Some(ledger::LedgerError::Invalid { seq, reason });
            return ControlFlow::Break(());
        }
        match before {
            Some(before) => {
                found = Some((entry, before));
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    })?;
    if let Some(wrong) = wrong {
        return Err(wrong.into());
    }
    let (entry, before) = found.ok_or_else(|| {
        CommandError::input(
            number.to_string(),
            "the ledger has no record of this number",
        )
    })?;
    Ok((entry, before, state))
}

fn effects(event: &Event, before: &State, after: &State) -> Result<Vec<Effect>, CommandError> {
    let failed = |error: JournalError| CommandError::Ledger(error.into());
    let mut effects = Vec::new();
    for (place, path, loss) in &event.postings {
        let Some(Terms::Account(terms)) = before.opening(*place).map(|open| &open.terms) else {
            continue;
        };
        effects.push(Effect {
            path: path.clone(),
            loss: loss.clone(),
            budget: terms.budget.clone(),
            before: reckon(before, *place, terms, None).map_err(failed)?,
            after: reckon(after, *place, terms, None).map_err(failed)?,
        });
    }
    Ok(effects)
}

fn as_json(event: &Event, effects: &[Effect], genuine: bool) -> Value {
    let effect = |effect: &Effect| {
        json!({
            "account": effect.path,
            "loss": effect.loss,
            "budget": effect.budget,
            "spent_before": Amount::json(effect.before.spent.as_ref()),
            "spent_after": Amount::json(effect.after.spent.as_ref()),
            "left_after": Amount::json(effect.after.left.as_ref()),
        })
    };
    let mut value = event.json();
    value["effects"] = effects.iter().map(effect).collect();
    value["genuine"] = json!(genuine);
    value
}

fn as_text(
    event: &Event,
    effects: &[Effect],
    genuine: bool,
    out: &mut dyn Write,
) -> Result<(), CommandError> {
    let (seq, path, what) = (event.receipt.seq, plain(&event.path), plain(&event.what));
    let sentence = match event.kind {
        EventKind::Begin => "the ledger begins".into(),
        EventKind::Checkpoint => "a checkpoint: the state of all accounts".into(),
        EventKind::Open => format!("{path} was opened: {what}"),
        EventKind::Charge => format!("{path} launched {what}"),
        EventKind::Halt => format!("{path} {what}"),
        EventKind::Budget => format!("{path} got another budget, {what}"),
        EventKind::ProposedBudget => format!("{path} may get another budget, {what}"),
        EventKind::DecidedBudget => format!("the budget proposed for {path} was {what}"),
        EventKind::Note => format!("a note {what}"),
        EventKind::SecondRun => format!("{path}: {what}"),
        EventKind::Unknown => what,
    };
    writeln!(out, "Record {seq}: {sentence}")?;
    if let Some(key) = &event.key {
        writeln!(out, "The analyst's key: {}", plain(key))?;
    }
    writeln!(out, "Receipt: {}", event.receipt)?;
    if !genuine {
        writeln!(
            out,
            "The receipt that was asked about is another one: this is not what it was given for."
        )?;
    }
    if effects.is_empty() {
        return Ok(());
    }
    let row = |effect: &Effect| {
        vec![
            plain(&effect.path),
            plain(&effect.loss),
            Amount::or_dash(effect.before.spent.as_ref()),
            Amount::or_dash(effect.after.spent.as_ref()),
            plain(effect.budget.as_deref().unwrap_or("–")),
            match effect.budget {
                Some(_) => Amount::or_dash(effect.after.left.as_ref()),
                None => "no limit".into(),
            },
        ]
    };
    let rows: Vec<Vec<String>> = effects.iter().map(row).collect();
    let header = [
        "account",
        "charged",
        "spent before",
        "spent after",
        "budget",
        "left",
    ];
    write!(out, "\n{}", columns(&header, &rows))?;
    Ok(())
}
