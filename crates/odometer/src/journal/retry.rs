//! Whether a launch is one that was charged before.

use measures::Form;

use crate::journal::{Opening, Posted, Record, Terms};

impl Record {
    /// Is this the same launch? A newer program may know the form of a map that was only a function to an older one, or write down
    /// terms that were not: that makes no other launch. What was launched, where, under which key and at which price does.
    pub fn is_same_launch(&self, other: &Self) -> bool {
        self.known_to_all() == other.known_to_all()
    }

    /// The record without what only some versions write.
    fn known_to_all(&self) -> Self {
        let mut record = self.clone();
        if let Self::Charge(charge) = &mut record {
            for posting in &mut charge.postings {
                forget_form(&mut posting.price);
            }
            if let Some(opening) = &mut charge.opens {
                forget_messages(opening);
            }
        }
        record
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
        journal::{Place, Posting, Settlement},
        measurement::Description,
    };

    fn launch(form: Form<String, String>, loss: &str) -> Record {
        let price = Posted::Direct {
            form,
            losses: vec![loss.into()],
        };
        Record::Charge(Settlement {
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
        let halt = Record::Halt { account: Place(0) };
        assert!(!old.is_same_launch(&halt) && halt.is_same_launch(&halt));
    }
}
