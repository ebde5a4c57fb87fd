//! Noise on a fixed grid of decimals. Values are rounded to the grid first, exactly, so that the noise is an integer
//! number of grid steps and the sensitivity is exact.

use std::fmt;

use dashu_base::Sign;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{AbsoluteDistance, L2Distance};
use odometer::{Measurement, OfRecords, Space};

use crate::{
    additive::{Clamp, Spending},
    error::BuildError,
    integers::noisy,
    noise::{Change, Noise, promised},
    parameter::{self, Parameter},
    spend::Spend,
};

/// All multiples of `10^−digits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    digits: u32,
}

/// A number on a grid: `steps · 10^−digits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal {
    /// How many grid steps from zero.
    pub steps: i64,
    /// The digits after the point.
    pub digits: u32,
}

queryable::canonical_copies!(Decimal);

impl Grid {
    /// The grid with this many digits after the point, at most 15.
    ///
    /// # Errors
    /// [`BuildError::OutOfRange`].
    pub fn new(digits: u32) -> Result<Self, BuildError> {
        if digits > 15 {
            return Err(BuildError::out_of_range(
                "the number of digits",
                "at most 15",
                digits,
            ));
        }
        Ok(Self { digits })
    }

    pub(crate) fn steps_per_unit(self) -> u64 {
        10u64.pow(self.digits)
    }

    pub(crate) const fn digits(self) -> u32 {
        self.digits
    }

    /// Bounds, as steps.
    pub(crate) fn clamp(self, bounds: (f64, f64)) -> Result<Clamp, BuildError> {
        let end = |value: f64| match self.round(value) {
            steps if value.is_finite() && steps != i64::MIN && steps != i64::MAX => Ok(steps),
            _ => {
                let expected = "finite and in the grid's range";
                Err(BuildError::out_of_range("a bound", expected, value))
            }
        };
        Clamp::new(end(bounds.0)?, end(bounds.1)?)
    }

    /// The nearest grid point, halves up: exact and monotone. Infinities and what is out of range become the ends, and
    /// NaN the lower one.
    pub(crate) fn round(self, value: f64) -> i64 {
        if !value.is_finite() {
            return if value > 0.0 { i64::MAX } else { i64::MIN };
        }
        let (mantissa, exponent) = parts(value);
        // Below 2^53·10^15 < 2^103, so that doubling it and adding a half fit.
        let steps = i128::from(mantissa) * i128::from(self.steps_per_unit());
        let rounded = match exponent {
            0.. => saturating_shl(steps, exponent as u32),
            -120..0 => (2 * steps + (1 << -exponent)) >> (1 - exponent),
            // Less than half a step from zero.
            _ => 0,
        };
        rounded.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// How many steps apart two numbers can be after rounding, if they were this far apart: rounded up.
    fn steps_apart(self, distance: &Exact) -> Exact {
        distance.times(self.steps_per_unit()).ceil()
    }

    fn decimal(self, steps: i64) -> Decimal {
        Decimal {
            steps,
            digits: self.digits,
        }
    }
}

impl Decimal {
    /// The nearest `f64`.
    pub fn to_f64(self) -> f64 {
        let exact = RBig::from_parts(
            IBig::from(self.steps),
            UBig::from(10u8).pow(self.digits as usize),
        );
        exact.to_f64().value()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, steps) = IBig::from(self.steps).into_parts();
        let sign = if sign == Sign::Negative { "-" } else { "" };
        let digits = self.digits as usize;
        let text = format!(
            "{steps:0>width$}",
            steps = steps.to_string(),
            width = digits + 1
        );
        let (whole, rest) = text.split_at(text.len() - digits);
        match digits {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{rest}"),
        }
    }
}

/// `value = mantissa·2^exponent`, for a finite value.
fn parts(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let (magnitude, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    let mantissa = if value < 0.0 { -magnitude } else { magnitude };
    (mantissa, exponent)
}

/// `value·2^by`, or an end of the range.
fn saturating_shl(value: i128, by: u32) -> i128 {
    match value {
        0 => 0,
        _ if by < value.unsigned_abs().leading_zeros().saturating_sub(1) => value << by,
        1.. => i128::MAX,
        _ => i128::MIN,
    }
}

/// All finite 64-bit floats, with their absolute difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiniteFloats;

impl Space for FiniteFloats {
    type Data = f64;
    type Distance = Exact;
    type Metric = AbsoluteDistance;

    fn metric(&self) -> &AbsoluteDistance {
        &AbsoluteDistance
    }

    fn contains(&self, data: &f64) -> bool {
        data.is_finite()
    }
}

/// Rounds a number to the grid and adds noise in grid steps.
///
/// Numbers at distance `d` are at most `⌈d/step⌉` steps apart once rounded (rounding is monotone); the loss is the noise's
/// at that, rounded up. The noise's scale is in steps. A number out of the 64-bit range of steps becomes its end.
///
/// ```
/// use odometry::mechanisms::{decimal::{Grid, add_noise_on_grid}, samplers::DiscreteLaplace};
/// let cents = add_noise_on_grid(Grid::new(2)?, DiscreteLaplace::new(200)?); // scale 2.00
/// assert_eq!(cents.map().loss(&1u32.into())?.to_string(), "0.5");
/// println!("{}", cents.invoke(12.345)?); // for example 10.87
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_noise_on_grid<N: Noise>(
    grid: Grid,
    noise: N,
) -> Measurement<FiniteFloats, N::Measure, Decimal> {
    let change = move |d_in: &Exact| Change::one(&grid.steps_apart(d_in));
    let map = noise.map(change);
    let drawn = noise.clone();
    let measurement = Measurement::new("noise on a grid", FiniteFloats, map, move |data, scope| {
        noisy(i128::from(grid.round(**data)), &drawn, scope).map(|steps| grid.decimal(steps))
    });
    let measurement = measurement.with_parameter("digits", grid.digits);
    promised(measurement, &noise, change)
}

/// All vectors of finite 64-bit floats with one length, with their L2 distance. The length is public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatVectors {
    length: usize,
}

impl FloatVectors {
    /// Vectors of this length, at least one.
    ///
    /// # Errors
    /// [`BuildError::Empty`].
    pub fn of_length(length: usize) -> Result<Self, BuildError> {
        match length {
            0 => Err(BuildError::Empty {
                what: "the vectors",
            }),
            _ => Ok(Self { length }),
        }
    }

    /// How much vectors of grid steps differ, if the vectors they were rounded from are this far apart in the L2 norm.
    fn change(self, grid: Grid, distance: &Exact) -> Change {
        let length = Exact::from(u64::try_from(self.length).unwrap_or(u64::MAX));
        let steps = distance.times(grid.steps_per_unit());
        let l2 = &steps + &length.sqrt(Round::Up);
        let l2_squared = match distance.is_zero() {
            true => Exact::ZERO,
            false => l2.pow(2, Round::Up),
        };
        let by_length = l2_squared.mul(&length, Round::Up).sqrt(Round::Up);
        Change {
            l1: by_length.min(l2_squared.clone()),
            l2_squared,
            one_coordinate: self.length == 1,
        }
    }
}

impl Space for FloatVectors {
    type Data = Vec<f64>;
    type Distance = Exact;
    type Metric = L2Distance;

    fn metric(&self) -> &L2Distance {
        &L2Distance
    }

    fn contains(&self, data: &Vec<f64>) -> bool {
        data.len() == self.length && data.iter().all(|x| x.is_finite())
    }
}

/// Rounds each number of a vector to the grid and adds noise in grid steps.
///
/// A number that changes by `c` changes by less than `c/step + 1` steps once rounded, and one that does not change does not; so vectors of
/// `n` numbers at L2 distance `d` are at most `d/step + √n` steps apart in the L2 norm (triangle inequality). The loss is the noise's at
/// that, rounded up. With a fine grid the second part is nothing: take a step that is a thousandth of the noise or less.
///
/// ```
/// use odometry::mechanisms::{decimal::{FloatVectors, Grid, add_noise_to_floats}, samplers::DiscreteGaussian};
/// let space = FloatVectors::of_length(100)?;
/// let noisy = add_noise_to_floats(space, Grid::new(6)?, DiscreteGaussian::with_scale(5_000_000)?); // σ = 5
/// assert!(noisy.map().loss(&1u32.into())?.value() < &"0.020001".parse()?);
/// let answer = noisy.invoke(vec![0.5; 100])?;
/// assert_eq!(answer.len(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_noise_to_floats<N: Noise>(
    space: FloatVectors,
    grid: Grid,
    noise: N,
) -> Measurement<FloatVectors, N::Measure, Vec<Decimal>> {
    let change = move |d_in: &Exact| space.change(grid, d_in);
    let map = noise.map(change);
    let drawn = noise.clone();
    let measurement = Measurement::new("vector noise on a grid", space, map, move |data, scope| {
        let noised = |x: &f64| noisy(i128::from(grid.round(*x)), &drawn, scope);
        let steps: Result<Vec<i64>, _> = data.iter().map(noised).collect();
        Ok(steps?
            .into_iter()
            .map(|steps| grid.decimal(steps))
            .collect())
    });
    let measurement = measurement
        .with_parameter("length", space.length)
        .with_parameter("digits", grid.digits);
    promised(measurement, &noise, change)
}

/// [`add_noise_to_floats`] with the least noise that costs this at this L2 distance.
///
/// # Errors
/// As [`Spend::noise_for`].
pub fn add_noise_to_floats_spending<L: Spend>(
    space: FloatVectors,
    grid: Grid,
    loss: L,
    distance: impl Parameter,
) -> Result<Spending<FloatVectors, L, Vec<Decimal>>, BuildError> {
    let distance = parameter::sensitivity(distance)?;
    let noise = loss.noise_for(&space.change(grid, &distance))?;
    Ok(add_noise_to_floats(space, grid, noise))
}

/// Sums a value of each record, clamped and rounded to the grid, with noise in grid steps.
///
/// A value that is NaN counts as the lowest one: never an error because of the data. Sensitivity as for
/// [`sum`](crate::additive::sum), in grid steps.
///
/// # Errors
/// [`BuildError::OutOfRange`] if the bounds are not finite, out of order, or too large for the grid.
pub fn sum_on_grid<S, N>(
    space: S,
    grid: Grid,
    noise: N,
    bounds: (f64, f64),
    value: impl Fn(&S::Record) -> f64 + Send + Sync + 'static,
) -> Result<Measurement<S, N::Measure, Decimal>, BuildError>
where
    S: OfRecords,
    N: Noise,
{
    let bounds = grid.clamp(bounds)?;
    let in_steps = move |record: &S::Record| grid.round(value(record));
    let sum = crate::additive::sum(space, noise, bounds, in_steps);
    let sum = sum.postprocess(move |steps| grid.decimal(steps));
    Ok(sum.with_parameter("digits", grid.digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_print() {
        let cents = Grid::new(2).unwrap();
        for (steps, text) in [
            (0, "0.00"),
            (5, "0.05"),
            (-5, "-0.05"),
            (12345, "123.45"),
            (i64::MIN, "-92233720368547758.08"),
        ] {
            assert_eq!(cents.decimal(steps).to_string(), text);
        }
        assert_eq!(Grid::new(0).unwrap().decimal(-7).to_string(), "-7");
        assert!(Grid::new(16).is_err());
        assert_eq!(cents.decimal(250).to_f64(), 2.5);
    }

    #[test]
    fn rounding_never_fails() {
        let cents = Grid::new(2).unwrap();
        for (value, steps) in [
            (0.125, 13),
            (-0.125, -12),
            (1e300, i64::MAX),
            (f64::NEG_INFINITY, i64::MIN),
            (f64::INFINITY, i64::MAX),
            (f64::NAN, i64::MIN),
        ] {
            assert_eq!(cents.round(value), steps, "{value}");
        }
    }

    proptest! {
        #[test]
        fn rounding_is_exact(bits in any::<u64>(), near in -1e6f64..1e6, digits in 0u32..=15) {
            let grid = Grid::new(digits).unwrap();
            for value in [f64::from_bits(bits), near, near * 1e-6] {
                let Ok(exact) = RBig::try_from(value) else { continue };
                let half = RBig::from_parts(1.into(), 2u8.into());
                let nearest = (exact * RBig::from(10u64.pow(digits)) + half).floor();
                prop_assert_eq!(grid.round(value), crate::integers::saturate(nearest));
            }
        }

        #[test]
        fn rounded_numbers_are_as_close_as_the_map_says(a in -1e4f64..1e4, b in -1e4f64..1e4, digits in 0u32..6) {
            let grid = Grid::new(digits).unwrap();
            let apart = grid.round(a).abs_diff(grid.round(b));
            let distance = RBig::try_from(a).unwrap() - RBig::try_from(b).unwrap();
            let distance = if distance < RBig::ZERO { -distance } else { distance };
            let distance = Exact::from_rational(&distance, Round::Up).unwrap();
            prop_assert!(Exact::from(apart) <= grid.steps_apart(&distance));
        }
    }
}
