//! Integers of up to 768 bits on the stack. They hold every sum of numbers on the [grid](Exact::on_grid), and every sum of a
//! few decimals and floats. In big integers of any length such a sum takes three to five times as long, because each
//! multiplication, shift and sum allocates; then one long summand would slow every later launch of an account.

use std::cmp::Ordering;
use std::sync::Arc;

use dashu_base::BitTest;
use dashu_int::UBig;

use crate::flat::FIVES;
use crate::repr::{Big, Exact, FLAT_FIVE, FLAT_TWO};

/// How many words there are.
const WORDS: usize = 12;

/// The largest power of five in one word.
const MOST_FIVES: u32 = 27;

/// The powers of five in three words.
const LONG_FIVES: [[u64; 3]; 65] = {
    let mut powers = [[1, 0, 0]; 65];
    let mut k = 1;
    while k < powers.len() {
        let mut carry = 0;
        let mut i = 0;
        while i < 3 {
            let product = powers[k - 1][i] as u128 * 5 + carry;
            powers[k][i] = product as u64;
            carry = product >> 64;
            i += 1;
        }
        k += 1;
    }
    powers
};

/// A positive integer, lowest word first.
#[derive(Clone, Copy)]
pub(crate) struct Wide {
    words: [u64; WORDS],
    /// How many words are in use: all after them are zero, and the last of them is not.
    length: usize,
}

impl Wide {
    pub(crate) fn from_flat(mantissa: u128) -> Wide {
        let mut words = [0; WORDS];
        words[0] = mantissa as u64;
        words[1] = (mantissa >> 64) as u64;
        let length = match (words[0], words[1]) {
            (0, 0) => 0,
            (_, 0) => 1,
            _ => 2,
        };
        Wide { words, length }
    }

    /// This integer, unless it is too long.
    pub(crate) fn from_big(big: &UBig) -> Option<Wide> {
        let length = big.bit_len().div_ceil(64);
        let mut words = [0; WORDS];
        let used = words.get_mut(..length)?;
        let bytes = big.to_le_bytes();
        for (word, bytes) in used.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        Some(Wide { words, length })
    }

    pub(crate) fn to_big(self) -> UBig {
        let mut bytes = [0; 8 * WORDS];
        for (bytes, word) in bytes.chunks_mut(8).zip(self.words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        UBig::from_le_bytes(&bytes)
    }

    /// In one machine integer, if it fits.
    pub(crate) fn to_flat(self) -> Option<u128> {
        let [low, high, ..] = self.words;
        (self.length <= 2).then_some(u128::from(high) << 64 | u128::from(low))
    }

    #[inline]
    pub(crate) fn bit_len(&self) -> i64 {
        let top = self.words[..self.length].last();
        top.map_or(0, |top| {
            64 * self.length as i64 - i64::from(top.leading_zeros())
        })
    }

    /// Multiplies by a word; says whether that fits.
    #[inline]
    fn times(&mut self, factor: u64) -> bool {
        let mut carry = 0;
        for word in &mut self.words[..self.length] {
            let product = u128::from(*word) * u128::from(factor) + u128::from(carry);
            (*word, carry) = (product as u64, (product >> 64) as u64);
        }
        carry == 0 || self.push(carry)
    }

    /// Multiplies by `2^twos · 5^fives`; says whether that fits.
    #[inline]
    fn lift(&mut self, twos: u32, mut fives: u32) -> bool {
        if let (1, Some([low, middle, high])) = (self.length, LONG_FIVES.get(fives as usize)) {
            let [factor, ..] = self.words;
            (self.words[0], self.words[1], self.words[2]) = (*low, *middle, *high);
            self.length = 3;
            let fits = self.times(factor);
            while let Some(0) = self.words[..self.length].last() {
                self.length -= 1;
            }
            return fits && (twos == 0 || self.shift(twos));
        }
        while fives > 0 {
            let step = fives.min(MOST_FIVES);
            if !self.times(FIVES[step as usize] as u64) {
                return false;
            }
            fives -= step;
        }
        twos == 0 || self.shift(twos)
    }

    #[inline]
    fn shift(&mut self, twos: u32) -> bool {
        let (whole, bits) = (twos as usize / 64, twos % 64);
        let carried = |word: u64| if bits == 0 { 0 } else { word >> (64 - bits) };
        let length = self.length;
        let Some(top) = self.words[..length].last() else {
            return true;
        };
        let spilled = carried(*top);
        self.length = length + whole + usize::from(spilled > 0);
        if self.length > WORDS {
            return false;
        }
        if spilled > 0 {
            self.words[length + whole] = spilled;
        }
        for i in (0..length).rev() {
            let below = if i > 0 { carried(self.words[i - 1]) } else { 0 };
            self.words[i + whole] = self.words[i] << bits | below;
        }
        self.words[..whole].fill(0);
        true
    }

    /// Adds; says whether that fits.
    #[inline]
    pub(crate) fn add(&mut self, other: &Wide) -> bool {
        let length = self.length.max(other.length);
        let mut carry = 0;
        for (word, other) in self.words[..length].iter_mut().zip(&other.words) {
            let sum = u128::from(*word) + u128::from(*other) + carry;
            (*word, carry) = (sum as u64, sum >> 64);
        }
        self.length = length;
        carry == 0 || self.push(1)
    }

    /// One more word; says whether that fits.
    #[inline]
    fn push(&mut self, word: u64) -> bool {
        let Some(place) = self.words.get_mut(self.length) else {
            return false;
        };
        *place = word;
        self.length += 1;
        true
    }

    pub(crate) fn compare(&self, other: &Wide) -> Ordering {
        let words = |wide: &Wide| wide.words.into_iter().rev();
        self.length
            .cmp(&other.length)
            .then_with(|| words(self).cmp(words(other)))
    }
}

impl Exact {
    /// The mantissa of a finite number over exponents that are not above its own, where it fits.
    #[inline]
    pub(crate) fn lifted_wide(&self, two: i32, five: i32) -> Option<Wide> {
        let mut mantissa = self.wide()?;
        let (twos, fives) = (self.two.abs_diff(two), self.five.abs_diff(five));
        mantissa.lift(twos, fives).then_some(mantissa)
    }

    /// The mantissa of a finite number, where it fits.
    #[inline]
    fn wide(&self) -> Option<Wide> {
        match self.big.as_deref() {
            None => Some(Wide::from_flat(self.mantissa)),
            Some(Big::Wide(wide)) => Some(*wide),
            Some(Big::Huge(_)) => None,
        }
    }

    /// The sum of finite numbers, where a few words suffice and it is far from the top.
    pub(crate) fn plus_wide(&self, other: &Exact) -> Option<Exact> {
        let (two, five) = (self.two.min(other.two), self.five.min(other.five));
        if i64::from(two) > FLAT_TWO || i64::from(five) > FLAT_FIVE {
            return None;
        }
        // Long numbers mostly have the smaller exponents already, and need not be copied.
        let (long, short) = match self.big.is_some() {
            true => (self, other),
            false => (other, self),
        };
        // Where it will stay: words that were just written are slow to copy.
        let mut sum = Big::Wide(short.wide()?);
        let Big::Wide(words) = &mut sum else {
            return None;
        };
        let fits = words.lift(short.two.abs_diff(two), short.five.abs_diff(five))
            && match long.big.as_deref() {
                Some(Big::Wide(wide)) if (long.two, long.five) == (two, five) => words.add(wide),
                _ => words.add(&long.lifted_wide(two, five)?),
            };
        if !fits {
            return None;
        }
        Some(match words.to_flat() {
            Some(mantissa) => Exact::flat(mantissa, two, five),
            None => Exact {
                mantissa: 0,
                two,
                five,
                big: Some(Arc::new(sum)),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repr::five_to;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn integer() -> impl Strategy<Value = UBig> {
        vec(
            prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
            1..=WORDS,
        )
        .prop_map(|words| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            UBig::from_le_bytes(&bytes)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn wide_integers_are_integers(a in integer(), b in integer(), twos in 0..200u32, fives in 0..100u32) {
            let (wide_a, wide_b) = (Wide::from_big(&a).unwrap(), Wide::from_big(&b).unwrap());
            prop_assert_eq!(wide_a.to_big(), a.clone());
            prop_assert_eq!(wide_a.bit_len(), a.bit_len() as i64);
            prop_assert_eq!(wide_a.to_flat(), u128::try_from(&a).ok());
            prop_assert_eq!(wide_a.compare(&wide_b), a.cmp(&b));
            let fits = |x: UBig| (x.bit_len() <= 64 * WORDS).then_some(x);
            let mut sum = wide_a;
            let sum = sum.add(&wide_b).then(|| sum.to_big());
            prop_assert_eq!(sum, fits(&a + &b));
            let mut lifted = wide_a;
            let lifted = lifted.lift(twos, fives).then(|| lifted.to_big());
            prop_assert_eq!(lifted, fits((&a * five_to(fives.into())) << twos as usize));
        }
    }
}
