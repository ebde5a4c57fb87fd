//! Questions to an account: what was charged at some distance, and what that amounts to. They read the ledger in batches,
//! so that launches go on meanwhile, and ask every different map once.

use std::sync::Arc;

use measures::{Adaptive, FilterRule, Metric, Total, TotalLoss};

use crate::{
    account::{Account, Child, Loss, TallyOf, contradiction},
    addresses::AddressMap,
    bill::{Bill, Quote},
    error::{LaunchError, Refusal},
    ledger::Position,
    measurement::Description,
    quote::quote,
    readings::{Held, Reading},
    tallies::Contradiction,
};

type ReadingOf<MI, R> = Reading<<MI as Metric>::Distance, TallyOf<R>>;

/// What was launched, what each launch was charged, and how many there were.
pub(crate) type Charged<L> = (Arc<Description>, Quote<L>, u64);

impl<MI: Metric, R: FilterRule> Account<MI, R> {
    /// Everything that was charged up to some moment after the call, at this distance: descriptions, quotes and counts.
    pub(crate) fn charges(
        &self,
        d_in: &MI::Distance,
    ) -> Result<Vec<Charged<Loss<R>>>, LaunchError> {
        let until = self.launched();
        let mut charges: Vec<Charged<Loss<R>>> = Vec::new();
        let (mut position, mut read) = (Position::default(), 0);
        while read < until {
            let (batch, to) = self.batch(position);
            position = to;
            for (_, entry, count) in batch {
                let quote = quote(&entry.bill, &entry.description, d_in)?;
                charges.push((entry.description, quote, count));
                read += count;
            }
        }
        Ok(charges)
    }

    /// What was charged up to some moment after the call, at this distance, for the rule.
    #[inline]
    pub(crate) fn tally(&self, d_in: &MI::Distance) -> Result<TallyOf<R>, LaunchError> {
        self.read(d_in, |reading| reading.tallies.total().clone())
    }

    /// Looks at what was charged up to some moment after the call, at this distance. Nothing foreign runs under the lock
    /// but the rule's tallies.
    #[inline]
    fn read<X>(
        &self,
        d_in: &MI::Distance,
        look: impl Fn(&ReadingOf<MI, R>) -> X,
    ) -> Result<X, LaunchError> {
        let until = self.launched();
        let look = |reading: &ReadingOf<MI, R>| (reading.launched >= until).then(|| look(reading));
        match self.ruled(|| self.readings.look(d_in, look))? {
            Some(seen) => Ok(seen),
            None => self.read_on(d_in, look),
        }
    }

    fn read_on<X>(
        &self,
        d_in: &MI::Distance,
        look: impl Fn(&ReadingOf<MI, R>) -> Option<X>,
    ) -> Result<X, LaunchError> {
        let held = self.ruled(|| self.readings.hold(d_in, &self.zero))?;
        // Each different map is asked once, however often its measurement was launched.
        let mut quotes = AddressMap::default();
        loop {
            let seen = self.ruled(|| held.with(|reading| (look(reading), reading.read)))?;
            match seen {
                Some((Some(seen), _)) => return Ok(seen),
                Some((None, from)) => self.read_batch(d_in, &held, from, &mut quotes)?,
                None => return Err(LaunchError::Contended),
            }
        }
    }

    /// Reads a little further. Maps are asked with no lock held; if another thread was faster, its work counts.
    fn read_batch(
        &self,
        d_in: &MI::Distance,
        held: &Held<'_, MI::Distance, TallyOf<R>>,
        from: Position,
        quotes: &mut AddressMap<u32, Quote<Loss<R>>>,
    ) -> Result<(), LaunchError> {
        let (batch, to) = self.batch(from);
        for (number, entry, _) in &batch {
            if !quotes.contains_key(number) {
                let quote = quote(&entry.bill, &entry.description, d_in)?;
                quotes.insert(*number, quote);
            }
        }
        let absorbed = self.ruled(|| {
            held.with(|reading| {
                if reading.read != from {
                    return Ok(());
                }
                // A tally that panics half-way leaves an empty reading behind, which starts again.
                let (mut tallies, mut launched) = reading.take(&self.zero);
                for (number, entry, count) in &batch {
                    let quote = &quotes[number];
                    tallies
                        .absorb(quote, *count, &self.zero)
                        .map_err(|Contradiction| contradiction(&entry.description))?;
                    launched += count;
                }
                reading.put(tallies, to, launched);
                Ok(())
            })
        })?;
        absorbed.unwrap_or(Ok(()))
    }
}

impl<MI: Metric, R: Adaptive> Account<MI, R> {
    /// The loss of what was charged up to some moment after the call, at this distance.
    #[inline]
    pub(crate) fn loss(&self, d_in: &MI::Distance) -> Result<Total<TotalLoss<R>>, LaunchError> {
        let total = self.tally(d_in)?;
        self.ruled(|| self.rule.loss(&total))
    }

    /// What would be charged after one more launch, and how many launches there were before it.
    pub(crate) fn after(
        &self,
        bill: &Bill<MI, Child<R>>,
        description: &Description,
        d_in: &MI::Distance,
    ) -> Result<(TallyOf<R>, u64), LaunchError> {
        let quote = quote(bill, description, d_in)?;
        let after = self.read(d_in, |reading| {
            let after = reading.tallies.after(&quote, 1, &self.zero);
            after.map(|after| (after.total().clone(), reading.launched))
        })?;
        after.map_err(|Contradiction| contradiction(description))
    }

    /// Why a launch would pass a limit that is not the cap.
    pub(crate) fn over(
        &self,
        bill: &Bill<MI, Child<R>>,
        description: &Description,
        d_in: &MI::Distance,
        limit: &TotalLoss<R>,
    ) -> Result<Refusal, LaunchError> {
        let asked = quote(bill, description, d_in)?;
        let spent = self.tally(d_in)?;
        self.ruled(|| {
            let room = self.rule.room(&spent, limit);
            let loss = self.rule.loss(&spent);
            self.refusal(description, d_in, limit, Some(&asked), room, &loss)
        })
    }
}
