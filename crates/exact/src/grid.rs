//! The grid of the numbers that are added up by the million: sums of them stay short, whatever the numbers were before.

use std::borrow::Cow;

use dashu_base::DivRem;
use dashu_int::UBig;

use crate::Round;
use crate::repr::{Exact, five_to};

/// The grid's numbers are multiples of `2^-TWO · 5^-FIVE` …
const TWO: i32 = 256;
const FIVE: i32 = 64;
/// … and below `2^END`.
const END: i64 = 256;
/// Flat numbers with exponents up to these two are below `2^END`.
const FLAT_TWO: i32 = 64;
const FLAT_FIVE: i32 = 27;

impl Exact {
    /// This number, rounded to a multiple of `2^-256 · 5^-64`; from `2^256` on it is infinity (`Up`) or the largest such
    /// multiple below (`Down`).
    ///
    /// For whoever adds up numbers that somebody else chooses: decimals of up to 64 places stay exact, and so does every
    /// `f64` from `2^-204` on (about `4e-62`). Any `2^64` numbers on the grid have a sum of at most 725 bits. Without the
    /// grid, one summand of `1e-4096` would make every later sum as long as that. Rounding is monotone and depends on the
    /// value only; a number on the grid stays what it is.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// let [tenth, tiny, huge]: [Exact; 3] = ["0.1".parse()?, "1e-4096".parse()?, "1e4096".parse()?];
    /// assert_eq!(*tenth.on_grid(Round::Up), tenth);
    /// assert_eq!(*tiny.on_grid(Round::Down), Exact::ZERO);
    /// assert!(*tiny.on_grid(Round::Up) < "1e-121".parse()?);
    /// assert!(huge.on_grid(Round::Up).is_infinite());
    /// assert!(*huge.on_grid(Round::Down) > "1e77".parse()?);
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    #[inline]
    pub fn on_grid(&self, round: Round) -> Cow<'_, Exact> {
        match self.is_on_grid() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(self.rounded_to_grid(round)),
        }
    }

    /// Would [rounding](Exact::on_grid) change nothing?
    ///
    /// ```
    /// use odometry::exact::Exact;
    /// let [tenth, tiny]: [Exact; 2] = ["0.1".parse()?, "1e-4096".parse()?];
    /// assert!(tenth.is_on_grid() && !tiny.is_on_grid());
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    #[inline]
    pub fn is_on_grid(&self) -> bool {
        let fine =
            (-TWO..=FLAT_TWO).contains(&self.two) && (-FIVE..=FLAT_FIVE).contains(&self.five);
        fine && self.big.is_none() || self.is_long_on_grid()
    }

    /// The sum of two numbers on the grid, which is on the grid; infinity if it is at its end or past it.
    ///
    /// ```
    /// use odometry::exact::Exact;
    /// let [tenth, large]: [Exact; 2] = ["0.1".parse()?, "1*2^255".parse()?];
    /// assert_eq!(tenth.plus_on_grid(&tenth), "0.2".parse()?);
    /// assert!(large.plus_on_grid(&large).is_infinite());
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    // Every launch adds: the sum stays in registers until it is where it belongs.
    #[inline(always)]
    pub fn plus_on_grid(&self, other: &Exact) -> Exact {
        match self.plus_flat(other) {
            Some((sum, two, five)) if two <= FLAT_TWO && five <= FLAT_FIVE => {
                Exact::flat(sum, two, five)
            }
            _ => self.plus_long_on_grid(other),
        }
    }

    #[cold]
    fn plus_long_on_grid(&self, other: &Exact) -> Exact {
        let sum = self.plus_big(other);
        match sum.is_long_on_grid() {
            true => sum,
            false => sum.rounded_to_grid(Round::Up),
        }
    }

    #[cold]
    fn is_long_on_grid(&self) -> bool {
        if self.is_infinite() || self.is_zero() {
            return true;
        }
        let fine = self.two >= -TWO && self.five >= -FIVE;
        let (low, high) = self.log2_bounds();
        match fine && high <= END {
            true => true,
            false if low >= END || high <= smallest() => false,
            false => self.rounded_to_grid(Round::Up) == *self,
        }
    }

    #[cold]
    fn rounded_to_grid(&self, round: Round) -> Exact {
        let (low, high) = self.log2_bounds();
        let units = match low {
            END.. => None,
            _ if high <= smallest() => Some(UBig::from(u8::from(round == Round::Up))),
            _ => Some(self.units(round)),
        };
        let last = (UBig::ONE << (TWO as usize + END as usize)) * five_to(FIVE.into()) - UBig::ONE;
        let units = match (units.filter(|units| *units <= last), round) {
            (Some(units), _) => units,
            (None, Round::Down) => last,
            (None, Round::Up) => return Exact::INFINITY,
        };
        Exact::from_big(units, (-TWO).into(), (-FIVE).into())
    }

    /// How many units of the grid a finite number below about `2^END` has.
    fn units(&self, round: Round) -> UBig {
        let (mut number, mut unit) = (self.big_mantissa(), UBig::ONE);
        let (twos, fives) = (
            i64::from(self.two) + i64::from(TWO),
            i64::from(self.five) + i64::from(FIVE),
        );
        match fives >= 0 {
            true => number *= five_to(fives),
            false => unit *= five_to(-fives),
        }
        match twos >= 0 {
            true => number <<= twos as usize,
            false => unit <<= -twos as usize,
        }
        let (units, rest) = number.div_rem(unit);
        match round == Round::Up && !rest.is_zero() {
            true => units + UBig::ONE,
            false => units,
        }
    }
}

/// Numbers below two to this power are below one unit: 2.322 is above `log2(5)`.
const fn smallest() -> i64 {
    -(TWO as i64) - (2322 * FIVE as i64 + 999) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repr::Big;
    use proptest::prelude::*;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    fn unit() -> Exact {
        exact("1*2^-256*5^-64")
    }

    #[test]
    fn what_is_said_to_be_exact_is() {
        let digits = "0.".to_owned() + &"1234567890123456".repeat(4);
        let top = exact("1*2^256").checked_sub(&unit()).unwrap();
        let floats = [f64::EPSILON, 0.1, 1e-30, 4e-62, 1e70].map(|x| Exact::try_from(x).unwrap());
        let others = [
            exact(&digits),
            exact("1e-64"),
            exact("1e70"),
            unit(),
            top,
            Exact::ZERO,
            Exact::INFINITY,
        ];
        for x in floats.iter().chain(&others) {
            for round in [Round::Up, Round::Down] {
                assert_eq!(x.on_grid(round).as_ref(), x, "{x}");
            }
        }
    }

    #[test]
    fn extremes_end_on_the_grid() {
        let top = exact("1*2^256").checked_sub(&unit()).unwrap();
        for tiny in ["1e-4096", "1*2^-16384*5^-4096", "1e-122", "1.5e-122"] {
            assert_eq!(*exact(tiny).on_grid(Round::Up), unit(), "{tiny}");
            assert_eq!(*exact(tiny).on_grid(Round::Down), Exact::ZERO, "{tiny}");
        }
        let almost = &top + &exact("1e-200");
        for huge in [
            exact("1*2^256"),
            exact("1e78"),
            exact("1e4096"),
            exact("1e4931"),
            almost,
        ] {
            assert_eq!(*huge.on_grid(Round::Up), Exact::INFINITY);
            assert_eq!(*huge.on_grid(Round::Down), top);
        }
        let long = exact(&("0.".to_owned() + &"7".repeat(4_000)));
        assert!(*long.on_grid(Round::Up) > long && *long.on_grid(Round::Down) < long);
    }

    #[test]
    fn many_sums_stay_short() {
        let top = exact("1*2^256").checked_sub(&unit()).unwrap();
        let most = top.times(u64::MAX) + &top;
        assert!(matches!(most.big.as_deref(), Some(Big::Wide(_))));
    }

    fn any_exact() -> impl Strategy<Value = Exact> {
        (
            any::<u128>(),
            0..128u32,
            any::<u64>(),
            -600..300i64,
            -200..90i64,
            0..3u32,
        )
            .prop_map(|(mantissa, drop, more, two, five, long)| {
                let more = UBig::from(more).pow(3 * long as usize);
                Exact::from_big(UBig::from(mantissa >> drop) * more, two, five)
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn rounding_is_the_nearest_multiple_in_its_direction(x in any_exact(), y in any_exact()) {
            let (up, down) = (x.on_grid(Round::Up), x.on_grid(Round::Down));
            prop_assert!(*down <= x && x <= *up);
            for on in [&up, &down] {
                let (above, below) = (on.on_grid(Round::Up), on.on_grid(Round::Down));
                prop_assert!(above == *on && below == *on);
            }
            if up.is_finite() {
                prop_assert!(*up == *down || *up == &*down + &unit());
            } else {
                prop_assert!(&x + &unit() > exact("1*2^256"));
            }
            let (mut sum, more) = (up.clone().into_owned(), y.on_grid(Round::Up));
            let plus = sum.plus_on_grid(&more);
            sum += &*more;
            prop_assert!(plus == *sum.on_grid(Round::Up) && (plus == sum || plus.is_infinite()));
            if x <= y {
                prop_assert!(*up <= *y.on_grid(Round::Up) && *down <= *y.on_grid(Round::Down));
            }
        }
    }
}
