//! What a composition rule is. Rules for losses that an analyst chooses adaptively ([`Adaptive`], [`FilterRule`],
//! [`TimeUniform`]) and rules for losses fixed in advance ([`FixedRule`]) are different traits, because a fixed rule
//! used adaptively leaks (\[RRUV16\] Thm 6.1; [`fixed`](crate::fixed) has a refutation). The rules themselves are in
//! [`adaptive`](crate::adaptive) and `fixed`.

/// Implements [`Rule`] for a rule between measures without parameters.
macro_rules! rule {
    (
        $rule:ident $(<$param:ident: $bound:ident>)?, $child:ident => $total:ident, $interleaving:ident,
        |$this:ident| $name:expr
    ) => {
        impl $(<$param: $bound>)? crate::Rule for $rule $(<$param>)? {
            type Child = crate::$child;
            type Total = crate::$total;
            const INTERLEAVING: crate::Interleaving = crate::Interleaving::$interleaving;

            fn child(&self) -> crate::$child {
                crate::$child
            }

            fn total(&self) -> crate::$total {
                crate::$total
            }

            fn name(&self) -> Option<crate::Name> {
                let $this = self;
                $name.into()
            }
        }
    };
}

pub mod adaptive;
pub mod fixed;
mod known;

pub use known::{WithRule, with_rule};

use crate::{ConvertsTotals, Loss, Measure, RuleError};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug};

/// The losses that a rule composes.
pub type ChildLoss<R> = <<R as Rule>::Child as Measure>::Loss;

/// The losses that a rule gives.
pub type TotalLoss<R> = <<R as Rule>::Total as Measure>::Loss;

/// How the children of a composition may be asked, for the rule's theorem to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Interleaving {
    /// Only the newest child may be asked.
    Sequential,
    /// Any child may be asked at any time, if the number and the size of messages are bounded (\[HST+23\] Thm 3.4).
    ConcurrentFinite,
    /// Any child may be asked at any time.
    Concurrent,
}

/// What all composition rules have: the measure of the children's losses, and the measure of the total.
pub trait Rule: Clone + Debug + Send + Sync + 'static {
    /// The measure of the losses that are composed.
    type Child: Measure;
    /// The measure of the total.
    type Total: Measure;

    /// How children may be asked. Sequential, unless the rule's author can name a theorem for more.
    const INTERLEAVING: Interleaving = Interleaving::Sequential;

    /// The children's measure, with its parameters.
    fn child(&self) -> Self::Child;

    /// The total's measure, with its parameters.
    fn total(&self) -> Self::Total;

    /// What it is written down as, with its parameters: the same for ever. Without it (the default), sessions on a ledger
    /// refuse the rule.
    fn name(&self) -> Option<crate::Name> {
        None
    }
}

/// What a rule remembers of the losses absorbed so far: sums, exact, so that neither the order of launches nor their
/// grouping matters. Accounts rely on it: they keep the number of launches of every measurement, and forget their order. So a
/// rule whose result depends on the order has no tally ([`laws::check_tally`](crate::laws::check_tally) tests it). Whatever has to be rounded is rounded once per loss when it enters, or when the rule is asked; never
/// inside of a sum.
///
/// It should stay as small as it is, whatever it absorbs: it is copied at every launch. Accounts round losses before they
/// hand them over ([`Loss::on_grid`]); what a tally makes of them, such as squares, it rounds itself
/// ([`Exact::on_grid`](exact::Exact::on_grid)). The tallies of this crate do both.
///
/// Losses were checked by the map that gave them. One that does not belong to the measure all the same counts as
/// infinite.
pub trait Tally: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The losses that are absorbed.
    type Loss: Loss;

    /// Counts `n` launches with this loss: the same as counting them one by one. No launch (`n = 0`) changes nothing.
    fn absorb(&mut self, loss: &Self::Loss, n: u64);

    /// Counts all launches of `other`, too.
    fn merge(&mut self, other: &Self);

    /// The coordinate-wise maximum: what bounds both. For parts of the data of which only one can have changed.
    fn join(&mut self, other: &Self);

    /// Whether `2·middle ≤ before + after` in every coordinate: exactly, on the sums themselves, before anything saturates
    /// (a total that is infinite as a whole counts as infinite in all coordinates). Partitions ask this of three changes of
    /// the same part, each one record larger than the one before, to see that the worst change falls on one part alone;
    /// where it is `false`, they look at all ways to split it. So `false` is always right, and it is the answer of a tally
    /// that is no list of sums.
    fn bends_up(before: &Self, middle: &Self, after: &Self) -> bool {
        let (_, _, _) = (before, middle, after);
        false
    }

    /// This tally after `n` more launches.
    fn after(&self, loss: &Self::Loss, n: u64) -> Self {
        let mut next = self.clone();
        next.absorb(loss, n);
        next
    }
}

/// A rule that keeps a [`Tally`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known to be a rule of sessions",
    label = "a session needs a rule here",
    note = "what holds sessions of any rule, odometers' and filters', needs the bound `FilterRule`: \
            `struct Service<R: FilterRule> {{ session: Session<Records<i64>, R> }}`",
    note = "or name the rule (`Session<Records<i64>, Basic<PureDp>>`), or hide it (`Box<dyn Launcher<Records<i64>, PureDp>>`)"
)]
pub trait Tallied: Rule {
    /// What the rule remembers.
    type Tally: Tally<Loss = ChildLoss<Self>>;

    /// Nothing absorbed yet.
    fn start(&self) -> Self::Tally;
}

/// A rule that is valid for adaptively chosen losses, as a privacy-loss accumulator (\[HST+23\] Def 2.11): for every
/// threshold set in advance, the view truncated before the total passes it has at most that loss. By \[HST+23\] Lemma
/// 2.19 it makes a filter, too, and every adaptive rule is a [`FilterRule`].
///
/// A rule for losses fixed in advance is not accepted:
///
/// ```compile_fail,E0277
/// use odometry::measures::{Adaptive, ApproxDp, EpsilonDelta, FixedRule, Rule, RuleError};
/// #[derive(Clone, Debug)]
/// struct Advanced;
/// impl Rule for Advanced {
///     type Child = ApproxDp;
///     type Total = ApproxDp;
///     fn child(&self) -> ApproxDp { ApproxDp }
///     fn total(&self) -> ApproxDp { ApproxDp }
/// }
/// impl FixedRule for Advanced {
///     fn compose(&self, _: &[EpsilonDelta]) -> Result<EpsilonDelta, RuleError> { Ok(EpsilonDelta::INFINITY) }
/// }
/// fn odometer(_rule: impl Adaptive) {}
/// odometer(Advanced); // error: `Advanced` is not valid for losses that are chosen adaptively
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not valid for losses that are chosen adaptively",
    label = "an odometer needs a rule that implements `Adaptive`",
    note = "a rule for losses fixed in advance would leak here; use `Basic`, `ImprovedBasic`, `WhitehouseOdometer` or \
            another rule of `measures::adaptive`",
    note = "if all losses are known before the first launch, use a compositor with the fixed rule",
    note = "a rule that is only a filter's has no running loss: ask the session what was spent of its budget, `spent()`",
    note = "a type or function over sessions of any rule needs the bound `FilterRule`, which every rule of a session has"
)]
pub trait Adaptive: Tallied {
    /// A bound on the loss of everything absorbed, rounded up; zero if there was no launch.
    fn loss(&self, tally: &Self::Tally) -> Total<TotalLoss<Self>>;

    /// The loss of a list of launches.
    ///
    /// ```
    /// use odometry::measures::{Adaptive, Basic, PureDp};
    /// let losses = ["0.1".parse()?, "0.2".parse()?];
    /// assert_eq!(Basic::new(PureDp).total_of(&losses).to_string(), "0.3");
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    fn total_of(&self, losses: &[ChildLoss<Self>]) -> Total<TotalLoss<Self>> {
        let mut tally = self.start();
        for loss in losses {
            tally.absorb(&loss.clone().on_grid(), 1);
        }
        self.loss(&tally)
    }

    /// Whether the loss is at most `budget`. Overridden where the comparison can be more exact than the rounded loss.
    fn within(&self, tally: &Self::Tally, budget: &TotalLoss<Self>) -> bool {
        self.loss(tally).at_most(budget)
    }

    /// The largest loss that one more launch could have within `budget`, rounded down; where losses are only partially
    /// ordered, one that is not below another such loss. `None` if not even a launch without loss would be within, or if
    /// the rule does not know.
    fn remaining_within(
        &self,
        tally: &Self::Tally,
        budget: &TotalLoss<Self>,
    ) -> Option<ChildLoss<Self>> {
        let (_, _) = (tally, budget);
        None
    }
}

/// A rule that decides, for a budget set in advance, whether the launches so far fit (\[HST+23\] Alg 2 and 3).
///
/// The question is always about all launches, the next one included: `rule.fits(&gate, &tally.after(&loss, 1))`. What can
/// be solved from the budget once is solved in [`open`](FilterRule::open).
///
/// ```
/// use odometry::measures::{Basic, FilterRule, PureDp, Tallied, Tally};
/// let rule = Basic::new(PureDp);
/// let gate = rule.open(&"1".parse()?)?;
/// let ten = rule.start().after(&"0.1".parse()?, 10);
/// assert!(rule.fits(&gate, &ten));
/// assert_eq!(rule.remaining(&gate, &ten), Some("0".parse()?));
/// assert!(!rule.fits(&gate, &ten.after(&"1e-30".parse()?, 1)));
/// # Ok::<(), odometry::measures::RuleError>(())
/// ```
///
/// A rule for losses fixed in advance is not accepted:
///
/// ```compile_fail,E0277
/// use odometry::measures::{ApproxDp, EpsilonDelta, FilterRule, FixedRule, Rule, RuleError};
/// #[derive(Clone, Debug)]
/// struct Optimal;
/// impl Rule for Optimal {
///     type Child = ApproxDp;
///     type Total = ApproxDp;
///     fn child(&self) -> ApproxDp { ApproxDp }
///     fn total(&self) -> ApproxDp { ApproxDp }
/// }
/// impl FixedRule for Optimal {
///     fn compose(&self, _: &[EpsilonDelta]) -> Result<EpsilonDelta, RuleError> { Ok(EpsilonDelta::INFINITY) }
/// }
/// fn filter(_rule: impl FilterRule) {}
/// filter(Optimal); // error: `Optimal` is not valid as a filter
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not valid as a filter",
    label = "a filter needs a rule that implements `FilterRule`",
    note = "a rule for losses fixed in advance would leak here; use `Basic`, `WhitehouseFilter` or another rule of \
            `measures::adaptive`",
    note = "if all losses are known before the first launch, use a compositor with the fixed rule"
)]
pub trait FilterRule: Tallied {
    /// What was solved from the budget.
    type Gate: Clone + Debug + Send + Sync + 'static;

    /// Prepares for a budget. A budget that is no loss of the measure, or that nothing could ever fit, is an error, and so
    /// is "no guarantee": for that, use an odometer.
    fn open(&self, budget: &TotalLoss<Self>) -> Result<Self::Gate, RuleError>;

    /// Whether all these launches together are within the budget. Once false, it stays false after more launches.
    fn fits(&self, gate: &Self::Gate, tally: &Self::Tally) -> bool;

    /// The largest loss that one more launch could have, rounded down; where losses are only partially ordered, one that
    /// is not below another such loss. `None` if not even a launch without loss would fit, or if the rule does not know.
    fn remaining(&self, gate: &Self::Gate, tally: &Self::Tally) -> Option<ChildLoss<Self>>;

    /// How much of the budget these launches take, for reports: rounded up, zero if there was no launch. For a rule that
    /// is only a filter this is not an odometer's reading, since the budget was fixed in advance.
    fn spent(&self, gate: &Self::Gate, tally: &Self::Tally) -> Total<TotalLoss<Self>>;
}

/// Every accumulator makes a filter: all launches fit if their loss is within the budget (\[HST+23\] Lemma 2.19).
impl<R: Adaptive> FilterRule for R {
    type Gate = TotalLoss<R>;

    fn open(&self, budget: &TotalLoss<Self>) -> Result<Self::Gate, RuleError> {
        let measure = Rule::total(self);
        measure.check(budget)?;
        if measure.infinity().at_most(budget) {
            return Err(RuleError::budget(
                budget,
                "it allows everything; use an odometer",
            ));
        }
        let free = self.start().after(&self.child().zero(), 1);
        if !self.within(&free, budget) {
            let reason = "not even a launch without loss would fit";
            return Err(RuleError::budget(budget, reason));
        }
        Ok(budget.clone())
    }

    #[inline]
    fn fits(&self, gate: &Self::Gate, tally: &Self::Tally) -> bool {
        self.within(tally, gate)
    }

    fn remaining(&self, gate: &Self::Gate, tally: &Self::Tally) -> Option<ChildLoss<Self>> {
        self.remaining_within(tally, gate)
    }

    fn spent(&self, gate: &Self::Gate, tally: &Self::Tally) -> Total<TotalLoss<Self>> {
        let loss = self.loss(tally);
        // What fits is within the budget, whatever rounding adds to the loss.
        if !loss.at_most(gate) && self.within(tally, gate) {
            return Total(gate.clone());
        }
        loss
    }
}

/// A rule whose total bounds the realized privacy loss at all rounds at once, with probability `1 − δ` (\[RRUV16\] Def
/// 3.1).
///
/// This is another guarantee than that of [`Adaptive`]: neither implies the other, and rules that have one need not
/// have the other. Children must be purely private: \[RRUV16\] Lemma 3.5 is wrong for `δ_j > 0`. Always sequential.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not bound the realized loss at all rounds at once",
    label = "a time-uniform odometer needs a rule that implements `TimeUniform`",
    note = "use `TimeUniformBasic` or `TimeUniformRogers`; truncated-view rules (`Adaptive`) give another guarantee"
)]
pub trait TimeUniform: Tallied<Child = crate::PureDp> {
    /// A bound on the realized loss that, with the probability that its δ states, held at every round so far; rounded up;
    /// zero if there was no launch.
    fn bound(&self, tally: &Self::Tally) -> Total<TotalLoss<Self>>;
}

/// A rule that is valid only for losses fixed before the first launch: for compositors.
pub trait FixedRule: Rule {
    /// The loss of all children together, rounded up; zero if there are none.
    fn compose(&self, losses: &[ChildLoss<Self>]) -> Result<TotalLoss<Self>, RuleError>;
}

/// The running total of an account. It is not the loss of a measurement, and must not be charged as one: it was reached
/// by looking at answers. (A Gaussian session's total, converted at δ = 1e-5 and charged to a basic parent with ε = 1,
/// stopped adaptively, has a true δ(1) of at least 7.4e-5.)
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Total<L>(L);

impl<L: Loss> Total<L> {
    /// A total, for the authors of rules.
    pub const fn new(bound: L) -> Self {
        Total(bound)
    }

    /// The value, to report and to compare.
    pub const fn bound(&self) -> &L {
        &self.0
    }

    /// Whether the total is at most `budget`.
    pub fn at_most(&self, budget: &L) -> bool {
        self.0.at_most(budget)
    }

    /// This total in another measure, for a report. Valid in the sense of the truncated view, for conversions whose
    /// parameters were fixed in advance.
    pub fn convert<C>(&self, conversion: &C) -> Result<Total<<C::To as Measure>::Loss>, RuleError>
    where
        C: ConvertsTotals,
        C::From: Measure<Loss = L>,
    {
        conversion.convert(&self.0).map(Total)
    }
}

impl<L: Loss> fmt::Display for Total<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
