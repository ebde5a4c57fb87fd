//! OpenDP and us, in both directions.
mod constructor;
mod correspondence;
mod distance;
mod error;
mod measurement;
mod measures;
mod memo;
mod space;
mod transformation;

pub use crate::measures::theirs;
pub use constructor::Constructor;
pub use correspondence::{Correspondence, Counterpart, NoLoss, exact_loss, float_loss};
pub use distance::{DistanceError, GroupsChanged, GroupsChangedTogether, OpendpDistance};
pub use error::BridgeError;
pub use measurement::{Imported, measurement, measurement_in};
pub use space::{OpendpDomain, OpendpMetric, OpendpSpace, SameMetric, same_data, space};
pub use transformation::{ImportedTransformation, transformation};
