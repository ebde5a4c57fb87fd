//! Integers with noise, as 64-bit integers.

use dashu_int::IBig;
use queryable::{AskError, Scope};

use crate::noise::Noise;

/// The value with noise, as a 64-bit integer: what does not fit becomes the nearest one, which is post-processing.
pub(crate) fn noisy(
    value: i128,
    noise: &impl Noise,
    scope: &mut Scope<'_>,
) -> Result<i64, AskError> {
    Ok(plus(value, scope.draw(noise)?))
}

/// The sum, as the nearest 64-bit integer. Nearly always machine integers suffice.
#[inline]
fn plus(value: i128, noise: IBig) -> i64 {
    match i128::try_from(&noise).map(|noise| value.checked_add(noise)) {
        Ok(Some(sum)) => sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
        _ => saturate(IBig::from(value) + noise),
    }
}

pub(crate) fn saturate(value: IBig) -> i64 {
    i64::try_from(&value).unwrap_or(if value < IBig::ZERO {
        i64::MIN
    } else {
        i64::MAX
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn anywhere() -> impl Strategy<Value = i128> {
        let ends = [i128::MIN, i128::MAX, i64::MIN.into(), i64::MAX.into(), 0];
        (
            proptest::sample::select(ends.to_vec()),
            -2..=2i128,
            any::<i128>(),
            0..128u32,
        )
            .prop_map(|(end, near, other, drop)| end.wrapping_add(near).wrapping_add(other >> drop))
    }

    proptest! {
        /// What machine integers give, big ones give.
        #[test]
        fn sums_saturate(value in anywhere(), noise in anywhere(), more in 0..3usize) {
            let noise = IBig::from(noise) << (64 * more);
            let sum = IBig::from(value) + &noise;
            let nearest = sum.clamp(i64::MIN.into(), i64::MAX.into());
            prop_assert_eq!(IBig::from(plus(value, noise.clone())), nearest.clone());
            prop_assert_eq!(IBig::from(saturate(IBig::from(value) + noise)), nearest);
        }
    }
}
