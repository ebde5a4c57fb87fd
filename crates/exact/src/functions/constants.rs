//! Fixed-point constants, computed when this crate is compiled from series whose terms are all
//! rounded down, with many bits to spare.

/// `ln 2 · 2^96` rounded down, or one less.
pub(super) const LN_2_BELOW: u128 = ln_ratio(2, 1) >> (FINE - 96);
/// `ln 2 · 2^96` rounded up, or one more.
pub(super) const LN_2_ABOVE: u128 = LN_2_BELOW + 2;
/// `2^63 / ln 2`, at most three units too small and never too large.
pub(super) const INVERSE_LN_2: u64 = ((1 << 126) / ((LN_2_ABOVE >> 33) + 1)) as u64;

/// `e^(j/16) · 2^63`, at most 1.01 units too small.
pub(super) const EXP_SIXTEENTHS: [u64; 12] = {
    let mut table = [0; 12];
    let mut j = 0;
    while j < table.len() {
        table[j] = (exp_sixteenths(j as u128) >> (FINE - 63)) as u64;
        j += 1;
    }
    table
};

/// `2^16 / (1 + j/128)` rounded up: what takes `[1 + j/128, 1 + (j+1)/128)` to `[1, 1 + 1.01/128)`.
pub(super) const LN_FACTORS: [u32; 128] = {
    let mut table = [0; 128];
    let mut j = 0;
    while j < table.len() {
        table[j] = (1u32 << 23).div_ceil(128 + j as u32);
        j += 1;
    }
    table
};

/// `-ln(LN_FACTORS[j] / 2^16) · 2^64`, at most 1.01 units too small.
pub(super) const LN_TABLE: [u64; 128] = {
    let mut table = [0; 128];
    let mut j = 0;
    while j < table.len() {
        table[j] = (ln_ratio(1 << 16, LN_FACTORS[j] as u128) >> (FINE - 64)) as u64;
        j += 1;
    }
    table
};

/// How many coefficients a [`series`](super::series) has, from the second on.
pub(super) const TERMS: usize = 9;

/// `2^64 / n` rounded down, for `n` from 2.
pub(super) const RECIPROCALS: [u64; TERMS] = {
    let mut table = [0; TERMS];
    let mut i = 0;
    while i < TERMS {
        table[i] = ((1 << 64) / (i as u128 + 2)) as u64;
        i += 1;
    }
    table
};

/// `2^64 / n!` rounded down, for `n` from 2.
pub(super) const RECIPROCAL_FACTORIALS: [u64; TERMS] = {
    let (mut table, mut factorial) = ([0; TERMS], 1);
    let mut i = 0;
    while i < TERMS {
        factorial *= i as u128 + 2;
        table[i] = ((1 << 64) / factorial) as u64;
        i += 1;
    }
    table
};

/// The series are summed with this many places; fewer than 40 terms lose less than 100 units.
const FINE: u32 = 104;

/// `ln(num / den)` for `den <= num <= 2 den <= 2^17`, as `2 atanh z = 2 (z + z^3/3 + z^5/5 + …)` with
/// `z = (num - den) / (num + den) <= 1/3`. The products stay below `2^104 · 2^16`.
const fn ln_ratio(num: u128, den: u128) -> u128 {
    let (a, b) = (num - den, num + den);
    let (mut power, mut sum, mut n) = ((a << (FINE + 1)) / b, 0, 1);
    while power > 0 {
        sum += power / n;
        power = power * a / b * a / b;
        n += 2;
    }
    sum
}

/// `e^(j/16)` as `1 + (j/16) + (j/16)^2/2 + …`.
const fn exp_sixteenths(j: u128) -> u128 {
    let (mut term, mut sum, mut n) = (1 << FINE, 0, 1);
    while term > 0 {
        sum += term;
        term = term * j / (16 * n);
        n += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_float::{FBig, round::mode::HalfEven};

    type Float = FBig<HalfEven, 2>;

    fn float(n: impl Into<dashu_int::IBig>) -> Float {
        Float::from_parts(n.into(), 0).with_precision(400).value()
    }

    /// `truth · 2^places` is at least `constant`, and less than `constant + units`.
    fn below(constant: u128, truth: Float, places: u32, units: f64) {
        let truth = truth * float(dashu_int::IBig::ONE << places as usize);
        let missing = (truth - float(constant)).to_f64().value();
        assert!(0.0 <= missing && missing < units, "{missing} units");
    }

    #[test]
    fn constants_are_as_close_as_they_claim() {
        let ln_2 = float(2).ln();
        below(LN_2_BELOW, ln_2.clone(), 96, 2.0);
        below(INVERSE_LN_2.into(), float(1) / &ln_2, 63, 3.0);
        for (j, entry) in EXP_SIXTEENTHS.into_iter().enumerate() {
            below(entry.into(), (float(j) / float(16)).exp(), 63, 1.01);
        }
        for (j, entry) in LN_TABLE.into_iter().enumerate() {
            let factor = float(LN_FACTORS[j]) / float(1 << 16);
            assert!(factor.clone() * float(128 + j) >= float(128));
            assert!(factor.clone() * float((129 + j) * 128) <= float(128 * 128 + 129));
            below(entry.into(), -factor.ln(), 64, 1.01);
        }
        let mut factorial = 1u64;
        for i in 0..TERMS {
            let n = i as u64 + 2;
            factorial *= n;
            below(RECIPROCALS[i].into(), float(1) / float(n), 64, 1.0);
            below(
                RECIPROCAL_FACTORIALS[i].into(),
                float(1) / float(factorial),
                64,
                1.0,
            );
        }
    }
}
