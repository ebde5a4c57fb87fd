//! Values whose destructors are user-supplied code.

use std::mem;

use queryable::guarded;

/// A place for a value whose destructor is user-supplied. A panic of that destructor stays inside,
/// also while something else panics.
#[derive(Debug)]
pub(super) struct Contained<T>(Option<T>);

impl<T> Contained<T> {
    pub(super) const EMPTY: Self = Self(None);

    #[inline]
    pub(super) fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Puts a value in; the place must be empty.
    #[inline]
    pub(super) fn put(&mut self, value: T) -> &mut T {
        debug_assert!(self.0.is_none(), "a value would be dropped here");
        self.0.insert(value)
    }

    #[inline]
    pub(super) fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut()
    }
}

impl<T> Drop for Contained<T> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<T>() && self.0.is_some() {
            let value = self.0.take();
            let _ = guarded(|| drop(value));
        }
    }
}
