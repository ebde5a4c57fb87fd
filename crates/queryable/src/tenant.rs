//! Tenants: for whom a machine holds something that the whole process has little of, threads for one.

use std::{fmt, sync::Arc};

use crate::sync::{AtomicU64, Ordering};

/// A data set, or an account directly below its top account, and how much it holds of something that the whole process has little
/// of. The holder counts and decides: see [`hold`](Self::hold).
///
/// Every [scope](crate::Scope::tenant) and every [root](crate::Root::tenant) below a root that was made
/// [for a tenant](crate::Root::branch_for) has that tenant. What is deeper than an account belongs to that account, so no account
/// evades its limit by opening others below itself.
///
/// ```
/// use odometry::queryable::{AskError, Root};
/// let data_set = Root::from_os()?.branch_for("the organisation", None)?;
/// let team = data_set.branch_for("team red", None)?;
/// let below = team.branch_for("a project of team red", None)?;
/// let tenant = below.tenant().expect("it was made for one");
/// assert_eq!(tenant.name(), "team red");
///
/// let held = tenant.hold(1).expect("nothing is held yet");
/// assert!(team.tenant().is_some_and(|team| team.held() == 1 && team.hold(1).is_none()));
/// assert_eq!(tenant.data_set().map(|data_set| data_set.held()), Some(0)); // counted by itself
/// drop(held);
/// assert_eq!(tenant.held(), 0);
/// # Ok::<(), AskError>(())
/// ```
#[derive(Clone)]
pub struct Tenant(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    /// Of an account.
    data_set: Option<Tenant>,
    held: AtomicU64,
}

impl Tenant {
    /// A data set.
    pub(crate) fn new(name: Arc<str>) -> Self {
        Self::with(name, None)
    }

    /// An account of this data set; below an account, that account itself.
    pub(crate) fn below(&self, name: Arc<str>) -> Self {
        match self.data_set() {
            Some(_) => self.clone(),
            None => Self::with(name, Some(self.clone())),
        }
    }

    fn with(name: Arc<str>, data_set: Option<Self>) -> Self {
        Self(Arc::new(Inner {
            name,
            data_set,
            held: AtomicU64::new(0),
        }))
    }

    /// The name of the account, or of the data set's top account.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The data set of an account. A data set has none.
    pub fn data_set(&self) -> Option<&Self> {
        self.0.data_set.as_ref()
    }

    /// How much is held now.
    pub fn held(&self) -> u64 {
        self.0.held.load(Ordering::SeqCst)
    }

    /// Holds one more until the answer is dropped, unless `limit` are held already. Only this tenant counts it: an account's data
    /// set is another.
    pub fn hold(&self, limit: u64) -> Option<Held> {
        let more = |held: u64| (held < limit).then_some(held + 1);
        let held = &self.0.held;
        let counted = held.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        counted.ok().map(|_| Held(self.clone()))
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tenant({})", self.0.name)
    }
}

/// One thing that a [`Tenant`] holds, until this is dropped.
#[derive(Debug)]
pub struct Held(Tenant);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.held.fetch_sub(1, Ordering::SeqCst);
    }
}
