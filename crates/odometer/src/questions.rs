//! Questions to an account: what was charged at some distance, and what that amounts to. They read the ledger in batches,
//! so that launches go on meanwhile, and ask every different map once.

use std::sync::Arc;

use measures::{Adaptive, FilterRule, Loss, Measure, Metric, Total, TotalLoss};

use crate::{
    account::{Account, Child, Loss as LossOf, TallyOf, contradiction},
    addresses::AddressMap,
    bill::{Bill, Quote},
    error::{LaunchError, Refusal},
    ledger::Position,
    measurement::Description,
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
    ) -> Result<Vec<Charged<LossOf<R>>>, LaunchError> {
        let until = self.launched();
        let mut charges: Vec<Charged<LossOf<R>>> = Vec::new();
        let (mut position, mut read) = (Position::default(), 0);
        while read < until {
            let batch = self.batch(position, |_| false);
            position = batch.to;
            for ((_, bill), (_, count)) in batch.unknown.into_iter().zip(batch.runs) {
                let quote = bill.quoted(d_in)?;
                charges.push((Arc::clone(bill.description()), quote, count));
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
        let mut quotes = Quotes::default();
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
        quotes: &mut Quotes<LossOf<R>>,
    ) -> Result<(), LaunchError> {
        let batch = self.batch(from, |number| quotes.get(number).is_some());
        for (number, bill) in batch.unknown {
            quotes.ask(number, &bill, d_in)?;
        }
        let absorbed = self.ruled(|| {
            held.with(|reading| {
                if reading.read != from {
                    return Ok(());
                }
                // A tally that panics half-way leaves an empty reading behind, which starts again.
                let (mut tallies, mut launched) = reading.take(&self.zero);
                for (number, count) in batch.runs {
                    let quote = quotes.get(number).ok_or(Contradiction)?;
                    tallies.absorb(quote, count, &self.zero)?;
                    launched += count;
                }
                reading.put(tallies, batch.to, launched);
                Ok(())
            })
        })?;
        let absorbed: Result<(), Contradiction> = absorbed.unwrap_or(Ok(()));
        absorbed.map_err(|Contradiction| contradiction())
    }
}

/// What was quoted while reading on. Bills are numbered as they first appear, so most of them follow one another.
struct Quotes<L> {
    first: u32,
    following: Vec<Quote<L>>,
    others: AddressMap<u32, Quote<L>>,
}

impl<L> Default for Quotes<L> {
    fn default() -> Self {
        Self {
            first: 0,
            following: Vec::new(),
            others: AddressMap::default(),
        }
    }
}

impl<L: Loss> Quotes<L> {
    #[inline]
    fn get(&self, number: u32) -> Option<&Quote<L>> {
        let at = number.checked_sub(self.first);
        at.and_then(|at| self.following.get(at as usize))
            .or_else(|| self.others.get(&number))
    }

    /// Asks for a quote, unless it is there.
    fn ask<MI: Metric, M: Measure<Loss = L>>(
        &mut self,
        number: u32,
        bill: &Bill<MI, M>,
        d_in: &MI::Distance,
    ) -> Result<(), LaunchError> {
        if self.following.is_empty() {
            self.first = number;
        }
        if number as usize == self.first as usize + self.following.len() {
            return bill.quote_onto(d_in, &mut self.following);
        }
        if self.get(number).is_none() {
            self.others.insert(number, bill.quoted(d_in)?);
        }
        Ok(())
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
        d_in: &MI::Distance,
    ) -> Result<(TallyOf<R>, u64), LaunchError> {
        let quote = bill.quoted(d_in)?;
        let after = self.read(d_in, |reading| {
            let after = reading.tallies.after(&quote, 1, &self.zero);
            after.map(|after| (after.total().clone(), reading.launched))
        })?;
        after.map_err(|Contradiction| contradiction())
    }

    /// Why a launch would pass a limit that is not the cap.
    pub(crate) fn over(
        &self,
        bill: &Bill<MI, Child<R>>,
        d_in: &MI::Distance,
        limit: &TotalLoss<R>,
    ) -> Result<Refusal, LaunchError> {
        let asked = bill.quoted(d_in)?;
        let spent = self.tally(d_in)?;
        self.ruled(|| {
            let room = self.rule.room(&spent, limit);
            let loss = self.rule.loss(&spent);
            self.refusal(bill.description(), d_in, limit, Some(&asked), room, &loss)
        })
    }
}
