//! What was written down, told to a rule again without any session: for whoever looks at a journal.

use std::collections::HashMap;

use measures::{Measure as _, Tallied};

use crate::{
    account::bill::{GroupId, Quote},
    account::recorded::{damaged, part_quotes, read},
    account::tallies::Tallies,
    journal::{JournalError, Place, Posted, Run, State},
};

impl State {
    /// What was charged to an account, for its rule, at one of the distances of its terms (the first is its budget's). It is
    /// what a session that is opened there remembers.
    ///
    /// The rule must be the one that the account's terms name: it is not asked for its name here.
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
    /// [`JournalError::Damaged`] if its charges are none of this rule's measure.
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
        for Run { launch, count } in past.runs {
            let quote = quote(&launch.1, distance, &mut groups)?;
            let checked = match &quote {
                Quote::Direct(loss) => measure.check(loss),
                Quote::Part(part) => part.losses.iter().try_for_each(|loss| measure.check(loss)),
            };
            checked.map_err(|error| damaged(error.to_string()))?;
            let after = tallies.after(&quote, count, &zero);
            let mut after = after.map_err(|_| damaged("its parts contradict each other"))?;
            tallies.make_room(&mut after);
            tallies.commit(&mut after);
        }
        Ok(tallies.total().clone())
    }
}

/// A price at the distance with this number.
fn quote<L: measures::Loss>(
    posted: &Posted,
    distance: usize,
    groups: &mut HashMap<Place, GroupId>,
) -> Result<Quote<L>, JournalError> {
    let nowhere = || damaged("a charge is at other distances than its account");
    match posted {
        Posted::Direct { losses, .. } => {
            let loss = losses.get(distance).ok_or_else(nowhere)?;
            Ok(Quote::Direct(read(loss)?))
        }
        Posted::Part { path, losses, .. } => {
            let mut group = |place| {
                let group = groups.entry(place);
                group.or_insert_with(|| GroupId::at(place)).clone()
            };
            let quotes = part_quotes(path, losses, &mut group)?;
            quotes.into_iter().nth(distance).ok_or_else(nowhere)
        }
        Posted::Slot { .. } => Err(damaged("a slot was taken of what is no compositor")),
    }
}
