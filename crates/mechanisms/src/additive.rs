//! Noise added to numbers, counts, sums and histograms. Everything is summed exactly, noise is added exactly, and only the
//! result is squeezed into 64 bits: that is post-processing, so no overflow can change a sensitivity.

use exact::{Exact, Round};
use measures::{AbsoluteDistance, CountsRecords, Metric};
use odometer::{Any, Collection as _, Measurement, OfRecords, Space};

use crate::{
    error::BuildError,
    integers::noisy,
    noise::{Change, Noise, promised},
    parameter::{self, Parameter},
    records::histogram_change,
    spend::Spend,
};

/// Adds noise to an integer.
///
/// Loss: that of the noise at the distance of the integers, rounded up.
///
/// ```
/// use odometry::mechanisms::{additive::add_noise, samplers::DiscreteLaplace};
/// let laplace = add_noise(DiscreteLaplace::new(10)?);
/// assert_eq!(laplace.map().loss(&1u32.into())?.to_string(), "0.1");
/// let answer: i64 = laplace.invoke(42)?;
/// # let _ = answer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_noise<N: Noise>(noise: N) -> Measurement<Any<i64, AbsoluteDistance>, N::Measure, i64> {
    let (space, map, drawn) = (
        Any::with(AbsoluteDistance),
        noise.map_per_unit(Change::one(&Exact::ONE)),
        noise.clone(),
    );
    let measurement = Measurement::new("noise", space, map, move |data, scope| {
        noisy(i128::from(**data), &drawn, scope)
    });
    promised(measurement, &noise, Change::one)
}

/// All vectors of integers with one length. The length is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors<MI> {
    length: usize,
    metric: MI,
}

impl<MI> Vectors<MI> {
    /// Vectors of this length, at least one, with this metric.
    ///
    /// # Errors
    /// [`BuildError::Empty`].
    pub fn of_length(length: usize, metric: MI) -> Result<Self, BuildError> {
        if length == 0 {
            return Err(BuildError::Empty {
                what: "the vectors",
            });
        }
        Ok(Self { length, metric })
    }

    /// The length.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl<MI: Metric> Space for Vectors<MI> {
    type Data = Vec<i64>;
    type Distance = MI::Distance;
    type Metric = MI;

    fn metric(&self) -> &MI {
        &self.metric
    }

    fn contains(&self, data: &Vec<i64>) -> bool {
        data.len() == self.length
    }
}

/// A metric on vectors of integers that bounds how much they change.
pub trait VectorMetric: Metric<Distance = Exact> {
    /// How much vectors of this length at this distance differ, rounded up.
    fn change(d_in: &Exact, length: usize) -> Change;

    /// How much vectors differ per unit of distance: infinitely in a norm that does not grow in proportion to it, which is right for
    /// every metric (the default). Noise on what does has a [form](measures::Form).
    fn per_unit() -> Change {
        Change::one(&Exact::INFINITY).in_several()
    }
}

/// Integers: the square of a difference is at least its absolute value, and the sum of squares is at most the square of
/// the sum.
impl VectorMetric for measures::L1Distance {
    fn change(d_in: &Exact, _: usize) -> Change {
        Change::summing_to(d_in)
    }

    fn per_unit() -> Change {
        Change::one(&Exact::ONE).in_several()
    }
}

/// For integers the L1 norm is at most the squared L2 norm; and for `n` numbers at most `√n` times the L2 norm.
impl VectorMetric for measures::L2Distance {
    fn change(d_in: &Exact, length: usize) -> Change {
        let squared = d_in.pow(2, Round::Up);
        let by_length = squared.times(u64::try_from(length).unwrap_or(u64::MAX));
        Change {
            l1: by_length.sqrt(Round::Up).min(squared.clone()),
            l2_squared: squared,
            one_coordinate: length == 1,
        }
    }

    fn per_unit() -> Change {
        Change {
            l1: Exact::INFINITY,
            ..Change::one(&Exact::ONE).in_several()
        }
    }
}

/// Adds independent noise to each coordinate of a vector of integers.
///
/// Loss: that of the noise at the vectors' distance, rounded up.
pub fn add_noise_to_vector<N: Noise, MI: VectorMetric>(
    space: Vectors<MI>,
    noise: N,
) -> Measurement<Vectors<MI>, N::Measure, Vec<i64>> {
    let (length, drawn) = (space.length(), noise.clone());
    let map = noise.map_within(&MI::per_unit(), move |d_in| MI::change(d_in, length));
    let measurement = Measurement::new("vector noise", space, map, move |data, scope| {
        data.iter()
            .map(|&value| noisy(i128::from(value), &drawn, scope))
            .collect()
    });
    let measurement = measurement.with_parameter("length", length);
    promised(measurement, &noise, move |d_in: &Exact| {
        MI::change(d_in, length)
    })
}

/// [`add_noise_to_vector`] with the least noise that costs this at this distance.
///
/// ```
/// use odometry::measures::L2Distance;
/// use odometry::mechanisms::{additive::{Vectors, add_noise_to_vector_spending}, spend::epsilon_delta};
/// let space = Vectors::of_length(100, L2Distance)?;
/// let noisy = add_noise_to_vector_spending(space, epsilon_delta(1, "1e-6"), 10)?;
/// assert!(noisy.map().loss(&10u32.into())?.delta() <= &"1e-6".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Spend::noise_for`].
pub fn add_noise_to_vector_spending<L: Spend, MI: VectorMetric>(
    space: Vectors<MI>,
    loss: L,
    distance: impl Parameter,
) -> Result<Spending<Vectors<MI>, L, Vec<i64>>, BuildError> {
    let distance = parameter::sensitivity(distance)?;
    let noise = loss.noise_for(&MI::change(&distance, space.length()))?;
    Ok(add_noise_to_vector(space, noise))
}

/// Counts the records that satisfy a predicate, with noise.
///
/// A record changes the count by at most one, replaced or not. The author vouches that the predicate looks at nothing
/// but its record and does not panic.
///
/// ```
/// use odometry::mechanisms::{additive::count, samplers::DiscreteLaplace};
/// use odometry::odometer::Records;
/// let people = Records::<u8>::new();
/// let adults = count(people, DiscreteLaplace::new(10)?, |age: &u8| *age >= 18);
/// assert_eq!(adults.map().loss(&1)?.to_string(), "0.1");
/// println!("{}", adults.invoke(vec![3, 20, 44])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count<S, N>(
    space: S,
    noise: N,
    predicate: impl Fn(&S::Record) -> bool + Send + Sync + 'static,
) -> Measurement<S, N::Measure, i64>
where
    S: OfRecords,
    N: Noise,
{
    let change = |d_in: &u32| Change::one(&Exact::from(*d_in));
    let map = noise.map_per_unit(change(&1));
    let drawn = noise.clone();
    let measurement = Measurement::new("count", space, map, move |data, scope| {
        let mut count = 0;
        data.each(&mut |record| count += i128::from(predicate(record)));
        noisy(count, &drawn, scope)
    });
    promised(measurement.with_parameter("sensitivity", 1), &noise, change)
}

/// [`count`] with the least noise that costs this at distance 1.
///
/// # Errors
/// As [`Spend::noise_for`].
pub fn count_spending<S, L>(
    space: S,
    loss: L,
    predicate: impl Fn(&S::Record) -> bool + Send + Sync + 'static,
) -> Result<Spending<S, L, i64>, BuildError>
where
    S: OfRecords,
    L: Spend,
{
    let noise = loss.noise_for(&Change::one(&Exact::ONE))?;
    Ok(count(space, noise, predicate))
}

/// A measurement in the measure in which a loss is spent.
pub type Spending<S, L, A> = Measurement<S, <<L as Spend>::Noise as Noise>::Measure, A>;

/// A range into which values are clamped before they are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clamp {
    lowest: i64,
    highest: i64,
}

impl Clamp {
    /// From `lowest` to `highest`, both included.
    ///
    /// # Errors
    /// [`BuildError::OutOfRange`] if the lowest is above the highest.
    pub fn new(lowest: i64, highest: i64) -> Result<Self, BuildError> {
        if lowest > highest {
            let expected = "at least the lowest value";
            return Err(BuildError::out_of_range(
                "the highest value",
                expected,
                highest,
            ));
        }
        Ok(Self { lowest, highest })
    }

    /// The lowest and the highest.
    pub(crate) fn ends(&self) -> (i64, i64) {
        (self.lowest, self.highest)
    }

    pub(crate) fn clamp(&self, value: i64) -> i64 {
        value.clamp(self.lowest, self.highest)
    }

    /// How much one unit of distance moves a sum.
    fn sensitivity<MI: CountsRecords>(&self) -> u64 {
        match MI::REPLACES {
            true => self.highest.abs_diff(self.lowest),
            false => self.lowest.unsigned_abs().max(self.highest.unsigned_abs()),
        }
    }
}

/// Sums a value of each record, clamped, with noise.
///
/// A record changes the sum by at most the larger absolute bound; a replaced one by the width of the bounds. The sum is
/// exact, in 128 bits, so it cannot overflow. The author vouches that `value` looks at nothing but its record and does
/// not panic.
///
/// ```
/// use odometry::mechanisms::{additive::{Clamp, sum}, samplers::DiscreteGaussian};
/// use odometry::odometer::Records;
/// let incomes = Records::<i64>::new();
/// let noise = DiscreteGaussian::with_scale(1000)?;
/// let total = sum(incomes, noise, Clamp::new(0, 1000)?, |income: &i64| *income);
/// assert_eq!(total.map().loss(&1)?.to_string(), "0.5"); // ρ = 1000²/(2·1000²)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sum<S, N>(
    space: S,
    noise: N,
    bounds: Clamp,
    value: impl Fn(&S::Record) -> i64 + Send + Sync + 'static,
) -> Measurement<S, N::Measure, i64>
where
    S: OfRecords,
    N: Noise,
{
    let sensitivity = bounds.sensitivity::<S::Metric>();
    let change = move |d_in: &u32| Change::one(&Exact::from(*d_in).times(sensitivity));
    let map = noise.map_per_unit(change(&1));
    let drawn = noise.clone();
    let measurement = Measurement::new("sum", space, map, move |data, scope| {
        let mut sum = 0;
        data.each(&mut |record| sum += i128::from(bounds.clamp(value(record))));
        noisy(sum, &drawn, scope)
    });
    promised(
        measurement.with_parameter("sensitivity", sensitivity),
        &noise,
        change,
    )
}

/// [`sum`] with the least noise that costs this at distance 1.
///
/// ```
/// use odometry::mechanisms::{additive::{Clamp, sum_spending}, spend::rho};
/// use odometry::odometer::Records;
/// let incomes = Records::<i64>::new();
/// let total = sum_spending(incomes, rho("0.02"), Clamp::new(0, 1000)?, |income| *income)?;
/// assert_eq!(total.map().loss(&1)?.to_string(), "0.02"); // σ = 5000
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Spend::noise_for`]; [`BuildError::NotPositive`] if the bounds leave nothing to sum.
pub fn sum_spending<S, L>(
    space: S,
    loss: L,
    bounds: Clamp,
    value: impl Fn(&S::Record) -> i64 + Send + Sync + 'static,
) -> Result<Spending<S, L, i64>, BuildError>
where
    S: OfRecords,
    L: Spend,
{
    let sensitivity = Exact::from(bounds.sensitivity::<S::Metric>());
    let noise = loss.noise_for(&Change::one(&sensitivity))?;
    Ok(sum(space, noise, bounds, value))
}

/// Counts the records in each of `bins` bins, with noise on every count. A record whose bin is not below `bins` is left
/// out.
///
/// A record changes one bin by one; a replaced one changes two. The author vouches that `bin` looks at nothing but its
/// record and does not panic.
///
/// # Errors
/// [`BuildError::Empty`] without bins.
pub fn histogram<S, N>(
    space: S,
    noise: N,
    bins: usize,
    bin: impl Fn(&S::Record) -> usize + Send + Sync + 'static,
) -> Result<Measurement<S, N::Measure, Vec<i64>>, BuildError>
where
    S: OfRecords,
    N: Noise,
{
    if bins == 0 {
        return Err(BuildError::Empty { what: "the bins" });
    }
    let change_at = |d_in: &u32| histogram_change::<S::Metric>(*d_in);
    let one = histogram_change::<S::Metric>(1).in_several();
    let map = noise.map_within(&one, change_at);
    let drawn = noise.clone();
    let measurement = Measurement::new("histogram", space, map, move |data, scope| {
        let mut counts = vec![0i128; bins];
        data.each(&mut |record| {
            if let Some(count) = counts.get_mut(bin(record)) {
                *count += 1;
            }
        });
        counts
            .into_iter()
            .map(|count| noisy(count, &drawn, scope))
            .collect()
    });
    let change = histogram_change::<S::Metric>(1);
    let measurement = measurement
        .with_parameter("bins", bins)
        .with_parameter("L1 sensitivity", change.l1)
        .with_parameter("squared L2 sensitivity", change.l2_squared);
    Ok(promised(measurement, &noise, change_at))
}

/// [`histogram`] with the least noise that costs this at distance 1.
///
/// # Errors
/// As [`Spend::noise_for`]; [`BuildError::Empty`] without bins.
pub fn histogram_spending<S, L>(
    space: S,
    loss: L,
    bins: usize,
    bin: impl Fn(&S::Record) -> usize + Send + Sync + 'static,
) -> Result<Spending<S, L, Vec<i64>>, BuildError>
where
    S: OfRecords,
    L: Spend,
{
    let noise = loss.noise_for(&histogram_change::<S::Metric>(1))?;
    histogram(space, noise, bins, bin)
}
