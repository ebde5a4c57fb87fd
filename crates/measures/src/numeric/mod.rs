//! Certified real arithmetic of any precision, for the rules and conversions that subtract
//! nearly equal numbers: directed floats, intervals, elementary functions, the normal
//! distribution and a root finder. Private to this crate; losses enter and leave as [`exact::Exact`].

mod elementary;
mod float;
mod interval;
mod normal;
mod solve;

pub(crate) use float::Float;
pub(crate) use interval::{Interval, refine};
pub(crate) use normal::{density, mills_ratio, upper_tail};
pub(crate) use solve::least_root;

use exact::{Exact, Round};

/// `e^x` to 128 bits: where a difference of exponentials is taken later, [`Exact::exp`] is too short.
pub(crate) fn exp(x: &Exact, round: Round) -> Exact {
    let found = refine(|bits| Interval::exact(x, bits + 64)?.exp());
    match (found, round) {
        (Some(found), Round::Up) => found.upper(),
        (Some(found), Round::Down) => found.lower(),
        (None, _) => x.exp(round),
    }
}

/// `ln x` to 128 bits, rounded up; zero for `x` up to 1.
pub(crate) fn ln_up(x: &Exact) -> Exact {
    if *x <= Exact::ONE {
        return Exact::ZERO;
    }
    refine(|bits| Interval::exact(x, bits + 64)?.ln())
        .map_or(Exact::INFINITY, |found| found.upper())
}
