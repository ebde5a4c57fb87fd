//! Numbers as text. A bound is rounded in its own direction, so that what is printed is as true as what was found.

use dashu_base::{DivRem, UnsignedAbs};
use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};

/// Significant digits of a number that is too long to print.
const DIGITS: usize = 7;

/// A short rational in full; a long one as a decimal that is not above it (`Down`) or not below it (`Up`).
pub(crate) fn shown(value: &RBig, round: Round) -> String {
    match in_full(value) {
        Some(text) => text,
        None => rounded(value, round),
    }
}

/// A number that is no bound: where its digits do not end, it says so.
pub(crate) fn digits(value: &RBig) -> String {
    match in_full(value) {
        Some(text) => text,
        None => ended(value),
    }
}

/// A decimal that says where its digits do not end.
fn ended(value: &RBig) -> String {
    let exact = Exact::from_rational(value, Round::Down);
    let more = match exact.is_ok_and(|exact| fits(&exact, DIGITS)) {
        true => "",
        false => "…",
    };
    rounded(value, Round::Down) + more
}

/// A decimal, with the fraction behind it if that is short.
pub(crate) fn decimal(value: &RBig) -> String {
    match in_full(value) {
        Some(text) if value.is_int() => text,
        Some(text) => format!("{} ({text})", ended(value)),
        None => ended(value),
    }
}

/// The same for a bound: where no fraction is behind it, it is not above the number (`Down`) or not below it (`Up`).
pub(crate) fn bound(value: &RBig, round: Round) -> String {
    match is_short(value) {
        true => decimal(value),
        false => rounded(value, round),
    }
}

/// The same, as a decimal with six places.
pub(crate) fn places(value: &RBig) -> String {
    const PLACES: u32 = 1_000_000;
    let scaled = value.numerator().clone().unsigned_abs() * UBig::from(PLACES);
    let (units, rest) = scaled.div_rem(value.denominator());
    let (whole, part) = units.div_rem(&UBig::from(PLACES));
    let more = if rest.is_zero() { "" } else { "…" };
    format!("{whole}.{:0>6}{more}", part.to_string())
}

/// Whether a number is short enough to be printed as a fraction.
pub(crate) fn is_short(value: &RBig) -> bool {
    in_full(value).is_some()
}

fn in_full(value: &RBig) -> Option<String> {
    let text = value.to_string();
    (text.len() <= 13).then_some(text)
}

fn rounded(value: &RBig, round: Round) -> String {
    match Exact::from_rational(value, round) {
        Ok(exact) => exact.decimal(DIGITS, round),
        // Past the largest number that has decimals here.
        Err(_) => value.to_string(),
    }
}

/// Whether this many digits say all.
pub(crate) fn fits(value: &Exact, digits: usize) -> bool {
    value.decimal(digits, Round::Down) == value.decimal(digits, Round::Up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_in_their_direction() {
        let below = RBig::from_parts(2_000_000_000_000u64.into(), 3_000_000_000_001u64.into());
        assert_eq!(shown(&below, Round::Down), "0.6666666");
        assert_eq!(shown(&below, Round::Up), "0.6666667");
        assert_eq!(digits(&below), "0.6666666…");
        assert_eq!(places(&below), "0.666666…");
        let third = RBig::from_parts(1.into(), 3u8.into());
        assert_eq!(
            (shown(&third, Round::Up), places(&third)),
            ("1/3".into(), "0.333333…".into())
        );
        let eighths = RBig::from_parts(3.into(), 8u8.into());
        assert_eq!(places(&eighths), "0.375000");
        assert_eq!(decimal(&eighths), "0.375 (3/8)");
        assert_eq!(bound(&third, Round::Up), "0.3333333… (1/3)");
        assert_eq!(bound(&below, Round::Up), "0.6666667");
        assert_eq!(decimal(&RBig::ONE), "1");
        assert!(is_short(&eighths) && !is_short(&below));
    }
}
