//! What most rules remember: a few exact sums over the launches, and whether there was one at all (an account with no
//! launch has loss zero, whatever constant a rule's formula would give).
//!
//! What enters a sum is rounded up to the [grid](Exact::on_grid) of multiples of `2^-256 · 5^-64`, on which decimals of up
//! to 64 places and every `f64` from `2^-204` on are exact; from `2^256` on, entries and sums are infinite. So a sum stays
//! short, and the launches after an extreme one cost what they did before it.

use exact::{Exact, Round};

/// Defines a tally with named sums, each of one entry per loss. An entry that has to be rounded is rounded up, once, so
/// that the sums themselves are exact.
macro_rules! tally {
    (
        $(#[$doc:meta])*
        $name:ident $(<$param:ident: $bound:ident>)?, |$loss:ident: $ty:ty| { $($field:ident: $entry:expr,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name $(<$param>)? {
            $($field: exact::Exact,)*
            launched: bool,
            $(parameter: std::marker::PhantomData<$param>,)?
        }

        impl $(<$param: $bound>)? crate::Tally for $name $(<$param>)? {
            type Loss = $ty;

            #[inline]
            fn absorb(&mut self, $loss: &$ty, n: u64) {
                $(crate::rules::adaptive::tally::add_times(&mut self.$field, &$entry, n);)*
                self.launched |= n > 0;
            }

            fn merge(&mut self, other: &Self) {
                $(crate::adaptive::tally::add_times(&mut self.$field, &other.$field, 1);)*
                self.launched |= other.launched;
            }

            fn join(&mut self, other: &Self) {
                $(self.$field = crate::rules::adaptive::tally::larger(&self.$field, &other.$field);)*
                self.launched |= other.launched;
            }

            fn bends_up(before: &Self, middle: &Self, after: &Self) -> bool {
                let bends_up = crate::adaptive::tally::bends_up;
                $(bends_up(&before.$field, &middle.$field, &after.$field))&&*
            }
        }
    };
}

/// Defines a rule from `(ε, δ)` to `(ε, δ)` with a tally that starts empty. All of them extend to interactive children,
/// concurrently, under finite communication (\[HST+23\] Thm 1.19 and 3.4).
macro_rules! approx_rule {
    ($rule:ident $(<$param:ident: $bound:ident>)?, $tally:ty, |$this:ident| $name:expr) => {
        rule! { $rule $(<$param: $bound>)?, ApproxDp => ApproxDp, ConcurrentFinite, |$this| $name }

        impl $(<$param: $bound>)? crate::Tallied for $rule $(<$param>)? {
            type Tally = $tally;

            fn start(&self) -> $tally {
                <$tally>::default()
            }
        }
    };
}

pub(crate) use {approx_rule, tally};

/// Adds `n` entries to a sum, in place; the common case of one launch needs no multiplication. Sums of numbers on the grid
/// are on the grid, unless they have passed its end.
#[inline]
pub(crate) fn add_times(sum: &mut Exact, entry: &Exact, n: u64) {
    match n == 1 && entry.is_on_grid() {
        true => *sum += entry,
        false => *sum += entry.on_grid(Round::Up).times(n),
    }
    if !sum.is_on_grid() {
        *sum = Exact::INFINITY;
    }
}

/// The same as a new sum.
#[inline]
pub(crate) fn plus_times(sum: &Exact, entry: &Exact, n: u64) -> Exact {
    if n != 1 || !entry.is_on_grid() {
        return plus_slowly(sum, entry, n);
    }
    sum.plus_on_grid(entry)
}

#[cold]
fn plus_slowly(sum: &Exact, entry: &Exact, n: u64) -> Exact {
    on_grid(sum + entry.on_grid(Round::Up).times(n))
}

/// The number as sums take it: rounded up to the grid.
#[inline]
pub(crate) fn on_grid(x: Exact) -> Exact {
    match x.is_on_grid() {
        true => x,
        false => x.on_grid(Round::Up).into_owned(),
    }
}

/// The largest entry that a sum can take and stay within `budget`. It is on the grid, so it enters as it is.
pub(crate) fn what_remains(budget: &Exact, sum: &Exact) -> Option<Exact> {
    budget.on_grid(Round::Down).checked_sub(sum)
}

/// Whether `2·middle ≤ before + after`.
pub(crate) fn bends_up(before: &Exact, middle: &Exact, after: &Exact) -> bool {
    middle.times(2) <= before + after
}

/// The larger of two numbers.
pub(crate) fn larger(one: &Exact, other: &Exact) -> Exact {
    if one >= other {
        one.clone()
    } else {
        other.clone()
    }
}

/// The square, rounded up to 128 bits if it is longer.
#[inline]
pub(crate) fn square(x: &Exact) -> Exact {
    x.mul(x, Round::Up)
}
