//! What a composition may cost: which mechanisms may be created, and which of them may get differing pairs. Each kind of
//! allowance is a theorem of \[HSV25\], and gives its price.

use exact::{Exact, Round};
use measures::{
    Adaptive, ApproxDp, Epsilon, EpsilonDelta, FixedRule, Loss, PureDp, Tallied, Tally,
    adaptive::ImprovedBasic,
};
use serde::{Deserialize, Serialize};

use crate::{
    certified::Certificate,
    error::{AllowanceError, PriceError},
    slots::Slots,
};

/// What is left of what a composition may cost. What is refused has changed nothing.
pub trait Allowance: Clone + Send + Sync + 'static {
    /// The losses of the mechanisms.
    type Loss: Loss;

    /// One mechanism more.
    ///
    /// # Errors
    /// [`AllowanceError`].
    fn create(&mut self, certificate: &Certificate<Self::Loss>) -> Result<(), AllowanceError>;

    /// The first differing pair for a mechanism that was created.
    ///
    /// # Errors
    /// [`AllowanceError`].
    fn differ(&mut self, certificate: &Certificate<Self::Loss>) -> Result<(), AllowanceError>;
}

/// No limit: what a composition costs must be known otherwise.
#[derive(Debug, PartialEq, Eq)]
pub struct Unlimited<L>(std::marker::PhantomData<fn() -> L>);

impl<L> Unlimited<L> {
    /// No limit.
    pub const fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<L> Default for Unlimited<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L> Clone for Unlimited<L> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl<L: Loss> Allowance for Unlimited<L> {
    type Loss = L;

    fn create(&mut self, _: &Certificate<L>) -> Result<(), AllowanceError> {
        Ok(())
    }

    fn differ(&mut self, _: &Certificate<L>) -> Result<(), AllowanceError> {
        Ok(())
    }
}

/// Fixed parameters: every mechanism takes a slot when it is created (\[HSV25\] Def 4.11, Thm 4.12; Cor 13.4 for Rényi and
/// zCDP; Cor 14.7 for f-DP). Which mechanisms, and in which order, may depend on answers.
///
/// The price is that of the [`slots`](Self::slots). Thm 4.12 asks for countable answers and ε > 0; with the rules of
/// `measures`, whose children interleave under finite communication, neither is needed.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedParameters<L>(Slots<L>);

impl<L: Loss> FixedParameters<L> {
    /// These slots.
    pub fn new(losses: Vec<L>) -> Self {
        Self(Slots::new(losses))
    }

    /// The slots: what they cost is what the composition costs.
    pub const fn slots(&self) -> &Slots<L> {
        &self.0
    }
}

impl<L: Loss> Allowance for FixedParameters<L> {
    type Loss = L;

    fn create(&mut self, certificate: &Certificate<L>) -> Result<(), AllowanceError> {
        self.0.take(certificate.loss()).map(drop)
    }

    fn differ(&mut self, _: &Certificate<L>) -> Result<(), AllowanceError> {
        Ok(())
    }
}

/// Pure mechanisms in parallel, with updates: any number may be created, and those that get differing pairs take slots
/// (\[HSV25\] Cor 5.5). For k slots this is k-sparse parallel composition. The price is that of the [`slots`](Self::slots).
#[derive(Clone, Debug, PartialEq)]
pub struct PureParallel(Slots<Epsilon>);

impl PureParallel {
    /// These slots.
    pub fn new(losses: Vec<Epsilon>) -> Self {
        Self(Slots::new(losses))
    }

    /// The slots: what they cost is what the composition costs.
    pub const fn slots(&self) -> &Slots<Epsilon> {
        &self.0
    }
}

impl Allowance for PureParallel {
    type Loss = Epsilon;

    fn create(&mut self, _: &Certificate<Epsilon>) -> Result<(), AllowanceError> {
        Ok(())
    }

    fn differ(&mut self, certificate: &Certificate<Epsilon>) -> Result<(), AllowanceError> {
        self.0.take(certificate.loss()).map(drop)
    }
}

/// Mechanisms in parallel whose functions are first-pair consistent, static data above all: any number may be created,
/// and those that get differing pairs take slots (\[HSV25\] Thm 5.14, Cor 5.15; Thm 13.6 for Rényi and zCDP; Cor 14.8 for
/// f-DP). The price is that of the [`slots`](Self::slots), whatever else was created.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsistentParallel<L>(Slots<L>);

impl<L: Loss> ConsistentParallel<L> {
    /// These slots.
    pub fn new(losses: Vec<L>) -> Self {
        Self(Slots::new(losses))
    }

    /// The slots: what they cost is what the composition costs.
    pub const fn slots(&self) -> &Slots<L> {
        &self.0
    }
}

impl<L: Loss> Allowance for ConsistentParallel<L> {
    type Loss = L;

    fn create(&mut self, certificate: &Certificate<L>) -> Result<(), AllowanceError> {
        match certificate.is_first_pair_consistent() {
            true => Ok(()),
            false => Err(AllowanceError::NotFirstPairConsistent),
        }
    }

    fn differ(&mut self, certificate: &Certificate<L>) -> Result<(), AllowanceError> {
        self.0.take(certificate.loss()).map(drop)
    }
}

/// The failure probabilities of everything that was created, bounded by a δ′ fixed in advance: `1 − Π(1 − δ_j) ≤ δ′`
/// (\[HSV25\] Def 5.3).
///
/// The product is kept, rounded down where it no longer fits into 128 bits, and so is the exact sum of the δ_j, which is
/// never below: an exact fit is a fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaks {
    survival: Exact,
    sum: Exact,
    most: Exact,
}

impl Leaks {
    /// Nothing was created yet. A bound of one and more bounds nothing.
    pub const fn new(most: Exact) -> Self {
        Self {
            survival: Exact::ONE,
            sum: Exact::ZERO,
            most,
        }
    }

    /// The bound δ′.
    pub const fn most(&self) -> &Exact {
        &self.most
    }

    /// `1 − Π(1 − δ_j)` of what was created, rounded up.
    pub fn so_far(&self) -> Exact {
        let product = complement(&self.survival);
        if product < self.sum {
            product
        } else {
            self.sum.clone()
        }
    }

    /// One mechanism more: with its δ if the function of its certificate is swap-symmetric or first-pair consistent,
    /// with 2δ otherwise.
    ///
    /// # Errors
    /// [`AllowanceError::Leak`], and nothing has changed.
    pub fn create(
        &mut self,
        certificate: &Certificate<EpsilonDelta>,
    ) -> Result<(), AllowanceError> {
        let delta = certificate.loss().delta();
        let known = certificate.is_swap_symmetric() || certificate.is_first_pair_consistent();
        match known {
            true => self.add(delta),
            false => self.add(&delta.times(2)),
        }
    }

    /// One mechanism more that counts with this δ.
    pub(crate) fn add(&mut self, counted: &Exact) -> Result<(), AllowanceError> {
        let next = Self {
            survival: self.survival.mul(&complement(counted), Round::Down),
            sum: self.sum.plus_on_grid(counted),
            most: self.most.clone(),
        };
        let would = next.so_far();
        if would > self.most {
            return Err(AllowanceError::Leak {
                would: would.to_string(),
                most: self.most.to_string(),
            });
        }
        *self = next;
        Ok(())
    }
}

/// `1 − x`, at least zero. Exact.
fn complement(x: &Exact) -> Exact {
    Exact::ONE.checked_sub(x).unwrap_or(Exact::ZERO)
}

/// Approximate mechanisms in parallel, with updates: those that get differing pairs take slots with their ε, and the δ of
/// *all* that were created count, whether they get a differing pair or not (\[HSV25\] Thm 5.4).
///
/// An adversary sends identical pairs to many mechanisms, waits for one of them to fail, and only then sends it the pair
/// that differs: so every mechanism counts ([`Leaks`]). And Thm 5.4 is false as printed: the simulator decides, when an
/// identical pair comes, how much of its δ to spend on which answer, before it knows which half will matter. If the
/// function is swap-symmetric, both halves matter equally, and δ is enough; otherwise 2δ is (derived here: the leak that
/// is needed is at most the sum of what the two directions need). A function that is first-pair consistent shows at its
/// first pair whether it will matter, and δ is enough, too.
#[derive(Clone, Debug, PartialEq)]
pub struct ApproximateParallel {
    slots: Slots<Epsilon>,
    leaks: Leaks,
}

impl ApproximateParallel {
    /// These slots, and this δ′ for everything that is created.
    pub fn new(epsilons: Vec<Epsilon>, delta: Exact) -> Self {
        Self {
            slots: Slots::new(epsilons),
            leaks: Leaks::new(delta),
        }
    }

    /// The slots.
    pub const fn slots(&self) -> &Slots<Epsilon> {
        &self.slots
    }

    /// What was created so far.
    pub const fn leaks(&self) -> &Leaks {
        &self.leaks
    }

    /// The price `(Σε, δ′)`.
    pub fn basic(&self) -> EpsilonDelta {
        let sum = |sum: Exact, slot: &Epsilon| &sum + slot.value();
        let epsilon = self.slots.losses().fold(Exact::ZERO, sum);
        EpsilonDelta::saturating(epsilon, self.leaks.most.clone())
    }

    /// The price by a rule for pure losses fixed in advance: `(ε, 1 − (1 − δ)(1 − δ′))` if it gives (ε, δ).
    ///
    /// # Errors
    /// [`PriceError`].
    pub fn compose<R>(&self, rule: &R) -> Result<EpsilonDelta, PriceError>
    where
        R: FixedRule<Child = PureDp, Total = ApproxDp>,
    {
        let slots = self.slots.compose(rule)?;
        let leaks = EpsilonDelta::saturating(Exact::ZERO, self.leaks.most.clone());
        let both = ImprovedBasic.start().after(&slots, 1).after(&leaks, 1);
        Ok(ImprovedBasic.loss(&both).bound().clone())
    }
}

impl Allowance for ApproximateParallel {
    type Loss = EpsilonDelta;

    fn create(&mut self, certificate: &Certificate<EpsilonDelta>) -> Result<(), AllowanceError> {
        self.leaks.create(certificate)
    }

    fn differ(&mut self, certificate: &Certificate<EpsilonDelta>) -> Result<(), AllowanceError> {
        let epsilon = Epsilon::new(certificate.loss().epsilon().clone());
        self.slots.take(&epsilon).map(drop)
    }
}
