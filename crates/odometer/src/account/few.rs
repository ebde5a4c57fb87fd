//! The last few of something, to look through.

/// How many are kept.
const MOST: usize = 8;

/// The last few that were kept.
pub(super) struct Few<X> {
    kept: Vec<X>,
    /// Which one is forgotten for the next.
    oldest: usize,
}

impl<X> Default for Few<X> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            oldest: 0,
        }
    }
}

impl<X> Few<X> {
    pub(super) fn find(&self, is: impl Fn(&X) -> bool) -> Option<&X> {
        self.kept.iter().find(|kept| is(kept))
    }

    pub(super) fn keep(&mut self, new: X) {
        match self.kept.len() < MOST {
            true => self.kept.push(new),
            false => {
                self.kept[self.oldest] = new;
                self.oldest = (self.oldest + 1) % MOST;
            }
        }
    }
}
