//! Fuses: a switch that everything below a root shares, for what must not happen twice.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use crate::error::AskError;

/// A switch that goes off once, for a whole tree: every scope and every root below a
/// [fused root](crate::Root::branch_fused) has it. It stops nothing by itself: whoever runs code in such a tree looks at it before, and after.
///
/// ```
/// use odometry::queryable::{AskError, Fuse, Root};
/// let fuse = Fuse::new(|by, error| println!("for the operator: {by} failed: {error}"));
/// let root = Root::from_os()?.branch_fused(fuse.clone())?;
/// root.run([], |scope| {
///     let inherited = scope.fuse().expect("it is below the root");
///     inherited.blow("the parser", &AskError::failed("line 7"));
///     Ok(())
/// })?;
/// assert!(fuse.is_blown());
/// # Ok::<(), AskError>(())
/// ```
#[derive(Clone)]
pub struct Fuse(Arc<Inner>);

struct Inner {
    blown: OnceLock<()>,
    report: Box<Report>,
}

type Report = dyn Fn(&str, &AskError) + Send + Sync;

impl Fuse {
    /// A fuse that has not blown. When it does, `report` is told what blew it, and how that failed: for whoever may know
    /// such things. It is called at most once, on the thread that blows the fuse, perhaps inside a step.
    pub fn new(report: impl Fn(&str, &AskError) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            blown: OnceLock::new(),
            report: Box::new(report),
        }))
    }

    /// Blows it. Only the first time counts.
    pub fn blow(&self, by: &str, error: &AskError) {
        if self.0.blown.set(()).is_ok() {
            (self.0.report)(by, error);
        }
    }

    /// Has it blown?
    #[inline]
    pub fn is_blown(&self) -> bool {
        self.0.blown.get().is_some()
    }
}

impl fmt::Debug for Fuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fuse")
    }
}
