//! What losses are made of: one or several [`Exact`](exact::Exact) values behind a name, so that an ε cannot be taken for
//! a ρ; none of them can hold a negative value or NaN. The losses themselves are in the folders of their measures.

pub(crate) mod corners;
pub(crate) mod pair;
pub(crate) mod scalar;
