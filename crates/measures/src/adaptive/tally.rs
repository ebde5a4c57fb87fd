//! What most rules remember: a few exact sums over the launches, and whether there was one at all (an account with no
//! launch has loss zero, whatever constant a rule's formula would give).

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
                $(crate::adaptive::tally::add_times(&mut self.$field, &$entry, n);)*
                self.launched |= n > 0;
            }

            fn merge(&mut self, other: &Self) {
                $(self.$field += &other.$field;)*
                self.launched |= other.launched;
            }

            fn join(&mut self, other: &Self) {
                $(self.$field = crate::adaptive::tally::larger(&self.$field, &other.$field);)*
                self.launched |= other.launched;
            }
        }
    };
}

/// Defines a rule from `(ε, δ)` to `(ε, δ)` with a tally that starts empty. All of them extend to interactive children,
/// concurrently, under finite communication (000 Thm 1.19 and 3.4).
macro_rules! approx_rule {
    ($rule:ident $(<$param:ident: $bound:ident>)?, $tally:ty) => {
        impl $(<$param: $bound>)? crate::Rule for $rule $(<$param>)? {
            type Child = crate::ApproxDp;
            type Total = crate::ApproxDp;
            const INTERLEAVING: crate::Interleaving = crate::Interleaving::ConcurrentFinite;

            fn child(&self) -> crate::ApproxDp {
                crate::ApproxDp
            }

            fn total(&self) -> crate::ApproxDp {
                crate::ApproxDp
            }
        }

        impl $(<$param: $bound>)? crate::Tallied for $rule $(<$param>)? {
            type Tally = $tally;

            fn start(&self) -> $tally {
                <$tally>::default()
            }
        }
    };
}

pub(crate) use {approx_rule, tally};

/// Adds `n·value`, in place; the common case of one launch needs no multiplication.
#[inline]
pub(crate) fn add_times(sum: &mut Exact, value: &Exact, n: u64) {
    if n == 1 {
        *sum += value;
    } else {
        *sum += value.times(n);
    }
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
