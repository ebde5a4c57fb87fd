//! Terms in words: what is said when a place is opened with other terms than it has.

use exact::excerpt;

use crate::journal::{Relation, Terms};

/// What differs between the terms of one place: first as they are written down, then as they were asked for.
pub(super) fn difference(stored: &Terms, asked: &Terms) -> Option<(String, String)> {
    let asked = unless_unknown(stored, asked.clone());
    if *stored == asked {
        return None;
    }
    let (stored, asked) = (shown(stored), shown(&asked));
    let differs = stored
        .iter()
        .zip(&asked)
        .find(|(stored, asked)| stored != asked);
    let ((what, stored), (other, asked)) = differs.or(stored.last().zip(asked.last()))?;
    let same = stored.chars().zip(asked.chars());
    let same = same.take_while(|(stored, asked)| stored == asked).count();
    Some((
        format!("{what}{}", from(stored, same)),
        format!("{other}{}", from(asked, same)),
    ))
}

/// How much is shown of what is the same.
const BEFORE: usize = 20;

/// A text as an error shows it, so that the sign with this number is in it: whoever forged a ledger decides how long it is.
fn from(text: &str, differs: usize) -> String {
    match differs.saturating_sub(BEFORE) {
        0 => excerpt(text),
        left_out => {
            let rest: String = text.chars().skip(left_out).collect();
            format!("…{}", excerpt(&rest))
        }
    }
}

/// What is asked for, as far as it was written down: the first version wrote no number of messages.
fn unless_unknown(stored: &Terms, mut asked: Terms) -> Terms {
    match (stored, &mut asked) {
        (Terms::Account(stored), Terms::Account(asked)) if stored.messages.is_none() => {
            asked.messages = None;
        }
        (Terms::Compositor(stored), Terms::Compositor(asked)) if stored.messages.is_none() => {
            asked.messages = None;
        }
        _ => {}
    }
    asked
}

/// How many messages a launch answers, in words.
fn messages(most: Option<u64>) -> String {
    match most {
        Some(most) => format!("at most {most} messages for each launch"),
        None => "any number of messages".into(),
    }
}

/// Terms in words, one by one: what each is about, and what it says.
fn shown(terms: &Terms) -> Vec<(&'static str, String)> {
    match terms {
        Terms::Account(terms) => {
            let relation = match &terms.relation {
                Relation::Root => "a root",
                Relation::Nested => "a nested session",
                Relation::Converted => "a session in another measure",
                Relation::Transformed => "a session after a transformation",
                Relation::Part => "a part",
                Relation::Reserved => "a filter",
            };
            let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".into());
            let form = match terms.halting {
                true => "the halting form",
                false => "the plain form",
            };
            let launches = match terms.sequential {
                true => "sequential launches",
                false => "concurrent launches",
            };
            vec![
                ("", relation.into()),
                ("the rule ", terms.rule.to_string()),
                ("the measure ", terms.measure.to_string()),
                ("the metric ", terms.metric.to_string()),
                ("the distance ", terms.distances.join(", ")),
                ("the budget ", or_none(&terms.budget)),
                ("", form.into()),
                ("a quota of ", terms.quota.to_string()),
                ("", launches.into()),
                ("", messages(terms.messages)),
            ]
        }
        Terms::Partition(terms) => vec![
            ("", "a partition".into()),
            ("", format!("records in at most {} parts", terms.most)),
            (
                "",
                format!("{} units for each step of distance", terms.factor),
            ),
        ],
        Terms::Compositor(terms) => {
            let order = match terms.in_any_order {
                true => "slots in any order",
                false => "slots in the given order",
            };
            vec![
                ("", "a compositor".into()),
                ("the rule ", terms.rule.to_string()),
                ("the measure ", terms.measure.to_string()),
                ("the metric ", terms.metric.to_string()),
                ("the distance ", terms.d_in.clone()),
                ("the slots ", terms.slots.join(", ")),
                ("", order.into()),
                ("", messages(terms.messages)),
            ]
        }
    }
}
