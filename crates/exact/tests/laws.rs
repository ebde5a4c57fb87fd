//! Laws, against dashu rationals: order, sums, differences, directed operations, and round trips.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use proptest::prelude::*;

const BOTH: [Round; 2] = [Round::Up, Round::Down];

fn parse(text: &str) -> Exact {
    text.parse().unwrap()
}

fn hash(x: &Exact) -> u64 {
    let mut hasher = DefaultHasher::new();
    x.hash(&mut hasher);
    hasher.finish()
}

/// Decimals, floats, wide mantissas and far exponents; finite.
fn number() -> impl Strategy<Value = Exact> {
    let finite_float = any::<f64>().prop_map(|x| if x.is_finite() { x.abs() } else { 0.5 });
    prop_oneof![
        4 => (0..1_000_000u64, 0..8).prop_map(|(digits, places)| parse(&format!("{digits}e-{places}"))),
        2 => (0.0..100.0f64).prop_map(|x| Exact::try_from(x).unwrap()),
        1 => finite_float.prop_map(|x| Exact::try_from(x).unwrap()),
        1 => any::<u128>().prop_map(Exact::from),
        2 => (any::<u128>(), -200..200i32, -90..90i32)
            .prop_map(|(m, two, five)| parse(&format!("{m}*2^{two}*5^{five}"))),
        1 => (any::<u64>(), -4000..4000i32).prop_map(|(m, ten)| parse(&format!("{m}e{ten}"))),
        1 => (1..u64::MAX, 1..u64::MAX).prop_map(|(a, b)| Exact::ratio(a.into(), b.into()).unwrap()),
    ]
}

fn rational(x: &Exact) -> RBig {
    x.to_rational().unwrap()
}

fn power_of_two(n: i64) -> RBig {
    let power = UBig::ONE << n.unsigned_abs() as usize;
    match n >= 0 {
        true => RBig::from_parts(power.into(), UBig::ONE),
        false => RBig::from_parts(IBig::ONE, power),
    }
}

/// `up` and `down` enclose the truth, and both lie within `2^-127` of it, or within the smallest step
/// of a rounded number.
fn encloses(up: &Exact, down: &Exact, truth: &RBig) -> Result<(), TestCaseError> {
    let (up, down) = (rational(up), rational(down));
    let excess = (truth * power_of_two(-127)).max(power_of_two(-16_384));
    prop_assert!(down <= *truth && *truth <= up);
    prop_assert!(&up - truth <= excess && truth - &down <= excess);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn sums_and_order(a in number(), b in number(), c in number()) {
        let (ra, rb) = (rational(&a), rational(&b));
        prop_assert_eq!(rational(&(&a + &b)), &ra + &rb);
        prop_assert_eq!(&a + &b, &b + &a);
        prop_assert_eq!((&a + &b) + &c, &a + (&b + &c));
        prop_assert_eq!(&a + Exact::ZERO, a.clone());
        prop_assert_eq!(&a + Exact::INFINITY, Exact::INFINITY);
        prop_assert_eq!(a.cmp(&b), ra.cmp(&rb));
        prop_assert_eq!(a == b, ra == rb);
        prop_assert!(a < Exact::INFINITY);
        let mut sum = a.clone();
        sum += &b;
        sum += c.clone();
        prop_assert_eq!(sum, [a, b, c].iter().sum::<Exact>());
    }

    #[test]
    fn differences(a in number(), b in number()) {
        let difference = rational(&a) - rational(&b);
        match a.checked_sub(&b) {
            Some(exact) => prop_assert_eq!(rational(&exact), difference),
            None => prop_assert!(difference < RBig::ZERO),
        }
        let sum = &a + &b;
        prop_assert_eq!(sum.checked_sub(&b), Some(a.clone()));
        prop_assert_eq!(sum.saturating_sub(&a), b.clone());
        prop_assert!((&sum + &sum).checked_sub(&sum).is_some());
        prop_assert_eq!(a.checked_sub(&a), Some(Exact::ZERO));
        prop_assert_eq!(hash(&a.saturating_sub(&a)), hash(&Exact::ZERO));
    }

    #[test]
    fn multiples(a in number(), n: u64, few in 0..50u64) {
        prop_assert_eq!(rational(&a.times(n)), rational(&a) * RBig::from(n));
        let sum: Exact = (0..few).map(|_| a.clone()).sum();
        prop_assert_eq!(a.times(few), sum);
    }

    #[test]
    fn products_and_quotients(a in number(), b in number()) {
        let product = rational(&a) * rational(&b);
        let [up, down] = BOTH.map(|round| a.mul(&b, round));
        if up.is_finite() {
            encloses(&up, &down, &product)?;
        } else {
            prop_assert!(product >= power_of_two(16_383) && rational(&down) < product);
        }
        prop_assert_eq!(up, b.mul(&a, Round::Up));
        if !b.is_zero() && !a.is_zero() {
            let quotient = rational(&a) / rational(&b);
            let [up, down] = BOTH.map(|round| a.div(&b, round));
            if up.is_finite() {
                encloses(&up, &down, &quotient)?;
            } else {
                prop_assert!(quotient >= power_of_two(16_383) && rational(&down) < quotient);
            }
        }
    }

    #[test]
    fn small_products_are_exact(a: u64, b in 1..=u64::MAX, i in 0..30, j in 0..30) {
        let (x, y) = (parse(&format!("{a}e-{i}")), parse(&format!("{b}e-{j}")));
        for round in BOTH {
            let product = x.mul(&y, round);
            prop_assert_eq!(rational(&product), rational(&x) * rational(&y));
            prop_assert_eq!(product.div(&y, round), x.clone());
        }
    }

    #[test]
    fn powers(a in number(), n in 0..20u32) {
        let power = rational(&a).pow(n as isize);
        let [up, down] = BOTH.map(|round| a.pow(n, round));
        prop_assert!(rational(&down) <= power && (up.is_infinite() || power <= rational(&up)));
        if up.is_finite() && power > power_of_two(-16_200) {
            prop_assert!(rational(&up) - rational(&down) <= &power * power_of_two(-120));
        }
    }

    #[test]
    fn rounding(a in number(), num: u128, den in 1..u128::MAX) {
        let [up, down] = BOTH.map(|round| a.rounded(round));
        encloses(&up, &down, &rational(&a))?;
        prop_assert_eq!(up.rounded(Round::Down), up);
        let [up, down] = BOTH.map(|round| Exact::ratio_rounded(num, den, round).unwrap());
        encloses(&up, &down, &RBig::from_parts(num.into(), den.into()))?;
        prop_assert_eq!(up, Exact::ratio(num, den).unwrap());
    }

    #[test]
    fn round_trips(a in number(), b in number()) {
        let sum = a + b;
        prop_assert_eq!(&parse(&format!("{sum:?}")), &sum);
        prop_assert_eq!(&Exact::from_rational(&rational(&sum), Round::Up).unwrap(), &sum);
        let json = serde_json::to_string(&sum).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Exact>(&json).unwrap(), &sum);
        let again = parse(&format!("{sum:?}"));
        prop_assert_eq!(hash(&again), hash(&sum));
    }

    #[test]
    fn floats(x: f64, a in number()) {
        if x.is_finite() {
            let exact = Exact::try_from(x.abs()).unwrap();
            prop_assert_eq!(exact.to_f64(Round::Up), x.abs());
            prop_assert_eq!(exact.to_f64(Round::Down), x.abs());
            prop_assert_eq!(rational(&exact), RBig::try_from(x.abs()).unwrap());
        }
        let (up, down) = (a.to_f64(Round::Up), a.to_f64(Round::Down));
        prop_assert!(down.is_finite() && Exact::try_from(down).unwrap() <= a);
        prop_assert!(Exact::try_from(up).unwrap() >= a);
        prop_assert!(up == down || up == down.next_up());
    }

    #[test]
    fn decimals_to_any_number_of_digits(a in number(), digits in 1..60usize, places in 0..60usize) {
        let [up, down] = BOTH.map(|round| parse(&a.decimal(digits, round)));
        prop_assert!(down <= a && a <= up);
        let step = RBig::from(10u8).pow(1 - digits as isize);
        prop_assert!(rational(&up) - rational(&down) <= rational(&a) * step);
        let text = format!("{a:.places$}");
        let shown = parse(&text);
        let unit = RBig::from(10u8).pow(-(places as isize));
        prop_assert!(shown >= a && rational(&shown) - rational(&a) < unit);
        let shown_places = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        prop_assert_eq!(shown_places, places);
    }

    #[test]
    fn display_rounds_up_to_17_digits(a in number(), digits in 1..10u64.pow(17), ten in -300..300) {
        let short = parse(&format!("{digits}e{ten}"));
        prop_assert_eq!(parse(&short.to_string()), short);
        let shown = parse(&a.to_string());
        prop_assert!(shown >= a);
        if shown > a {
            // One unit of the last of 17 digits less would be below.
            let scientific = a.to_f64(Round::Up).max(f64::MIN_POSITIVE).log10().floor();
            if scientific.abs() < 290.0 {
                let unit = parse(&format!("1.001e{}", scientific - 16.0));
                prop_assert!(shown.saturating_sub(&unit) < a);
            }
        }
    }

    /// Values that are held in different ways are one value.
    #[test]
    fn forms_are_equal(a in number(), far in number(), twos in 0..9u32, fives in 0..9u32) {
        let through_big = (&a + &far).checked_sub(&far).unwrap();
        let factor = 2u64.pow(twos) * 5u64.pow(fives);
        let inverse = Exact::from(factor).recip(Round::Up);
        let scaled = a.times(factor).mul(&inverse, Round::Up);
        let mut set = HashSet::from([a.clone()]);
        prop_assert!(!set.insert(through_big));
        if rational(&scaled) == rational(&a) {
            prop_assert!(!set.insert(scaled));
        }
    }

    #[test]
    fn any_text_is_read_or_rejected(text in "[-+0-9.eE*^inf25 ]{0,24}", noise in any::<String>()) {
        for text in [text, noise] {
            if let Ok(x) = text.parse::<Exact>() {
                prop_assert_eq!(parse(&format!("{x:?}")), x);
            }
        }
    }
}

#[test]
fn sums_saturate_past_the_top() {
    let half = parse("1*2^16383");
    let just_below = half.saturating_sub(&parse("1*2^-16384"));
    assert!((&half + &just_below).is_finite());
    assert!((&half + &half).is_infinite());
    assert!(half.times(2).is_infinite());
    let finest = parse("1*2^-16384*5^-4096");
    let sum = &just_below + &finest;
    assert_eq!(sum.checked_sub(&just_below), Some(finest));
    assert_eq!(parse(&format!("{sum:?}")), sum);
}

#[test]
fn infinity() {
    let one = Exact::ONE;
    assert_eq!(Exact::INFINITY.checked_sub(&Exact::INFINITY), None);
    assert_eq!(
        Exact::INFINITY.saturating_sub(&Exact::INFINITY),
        Exact::ZERO
    );
    assert_eq!(Exact::INFINITY.checked_sub(&one), Some(Exact::INFINITY));
    assert_eq!(one.checked_sub(&Exact::INFINITY), None);
    assert_eq!(Exact::INFINITY + Exact::INFINITY, Exact::INFINITY);
    assert_eq!(Exact::INFINITY.times(0), Exact::ZERO);
    assert_eq!(Exact::INFINITY.times(3), Exact::INFINITY);
    assert_eq!(
        Exact::INFINITY.div(&Exact::INFINITY, Round::Up),
        Exact::INFINITY
    );
    assert_eq!(
        Exact::INFINITY.div(&Exact::INFINITY, Round::Down),
        Exact::ZERO
    );
    assert_eq!(one.div(&Exact::INFINITY, Round::Up), Exact::ZERO);
    assert_eq!(Exact::INFINITY.to_f64(Round::Down), f64::INFINITY);
    assert_eq!(Exact::INFINITY.to_rational(), None);
    assert_eq!(Exact::INFINITY.pow(0, Round::Up), one);
    assert_eq!(Exact::INFINITY.pow(3, Round::Up), Exact::INFINITY);
    assert_eq!(format!("{0} {0:?}", Exact::INFINITY), "inf inf");
    let json = serde_json::to_string(&Exact::INFINITY).unwrap();
    assert_eq!(
        serde_json::from_str::<Exact>(&json).unwrap(),
        Exact::INFINITY
    );
    assert!(serde_json::from_str::<Exact>("\"-1\"").is_err());
    assert_eq!(serde_json::from_str::<Exact>("1").unwrap(), Exact::ONE);
    assert!(serde_json::from_str::<Exact>("0.1").is_err());
}

#[test]
fn the_ends_of_f64() {
    let top = Exact::try_from(f64::MAX).unwrap();
    let past = &top + &Exact::ONE;
    assert_eq!(past.to_f64(Round::Up), f64::INFINITY);
    assert_eq!(past.to_f64(Round::Down), f64::MAX);
    let least = Exact::try_from(f64::from_bits(1)).unwrap();
    assert_eq!(parse("1e-4000").to_f64(Round::Up), f64::from_bits(1));
    assert_eq!(parse("1e-4000").to_f64(Round::Down), 0.0);
    let more = &least + &parse("1e-400");
    assert_eq!(more.to_f64(Round::Down), f64::from_bits(1));
    assert_eq!(more.to_f64(Round::Up), f64::from_bits(2));
    let below_normal = Exact::try_from(f64::MIN_POSITIVE)
        .unwrap()
        .saturating_sub(&parse("1e-400"));
    assert_eq!(below_normal.to_f64(Round::Up), f64::MIN_POSITIVE);
    assert_eq!(
        below_normal.to_f64(Round::Down),
        f64::MIN_POSITIVE.next_down()
    );
}
