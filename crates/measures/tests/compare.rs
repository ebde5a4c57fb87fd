//! The table of rules.

use measures::{Comparison, EpsilonDelta, LossError, Use, compare};

fn table(losses: &str, n: usize, budget: &str) -> Comparison {
    compare(vec![losses; n], budget).unwrap()
}

fn named(table: &Comparison, name: &str) -> EpsilonDelta {
    let row = table.rows().iter().find(|row| row.rule == name);
    row.unwrap().total.clone().unwrap()
}

#[test]
fn no_rule_claims_less_than_the_optimum() {
    let table = table("(0.1, 0)", 30, "(3, 1e-6)");
    let delta = "1e-6".parse().unwrap();
    let optimum = named(&table, "optimal");
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
    assert_eq!(named(&table, "basic"), "(3, 0)".parse().unwrap());
    assert_eq!(table.least(Use::Compositor).unwrap().rule, "optimal");
    assert!(table.least(Use::Filter).unwrap().good_for <= Use::Filter);
    assert_eq!(table.least(Use::Odometer).unwrap().good_for, Use::Odometer);
    assert_eq!(table.to_string().lines().count(), 1 + table.rows().len());
}

#[test]
fn a_filter_is_as_good_as_its_odometer_and_better_than_what_came_before() {
    let table = table("(0.01, 0)", 1000, "(3, 1e-6)");
    let epsilon = |name: &str| named(&table, name).epsilon().clone();
    assert!(epsilon("Whitehouse's filter") <= epsilon("Whitehouse"));
    assert!(epsilon("Whitehouse") < epsilon("Rogers' filter"));
    assert!(epsilon("Rogers' filter") < epsilon("Rogers' odometer"));
    assert!(epsilon("Rogers' odometer") < epsilon("basic"));
}

#[test]
fn what_does_not_apply_says_why() {
    let table = table("(0.1, 1e-6)", 2, "(1, 1e-6)");
    assert!(table.rows().iter().all(|row| row.rule != "zCDP"));
    let refused: Vec<_> = table
        .rows()
        .iter()
        .filter(|row| row.total.is_err())
        .collect();
    assert!(refused.iter().any(|row| row.rule == "Whitehouse"));
    assert!(refused.iter().any(|row| row.rule == "Whitehouse's filter"));
    let shown = table.to_string();
    assert!(shown.contains("above the sum of the children's δ"));
    assert!(shown.contains("too much"), "the sum is over: {shown}");
}

#[test]
fn nothing_costs_nothing_and_bad_text_says_what_to_write() {
    let nothing = compare(Vec::<EpsilonDelta>::new(), "(1, 1e-6)").unwrap();
    assert_eq!(nothing.rows()[0].total, Ok(EpsilonDelta::ZERO));
    for (losses, budget) in [
        ("0,1", "(1, 1e-6)"),
        ("(0.1, 0)", "1"),
        ("(0.1, 2)", "(1, 0)"),
    ] {
        let error = compare([losses], budget).unwrap_err();
        assert!(
            matches!(&error, LossError::Text { .. } | LossError::Delta { .. }),
            "{error:?}"
        );
    }
    let error = compare(["0.1"], "(1, 1e-6)").unwrap_err();
    assert!(error.to_string().contains("(1, 1e-6)"), "{error}");
}
