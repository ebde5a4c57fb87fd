//! An account's book: what was launched, and what that amounts to at its cap's distance; and the lock around it.

use measures::{Metric, Tallied};

use crate::{
    account::ascent::Launch,
    account::bill::Bill,
    account::launches::{Entry, Launches},
    account::seat::{Place, Recalled, Seats},
    account::tallies::Spent,
    sync::{AtomicU64, Mutex, MutexGuard, Ordering, lock},
};

/// More launches than anybody could make.
const MOST_LAUNCHES: u64 = 1 << 62;

/// An account without a cap grants so many launches at once.
const UNLIMITED: u64 = 1 << 48;

/// After so many launches in a row, about which nobody has asked, seats are opened.
const CALM: u64 = if cfg!(model) { 1 } else { 8 };

/// Among what is published: some launches may be counted elsewhere.
const ELSEWHERE: u64 = 1 << 63;

/// What every launch changes, in cache lines of its own (processors fetch them in pairs): who launches in another account
/// reads what is around it.
#[repr(C, align(128))]
pub(super) struct Busy<MI: Metric, R: Tallied> {
    /// How many launches the book knows of, for those who do not lock it.
    published: AtomicU64,
    book: Mutex<Book<MI, R>>,
}

// What is changed by a launch that is only counted lies in the first line, beside the lock.
#[repr(C)]
pub(super) struct Book<MI: Metric, R: Tallied> {
    pub(super) halted: bool,
    capped: bool,
    /// How many launches were charged, but for those that are counted in open seats.
    pub(super) launched: u64,
    /// How many launches in a row were charged since somebody asked for the book.
    calm: u64,
    /// What was charged at the cap's distance.
    pub(super) spent: Spent<R::Tally>,
    seats: Seats,
    pub(super) launches: Launches<MI, R::Child>,
}

impl<MI: Metric, R: Tallied> Busy<MI, R> {
    pub(super) fn new(zero: R::Tally, capped: bool) -> Self {
        Self {
            published: AtomicU64::new(0),
            book: Mutex::new(Book {
                halted: false,
                capped,
                launched: 0,
                calm: 0,
                spent: Spent::new(zero),
                seats: Seats::default(),
                launches: Launches::new(),
            }),
        }
    }

    /// How many launches have been charged.
    #[inline]
    pub(super) fn launched(&self) -> u64 {
        match self.published.load(Ordering::Acquire) {
            launched if launched & ELSEWHERE == 0 => launched,
            _ => self.book().launched,
        }
    }

    /// Locks the book and recalls all grants: it is exact, and nobody launches meanwhile.
    pub(super) fn book(&self) -> MutexGuard<'_, Book<MI, R>> {
        let mut book = self.lock();
        self.recall(&mut book);
        book.calm = 0;
        book
    }

    /// Locks the book only: others may count launches in their seats meanwhile.
    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, Book<MI, R>> {
        lock(&self.book)
    }

    /// Before this launch is looked at, while the book is locked: unless it only counts, it needs the exact book.
    #[inline]
    pub(super) fn recall_for(
        &self,
        book: &mut Book<MI, R>,
        bill: &Bill<MI, R::Child>,
        launch: &Launch<'_>,
    ) {
        if book.seats.are_open()
            && !(launch.may_count() && book.counts() && book.launches.is_last(bill))
        {
            self.recall(book);
        }
        if !launch.may_count() {
            book.calm = 0;
        }
    }

    fn recall(&self, book: &mut Book<MI, R>) {
        if book.seats.are_open() {
            let recalled = book.seats.recall();
            book.hear(recalled);
            self.publish(book);
        }
    }

    /// So many launches have been charged.
    #[inline]
    pub(super) fn publish(&self, book: &Book<MI, R>) {
        let elsewhere = if book.seats.are_open() { ELSEWHERE } else { 0 };
        // Only changed under the lock.
        let published = book.launched | elsewhere;
        self.published.store(published, Ordering::Release);
    }

    /// Grants launches of the last bill, at this address, to a seat for which [room was made](Book::may_grant).
    #[inline(never)]
    pub(super) fn grant(&self, book: &mut Book<MI, R>, place: &Place, bill: usize) {
        // Before it is open: whoever counts there and then asks here is told that there is more.
        let published = book.launched | ELSEWHERE;
        self.published.store(published, Ordering::Release);
        let granted = match book.capped {
            true => book.spent.grant(book.seats.count() + 2),
            false => UNLIMITED,
        };
        book.seats.open(place, bill, granted);
    }
}

impl<MI: Metric, R: Tallied> Book<MI, R> {
    /// Are so many more launches not too many?
    #[inline]
    pub(super) fn has_room(&self, more: u64) -> bool {
        let launched = self.launched.checked_add(more);
        launched.is_some_and(|launched| launched <= MOST_LAUNCHES)
    }

    /// Charges so many launches where [`Launches::entry`] said: they [are not too many](Self::has_room).
    #[inline]
    pub(super) fn record(&mut self, entry: Entry, bill: &Bill<MI, R::Child>, count: u64) {
        self.calm = match entry {
            Entry::Again => self.calm + 1,
            Entry::Known(_) | Entry::New => 0,
        };
        self.launches.record(entry, bill, self.launched);
        self.launched += count;
    }

    /// Is one more launch of the last bill admitted by counting it?
    #[inline]
    pub(super) fn counts(&self) -> bool {
        !self.capped || self.spent.counts()
    }

    /// Could launches of the last bill be granted to the seat at this place? Then there is room for it.
    #[inline]
    pub(super) fn may_grant(&mut self, place: &Place) -> bool {
        let may = self.calm >= CALM && self.counts();
        if may {
            let recalled = self.seats.make_room(place);
            self.hear(recalled);
        }
        may
    }

    /// What came of grants.
    fn hear(&mut self, Recalled { launched, left }: Recalled) {
        self.launched += launched;
        if self.capped {
            self.spent.take_back(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use measures::{Basic, PrivacyMap, PureDp, SymmetricDistance, Tallied as _};

    use super::*;

    /// How many were launched is known without the lock, also where some were counted in a seat; and then nobody counts any more.
    #[test]
    fn what_is_counted_elsewhere_is_launched() {
        let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
        let bill = Bill::<SymmetricDistance, PureDp>::direct(Arc::default(), map);
        let busy = Busy::<SymmetricDistance, Basic<PureDp>>::new(Basic::new(PureDp).start(), false);
        let place = Place::new();
        let launch = || {
            let mut book = busy.lock();
            let entry = book.launches.entry(&bill, None).unwrap();
            let granted = matches!(entry, Entry::Again) && book.may_grant(&place);
            book.record(entry, &bill, 1);
            match granted {
                true => busy.grant(&mut book, &place, bill.address()),
                false => busy.publish(&book),
            }
            granted
        };
        for round in 1..=3 {
            let one_by_one = 1 + (0..100).take_while(|_| !launch()).count() as u64;
            assert!(one_by_one <= CALM + 2);
            let seat = place.get().unwrap();
            assert!(!seat.count(bill.address() + 1), "of another bill");
            assert!((0..10).all(|_| seat.count(bill.address())));
            let before: u64 = busy.lock().launched;
            assert_eq!(busy.launched(), before + 10, "round {round}");
            assert!(!seat.count(bill.address()));
            assert_eq!(busy.launched(), before + 10);
        }
    }
}
