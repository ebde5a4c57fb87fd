//! Values whose destructors are somebody's code.

use std::mem;

use queryable::guarded;

/// A value whose destructor is somebody's code. If somebody else's code panics while it is there, the panic of its
/// destructor stays inside.
pub(super) struct Contained<T>(Option<T>);

impl<T> Contained<T> {
    #[inline]
    pub(super) fn new(value: Option<T>) -> Self {
        Self(value)
    }

    /// Puts a value where none is. It is written once, to where it stays: copies cost as much as all the rest of a launch.
    #[inline(always)]
    pub(super) fn put(&mut self, value: T) {
        mem::forget(self.0.replace(value));
    }

    #[inline]
    pub(super) fn get(&mut self) -> Option<&mut T> {
        self.0.as_mut()
    }

    /// Drops the value, when nothing else is panicking.
    #[inline]
    pub(super) fn release(mut self) {
        let value = self.0.take();
        mem::forget(self);
        drop(value);
    }
}

impl<T> Drop for Contained<T> {
    #[inline]
    fn drop(&mut self) {
        #[cold]
        fn drop_contained<T>(value: Option<T>) {
            let _ = guarded(|| drop(value));
        }
        if self.0.is_some() {
            drop_contained(self.0.take());
        }
    }
}
