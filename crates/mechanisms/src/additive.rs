//! Noise added to numbers, counts, sums and histograms. Everything is summed exactly, noise is added exactly, and only the
//! result is squeezed into 64 bits: that is post-processing, so no overflow can change a sensitivity.

use exact::{Exact, Round};
use measures::{AbsoluteDistance, Metric};
use odometer::{AnyOf, Domain, Measurement, Space};

use crate::{
    error::BuildError,
    noise::{Change, Noise, noisy},
    records::{RecordMetric, RecordSpace, histogram_change},
};

/// A measurement of lists of records.
pub type OfRecords<T, MI, N, A> = Measurement<AnyOf<Vec<T>>, MI, <N as Noise>::Measure, A>;

/// Adds noise to an integer.
///
/// Loss: that of the noise at the distance of the integers, rounded up.
///
/// ```
/// use mechanisms::{additive::add_noise, samplers::DiscreteLaplace};
/// let laplace = add_noise(DiscreteLaplace::new(10u8.into())?);
/// assert_eq!(laplace.map().loss(&1u32.into())?.to_string(), "0.1");
/// let answer: i64 = laplace.invoke(42)?;
/// # let _ = answer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_noise<N: Noise>(noise: N) -> Measurement<AnyOf<i64>, AbsoluteDistance, N::Measure, i64> {
    let map = noise.map(AbsoluteDistance, Change::one);
    Measurement::new(
        "noise",
        Space::any::<i64>(AbsoluteDistance),
        map,
        move |data, scope| noisy(i128::from(**data), &noise, scope),
    )
}

/// All vectors of integers with one length. The length is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    length: usize,
}

impl Vectors {
    /// Vectors of this length, at least one.
    ///
    /// # Errors
    /// [`BuildError::Empty`].
    pub fn of_length(length: usize) -> Result<Self, BuildError> {
        if length == 0 {
            return Err(BuildError::Empty {
                what: "the vectors",
            });
        }
        Ok(Self { length })
    }

    /// The length.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl Domain for Vectors {
    type Carrier = Vec<i64>;

    fn contains(&self, data: &Vec<i64>) -> bool {
        data.len() == self.length
    }
}

/// A metric on vectors of integers that bounds how much they change.
pub trait VectorMetric: Metric<Distance = Exact> {
    /// How much vectors at this distance differ, rounded up.
    fn change(d_in: &Exact) -> Change;
}

/// Integers: the square of a difference is at least its absolute value, and the sum of squares is at most the square of
/// the sum.
impl VectorMetric for measures::L1Distance {
    fn change(d_in: &Exact) -> Change {
        Change::summing_to(d_in)
    }
}

/// For integers the L1 norm is at most the squared L2 norm.
impl VectorMetric for measures::L2Distance {
    fn change(d_in: &Exact) -> Change {
        let squared = d_in.pow(2, Round::Up);
        Change {
            l1: squared.clone(),
            l2_squared: squared,
            one_coordinate: false,
        }
    }
}

/// Adds independent noise to each coordinate of a vector of integers.
///
/// Loss: that of the noise at the vectors' distance, rounded up.
pub fn add_noise_to_vector<N: Noise, MI: VectorMetric>(
    space: Space<Vectors, MI>,
    noise: N,
) -> Measurement<Vectors, MI, N::Measure, Vec<i64>> {
    let map = noise.map(space.metric.clone(), MI::change);
    Measurement::new("vector noise", space, map, move |data, scope| {
        data.iter()
            .map(|&value| noisy(i128::from(value), &noise, scope))
            .collect()
    })
}

/// Counts the records that satisfy a predicate, with noise.
///
/// A record changes the count by at most one, replaced or not. The author vouches that the predicate looks at nothing
/// but its record and does not panic.
///
/// ```
/// use measures::SymmetricDistance;
/// use mechanisms::{additive::count, samplers::DiscreteLaplace};
/// use odometer::Space;
/// let people = Space::any::<Vec<u8>>(SymmetricDistance);
/// let adults = count(people, DiscreteLaplace::new(10u8.into())?, |age: &u8| *age >= 18);
/// assert_eq!(adults.map().loss(&1)?.to_string(), "0.1");
/// println!("{}", adults.invoke(vec![3, 20, 44])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count<T, MI, N>(
    space: RecordSpace<T, MI>,
    noise: N,
    predicate: impl Fn(&T) -> bool + Send + Sync + 'static,
) -> OfRecords<T, MI, N, i64>
where
    T: Send + Sync + 'static,
    MI: RecordMetric,
    N: Noise,
{
    let map = noise.map(space.metric.clone(), |d_in| {
        Change::one(&Exact::from(*d_in))
    });
    Measurement::new("count", space, map, move |data, scope| {
        let count = data.iter().filter(|record| predicate(record)).count();
        noisy(count as i128, &noise, scope)
    })
}

/// A range into which values are clamped before they are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    lowest: i64,
    highest: i64,
}

impl Bounds {
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

    pub(crate) fn clamp(&self, value: i64) -> i64 {
        value.clamp(self.lowest, self.highest)
    }

    /// How much one unit of distance moves a sum.
    fn sensitivity<MI: RecordMetric>(&self) -> u64 {
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
/// use measures::SymmetricDistance;
/// use mechanisms::{additive::{Bounds, sum}, samplers::DiscreteGaussian};
/// use odometer::Space;
/// let incomes = Space::any::<Vec<i64>>(SymmetricDistance);
/// let noise = DiscreteGaussian::with_scale(1000u16.into())?;
/// let total = sum(incomes, noise, Bounds::new(0, 1000)?, |income: &i64| *income);
/// assert_eq!(total.map().loss(&1)?.to_string(), "0.5"); // ρ = 1000²/(2·1000²)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sum<T, MI, N>(
    space: RecordSpace<T, MI>,
    noise: N,
    bounds: Bounds,
    value: impl Fn(&T) -> i64 + Send + Sync + 'static,
) -> OfRecords<T, MI, N, i64>
where
    T: Send + Sync + 'static,
    MI: RecordMetric,
    N: Noise,
{
    let sensitivity = bounds.sensitivity::<MI>();
    let map = noise.map(space.metric.clone(), move |d_in| {
        Change::one(&Exact::from(*d_in).times(sensitivity))
    });
    Measurement::new("sum", space, map, move |data, scope| {
        let clamped = data.iter().map(|record| bounds.clamp(value(record)));
        noisy(clamped.map(i128::from).sum(), &noise, scope)
    })
}

/// Counts the records in each of `bins` bins, with noise on every count. A record whose bin is not below `bins` is left
/// out.
///
/// A record changes one bin by one; a replaced one changes two. The author vouches that `bin` looks at nothing but its
/// record and does not panic.
///
/// # Errors
/// [`BuildError::Empty`] without bins.
pub fn histogram<T, MI, N>(
    space: RecordSpace<T, MI>,
    noise: N,
    bins: usize,
    bin: impl Fn(&T) -> usize + Send + Sync + 'static,
) -> Result<OfRecords<T, MI, N, Vec<i64>>, BuildError>
where
    T: Send + Sync + 'static,
    MI: RecordMetric,
    N: Noise,
{
    if bins == 0 {
        return Err(BuildError::Empty { what: "the bins" });
    }
    let map = noise.map(space.metric.clone(), |d_in| histogram_change::<MI>(*d_in));
    Ok(Measurement::new(
        "histogram",
        space,
        map,
        move |data, scope| {
            let mut counts = vec![0i128; bins];
            for record in data.iter() {
                if let Some(count) = counts.get_mut(bin(record)) {
                    *count += 1;
                }
            }
            counts
                .into_iter()
                .map(|count| noisy(count, &noise, scope))
                .collect()
        },
    ))
}
