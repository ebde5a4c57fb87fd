//! The table of rules.

use exact::Exact;
use measures::{EpsilonDelta, compare};

fn losses(text: &str, n: usize) -> Vec<EpsilonDelta> {
    vec![text.parse().unwrap(); n]
}

#[test]
fn no_rule_claims_less_than_the_optimum() {
    let delta: Exact = "1e-6".parse().unwrap();
    let table = compare(&losses("(0.1, 0)", 30), &delta);
    let named = |name: &str| {
        let row = table.rows().iter().find(|row| row.rule == name);
        row.unwrap().total.clone().unwrap()
    };
    let optimum = named("optimal");
    assert_eq!(optimum.delta(), &delta);
    for row in table.rows() {
        let total = row.total.as_ref().unwrap();
        assert!(total.delta() <= &delta, "{}: {total}", row.rule);
        assert!(
            total.epsilon() >= optimum.epsilon(),
            "{}: {total}",
            row.rule
        );
    }
    assert_eq!(named("basic"), "(3, 0)".parse().unwrap());
    assert_eq!(table.least(&delta, false).unwrap().rule, "optimal");
    assert!(table.least(&delta, true).unwrap().adaptive);
    assert_eq!(table.to_string().lines().count(), 1 + table.rows().len());
}

#[test]
fn what_does_not_apply_says_why() {
    let table = compare(&losses("(0.1, 1e-6)", 2), &"1e-6".parse().unwrap());
    assert!(table.rows().iter().all(|row| row.rule != "zCDP"));
    let refused: Vec<_> = table
        .rows()
        .iter()
        .filter(|row| row.total.is_err())
        .collect();
    assert!(refused.iter().any(|row| row.rule == "Whitehouse"));
    assert!(
        table
            .to_string()
            .contains("above the sum of the children's δ")
    );
    assert_eq!(
        compare(&[], &"1e-6".parse().unwrap()).rows()[0].total,
        Ok(EpsilonDelta::ZERO)
    );
}
