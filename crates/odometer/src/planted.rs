//! Mistakes that are planted in an admission, to see that the model checker finds them (`crates/odometer-model`). Without
//! the checker there are none.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlantedMistake {
    /// An account is unlocked between its check and its commit.
    UnlocksAfterCheck,
    /// Some launches lock from the root to the leaf.
    LocksFromTheRoot,
    /// The record never enters the journal's queue.
    CommitsWithoutStage,
    /// No memory is reserved for a new entry.
    ReservesNothing,
}

/// Whether this mistake is planted.
#[cfg(not(model))]
pub(crate) const fn is_planted(_: PlantedMistake) -> bool {
    false
}

#[cfg(model)]
pub(crate) fn is_planted(mistake: PlantedMistake) -> bool {
    PLANTED.get() == Some(mistake)
}

#[cfg(model)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<PlantedMistake>> = const { std::cell::Cell::new(None) };
}

/// Plants a mistake in everything that this test runs: the checker runs all threads of a schedule on one.
#[cfg(model)]
pub fn plant(mistake: PlantedMistake) {
    PLANTED.set(Some(mistake));
}
