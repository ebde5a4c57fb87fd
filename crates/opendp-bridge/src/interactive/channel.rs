//! The thread of an interactive OpenDP object, and the channel to it. OpenDP's queryables stay in the object table of the
//! thread. Jobs are sent to it, and answers that are `Send` come back. The thread ends when the last handle is dropped, at a
//! panic, when a job closes the table, or when an overdue constructor ends.

use std::{
    any::Any,
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use odometer::internal::Failures;
use queryable::{AskError, Tenant, guarded, internal::hold_thread};

use crate::{constructor::Constructor, error::BridgeError};

/// How often whoever waits for an answer looks whether a constructor is overdue.
const LOOK: Duration = Duration::from_millis(50);

/// Whoever waits for the thread is told this.
fn overdue() -> AskError {
    AskError::failed(
        "a constructor has not ended in time (does it wait for a thread that asks this object?)",
    )
}

type Job = Box<dyn FnOnce(&mut ObjectTable) + Send>;

/// A channel to the thread of an OpenDP object. A clone leads to the same thread.
#[derive(Clone)]
pub struct Channel {
    jobs: Sender<Job>,
    failures: Failures,
    patience: Arc<Patience>,
}

/// How long the thread may still be at a constructor.
#[derive(Default)]
struct Patience {
    until: Mutex<Option<Instant>>,
    lost: AtomicBool,
}

impl Patience {
    fn set(&self, until: Option<Instant>) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// Was it lost, now or before?
    fn is_lost(&self) -> bool {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some_and(|until| until < Instant::now()) {
            self.lost.store(true, Ordering::SeqCst);
        }
        self.lost.load(Ordering::SeqCst)
    }
}

impl Channel {
    /// Starts a thread for an object on data with these failures. The tenant holds the thread until it ends.
    pub(crate) fn start(failures: &Failures, tenant: &Tenant) -> Result<Self, AskError> {
        let held = hold_thread(tenant)?;
        let (jobs, todo) = mpsc::channel::<Job>();
        let patience = Arc::new(Patience::default());
        let watched = Arc::clone(&patience);
        let reads = Reads::of(failures);
        let work = move || {
            let _held = held;
            let mut table = ObjectTable {
                objects: HashMap::new(),
                last_id: 0,
                closed: false,
                patience: watched,
                reads,
            };
            // OpenDP's code sees data, so it may use no session and no queryable of ours. A job that was waited for in vain
            // is the last one.
            while !table.closed
                && !table.patience.is_lost()
                && let Ok(job) = todo.recv()
                && guarded(|| job(&mut table)).is_ok()
            {}
            // Foreign destructors.
            let _ = guarded(|| drop((table, todo)));
        };
        match thread::Builder::new().name("opendp".into()).spawn(work) {
            Ok(_) => Ok(Self {
                jobs,
                failures: failures.clone(),
                patience,
            }),
            Err(_) => Err(AskError::failed("no thread could be started")),
        }
    }

    /// The failures of the data.
    pub(crate) fn failures(&self) -> &Failures {
        &self.failures
    }

    /// The record of a job that has not read data yet.
    pub(crate) fn reads(&self) -> Reads {
        Reads::of(&self.failures)
    }

    /// Runs a job on the thread, and waits for its result. The job records in `reads` that it reads data.
    ///
    /// # Errors
    /// [`AskError::Panicked`], if this job or an earlier one did, or an earlier one closed the thread;
    /// [`AskError::Failed`], if the thread is lost to a constructor.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        reads: &Reads,
        job: impl FnOnce(&mut ObjectTable) -> R + Send + 'static,
    ) -> Result<R, AskError> {
        let (answer, answered) = mpsc::sync_channel(1);
        let reads = reads.clone();
        let job = Box::new(move |table: &mut ObjectTable| {
            table.reads = reads;
            // The caller waits for the answer, unless the thread is lost.
            let _ = answer.send(job(table));
        });
        self.jobs.send(job).map_err(|_| AskError::Panicked)?;
        loop {
            match answered.recv_timeout(LOOK) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(AskError::Panicked),
                Err(RecvTimeoutError::Timeout) if self.patience.is_lost() => {
                    return Err(overdue());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Whether a job has come to where OpenDP's code reads data. From there on its failure may tell something about them.
#[derive(Clone)]
pub(crate) struct Reads {
    begun: Arc<AtomicBool>,
    failures: Failures,
}

impl Reads {
    fn of(failures: &Failures) -> Self {
        Self {
            begun: Arc::default(),
            failures: failures.clone(),
        }
    }

    /// Now it reads data, unless something has failed on them.
    ///
    /// # Errors
    /// [`AskError::Halted`].
    pub(crate) fn begin(&self) -> Result<(), AskError> {
        self.failures.check()?;
        self.begun.store(true, Ordering::SeqCst);
        Ok(())
    }

    pub(crate) fn have_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }
}

/// The object table of a thread: OpenDP's queryables, by id.
pub struct ObjectTable {
    objects: HashMap<u64, Box<dyn Any>>,
    last_id: u64,
    closed: bool,
    patience: Arc<Patience>,
    /// Belongs to the current job.
    reads: Reads,
}

impl ObjectTable {
    /// Adds an object, and returns its id.
    pub(crate) fn put<T: 'static>(&mut self, object: T) -> u64 {
        self.last_id += 1;
        self.objects.insert(self.last_id, Box::new(object));
        self.last_id
    }

    /// Ends the thread after this job, with all its objects.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// The object with this id.
    pub(crate) fn get<T: 'static>(&mut self, id: u64) -> Option<&mut T> {
        self.objects.get_mut(&id)?.downcast_mut()
    }

    /// Whether the current job has read data.
    pub(crate) fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Builds a query on this thread. The caller waits at most as long as the constructor's patience.
    ///
    /// # Errors
    /// The constructor's own. [`AskError::Failed`] if the caller has given up: then nothing may run.
    pub(crate) fn build<T: 'static>(&self, query: &Constructor<T>) -> Result<T, AskError> {
        self.patiently(query.patience(), || query.build())
    }

    /// As [`build`](Self::build), for something else that builds.
    pub(crate) fn patiently<R>(
        &self,
        patience: Duration,
        build: impl FnOnce() -> Result<R, BridgeError>,
    ) -> Result<R, AskError> {
        self.patience.set(Instant::now().checked_add(patience));
        let built = build();
        self.patience.set(None);
        if self.patience.is_lost() {
            return Err(overdue());
        }
        Ok(built?)
    }
}

/// A handle to an object in the table. Dropping the handle removes the object.
pub(crate) struct StoredObject {
    channel: Channel,
    id: u64,
}

impl StoredObject {
    pub(crate) fn new(channel: &Channel, id: u64) -> Self {
        Self {
            channel: channel.clone(),
            id,
        }
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.channel
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for StoredObject {
    fn drop(&mut self) {
        let id = self.id;
        // If the thread is gone, so is the object.
        let _ = self
            .channel
            .jobs
            .send(Box::new(move |table: &mut ObjectTable| {
                table.objects.remove(&id);
            }));
    }
}
