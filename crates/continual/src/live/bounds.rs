//! How much one privacy unit may contribute, and what that costs.

use exact::Exact;
use measures::{Epsilon, EpsilonDelta};
use serde::{Deserialize, Serialize};

use crate::{
    allowance::{ApproximateParallel, Leaks},
    error::AllowanceError,
    slots::Slots,
};

use super::LiveError;

/// How many slots a unit may have at the most.
pub const MAX_SLOTS: usize = 64;

/// How much one privacy unit may contribute: to how many parts, with which losses (its slots), and in how many updates
/// altogether; and how much δ all parts may have that are ever created.
///
/// Whatever is contributed within these bounds costs at most [`price`](Self::price): parts in parallel, with updates
/// (\[HSV25\] Cor 5.5 and Thm 5.4). There is no such theorem for zCDP, Rényi or Gaussian losses, and so no such bounds.
///
/// ```
/// use odometry::continual::live::ContributionBounds;
/// let bounds = ContributionBounds::equal(3, "0.1".parse()?, 20)?; // three parts, 20 updates
/// assert_eq!(bounds.price().to_string(), "(0.3, 0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct ContributionBounds {
    slots: Vec<Epsilon>,
    updates: u32,
    delta: Exact,
}

/// Bounds as somebody wrote them down.
#[derive(Deserialize)]
struct Unchecked {
    slots: Vec<Epsilon>,
    updates: u32,
    delta: Exact,
}

impl TryFrom<Unchecked> for ContributionBounds {
    type Error = LiveError;

    fn try_from(written: Unchecked) -> Result<Self, LiveError> {
        let bounds = Self::new(written.slots, written.updates)?;
        Ok(bounds.with_delta(written.delta))
    }
}

impl ContributionBounds {
    /// A slot for each part that a unit may touch: a part takes one with room for its ε. At most `updates` updates, in
    /// all parts together.
    ///
    /// # Errors
    /// [`LiveError::Bounds`] without slots or with more than [`MAX_SLOTS`], and without updates.
    pub fn new(slots: Vec<Epsilon>, updates: u32) -> Result<Self, LiveError> {
        if slots.is_empty() || slots.len() > MAX_SLOTS || updates == 0 {
            return Err(LiveError::Bounds);
        }
        Ok(Self {
            slots,
            updates,
            delta: Exact::ZERO,
        })
    }

    /// So many equal slots: a unit touches at most `parts` parts.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn equal(parts: usize, epsilon: Epsilon, updates: u32) -> Result<Self, LiveError> {
        match parts <= MAX_SLOTS {
            true => Self::new(vec![epsilon; parts], updates),
            false => Err(LiveError::Bounds),
        }
    }

    /// Parts may have δ: `1 − Π(1 − δ_j)` of all that are created stays within this. Otherwise they must be pure.
    #[must_use]
    pub fn with_delta(self, delta: Exact) -> Self {
        Self { delta, ..self }
    }

    /// The slots.
    pub fn slots(&self) -> &[Epsilon] {
        &self.slots
    }

    /// How many updates a unit may send, in all parts together.
    pub const fn updates(&self) -> u32 {
        self.updates
    }

    /// What one unit can lose, whatever it sends: `(Σε, δ′)`.
    pub fn price(&self) -> EpsilonDelta {
        self.allowance().basic()
    }

    /// The same as the allowance of the privacy game, for other prices ([`ApproximateParallel::compose`]).
    pub fn allowance(&self) -> ApproximateParallel {
        ApproximateParallel::new(self.slots.clone(), self.delta.clone())
    }

    pub(super) fn leaks(&self) -> Leaks {
        Leaks::new(self.delta.clone())
    }

    /// The slots that have room for this loss, the tightest first.
    pub(super) fn room_for(&self, loss: &EpsilonDelta) -> Result<Vec<usize>, AllowanceError> {
        let slots = Slots::new(self.slots.clone());
        let epsilon = Epsilon::new(loss.epsilon().clone());
        let mut found = vec![slots.clone().take(&epsilon)?];
        while let Some(slot) = slots.tightest(&epsilon, |slot| !found.contains(&slot)) {
            found.push(slot);
        }
        Ok(found)
    }
}
