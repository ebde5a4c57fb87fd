//! Tallies of a journal, without any session.

use std::collections::HashMap;

use measures::Tallied;

use crate::{
    account::cost::GroupId,
    account::recorded::{damaged, other_distances, read_posted},
    account::tallies::Tallies,
    journal::{JournalError, Place, Run, State},
};

impl State {
    /// What was charged to an account, for its rule, at one of the distances of its terms (the first
    /// is its budget's). It is what a session that is opened there remembers.
    ///
    /// The rule must be the one that the account's terms name: its name is not checked here.
    ///
    /// ```
    /// use odometry::measures::{Adaptive, Basic, PrivacyMap, PureDp};
    /// use odometry::odometer::journal::{Books, Memory, Place, State};
    /// use odometry::odometer::{Measurement, Odometer, Records};
    /// let records = Records::<i64>::new();
    /// let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.4")?, |_, _| Ok(42));
    /// let (rule, journal) = (Basic::new(PureDp), Memory::new());
    /// let session = Odometer::new(records, rule).named("team").filter_on(&Books::new(journal.clone()), 1, "1", vec![1])?;
    /// session.launch(&query)?;
    ///
    /// let mut state = State::new();
    /// for record in journal.records() {
    ///     state.apply(&record)?;
    /// }
    /// let tally = state.tally(Place(0), 0, &rule)?;
    /// assert_eq!(rule.loss(&tally).to_string(), "0.4");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`JournalError::Damaged`] if its charges are not of this rule's measure.
    pub fn tally<R: Tallied>(
        &self,
        account: Place,
        distance: usize,
        rule: &R,
    ) -> Result<R::Tally, JournalError> {
        let past = self.past(account);
        let past = past.ok_or_else(|| damaged(format!("there is no place {account}")))?;
        let (zero, measure) = (rule.start(), rule.child());
        let mut tallies = Tallies::new(zero.clone());
        let mut groups = HashMap::new();
        let mut group = |place| {
            let group = groups.entry(place);
            group.or_insert_with(|| GroupId::at(place)).clone()
        };
        for Run { launch, count } in past.runs {
            let costs = read_posted(&measure, &launch.1, &mut group)?;
            let cost = costs.get(distance).ok_or_else(other_distances)?;
            let after = tallies.after(cost, count, &zero);
            let mut after = after.map_err(|_| damaged("its parts contradict each other"))?;
            tallies.reserve(&mut after);
            tallies.commit(&mut after);
        }
        Ok(tallies.total().clone())
    }
}
