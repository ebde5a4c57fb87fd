//! Tenants: the data sets and accounts that share the threads of a process, and how many threads each may hold.

use std::{
    fmt,
    sync::{
        Arc, LazyLock, OnceLock,
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
/// The tenant of everything that no session has launched, and of post-processors.
static OUTSIDE: LazyLock<Arc<Inner>> = LazyLock::new(|| Inner::new(Level::Outside, "".into()));

/// How many threads may be held at the same time by machines that need one each, such as interactive objects of OpenDP.
///
/// A launch beyond a limit is refused before it is charged. Launches that were admitted at the same moment are not refused after
/// they were charged, so up to twice each limit may be held for a while. Where nothing is charged, outside of sessions and in
/// post-processors, at most half of the limit of the process may be held, and never more.
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
    /// Through one account and everything below it: 64 by default. An account is a session nested in the top session of a data set,
    /// or a filter launched there. Links and parts are none: they count for the session above.
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
/// team.tenant().check_thread()?; // the team has room for one more thread
/// # Ok::<(), AskError>(())
/// ```
#[derive(Clone)]
pub struct Tenant(Option<Arc<Inner>>);

struct Inner {
    level: Level,
    name: Arc<str>,
    held: AtomicU64,
}

enum Level {
    DataSet,
    /// An account of this data set.
    Account(Arc<Inner>),
    Outside,
}

impl Tenant {
    /// No data set and no account: a root on the analyst's side.
    pub(crate) const NONE: Self = Self(None);

    /// The tenant of a post-processor, and of everything below it.
    pub(crate) fn outside() -> Self {
        Self(Some(Arc::clone(&OUTSIDE)))
    }

    /// A data set, below none; one of its accounts, below a data set; below anything else, the same again.
    pub(crate) fn below(&self, name: Arc<str>) -> Self {
        let level = match &self.0 {
            None => Level::DataSet,
            Some(inner) if matches!(inner.level, Level::DataSet) => Level::Account(inner.clone()),
            Some(_) => return self.clone(),
        };
        Self(Some(Inner::new(level, name)))
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
        for inner in self.levels() {
            let limit = inner.limit(limits);
            if inner.held.load(Ordering::SeqCst) >= limit {
                return Err(inner.full(limit));
            }
        }
        if IN_PROCESS.load(Ordering::SeqCst) >= limits.process {
            return Err(process_full(limits.process));
        }
        Ok(())
    }

    /// The account, if there is one, and the data set; without both, what is outside.
    fn levels(&self) -> impl Iterator<Item = &Arc<Inner>> {
        let here = self.0.as_ref().unwrap_or(&OUTSIDE);
        let data_set = match &here.level {
            Level::Account(data_set) => Some(data_set),
            Level::DataSet | Level::Outside => None,
        };
        std::iter::once(here).chain(data_set)
    }
}

/// Counts one more thread for this tenant, until the answer is dropped. After a charge there is room for twice the limit; where
/// nothing is charged, for the limit.
///
/// # Errors
/// As [`Tenant::check_thread`].
pub fn hold_thread(tenant: &Tenant) -> Result<HeldThread, AskError> {
    let limits = ThreadLimits::current();
    let mut held = HeldThread {
        tenants: Vec::new(),
        in_process: false,
    };
    for inner in tenant.levels() {
        let limit = inner.limit(limits);
        let most = match inner.level {
            Level::Outside => limit,
            Level::DataSet | Level::Account(_) => limit.saturating_mul(2),
        };
        if !counted(&inner.held, most) {
            return Err(inner.full(most));
        }
        held.tenants.push(Arc::clone(inner));
    }
    let most = limits.process.saturating_mul(2);
    held.in_process = counted(&IN_PROCESS, most);
    if !held.in_process {
        return Err(process_full(most));
    }
    Ok(held)
}

impl Inner {
    fn new(level: Level, name: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            level,
            name,
            held: AtomicU64::new(0),
        })
    }

    fn limit(&self, limits: ThreadLimits) -> u64 {
        match self.level {
            Level::DataSet => limits.data_set,
            Level::Account(_) => limits.account,
            Level::Outside => limits.process / 2,
        }
    }

    fn full(&self, limit: u64) -> AskError {
        let name = &self.name;
        let (holds, field) = match self.level {
            Level::Account(_) => (format!("the account `{name}` holds"), "account"),
            Level::DataSet => (format!("the data set of `{name}` holds"), "data_set"),
            Level::Outside => ("code outside of sessions holds".into(), "process"),
        };
        AskError::failed(format!(
            "it needs a thread, and {holds} {limit} threads, its limit: drop handles of objects that have one, or have the operator \
             raise `ThreadLimits::{field}`"
        ))
    }
}

fn process_full(limit: u64) -> AskError {
    AskError::failed(format!(
        "it needs a thread, and {limit} threads are held in this process, its limit: drop handles of objects that have one, or have the \
         operator raise `ThreadLimits::process`"
    ))
}

/// Counts one more, unless this number is reached.
fn counted(held: &AtomicU64, most: u64) -> bool {
    let more = |held: u64| (held < most).then_some(held + 1);
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
