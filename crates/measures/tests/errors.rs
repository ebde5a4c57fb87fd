//! Errors are shown to analysts: none of them is as long as what somebody sent.

use exact::Exact;
use measures::{
    ApproxDp, Epsilon, EpsilonDelta, LossError, MapError, Measure, Mu, Orders, RenyiCurve,
    RenyiCurveDp, RenyiDp, RenyiEpsilon, Rho, RhoDelta, RuleError,
};
use std::fmt::{Debug, Display};

/// No error says more than this, in bytes.
const LONGEST: usize = 400;

fn is_short(error: impl Display + Debug) {
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(text.len() <= LONGEST, "{} bytes: {text:.80}", text.len());
    }
}

#[test]
fn text_is_not_repeated() {
    for text in [
        "A".repeat(1 << 20),
        "é".repeat(1 << 19),
        format!("({})", "1".repeat(1 << 20)),
        "-".repeat(100),
    ] {
        is_short(text.parse::<Epsilon>().unwrap_err());
        is_short(text.parse::<Rho>().unwrap_err());
        is_short(text.parse::<Mu>().unwrap_err());
        is_short(text.parse::<EpsilonDelta>().unwrap_err());
        is_short(text.parse::<RhoDelta>().unwrap_err());
        is_short(text.parse::<RenyiEpsilon>().unwrap_err());
        is_short(
            format!("1 at order {text}")
                .parse::<RenyiEpsilon>()
                .unwrap_err(),
        );
        is_short(format!("({text}, 0)").parse::<EpsilonDelta>().unwrap_err());
        is_short(format!("(1, {text})").parse::<EpsilonDelta>().unwrap_err());
    }
    assert_eq!(
        "half".parse::<Epsilon>().unwrap_err().to_string(),
        "cannot read \"half\" as a loss: expected a non-negative number such as 0.5 or 1e-6, or inf"
    );
}

#[test]
fn values_are_not_repeated() {
    let many = || (0..100_000u32).map(|i| Exact::from(i + 2));
    is_short(Orders::new(many().chain([Exact::from(2u32)])).unwrap_err());
    let orders = Orders::new(many()).unwrap();
    is_short(RenyiCurve::new(&orders, [Exact::ONE]).unwrap_err());
    let few = RenyiCurveDp::new(Orders::new([Exact::from(2u32)]).unwrap());
    is_short(few.check(&RenyiCurveDp::new(orders).zero()).unwrap_err());
    // An order of thousands of digits.
    let long =
        Exact::ONE + "1*2^-16384".parse::<Exact>().unwrap() + "1*2^16000".parse::<Exact>().unwrap();
    let measure = RenyiDp::new(long).unwrap();
    is_short(measure.check(&"1 at order 2".parse().unwrap()).unwrap_err());
    let text = "x".repeat(1 << 20);
    is_short(RuleError::parameter("δ", &text, "above 0"));
    is_short(RuleError::budget(&text, "it is no number"));
    is_short(MapError::failed(&text, "not calibrated"));
    assert!(ApproxDp.check(&EpsilonDelta::ZERO).is_ok());
    assert!(matches!("".parse::<Epsilon>(), Err(LossError::Text { text, .. }) if text.is_empty()));
}
