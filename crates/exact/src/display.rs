//! How a number is shown to people: the shortest decimal that is not below it.

use std::fmt;

use dashu_base::{BitTest, DivRem};
use dashu_int::UBig;

use crate::repr::Exact;
use crate::text::decimal;

/// The most significant digits that are displayed.
const DIGITS: i64 = 17;

impl fmt::Display for Exact {
    /// The exact decimal if it has at most 17 significant digits, otherwise the number rounded up to
    /// 17 of them. `{:?}` shows the exact value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_infinite() {
            return f.pad("inf");
        }
        let (digits, ten) = self
            .short_decimal(DIGITS as usize)
            .unwrap_or_else(|| self.rounded_up_decimal());
        f.pad(&decimal(&digits, ten))
    }
}

impl fmt::Debug for Exact {
    /// The exact value, as text that reads back as the same number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Exact {
    /// The digits of a finite positive number rounded up to 17, and the power of ten they count.
    fn rounded_up_decimal(&self) -> (String, i64) {
        let (num, den) = self.ratio_parts();
        // One decimal digit is 3.32 bits: this is the position of the leading digit, or one less.
        let log2 = num.bit_len() as i64 - den.bit_len() as i64;
        let mut ten = (log2 - 1) * 301 / 1000 - 2 - DIGITS;
        loop {
            let power = UBig::from(10u8).pow(ten.unsigned_abs() as usize);
            let (quotient, rest) = match ten >= 0 {
                true => (&num).div_rem(&(&den * power)),
                false => (&num * power).div_rem(&den),
            };
            let up = match rest.is_zero() {
                true => quotient,
                false => quotient + UBig::ONE,
            };
            let digits = up.to_string();
            if digits.len() as i64 <= DIGITS {
                let kept = digits.trim_end_matches('0');
                return (kept.to_owned(), ten + (digits.len() - kept.len()) as i64);
            }
            ten += (digits.len() as i64 - DIGITS).max(1);
        }
    }
}
