//! Whether a launch is one that was charged before.

use measures::Form;

use crate::journal::{Event, Opening, Posted, Record, Terms};

impl Record {
    /// Is this the same launch? The measurement, the account, the key and the price decide, and so do the fingerprint, the plan and
    /// the attached file where both records have one. Times, actors and notes do not. A newer program may know the form of a map
    /// that was only a function to an older one, or write down terms that were not: that makes no other launch.
    pub fn is_same_launch(&self, other: &Self) -> bool {
        self.fields.may_be_same_request(&other.fields)
            && self.event.known_to_all() == other.event.known_to_all()
    }
}

impl Event {
    /// The event without what only some versions write.
    fn known_to_all(&self) -> Self {
        let mut event = self.clone();
        if let Self::Charge(charge) = &mut event {
            for posting in &mut charge.postings {
                forget_form(&mut posting.price);
            }
            if let Some(opening) = &mut charge.opens {
                forget_messages(opening);
            }
        }
        event
    }
}

fn forget_form(price: &mut Posted) {
    match price {
        Posted::Direct { form, .. } => *form = Form::Function,
        Posted::Part { path, form, .. } => {
            *form = Form::Function;
            path.iter_mut().for_each(|step| step.factor = None);
        }
        Posted::Slot { .. } => {}
    }
}

fn forget_messages(opening: &mut Opening) {
    match &mut opening.terms {
        Terms::Account(terms) => terms.messages = None,
        Terms::Compositor(terms) => terms.messages = None,
        Terms::Partition(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        journal::{ChargeRecord, Fields, Halt, Place, Posting},
        measurement::Description,
    };

    fn launch(form: Form<String, String>, loss: &str) -> Record {
        let price = Posted::Direct {
            form,
            losses: vec![loss.into()],
        };
        Record::from(ChargeRecord {
            description: Description {
                name: "count".into(),
                parameters: Vec::new(),
            },
            key: Some("monday".into()),
            postings: vec![Posting {
                account: Place(0),
                price,
            }],
            opens: None,
        })
    }

    /// What an older version wrote down of a map that now has a form is still the same launch; another price is another.
    #[test]
    fn forms_make_no_other_launch() {
        let old = launch(Form::Function, "0.1");
        let new = launch(Form::Linear("0.1".into()), "0.1");
        assert!(old.is_same_launch(&new) && new.is_same_launch(&old) && old != new);
        assert!(!old.is_same_launch(&launch(Form::Function, "0.2")));
        let halt = Record::from(Halt {
            account: Place(0),
            reason: None,
        });
        assert!(!old.is_same_launch(&halt) && halt.is_same_launch(&halt));
    }

    /// A clock and a name make no other launch; another fingerprint, plan or file does.
    #[test]
    fn fields_that_identify_a_request() {
        let with = |fields| Record {
            fields,
            ..launch(Form::Function, "0.1")
        };
        let plain = with(Fields::default());
        let stated = |text: &str| Fields {
            time: Some(text.into()),
            actor: Some(text.into()),
            note: Some(text.into()),
            voucher: Some(text.into()),
            ..Fields::default()
        };
        assert!(with(stated("a")).is_same_launch(&with(stated("b"))));
        let identify: [fn(u8) -> Fields; 3] = [
            |n| Fields {
                fingerprint: Some([n; 32]),
                ..Fields::default()
            },
            |n| Fields {
                attached_file: Some([n; 32]),
                ..Fields::default()
            },
            |n| Fields {
                plan: Some(n.to_string()),
                ..Fields::default()
            },
        ];
        for identify in identify {
            assert!(with(identify(1)).is_same_launch(&with(identify(1))));
            assert!(with(identify(1)).is_same_launch(&plain));
            assert!(!with(identify(1)).is_same_launch(&with(identify(2))));
        }
    }
}
