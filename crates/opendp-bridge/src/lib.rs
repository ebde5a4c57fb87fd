#![doc = include_str!("../README.md")]

mod composed;
mod constructor;
mod correspondence;
mod distance;
mod error;
mod interactive;
mod measurement;
mod measures;
mod memo;
mod out;
mod space;
mod transformation;

pub use crate::measures::theirs;
pub use composed::{
    Composable, Composed, Concurrent, Launches, OpendpLoss, OpendpMeasure, Sequential, Turns,
};
pub use constructor::Constructor;
pub use correspondence::{Correspondence, Counterpart, NoLoss, exact_loss, float_loss};
pub use distance::{DistanceError, GroupsChanged, GroupsChangedTogether, OpendpDistance};
pub use error::BridgeError;
pub use interactive::{
    Built, Carry, Host, Interactive, Metered, MeteredAnswer, MeteredQuery, Plain, Pose, Shelf,
    compositor, interactive, interactive_with, open_odometer, privacy_filter,
};
pub use measurement::{Imported, measurement, measurement_in};
/// OpenDP itself, in the version that the bridge is built for.
pub use opendp;
pub use out::{
    Answered, Canary, Guard, GuardedComposition, GuardedQueryable, GuardedSession, export,
};
pub use space::{
    OpendpDomain, OpendpMetric, OpendpSpace, SameMetric, SharedDomain, SharedMetric, same_data,
    space,
};
pub use transformation::{ImportedTransformation, transformation};
