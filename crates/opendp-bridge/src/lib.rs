#![doc = include_str!("../README.md")]

mod calibrate;
mod composed;
mod constructor;
mod correspondence;
mod distance;
mod error;
mod frame;
mod interactive;
mod measurement;
mod measures;
mod memo;
mod out;
mod pinned;
mod space;
mod transformation;
mod written;

pub use crate::measures::theirs;
pub use calibrate::{LossIn, SCALE_BITS, calibrated};
pub use composed::{
    Composable, Composed, Concurrent, Launches, OpendpLoss, OpendpMeasure, Sequential, Turns,
};
pub use constructor::{Build, Constructor};
pub use correspondence::{Correspondence, Counterpart, NoLoss, exact_loss, float_loss};
pub use distance::{DistanceError, GroupsChanged, GroupsChangedTogether, OpendpDistance};
pub use error::BridgeError;
pub use interactive::{
    AnswerAdapter, Built, ImportedCompositor, ImportedInteractive, Interactive, Meter,
    MeteredAnswer, MeteredQuery, Plain, QueryAdapter, TheirCompositor, TheirInteractive,
    TheirMeter, compositor, interactive, interactive_with, open_odometer,
};
pub use measurement::{Imported, TheirsIn, measurement, measurement_in};
/// OpenDP itself, in the version that the bridge is built for.
pub use opendp;
pub use out::{Answered, export};
pub use space::{
    OpendpMetric, OpendpSpace, SameMetric, SharedDomain, SharedMetric, same_data, same_data_in,
    same_value, space,
};
pub use transformation::{ImportedTransformation, total_transformation};
pub use written::WrittenLoss;
