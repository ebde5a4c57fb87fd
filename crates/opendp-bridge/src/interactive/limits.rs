//! How many interactive OpenDP objects may be alive, each with a thread: in the process, on one data set, and through one account.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

use queryable::{AskError, Held, Tenant};
use thiserror::Error;

static LIMITS: OnceLock<InteractiveLimits> = OnceLock::new();
static THREADS: AtomicU64 = AtomicU64::new(0);

/// How many interactive OpenDP objects may be alive at the same time, because each has a thread.
///
/// A launch beyond a limit is refused before it is charged: [`LaunchError::NotReady`](odometer::LaunchError::NotReady), whose
/// reason names the limit. Launches that were admitted at the same moment are not refused after they were charged: up to twice
/// each limit may be alive because of those.
///
/// ```
/// use odometry::opendp_bridge::{InteractiveLimits, LimitsInUse};
/// let limits = InteractiveLimits { account: 16, ..InteractiveLimits::default() };
/// limits.set()?; // in `main`, before the first launch
/// assert_eq!(InteractiveLimits::current(), limits);
/// assert!(matches!(InteractiveLimits::default().set(), Err(LimitsInUse { .. })));
/// # Ok::<(), LimitsInUse>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InteractiveLimits {
    /// In the process: 1,024 by default.
    pub process: u64,
    /// On one data set, through all sessions on it: 256 by default.
    pub data_set: u64,
    /// Through one session directly below the top session of a data set, and everything below that session: 64 by default.
    pub account: u64,
}

impl Default for InteractiveLimits {
    fn default() -> Self {
        Self {
            process: 1024,
            data_set: 256,
            account: 64,
        }
    }
}

/// Other limits were asked for after the first launch, or for the second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the limits of interactive OpenDP objects cannot become {asked:?}, because {current:?} are in use: set them once, before the first launch"
)]
pub struct LimitsInUse {
    /// The limits that were to be set.
    pub asked: InteractiveLimits,
    /// Those that stay.
    pub current: InteractiveLimits,
}

impl InteractiveLimits {
    /// Sets the limits of this process.
    ///
    /// # Errors
    /// [`LimitsInUse`], if they were set before, or an interactive object was launched.
    pub fn set(self) -> Result<(), LimitsInUse> {
        LIMITS.set(self).map_err(|asked| LimitsInUse {
            asked,
            current: Self::current(),
        })
    }

    /// The limits of this process. From now on they stay.
    pub fn current() -> Self {
        *LIMITS.get_or_init(Self::default)
    }
}

/// May one more object be launched for this tenant?
pub(crate) fn room(tenant: Option<&Tenant>) -> Result<(), AskError> {
    let limits = InteractiveLimits::current();
    for (tenant, limit) in levels(tenant, limits) {
        if tenant.held() >= limit {
            return Err(tenant_full(tenant, limit));
        }
    }
    if THREADS.load(Ordering::SeqCst) >= limits.process {
        return Err(process_full(limits.process));
    }
    Ok(())
}

/// A tenant, if it is an account, and its data set, with their limits.
fn levels(
    tenant: Option<&Tenant>,
    limits: InteractiveLimits,
) -> impl Iterator<Item = (&Tenant, u64)> {
    let account = tenant.filter(|tenant| tenant.data_set().is_some());
    let data_set = tenant.map(|tenant| tenant.data_set().unwrap_or(tenant));
    let account = account.map(|account| (account, limits.account));
    let data_set = data_set.map(|data_set| (data_set, limits.data_set));
    account.into_iter().chain(data_set)
}

fn tenant_full(tenant: &Tenant, limit: u64) -> AskError {
    let (name, field) = match tenant.data_set() {
        Some(_) => (format!("the account `{}`", tenant.name()), "account"),
        None => (format!("the data set of `{}`", tenant.name()), "data_set"),
    };
    AskError::failed(format!(
        "{limit} interactive OpenDP objects are alive for {name}, its limit, and each has a thread: drop handles of some of them, or \
         have the operator raise `InteractiveLimits::{field}`"
    ))
}

fn process_full(limit: u64) -> AskError {
    AskError::failed(format!(
        "{limit} interactive OpenDP objects are alive in this process, its limit, and each has a thread: drop handles of some of them, \
         or have the operator raise `InteractiveLimits::process`"
    ))
}

/// A thread that is counted, by its tenants and in the process, until this is dropped.
pub(super) struct Counted {
    _held: Vec<Held>,
    _in_process: InProcess,
}

struct InProcess;

impl Counted {
    pub(super) fn new(tenant: Option<&Tenant>) -> Result<Self, AskError> {
        let limits = InteractiveLimits::current();
        // As much room again for launches that were admitted at the same moment.
        let hold = |(tenant, limit): (&Tenant, u64)| {
            let held = tenant.hold(limit.saturating_mul(2));
            held.ok_or_else(|| tenant_full(tenant, limit))
        };
        let held = levels(tenant, limits).map(hold).collect::<Result<_, _>>()?;
        let most = limits.process.saturating_mul(2);
        let more = |threads: u64| (threads < most).then_some(threads + 1);
        let counted = THREADS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        counted.map_err(|_| process_full(limits.process))?;
        Ok(Self {
            _held: held,
            _in_process: InProcess,
        })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::SeqCst);
    }
}
