//! The two implementations of the elementary functions, in machine integers and as intervals of any precision, hold each
//! other: what one says rounded up is never below what the other says rounded down.

use exact::interval::{Interval, refine};
use exact::{Exact, Round};
use proptest::prelude::*;

fn agree(
    x: &Exact,
    fast: impl Fn(Round) -> Exact,
    certified: fn(&Interval) -> Option<Interval>,
) -> Result<(), TestCaseError> {
    let interval = refine(|bits| certified(&Interval::exact(x, bits + 64)?));
    let interval = interval.ok_or_else(|| TestCaseError::fail(format!("no enclosure at {x:?}")))?;
    let (down, up) = (fast(Round::Down), fast(Round::Up));
    prop_assert!(down <= interval.upper(), "{x:?}: {down} above {interval:?}");
    prop_assert!(up >= interval.lower(), "{x:?}: {up} below {interval:?}");
    // Both are narrow: the machine integers to 1e-15, the interval to far more.
    let excess = up.checked_sub(&interval.lower()).unwrap_or(Exact::ZERO);
    let allowed = interval
        .upper()
        .mul(&Exact::try_from(1e-15).unwrap(), Round::Up);
    prop_assert!(excess <= allowed, "{x:?}: {up} far above {interval:?}");
    Ok(())
}

/// Positive numbers of many magnitudes, also close to one.
fn numbers() -> impl Strategy<Value = Exact> {
    let anywhere = (1u64.., -60i32..10)
        .prop_map(|(mantissa, exponent)| mantissa as f64 * 2f64.powi(exponent - 53));
    let near_one = (1u64..1 << 40).prop_map(|offset| 1.0 + offset as f64 * 2f64.powi(-52));
    prop_oneof![anywhere, near_one].prop_map(|x| Exact::try_from(x).unwrap())
}

proptest! {
    #[test]
    fn exponentials_agree(x in numbers().prop_filter("in range", |x| *x < Exact::from(700u32))) {
        agree(&x, |round| x.exp(round), Interval::exp)?;
    }

    #[test]
    fn square_roots_agree(x in numbers()) {
        agree(&x, |round| x.sqrt(round), Interval::sqrt)?;
    }

    #[test]
    fn logarithms_agree(x in numbers().prop_filter("above one", |x| *x > Exact::ONE)) {
        agree(&x, |round| x.ln(round).unwrap_or(Exact::ZERO), Interval::ln)?;
    }
}

proptest! {
    /// At any precision, also a very small one: what is said with few digits holds what is said with more, and both are
    /// narrow. And `e^x · e = e^(x+1)`.
    #[test]
    fn exponentials_agree_with_themselves(x in numbers(), negative: bool, bits in 1usize..300) {
        prop_assume!(x < Exact::from(100_000u32));
        let at = |bits: usize, more: u8| {
            let x = Interval::exact(&x, bits + 24).unwrap();
            let x = if negative { -&x } else { x };
            (&x + &Interval::int(more, bits + 24)).exp().unwrap().with_bits(bits)
        };
        let (coarse, fine) = (at(bits, 0), at(bits + 77, 0));
        prop_assert!(coarse.lo.at_most(&fine.lo) && fine.hi.at_most(&coarse.hi));
        prop_assert!(coarse.is_narrow(bits as i64 - 3, i64::MAX / 8), "{coarse:?}");
        prop_assert!(fine.is_narrow(bits as i64 + 74, i64::MAX / 8), "{fine:?}");
        let product = &fine * &Interval::int(1u8, bits + 77).exp().unwrap();
        let direct = at(bits + 77, 1);
        prop_assert!(product.lo.at_most(&direct.hi) && direct.lo.at_most(&product.hi));
    }
}
