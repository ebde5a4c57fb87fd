//! `odometry charges`.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use ledger::{LedgerError, WrittenDown};
use odometer::journal::Place;

use super::follow;
use crate::error::CommandError;
use crate::ledgers::{Event, StoreArguments, Tree};
use crate::output::{self, AnswerForm, Lines};
use crate::text::json_escaped;

/// Arguments of `charges`.
#[derive(Debug, Args)]
pub struct Charges {
    /// Only what was charged to this account, with what it was charged
    path: Option<String>,
    /// Only from this record on
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    since: u64,
    /// Go on as more is charged (on a server only)
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    form: AnswerForm,
}

const HEADER: [&str; 6] = ["record", "account", "what", "key", "loss", "kind"];

impl Charges {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let viewed = self.store.view()?;
        if self.follow {
            follow::is_possible(&viewed)?;
        }
        let (mut state, head) = viewed.state()?;
        let account = match &self.path {
            Some(path) => Some(Tree::of(&state)?.at(path)?.place),
            None => None,
        };
        let mut written = Form::begin(self.form, self.follow, out)?;
        follow::entries(&viewed, self.since, |entry| {
            // What is written meanwhile is about accounts that are not known yet.
            if entry.receipt.seq > head.seq {
                return Ok(());
            }
            let event = wanted(Event::of(&entry, &state), account);
            event.map_or(Ok(()), |event| written.event(&event))
        })?;
        if self.follow {
            written.flush()?;
            follow::forever(&viewed, head, |entry| match entry {
                Some(entry) => {
                    if let WrittenDown::Event(record) = &entry.written {
                        let seq = entry.receipt.seq;
                        let invalid = |reason| LedgerError::Invalid { seq, reason };
                        let applied = state.apply(record);
                        applied.map_err(|error| invalid(error.to_string()))?;
                    }
                    let new = entry.receipt.seq >= self.since;
                    let event = wanted(Event::of(&entry, &state), account).filter(|_| new);
                    event.map_or(Ok(()), |event| written.event(&event))
                }
                None => written.flush(),
            })?;
        }
        written.end()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What a reader of charges wants to see, as this account sees it.
fn wanted(mut event: Event, account: Option<Place>) -> Option<Event> {
    let told = event.kind.is_listed();
    if let Some(account) = account {
        event.loss = event.at(account)?.map(str::to_owned);
    }
    told.then_some(event)
}

/// The form in which events are written, one by one.
pub(super) enum Form<'a> {
    Json {
        out: &'a mut dyn Write,
        any: bool,
        /// One value on each line, and no list: it has no end.
        endless: bool,
    },
    Csv(&'a mut dyn Write),
    Table(Lines<'a>),
}

impl<'a> Form<'a> {
    pub(super) fn begin(
        form: AnswerForm,
        endless: bool,
        out: &'a mut dyn Write,
    ) -> Result<Self, CommandError> {
        Ok(match (form.json, form.csv) {
            (true, _) => Form::Json {
                out,
                any: false,
                endless,
            },
            (_, true) => {
                output::csv(&HEADER, std::iter::empty(), out)?;
                Form::Csv(out)
            }
            _ => Form::Table(Lines::new(&HEADER[..5], out)),
        })
    }

    pub(super) fn event(&mut self, event: &Event) -> Result<(), CommandError> {
        let loss = event.loss.clone().unwrap_or_default();
        match self {
            Form::Json { out, any, endless } => {
                let event = json_escaped(&event.json().to_string());
                if *endless {
                    writeln!(out, "{event}")?;
                    return Ok(());
                }
                write!(out, "{}\n  {event}", if *any { "," } else { "[" })?;
                *any = true;
            }
            Form::Csv(out) => output::csv_row(
                &[
                    &event.receipt.seq.to_string(),
                    &event.path,
                    &event.what,
                    event.key.as_deref().unwrap_or_default(),
                    &loss,
                    event.kind.word(),
                ],
                out,
            )?,
            Form::Table(lines) => {
                lines.row(vec![
                    event.receipt.seq.to_string(),
                    event.path.clone(),
                    event.line(),
                    event.key.clone().unwrap_or_default(),
                    loss,
                ])?;
            }
        }
        Ok(())
    }

    /// Whoever reads sees everything up to here.
    fn flush(&mut self) -> Result<(), CommandError> {
        match self {
            Form::Json { out, .. } | Form::Csv(out) => out.flush()?,
            Form::Table(lines) => lines.flush()?,
        }
        Ok(())
    }

    pub(super) fn end(self) -> Result<(), CommandError> {
        match self {
            Form::Json { out, any, .. } => writeln!(out, "{}", if any { "\n]" } else { "[]" })?,
            Form::Csv(_) => {}
            Form::Table(lines) => {
                let (out, none) = lines.end()?;
                if none {
                    writeln!(out, "Nothing was charged.")?;
                }
            }
        }
        Ok(())
    }
}
