//! Seats: launches that the top account has admitted in advance are counted without locking its book.
//!
//! Once launches of one bill have come in a row, the rule is asked about many more at once (`tallies/spent.rs`). Some of
//! those are granted to the seat through which the launches come: each account directly below the top has one, and so
//! has the top itself. Those who launch through different seats then share no cache line. The book takes every grant for
//! spent. Whoever wants to know it exactly, or changes more than a count, first recalls what is left of all grants.
//!
//! A seat is opened and closed under the lock of the top's book only; what is counted, is counted while it is open. Its
//! count never falls, and it is opened together with the charge of a launch that came through it: so it is never open
//! twice at the same count, and whoever exchanges a word that is open for the next one has read the bill and the end of
//! that grant, and no other. (Not of an older one: the word was published after them. Not of a newer one: whoever has read that
//! knows, by the same order, that the word has been closed since, and the exchange fails.)

use std::sync::{Arc, OnceLock};

use crate::sync::{AtomicU64, Ordering};

/// So many seats are open at once, at the most: all of them are closed under one lock.
const MOST: usize = 64;

/// The step of a count; the lowest bit says that the seat is open.
const ONE: u64 = 2;
const OPEN: u64 = 1;

/// Where an account keeps its seat at the top, once it has one.
pub(crate) type Place = OnceLock<Arc<Seat>>;

/// In cache lines of its own (processors fetch them in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Seat {
    /// How many launches it has counted or was opened with, and whether it is open.
    word: AtomicU64,
    /// The word at which the grant ends.
    end: AtomicU64,
    /// The address of the bill for which it is open. That is listed, so its address stays its own.
    bill: AtomicU64,
}

impl Seat {
    /// Counts one more launch of the bill at this address, if it was granted.
    #[inline]
    pub(super) fn count(&self, bill: usize) -> bool {
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            let open = word & OPEN != 0 && word < self.end.load(Ordering::Acquire);
            if !open || self.bill.load(Ordering::Acquire) != bill as u64 {
                return false;
            }
            let next = word + ONE;
            let (counted, now) = (Ordering::AcqRel, Ordering::Acquire);
            match self.word.compare_exchange_weak(word, next, counted, now) {
                Ok(_) => return true,
                Err(other) => word = other,
            }
        }
    }

    /// Opens it with a launch that has just been charged, for so many more. Says at which count.
    fn open(&self, bill: usize, granted: u64) -> u64 {
        let word = (self.word.load(Ordering::Acquire) | OPEN) + ONE;
        self.bill.store(bill as u64, Ordering::Release);
        self.end.store(word + ONE * granted, Ordering::Release);
        self.word.store(word, Ordering::Release);
        word / ONE
    }

    /// Closes it. Says at which count.
    fn close(&self) -> u64 {
        self.word.fetch_and(!OPEN, Ordering::AcqRel) / ONE
    }
}

/// The seats that are open, as the top's book knows them.
#[derive(Default)]
pub(super) struct Seats {
    open: Vec<Opened>,
}

struct Opened {
    seat: Arc<Seat>,
    /// At which count.
    from: u64,
    granted: u64,
}

/// What came of grants that were recalled.
#[derive(Default)]
pub(super) struct Recalled {
    pub(super) launched: u64,
    /// Granted, and not launched.
    pub(super) left: u64,
}

impl Seats {
    #[inline]
    pub(super) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// How many are open.
    pub(super) fn count(&self) -> u64 {
        self.open.len() as u64
    }

    /// Closes all seats.
    pub(super) fn recall(&mut self) -> Recalled {
        let mut recalled = Recalled::default();
        for opened in self.open.drain(..) {
            recalled.add(&opened);
        }
        recalled
    }

    /// Makes room for one more, in the list and at its place. What it, or all if they are too many, had left is recalled.
    pub(super) fn make_room(&mut self, place: &Place) -> Recalled {
        let seat = place.get_or_init(Arc::default);
        let mine = |opened: &Opened| Arc::ptr_eq(&opened.seat, seat);
        let mut recalled = Recalled::default();
        if let Some(mine) = self.open.iter().position(mine) {
            recalled.add(&self.open.swap_remove(mine));
        } else if self.open.len() >= MOST {
            recalled = self.recall();
        }
        self.open.reserve(1);
        recalled
    }

    /// Opens the seat for which [room was made](Self::make_room).
    pub(super) fn open(&mut self, place: &Place, bill: usize, granted: u64) {
        if let Some(seat) = place.get() {
            let from = seat.open(bill, granted);
            let seat = Arc::clone(seat);
            self.open.push(Opened {
                seat,
                from,
                granted,
            });
        }
    }
}

impl Recalled {
    fn add(&mut self, opened: &Opened) {
        let launched = opened.seat.close() - opened.from;
        self.launched += launched;
        self.left += opened.granted - launched;
    }
}
