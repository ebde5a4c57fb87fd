//! The accountant: mechanisms with counts in, certified ε and δ out.

use dashu_ratio::RBig;
use exact::{Exact, Parameter, Round};
use measures::Promise;

use crate::AccountantError;
use crate::direction::Direction;
use crate::mechanism::Mechanism;
use crate::promised::Countable;
use crate::relation::Relation;

/// Mechanisms that are fixed in advance, and what they reveal together.
///
/// Every answer is an upper bound with a proof (`docs/accountant.md`): discretisation can only add, truncation and rounding
/// are bounded and added. In most cases it is within a relative `1e-4` of the least ε, at any δ.
///
/// Hypotheses:
/// - Which mechanisms run, and how often, is decided before the first of them runs. So this is for planning, calibration and
///   [compositors](crate::CertifiedApprox), never for filters. Concurrent interleaving is as for
///   [`Optimal`](measures::fixed::Optimal): with finite communication.
/// - All of them are about the same pair of neighbouring data sets. The accountant checks the metric of measurements, which are
///   taken at distance 1: one of another metric is [`AccountantError::Metrics`]. A [`Mechanism`] has no metric: you vouch that its
///   pair is valid for the neighbouring data that you mean.
///
/// ```
/// use odometry::accountant::{Accountant, Mechanism};
/// let counts = Mechanism::laplace("1", "10")?;
/// let accountant = Accountant::new().add(counts, 1000);
/// let epsilon = accountant.epsilon("1e-6")?;
/// assert!(epsilon >= "18.950286".parse()? && epsilon < "18.9503".parse()?);
/// assert!(accountant.delta(&epsilon)? <= "1.001e-6".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Accountant {
    items: Vec<(Mechanism, u64)>,
    /// The neighbouring data of the measurements among them; `None` if there are only plain mechanisms.
    relation: Option<Relation>,
}

impl Accountant {
    /// Nothing yet: no loss.
    pub fn new() -> Accountant {
        Accountant::default()
    }

    /// With `count` more runs of this, each with its own coins: a [`Mechanism`], or a measurement at distance 1 of its metric (by
    /// reference; then there may be an error).
    ///
    /// ```
    /// use odometry::accountant::Accountant;
    /// use odometry::mechanisms::{additive::count, samplers::DiscreteLaplace};
    /// use odometry::prelude::*;
    /// let adults = count(Records::<u8>::new(), DiscreteLaplace::new(10)?, |age| *age >= 18);
    /// let together = Accountant::new().add(&adults, 1000)?;
    /// // By its ε alone, randomized response is the worst case; for a count it is the case.
    /// assert!(together.epsilon("1e-6")? < "19.3447".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Measurements of two metrics are refused, because no ε is valid for both. A claim about another distance can be added as
    /// a mechanism, and you vouch for it. Here, a replaced record is one removed and one added:
    ///
    /// ```
    /// use odometry::accountant::{Accountant, AccountantError, Mechanism};
    /// use odometry::mechanisms::{additive::histogram, samplers::DiscreteLaplace};
    /// use odometry::prelude::*;
    /// let added = histogram(Records::<usize>::new(), DiscreteLaplace::new(1)?, 2, |x| *x)?;
    /// let replaced = histogram(Records::<usize>::replaced(), DiscreteLaplace::new(1)?, 2, |x| *x)?;
    /// let ten = Accountant::new().add(&replaced, 10)?;
    /// assert!(matches!(ten.clone().add(&added, 10), Err(AccountantError::Metrics { .. })));
    /// let all = ten.add(Mechanism::of(&added, &2)?, 10); // two records: 10·2 + 10·2
    /// assert!(all.epsilon("0")? >= "40".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn add<C: Countable>(self, mechanism: C, count: u64) -> C::Made {
        mechanism.add_to(self, count)
    }

    /// For the neighbouring data of one more measurement, if they are those of the others.
    pub(crate) fn related<P: Promise>(mut self, promise: &P) -> Result<Self, AccountantError> {
        self.relation = Some(Relation::with(self.relation.as_ref(), promise)?);
        Ok(self)
    }

    pub(crate) fn with(mut self, mechanism: Mechanism, count: u64) -> Accountant {
        if count > 0 {
            self.items.push((mechanism, count));
        }
        self
    }

    /// An ε at which δ is at most `delta`, rounded up: the least one up to what the method adds. Infinite if there is none,
    /// at δ = 0 the sum of the largest losses. δ above 1 is an error.
    pub fn epsilon(&self, delta: impl Parameter) -> Result<Exact, AccountantError> {
        let delta = &AccountantError::read("δ", delta, Round::Down)?;
        let target = delta.to_rational().filter(|delta| *delta <= RBig::ONE);
        let target =
            target.ok_or_else(|| AccountantError::parameter("δ", delta, "between 0 and 1"))?;
        if target == RBig::ONE {
            return Ok(Exact::ZERO);
        }
        let mut worst = Exact::ZERO;
        for direction in self.directions()? {
            worst = worst.max(direction.epsilon(&target));
        }
        Ok(worst)
    }

    /// δ at this ε, rounded up.
    pub fn delta(&self, epsilon: impl Parameter) -> Result<Exact, AccountantError> {
        let mut curve = self.curve([epsilon])?;
        Ok(curve.pop().map_or(Exact::ONE, |(_, delta)| delta))
    }

    /// δ at each of these ε, rounded up; one contour serves neighbouring ε.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let step = Mechanism::poisson_gaussian("0.01", "1")?;
    /// let accountant = Accountant::new().add(step, 1000);
    /// let curve = accountant.curve(["1", "2", "4"])?;
    /// assert!(curve.windows(2).all(|pair| pair[1].1 < pair[0].1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn curve(
        &self,
        epsilons: impl IntoIterator<Item: Parameter>,
    ) -> Result<Vec<(Exact, Exact)>, AccountantError> {
        let read = |epsilon| AccountantError::read("ε", epsilon, Round::Down);
        let epsilons: Vec<Exact> = epsilons.into_iter().map(read).collect::<Result<_, _>>()?;
        // From left to right, so that contours are shared.
        let mut order: Vec<usize> = (0..epsilons.len()).collect();
        order.sort_by(|a, b| epsilons[*a].cmp(&epsilons[*b]));
        let sorted: Vec<&Exact> = order.iter().map(|i| &epsilons[*i]).collect();
        let mut deltas = vec![Exact::ZERO; epsilons.len()];
        for direction in self.directions()? {
            for (i, delta) in order.iter().zip(direction.deltas(&sorted)) {
                deltas[*i] = delta.max(deltas[*i].clone());
            }
        }
        Ok(epsilons.into_iter().zip(deltas).collect())
    }

    /// Both directions, or one where they look the same.
    fn directions(&self) -> Result<Vec<Direction>, AccountantError> {
        let total: u128 = self.items.iter().map(|(_, count)| u128::from(*count)).sum();
        if total > 1 << 63 {
            return Err(AccountantError::TooMany);
        }
        let mut all = vec![Direction::new(
            self.items.iter().map(|(m, n)| (&m.forward, *n)),
        )];
        if self.items.iter().any(|(m, _)| m.backward.is_some()) {
            let other = self.items.iter().map(|(m, n)| (m.sides()[1], *n));
            all.push(Direction::new(other));
        }
        Ok(all)
    }
}
