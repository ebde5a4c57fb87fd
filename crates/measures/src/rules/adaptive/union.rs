//! Several filter rules at once, at the price of all their δs.

use crate::{
    ApproxDp, ChildLoss, EpsilonDelta, FilterRule, Interleaving, Loss, Measure, Rule, RuleError,
    Tallied, Tally, Total, TotalLoss,
};
use exact::Exact;

/// Two filters at once: launches fit while at least one of the rules holds, for a budget `(ε, δ)` of which the first rule
/// gets `(ε, δ_1)` and the second one `(ε, δ_2)`, with `δ_1 + δ_2 ≤ δ`.
///
/// Valid by the union lemma: split the views by the rule that held at the end; each part is `(ε, δ_i)`. Without paying
/// both δs, "whichever bound is smaller now" is wrong. The interleaving is the stricter of the two. Unions nest. It adds
/// no rounding of its own.
///
/// Basic composition of pure losses costs no δ, so it comes for free with any other rule:
///
/// ```
/// use odometry::exact::Exact;
/// use odometry::measures::adaptive::{Union, WhitehouseFilter};
/// use odometry::measures::{ApproxDp, Basic, FilterRule, Tallied, Tally};
/// let whitehouse = WhitehouseFilter::new("1e-6")?;
/// let both = Union::new((Basic::new(ApproxDp), Exact::ZERO), (whitehouse, "1e-6".parse()?));
/// let gate = both.open(&"(1, 1e-6)".parse()?)?;
/// assert!(both.fits(&gate, &both.start().after(&"(1, 0)".parse()?, 1)));
/// assert!(both.fits(&gate, &both.start().after(&"(0.01, 0)".parse()?, 300)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Union<A, B> {
    first: (A, Exact),
    second: (B, Exact),
}

impl<A, B> Union<A, B> {
    /// Both rules, each with its share of the budget's δ.
    pub const fn new(first: (A, Exact), second: (B, Exact)) -> Self {
        Union { first, second }
    }
}

impl<A, B> Rule for Union<A, B>
where
    A: FilterRule<Total = ApproxDp>,
    B: FilterRule<Total = ApproxDp, Child = A::Child>,
{
    type Child = A::Child;
    type Total = ApproxDp;
    const INTERLEAVING: Interleaving = stricter(A::INTERLEAVING, B::INTERLEAVING);

    fn child(&self) -> A::Child {
        self.first.0.child()
    }

    fn total(&self) -> ApproxDp {
        ApproxDp
    }

    fn name(&self) -> Option<crate::Name> {
        let named = |name: Option<crate::Name>, share: &Exact| {
            Some(
                crate::Name::new("share")
                    .of(&name?)
                    .with("delta", share.text()),
            )
        };
        let first = named(self.first.0.name(), &self.first.1)?;
        let second = named(self.second.0.name(), &self.second.1)?;
        Some(crate::Name::new("union").of(&first).of(&second))
    }
}

const fn stricter(one: Interleaving, other: Interleaving) -> Interleaving {
    match (one, other) {
        (Interleaving::Sequential, _) | (_, Interleaving::Sequential) => Interleaving::Sequential,
        (Interleaving::ConcurrentFinite, _) | (_, Interleaving::ConcurrentFinite) => {
            Interleaving::ConcurrentFinite
        }
        (Interleaving::Concurrent, Interleaving::Concurrent) => Interleaving::Concurrent,
    }
}

impl<A, B> Tallied for Union<A, B>
where
    A: FilterRule<Total = ApproxDp>,
    B: FilterRule<Total = ApproxDp, Child = A::Child>,
{
    type Tally = Both<A::Tally, B::Tally>;

    fn start(&self) -> Self::Tally {
        Both {
            first: self.first.0.start(),
            second: self.second.0.start(),
        }
    }
}

impl<A, B> FilterRule for Union<A, B>
where
    A: FilterRule<Total = ApproxDp>,
    B: FilterRule<Total = ApproxDp, Child = A::Child>,
{
    type Gate = (A::Gate, B::Gate);

    fn open(&self, budget: &EpsilonDelta) -> Result<Self::Gate, RuleError> {
        let ((first, one), (second, other)) = (&self.first, &self.second);
        if first.child() != second.child() {
            let (child, expected) = (
                format!("{:?}", second.child()),
                format!("{:?}", first.child()),
            );
            return Err(RuleError::parameter(
                "the second rule's measure",
                &child,
                &expected,
            ));
        }
        if one + other > *budget.delta() {
            return Err(RuleError::budget(
                budget,
                "the rules' shares of δ do not fit into it",
            ));
        }
        let part = |delta: &Exact| EpsilonDelta::new(budget.epsilon().clone(), delta.clone());
        Ok((first.open(&part(one)?)?, second.open(&part(other)?)?))
    }

    #[inline]
    fn fits(&self, gate: &Self::Gate, tally: &Self::Tally) -> bool {
        self.first.0.fits(&gate.0, &tally.first) || self.second.0.fits(&gate.1, &tally.second)
    }

    fn remaining(&self, gate: &Self::Gate, tally: &Self::Tally) -> Option<ChildLoss<Self>> {
        let first = self.first.0.remaining(&gate.0, &tally.first);
        let second = self.second.0.remaining(&gate.1, &tally.second);
        match (first, second) {
            (Some(first), Some(second)) if first.at_most(&second) => Some(second),
            (Some(first), _) => Some(first),
            (None, second) => second,
        }
    }

    /// The smaller ε of the rules that hold, with the δs of both.
    fn spent(&self, gate: &Self::Gate, tally: &Self::Tally) -> Total<TotalLoss<Self>> {
        let first = self.first.0.spent(&gate.0, &tally.first);
        let second = self.second.0.spent(&gate.1, &tally.second);
        let first_fits = self.first.0.fits(&gate.0, &tally.first);
        let second_fits = self.second.0.fits(&gate.1, &tally.second);
        if *tally == self.start() {
            return Total::new(ApproxDp.zero());
        }
        let first_is_smaller = first.bound().epsilon() <= second.bound().epsilon();
        let epsilon = if first_fits && (first_is_smaller || !second_fits) {
            first.bound().epsilon()
        } else {
            second.bound().epsilon()
        };
        Total::new(EpsilonDelta::saturating(
            epsilon.clone(),
            &self.first.1 + &self.second.1,
        ))
    }
}

/// The tallies of two rules for the same launches.
#[derive(Clone, Debug, PartialEq)]
pub struct Both<A, B> {
    first: A,
    second: B,
}

impl<A: Tally, B: Tally<Loss = A::Loss>> Tally for Both<A, B> {
    type Loss = A::Loss;

    #[inline]
    fn absorb(&mut self, loss: &A::Loss, n: u64) {
        self.first.absorb(loss, n);
        self.second.absorb(loss, n);
    }

    fn merge(&mut self, other: &Self) {
        self.first.merge(&other.first);
        self.second.merge(&other.second);
    }

    fn join(&mut self, other: &Self) {
        self.first.join(&other.first);
        self.second.join(&other.second);
    }

    fn bends_up(before: &Self, middle: &Self, after: &Self) -> bool {
        A::bends_up(&before.first, &middle.first, &after.first)
            && B::bends_up(&before.second, &middle.second, &after.second)
    }
}
