//! Basic composition: losses add up. One rule for all measures in which that is a theorem for adaptively chosen losses.

use super::tally::{add_times, bends_up, larger, plus_times, what_remains};
use crate::{Adaptive, Interleaving, Loss, Measure, Rule, Tallied, Tally, Total, TotalLoss};
use crate::{
    ApproxDp, ApproxZcdp, Epsilon, EpsilonDelta, PureDp, RenyiCurve, RenyiCurveDp, RenyiDp,
    RenyiEpsilon, Rho, RhoDelta, Zcdp,
};
use exact::Exact;

/// A measure in which adaptively chosen losses add up, by a theorem that its author can name. It gets the rule
/// [`Basic`], and with it odometers and filters.
///
/// A measure of one's own, for instance the number of bits that answers have:
///
/// ```
/// use odometry::measures::{Additive, Basic, FilterRule, Loss, Measure, Tallied, Tally, laws};
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
///     fn difference(&self, budget: &Bits, sum: &Bits) -> Option<Bits> {
///         Some(Bits(Some(budget.0?.checked_sub(sum.0?)?)))
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

    /// `sum + n·loss`, exactly, as far as the loss [was rounded](Loss::on_grid) before. A loss that does not belong to the
    /// measure makes the sum infinite.
    ///
    /// The sums of this crate's measures round what enters, and are infinite from `2^256` on.
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

    /// Whether `2·middle ≤ before + after` in every coordinate: see [`Tally::bends_up`].
    fn bends_up(&self, before: &Self::Loss, middle: &Self::Loss, after: &Self::Loss) -> bool {
        let (_, _, _) = (before, middle, after);
        false
    }

    /// The largest loss with `sum + loss ≤ budget`, or `None` if there is none. `budget` is not
    /// [infinity](Measure::infinity).
    fn difference(&self, budget: &Self::Loss, sum: &Self::Loss) -> Option<Self::Loss>;
}

/// Basic composition: the total is the sum of the losses, exactly ([rounded up to a grid](Loss::on_grid) on which
/// decimals of up to 64 places are exact; infinite from `2^256` on). Valid as an accumulator (truncated view,
/// \[HST+23\] Def 2.11) and a filter, for children chosen adaptively in all their parameters.
///
/// | measure | theorem | interleaving |
/// |---|---|---|
/// | [`PureDp`] | \[RRUV16\] Thm 3.6, \[HST+23\] Thm 1.19 | concurrent |
/// | [`ApproxDp`] | \[RRUV16\] Thm 3.6 (its filter's δ′_g is δ_g), \[HST+23\] Thm 1.19 | concurrent, finite communication |
/// | [`RenyiDp`] | \[HST+23\] Thm 4.4, 4.7 | concurrent |
/// | [`RenyiCurveDp`] | the same, at each order; within a budget only if *every* order is | concurrent |
/// | [`Zcdp`] | the same, at all orders | concurrent |
/// | [`ApproxZcdp`] | \[WRRW23\] | sequential: no concurrent theorem is known |
///
/// ```
/// use odometry::measures::{Adaptive, ApproxDp, Basic, Tallied, Tally};
/// let rule = Basic::new(ApproxDp);
/// let mut tally = rule.start();
/// tally.absorb(&"(0.1, 1e-9)".parse()?, 1000);
/// assert_eq!(rule.loss(&tally).bound(), &"(100, 1e-6)".parse()?);
/// # Ok::<(), odometry::measures::LossError>(())
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

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("basic").of(&self.0.name()?))
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
    fn within(&self, tally: &Sum<M>, budget: &M::Loss) -> bool {
        tally.sum.at_most(budget)
    }

    fn remaining_within(&self, tally: &Sum<M>, budget: &M::Loss) -> Option<M::Loss> {
        let infinity = self.0.infinity();
        if infinity.at_most(budget) {
            return Some(infinity);
        }
        self.0.difference(budget, &tally.sum)
    }
}

/// The exact sum of the losses absorbed, each rounded up to the [grid](Loss::on_grid).
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

    fn bends_up(before: &Self, middle: &Self, after: &Self) -> bool {
        let measure = &middle.measure;
        measure.bends_up(&before.sum, &middle.sum, &after.sum)
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
                $loss::new(plus_times(sum.value(), loss.value(), n))
            }

            fn join(&self, one: &mut $loss, other: &$loss) {
                *one = $loss::new(larger(one.value(), other.value()));
            }

            fn bends_up(&self, before: &$loss, middle: &$loss, after: &$loss) -> bool {
                bends_up(before.value(), middle.value(), after.value())
            }

            fn difference(&self, budget: &$loss, sum: &$loss) -> Option<$loss> {
                what_remains(budget.value(), sum.value()).map($loss::new)
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

            /// A sum that is infinite has forgotten its coordinates.
            fn bends_up(&self, before: &$loss, middle: &$loss, after: &$loss) -> bool {
                *after == $loss::INFINITY
                    || bends_up(before.$value(), middle.$value(), after.$value())
                        && bends_up(before.delta(), middle.delta(), after.delta())
            }

            fn difference(&self, budget: &$loss, sum: &$loss) -> Option<$loss> {
                let $value = what_remains(budget.$value(), sum.$value())?;
                Some($loss::saturating($value, what_remains(budget.delta(), sum.delta())?))
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

    fn bends_up(&self, before: &RenyiEpsilon, middle: &RenyiEpsilon, after: &RenyiEpsilon) -> bool {
        bends_up(before.epsilon(), middle.epsilon(), after.epsilon())
    }

    fn difference(&self, budget: &RenyiEpsilon, sum: &RenyiEpsilon) -> Option<RenyiEpsilon> {
        self.check(budget).ok()?;
        what_remains(budget.epsilon(), sum.epsilon()).map(|epsilon| self.loss(epsilon))
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

    fn bends_up(&self, before: &RenyiCurve, middle: &RenyiCurve, after: &RenyiCurve) -> bool {
        let at_order = |((before, middle), after)| bends_up(before, middle, after);
        let ends = before.epsilons().iter().zip(middle.epsilons());
        middle.matches(before) && middle.matches(after) && ends.zip(after.epsilons()).all(at_order)
    }

    /// Where the budget is infinite, so is the difference.
    fn difference(&self, budget: &RenyiCurve, sum: &RenyiCurve) -> Option<RenyiCurve> {
        if !sum.at_most(budget) {
            return None;
        }
        Some(budget.map(|i, budget| match budget.is_infinite() {
            true => Exact::INFINITY,
            false => what_remains(budget, &sum.epsilons()[i]).unwrap_or(Exact::ZERO),
        }))
    }
}
