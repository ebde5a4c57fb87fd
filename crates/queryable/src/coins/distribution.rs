//! Distributions that can be sampled and enumerated, and the three that everything else is built from.
//!
//! Sampling is exact: a uniform real is drawn 64 bits at a time and compared with exact rationals until it is clear on
//! which side it lies. No floating point decides an outcome. Timing is not constant and not claimed to be.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use rand_core::Rng;
use thiserror::Error;

use super::probability::Probability;

/// A distribution that a machine may draw from.
///
/// `sample` and the enumeration must describe the same law: the first runs in production, the second is what an
/// auditor checks. [`laws`](super::laws) checks that they do: run it on distributions of your own. A distribution with infinitely many outcomes enumerates the first of them and bounds the rest by
/// [`missing`](Self::missing).
///
/// ```
/// use odometry::queryable::coins::{Distribution, Probability, Rng};
///
/// /// How often a fair coin falls heads before the first tails; the first ten outcomes are enumerated.
/// struct Heads;
///
/// impl Distribution for Heads {
///     type Outcome = u32;
///     fn sample(&self, bits: &mut dyn Rng) -> u32 {
///         let mut heads = 0;
///         loop {
///             match bits.next_u64() {
///                 0 => heads += 64,
///                 word => return heads + word.trailing_zeros(),
///             }
///         }
///     }
///     fn arity(&self) -> usize { 10 }
///     fn outcome(&self, index: usize) -> (u32, Probability) {
///         let one_in = |n| Probability::new(1, n).unwrap_or(Probability::ZERO);
///         (index as u32, one_in(2 << index))
///     }
///     fn missing(&self) -> Probability {
///         Probability::new(1, 1 << 10).unwrap_or(Probability::ZERO)
///     }
/// }
///
/// let all = odometry::queryable::coins::enumerate(10, |script| {
///     odometry::queryable::Root::scripted(script).run([], |scope| scope.draw(&Heads))
/// })?;
/// assert_eq!(all.missing, Probability::new(1, 1024)?);
/// assert_eq!(all.law()[&Ok(3)], Probability::new(1, 16)?.to_rational());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Distribution {
    /// What is drawn.
    type Outcome;

    /// Draws from random bits.
    fn sample(&self, bits: &mut dyn Rng) -> Self::Outcome;

    /// How many outcomes are enumerated. At least one.
    fn arity(&self) -> usize;

    /// The outcome with this number, below [`arity`](Self::arity), and its exact probability.
    fn outcome(&self, index: usize) -> (Self::Outcome, Probability);

    /// The probability of everything that is not enumerated: the enumerated probabilities and this sum to one.
    fn missing(&self) -> Probability {
        Probability::ZERO
    }
}

/// Finds the cell of a partition of `[0, 1)` in which a uniform real lies.
#[derive(Clone, Debug)]
struct Partition {
    /// The inner boundaries, ascending.
    boundaries: Box<[RBig]>,
    /// `floor(boundary * 2^64)`: one word decides almost always.
    words: Box<[u128]>,
}

impl Partition {
    fn new(boundaries: Vec<RBig>) -> Self {
        let words = boundaries.iter().map(first_word).collect();
        Self {
            boundaries: boundaries.into(),
            words,
        }
    }

    fn locate(&self, bits: &mut dyn Rng) -> usize {
        let word = u128::from(bits.next_u64());
        let below = self.words.partition_point(|&b| b < word);
        if self.words.get(below) != Some(&word) {
            return below;
        }
        self.locate_longer(UBig::from(word), bits)
    }

    /// The first word fell into the same 2^-64 as a boundary: draw on until no boundary lies strictly inside.
    fn locate_longer(&self, mut drawn: UBig, bits: &mut dyn Rng) -> usize {
        let mut length = 64;
        loop {
            if let Some(index) = self.decided(&drawn, length) {
                return index;
            }
            drawn = (drawn << 64) + UBig::from(bits.next_u64());
            length += 64;
        }
    }

    /// The cell of `[drawn, drawn + 1) / 2^length`, if it lies in one.
    fn decided(&self, drawn: &UBig, length: usize) -> Option<usize> {
        let scale = UBig::ONE << length;
        let low = RBig::from_parts(drawn.clone().into(), scale.clone());
        let high = RBig::from_parts((drawn + UBig::ONE).into(), scale);
        let index = self.boundaries.partition_point(|b| *b <= low);
        let next = self.boundaries.get(index);
        next.is_none_or(|b| *b >= high).then_some(index)
    }
}

/// `floor(value * 2^64)`, for a value between zero and one.
fn first_word(value: &RBig) -> u128 {
    let scaled = value.numerator().clone() << 64;
    let floor = scaled / IBig::from(value.denominator().clone());
    u128::try_from(floor).unwrap_or(0)
}

/// A biased bit.
///
/// ```
/// use odometry::queryable::{Root, coins::{Bit, Probability}, machine};
/// let third = Bit::new(Probability::new(1, 3)?);
/// let flips = Root::seeded([1; 32]).spawn(machine(move |(), scope| scope.draw(&third)))?;
/// let ones = (0..9000).filter(|_| flips.ask(()) == Ok(true)).count();
/// assert!((2700..3300).contains(&ones));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bit {
    zero: Probability,
    one: Probability,
    partition: Partition,
}

impl Bit {
    /// A bit that is `true` with probability `one`.
    pub fn new(one: Probability) -> Self {
        let partition = Partition::new(vec![one.to_rational()]);
        Self {
            zero: one.complement(),
            one,
            partition,
        }
    }

    /// A fair bit.
    pub fn fair() -> Self {
        Self::new(Probability::one_in(2))
    }
}

impl Distribution for Bit {
    type Outcome = bool;

    fn sample(&self, bits: &mut dyn Rng) -> bool {
        self.partition.locate(bits) == 0
    }

    #[inline]
    fn arity(&self) -> usize {
        2
    }

    #[inline]
    fn outcome(&self, index: usize) -> (bool, Probability) {
        match index {
            0 => (false, self.zero.clone()),
            _ => (true, self.one.clone()),
        }
    }
}

/// A distribution that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum DistributionError {
    /// There is nothing to draw.
    #[error("a distribution needs at least one outcome")]
    Empty,
    /// The weights are not a distribution.
    #[error("the probabilities sum to {:.40}, not to 1", .sum.to_string())]
    NotNormalized {
        /// Their sum.
        sum: RBig,
    },
}

/// A number below `n`, all equally likely.
#[derive(Clone, Debug)]
pub struct Uniform {
    n: u64,
}

impl Uniform {
    /// Uniform over `0..n`.
    pub fn below(n: u64) -> Result<Self, DistributionError> {
        if n == 0 {
            return Err(DistributionError::Empty);
        }
        Ok(Self { n })
    }
}

impl Distribution for Uniform {
    type Outcome = u64;

    /// The high word of `word * n` is uniform once the `2^64 mod n` low products that would favour some are redrawn.
    fn sample(&self, bits: &mut dyn Rng) -> u64 {
        let favoured = self.n.wrapping_neg() % self.n;
        loop {
            let product = u128::from(bits.next_u64()) * u128::from(self.n);
            if product as u64 >= favoured {
                return (product >> 64) as u64;
            }
        }
    }

    fn arity(&self) -> usize {
        usize::try_from(self.n).unwrap_or(usize::MAX)
    }

    fn outcome(&self, index: usize) -> (u64, Probability) {
        (index as u64, Probability::one_in(self.n))
    }
}

/// Finitely many outcomes with exact probabilities.
#[derive(Clone, Debug)]
pub struct Categorical<T> {
    outcomes: Vec<(T, Probability)>,
    partition: Partition,
}

impl<T> Categorical<T> {
    /// Each outcome with its probability; they must sum to one exactly.
    ///
    /// ```
    /// use odometry::queryable::coins::{Categorical, Probability};
    /// let p = |n, d| Probability::new(n, d);
    /// assert!(Categorical::new(vec![('a', p(1, 3)?), ('b', p(2, 3)?)]).is_ok());
    /// assert!(Categorical::new(vec![('a', p(1, 3)?), ('b', p(1, 3)?)]).is_err());
    /// # Ok::<(), odometry::queryable::coins::NotAProbability>(())
    /// ```
    pub fn new(outcomes: Vec<(T, Probability)>) -> Result<Self, DistributionError> {
        if outcomes.is_empty() {
            return Err(DistributionError::Empty);
        }
        let mut sum = RBig::ZERO;
        let mut boundaries = Vec::with_capacity(outcomes.len());
        for (_, probability) in &outcomes {
            sum += probability.to_rational();
            boundaries.push(sum.clone());
        }
        if sum != RBig::ONE {
            return Err(DistributionError::NotNormalized { sum });
        }
        boundaries.pop();
        Ok(Self {
            outcomes,
            partition: Partition::new(boundaries),
        })
    }
}

impl<T: Clone> Distribution for Categorical<T> {
    type Outcome = T;

    fn sample(&self, bits: &mut dyn Rng) -> T {
        self.outcomes[self.partition.locate(bits)].0.clone()
    }

    fn arity(&self) -> usize {
        self.outcomes.len()
    }

    fn outcome(&self, index: usize) -> (T, Probability) {
        self.outcomes[index].clone()
    }
}
