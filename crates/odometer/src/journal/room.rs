//! Room for places: whoever may open sessions, parts and filters must not make a journal grow without end.

use crate::journal::{Event, JournalError, Opening, Record, State, Terms};

/// How deep places may lie below one another.
pub const MAX_PLACE_DEPTH: u32 = 1024;

impl State {
    /// Is there room for the place that a record opens, if it opens one? An account has at most as many places below it, however
    /// deep, as its quota says. What was written down is replayed all the same.
    ///
    /// # Errors
    /// [`JournalError::Full`].
    pub fn room_for(&self, record: &Record) -> Result<(), JournalError> {
        let opening = match &record.event {
            Event::Open(opening) => Some(opening),
            Event::Charge(charge) => charge.opens.as_ref(),
            _ => None,
        };
        opening.map_or(Ok(()), |opening| self.room_below(opening))
    }

    fn room_below(&self, opening: &Opening) -> Result<(), JournalError> {
        let (mut above, mut depth) = (opening.parent, 0);
        while let Some(place) = above {
            let below = self.descendants.get(place.0 as usize).copied();
            let quota = match self.terms(place) {
                Some(Terms::Account(terms)) => terms.quota,
                _ => u32::MAX,
            };
            if below.is_none_or(|below| below >= quota) {
                let path = self.path(place);
                let reason =
                    format!("{path} has {quota} places below it, as many as its quota allows");
                return Err(JournalError::Full { reason });
            }
            depth += 1;
            if depth >= MAX_PLACE_DEPTH {
                let reason = format!("places lie at most {MAX_PLACE_DEPTH} below one another");
                return Err(JournalError::Full { reason });
            }
            above = self.opening(place).and_then(|opening| opening.parent);
        }
        Ok(())
    }
}
