//! Cutting a budget into equal parts that can all be spent.

use exact::{Exact, Round};

use crate::{Epsilon, EpsilonDelta, Loss, Mu, MuDelta, RenyiCurve, RenyiEpsilon, Rho, RhoDelta};

/// A loss that can be cut into `n` equal parts which compose to at most the whole: by addition ([`Basic`](crate::Basic)),
/// and in quadrature for [`Mu`] ([`GaussianComposition`](crate::adaptive::GaussianComposition)).
///
/// A third has no finite decimal, and a loss that enters is rounded up: three charges of `Exact::ratio(1, 3)` pass a
/// budget of 1. A part is rounded down.
///
/// ```
/// use odometry::measures::{Basic, Epsilon, FilterRule, PureDp, Split, Tallied, Tally};
/// let budget: Epsilon = "1".parse()?;
/// let rule = Basic::new(PureDp);
/// let gate = rule.open(&budget)?;
/// let spent = rule.start().after(&budget.split(3), 3);
/// assert!(rule.fits(&gate, &spent));
/// assert_eq!(budget.split(4), "0.25".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Split: Loss {
    /// One of `n` equal parts. All of them together lose less than a relative `2^-127` of every coordinate
    /// ([`Exact::split`](exact::Exact::split)), of μ less than `2^-60`. One part is the whole itself; for `n = 0` there are no parts, and the
    /// least loss is returned.
    fn split(&self, n: u64) -> Self;
}

/// One of `n` equal parts, rounded down, also to the grid on which losses are added up: so it is charged as it is.
fn part(whole: &Exact, n: u64) -> Exact {
    match n {
        1 => whole.clone(),
        _ => whole.split(n).on_grid(Round::Down).into_owned(),
    }
}

impl Split for Epsilon {
    fn split(&self, n: u64) -> Self {
        Epsilon::new(part(self.value(), n))
    }
}

impl Split for Rho {
    fn split(&self, n: u64) -> Self {
        Rho::new(part(self.value(), n))
    }
}

/// `μ/√n`, since squares add up.
impl Split for Mu {
    fn split(&self, n: u64) -> Self {
        match n {
            1 => self.clone(),
            _ => Mu::new(self.value().pow(2, Round::Down).split(n).sqrt(Round::Down)),
        }
    }
}

/// `(ε/n, δ/n)`. (Infinity stays infinity: its ε does, and then δ does not count.)
impl Split for EpsilonDelta {
    fn split(&self, n: u64) -> Self {
        EpsilonDelta::saturating(part(self.epsilon(), n), part(self.delta(), n))
    }
}

/// `(ρ/n, δ/n)`. (Infinity stays infinity: its ρ does, and then δ does not count.)
impl Split for RhoDelta {
    fn split(&self, n: u64) -> Self {
        RhoDelta::saturating(part(self.rho(), n), part(self.delta(), n))
    }
}

/// `(μ/√n, δ/n)`. (Infinity stays infinity: its μ does, and then δ does not count.)
impl Split for MuDelta {
    fn split(&self, n: u64) -> Self {
        let mu = Mu::new(self.mu().clone()).split(n);
        MuDelta::saturating(mu.into_value(), part(self.delta(), n))
    }
}

/// At the same order.
impl Split for RenyiEpsilon {
    fn split(&self, n: u64) -> Self {
        self.with_epsilon(part(self.epsilon(), n))
    }
}

/// At every order.
impl Split for RenyiCurve {
    fn split(&self, n: u64) -> Self {
        self.map(|_, epsilon| part(epsilon, n))
    }
}
