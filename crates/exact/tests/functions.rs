//! Every function, in both directions, against floats of 240 digits: never on the wrong side, and
//! never more than 1e-15 away, over all magnitudes and close to 0 and 1.

use dashu_float::{FBig, round::mode::HalfEven};
use dashu_int::{IBig, UBig};
use exact::{Exact, Round};
use proptest::prelude::*;

type Float = FBig<HalfEven, 2>;

/// 240 decimal digits.
const PRECISION: usize = 800;

fn integer(n: impl Into<IBig>) -> Float {
    Float::from_parts(n.into(), 0)
        .with_precision(PRECISION)
        .value()
}

fn float(x: &Exact) -> Float {
    let (num, den) = x.to_rational().unwrap().into_parts();
    integer(num) / integer(den)
}

fn power_of_two(n: isize) -> Float {
    Float::from_parts(IBig::ONE, n)
        .with_precision(PRECISION)
        .value()
}

/// A function, how to call it, and its reference value.
struct Case {
    name: &'static str,
    call: fn(&Exact, Round) -> Option<Exact>,
    reference: fn(&Exact) -> Float,
    domain: fn(&Exact) -> bool,
}

fn one_minus(x: &Exact) -> Float {
    float(&Exact::ONE.checked_sub(x).unwrap())
}

fn below_one(x: &Exact) -> bool {
    *x < Exact::ONE
}

/// Arguments for which `e^x` is in range.
fn moderate(x: &Exact) -> bool {
    *x < Exact::from(11_200_u32)
}

fn any(_: &Exact) -> bool {
    true
}

const CASES: [Case; 10] = [
    Case {
        name: "exp",
        call: |x, round| Some(x.exp(round)),
        reference: |x| float(x).exp(),
        domain: moderate,
    },
    Case {
        name: "exp_m1",
        call: |x, round| Some(x.exp_m1(round)),
        reference: |x| float(x).exp_m1(),
        domain: moderate,
    },
    Case {
        name: "exp_neg",
        call: |x, round| Some(x.exp_neg(round)),
        reference: |x| (-float(x)).exp(),
        domain: moderate,
    },
    Case {
        name: "one_minus_exp_neg",
        call: |x, round| Some(x.one_minus_exp_neg(round)),
        reference: |x| -(-float(x)).exp_m1(),
        domain: moderate,
    },
    Case {
        name: "tanh",
        call: |x, round| Some(x.tanh(round)),
        reference: |x| {
            let t = (float(x) * integer(2)).exp_m1();
            &t / (&t + integer(2))
        },
        domain: moderate,
    },
    Case {
        name: "ln",
        call: Exact::ln,
        reference: |x| match x.checked_sub(&Exact::ONE) {
            Some(above) if above < Exact::ONE => float(&above).ln_1p(),
            _ => float(x).ln(),
        },
        domain: |x| *x > Exact::ONE,
    },
    Case {
        name: "ln_1p",
        call: |x, round| Some(x.ln_1p(round)),
        reference: |x| float(x).ln_1p(),
        domain: any,
    },
    Case {
        name: "neg_ln",
        call: Exact::neg_ln,
        reference: |x| match below_one(&x.times(2)) {
            true => -float(x).ln(),
            false => -(-one_minus(x)).ln_1p(),
        },
        domain: below_one,
    },
    Case {
        name: "neg_ln_1m",
        call: Exact::neg_ln_1m,
        reference: |x| match below_one(&x.times(2)) {
            true => -(-float(x)).ln_1p(),
            false => -one_minus(x).ln(),
        },
        domain: below_one,
    },
    Case {
        name: "sqrt",
        call: |x, round| Some(x.sqrt(round)),
        reference: |x| float(x).sqrt(),
        domain: any,
    },
];

fn check(case: &Case, x: &Exact) {
    if x.is_zero() || !(case.domain)(x) {
        return;
    }
    let truth = (case.reference)(x);
    let (up, down) = ((case.call)(x, Round::Up), (case.call)(x, Round::Down));
    let (up, down) = (float(&up.unwrap()), float(&down.unwrap()));
    // The reference itself is good to about 790 bits; a rational result may meet it exactly.
    let fuzz = &truth * power_of_two(-700);
    let excess = &truth / integer(10u64.pow(15));
    let context = format!("{} of {x:?}", case.name);
    assert!(down <= &truth + &fuzz, "{context}: down is above");
    assert!(up >= &truth - &fuzz, "{context}: up is below");
    assert!(up <= &truth + &excess, "{context}: up is far above");
    assert!(down >= &truth - &excess, "{context}: down is far below");
}

fn check_all(x: &Exact) {
    for case in &CASES {
        check(case, x);
    }
}

fn parse(text: &str) -> Exact {
    text.parse().unwrap()
}

#[test]
fn all_magnitudes() {
    for exponent in (-300..=300).step_by(7) {
        check_all(&parse(&format!("1.2345e{exponent}")));
        check_all(&Exact::try_from(3.7 * 10f64.powi(exponent)).unwrap());
    }
    check_all(&parse("1e-4000"));
    check_all(&parse("1e4000"));
}

#[test]
fn close_to_one() {
    for digits in 1..60 {
        let small = parse(&format!("3e-{digits}"));
        check_all(&(&Exact::ONE + &small));
        check_all(&Exact::ONE.saturating_sub(&small));
    }
    for bits in 1..200 {
        let small = Exact::ONE.div(&Exact::from(2u8).pow(bits, Round::Up), Round::Up);
        check_all(&(&Exact::ONE + &small));
        check_all(&Exact::ONE.saturating_sub(&small));
    }
}

/// Where one way of computing gives place to another.
#[test]
fn at_the_seams() {
    let tiny = parse("1e-25");
    for text in [
        "0.0625",
        "0.0078125",
        "0.03125",
        "0.00390625",
        "1.0078125",
        "0.9921875",
        "0.5",
        "2",
        "0.75",
    ] {
        let seam = parse(text);
        check_all(&seam);
        check_all(&(&seam + &tiny));
        check_all(&seam.saturating_sub(&tiny));
        check_all(&Exact::try_from(seam.to_f64(Round::Up).next_up()).unwrap());
        check_all(&Exact::try_from(seam.to_f64(Round::Up).next_down()).unwrap());
    }
    for n in 1..40u64 {
        let multiple = Exact::from(2u8).ln(Round::Up).unwrap().times(n);
        check_all(&multiple);
        check_all(&multiple.saturating_sub(&parse("1e-18")));
    }
    for sixteenths in 1..200 {
        check_all(&Exact::ratio(sixteenths, 16).unwrap());
        check_all(&Exact::ratio(1000 * sixteenths - 1, 128_000).unwrap());
    }
}

#[test]
fn at_the_ends_of_the_range() {
    let (top, bottom) = (parse("11356"), parse("11357"));
    check(&CASES[0], &top);
    assert!(top.exp(Round::Up).is_finite());
    assert!(bottom.exp(Round::Up).is_infinite() && bottom.exp(Round::Down).is_finite());
    assert_eq!(parse("1e300").exp(Round::Down), bottom.exp(Round::Down));
    assert_eq!(bottom.exp_m1(Round::Down), bottom.exp(Round::Down));
    let smallest = parse("1*2^-16384");
    for large in [parse("12000"), parse("1e300")] {
        assert_eq!(large.exp_neg(Round::Up), smallest);
        assert!(large.exp_neg(Round::Down).is_zero());
        assert_eq!(large.one_minus_exp_neg(Round::Up), Exact::ONE);
        assert_eq!(large.tanh(Round::Up), Exact::ONE);
        assert!(large.tanh(Round::Down) > parse("0.99999999999999999"));
        assert!(large.one_minus_exp_neg(Round::Down) > parse("0.99999999999999999"));
    }
    check(&CASES[9], &smallest);
}

/// The reference against sums of plain series in integers.
#[test]
fn reference_is_right() {
    let one = UBig::ONE << PRECISION;
    let (mut term, mut e, mut n) = (one.clone(), UBig::ZERO, 1u32);
    while !term.is_zero() {
        e += &term;
        term /= n;
        n += 1;
    }
    let (mut power, mut ln_2, mut n) = ((&one << 1) / 3u8, UBig::ZERO, 1u32);
    while !power.is_zero() {
        ln_2 += &power / n;
        power /= 9u8;
        n += 2;
    }
    let close = |x: Float, y: UBig| {
        let y = integer(y) * power_of_two(-(PRECISION as isize));
        let difference = &x - &y;
        difference < power_of_two(-780) && -difference < power_of_two(-780)
    };
    assert!(close(integer(1).exp(), e));
    assert!(close(integer(2).ln(), ln_2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn anywhere(mantissa in 1..u128::MAX, drop in 0..128u32, two in -260..80, five in -80..20) {
        let mantissa = (mantissa >> drop).max(1);
        let x = parse(&format!("{mantissa}*2^{two}*5^{five}"));
        check_all(&x);
    }

    #[test]
    fn in_usual_ranges(x in 0.0..20.0f64, y in 0.0..1.0f64, digits in 0..1_000_000_000u64) {
        check_all(&Exact::try_from(x).unwrap());
        check_all(&Exact::try_from(y).unwrap());
        check_all(&parse(&format!("{digits}e-9")));
        check_all(&parse(&format!("{digits}e-7")));
    }

    /// The results depend on the value of the argument, not on how it is held.
    #[test]
    fn forms_do_not_matter(mantissa in 1..u64::MAX, twos in 0..20u32, fives in 0..12u32, ten in 1..40i32) {
        let x = parse(&format!("{mantissa}e-{ten}"));
        let factor = 2u64.pow(twos) * 5u64.pow(fives);
        let scaled = x.times(factor).mul(&Exact::from(factor).recip(Round::Up), Round::Up);
        prop_assert_eq!(&x, &scaled);
        for case in &CASES {
            for round in [Round::Up, Round::Down] {
                prop_assert_eq!((case.call)(&x, round), (case.call)(&scaled, round));
            }
        }
    }
}
