//! What was charged to an account at its cap's distance, where launches of one measurement in a row are only counted.
//!
//! Absorbing launches one by one or all at once is the same ([`Tally::absorb`]), and a rule that admits many admits fewer
//! (`FilterRule::fits`). So once a few launches of one bill have come in a row, the rule is asked about as many more together. As
//! long as those last, the next one is admitted by counting it; the tallies hear of them when somebody wants to know.

use std::mem;

use measures::Tally;

use super::{Contradiction, Pending, Tallies};
use crate::account::bill::{Quote, Step};

/// So many launches in a row are charged one by one.
const FEW: u64 = if cfg!(model) { 1 } else { 8 };
/// The rule is asked about so many at once, at the least.
const LEAST: u64 = 8;
/// The rule is asked about so many at once, at the most.
const MOST: u64 = 1 << 12;

// What a launch that is only counted touches comes first: it lies in the cache line of the lock.
#[repr(C)]
pub(crate) struct Spent<T: Tally> {
    /// How many more launches of the last bill fit, as the rule has said.
    left: u64,
    /// How many launches of the last bill the tallies have not heard of; there are none if some are in parts.
    counted: u64,
    /// How many came in a row: the rule will be asked about as many more.
    row: u64,
    /// What each of those that were counted costs. Its destructor is somebody's code: it leaves through a [`Next`].
    each: Option<T::Loss>,
    tallies: Tallies<T>,
}

/// What would be spent with launches more, not yet in force; then, what was before.
pub(crate) struct Next<T: Tally> {
    pending: Pending<T>,
    each: Option<T::Loss>,
}

impl<T: Tally> Next<T> {
    #[inline]
    pub(crate) fn total(&self) -> &T {
        self.pending.total()
    }
}

impl<T: Tally> Spent<T> {
    pub(crate) fn new(zero: T) -> Self {
        Self {
            left: 0,
            counted: 0,
            row: 0,
            each: None,
            tallies: Tallies::new(zero),
        }
    }

    /// Is one more launch of the last bill admitted by counting it?
    #[inline]
    pub(crate) fn counts(&self) -> bool {
        self.left > 0
    }

    /// Charges one more launch of the last bill, which [is admitted](Self::counts).
    #[inline]
    pub(crate) fn count(&mut self) {
        self.left -= 1;
        self.counted += 1;
    }

    /// Grants one share in so many of the launches of the last bill that are admitted: they are counted in advance.
    pub(crate) fn grant(&mut self, shares: u64) -> u64 {
        let granted = self.left / shares;
        self.left -= granted;
        self.counted += granted;
        granted
    }

    /// So many launches were [granted](Self::grant), and did not happen.
    pub(crate) fn take_back(&mut self, launches: u64) {
        self.left += launches;
        self.counted -= launches;
    }

    /// About how many launches of the last bill the rule should be asked at once, if it should. Where some launches were in
    /// parts, the tallies hear of each.
    #[inline]
    pub(crate) fn many(&self) -> Option<u64> {
        let plain = matches!(self.tallies, Tallies::Plain(_));
        (plain && self.row >= FEW).then(|| self.row.max(LEAST))
    }

    /// The rule has admitted so many launches of the last bill, each at this price.
    pub(crate) fn admit(&mut self, each: &T::Loss, many: u64) {
        self.each.get_or_insert_with(|| each.clone());
        self.left = many;
        self.row = MOST.min(2 * self.row);
    }

    /// The rule has not admitted that many.
    pub(crate) fn admit_fewer(&mut self) {
        self.row /= 2;
    }

    /// Everything that was charged. Copies, so it may be somebody's code.
    pub(crate) fn tallies(&self) -> Tallies<T> {
        match self.uncounted() {
            Some(all) => Tallies::new(all),
            None => self.tallies.clone(),
        }
    }

    /// Everything that was charged, for the rule.
    pub(crate) fn total(&self) -> T {
        let counted = self.uncounted();
        counted.unwrap_or_else(|| self.tallies.total().clone())
    }

    /// What was charged if the change of the data falls on this part; `None` if that is not known apart.
    pub(crate) fn along(&self, path: &[Step]) -> Option<T> {
        let along = self.tallies.along(path)?;
        Some(self.uncounted().unwrap_or(along))
    }

    /// The tally that has heard of all launches, if some were only counted.
    #[inline]
    fn uncounted(&self) -> Option<T> {
        match (&self.tallies, &self.each) {
            (Tallies::Plain(own), Some(each)) if self.counted > 0 => {
                Some(own.after(each, self.counted))
            }
            _ => None,
        }
    }

    /// What would be spent after `n` launches at this quote.
    #[inline(always)]
    pub(crate) fn after(
        &self,
        quote: &Quote<T::Loss>,
        n: u64,
        zero: &T,
    ) -> Result<Next<T>, Contradiction> {
        let pending = match self.uncounted() {
            None => self.tallies.after(quote, n, zero)?,
            Some(all) => Pending::after(all, quote, n, zero)?,
        };
        Ok(Next {
            pending,
            each: None,
        })
    }

    /// Makes room for what would [be spent](Self::after).
    #[inline]
    pub(crate) fn make_room(&mut self, next: &mut Next<T>) {
        self.tallies.make_room(&mut next.pending);
    }

    /// Puts in force what would [be spent](Self::after), and leaves what was: nothing is copied or dropped, nor allocated
    /// where [room was made](Self::make_room). `again`: it was one more launch of the last bill.
    #[inline(always)]
    pub(crate) fn commit(&mut self, next: &mut Next<T>, again: bool) {
        self.tallies.commit(&mut next.pending);
        if self.each.is_some() {
            mem::swap(&mut self.each, &mut next.each);
        }
        self.left = 0;
        self.counted = 0;
        self.row = if again { MOST.min(self.row + 1) } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use measures::{Basic, PureDp, Tallied as _};

    use super::*;

    /// However many launches came in a row, one by one or counted, the rule is asked about few enough at once.
    #[test]
    fn a_row_is_bounded() {
        let zero = Basic::new(PureDp).start();
        let quote = Quote::Direct("0.1".parse().unwrap());
        let mut spent = Spent::new(zero.clone());
        for _ in 0..3 * MOST {
            let mut next = spent.after(&quote, 1, &zero).ok().unwrap();
            spent.make_room(&mut next);
            spent.commit(&mut next, true);
            assert!(spent.many().is_none_or(|many| many <= MOST));
        }
        assert_eq!(spent.many(), Some(MOST));
        for _ in 0..3 {
            let Quote::Direct(each) = &quote else {
                unreachable!()
            };
            spent.admit(each, MOST);
            assert_eq!(spent.many(), Some(MOST));
        }
        spent.admit_fewer();
        assert_eq!(spent.many(), Some(MOST / 2));
    }
}
