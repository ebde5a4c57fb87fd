//! Tenants: the data sets and accounts that share the threads of a process, and how many threads each may hold.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::error::AskError;

/// The default of [`ThreadLimits::process`].
const MAX_THREADS_OF_PROCESS: u64 = 1024;
/// The default of [`ThreadLimits::data_set`].
const MAX_THREADS_OF_DATA_SET: u64 = 256;
/// The default of [`ThreadLimits::account`].
const MAX_THREADS_OF_ACCOUNT: u64 = 64;

static LIMITS: OnceLock<ThreadLimits> = OnceLock::new();
static IN_PROCESS: AtomicU64 = AtomicU64::new(0);

/// How many threads may be held at the same time by machines that need one each, such as interactive objects of OpenDP.
///
/// A launch beyond a limit is refused before it is charged. Launches that were admitted at the same moment are not refused after
/// they were charged, so up to twice each limit may be held for a while.
///
/// ```
/// use odometry::queryable::ThreadLimits;
/// let limits = ThreadLimits { account: 16, ..ThreadLimits::default() };
/// assert!(limits.set()); // in `main`, before the first launch
/// assert_eq!(ThreadLimits::current(), limits);
/// assert!(!ThreadLimits::default().set());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadLimits {
    /// In the process: 1,024 by default.
    pub process: u64,
    /// For one data set, through all sessions on it: 256 by default.
    pub data_set: u64,
    /// Through one session directly below the top session of a data set, and everything below that session: 64 by default.
    pub account: u64,
}

impl Default for ThreadLimits {
    fn default() -> Self {
        Self {
            process: MAX_THREADS_OF_PROCESS,
            data_set: MAX_THREADS_OF_DATA_SET,
            account: MAX_THREADS_OF_ACCOUNT,
        }
    }
}

impl ThreadLimits {
    /// Sets the limits of this process. Returns `false` and changes nothing if limits were set or used before.
    #[must_use = "other limits may be in use"]
    pub fn set(self) -> bool {
        LIMITS.set(self).is_ok()
    }

    /// The limits of this process. From now on they stay.
    pub fn current() -> Self {
        *LIMITS.get_or_init(Self::default)
    }
}

/// The data set for which a step runs, and the account directly below its top account: what its threads count for.
///
/// Every scope and every root below a root that was made [for a tenant](crate::Root::branch_for) has that tenant. Deeper accounts
/// belong to the account above them, so an account does not evade its limit by opening others below itself.
///
/// ```
/// use odometry::queryable::{AskError, Root};
/// let data_set = Root::from_os()?.branch_for("the organisation")?;
/// let team = data_set.branch_for("team red")?;
/// let project = team.branch_for("a project of team red")?;
/// let held: Vec<_> = (0..64).map(|_| project.tenant().hold_thread()).collect::<Result<_, _>>()?;
/// let full = team.tenant().check_thread().unwrap_err();
/// assert!(full.to_string().contains("the account `team red`"));
/// data_set.branch_for("team blue")?.tenant().check_thread()?;
/// drop(held);
/// team.tenant().check_thread()?;
/// # Ok::<(), AskError>(())
/// ```
#[derive(Clone)]
pub struct Tenant(Option<Arc<Inner>>);

struct Inner {
    name: Arc<str>,
    /// Of an account.
    data_set: Option<Arc<Inner>>,
    held: AtomicU64,
}

impl Tenant {
    /// No data set and no account: only the process counts.
    pub(crate) const NONE: Self = Self(None);

    /// A data set, below none; one of its accounts, below a data set; below an account, that account itself.
    pub(crate) fn below(&self, name: Arc<str>) -> Self {
        if let Some(inner) = &self.0
            && inner.data_set.is_some()
        {
            return self.clone();
        }
        Self(Some(Arc::new(Inner {
            name,
            data_set: self.0.clone(),
            held: AtomicU64::new(0),
        })))
    }

    pub(crate) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Is there room for one more thread? To be asked before a charge.
    ///
    /// # Errors
    /// [`AskError::Failed`], with the limit that was reached and who reached it.
    pub fn check_thread(&self) -> Result<(), AskError> {
        let limits = ThreadLimits::current();
        for (inner, limit) in self.levels(limits) {
            if inner.held.load(Ordering::SeqCst) >= limit {
                return Err(inner.full(limit));
            }
        }
        if IN_PROCESS.load(Ordering::SeqCst) >= limits.process {
            return Err(process_full(limits.process));
        }
        Ok(())
    }

    /// Counts one more thread, until the answer is dropped. After a charge: there is twice as much room as for
    /// [`check_thread`](Self::check_thread).
    ///
    /// # Errors
    /// As [`check_thread`](Self::check_thread).
    pub fn hold_thread(&self) -> Result<HeldThread, AskError> {
        let limits = ThreadLimits::current();
        let mut held = HeldThread {
            tenants: Vec::new(),
            in_process: false,
        };
        for (inner, limit) in self.levels(limits) {
            if !counted(&inner.held, limit) {
                return Err(inner.full(limit));
            }
            held.tenants.push(Arc::clone(inner));
        }
        held.in_process = counted(&IN_PROCESS, limits.process);
        if !held.in_process {
            return Err(process_full(limits.process));
        }
        Ok(held)
    }

    /// The account, if there is one, and the data set, with their limits.
    fn levels(&self, limits: ThreadLimits) -> impl Iterator<Item = (&Arc<Inner>, u64)> {
        let here = self.0.as_ref();
        let data_set = here.map(|inner| inner.data_set.as_ref().unwrap_or(inner));
        let account = here.filter(|inner| inner.data_set.is_some());
        let account = account.map(|account| (account, limits.account));
        let data_set = data_set.map(|data_set| (data_set, limits.data_set));
        account.into_iter().chain(data_set)
    }
}

impl Inner {
    fn full(&self, limit: u64) -> AskError {
        let (what, field) = match self.data_set {
            Some(_) => ("account", "account"),
            None => ("data set of", "data_set"),
        };
        let name = &self.name;
        AskError::failed(format!(
            "it needs a thread, and the {what} `{name}` holds {limit} threads, its limit: drop handles of objects that have one, or have \
             the operator raise `ThreadLimits::{field}`"
        ))
    }
}

fn process_full(limit: u64) -> AskError {
    AskError::failed(format!(
        "it needs a thread, and {limit} threads are held in this process, its limit: drop handles of objects that have one, or have the \
         operator raise `ThreadLimits::process`"
    ))
}

/// Counts one more, unless twice the limit is reached.
fn counted(held: &AtomicU64, limit: u64) -> bool {
    let more = |held: u64| (held < limit.saturating_mul(2)).then_some(held + 1);
    held.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more)
        .is_ok()
}

/// A thread that counts for a [`Tenant`], until this is dropped.
#[must_use = "the thread counts until this is dropped"]
pub struct HeldThread {
    tenants: Vec<Arc<Inner>>,
    in_process: bool,
}

impl Drop for HeldThread {
    fn drop(&mut self) {
        for tenant in &self.tenants {
            tenant.held.fetch_sub(1, Ordering::SeqCst);
        }
        if self.in_process {
            IN_PROCESS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Shows no name and no number.
impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tenant")
    }
}

impl fmt::Debug for HeldThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeldThread")
    }
}
