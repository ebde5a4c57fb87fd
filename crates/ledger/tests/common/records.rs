//! Records as sessions write them.

use measures::{Form, Name};
use odometer::Description;
use odometer::journal::{
    AccountTerms, ChargeRecord, Journal, JournalError, Opening, Place, Posted, Posting, Record,
    Relation, Segment, Terms, Written,
};

/// An account with a budget at distance 1.
pub fn account(parent: Option<Place>, name: &str, budget: &str) -> Opening {
    Opening {
        parent,
        segment: Segment::name(name),
        terms: Terms::Account(AccountTerms {
            relation: match parent {
                None => Relation::Root,
                Some(_) => Relation::Nested,
            },
            rule: Name::new("basic").of(&Name::new("pure")),
            measure: Name::new("pure"),
            metric: Name::new("symmetric"),
            distances: vec!["1".into()],
            budget: Some(budget.into()),
            halting: false,
            quota: 10,
            sequential: false,
            messages: None,
        }),
    }
}

/// A launch of 0.1 into these accounts.
pub fn launch(key: Option<&str>, name: &str, accounts: &[Place]) -> Record {
    let posting = |account: &Place| Posting {
        account: *account,
        price: Posted::Direct {
            form: Form::Linear("0.1".into()),
            losses: vec!["0.1".into()],
        },
    };
    Record::from(ChargeRecord {
        description: Description {
            name: name.to_owned().into(),
            parameters: Vec::new(),
        },
        key: key.map(Into::into),
        postings: accounts.iter().map(posting).collect(),
        opens: None,
    })
}

/// Writes a record down.
pub fn write(journal: &dyn Journal, record: Record) -> Result<Written, JournalError> {
    let mut draft = journal.draft(record)?;
    draft.stage()?;
    draft.wait()
}
