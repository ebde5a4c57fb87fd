//! Questions to an account: what was charged at some distance, and what that amounts to. They read the list in batches, so
//! that launches go on meanwhile, and ask every different map once.

use std::sync::Arc;

use measures::{Adaptive, ChildLoss, Measure, Metric, Tallied, Total, TotalLoss};
use queryable::guarded;

use crate::{
    account::Account,
    account::addresses::AddressMap,
    account::bill::{Bill, Quote},
    account::curves::Curves,
    account::launches::{Pages, Position},
    account::readings::{Held, Reading},
    account::tallies::{Alike, Contradiction},
    error::LaunchError,
    measurement::Description,
    refusal::Refusal,
};

/// How many runs are read at a time.
const BATCH: usize = 256;

type ReadingOf<MI, R> = Reading<<MI as Metric>::Distance, <R as Tallied>::Tally>;

/// What was launched, and how often in a row.
pub type Listed = (Arc<Description>, u64);

/// What was launched, what each launch was charged, and how many there were.
pub(crate) type Charged<L> = (Arc<Description>, Quote<L>, u64);

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// Everything that was charged up to some moment after the call, at this distance: descriptions, quotes and counts.
    pub(crate) fn charges(
        &self,
        d_in: &MI::Distance,
    ) -> Result<Vec<Charged<ChildLoss<R>>>, LaunchError> {
        let until = self.launched();
        let mut charges: Vec<Charged<ChildLoss<R>>> = Vec::new();
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

    /// Everything that was launched up to some moment after the call, in order, each run with its count.
    pub(crate) fn launches(&self) -> Vec<Listed> {
        let until = self.launched();
        let (mut all, mut position, mut read) = (Vec::new(), Position::default(), 0);
        while read < until {
            let (page, pages) = self.page(position, usize::MAX);
            position = pages.to;
            read += page.iter().map(|(_, count)| count).sum::<u64>();
            append(&mut all, page, pages.continues);
        }
        all
    }

    /// At most `most` runs after those that were read, and a mark behind them.
    pub(crate) fn launches_after(
        &self,
        Bookmark(mut position): Bookmark,
        most: usize,
    ) -> (Vec<Listed>, Bookmark) {
        let mut all = Vec::new();
        loop {
            let (page, pages) = self.page(position, most - all.len());
            position = pages.to;
            let ended = page.is_empty();
            append(&mut all, page, pages.continues);
            if ended || all.len() >= most {
                return (all, Bookmark(position));
            }
        }
    }

    /// Some of what was launched, in order, each run with its count; how those lie among all. The lock is held for a
    /// moment, however many there are.
    fn page(&self, from: Position, most: usize) -> (Vec<Listed>, Pages) {
        let most = most.min(BATCH);
        let mut listed = Vec::with_capacity(most);
        let book = self.busy.book();
        let (runs, pages) = book.launches.after(from, most, book.launched);
        listed.extend(runs.map(|(number, count)| {
            let bill = book.launches.bill(number);
            (Arc::clone(bill.description()), count)
        }));
        (listed, pages)
    }

    /// A few runs: the numbers of their bills, and counts; the bills that are not `known`; and where they end.
    pub(super) fn batch(&self, from: Position, known: impl Fn(u32) -> bool) -> Batch<MI, R::Child> {
        let buffer = Vec::with_capacity(BATCH);
        let book = self.busy.book();
        let (runs, pages) = book.launches.after(from, BATCH, book.launched);
        let mut batch = Batch {
            runs: buffer,
            unknown: Vec::new(),
            to: pages.to,
        };
        for (number, count) in runs {
            batch.runs.push((number, count));
            if !known(number) {
                let bill = book.launches.bill(number).clone();
                batch.unknown.push((number, bill));
            }
        }
        batch
    }

    /// What was charged up to some moment after the call, at this distance, for the rule.
    #[inline]
    pub(crate) fn tally(&self, d_in: &MI::Distance) -> Result<R::Tally, LaunchError> {
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
        let look = |reading: &ReadingOf<MI, R>| {
            let known = reading.launched >= until && reading.tallies.is_settled();
            known.then(|| look(reading))
        };
        match self.ruled(|| self.readings.look(d_in, look))? {
            Some(seen) => Ok(seen),
            None => self.read_on(d_in, until, look),
        }
    }

    fn read_on<X>(
        &self,
        d_in: &MI::Distance,
        until: u64,
        look: impl Fn(&ReadingOf<MI, R>) -> Option<X>,
    ) -> Result<X, LaunchError> {
        let held = self.ruled(|| self.readings.hold(d_in, &self.zero))?;
        self.begin(d_in, until, &held)?;
        let (mut quotes, mut alike) = (Quotes::default(), Alike::default());
        loop {
            let seen = self.ruled(|| {
                held.with(|reading| {
                    let before = reading.settle(until, &self.zero);
                    (look(reading), reading.read, before)
                })
            })?;
            let Some((seen, from, before)) = seen else {
                return Err(LaunchError::Contended);
            };
            let _ = guarded(|| drop(before));
            match seen {
                Some(seen) => return Ok(seen),
                None => self.read_batch(d_in, &held, from, &mut quotes, &mut alike)?,
            }
        }
    }

    /// A reading that has read nothing begins where the sums of all launches are.
    fn begin(
        &self,
        d_in: &MI::Distance,
        until: u64,
        held: &Held<'_, MI::Distance, R::Tally>,
    ) -> Result<(), LaunchError> {
        let begun = held.with(|reading| reading.launched > 0);
        if until == 0 || begun != Some(false) {
            return Ok(());
        }
        let Some(scaled) = self.scaled(d_in, until)? else {
            return Ok(());
        };
        let before = held.with(|reading| match reading.launched {
            0 => reading.put(scaled.tallies, scaled.read, scaled.launched),
            _ => scaled.tallies,
        });
        let _ = guarded(|| drop(before));
        Ok(())
    }

    /// Reads a little further. Maps are asked with no lock held; if another thread was faster, its work counts.
    fn read_batch(
        &self,
        d_in: &MI::Distance,
        held: &Held<'_, MI::Distance, R::Tally>,
        from: Position,
        quotes: &mut Quotes<R::Child>,
        alike: &mut Alike<R::Tally>,
    ) -> Result<(), LaunchError> {
        let batch = self.batch(from, |number| quotes.get(number).is_some());
        for (number, bill) in batch.unknown {
            quotes.ask(number, &bill, d_in)?;
        }
        let before = self.ruled(|| {
            held.with(|reading| {
                if reading.read != from {
                    return Ok(None);
                }
                // A tally that panics half-way leaves an empty reading behind, which starts again.
                let (mut tallies, mut launched) = reading.take(&self.zero);
                for (number, count) in batch.runs {
                    let quote = quotes.get(number).ok_or(Contradiction)?;
                    tallies.absorb(quote, count, &self.zero, alike)?;
                    launched += count;
                }
                Ok(Some(reading.put(tallies, batch.to, launched)))
            })
        })?;
        match before {
            Some(Err(Contradiction)) => Err(Contradiction.into()),
            Some(Ok(Some(before))) => {
                let _ = guarded(|| drop(before));
                Ok(())
            }
            Some(Ok(None)) | None => Ok(()),
        }
    }
}

/// Some runs of the list.
pub(super) struct Batch<MI: Metric, M: Measure> {
    pub(super) runs: Vec<(u32, u64)>,
    pub(super) unknown: Vec<(u32, Bill<MI, M>)>,
    pub(super) to: Position,
}

/// A page of runs behind others. Its first run may be the rest of their last.
fn append(all: &mut Vec<Listed>, mut page: Vec<Listed>, continues: bool) {
    if let (true, Some((_, count)), Some((_, more))) = (continues, all.last_mut(), page.first()) {
        *count += more;
        page.remove(0);
    }
    all.append(&mut page);
}

/// How far somebody has read the list of an account's launches; at first, not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bookmark(Position);

/// What was quoted while reading on. Bills are numbered as they first appear, so most of them follow one another.
struct Quotes<M: Measure> {
    first: u32,
    following: Vec<Quote<M::Loss>>,
    others: AddressMap<u32, Quote<M::Loss>>,
    curves: Curves<M>,
}

impl<M: Measure> Default for Quotes<M> {
    fn default() -> Self {
        Self {
            first: 0,
            following: Vec::new(),
            others: AddressMap::default(),
            curves: Curves::default(),
        }
    }
}

impl<M: Measure> Quotes<M> {
    #[inline]
    fn get(&self, number: u32) -> Option<&Quote<M::Loss>> {
        let at = number.checked_sub(self.first);
        at.and_then(|at| self.following.get(at as usize))
            .or_else(|| self.others.get(&number))
    }

    /// Asks for a quote, unless it is there.
    fn ask<MI: Metric>(
        &mut self,
        number: u32,
        bill: &Bill<MI, M>,
        d_in: &MI::Distance,
    ) -> Result<(), LaunchError> {
        if self.following.is_empty() {
            self.first = number;
        }
        if number as usize == self.first as usize + self.following.len() {
            return bill.quote_onto(d_in, &mut self.curves, &mut self.following);
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
        self.ruled(move || self.rule.loss(&total))
    }

    /// What would be charged after one more launch, and how many launches there were before it.
    pub(crate) fn after(
        &self,
        bill: &Bill<MI, R::Child>,
        d_in: &MI::Distance,
    ) -> Result<(R::Tally, u64), LaunchError> {
        let quote = bill.quoted(d_in)?;
        let after = self.read(d_in, |reading| {
            let after = reading.tallies.after(&quote, 1, &self.zero);
            after.map(|after| (after.total().clone(), reading.launched))
        })?;
        Ok(after?)
    }

    /// Why a launch would pass a budget that is not the cap.
    pub(crate) fn over(
        &self,
        bill: &Bill<MI, R::Child>,
        d_in: &MI::Distance,
        budget: &TotalLoss<R>,
    ) -> Result<Refusal, LaunchError> {
        let asked = bill.quoted(d_in)?;
        let spent = self.tally(d_in)?;
        self.ruled(move || {
            let room = self.rule.remaining_within(&spent, budget);
            let loss = self.rule.loss(&spent);
            let launch = (bill.description(), Some(&asked));
            self.refusal(launch, (d_in, budget), room, loss)
        })
    }
}
