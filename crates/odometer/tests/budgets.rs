//! Filters and odometers: what is admitted, what is left, and what a refusal says.

use crate::common::*;
use measures::adaptive::{
    ConcentratedFilter, GaussianComposition, ImprovedBasic, RogersLeastBudget, RogersOdometer,
    Union, WhitehouseFilter, WhitehouseOdometer,
};
use measures::{
    ApproxDp, Basic, Epsilon, EpsilonDelta, GaussianDp, Loss, Orders, PrivacyMap, PureDp,
    RenyiCurveDp, RenyiDp, Zcdp,
};
use odometer::{LaunchError, Measurement, Odometer, OpenError};

#[test]
fn ten_tenths_spend_one_to_zero_in_any_order() {
    let session = filtered("1");
    let tenth = pure("0.1");
    (0..10).for_each(|_| session.launch(&tenth).unwrap());
    assert_eq!(session.remaining(&1).unwrap(), Some(loss("0")));
    assert_eq!(session.spent().unwrap().unwrap().bound(), &loss("1"));
    assert!(session.launch(&pure("1e-300")).is_err());
    session.launch(&pure("0")).unwrap();

    let mut losses: Vec<String> = (0..200).map(|i| format!("0.00{}7", i + 1)).collect();
    let (forwards, backwards) = (filtered("10"), filtered("10"));
    losses
        .iter()
        .for_each(|loss| forwards.launch(&pure(loss)).unwrap());
    losses.reverse();
    losses
        .iter()
        .for_each(|loss| backwards.launch(&pure(loss)).unwrap());
    assert_eq!(
        forwards.remaining(&1).unwrap(),
        backwards.remaining(&1).unwrap()
    );
}

#[test]
fn a_refusal_says_everything_and_changes_nothing() {
    let session = Odometer::new(records(), BASIC)
        .named("team red")
        .filter(1, "1")
        .unwrap();
    let session = session.invoke(vec![]).unwrap();
    session.launch(&pure("0.75")).unwrap();
    let query = pure("0.5").with_parameter("scale", 2);
    let said = refusal(session.launch(&query).unwrap_err());
    assert_eq!(said.account, "team red");
    assert_eq!(
        (
            said.asked.as_str(),
            said.spent.as_str(),
            said.budget.as_str()
        ),
        ("0.5", "0.75", "1")
    );
    assert_eq!(said.remaining.as_deref(), Some("0.25"));
    assert_eq!(
        said.to_string(),
        "refused by team red: `query`(scale = 2) asks for 0.5, but only 0.25 is left of 1 (0.75 spent; PureDp at distance 1)"
    );
    assert_eq!(spent(&session, 1), loss("0.75"));
    assert_eq!(session.launches().unwrap().len(), 1);
    session.launch(&pure("0.25")).unwrap();
}

#[test]
fn an_unused_cap_costs_nothing_and_a_reserved_budget_costs_all_of_it() {
    let session = filtered("1");
    let live = session.nested("inner").capped(1, "0.9").open().unwrap();
    assert_eq!(spent(&session, 1), loss("0"));
    live.launch(&pure("0.1")).unwrap();
    assert_eq!(spent(&session, 1), loss("0.1"));
    let reserve = Odometer::new(records(), BASIC).filter(1, "0.5").unwrap();
    let reserved = session.launch(&reserve).unwrap();
    assert_eq!(spent(&session, 1), loss("0.6"));
    // What happens inside is nobody else's business, and its budget is guaranteed.
    session.launch(&pure("0.4")).unwrap();
    reserved.launch(&pure("0.5")).unwrap();
    assert_eq!(spent(&session, 1), loss("1"));
    // A live session cannot spend behind its parent's back, whatever its own cap says.
    let said = refusal(live.launch(&pure("0.2")).unwrap_err());
    assert_eq!(said.remaining.as_deref(), Some("0"));
    assert_eq!(live.remaining(&1).unwrap(), Some(loss("0")));
}

#[test]
fn losses_are_asked_at_every_distance() {
    let session = filtered("1");
    session.launch(&pure("0.25")).unwrap();
    let reserved = Odometer::new(records(), BASIC).filter(2, "0.5").unwrap();
    session.launch(&reserved).unwrap();
    assert_eq!(spent(&session, 1), loss("0.75"));
    assert_eq!(spent(&session, 2), loss("1"));
    assert_eq!(
        spent(&session, 3),
        Epsilon::INFINITY,
        "beyond a filter's distance nothing is known"
    );
    let grouped = filtered("1");
    grouped.launch(&reserved.by_group_privacy()).unwrap();
    assert_eq!(
        spent(&grouped, 3),
        loss("1.5"),
        "unless group privacy knows"
    );
    // The question is advice: it changed nothing.
    assert_eq!(
        session.loss_after(&pure("0.25"), &2).unwrap().bound(),
        &loss("1.5")
    );
    assert_eq!(spent(&session, 1), loss("0.75"));
}

#[test]
fn only_one_coordinate_too_many_is_refused_plainly() {
    let session = filtered_with(Basic::new(ApproxDp), "(1, 1e-6)");
    session.launch(&flat(ApproxDp, "(0.5, 1e-6)")).unwrap();
    for over in ["(0.6, 0)", "(0.1, 1e-9)", "(2, 1e-9)"] {
        let said = refusal(session.launch(&flat(ApproxDp, over)).unwrap_err());
        assert_eq!(said.remaining.as_deref(), Some("(0.5, 0)"), "{over}");
    }
    assert_eq!(
        session.privacy_loss(&1).unwrap().bound(),
        &loss("(0.5, 1e-6)")
    );
    session.launch(&flat(ApproxDp, "(0.5, 0)")).unwrap();
    assert_eq!(session.remaining(&1).unwrap(), Some(loss("(0, 0)")));
}

#[test]
fn an_odometer_reports_infinity_and_a_filter_refuses_it() {
    let endless = PrivacyMap::new(PureDp, |_| Ok(Epsilon::INFINITY));
    let endless = Measurement::new("endless", records(), endless, |_, _| Ok(()));
    let session = open();
    session.launch(&endless).unwrap();
    assert_eq!(spent(&session, 1), Epsilon::INFINITY);
    session.launch(&pure("1")).unwrap();
    assert_eq!(spent(&session, 1), Epsilon::INFINITY);

    let session = filtered("1000000");
    let said = refusal(session.launch(&endless).unwrap_err());
    assert_eq!(said.asked, Epsilon::INFINITY.to_string());
    session.launch(&pure("1000000")).unwrap();
    assert!(
        Odometer::new(records(), BASIC)
            .filter(1, Epsilon::INFINITY)
            .is_err(),
        "no budget at all"
    );
    assert!(matches!(
        open().nested("inner").capped(1, Epsilon::INFINITY).open(),
        Err(OpenError::Rule(_))
    ));
}

#[test]
fn the_halting_form_refuses_everything_after_a_refusal() {
    let filter = Odometer::new(records(), BASIC)
        .named("strict")
        .halting()
        .filter(1, "1");
    let session = filter.unwrap().invoke(vec![]).unwrap();
    session.launch(&pure("0.5")).unwrap();
    let child = session.nested("inner").open().unwrap();
    refusal(child.launch(&pure("0.75")).unwrap_err());
    for session in [&session, &child] {
        let halted = session.launch(&pure("0")).unwrap_err();
        assert_eq!(
            halted.to_string(),
            "strict has refused a launch before, and halts at the first refusal"
        );
        assert!(!halted.was_charged());
    }
    assert_eq!(spent(&session, 1), loss("0.5"));

    // A refusal by somebody else does not halt it.
    let organisation = filtered("0.1");
    let team = organisation
        .nested("team")
        .capped(1, "1")
        .halting()
        .open()
        .unwrap();
    refusal(team.launch(&pure("0.5")).unwrap_err());
    team.launch(&pure("0.1")).unwrap();
}

#[test]
fn spending_the_rest_leaves_exactly_nothing() {
    let organisation = filtered("1");
    let team = organisation
        .nested("inner")
        .capped(1, "0.7")
        .open()
        .unwrap();
    let rest = |left: &Epsilon| {
        let map = PrivacyMap::per_record(PureDp, left.clone());
        Measurement::new("rest", records(), map, |_, _| Ok(()))
    };
    organisation.launch(&pure("0.4")).unwrap();
    team.launch(&pure("0.1")).unwrap();
    assert_eq!(
        team.remaining(&1).unwrap(),
        Some(loss("0.5")),
        "the organisation has less than the team"
    );
    team.spend_rest(&1, rest).unwrap();
    assert_eq!(organisation.remaining(&1).unwrap(), Some(loss("0")));
    assert_eq!(team.remaining(&1).unwrap(), Some(loss("0")));
    team.spend_rest(&1, rest).unwrap(); // nothing is left, and nothing is asked

    let none = open().spend_rest(&1, rest).unwrap_err();
    assert_eq!(none, LaunchError::NothingRemains { d_in: "1".into() });
    let greedy = filtered("1").spend_rest(&1, |_| pure("2")).unwrap_err();
    refusal(greedy);
}

#[test]
fn a_launch_within_a_limit_is_refused_like_any_other() {
    let session = open();
    session.launch_within(&pure("0.5"), &2, "1").unwrap();
    let said = refusal(session.launch_within(&pure("0.5"), &2, "1.5").unwrap_err());
    assert_eq!(
        (
            said.asked.as_str(),
            said.spent.as_str(),
            said.budget.as_str()
        ),
        ("1", "1", "1.5")
    );
    assert_eq!(said.remaining.as_deref(), Some("0.5"));
    assert_eq!(spent(&session, 1), loss("0.5"));
    session.launch_within(&pure("0.25"), &2, "1.5").unwrap();
}

/// As many launches of `query` as a filter admits.
fn admitted<R: measures::FilterRule>(
    session: &odometer::Session<Numbers, R>,
    query: &On<R::Child, ()>,
) -> usize {
    let mut admitted = 0;
    while session.launch(query).is_ok() {
        admitted += 1;
    }
    admitted
}

#[test]
fn filters_from_budget_dependent_rules() {
    // √(2 ln(1/δ′)·n·0.01²) + n·0.01²/2 ≤ 1 with δ′ = 5e-7: n = 338 by hand.
    let slack = "5e-7";
    let whitehouse = filtered_with(WhitehouseFilter::new(slack).unwrap(), "(1, 1e-6)");
    let query = flat(ApproxDp, "(0.01, 0)");
    let by_hand = (1..)
        .take_while(|n| {
            let squares = f64::from(*n) * 1e-4;
            (2.0 * (1.0 / 5e-7f64).ln() * squares).sqrt() + squares / 2.0 <= 1.0
        })
        .count();
    assert_eq!(admitted(&whitehouse, &query), by_hand);
    let said = refusal(whitehouse.launch(&query).unwrap_err());
    assert!(
        said.remaining.is_some() && said.budget == "(1, 0.000001)",
        "{said}"
    );
    // Σδ + δ′ ≤ δ.
    let deltas = filtered_with(WhitehouseFilter::new("5e-7").unwrap(), "(1, 1e-6)");
    assert_eq!(admitted(&deltas, &flat(ApproxDp, "(0, 1e-7)")), 5);

    let rogers = filtered_with(RogersLeastBudget::new("1e-6").unwrap(), "(1, 1e-6)");
    let by_rogers = admitted(&rogers, &query);
    assert!(
        by_rogers > 100 && by_rogers < by_hand,
        "{by_rogers}: historical, and dominated"
    );
    let better = filtered_with(ConcentratedFilter::new("5e-7").unwrap(), "(1, 1e-6)");
    assert!(admitted(&better, &query) > by_hand);

    let union = Union::new(
        (Basic::new(ApproxDp), "0".parse().unwrap()),
        (
            WhitehouseFilter::new("1e-6").unwrap(),
            "1e-6".parse().unwrap(),
        ),
    );
    let union = filtered_with(union, "(1, 1e-6)");
    union.launch(&flat(ApproxDp, "(1, 0)")).unwrap();
    assert_eq!(admitted(&union, &flat(ApproxDp, "(0.001, 0)")), 0);
}

#[test]
fn filter_only_rules_nest_live_and_reserved() {
    let rule = || WhitehouseFilter::new("5e-7").unwrap();
    let organisation = filtered_with(rule(), "(1, 1e-6)");
    let team = organisation
        .nested("inner")
        .capped(1, "(0.5, 1e-6)")
        .open()
        .unwrap();
    let analyst = team.nested("analyst").open().unwrap();
    let query = flat(ApproxDp, "(0.01, 0)");
    let (mine, all) = (admitted(&analyst, &query), admitted(&organisation, &query));
    assert!(mine > 50 && all > mine, "{mine} {all}");
    assert_eq!(
        organisation.launches().unwrap(),
        [(query.description().clone(), (mine + all) as u64)]
    );
    let reserved = Odometer::new(records(), rule())
        .filter(1, "(0.1, 1e-6)")
        .unwrap();
    refusal(organisation.launch(&reserved).unwrap_err());
}

#[test]
fn odometers_from_every_accumulator() {
    let approx = open_with(WhitehouseOdometer::new("5e-7", "1e-6").unwrap());
    assert_eq!(
        approx.privacy_loss(&1).unwrap().bound(),
        &EpsilonDelta::ZERO,
        "no launch, no loss"
    );
    (0..300).for_each(|_| approx.launch(&flat(ApproxDp, "(0.01, 0)")).unwrap());
    assert!(approx.privacy_loss(&1).unwrap().at_most(&loss("(1, 1e-6)")));

    let improved = open_with(ImprovedBasic);
    (0..2).for_each(|_| improved.launch(&flat(ApproxDp, "(1, 0.5)")).unwrap());
    assert!(
        improved
            .privacy_loss(&1)
            .unwrap()
            .at_most(&loss("(2, 0.7500001)"))
    );

    let rogers = open_with(RogersOdometer::new("1e-6", 1 << 20).unwrap());
    rogers.launch(&flat(ApproxDp, "(0.1, 0)")).unwrap();
    assert!(
        !rogers
            .privacy_loss(&1)
            .unwrap()
            .at_most(&loss("(0.1, 1e-6)"))
    );

    let gaussian = filtered_with(GaussianComposition, "0.5");
    gaussian.launch(&costs(GaussianDp, "0.3")).unwrap();
    assert_eq!(gaussian.remaining(&1).unwrap(), Some(loss("0.4")));
    gaussian.launch(&costs(GaussianDp, "0.4")).unwrap();
    assert_eq!(gaussian.remaining(&1).unwrap(), Some(loss("0")));

    let filter = filtered_with(Basic::new(Zcdp), "1");
    (0..10).for_each(|_| filter.launch(&zcdp("0.1")).unwrap());
    assert!(filter.launch(&zcdp("1e-9")).is_err());
}

#[test]
fn measures_with_other_parameters_are_other_measures() {
    let order = |text: &str| RenyiDp::new(text).unwrap();
    let session = open_with(Basic::new(order("2")));
    let query = |text: &str| {
        let measure = order(text);
        let cost = measure.loss("0.1".parse().unwrap());
        let map = PrivacyMap::quadratic(measure, cost);
        Measurement::new("renyi", records(), map, |_, _| Ok(()))
    };
    session.launch(&query("2")).unwrap();
    assert!(matches!(
        session.launch(&query("3")),
        Err(LaunchError::Measure { .. })
    ));
    assert!(matches!(
        session
            .nested("inner")
            .capped(1, order("3").loss("1".parse().unwrap()))
            .open(),
        Err(OpenError::Rule(_))
    ));
    assert_eq!(session.launches().unwrap()[0].1, 1);

    // A map that promises one order and gives another is senseless.
    let liar = order("3").loss("0.1".parse().unwrap());
    let map = PrivacyMap::new(order("2"), move |_| Ok(liar.clone()));
    let liar = Measurement::new("liar", records(), map, |_, _| Ok(()));
    let filter = Odometer::new(records(), Basic::new(order("2")))
        .filter(1, order("2").loss("1".parse().unwrap()));
    let filter = filter.unwrap().invoke(vec![]).unwrap();
    assert!(matches!(filter.launch(&liar), Err(LaunchError::Map { .. })));

    // A curve fits only if every order does.
    let orders = Orders::new([2, 8]).unwrap();
    let measure = RenyiCurveDp::new(orders.clone());
    let curve = |a: &str, b: &str| {
        measures::RenyiCurve::new(&orders, [a.parse().unwrap(), b.parse().unwrap()]).unwrap()
    };
    let session = Odometer::new(records(), Basic::new(measure.clone())).filter(1, curve("1", "2"));
    let session = session.unwrap().invoke(vec![]).unwrap();
    let query = |cost: measures::RenyiCurve| {
        let map = PrivacyMap::quadratic(measure.clone(), cost);
        Measurement::new("curve", records(), map, |_, _| Ok(()))
    };
    session.launch(&query(curve("0.5", "1.5"))).unwrap();
    refusal(session.launch(&query(curve("0.5", "0.6"))).unwrap_err());
    session.launch(&query(curve("0.5", "0.5"))).unwrap();
    assert!(
        session
            .privacy_loss(&1)
            .unwrap()
            .bound()
            .at_most(&curve("1", "2"))
    );
}

#[test]
fn a_wrong_limit_is_refused_when_the_session_is_opened() {
    for budget in ["-1", "NaN", ""] {
        assert!(budget.parse::<Epsilon>().is_err(), "{budget}");
    }
    let slack = WhitehouseFilter::new("1e-6").unwrap();
    let filter = Odometer::new(records(), slack).filter(1, "(1, 1e-7)");
    assert!(
        matches!(filter, Err(OpenError::Rule(_))),
        "its own slack does not fit"
    );
}
