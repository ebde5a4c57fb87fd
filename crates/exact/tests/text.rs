//! Every number that can be made reads back from its exact text, at the ends of both exponents above all.

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};
use proptest::prelude::*;

/// The exponents of two that a number in lowest terms can have: the largest goes with the smallest of five.
const TWO: std::ops::RangeInclusive<i64> = -16_384..=25_896;
/// The exponents of five that a number in lowest terms can have.
const FIVE: std::ops::RangeInclusive<i64> = -4_096..=14_112;

fn reads_back(x: &Exact) {
    let text = format!("{x:?}");
    let read = text.parse::<Exact>();
    assert_eq!(read.as_ref(), Ok(x), "{text}");
    assert_eq!(format!("{:?}", read.unwrap()), text);
    let json = serde_json::to_string(x).unwrap();
    assert_eq!(&serde_json::from_str::<Exact>(&json).unwrap(), x, "{json}");
}

/// The number, if there is one.
fn number(mantissa: u128, two: i64, five: i64) -> Option<Exact> {
    let power = |base: u8, exponent: i64| UBig::from(base).pow(exponent.unsigned_abs() as usize);
    let (mut numerator, mut denominator) = (UBig::from(mantissa), UBig::ONE);
    for (base, exponent) in [(2, two), (5, five)] {
        match exponent >= 0 {
            true => numerator *= power(base, exponent),
            false => denominator *= power(base, exponent),
        }
    }
    let ratio = RBig::from_parts(numerator.into(), denominator);
    Exact::from_rational(&ratio, Round::Up).ok()
}

/// Exponents close to the ends, and to where text changes its form.
fn exponent(range: std::ops::RangeInclusive<i64>, ends: Vec<i64>) -> impl Strategy<Value = i64> {
    let near = (proptest::sample::select(ends), -70..70i64).prop_map(|(end, by)| end + by);
    prop_oneof![4 => near, 1 => range]
}

fn extreme() -> impl Strategy<Value = (u128, i64, i64)> {
    let mantissa = (any::<u128>(), 0..128u32).prop_map(|(m, drop)| (m >> drop).max(1));
    let two = exponent(TWO, vec![-16_384, -4_096, 0, 16_384, 25_896]);
    let five = exponent(FIVE, vec![-4_096, 0, 14_112]);
    (mantissa, two, five)
}

#[test]
fn the_largest_exponent_of_two_reads_back() {
    let x: Exact = "44494*2^16384*5^-4096".parse().unwrap();
    assert_eq!(format!("{x:?}"), "22247*2^16385*5^-4096");
    reads_back(&x);
    reads_back(&"1*2^25894*5^-4096".parse().unwrap());
}

#[test]
fn short_decimals_with_many_places_read_back() {
    // In lowest terms 5^-4080, but 4130 decimal places.
    reads_back(&"1*2^-4130*5^-4080".parse().unwrap());
    reads_back(&"3*2^-4096*5^-4096".parse().unwrap());
}

#[test]
fn how_a_number_is_written_does_not_matter() {
    let one: Exact = "1".parse().unwrap();
    for text in ["4*2^-2", "1000e-3", "25*2^0*5^-2"] {
        assert_eq!(text.parse().as_ref(), Ok(&one), "{text}");
    }
    // The smallest number, and half of it.
    assert!("2*2^-16385".parse::<Exact>().is_ok());
    assert!("1*2^-16385".parse::<Exact>().is_err());
    assert!("5*2^0*5^-4097".parse::<Exact>().is_ok());
    assert!("1*2^0*5^-4097".parse::<Exact>().is_err());
    for text in [
        "1*2^16384",
        "1*2^25896*5^-4096",
        "1*2^99999999999",
        "1e99999999999",
        "1e-99999999999",
    ] {
        assert!(text.parse::<Exact>().is_err(), "{text}");
    }
    assert_eq!("0*2^99999".parse(), Ok(Exact::ZERO));
    assert_eq!("0e99999".parse(), Ok(Exact::ZERO));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the way it was made: from a rational, by reading, by arithmetic, by functions.
    #[test]
    fn whatever_can_be_made_reads_back((m, two, five) in extreme(), (n, by_two, by_five) in extreme(), times: u64) {
        let (a, b) = (number(m, two, five), number(n, by_two, by_five));
        for (x, written) in [(&a, format!("{m}*2^{two}*5^{five}")), (&b, format!("{n}*2^{by_two}*5^{by_five}"))] {
            if let Ok(read) = written.parse::<Exact>() {
                reads_back(&read);
                prop_assert_eq!(Some(&read), x.as_ref());
            }
        }
        let (Some(a), Some(b)) = (a, b) else { return Ok(()) };
        let mut made = vec![&a + &b, a.times(times), a.saturating_sub(&b), b.saturating_sub(&a), a.split(times), a.ceil()];
        let mut sum = a.clone();
        sum += &b;
        sum += &b;
        made.push(sum);
        for round in [Round::Up, Round::Down] {
            made.extend([a.mul(&b, round), a.div(&b, round), a.rounded(round), a.sqrt(round), a.exp(round), a.pow(3, round)]);
            made.extend([a.ln(round), a.neg_ln(round)].into_iter().flatten());
            made.extend([a.ln_1p(round), a.tanh(round), Exact::try_from(a.to_f64(round)).unwrap()]);
        }
        made.extend([a, b]);
        made.iter().for_each(reads_back);
    }

    /// Parts never add up to more than the whole, and lose no more than is said.
    #[test]
    fn parts_add_up_to_at_most_the_whole((m, two, five) in extreme(), n: u64, few in 0..20u64) {
        let Some(whole) = number(m, two, five) else { return Ok(()) };
        prop_assert_eq!(whole.split(0), Exact::ZERO);
        prop_assert_eq!(&whole.split(1), &whole);
        let bottom = number(1, -16_384, 0).unwrap();
        for n in [2, 3, 10, n.max(1), few.max(1)] {
            let all = whole.split(n).times(n);
            prop_assert!(all <= whole);
            let lost = whole.checked_sub(&all).unwrap();
            let relative = whole.mul(&number(1, -127, 0).unwrap(), Round::Down);
            prop_assert!(lost <= relative + bottom.times(n), "{n} of {whole:?} lose {lost}");
        }
    }
}

#[test]
fn budgets_split_evenly_where_they_can() {
    let one = Exact::ONE;
    assert_eq!(one.split(10).times(10), one);
    assert_eq!(Exact::INFINITY.split(3), Exact::INFINITY);
    assert_eq!(Exact::INFINITY.split(0), Exact::ZERO);
    assert_eq!(Exact::ZERO.split(3), Exact::ZERO);
    assert!(one.split(3).times(3) < one);
    // A long sum is its own only part.
    let long = "1*2^-16384".parse::<Exact>().unwrap() + "1*2^16000".parse::<Exact>().unwrap();
    assert_eq!(long.split(1), long);
}

#[test]
fn ceilings_are_whole() {
    for (x, whole) in [
        ("0", "0"),
        ("0.5", "1"),
        ("1", "1"),
        ("1e-4096", "1"),
        ("7.0001", "8"),
        ("1e30", "1e30"),
        ("inf", "inf"),
    ] {
        let (x, whole): (Exact, Exact) = (x.parse().unwrap(), whole.parse().unwrap());
        assert_eq!(x.ceil(), whole);
    }
    // A binary fraction below an integer, in big integers.
    let below: Exact = "1*2^300"
        .parse::<Exact>()
        .unwrap()
        .checked_sub(&"1*2^-300".parse().unwrap())
        .unwrap();
    assert_eq!(below.ceil(), "1*2^300".parse().unwrap());
}
