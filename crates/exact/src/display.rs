//! How a number is shown to people: a decimal that is not below it.

use std::fmt;

use dashu_base::DivRem;
use dashu_int::UBig;

use crate::Round;
use crate::repr::Exact;
use crate::text::decimal;

/// The most significant digits that are displayed.
const DIGITS: usize = 17;

impl fmt::Display for Exact {
    /// The exact decimal if it has at most 17 significant digits, otherwise the shortest one that
    /// rounding up to 17 of them gives. `{:.3}` rounds up to three places; `{:?}` is exact.
    ///
    /// ```
    /// use odometry::exact::Exact;
    /// let third = Exact::ratio(1, 3)?;
    /// assert_eq!(format!("{third} {third:.2}"), "0.33333333333333334 0.34");
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match f.precision() {
            Some(places) if self.is_finite() => self.fixed_point(places),
            _ => self.decimal(DIGITS, Round::Up),
        };
        f.pad_integral(true, "", &text)
    }
}

impl fmt::Debug for Exact {
    /// The exact value, as text that reads back as the same number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Exact {
    /// The shortest decimal with at most so many significant digits (at least one): exact if that
    /// suffices, otherwise rounded.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// let left = Exact::ratio(2, 3)?;
    /// assert_eq!(left.decimal(3, Round::Down), "0.666");
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn decimal(&self, digits: usize, round: Round) -> String {
        if self.is_infinite() {
            return "inf".to_owned();
        }
        let digits = digits.max(1);
        let (kept, ten) = self
            .short_decimal(digits)
            .unwrap_or_else(|| self.rounded_decimal(digits, round));
        decimal(&kept, ten)
    }

    /// The digits of a finite positive number, rounded to this many, and the power of ten they count.
    fn rounded_decimal(&self, most: usize, round: Round) -> (String, i64) {
        // Start with too many digits: 10^0.30102 < 2 < 10^0.30103.
        let (low, _) = self.log2_bounds();
        let per_bit = if low >= 0 { 30_102 } else { 30_103 };
        let mut ten = (low * per_bit).div_euclid(100_000) - most as i64;
        loop {
            let digits = self.over_power_of_ten(ten, round).to_string();
            if digits.len() <= most {
                let kept = digits.trim_end_matches('0');
                return (kept.to_owned(), ten + (digits.len() - kept.len()) as i64);
            }
            ten += (digits.len() - most) as i64;
        }
    }

    /// A finite number rounded up to so many decimal places.
    fn fixed_point(&self, places: usize) -> String {
        let digits = self
            .over_power_of_ten(-(places as i64), Round::Up)
            .to_string();
        if places == 0 {
            return digits;
        }
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        format!("{whole}.{fraction}")
    }

    /// A finite number over `10^ten`, rounded to an integer.
    pub(crate) fn over_power_of_ten(&self, ten: i64, round: Round) -> UBig {
        let (num, den) = self.ratio_parts();
        let power = UBig::from(10u8).pow(ten.unsigned_abs() as usize);
        let (quotient, rest) = match ten >= 0 {
            true => num.div_rem(den * power),
            false => (num * power).div_rem(den),
        };
        match round == Round::Up && !rest.is_zero() {
            true => quotient + UBig::ONE,
            false => quotient,
        }
    }
}
