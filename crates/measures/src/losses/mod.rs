//! The measures of this crate and their losses, one file each. A loss is one or several [`Exact`](exact::Exact) values
//! behind a name, so that an ε cannot be taken for a ρ; none of them can hold a negative value or NaN.

mod approx;
mod approx_zcdp;
mod curve;
mod gaussian;
mod pair;
mod pure;
mod renyi;
pub(crate) mod scalar;
mod zcdp;

pub use approx::{ApproxDp, EpsilonDelta};
pub use approx_zcdp::{ApproxZcdp, RhoDelta};
pub use curve::{Orders, RenyiCurve, RenyiCurveDp};
pub use gaussian::{GaussianDp, Mu};
pub use pure::{Epsilon, PureDp};
pub use renyi::{RenyiDp, RenyiEpsilon};
pub use zcdp::{Rho, Zcdp};
