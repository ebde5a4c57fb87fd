#![doc = include_str!("../README.md")]
//!
//! # Modules
//! This package re-exports the library crates of the workspace as modules; each is also usable alone. The OpenDP bridge is
//! behind the feature `opendp`, ledgers on a server behind `postgres`. [`prelude`] is what most programs need, [`guide`] the documents of the repository.

#[doc(inline)]
pub use accountant;
#[doc(inline)]
pub use auditor;
pub use continual;
#[doc(inline)]
pub use exact;
#[doc(inline)]
pub use ledger;
#[doc(inline)]
pub use measures;
#[doc(inline)]
pub use mechanisms;
#[doc(inline)]
pub use odometer;
#[cfg(feature = "opendp")]
#[doc(inline)]
pub use opendp_bridge;
#[doc(inline)]
pub use queryable;

/// What most programs need: `use odometry::prelude::*;`.
///
/// ```
/// use odometry::prelude::*;
///
/// let records = Records::<i64>::new();
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// let query = Measurement::new("query", records, map, |data, _| Ok(data.len())); // yours adds noise
/// let session: Session<_, _> = Odometer::new(records, Basic::new(PureDp)).open(vec![3, 1, 4])?;
/// session.launch(&query)?;
/// assert_eq!(session.privacy_loss(&1)?.to_string(), "0.1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod prelude {
    pub use exact::Exact;
    pub use measures::{
        Adaptive, AnyLoss, AnyMeasure, ApproxDp, Basic, ChangeOneDistance, Epsilon, EpsilonDelta,
        FilterRule, GaussianDp, Loss, Measure, Mu, PrivacyMap, PureDp, Rho, SymmetricDistance,
        Zcdp, times,
    };
    pub use odometer::{
        Any, AnyPlan, AnySession, Compositor, LaunchError, Launcher, Measurement, Odometer,
        OpenError, Records, Session, Space, Transformation,
    };
    pub use queryable::coins::{Bit, Categorical, Probability, Uniform};
    pub use queryable::{AskError, Machine, Queryable, Root, Scope};
}

/// The documents of the repository, so that they are at hand wherever this documentation is.
#[allow(
    rustdoc::broken_intra_doc_links,
    reason = "keys of papers stand in brackets where they are listed"
)]
pub mod guide {
    #[doc = include_str!("../docs/cookbook.md")]
    pub mod cookbook {}
    #[cfg(feature = "opendp")]
    #[doc = include_str!("../docs/opendp.md")]
    pub mod opendp {}
    #[doc = include_str!("../docs/architecture.md")]
    pub mod architecture {}
    #[doc = include_str!("../docs/continual.md")]
    pub mod continual {}
    #[doc = include_str!("../docs/theorems.md")]
    pub mod theorems {}
    #[doc = include_str!("../docs/proofs.md")]
    pub mod proofs {}
    #[doc = include_str!("../docs/references.md")]
    pub mod references {}
    #[doc = include_str!("../docs/accountant.md")]
    pub mod accountant {}
    #[doc = include_str!("../docs/ledger.md")]
    pub mod ledger {}
    #[doc = include_str!("../docs/limits.md")]
    pub mod limits {}
    #[doc = include_str!("../docs/custodian.md")]
    pub mod custodian {}
    #[doc = include_str!("../docs/experiments.md")]
    pub mod experiments {}
    #[doc = include_str!("../docs/testing.md")]
    pub mod testing {}
    #[doc = include_str!("../docs/dependencies.md")]
    pub mod dependencies {}
}
