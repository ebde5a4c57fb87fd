//! What happened to accounts, record by record.

use ledger::{LedgerEntry, WrittenDown};
use odometer::journal::{
    Event as Recorded, FieldValue, Fields, Guarantee, NewBudget, Place, Posted, Posting, Receipt,
    Record, State, Terms,
};
use serde_json::{Value, json};

/// Something that happened: one record.
pub(crate) struct Event {
    pub(crate) receipt: Receipt,
    pub(crate) kind: EventKind,
    /// The account that it happened to; of a launch, the one that was launched into.
    pub(crate) account: Option<Place>,
    pub(crate) path: String,
    /// What was launched, opened or changed.
    pub(crate) what: String,
    pub(crate) key: Option<String>,
    /// What was charged, at the account.
    pub(crate) loss: Option<String>,
    /// All accounts that were charged, with their losses.
    pub(crate) postings: Vec<(Place, String, String)>,
    /// Its optional fields.
    pub(crate) fields: Fields,
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    Begin,
    Open,
    Charge,
    Halt,
    Budget,
    ProposedBudget,
    DecidedBudget,
    Note,
    SecondRun,
    Unknown,
    Checkpoint,
}

impl EventKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            EventKind::Begin => "begin",
            EventKind::Open => "open",
            EventKind::Charge => "charge",
            EventKind::Halt => "halt",
            EventKind::Budget => "budget",
            EventKind::ProposedBudget => "proposed budget",
            EventKind::DecidedBudget => "decided budget",
            EventKind::Note => "note",
            EventKind::SecondRun => "second run",
            EventKind::Unknown => "unknown",
            EventKind::Checkpoint => "checkpoint",
        }
    }
}

impl EventKind {
    /// Is it in lists of charges? All is but what only sets the ledger up.
    pub(crate) fn is_listed(self) -> bool {
        !matches!(
            self,
            EventKind::Begin | EventKind::Open | EventKind::Checkpoint
        )
    }
}

impl Event {
    /// The event in one line of a table.
    pub(crate) fn line(&self) -> String {
        let kind = match self.kind {
            EventKind::Budget => "new budget: ",
            EventKind::ProposedBudget => "proposed budget: ",
            EventKind::DecidedBudget => "proposed budget ",
            EventKind::Note => "note ",
            _ => "",
        };
        format!("{kind}{}", self.what)
    }

    /// What a record says, with the names that places have in this state, which comes after it.
    pub(crate) fn of(entry: &LedgerEntry, state: &State) -> Event {
        let plain = |kind, account: Option<Place>, what: String| Event {
            receipt: entry.receipt,
            kind,
            account,
            path: account.map_or_else(String::new, |place| state.path(place).to_string()),
            what,
            key: None,
            loss: None,
            postings: Vec::new(),
            fields: Fields::default(),
        };
        let record: &Record = match &entry.written {
            WrittenDown::Event(record) => record,
            WrittenDown::Checkpoint => return plain(EventKind::Checkpoint, None, String::new()),
            _ => return plain(EventKind::Begin, None, String::new()),
        };
        let event = match &record.event {
            Recorded::Open(opening) => {
                let place = state.at(opening.parent, &opening.segment);
                plain(EventKind::Open, place, terms(&opening.terms))
            }
            Recorded::Charge(charge) => {
                let postings = charge.postings.iter();
                let postings: Vec<(Place, String, String)> = postings
                    .map(|posting| {
                        let path = state.path(posting.account).to_string();
                        (posting.account, path, loss(posting, state))
                    })
                    .collect();
                let what = description(&charge.description);
                Event {
                    key: charge.key.clone(),
                    loss: postings.first().map(|(_, _, loss)| loss.clone()),
                    postings,
                    ..plain(EventKind::Charge, charge.account(), what)
                }
            }
            Recorded::Halt(halt) => {
                let what = match &halt.reason {
                    Some(reason) => format!("halted by the custodian: {reason}"),
                    None => "refused, and halted: it admits nothing any more".into(),
                };
                plain(EventKind::Halt, Some(halt.account), what)
            }
            Recorded::Budget(new) => plain(EventKind::Budget, Some(new.account), change(new)),
            Recorded::ProposedBudget(new) => {
                plain(EventKind::ProposedBudget, Some(new.account), change(new))
            }
            Recorded::DecidedBudget(decision) => {
                let word = if decision.approved {
                    "approved"
                } else {
                    "rejected"
                };
                let what = format!("{word}: {}", change(&decision.change));
                plain(
                    EventKind::DecidedBudget,
                    Some(decision.change.account),
                    what,
                )
            }
            Recorded::Note(note) => {
                let what = format!("on record {}: {}", note.on.seq, note.text);
                plain(EventKind::Note, None, what)
            }
            Recorded::SecondRun(run) => {
                let what = format!("record {} runs for the second and last time", run.of.seq);
                plain(EventKind::SecondRun, Some(run.account), what)
            }
            Recorded::Unknown(event) => {
                let what = format!("kind {} of a newer program", event.kind);
                plain(EventKind::Unknown, None, what)
            }
            _ => plain(EventKind::Unknown, None, String::new()),
        };
        Event {
            fields: record.fields.clone(),
            ..event
        }
    }

    /// Was this account charged, or did it happen to it? Then what it was charged.
    pub(crate) fn at(&self, place: Place) -> Option<Option<&str>> {
        let posting = self.postings.iter().find(|(account, ..)| *account == place);
        match posting {
            Some((_, _, loss)) => Some(Some(loss)),
            None => (self.account == Some(place)).then_some(None),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let posting =
            |(_, path, loss): &(Place, String, String)| json!({"account": path, "loss": loss});
        let mut value = json!({
            "seq": self.receipt.seq,
            "kind": self.kind.word(),
            "receipt": self.receipt.to_string(),
        });
        if self.account.is_some() {
            value["account"] = json!(self.path);
        }
        if self.account.is_some() || !self.what.is_empty() {
            value["what"] = json!(self.what);
        }
        if !self.fields.is_empty() {
            value["fields"] = fields(&self.fields);
        }
        if self.kind == EventKind::Charge {
            value["loss"] = json!(self.loss);
            value["key"] = json!(self.key);
            value["charged"] = self.postings.iter().map(posting).collect();
        }
        value
    }
}

/// Optional fields by their names; those of newer programs by their tags.
fn fields(fields: &Fields) -> Value {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let known = fields.named().map(|(name, value)| {
        let value = match value {
            FieldValue::Text(text) => text.to_owned(),
            FieldValue::Bytes(bytes) => hex(bytes),
        };
        (name.to_owned(), Value::from(value))
    });
    let unknown = fields.unknown.iter();
    let unknown = unknown.map(|field| (format!("field {}", field.tag), hex(&field.value).into()));
    known
        .chain(unknown)
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A new budget in words.
fn change(new: &NewBudget) -> String {
    let since = match new.guarantee {
        Guarantee::Odometer => " (an odometer's guarantee from now on)",
        Guarantee::Stands => "",
    };
    format!("{} → {}{since}: {}", new.old, new.new, new.reason)
}

fn description(description: &odometer::Description) -> String {
    let mut text = description.name.to_string();
    for (at, (name, value)) in description.parameters.iter().enumerate() {
        text.push_str(if at == 0 { " (" } else { ", " });
        text.push_str(&format!("{name} = {value}"));
    }
    if !description.parameters.is_empty() {
        text.push(')');
    }
    text
}

/// What an account was charged, at its budget's distance. In a part: at the largest change of that part.
fn loss(posting: &Posting, state: &State) -> String {
    let found = match &posting.price {
        Posted::Direct { losses, .. } => losses.first().cloned(),
        Posted::Part { losses, .. } => losses.first().and_then(|losses| losses.last().cloned()),
        Posted::Slot { slot } => match state.opening(posting.account).map(|open| &open.terms) {
            Some(Terms::Compositor(terms)) => terms.slots.get(*slot as usize).cloned(),
            _ => None,
        },
    };
    found.unwrap_or_default()
}

fn terms(terms: &Terms) -> String {
    match terms {
        Terms::Account(terms) => match &terms.budget {
            Some(budget) => format!("{}, budget {budget}", terms.rule),
            None => format!("{}, no budget", terms.rule),
        },
        Terms::Partition(terms) if terms.most == 1 => "partition".into(),
        Terms::Partition(terms) => format!("partition, records in up to {} parts", terms.most),
        Terms::Compositor(terms) => format!("compositor of {}", terms.slots.len()),
    }
}
