//! Whether a launch fits into one account, which is locked: in its list, and within its budget.

use measures::{Metric, Tallied};

use crate::{
    account::ascent::Launch,
    account::bill::Quote,
    account::book::Book,
    account::contained::Contained,
    account::launches::Entry,
    account::refusing::Refused,
    account::seat::Place,
    account::settling::Demand,
    account::tallies::{Contradiction, Next},
    account::{Account, Cap},
};

/// What changes in the list of launches once all have agreed.
pub(super) struct Listing<'l> {
    pub(super) entry: Entry,
    /// The seat to which more launches will be granted.
    pub(super) seat: Option<&'l Place>,
}

impl Listing<'_> {
    /// Is it one more launch of the last bill?
    #[inline]
    pub(super) fn is_again(&self) -> bool {
        matches!(self.entry, Entry::Again)
    }
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// Where the launch will be listed, with room made for it.
    #[inline(always)]
    pub(super) fn list<'l>(
        &self,
        book: &mut Book<MI, R>,
        demand: &Demand<'_, 'l, MI, R>,
    ) -> Result<Listing<'l>, Box<Refused<R::Tally>>> {
        let (launch, expected) = (demand.launch, demand.expected);
        self.busy.recall_for(book, demand.bill, launch);
        if expected.is_some_and(|expected| expected != book.launched) {
            return Err(Refused::Moved.boxed());
        }
        if book.halted && demand.quote.is_some() {
            return Err(Refused::Halted.boxed());
        }
        let entry = book.launches.entry(demand.bill, Some(self.quota));
        let Some(entry) = entry.filter(|_| book.has_room(1)) else {
            return Err(Refused::Full.boxed());
        };
        if self.sequence.is_some() {
            launch.expect_turn();
        }
        if let Some(messages) = self.messages {
            launch.answers_at_most(messages);
        }
        let seat = None;
        Ok(Listing { entry, seat })
    }

    /// The seat to which more launches of this bill may be granted, if this is the top account, with room made for it. Where
    /// launches take turns or messages are counted, every one of them has to come here.
    #[inline]
    pub(super) fn seat_of<'l>(
        &self,
        book: &mut Book<MI, R>,
        launch: &Launch<'l>,
    ) -> Option<&'l Place> {
        // On a ledger every launch has to be written down.
        let locks = self.journaled.is_some() || self.sequence.is_some() || self.messages.is_some();
        if self.parent.is_some() || locks || !launch.may_count() {
            return None;
        }
        launch.seat.get().filter(|place| book.may_grant(place))
    }

    /// What will have been spent, with room made for it. After a few launches in a row the rule is asked about many more at
    /// once; if it does not admit those, this one is asked about again, by itself.
    #[inline(never)]
    pub(super) fn spend(
        &self,
        demand: &Demand<'_, '_, MI, R>,
        again: bool,
        book: &mut Book<MI, R>,
        next: &mut Contained<Next<R::Tally>>,
    ) -> Result<(), Box<Refused<R::Tally>>> {
        let (Some(cap), Some(quote), launch) = (&self.cap, demand.quote, demand.launch) else {
            return Ok(());
        };
        // A price that is not remembered is asked for again, so each launch is charged its own.
        let remembered = || demand.bill.remembered(&cap.d_in).is_some();
        let many = match quote {
            Quote::Direct(each) if again && launch.at_once.get() && remembered() => {
                book.spent.many().map(|many| (each, many))
            }
            Quote::Direct(_) | Quote::Part(_) => None,
        };
        let n = many.map_or(1, |(_, many)| many);
        match book.spent.after(quote, n, &self.zero) {
            Ok(after) => next.put(after),
            Err(Contradiction) => return Err(Refused::Contradiction.boxed()),
        }
        let fits = next.get().filter(|next| cap.gate.fits(next.total()));
        match (fits, many) {
            (Some(_), Some((each, many))) => book.spent.admit(each, many),
            (Some(next), None) => book.spent.make_room(next),
            (None, Some(_)) => {
                book.spent.admit_fewer();
                return Err(Refused::Moved.boxed());
            }
            (None, None) => return Err(self.too_little(cap, launch, book)),
        }
        Ok(())
    }

    /// Too little is left: why, and whether the account halts.
    #[cold]
    fn too_little(
        &self,
        cap: &Cap<MI, R>,
        launch: &Launch<'_>,
        book: &mut Book<MI, R>,
    ) -> Box<Refused<R::Tally>> {
        let refused = Refused::Over(book.spent.total()).boxed();
        book.halted = cap.halting && launch.may_halt();
        if let (true, Some(drafting)) = (book.halted, launch.drafting) {
            self.halt_durably(drafting);
        }
        refused
    }
}
