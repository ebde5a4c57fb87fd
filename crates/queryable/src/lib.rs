//! Randomized state machines behind opaque handles: spawn them, ask them from any thread, put post-processors in front
//! of them, compose them, and replay them with scripted coins to enumerate every run exactly.
//!
//! This crate knows nothing about privacy. It is the ground on which odometers, filters and the auditor stand.
//!
//! ```
//! use odometry::queryable::coins::{Bit, Probability};
//! use odometry::queryable::{AskError, Machine, Root, Scope, translate};
//!
//! /// Says whether the secret is above a threshold, wrongly one time in four; three answers at the most.
//! struct Above { secret: u32, answers_left: u32, lie: Bit }
//!
//! impl Machine for Above {
//!     type Query = u32;
//!     type Answer = bool;
//!     fn step(&mut self, threshold: u32, scope: &mut Scope<'_>) -> Result<bool, AskError> {
//!         self.answers_left -= 1;
//!         if self.answers_left == 0 {
//!             scope.halt();
//!         }
//!         Ok((self.secret > threshold) ^ scope.draw(&self.lie)?)
//!     }
//! }
//!
//! let root = Root::from_os()?;
//! let lie = Bit::new(Probability::new(1, 4)?);
//! let above = root.spawn(Above { secret: 42, answers_left: 3, lie })?;
//! let word = root.postprocess(&above, translate(|text: &str| text.len() as u32, |b: bool| if b { "yes" } else { "no" }))?;
//! std::thread::scope(|s| {
//!     s.spawn(|| println!("{:?}", above.ask(40)));
//!     s.spawn(|| println!("{:?}", word.ask("a longer word")));
//! });
//! assert!(above.ask(41).is_ok());
//! assert_eq!(above.ask(41), Err(AskError::Halted));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The rules
//! - A [`Queryable`] is made only by spawning a [`Machine`] in a [`Scope`] (inside a step) or from a [`Root`] (outside).
//! - Randomness comes from the scope: from the operating system, from a seed, or from a script ([`coins`]).
//! - A step may ask only machines below its own. Otherwise a machine could tell another one's secret to a third: two
//!   machines that are harmless alone, and leak together. The check is made on the thread that runs the step; a step
//!   that starts threads of its own must keep to the rule by itself.
//! - A query is fixed when it is asked ([`Fixed`]): what a step hears while it runs is nobody's message.
//! - Equal messages are one message. Types whose equal values are indistinguishable are
//!   [`Canonical`].
//! - Timing and memory use are not hidden: `docs/theorems.md` lists the channels that are outside
//!   of every claim.
//!
//! Papers are cited by keys such as \[HST+23\]; `docs/references.md` in the repository lists them all.

pub mod coins;
pub mod compose;

/// For sibling crates only.
#[doc(hidden)]
pub mod internal {
    pub use crate::root::branch::{branch_as, tenant_below};
    pub use crate::tenant::{HeldThread, hold_thread};
    pub use crate::{canonical::Sealed, running::counted_as_analyst};
}

mod canonical;
mod cell;
mod contained;
mod error;
mod fixed;
mod handle;
mod interaction;
mod lineage;
mod machine;
mod meter;
mod postprocess;
mod root;
mod running;
mod scope;
mod sync;
mod tenant;
mod turn;

pub use canonical::{Attested, Canonical};
pub use contained::discard;
pub use error::AskError;
pub use fixed::Fixed;
pub use handle::Queryable;
pub use interaction::{AnalystCoins, Exchange, Heard, Move, Transcript, View};
pub use lineage::MAX_DEPTH;
pub use machine::{Machine, machine, once};
pub use meter::DEFAULT_MESSAGES;
pub use postprocess::{Chain, DEFAULT_STEPS, PostProcessor, Received, Sent, Side, translate};
pub use root::Root;
pub use running::{guarded, inside_step};
pub use scope::Scope;
pub use tenant::{Tenant, ThreadLimits};
pub use turn::{Outside, Sequence, Turn};
