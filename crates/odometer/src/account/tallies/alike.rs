//! Parts with the same launches have the same curve. While a question is answered, such parts share one: absorbing the same
//! launches into the same curve is done once.

use std::{mem, sync::Arc};

use measures::Tally;
use queryable::guarded;

use super::node::Launch;
use crate::{account::few::Few, partition::split::Curve};

/// What was absorbed last.
pub(crate) struct Alike<T: Tally> {
    nothing: Option<Curve<T>>,
    known: Few<Absorbed<T>>,
}

/// These launches were absorbed into a curve. Both are kept, so their addresses stay their own.
struct Absorbed<T: Tally> {
    before: Curve<T>,
    losses: Arc<[T::Loss]>,
    n: u64,
    after: Curve<T>,
}

impl<T: Tally> Default for Alike<T> {
    fn default() -> Self {
        Self {
            nothing: None,
            known: Few::default(),
        }
    }
}

/// Tallies are somebody's code, and so are their destructors.
impl<T: Tally> Drop for Alike<T> {
    fn drop(&mut self) {
        let kept = (self.nothing.take(), mem::take(&mut self.known));
        let _ = guarded(|| drop(kept));
    }
}

impl<T: Tally> Alike<T> {
    /// Nothing absorbed, at so many sizes.
    pub(super) fn nothing(&mut self, sizes: usize, zero: &T) -> Curve<T> {
        match &self.nothing {
            Some(nothing) if nothing.len() == sizes => Arc::clone(nothing),
            _ => Arc::clone(self.nothing.insert(vec![zero.clone(); sizes].into())),
        }
    }

    /// The curve after these launches.
    pub(super) fn after(&mut self, before: &Curve<T>, launch: &Launch<'_, T>) -> Curve<T> {
        let Some(losses) = launch.shared else {
            return launch.onto(before);
        };
        let same = |known: &Absorbed<T>| {
            known.n == launch.n
                && Arc::ptr_eq(&known.losses, losses)
                && Arc::ptr_eq(&known.before, before)
        };
        if let Some(known) = self.known.find(same) {
            return Arc::clone(&known.after);
        }
        let after = launch.onto(before);
        self.known.keep(Absorbed {
            before: Arc::clone(before),
            losses: Arc::clone(losses),
            n: launch.n,
            after: Arc::clone(&after),
        });
        after
    }
}
