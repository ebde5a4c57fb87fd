//! Means and variances: noisy sums of the first powers of values, and what follows from them.

use std::sync::Arc;

use dashu_int::IBig;
use exact::Exact;
use measures::{CountsRecords, PureDp};
use odometer::{Collection as _, Measurement, OfRecords};
use queryable::{AskError, Scope};

use crate::{
    additive::{Clamp, Spending},
    decimal::Grid,
    error::BuildError,
    noise::{Change, Noise, described},
    parameter::Parameter,
    spend::{self, Spend},
};

/// What is public about values that are clamped, and in which units their number, the sum of their distances from the middle and that of the squares of these are
/// counted: such that one unit of distance moves each by as much, `moves`. So the noise is the same on all of them, and its loss
/// is that of a vector, in any measure.
#[derive(Clone, Copy)]
struct Moments {
    clamp: Clamp,
    middle: i64,
    /// How many units are one of each.
    units: [u128; 3],
    moves: u128,
    /// How many of the three are released.
    released: usize,
}

impl Moments {
    fn new<MI: CountsRecords>(clamp: Clamp, powers: usize) -> Result<Self, BuildError> {
        let (lowest, highest) = clamp.ends();
        let middle = lowest.midpoint(highest);
        let radius = highest.abs_diff(middle).max(lowest.abs_diff(middle));
        if radius > 1 << 31 {
            let expected = "at most 2^32 apart for means and variances";
            return Err(BuildError::out_of_range("the bounds", expected, radius));
        }
        let by_distance = match MI::REPLACES {
            true => highest.abs_diff(lowest),
            false => radius,
        };
        // Squares are between zero and that of the radius, whether records come, go or are replaced. Zero is refused with the noise.
        let by = [1, u128::from(by_distance), u128::from(radius).pow(2)].map(|by| by.max(1));
        let moves = match powers {
            1 => by[1],
            _ => by[1] / gcd(by[1], by[2]) * by[2],
        };
        Ok(Self {
            clamp,
            middle,
            units: by.map(|by| moves / by),
            moves: if radius == 0 { 0 } else { moves },
            released: powers + 1,
        })
    }

    /// How much all of them change per unit of distance. Rounded up.
    fn change(&self) -> Change {
        Change::repeated(&Exact::from(self.moves), self.released as u64)
    }

    fn off(&self, value: i64) -> i128 {
        i128::from(self.clamp.clamp(value)) - i128::from(self.middle)
    }

    /// With noise, in units, and then as numbers: what was released is not looked at again.
    fn noised<N: Noise>(
        &self,
        sums: [i128; 3],
        noise: &N,
        scope: &mut Scope<'_>,
    ) -> Result<[f64; 3], AskError> {
        let mut shown = [0.0; 3];
        for at in 0..self.released {
            let exact = IBig::from(sums[at]) * IBig::from(self.units[at]);
            let noisy = exact + scope.draw(noise)?;
            shown[at] = noisy.to_f64().value() / self.units[at] as f64;
        }
        Ok(shown)
    }
}

const fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A noisy count and the first one or two noisy sums of powers of the distance from the middle.
fn moments<S, L, F>(
    space: S,
    loss: L,
    moments: Moments,
    value: F,
) -> Result<Spending<S, L, [f64; 3]>, BuildError>
where
    S: OfRecords,
    L: Spend,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    let noise = loss.noise_for(&moments.change())?;
    let map = noise.map_per_unit(moments.change());
    let drawn = noise.clone();
    let measurement = Measurement::new("moments", space, map, move |data: &Arc<S::Data>, scope| {
        let mut sums = [0i128; 3];
        data.each(&mut |record| {
            let off = moments.off(value(record));
            sums = [sums[0] + 1, sums[1] + off, sums[2] + off * off];
        });
        moments.noised(sums, &drawn, scope)
    });
    let (lowest, highest) = moments.clamp.ends();
    let measurement = measurement
        .with_parameter("lowest", lowest)
        .with_parameter("highest", highest);
    Ok(described(measurement, &noise))
}

/// The mean of a value of each record, clamped: a noisy sum of distances from the middle of the bounds, by a noisy count.
///
/// ε per record, half for the sum and half for the count. The answer is within the bounds. Of fewer than one record, counted with noise,
/// it is the middle. The author vouches that `value` looks at nothing but its record and does not panic.
///
/// ```
/// use odometry::mechanisms::{additive::Clamp, statistics::mean};
/// use odometry::odometer::Records;
/// let ages = mean(Records::<i64>::new(), Clamp::new(0, 100)?, "1", |age| *age)?;
/// assert_eq!(ages.map().loss(&1)?.to_string(), "1");
/// let mean: f64 = ages.invoke((0..10_000).map(|i| i % 80).collect())?;
/// assert!((35.0..45.0).contains(&mean));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Spend::noise_for`]; [`BuildError::OutOfRange`] for bounds more than 2³² apart.
pub fn mean<S, F>(
    space: S,
    clamp: Clamp,
    epsilon: impl Parameter,
    value: F,
) -> Result<Measurement<S, PureDp, f64>, BuildError>
where
    S: OfRecords,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    mean_spending(space, spend::epsilon(epsilon), clamp, value)
}

/// [`mean`] with the least noise that costs this at distance 1: ε, ρ or (ε, δ).
///
/// ```
/// use odometry::mechanisms::{additive::Clamp, spend::rho, statistics::mean_spending};
/// use odometry::odometer::Records;
/// let ages = mean_spending(Records::<i64>::new(), rho("0.1"), Clamp::new(0, 100)?, |age| *age)?;
/// assert_eq!(ages.map().loss(&1)?.to_string(), "0.1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`mean`].
pub fn mean_spending<S, L, F>(
    space: S,
    loss: L,
    clamp: Clamp,
    value: F,
) -> Result<Spending<S, L, f64>, BuildError>
where
    S: OfRecords,
    L: Spend,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    let plan = Moments::new::<S::Metric>(clamp, 1)?;
    let (lowest, highest) = clamp.ends();
    let mean = move |[count, sum, _]: [f64; 3]| {
        let middle = plan.middle as f64;
        match count >= 1.0 {
            true => (middle + sum / count).clamp(lowest as f64, highest as f64),
            false => middle,
        }
    };
    let moments = moments(space, loss, plan, value)?;
    Ok(moments.postprocess(mean).named("mean"))
}

/// The variance of a value of each record, clamped: by a noisy count, and noisy sums of the distances from the middle of the bounds and of their
/// squares, each for a third of ε. Never negative.
///
/// # Errors
/// As [`mean`].
pub fn variance<S, F>(
    space: S,
    clamp: Clamp,
    epsilon: impl Parameter,
    value: F,
) -> Result<Measurement<S, PureDp, f64>, BuildError>
where
    S: OfRecords,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    variance_spending(space, spend::epsilon(epsilon), clamp, value)
}

/// [`variance`] with the least noise that costs this at distance 1: ε, ρ or (ε, δ).
///
/// # Errors
/// As [`mean`].
pub fn variance_spending<S, L, F>(
    space: S,
    loss: L,
    clamp: Clamp,
    value: F,
) -> Result<Spending<S, L, f64>, BuildError>
where
    S: OfRecords,
    L: Spend,
    F: Fn(&S::Record) -> i64 + Send + Sync + 'static,
{
    let plan = Moments::new::<S::Metric>(clamp, 2)?;
    let variance = |[count, sum, squares]: [f64; 3]| {
        let n = count.max(1.0);
        (squares / n - (sum / n).powi(2)).max(0.0)
    };
    let moments = moments(space, loss, plan, value)?;
    Ok(moments.postprocess(variance).named("variance"))
}

/// [`mean_spending`] of decimals: values are rounded to a grid, so that the sensitivity is exact, and clamped.
///
/// A value that is NaN counts as the lowest one. Values are off by half a step of the grid at the most, and so is their mean.
///
/// ```
/// use odometry::mechanisms::{decimal::Grid, spend::epsilon, statistics::mean_on_grid};
/// use odometry::odometer::Records;
/// let cents = (Grid::new(2)?, (0.0, 100.0));
/// let price = mean_on_grid(Records::<f64>::new(), epsilon(1), cents, |price| *price)?;
/// assert_eq!(price.map().loss(&1)?.to_string(), "1");
/// let mean: f64 = price.invoke((0..10_000).map(|i| f64::from(i % 80) + 0.25).collect())?;
/// assert!((35.0..45.0).contains(&mean));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`mean`], with bounds at most 2³² steps apart; [`BuildError::OutOfRange`] if the bounds are not finite, out of order, or too large for the grid.
pub fn mean_on_grid<S, L, F>(
    space: S,
    loss: L,
    (grid, bounds): (Grid, (f64, f64)),
    value: F,
) -> Result<Spending<S, L, f64>, BuildError>
where
    S: OfRecords,
    L: Spend,
    F: Fn(&S::Record) -> f64 + Send + Sync + 'static,
{
    let steps = move |record: &S::Record| grid.round(value(record));
    let mean = mean_spending(space, loss, grid.clamp(bounds)?, steps)?;
    let unit = grid.steps_per_unit() as f64;
    let mean = mean.postprocess(move |steps| steps / unit);
    Ok(mean.with_parameter("digits", grid.digits()))
}

/// [`variance_spending`] of decimals, as [`mean_on_grid`].
///
/// # Errors
/// As there.
pub fn variance_on_grid<S, L, F>(
    space: S,
    loss: L,
    (grid, bounds): (Grid, (f64, f64)),
    value: F,
) -> Result<Spending<S, L, f64>, BuildError>
where
    S: OfRecords,
    L: Spend,
    F: Fn(&S::Record) -> f64 + Send + Sync + 'static,
{
    let steps = move |record: &S::Record| grid.round(value(record));
    let variance = variance_spending(space, loss, grid.clamp(bounds)?, steps)?;
    let unit = grid.steps_per_unit() as f64;
    let variance = variance.postprocess(move |steps| steps / (unit * unit));
    Ok(variance.with_parameter("digits", grid.digits()))
}
