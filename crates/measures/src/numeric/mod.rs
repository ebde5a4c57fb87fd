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
pub(crate) use normal::upper_tail;
pub(crate) use solve::least_root;
