//! The thread on which an interactive OpenDP object lives. Its queryables never leave it; what crosses are jobs, and
//! answers that may cross threads. The thread ends when the last handle is dropped, at a panic, when a job closes it, or
//! when a constructor that was overdue ends.

use std::{
    any::Any,
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use odometer::internal::Failures;
use queryable::{AskError, guarded};

use crate::{constructor::Constructor, error::BridgeError};

/// How many interactive OpenDP objects there may be in a process, because each has a thread. Further ones are not
/// launched: [`LaunchError::NotReady`](odometer::LaunchError::NotReady), and nothing is charged.
pub const MAX_INTERACTIVE: usize = 1024;

/// Launches that were admitted at the same moment are not refused after they were charged: there is as much room again
/// for those.
const MAX_THREADS: usize = 2 * MAX_INTERACTIVE;

/// How often whoever waits for an answer looks whether a constructor is overdue.
const LOOK: Duration = Duration::from_millis(50);

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// May one more object be launched?
pub(crate) fn room() -> Result<(), AskError> {
    if THREADS.load(Ordering::SeqCst) < MAX_INTERACTIVE {
        return Ok(());
    }
    Err(full())
}

fn full() -> AskError {
    AskError::failed(format!(
        "{MAX_INTERACTIVE} interactive OpenDP objects are alive, and each has a thread: drop some of their handles first"
    ))
}

/// Whoever waits for the thread is told this.
fn overdue() -> AskError {
    AskError::failed(
        "a constructor has not ended in time (does it wait for a thread that asks this object?)",
    )
}

/// A thread that is counted.
struct Counted;

impl Counted {
    fn new() -> Result<Self, AskError> {
        let counted = |threads: usize| (threads < MAX_THREADS).then_some(threads + 1);
        match THREADS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, counted) {
            Ok(_) => Ok(Self),
            Err(_) => Err(full()),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::SeqCst);
    }
}

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// A handle to the thread. A clone is the same thread.
#[derive(Clone)]
pub struct Host {
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

impl Host {
    /// Starts a thread for an object on data with these failures.
    pub(crate) fn start(failures: &Failures) -> Result<Self, AskError> {
        let counted = Counted::new()?;
        let (jobs, todo) = mpsc::channel::<Job>();
        let patience = Arc::new(Patience::default());
        let watched = Arc::clone(&patience);
        let reads = Reads::of(failures);
        let work = move || {
            let _counted = counted;
            let mut shelf = Shelf {
                objects: HashMap::new(),
                tickets: 0,
                closed: false,
                patience: watched,
                reads,
            };
            // OpenDP's code sees data, so it may use no session and no queryable of ours. A job that was waited for in vain
            // is the last one.
            while !shelf.closed
                && !shelf.patience.is_lost()
                && let Ok(job) = todo.recv()
                && guarded(|| job(&mut shelf)).is_ok()
            {}
            // Foreign destructors.
            let _ = guarded(|| drop((shelf, todo)));
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

    /// For a job that has not come to data yet.
    pub(crate) fn reads(&self) -> Reads {
        Reads::of(&self.failures)
    }

    /// Does a job there, and waits for it. It says in `reads` when it comes to data.
    ///
    /// # Errors
    /// [`AskError::Panicked`], if this job or an earlier one did, or an earlier one closed the thread;
    /// [`AskError::Failed`], if the thread is lost to a constructor.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        reads: &Reads,
        job: impl FnOnce(&mut Shelf) -> R + Send + 'static,
    ) -> Result<R, AskError> {
        let (answer, answered) = mpsc::sync_channel(1);
        let reads = reads.clone();
        let job = Box::new(move |shelf: &mut Shelf| {
            shelf.reads = reads;
            // Whoever asked waits for it, unless the thread is lost.
            let _ = answer.send(job(shelf));
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

/// What lives on the thread: OpenDP's queryables, by ticket.
pub struct Shelf {
    objects: HashMap<u64, Box<dyn Any>>,
    tickets: u64,
    closed: bool,
    patience: Arc<Patience>,
    /// Of the job that is being done.
    reads: Reads,
}

impl Shelf {
    /// Keeps an object.
    pub(crate) fn put<T: 'static>(&mut self, object: T) -> u64 {
        self.tickets += 1;
        self.objects.insert(self.tickets, Box::new(object));
        self.tickets
    }

    /// Ends the thread after this job, with everything that lives there.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// The object with this ticket.
    pub(crate) fn get<T: 'static>(&mut self, ticket: u64) -> Option<&mut T> {
        self.objects.get_mut(&ticket)?.downcast_mut()
    }

    /// Whether the job that is being done has come to data.
    pub(crate) fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Builds a query here. Whoever waits for it does so only as long as the constructor says.
    ///
    /// # Errors
    /// The constructor's own, and [`AskError::Failed`] if nobody waits any more: then nothing may run.
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

/// An object on the shelf; dropping it takes the object off.
pub(crate) struct Shelved {
    host: Host,
    ticket: u64,
}

impl Shelved {
    pub(crate) fn new(host: &Host, ticket: u64) -> Self {
        Self {
            host: host.clone(),
            ticket,
        }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn ticket(&self) -> u64 {
        self.ticket
    }
}

impl Drop for Shelved {
    fn drop(&mut self) {
        let ticket = self.ticket;
        // If the thread is gone, so is the object.
        let _ = self.host.jobs.send(Box::new(move |shelf: &mut Shelf| {
            shelf.objects.remove(&ticket);
        }));
    }
}
