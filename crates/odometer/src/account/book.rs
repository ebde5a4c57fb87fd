//! An account's book: what was launched, and what that amounts to at its cap's distance; and the lock around it.

use measures::{Metric, Tallied};

use crate::{
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
    /// What was charged at the cap's distance.
    pub(super) spent: Spent<R::Tally>,
    pub(super) seats: Seats,
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
        book.seats.disturb();
        self.recall(&mut book);
        book
    }

    /// Locks the book only: others may count launches in their seats meanwhile.
    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, Book<MI, R>> {
        lock(&self.book)
    }

    /// Recalls all grants.
    #[inline]
    pub(super) fn recall(&self, book: &mut Book<MI, R>) {
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
        self.launches.record(entry, bill, self.launched);
        self.launched += count;
    }

    /// Is one more launch of the last bill admitted by counting it?
    #[inline]
    pub(super) fn counts(&self) -> bool {
        !self.capped || self.spent.counts()
    }

    /// Is it one more launch of the last bill, admitted by counting it?
    #[inline]
    pub(super) fn only_counts(&self, bill: &Bill<MI, R::Child>) -> bool {
        self.counts() && self.launches.is_last(bill)
    }

    /// Could launches of the last bill be granted to the seat at this place? Then there is room for it.
    #[inline(never)]
    pub(super) fn may_grant(&mut self, place: &Place) -> bool {
        if self.halted || !self.counts() {
            return false;
        }
        let recalled = self.seats.make_room(place);
        let time = recalled.is_some();
        self.hear(recalled.unwrap_or_default());
        time
    }

    /// Grants launches of the last bill, at this address, to a seat for which [room was made](Self::may_grant).
    #[inline(never)]
    pub(super) fn grant(&mut self, place: &Place, bill: usize) {
        let granted = match self.capped {
            true => self.spent.grant(),
            false => UNLIMITED,
        };
        self.seats.open(place, bill, granted);
    }

    /// What came of grants.
    fn hear(&mut self, Recalled { launched, left }: Recalled) {
        self.launched += launched;
        if self.capped {
            self.spent.take_back(left);
        }
    }
}
