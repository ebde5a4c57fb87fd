//! Certified real arithmetic of any precision, for whatever subtracts nearly equal numbers or reaches far into a tail:
//! directed floats, intervals, elementary functions, the normal distribution and a root finder. [`Exact`] numbers enter
//! and leave.
//!
//! ```
//! use odometry::exact::Exact;
//! use odometry::exact::interval::{Interval, refine, upper_tail};
//! // P(Z > 10) for a standard normal Z, enclosed to a relative 2^-72.
//! let ten = Exact::from(10u8);
//! let tail = refine(|bits| upper_tail(&Interval::exact(&ten, bits)?)).ok_or("too narrow")?;
//! assert!(tail.lower() > "7.6198e-24".parse()? && tail.upper() < "7.6199e-24".parse()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Exact`]'s own functions (`exp`, `ln`, …) are another implementation on purpose: in machine integers, to `1e-15`,
//! hundreds of times faster. A test holds each to the other.

mod elementary;
mod enclosure;
mod float;
mod normal;
mod solve;

pub use elementary::pi;
pub use enclosure::{Interval, refine};
pub use float::Float;
pub use normal::{density, mills_ratio, upper_quantile, upper_tail};
pub use solve::least_root;

use crate::{Exact, Round};

/// `e^x` to 128 bits: where a difference of exponentials is taken later, [`Exact::exp`] is too short.
pub fn exp(x: &Exact, round: Round) -> Exact {
    let found = refine(|bits| Interval::exact(x, bits + 64)?.exp());
    match (found, round) {
        (Some(found), Round::Up) => found.upper(),
        (Some(found), Round::Down) => found.lower(),
        (None, _) => x.exp(round),
    }
}

/// `ln x` to 128 bits, rounded up; zero for `x` up to 1.
pub fn ln_up(x: &Exact) -> Exact {
    if *x <= Exact::ONE {
        return Exact::ZERO;
    }
    refine(|bits| Interval::exact(x, bits + 64)?.ln())
        .map_or(Exact::INFINITY, |found| found.upper())
}
