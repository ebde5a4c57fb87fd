//! Basic composition: losses add up. One rule for all measures in which that is a theorem for adaptively chosen losses.

use super::tally::{add_times, larger};
use crate::losses::{
    ApproxDp, ApproxZcdp, Epsilon, EpsilonDelta, PureDp, RenyiCurve, RenyiCurveDp, RenyiDp,
    RenyiEpsilon, Rho, RhoDelta, Zcdp,
};
use crate::{Adaptive, Interleaving, Loss, Measure, Rule, Tallied, Tally, Total, TotalLoss};
use exact::Exact;

/// A measure in which adaptively chosen losses add up, by a theorem that its author can name. It gets the rule
/// [`Basic`], and with it odometers and filters.
///
/// A measure of one's own, for instance the number of bits that answers have:
///
/// ```
/// use measures::{Additive, Basic, FilterRule, Loss, Measure, Tallied, Tally, laws};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Bits(Option<u64>); // none: no guarantee
///
/// impl std::fmt::Display for Bits {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "{:?} bits", self.0)
///     }
/// }
///
/// impl Loss for Bits {
///     fn at_most(&self, other: &Self) -> bool {
///         other.0.is_none() || self.0.is_some() && self.0 <= other.0
///     }
/// }
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct AnswerLength;
///
/// impl Measure for AnswerLength {
///     type Loss = Bits;
///     fn zero(&self) -> Bits { Bits(Some(0)) }
///     fn infinity(&self) -> Bits { Bits(None) }
/// }
///
/// impl Additive for AnswerLength {
///     fn add(&self, sum: &mut Bits, loss: &Bits, n: u64) {
///         if n > 0 {
///             let more = loss.0.and_then(|bits| bits.checked_mul(n));
///             sum.0 = sum.0.zip(more).and_then(|(sum, more)| sum.checked_add(more));
///         }
///     }
///     fn join(&self, one: &mut Bits, other: &Bits) {
///         if one.at_most(other) { *one = other.clone() }
///     }
///     fn difference(&self, limit: &Bits, sum: &Bits) -> Option<Bits> {
///         Some(Bits(Some(limit.0?.checked_sub(sum.0?)?)))
///     }
/// }
///
/// let samples = [Bits(Some(1)), Bits(Some(64)), Bits(None)];
/// let rule = Basic::new(AnswerLength);
/// laws::check_measure(&AnswerLength, &samples)?;
/// laws::check_filter(&rule, &samples, &samples)?;
/// let gate = rule.open(&Bits(Some(100)))?;
/// let once = rule.start().after(&Bits(Some(64)), 1);
/// assert_eq!(rule.remaining(&gate, &once), Some(Bits(Some(36))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Additive: Measure {
    /// How children may be asked: sequential, unless the measure's author can name a theorem for more.
    const INTERLEAVING: Interleaving = Interleaving::Sequential;

    /// `sum + n·loss`, exactly. A loss that does not belong to the measure makes the sum infinite.
    fn add(&self, sum: &mut Self::Loss, loss: &Self::Loss, n: u64);

    /// The same as a new value. Overridden where that saves a copy: it is what every launch under a filter does.
    #[inline]
    fn plus(&self, sum: &Self::Loss, loss: &Self::Loss, n: u64) -> Self::Loss {
        let mut sum = sum.clone();
        self.add(&mut sum, loss, n);
        sum
    }

    /// The least loss that is at least both.
    fn join(&self, one: &mut Self::Loss, other: &Self::Loss);

    /// The largest loss with `sum + loss ≤ limit`, or `None` if there is none. `limit` is not
    /// [infinity](Measure::infinity).
    fn difference(&self, limit: &Self::Loss, sum: &Self::Loss) -> Option<Self::Loss>;
}

/// Basic composition: the total is the sum of the losses, exactly. Valid as an accumulator (truncated view, 000 Def 2.11)
/// and a filter, for children chosen adaptively in all their parameters.
///
/// | measure | theorem | interleaving |
/// |---|---|---|
/// | [`PureDp`] | 004 Thm 3.6, 000 Thm 1.19 | concurrent |
/// | [`ApproxDp`] | 004 Thm 3.6 (its filter's δ′_g is δ_g), 000 Thm 1.19 | concurrent, finite communication |
/// | [`RenyiDp`] | 000 Thm 4.4, 4.7 | concurrent |
/// | [`RenyiCurveDp`] | the same, at each order; within a budget only if *every* order is | concurrent |
/// | [`Zcdp`] | the same, at all orders | concurrent |
/// | [`ApproxZcdp`] | Whitehouse et al. 2023 | sequential: no concurrent theorem is known |
///
/// ```
/// use measures::{Adaptive, ApproxDp, Basic, Tallied, Tally};
/// let rule = Basic::new(ApproxDp);
/// let mut tally = rule.start();
/// tally.absorb(&"(0.1, 1e-9)".parse()?, 1000);
/// assert_eq!(rule.loss(&tally).bound(), &"(100, 1e-6)".parse()?);
/// # Ok::<(), measures::LossError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Basic<M>(M);

impl<M: Additive> Basic<M> {
    /// Basic composition in this measure.
    pub const fn new(measure: M) -> Self {
        Basic(measure)
    }
}

impl<M: Additive> Rule for Basic<M> {
    type Child = M;
    type Total = M;
    const INTERLEAVING: Interleaving = M::INTERLEAVING;

    fn child(&self) -> M {
        self.0.clone()
    }

    fn total(&self) -> M {
        self.0.clone()
    }
}

impl<M: Additive> Tallied for Basic<M> {
    type Tally = Sum<M>;

    fn start(&self) -> Sum<M> {
        Sum {
            measure: self.0.clone(),
            sum: self.0.zero(),
        }
    }
}

impl<M: Additive> Adaptive for Basic<M> {
    fn loss(&self, tally: &Sum<M>) -> Total<TotalLoss<Self>> {
        Total::new(tally.sum.clone())
    }

    #[inline]
    fn within(&self, tally: &Sum<M>, limit: &M::Loss) -> bool {
        tally.sum.at_most(limit)
    }

    fn room(&self, tally: &Sum<M>, limit: &M::Loss) -> Option<M::Loss> {
        let infinity = self.0.infinity();
        if infinity.at_most(limit) {
            return Some(infinity);
        }
        self.0.difference(limit, &tally.sum)
    }
}

/// The exact sum of the losses absorbed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum<M: Measure> {
    measure: M,
    sum: M::Loss,
}

impl<M: Additive> Tally for Sum<M> {
    type Loss = M::Loss;

    #[inline]
    fn absorb(&mut self, loss: &M::Loss, n: u64) {
        self.measure.add(&mut self.sum, loss, n);
    }

    #[inline]
    fn after(&self, loss: &M::Loss, n: u64) -> Self {
        Sum {
            measure: self.measure.clone(),
            sum: self.measure.plus(&self.sum, loss, n),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.measure.add(&mut self.sum, &other.sum, 1);
    }

    fn join(&mut self, other: &Self) {
        self.measure.join(&mut self.sum, &other.sum);
    }
}

macro_rules! scalar_sums {
    ($($measure:ty, $loss:ident;)*) => {$(
        impl Additive for $measure {
            const INTERLEAVING: Interleaving = Interleaving::Concurrent;

            #[inline]
            fn add(&self, sum: &mut $loss, loss: &$loss, n: u64) {
                let mut value = std::mem::take(sum).into_value();
                add_times(&mut value, loss.value(), n);
                *sum = $loss::new(value);
            }

            #[inline]
            fn plus(&self, sum: &$loss, loss: &$loss, n: u64) -> $loss {
                match n {
                    1 => $loss::new(sum.value() + loss.value()),
                    n => $loss::new(sum.value() + &loss.value().times(n)),
                }
            }

            fn join(&self, one: &mut $loss, other: &$loss) {
                *one = $loss::new(larger(one.value(), other.value()));
            }

            fn difference(&self, limit: &$loss, sum: &$loss) -> Option<$loss> {
                limit.value().checked_sub(sum.value()).map($loss::new)
            }
        }
    )*};
}

scalar_sums! {
    PureDp, Epsilon;
    Zcdp, Rho;
}

macro_rules! delta_sums {
    ($($measure:ty, $loss:ident, $value:ident, $interleaving:ident;)*) => {$(
        impl Additive for $measure {
            const INTERLEAVING: Interleaving = Interleaving::$interleaving;

            #[inline]
            fn add(&self, sum: &mut $loss, loss: &$loss, n: u64) {
                sum.add(loss, n);
            }

            fn join(&self, one: &mut $loss, other: &$loss) {
                let $value = larger(one.$value(), other.$value());
                *one = $loss::saturating($value, larger(one.delta(), other.delta()));
            }

            fn difference(&self, limit: &$loss, sum: &$loss) -> Option<$loss> {
                let $value = limit.$value().checked_sub(sum.$value())?;
                Some($loss::saturating($value, limit.delta().checked_sub(sum.delta())?))
            }
        }
    )*};
}

delta_sums! {
    ApproxDp, EpsilonDelta, epsilon, ConcurrentFinite;
    ApproxZcdp, RhoDelta, rho, Sequential;
}

impl Additive for RenyiDp {
    const INTERLEAVING: Interleaving = Interleaving::Concurrent;

    fn add(&self, sum: &mut RenyiEpsilon, loss: &RenyiEpsilon, n: u64) {
        match (n, self.check(loss)) {
            (0, _) => {}
            (_, Ok(())) => sum.add(loss.epsilon(), n),
            (_, Err(_)) => *sum = self.infinity(),
        }
    }

    fn join(&self, one: &mut RenyiEpsilon, other: &RenyiEpsilon) {
        *one = match self.check(other) {
            Ok(()) => self.loss(larger(one.epsilon(), other.epsilon())),
            Err(_) => self.infinity(),
        };
    }

    fn difference(&self, limit: &RenyiEpsilon, sum: &RenyiEpsilon) -> Option<RenyiEpsilon> {
        self.check(limit).ok()?;
        limit
            .epsilon()
            .checked_sub(sum.epsilon())
            .map(|epsilon| self.loss(epsilon))
    }
}

impl Additive for RenyiCurveDp {
    const INTERLEAVING: Interleaving = Interleaving::Concurrent;

    fn add(&self, sum: &mut RenyiCurve, loss: &RenyiCurve, n: u64) {
        match (n, sum.matches(loss)) {
            (0, _) => {}
            (_, false) => *sum = self.infinity(),
            (_, true) => {
                for (sum, epsilon) in sum.epsilons_mut().iter_mut().zip(loss.epsilons()) {
                    add_times(sum, epsilon, n);
                }
            }
        }
    }

    fn join(&self, one: &mut RenyiCurve, other: &RenyiCurve) {
        if !one.matches(other) {
            *one = self.infinity();
            return;
        }
        for (one, other) in one.epsilons_mut().iter_mut().zip(other.epsilons()) {
            *one = larger(one, other);
        }
    }

    /// Where the limit is infinite, so is the difference.
    fn difference(&self, limit: &RenyiCurve, sum: &RenyiCurve) -> Option<RenyiCurve> {
        if !sum.at_most(limit) {
            return None;
        }
        Some(limit.map(|i, limit| match limit.is_infinite() {
            true => Exact::INFINITY,
            false => limit.saturating_sub(&sum.epsilons()[i]),
        }))
    }
}
