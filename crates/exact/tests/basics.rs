//! Exact examples: entry, sums, differences, text.

use exact::{Exact, ExactError, Round};

fn x(text: &str) -> Exact {
    text.parse().unwrap()
}

#[test]
fn decimals_add_up() {
    let ten: Exact = (0..10).map(|_| x("0.1")).sum();
    assert_eq!(ten, Exact::ONE);
    let many: Exact = (0..10_000).map(|_| x("0.1")).sum();
    assert_eq!(many, x("1000"));
    assert_eq!(x("0.1").times(10_000), x("1000"));
    assert_ne!(Exact::try_from(0.1).unwrap().times(10), Exact::ONE);
}

/// Rounding inside of sums made these fit a budget forwards and not in reverse.
#[test]
fn two_hundred_losses_in_any_order() {
    let losses: Vec<Exact> = (0..200)
        .map(|i| Exact::ratio(1, 1_000_000_000 + 7 * i).unwrap())
        .collect();
    let forwards: Exact = losses.iter().sum();
    let backwards: Exact = losses.iter().rev().sum();
    assert_eq!(forwards, backwards);
    let mut budget = forwards;
    for loss in losses.iter().rev() {
        budget = budget.checked_sub(loss).unwrap();
    }
    assert!(budget.is_zero());
}

#[test]
fn text_round_trips() {
    for (text, shown) in [
        ("0", "0"),
        ("0.50", "0.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("007", "7"),
        ("1e-6", "0.000001"),
        ("1e-7", "1e-7"),
        ("1.25E+3", "1250"),
        ("123e300", "1.23e302"),
        ("inf", "inf"),
        ("0e999999999999999999999", "0"),
    ] {
        assert_eq!(x(text).to_string(), shown);
        assert_eq!(x(shown), x(text));
    }
}

#[test]
fn display_is_not_below() {
    let tenth = Exact::try_from(0.1).unwrap();
    assert_eq!(tenth.to_string(), "0.10000000000000001");
    assert_eq!(format!("{tenth:?}"), "3602879701896397*2^-55");
    let third = Exact::ratio(1, 3).unwrap();
    assert_eq!(third.to_string(), "0.33333333333333334");
    let just_below_one = Exact::ONE.checked_sub(&x("1e-30")).unwrap();
    assert_eq!(just_below_one.to_string(), "1");
}

#[test]
fn garbage_is_rejected() {
    for text in [
        "", "1e", "0x1", "1_000", " 1", "1 ", "e5", ".", "+1", "1.2.3", "NaN", "--1", "1e+-5",
        "1*2^", "*2^3", "1*2^3*5^", "1*3^2", "∞",
    ] {
        let error = text.parse::<Exact>().unwrap_err();
        assert_eq!(error, ExactError::NotANumber { input: text.into() });
    }
    for text in ["-1", "-0.1", "-inf", "-1e9999999"] {
        let error = text.parse::<Exact>().unwrap_err();
        assert_eq!(error, ExactError::Negative { input: text.into() });
    }
    for text in [
        "1e5000",
        "1e-5000",
        "1e99999999999999999999999999",
        "1e-99999999999999999999999999",
        "1*2^16384",
        "1*2^-16385",
        "1*2^9000*5^4000",
    ] {
        let error = text.parse::<Exact>().unwrap_err();
        assert_eq!(error, ExactError::OutOfRange { input: text.into() });
    }
    let megabyte = "7".repeat(1 << 20);
    let error = megabyte.parse::<Exact>().unwrap_err();
    assert!(matches!(
        error,
        ExactError::TooLong {
            length: 1_048_576,
            ..
        }
    ));
    assert!(error.to_string().len() < 200);
}

#[test]
fn floats_and_ratios_on_entry() {
    assert!(matches!(
        Exact::try_from(f64::NAN),
        Err(ExactError::NotANumber { .. })
    ));
    assert!(matches!(
        Exact::try_from(-0.1),
        Err(ExactError::Negative { .. })
    ));
    assert!(matches!(
        Exact::try_from(f64::NEG_INFINITY),
        Err(ExactError::Negative { .. })
    ));
    assert!(matches!(
        Exact::try_from(-1_i32),
        Err(ExactError::Negative { .. })
    ));
    assert_eq!(Exact::try_from(-0.0), Ok(Exact::ZERO));
    assert_eq!(Exact::try_from(f64::INFINITY), Ok(Exact::INFINITY));
    assert_eq!(
        Exact::ratio(1, 0),
        Err(ExactError::ZeroDenominator { numerator: 1 })
    );
    assert_eq!(Exact::ratio(7, 14), Ok(x("0.5")));
    let (up, down) = (
        Exact::ratio_rounded(1, 3, Round::Up).unwrap(),
        Exact::ratio_rounded(1, 3, Round::Down).unwrap(),
    );
    assert!(down.times(3) < Exact::ONE && Exact::ONE < up.times(3));
}

#[test]
fn functions_at_their_ends() {
    for round in [Round::Up, Round::Down] {
        assert_eq!(Exact::ZERO.exp(round), Exact::ONE);
        assert_eq!(Exact::ZERO.exp_m1(round), Exact::ZERO);
        assert_eq!(Exact::ONE.ln(round), Some(Exact::ZERO));
        assert_eq!(x("0.5").ln(round), None);
        assert_eq!(Exact::ZERO.neg_ln(round), Some(Exact::INFINITY));
        assert_eq!(Exact::ONE.neg_ln_1m(round), Some(Exact::INFINITY));
        assert_eq!(x("1.5").neg_ln(round), None);
        assert_eq!(Exact::INFINITY.exp_neg(round), Exact::ZERO);
        assert_eq!(Exact::INFINITY.tanh(round), Exact::ONE);
        assert_eq!(x("2.25").sqrt(round), x("1.5"));
        assert_eq!(x("0.1").recip(round), x("10"));
        assert_eq!(Exact::ZERO.mul(&Exact::INFINITY, round), Exact::ZERO);
        assert_eq!(Exact::ZERO.div(&Exact::ZERO, round), Exact::ZERO);
        assert_eq!(Exact::ONE.div(&Exact::ZERO, round), Exact::INFINITY);
        assert_eq!(x("0.1").pow(3, round), x("0.001"));
    }
    let e = Exact::ONE.exp(Round::Up);
    assert_eq!(e.to_f64(Round::Down), std::f64::consts::E);
    assert!(
        e.ln(Round::Up).unwrap() >= Exact::ONE
            && Exact::ONE.exp(Round::Down).ln(Round::Down).unwrap() <= Exact::ONE
    );
}

#[test]
fn rationals_on_entry() {
    use dashu_int::{IBig, UBig};
    use dashu_ratio::RBig;
    let third = RBig::from_parts(IBig::ONE, 3u8.into());
    let up = Exact::from_rational(&third, Round::Up).unwrap();
    assert_eq!(up, Exact::ratio(1, 3).unwrap());
    let negative = Exact::from_rational(&-third, Round::Up).unwrap_err();
    assert_eq!(negative.to_string(), "-1/3 is negative");
    let huge = RBig::from_parts(IBig::ONE << 20_000, 3u8.into());
    let tiny = RBig::from_parts(IBig::ONE, (UBig::ONE << 20_000) * UBig::from(3u8));
    for round in [Round::Up, Round::Down] {
        let error = Exact::from_rational(&huge, round).unwrap_err();
        assert!(matches!(error, ExactError::OutOfRange { .. }));
        assert!(error.to_string().len() < 200);
    }
    assert_eq!(Exact::from_rational(&tiny, Round::Up), Ok(x("1*2^-16384")));
    assert_eq!(Exact::from_rational(&tiny, Round::Down), Ok(Exact::ZERO));
}
