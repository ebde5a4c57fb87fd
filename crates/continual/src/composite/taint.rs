//! Tainted values: what a composite mechanism may compute with, and not look at.

use std::sync::Arc;

use queryable::Fixed;

/// Values that control flow may read and that may be answered: plain data without shared pointers
/// and interior state ([`Fixed`]). [`Tainted`] values are not clean.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not clean",
    note = "answers and control flow see clean values only: plain data that did not come from tainted ones",
    note = "a tainted value flows only into a part: `parts.ask(part, value)`; what the part answers is clean"
)]
pub trait Clean: Fixed {}

impl<T: Fixed> Clean for T {}

/// A value that depends on the input of a composite mechanism by other ways than the answers of its parts.
///
/// It can be computed with, by functions that capture nothing, and sent to a part. Nobody can look at it:
///
/// ```compile_fail,E0616
/// fn look(x: odometry::continual::composite::Tainted<u8>) -> u8 { x.value }
/// ```
/// ```compile_fail,E0614
/// fn look(x: odometry::continual::composite::Tainted<u8>) -> u8 { *x }
/// ```
/// ```compile_fail,E0308
/// fn branch(x: odometry::continual::composite::Tainted<bool>) -> u8 { if x { 1 } else { 0 } }
/// ```
/// ```compile_fail,E0369
/// fn compare(x: odometry::continual::composite::Tainted<u8>) -> bool { x.clone() == x }
/// ```
/// ```compile_fail,E0277
/// fn print(x: odometry::continual::composite::Tainted<u8>) { println!("{x:?}"); }
/// ```
/// ```compile_fail,E0277
/// fn write(x: odometry::continual::composite::Tainted<u8>) -> String { serde_json::to_string(&x).unwrap() }
/// ```
///
/// It cannot be smuggled out of a function of it, neither by what the function captures nor by what it is given:
///
/// ```compile_fail,E0308
/// use std::cell::Cell;
/// fn smuggle(x: odometry::continual::composite::Tainted<u8>, seen: &Cell<u8>) { x.map(|x| seen.set(x)); }
/// ```
/// ```compile_fail,E0277
/// use std::sync::Mutex;
/// fn smuggle(x: odometry::continual::composite::Tainted<u8>, seen: &Mutex<u8>) {
///     x.map_with(seen, |x, seen| *seen.lock().unwrap() = x);
/// }
/// ```
///
/// A shared pointer is not clean, because a clone of it changes a count that others read:
///
/// ```compile_fail,E0277
/// use std::sync::Arc;
/// use odometry::continual::composite::Tainted;
/// fn look(x: Tainted<bool>) -> bool {
///     let seen = Arc::new(());
///     let held = x.map_with(&seen, |x, seen| x.then(|| Arc::clone(seen)));
///     let clean = Arc::strong_count(&seen) == 2;
///     drop(held);
///     clean
/// }
/// ```
///
/// And it is no answer:
///
/// ```compile_fail,E0277
/// fn answer<T: odometry::continual::composite::Clean>() {}
/// answer::<odometry::continual::composite::Tainted<u8>>();
/// ```
///
/// Types cannot see everything. A function of tainted values must be total (a panic is an answer),
/// depend on its arguments only, and use no static, thread or clock; and no clean code may look at
/// addresses, because they depend on the memory that such functions allocate. `docs/theorems.md`
/// lists all such channels under "Channels outside of every claim".
/// [`hunt`](crate::composite::hunt) looks for functions that use them.
#[derive(Clone)]
pub struct Tainted<T> {
    value: T,
    origin: Origin,
}

/// Whose input it is: a value of one mechanism may not flow into the parts of another, whose price does not cover it.
#[derive(Clone)]
pub(super) enum Origin {
    /// Nobody's.
    Clean,
    /// That of this mechanism.
    Run(Arc<()>),
    /// That of several.
    Strangers,
}

impl Origin {
    pub(super) fn new() -> Self {
        Self::Run(Arc::new(()))
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Clean) => true,
            (Self::Run(mine), Self::Run(theirs)) => Arc::ptr_eq(mine, theirs),
            _ => false,
        }
    }

    fn and(self, other: &Self) -> Self {
        match (self.covers(other), other.covers(&self)) {
            (true, _) => self,
            (false, true) => other.clone(),
            (false, false) => Self::Strangers,
        }
    }
}

impl<T> Tainted<T> {
    pub(super) const fn input(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    pub(super) fn into_parts(self) -> (T, Origin) {
        (self.value, self.origin)
    }

    /// A clean value, where a tainted one is expected.
    ///
    /// ```
    /// use odometry::continual::composite::Tainted;
    /// let zero: Tainted<i64> = Tainted::of(0);
    /// let one = zero.map(|x| x + 1);
    /// # let _ = one;
    /// ```
    pub const fn of(value: T) -> Self
    where
        T: Clean,
    {
        Self {
            value,
            origin: Origin::Clean,
        }
    }

    /// A function of it.
    pub fn map<U>(self, function: fn(T) -> U) -> Tainted<U> {
        Tainted {
            value: function(self.value),
            origin: self.origin,
        }
    }

    /// A function of it and of something clean.
    ///
    /// ```
    /// use odometry::continual::composite::Tainted;
    /// let (total, threshold) = (Tainted::of(5), 3);
    /// let above = total.map_with(&threshold, |total, threshold| total > *threshold);
    /// # let _ = above;
    /// ```
    pub fn map_with<C: Clean, U>(self, clean: &C, function: fn(T, &C) -> U) -> Tainted<U> {
        Tainted {
            value: function(self.value, clean),
            origin: self.origin,
        }
    }

    /// Both in one.
    pub fn zip<U>(self, other: Tainted<U>) -> Tainted<(T, U)> {
        Tainted {
            value: (self.value, other.value),
            origin: self.origin.and(&other.origin),
        }
    }

    /// Changes it by another one, in place.
    ///
    /// ```
    /// use odometry::continual::composite::Tainted;
    /// let mut total = Tainted::of(5);
    /// total.absorb(Tainted::of(2), |total, x| *total += x);
    /// ```
    pub fn absorb<U>(&mut self, other: Tainted<U>, function: fn(&mut T, U)) {
        function(&mut self.value, other.value);
        self.origin = self.origin.clone().and(&other.origin);
    }
}
