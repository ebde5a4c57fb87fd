//! Concurrent composition in message form: one machine that routes messages to its parts, as the papers write it.
//!
//! In handle form there is nothing to build: spawn the parts and ask their handles. [`Numbered`] turns handle form into
//! message form.

mod numbered;
mod routed;

pub use numbered::{Numbered, Numbering};
pub use routed::{BoxedMachine, ConComp, Routed, Unparsable, ordered};
