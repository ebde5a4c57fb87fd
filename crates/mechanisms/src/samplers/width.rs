//! The width of the buckets into which large scales are cut, and uniform positions inside of a bucket.

use dashu_base::BitTest;
use dashu_int::UBig;
use rand_core::Rng;

/// A number of at least one: in a machine word when it is small enough for machine arithmetic throughout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Small(u64),
    Big(UBig),
}

/// Widths up to this are small: the square of a bucket's end fits in 128 bits.
const SMALL_BITS: usize = 52;

impl Width {
    pub(crate) fn new(width: UBig) -> Self {
        match u64::try_from(&width) {
            Ok(small) if width.bit_len() <= SMALL_BITS => Self::Small(small.max(1)),
            _ => Self::Big(width),
        }
    }

    pub(crate) fn to_big(&self) -> UBig {
        match self {
            Self::Small(width) => UBig::from(*width),
            Self::Big(width) => width.clone(),
        }
    }
}

/// Uniform below `n`, from 32 bits that are already drawn if `n` is small. `n` is not zero.
#[inline]
pub(crate) fn below(n: u64, half: u32, bits: &mut dyn Rng) -> u64 {
    if n < 1 << 24 {
        let n = n as u32;
        let mut product = u64::from(half) * u64::from(n);
        if (product as u32) < n {
            let favoured = n.wrapping_neg() % n;
            while (product as u32) < favoured {
                product = u64::from(bits.next_u32()) * u64::from(n);
            }
        }
        return product >> 32;
    }
    let favoured = n.wrapping_neg() % n;
    loop {
        let product = u128::from(bits.next_u64()) * u128::from(n);
        if product as u64 >= favoured {
            return (product >> 64) as u64;
        }
    }
}

/// Uniform below `n`, which is not zero: as many bits as `n` has, drawn again while they are not below it.
pub(crate) fn below_big(n: &UBig, bits: &mut dyn Rng) -> UBig {
    let length = n.bit_len();
    loop {
        let mut drawn = UBig::ZERO;
        for _ in 0..length.div_ceil(64) {
            drawn = (drawn << 64) + UBig::from(bits.next_u64());
        }
        let drawn = drawn >> (length.div_ceil(64) * 64 - length);
        if drawn < *n {
            return drawn;
        }
    }
}
