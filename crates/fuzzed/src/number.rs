//! Exact numbers: whatever is read prints as text that reads back, sums are those of the rationals, and everything that
//! rounds encloses the truth.

use std::hash::{DefaultHasher, Hash, Hasher};

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, ExactError, Round};

const BOTH: [Round; 2] = [Round::Down, Round::Up];

/// Reads the first three lines as numbers, and the first eight bytes as a float.
pub fn numbers(input: &[u8]) {
    if let Some(bits) = input.first_chunk() {
        float(f64::from_le_bytes(*bits));
    }
    let text = String::from_utf8_lossy(input);
    let numbers: Vec<Exact> = text.lines().take(3).filter_map(read).collect();
    numbers.iter().for_each(one);
    if let [a, b, ..] = &numbers[..] {
        two(a, b);
    }
    if let [a, b, c] = &numbers[..] {
        assert_eq!((a + b) + c, a + (b + c));
        let mut sum = c.clone();
        sum += a;
        sum += b;
        assert_eq!(sum, a + b + c, "sums in place");
        reads_back(&sum);
    }
}

fn read(text: &str) -> Option<Exact> {
    match text.parse() {
        Ok(number) => Some(number),
        Err(error) => {
            crate::check_error(&error);
            None
        }
    }
}

fn float(x: f64) {
    let Ok(exact) = Exact::try_from(x) else {
        return assert!(x.is_nan() || x < 0.0, "{x} is refused");
    };
    for round in BOTH {
        assert_eq!(exact.to_f64(round), x.abs());
    }
    one(&exact);
}

/// The laws of one number.
fn one(x: &Exact) {
    reads_back(x);
    functions(x);
    if x.is_infinite() {
        return;
    }
    let truth = rational(x);
    let again = Exact::from_rational(&truth, Round::Up);
    assert_eq!(again.as_ref(), Ok(x), "through rationals");
    assert_eq!(hash(&again.unwrap_or_default()), hash(x));
    encloses(|round| x.rounded(round), &truth);
    encloses(|round| x.pow(2, round), &(&truth * &truth));
    let [low, high] = BOTH.map(|round| x.to_f64(round));
    assert!(low.is_finite() && floats(low) <= *x && floats(high) >= *x);
    assert!(low == high || low.next_up() == high);
    for digits in [1, 7, 17] {
        let [down, up] = BOTH.map(|round| shown(&x.decimal(digits, round)));
        assert!(down.is_none_or(|down| down <= *x));
        assert!(up.is_none_or(|up| up >= *x));
    }
}

/// A decimal for people: at both ends of the range, one of few digits may not be in it.
fn shown(text: &str) -> Option<Exact> {
    match text.parse() {
        Ok(number) => Some(number),
        Err(ExactError::OutOfRange { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn reads_back(x: &Exact) {
    let text = format!("{x:?}");
    assert_eq!(text.parse().as_ref(), Ok(x), "the exact text");
    let json = serde_json::to_string(x).unwrap_or_default();
    assert!(serde_json::from_str::<Exact>(&json).is_ok_and(|again| again == *x));
}

/// Functions that round: the two directions enclose, and undo each other.
fn functions(x: &Exact) {
    let [low, high] = BOTH.map(|round| x.exp(round));
    assert!(low <= high);
    assert!(low.ln(Round::Down).is_none_or(|ln| ln <= *x));
    assert!(high.ln(Round::Up).is_some_and(|ln| ln >= *x));
    let [low, high] = BOTH.map(|round| x.exp_neg(round));
    assert!(low <= high && high <= Exact::ONE);
    assert!(low.neg_ln(Round::Up).is_none_or(|ln| ln >= *x));
    let [low, high] = BOTH.map(|round| x.sqrt(round));
    assert!(low.mul(&low, Round::Down) <= *x && high.mul(&high, Round::Up) >= *x);
    let [low, high] = BOTH.map(|round| x.tanh(round));
    assert!(low <= high && low <= *x && high <= Exact::ONE);
    let [low, high] = BOTH.map(|round| x.ln_1p(round));
    assert!(low <= high && low <= *x);
    let [low, high] = BOTH.map(|round| x.exp_m1(round));
    assert!(low <= high && high >= *x);
    let [low, high] = BOTH.map(|round| x.one_minus_exp_neg(round));
    assert!(low <= high && low <= *x && high <= Exact::ONE);
}

/// The laws of two numbers.
fn two(a: &Exact, b: &Exact) {
    let sum = a + b;
    assert_eq!(sum, b + a);
    assert!(*a <= sum && *b <= sum);
    reads_back(&sum);
    assert_eq!(a.cmp(b), b.cmp(a).reverse());
    assert_eq!(a == b, hash(a) == hash(b) && a.cmp(b).is_eq());
    if a.is_infinite() || b.is_infinite() {
        return;
    }
    let (ra, rb) = (rational(a), rational(b));
    assert_eq!(a.cmp(b), ra.cmp(&rb));
    match sum.is_finite() {
        true => assert_eq!(rational(&sum), &ra + &rb),
        false => assert!(&ra + &rb >= power_of_two(16_384)),
    }
    match a.checked_sub(b) {
        Some(rest) => {
            assert_eq!(rational(&rest), &ra - &rb);
            reads_back(&rest);
        }
        None => assert!(ra < rb),
    }
    encloses(|round| a.mul(b, round), &(&ra * &rb));
    if !b.is_zero() {
        encloses(|round| a.div(b, round), &(&ra / &rb));
    }
    if let Ok(n) = u64::try_from(b.to_f64(Round::Down) as u128) {
        let product = a.times(n);
        let truth = &ra * RBig::from(n);
        match product.is_finite() {
            true => assert_eq!(rational(&product), truth),
            false => assert!(truth >= power_of_two(16_384)),
        }
    }
}

/// Down and up enclose the truth, each to within 2^-127 of it, or to within the smallest step.
fn encloses(rounded: impl Fn(Round) -> Exact, truth: &RBig) {
    let [down, up] = BOTH.map(rounded);
    reads_back(&down);
    reads_back(&up);
    let excess = (truth * power_of_two(-127)).max(power_of_two(-16_384));
    let low = rational(&down);
    assert!(low <= *truth);
    if up.is_infinite() {
        // So is the truth, or it is at the very top.
        return assert!(truth + &excess >= power_of_two(16_384));
    }
    assert!(truth - &low <= excess);
    let high = rational(&up);
    assert!(high >= *truth && high - truth <= excess);
}

fn rational(x: &Exact) -> RBig {
    x.to_rational().unwrap_or_default()
}

fn floats(x: f64) -> Exact {
    Exact::try_from(x).unwrap_or_default()
}

fn hash(x: &Exact) -> u64 {
    let mut hasher = DefaultHasher::new();
    x.hash(&mut hasher);
    hasher.finish()
}

fn power_of_two(n: i64) -> RBig {
    let power = UBig::ONE << n.unsigned_abs() as usize;
    match n >= 0 {
        true => RBig::from_parts(power.into(), UBig::ONE),
        false => RBig::from_parts(IBig::ONE, power),
    }
}
