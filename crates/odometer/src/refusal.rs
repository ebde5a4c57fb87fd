//! What an account says when it refuses: in words for people, and in losses for programs.

use std::{
    any::Any,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use measures::{Loss, Total};

/// Which account refused a launch, and in which numbers.
///
/// The words are rounded as people should read them (what is left never looks like more); [`losses`](Self::losses) has the
/// losses themselves. Two refusals are equal if their words are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Refusal {
    /// The account that refused.
    pub account: String,
    /// The names of the accounts from the root to the one that refused; sessions without a name of their own are left out.
    pub path: Vec<String>,
    /// The measure in which it counts.
    pub measure: String,
    /// What was to be launched.
    pub launch: String,
    /// The distance for which the budget holds.
    pub d_in: String,
    /// What the launch would have been charged.
    pub asked: String,
    /// What was charged before.
    pub spent: String,
    /// The largest single launch that would have been admitted, where the rule can tell.
    pub remaining: Option<String>,
    /// The budget.
    pub budget: String,
    pub(crate) typed: Typed,
}

/// The losses of a [`Refusal`]: `C` is what the account's rule composes, `T` what it gives. Most rules have one type for both.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RefusedLosses<C, T = C> {
    /// What the launch would have been charged.
    pub asked: C,
    /// What was charged before, rounded up.
    pub spent: Total<T>,
    /// The largest single launch that would have been admitted, rounded down; `None` if there is none, or the rule cannot
    /// tell.
    pub remaining: Option<C>,
    /// The budget.
    pub budget: T,
}

impl Refusal {
    /// The losses themselves, to compute with; `None` if the account that refused counts in other losses. (That may be an
    /// account far above, in another measure.)
    ///
    /// ```
    /// use odometry::mechanisms::{additive::count_spending, spend::epsilon};
    /// use odometry::odometer::RefusedLosses;
    /// use odometry::prelude::*;
    ///
    /// let people = Records::<u8>::new();
    /// let session = Odometer::new(people, Basic::new(PureDp)).filter(1, "1")?.invoke(vec![20, 30, 40])?;
    /// let count = |loss: &Exact| count_spending(people, epsilon(loss), |age| *age >= 18);
    /// let Err(LaunchError::Refused(refusal)) = session.launch(&count(&"1.5".parse()?)?) else {
    ///     return Err("more than the budget was admitted".into());
    /// };
    /// let losses: &RefusedLosses<Epsilon> = refusal.losses().ok_or("not in ε")?;
    /// if let Some(rest) = &losses.remaining {
    ///     session.launch(&count(rest.value())?)?; // what fits, instead
    /// }
    /// assert_eq!(session.remaining(1)?.to_string(), "0 is left in the session");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn losses<C: Loss, T: Loss>(&self) -> Option<&RefusedLosses<C, T>> {
        self.typed.0.downcast_ref()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            account,
            measure,
            launch,
            d_in,
            asked,
            spent,
            remaining,
            budget,
            ..
        } = self;
        write!(f, "refused by {account}: {launch} asks for {asked}, ")?;
        match remaining {
            Some(remaining) => write!(f, "but only {remaining} is left of {budget}")?,
            None => write!(f, "but there is not that much left of {budget}")?,
        }
        write!(f, " ({spent} spent; {measure} at distance {d_in})")
    }
}

/// Losses whose type only the account knows. They stand beside words that say the same, so comparisons leave them out.
#[derive(Clone)]
pub(crate) struct Typed(Arc<dyn Any + Send + Sync>);

impl Typed {
    pub(crate) fn new<C: Loss, T: Loss>(losses: RefusedLosses<C, T>) -> Self {
        Self(Arc::new(losses))
    }
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl PartialEq for Typed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Typed {}

impl PartialOrd for Typed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Typed {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Typed {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
