//! Concurrent composition in message form: one machine that routes messages to its parts, as the papers write it.
//!
//! In handle form there is nothing to build: spawn the parts and ask their handles. [`Numbered`] turns handle form into
//! message form.

mod null_query;
mod numbered;
mod routed;

pub use null_query::null_query_extension;
pub use numbered::{Numbered, Numbering};
pub use routed::{ConComp, Part, Routed, Unparsable, ordered};
