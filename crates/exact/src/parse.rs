//! Reading decimal text. The length is bounded first, so hostile text costs nothing.

use std::str::FromStr;

use dashu_int::UBig;

use crate::error::{ExactError, excerpt};
use crate::repr::{Exact, MIN_FIVE, MIN_TWO, reduce};

/// The longest text that is read, in bytes: longer than the exact text of any number.
const LONGEST: usize = 16_384;

impl FromStr for Exact {
    type Err = ExactError;

    /// Reads a decimal such as `12`, `0.1`, `.5`, `1e-6` or `2.5E+3`, `inf`, or the exact form
    /// `m*2^i` or `m*2^i*5^j` that `{:?}` and serde write where a decimal would be long.
    ///
    /// No signs, spaces or separators; at most 16,384 bytes; values below 2^16384 that are multiples
    /// of `2^-16384 · 5^-4096`, such as all decimals with at most 4096 places.
    fn from_str(text: &str) -> Result<Exact, ExactError> {
        if text.len() > LONGEST {
            return Err(ExactError::TooLong {
                start: excerpt(text),
                length: text.len(),
                limit: LONGEST,
            });
        }
        if text == "inf" {
            return Ok(Exact::INFINITY);
        }
        let number = match text.split_once("*2^") {
            Some((mantissa, exponents)) => exact_form(mantissa, exponents),
            None => decimal(text),
        };
        match number {
            Ok(exact) => Ok(exact),
            Err(Wrong::Range) => Err(ExactError::OutOfRange {
                input: excerpt(text),
            }),
            Err(Wrong::Syntax) => Err(match text.strip_prefix('-') {
                Some(rest) if rest == "inf" || decimal(rest) != Err(Wrong::Syntax) => {
                    ExactError::Negative {
                        input: excerpt(text),
                    }
                }
                _ => ExactError::NotANumber {
                    input: excerpt(text),
                },
            }),
        }
    }
}

#[derive(PartialEq)]
enum Wrong {
    Syntax,
    Range,
}

/// `12.5e-3` and the like.
fn decimal(text: &str) -> Result<Exact, Wrong> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, integer(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return Err(Wrong::Syntax);
    }
    let digits = [whole, fraction].concat();
    let significant = digits.trim_end_matches('0');
    let ten = exponent - fraction.len() as i64 + (digits.len() - significant.len()) as i64;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(Exact::ZERO);
    }
    // Kept over a power of ten, so that decimals with equally many places need no alignment.
    let flat = significant
        .parse()
        .ok()
        .and_then(|mantissa| Exact::try_flat(mantissa, ten, ten));
    match flat {
        Some(exact) => Ok(exact),
        None => finite(natural(significant)?, ten, ten),
    }
}

/// `mantissa*2^i*5^j`.
fn exact_form(mantissa: &str, exponents: &str) -> Result<Exact, Wrong> {
    let (two, five) = match exponents.split_once("*5^") {
        Some((two, five)) => (integer(two)?, integer(five)?),
        None => (integer(exponents)?, 0),
    };
    let mantissa = natural(mantissa)?;
    finite(mantissa, two, five)
}

/// The range is one of values: exponents count in lowest terms, however the number was written.
fn finite(mantissa: UBig, two: i64, five: i64) -> Result<Exact, Wrong> {
    let (mantissa, two, five) = reduce(mantissa, two, five);
    if two < MIN_TWO || five < MIN_FIVE {
        return Err(Wrong::Range);
    }
    let exact = Exact::from_big(mantissa, two, five);
    match exact.is_finite() {
        true => Ok(exact),
        false => Err(Wrong::Range),
    }
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn natural(text: &str) -> Result<UBig, Wrong> {
    if text.is_empty() || !all_digits(text) {
        return Err(Wrong::Syntax);
    }
    UBig::from_str_radix(text, 10).map_err(|_| Wrong::Syntax)
}

/// An exponent; one that is far out of range comes back as some other one that is.
fn integer(text: &str) -> Result<i64, Wrong> {
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    if digits.is_empty() || !all_digits(digits) {
        return Err(Wrong::Syntax);
    }
    const FAR: i64 = 1 << 32;
    let size = digits.bytes().fold(0, |size: i64, byte| {
        (size * 10 + i64::from(byte - b'0')).min(FAR)
    });
    Ok(sign * size)
}
