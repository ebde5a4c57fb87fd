//! Continual mechanisms: data that arrive while questions are asked, composed at their right price.
//!
//! - **Which streams are neighbours** says a [`VerificationFunction`]: [`Static`], [`EventLevel`], [`UserLevel`],
//!   [`Mixed`], or your own, which [`laws`] checks.
//! - **The privacy game**: [`Verifier`] and [`Identifier`] stand in front of a mechanism, and the auditor plays.
//! - **Composition**: [`ExtConComp`] creates mechanisms and routes messages; [`Suitable`] with an [`Allowance`] says what is
//!   allowed, and what it costs: [`FixedParameters`], [`PureParallel`], [`ConsistentParallel`], [`ApproximateParallel`].
//! - **Production** ([`live`]): one real stream, a writer, a reader, bounds on what a unit contributes, and parts that come
//!   and go.
//! - **Mechanisms built from mechanisms** ([`composite`]): tainted values, whose flow the type
//!   checker restricts.
//! - **Accounts** ([`streams`]): continual mechanisms as measurements, for odometers and filters, and data sets that arrive
//!   later.
//! - **Local protocols** ([`local`]): users who keep their data and answer a server.
//!
//! `docs/continual.md` in the repository explains all of it to somebody who has never read the paper, \[HSV25\]. Papers are
//! cited by keys; `docs/references.md` lists them all.

mod allowance;
mod certified;
mod compose;
pub mod composite;
mod error;
mod filtered;
mod game;
pub mod laws;
pub mod live;
pub mod local;
mod pair;
mod slots;
pub mod streams;
mod sync;
mod verification;

pub use allowance::{
    Allowance, ApproximateParallel, ConsistentParallel, FixedParameters, Leaks, PureParallel,
    Unlimited,
};
pub use certified::{Certificate, Certified, coins};
pub use compose::{Catalogue, ExtConComp, FixedMechanisms, Outcome, Request, Suitable};
pub use error::{AllowanceError, PriceError};
pub use filtered::Filtered;
pub use game::{Identifier, Verifier};
pub use pair::{Pair, StreamMessage};
pub use slots::Slots;
pub use verification::{
    Anything, EventLevel, FirstPairConsistent, Mixed, Static, SwapSymmetric, UserLevel,
    VerificationFunction, verification,
};
