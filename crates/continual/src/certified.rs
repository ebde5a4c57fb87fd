//! Mechanisms with what their authors vouch for: a loss, and the verification function that it holds for.

use std::{fmt, sync::Arc};

use measures::Measure;
use queryable::{Machine, Scope, coins::Distribution, compose::BoxedMachine, machine};

use crate::verification::{Anything, FirstPairConsistent, SwapSymmetric, VerificationFunction};

/// What the author of a continual mechanism vouches for (\[HSV25\] Def 4.5, the clause that nobody can decide), apart from
/// the function itself: its loss, and what is known of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate<L> {
    loss: L,
    first_pair_consistent: bool,
    swap_symmetric: bool,
}

impl<L> Certificate<L> {
    /// The loss.
    pub const fn loss(&self) -> &L {
        &self.loss
    }

    /// Whether its function is [`FirstPairConsistent`].
    pub const fn is_first_pair_consistent(&self) -> bool {
        self.first_pair_consistent
    }

    /// Whether its function is [`SwapSymmetric`].
    pub const fn is_swap_symmetric(&self) -> bool {
        self.swap_symmetric
    }
}

/// A continual mechanism that can be made again and again: a machine with one initial state, a loss, and the
/// verification function for which its author vouches for that loss.
///
/// ```
/// use odometry::continual::{Certified, EventLevel};
/// use odometry::measures::Epsilon;
/// use odometry::queryable::{Scope, coins::{Bit, Probability}, machine};
/// let lie = Bit::new(Probability::new(1, 4)?);
/// let response = Certified::swap_symmetric("1.0987".parse::<Epsilon>()?, EventLevel::new(), move || {
///     let lie = lie.clone();
///     machine(move |bit: bool, scope: &mut Scope<'_>| Ok(scope.draw(&lie)? ^ bit))
/// });
/// assert!(response.certificate().is_swap_symmetric());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Certified<Q, A, L> {
    certificate: Certificate<L>,
    function: Arc<dyn VerificationFunction<Message = Q>>,
    build: Arc<dyn Fn() -> BoxedMachine<Q, A> + Send + Sync>,
}

impl<Q: 'static, A: 'static, L> Certified<Q, A, L> {
    /// Nothing is known of the function: under [`ApproximateParallel`](crate::ApproximateParallel), such a mechanism
    /// counts with 2δ.
    pub fn new<M>(
        loss: L,
        function: impl VerificationFunction<Message = Q>,
        build: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self
    where
        M: Machine<Query = Q, Answer = A> + 'static,
    {
        Self {
            certificate: Certificate {
                loss,
                first_pair_consistent: false,
                swap_symmetric: false,
            },
            function: Arc::new(function),
            build: Arc::new(move || Box::new(build())),
        }
    }

    /// With a function that is swap-symmetric.
    pub fn swap_symmetric<M>(
        loss: L,
        function: impl SwapSymmetric<Message = Q>,
        build: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self
    where
        M: Machine<Query = Q, Answer = A> + 'static,
    {
        let mut certified = Self::new(loss, function, build);
        certified.certificate.swap_symmetric = true;
        certified
    }

    /// With a function that is first-pair consistent.
    pub fn first_pair_consistent<M>(
        loss: L,
        function: impl FirstPairConsistent<Message = Q>,
        build: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self
    where
        M: Machine<Query = Q, Answer = A> + 'static,
    {
        let mut certified = Self::new(loss, function, build);
        certified.certificate.first_pair_consistent = true;
        certified
    }

    /// What its author vouches for.
    pub const fn certificate(&self) -> &Certificate<L> {
        &self.certificate
    }

    /// The function that the loss holds for.
    pub fn function(&self) -> &dyn VerificationFunction<Message = Q> {
        &*self.function
    }

    /// The mechanism, in its initial state.
    pub fn build(&self) -> BoxedMachine<Q, A> {
        (self.build)()
    }
}

/// Coins as a mechanism: whatever it is sent, it draws anew. Its answers do not depend on data, so it costs nothing
/// (\[HSV25\] §6: where a composite mechanism gets its randomness).
pub fn coins<Q, A, M, D>(
    measure: &M,
    distribution: D,
    answer: fn(D::Outcome) -> A,
) -> Certified<Q, A, M::Loss>
where
    Q: 'static,
    A: 'static,
    M: Measure,
    D: Distribution + Clone + Send + Sync + 'static,
{
    Certified::swap_symmetric(measure.zero(), Anything::new(), move || {
        let distribution = distribution.clone();
        machine(move |_: Q, scope: &mut Scope<'_>| scope.draw(&distribution).map(answer))
    })
}

impl<Q, A, L: Clone> Clone for Certified<Q, A, L> {
    fn clone(&self) -> Self {
        Self {
            certificate: self.certificate.clone(),
            function: Arc::clone(&self.function),
            build: Arc::clone(&self.build),
        }
    }
}

impl<Q, A, L: fmt::Debug> fmt::Debug for Certified<Q, A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certified({:?})", self.certificate)
    }
}
