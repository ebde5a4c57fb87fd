//! Terms in words: what is said when a place is opened with other terms than it has.

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
    let (stored, asked) = differs.or(stored.last().zip(asked.last()))?;
    Some((stored.clone(), asked.clone()))
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

/// Terms in words, one by one.
fn shown(terms: &Terms) -> Vec<String> {
    match terms {
        Terms::Account(terms) => {
            let relation = match &terms.relation {
                Relation::Root => "a root".into(),
                Relation::Nested => "a nested session".into(),
                Relation::Converted => "a session in another measure".into(),
                Relation::Transformed => "a session after a transformation".into(),
                Relation::Part => "a part".into(),
                Relation::Reserved => "a filter".into(),
            };
            let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".into());
            vec![
                relation,
                format!("the rule {}", terms.rule),
                format!("the measure {}", terms.measure),
                format!("the metric {}", terms.metric),
                format!("the distance {}", terms.distances.join(", ")),
                format!("the budget {}", or_none(&terms.budget)),
                format!(
                    "the {} form",
                    if terms.halting { "halting" } else { "plain" }
                ),
                format!("a quota of {}", terms.quota),
                format!(
                    "{} launches",
                    if terms.sequential {
                        "sequential"
                    } else {
                        "concurrent"
                    }
                ),
                messages(terms.messages),
            ]
        }
        Terms::Partition(terms) => vec![
            "a partition".into(),
            format!("records in at most {} parts", terms.most),
            format!("{} units for each step of distance", terms.factor),
        ],
        Terms::Compositor(terms) => vec![
            "a compositor".into(),
            format!("the rule {}", terms.rule),
            format!("the measure {}", terms.measure),
            format!("the metric {}", terms.metric),
            format!("the distance {}", terms.d_in),
            format!("the slots {}", terms.slots.join(", ")),
            format!(
                "slots in {} order",
                if terms.in_any_order {
                    "any"
                } else {
                    "the given"
                }
            ),
            messages(terms.messages),
        ],
    }
}
