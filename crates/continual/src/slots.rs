//! Losses fixed in advance, as slots that are taken one by one.

use measures::{
    Adaptive, FixedRule, Interleaving, Loss, Measure, Rule, Tally, TotalLoss, fixed::tightest,
};

use crate::error::{AllowanceError, PriceError};

/// Losses fixed in advance, to be taken one by one in any order: each loss takes a slot with as little to spare as can be.
///
/// ```
/// use odometry::continual::Slots;
/// use odometry::measures::{Epsilon, PureDp, Basic};
/// let mut slots = Slots::new(vec!["1".parse::<Epsilon>()?, "0.5".parse()?]);
/// assert_eq!(slots.total(&Basic::new(PureDp))?.to_string(), "1.5");
/// assert!(slots.take(&"0.4".parse()?).is_ok()); // the slot of 0.5
/// assert!(slots.take(&"0.9".parse()?).is_ok());
/// assert!(slots.take(&"0".parse()?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Slots<L> {
    slots: Vec<(L, bool)>,
}

impl<L: Loss> Slots<L> {
    /// These slots.
    pub fn new(losses: Vec<L>) -> Self {
        let free = |loss: L| (loss.on_grid(), true);
        Self {
            slots: losses.into_iter().map(free).collect(),
        }
    }

    /// So many equal ones.
    pub fn equal(count: usize, loss: L) -> Self {
        Self::new(vec![loss; count])
    }

    /// The losses of all slots, taken or not.
    pub fn losses(&self) -> impl Iterator<Item = &L> {
        self.slots.iter().map(|(slot, _)| slot)
    }

    /// The number of the slot that this loss would take, of those that `free` says are.
    pub(crate) fn tightest(&self, loss: &L, free: impl Fn(usize) -> bool) -> Option<usize> {
        let slots = self.losses().enumerate();
        tightest(slots.filter(|(at, _)| free(*at)), loss)
    }

    /// Takes a slot: its number.
    ///
    /// # Errors
    /// [`AllowanceError::NoSlot`], and nothing has changed.
    pub fn take(&mut self, loss: &L) -> Result<usize, AllowanceError> {
        let loss = loss.clone().on_grid();
        let Some(at) = self.tightest(&loss, |at| self.slots[at].1) else {
            return Err(self.refusal(&loss));
        };
        self.slots[at].1 = false;
        Ok(at)
    }

    fn refusal(&self, loss: &L) -> AllowanceError {
        let left = self.slots.iter().filter(|(_, free)| *free);
        let mut shown: Vec<String> = left.map(|(slot, _)| slot.to_string()).take(8).collect();
        if shown.is_empty() {
            shown.push("none".into());
        }
        AllowanceError::NoSlot {
            asked: loss.to_string(),
            left: shown.join(", "),
        }
    }

    /// How many slots there are, taken or not.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no slots at all.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// What all slots together cost, by a rule for losses fixed in advance.
    ///
    /// # Errors
    /// [`PriceError`].
    pub fn compose<R>(&self, rule: &R) -> Result<TotalLoss<R>, PriceError>
    where
        R: FixedRule<Child: Measure<Loss = L>>,
    {
        concurrent::<R>()?;
        let losses: Vec<L> = self.losses().cloned().collect();
        Ok(rule.compose(&losses)?)
    }

    /// What all slots together cost, by a rule for losses chosen adaptively.
    ///
    /// # Errors
    /// [`PriceError::Sequential`].
    pub fn total<R>(&self, rule: &R) -> Result<TotalLoss<R>, PriceError>
    where
        R: Adaptive<Child: Measure<Loss = L>>,
    {
        concurrent::<R>()?;
        let mut tally = rule.start();
        for slot in self.losses() {
            tally.absorb(slot, 1);
        }
        Ok(rule.loss(&tally).bound().clone())
    }
}

pub(crate) fn concurrent<R: Rule>() -> Result<(), PriceError> {
    match R::INTERLEAVING {
        Interleaving::Sequential => Err(PriceError::Sequential),
        Interleaving::Concurrent | Interleaving::ConcurrentFinite => Ok(()),
    }
}
