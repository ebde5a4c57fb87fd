//! Losses as values: order, text, serialization, and what is rejected.

use exact::{Exact, Round};
use measures::{
    Epsilon, EpsilonDelta, Loss, LossError, Measure, Mu, MuDelta, Orders, Profile, RenyiCurve,
    RenyiCurveDp, RenyiDp, RenyiEpsilon, Rho, RhoDelta, Tradeoff,
};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::str::FromStr;

fn value() -> impl Strategy<Value = Exact> {
    prop_oneof![
        (any::<u64>(), 0u32..30).prop_map(|(digits, e)| format!("{digits}e-{e}").parse().unwrap()),
        (0f64..1e6).prop_map(|x| Exact::try_from(x).unwrap()),
        Just(Exact::INFINITY),
    ]
}

fn probability() -> impl Strategy<Value = Exact> {
    (0f64..=1.0).prop_map(|x| Exact::try_from(x).unwrap())
}

fn through_json<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(loss: &T) {
    let json = serde_json::to_string(loss).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), loss, "{json}");
}

/// `Display` rounds what has many digits; what a person would write comes back.
fn through_text<T: Loss + FromStr<Err = LossError>>(loss: &T) {
    assert_eq!(loss.to_string().parse::<T>().as_ref(), Ok(loss));
}

proptest! {
    #[test]
    fn nothing_is_lost_in_json(a in value(), b in value(), delta in probability()) {
        through_json(&Epsilon::new(a.clone()));
        through_json(&Rho::new(a.clone()));
        through_json(&Mu::new(a.clone()));
        through_json(&EpsilonDelta::new(a.clone(), delta.clone()).unwrap());
        through_json(&RhoDelta::new(a.clone(), delta.clone()).unwrap());
        through_json(&MuDelta::new(a.clone(), delta).unwrap());
        through_json(&RenyiDp::new("2.5").unwrap().loss(a.clone()));
        let orders = Orders::new([2u32, 3].map(Exact::from)).unwrap();
        through_json(&RenyiCurve::new(&orders, [a, b]).unwrap());
    }

    #[test]
    fn decimals_are_not_lost_in_text(digits in 0u32..1_000_000, e in 0u32..20, delta in 0u32..1000) {
        let value: Exact = format!("{digits}e-{e}").parse().unwrap();
        let delta = Exact::ratio(delta.into(), 1000).unwrap();
        through_text(&Epsilon::new(value.clone()));
        through_text(&Rho::new(value.clone()));
        through_text(&Mu::new(value.clone()));
        through_text(&EpsilonDelta::new(value.clone(), delta.clone()).unwrap());
        through_text(&RhoDelta::new(value.clone(), delta.clone()).unwrap());
        through_text(&MuDelta::new(value.clone(), delta).unwrap());
        through_text(&RenyiDp::new("2.5").unwrap().loss(value));
    }
}

proptest! {
    #[test]
    fn text_brackets_the_value(a in value(), b in value(), delta in probability()) {
        fn bracket<T: Loss + FromStr<Err = LossError>>(loss: &T) {
            let down = loss.shown_down().parse::<T>().unwrap();
            let up = loss.to_string().parse::<T>().unwrap();
            assert!(down.at_most(loss) && loss.at_most(&up), "{loss:?}");
        }
        let a = a.div(&Exact::from(3u32), Round::Up);
        bracket(&Epsilon::new(a.clone()));
        bracket(&Rho::new(a.clone()));
        bracket(&Mu::new(a.clone()));
        bracket(&EpsilonDelta::new(a.clone(), delta.clone()).unwrap());
        bracket(&RhoDelta::new(a.clone(), delta.clone()).unwrap());
        bracket(&RenyiDp::new("2.5").unwrap().loss(a.clone()));
        // Curves are not read from text: their values are those of the plain losses.
        let orders = Orders::new([2u32, 3].map(Exact::from)).unwrap();
        let curve = RenyiCurve::new(&orders, [a.clone(), b.clone()]).unwrap();
        let (two, three) = (Epsilon::new(a).shown_down(), Epsilon::new(b).shown_down());
        prop_assert_eq!(curve.shown_down(), format!("{{2: {two}, 3: {three}}}"));
    }
}

#[test]
fn profiles_and_tradeoffs_are_shown_from_either_side() {
    let third = Exact::ratio(1, 3).unwrap();
    let profile = Profile::of_odds([(
        Exact::from(4u32).div(&3u32.into(), Round::Up),
        third.clone(),
    )]);
    assert_eq!(
        profile.shown_down(),
        "profile through (ln 1.3333333333333333, 0.33333333333333333)"
    );
    assert_eq!(
        profile.to_string(),
        "profile through (ln 1.3333333333333334, 0.33333333333333334)"
    );
    // A larger trade-off function is a smaller loss.
    let function = Tradeoff::new([(Exact::ZERO, third.clone()), (third, Exact::ZERO)]).unwrap();
    assert_eq!(
        function.shown_down(),
        "trade-off through (0, 0.33333333333333334) (0.33333333333333334, 0)"
    );
    assert_eq!(
        function.to_string(),
        "trade-off through (0, 0.33333333333333333) (0.33333333333333333, 0)"
    );
}

#[test]
fn senseless_losses_are_rejected_where_they_enter() {
    for text in ["-1", "nan", "", "1,5", "(1)", "0x1"] {
        let error = text.parse::<Epsilon>();
        assert!(matches!(error, Err(LossError::Text { .. })), "{text}");
    }
    for text in ["1", "(1)", "(1, 2, 3)", "(1, -1)", "(1; 0)", "1, 0"] {
        let error = text.parse::<EpsilonDelta>();
        assert!(matches!(error, Err(LossError::Text { .. })), "{text}");
    }
    assert!(matches!(
        "(1, 1.1)".parse::<EpsilonDelta>(),
        Err(LossError::Delta { .. })
    ));
    assert!(matches!(
        "(1, inf)".parse::<RhoDelta>(),
        Err(LossError::Delta { .. })
    ));
    for order in ["1", "0.5", "inf"] {
        assert!(matches!(RenyiDp::new(order), Err(LossError::Order { .. })));
        let text = format!("0.5 at order {order}");
        assert!(matches!(
            text.parse::<RenyiEpsilon>(),
            Err(LossError::Order { .. })
        ));
    }
    assert!(matches!(
        "0.5".parse::<RenyiEpsilon>(),
        Err(LossError::Text { .. })
    ));
    assert!(matches!(
        Orders::new([0u32; 0]),
        Err(LossError::Orders { .. })
    ));
    for orders in [[3u32, 2], [2, 2]] {
        assert!(matches!(
            Orders::new(orders.map(Exact::from)),
            Err(LossError::Orders { .. })
        ));
    }
    assert!(matches!(
        Orders::new([Exact::ONE]),
        Err(LossError::Order { .. })
    ));
}

#[test]
fn serialized_losses_are_checked_when_read() {
    assert!(serde_json::from_str::<Epsilon>("\"-0.1\"").is_err());
    assert!(serde_json::from_str::<EpsilonDelta>(r#"{"epsilon":"1","delta":"2"}"#).is_err());
    assert!(serde_json::from_str::<RenyiEpsilon>(r#"{"order":"1","epsilon":"2"}"#).is_err());
    let short = r#"{"orders":["2","3"],"epsilons":["1"]}"#;
    assert!(serde_json::from_str::<RenyiCurve>(short).is_err());
    let json = serde_json::to_string(&"(0.1, 1e-6)".parse::<EpsilonDelta>().unwrap()).unwrap();
    assert!(json.contains("\"0.1\""), "{json}");
}

#[test]
fn there_is_one_value_for_no_guarantee() {
    for text in ["(inf, 0)", "(0, 1)", "(3, 1)", "(inf, 1)"] {
        assert_eq!(text.parse::<EpsilonDelta>(), Ok(EpsilonDelta::INFINITY));
        assert_eq!(text.parse::<RhoDelta>(), Ok(RhoDelta::INFINITY));
    }
    assert_eq!(
        EpsilonDelta::from(Epsilon::INFINITY),
        EpsilonDelta::INFINITY
    );
    assert_eq!(RhoDelta::from(Rho::INFINITY), RhoDelta::INFINITY);
    let above = EpsilonDelta::saturating(Exact::ZERO, Exact::from(2u32));
    assert_eq!(above, EpsilonDelta::INFINITY);
}

#[test]
fn losses_of_other_parameters_are_foreign() {
    let two = RenyiDp::new(2).unwrap();
    let three = RenyiDp::new(3).unwrap();
    assert!(matches!(
        two.check(&three.zero()),
        Err(LossError::Foreign { .. })
    ));
    assert!(!two.zero().at_most(&three.zero()));
    let curve = |orders: &[u32]| {
        RenyiCurveDp::new(Orders::new(orders.iter().copied().map(Exact::from)).unwrap())
    };
    let (one, other) = (curve(&[2, 3]), curve(&[2, 4]));
    assert!(matches!(
        one.check(&other.zero()),
        Err(LossError::Foreign { .. })
    ));
    assert!(!one.zero().at_most(&other.infinity()));
    // The same orders in another list are the same orders.
    assert!(one.check(&curve(&[2, 3]).zero()).is_ok());
    assert!(matches!(
        RenyiCurve::new(one.orders(), [Exact::ONE]),
        Err(LossError::Foreign { .. })
    ));
}

#[test]
fn losses_are_displayed_as_people_write_them() {
    assert_eq!("0.10".parse::<Epsilon>().unwrap().to_string(), "0.1");
    assert_eq!(EpsilonDelta::INFINITY.to_string(), "(inf, 1)");
    assert_eq!(
        "0.5 at order 2"
            .parse::<RenyiEpsilon>()
            .unwrap()
            .to_string(),
        "0.5 at order 2"
    );
    let orders = Orders::new([2u32, 8].map(Exact::from)).unwrap();
    let curve = RenyiCurve::new(&orders, ["0.5", "1.5"].map(|x| x.parse().unwrap())).unwrap();
    assert_eq!(curve.to_string(), "{2: 0.5, 8: 1.5}");
}
