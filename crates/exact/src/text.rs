//! The exact text of a number: a decimal of at most 40 digits, otherwise `m*2^i*5^j`. It reads back
//! as the same number, and is what serde writes.

use dashu_base::BitTest;
use dashu_int::UBig;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

use crate::repr::{Exact, five_to};

/// The longest decimal that is written out in full, in digits.
const DIGITS: usize = 40;

impl Exact {
    /// All digits of a finite number and the power of ten that they count, if there are few.
    pub(crate) fn short_decimal(&self, most: usize) -> Option<(String, i64)> {
        if let Some((digits, ten)) = self.machine_decimal() {
            let digits = digits.to_string();
            return (digits.len() <= most).then_some((digits, ten));
        }
        let (mantissa, two, five) = self.reduced();
        let ten = two.min(five);
        let digits_bound = mantissa.bit_len() as i64 + (two - ten) + 2 * (five - ten);
        if digits_bound > 4 * most as i64 {
            return None;
        }
        let digits = ((mantissa * five_to(five - ten)) << (two - ten) as usize).to_string();
        (digits.len() <= most).then_some((digits, ten))
    }

    /// The digits of a positive number and the power of ten that they count, if machine integers are enough.
    fn machine_decimal(&self) -> Option<(u64, i64)> {
        let mut digits = u64::try_from(self.mantissa).ok()?;
        if digits == 0 {
            return None;
        }
        let (mut two, mut five) = (i64::from(self.two), i64::from(self.five));
        two += i64::from(digits.trailing_zeros());
        digits >>= digits.trailing_zeros();
        while digits.is_multiple_of(5) {
            digits /= 5;
            five += 1;
        }
        let ten = two.min(five);
        let (twos, fives) = (u32::try_from(two - ten), u32::try_from(five - ten));
        digits = digits.checked_mul(2u64.checked_pow(twos.ok()?)?)?;
        digits = digits.checked_mul(5u64.checked_pow(fives.ok()?)?)?;
        Some((digits, ten))
    }

    /// The exact text: the same for ever, and what serde writes.
    ///
    /// ```
    /// use odometry::exact::Exact;
    /// let tenth: Exact = "0.10".parse()?;
    /// assert_eq!(tenth.text(), "0.1");
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn text(&self) -> String {
        if self.is_infinite() {
            return "inf".to_owned();
        }
        if let Some((digits, ten)) = self.short_decimal(DIGITS) {
            return decimal(&digits, ten);
        }
        let (mantissa, two, five): (UBig, i64, i64) = self.reduced();
        match five {
            0 => format!("{mantissa}*2^{two}"),
            _ => format!("{mantissa}*2^{two}*5^{five}"),
        }
    }
}

/// `digits · 10^ten`, in plain notation where that is not long.
pub(crate) fn decimal(digits: &str, ten: i64) -> String {
    let point = digits.len() as i64 + ten;
    if ten >= 0 && point <= 21 {
        return [digits, &*"0".repeat(ten as usize)].concat();
    }
    if ten < 0 && point > 0 {
        let (whole, fraction) = digits.split_at(point as usize);
        return [whole, ".", fraction].concat();
    }
    if ten < 0 && point > -6 {
        return ["0.", &*"0".repeat(-point as usize), digits].concat();
    }
    match digits.split_at(1) {
        (first, "") => format!("{first}e{}", point - 1),
        (first, rest) => format!("{first}.{rest}e{}", point - 1),
    }
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Exact, D::Error> {
        // Formats that do not say what they hold hold what was serialized.
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(Written),
            false => deserializer.deserialize_str(Written),
        }
    }
}

/// Reads text and whole numbers. What a format hands over as a float is no longer what was written.
struct Written;

impl Visitor<'_> for Written {
    type Value = Exact;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a non-negative number as text such as \"0.05\", or a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Exact, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Exact, E> {
        Ok(Exact::from(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Exact, E> {
        let text = number.to_string();
        u64::try_from(number)
            .map(Exact::from)
            .map_err(|_| E::invalid_value(Unexpected::Other(&text), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Exact, E> {
        Err(E::custom(format_args!(
            "a float such as {number} is not exactly what was written: write the number in quotes, \"{number}\""
        )))
    }
}
