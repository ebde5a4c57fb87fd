//! The thread on which an interactive OpenDP object lives. Its queryables never leave it; what crosses are jobs, and
//! answers that may cross threads. The thread ends when the last handle is dropped, at a panic, or when a job closes it.

use std::{
    any::Any,
    collections::HashMap,
    sync::mpsc::{self, Sender},
    thread,
};

use queryable::{AskError, guarded};

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// A handle to the thread. A clone is the same thread.
#[derive(Clone)]
pub struct Host(Sender<Job>);

impl Host {
    /// Starts a thread.
    pub(crate) fn start() -> Result<Self, AskError> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let work = move || {
            let mut shelf = Shelf::default();
            // OpenDP's code sees data, so it may use no session and no queryable of ours.
            while !shelf.closed
                && let Ok(job) = todo.recv()
                && guarded(|| job(&mut shelf)).is_ok()
            {}
        };
        match thread::Builder::new().name("opendp".into()).spawn(work) {
            Ok(_) => Ok(Self(jobs)),
            Err(_) => Err(AskError::failed("no thread could be started")),
        }
    }

    /// Does a job there, and waits for it.
    ///
    /// # Errors
    /// [`AskError::Panicked`], if this job or an earlier one did, or an earlier one closed the thread.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Shelf) -> R + Send + 'static,
    ) -> Result<R, AskError> {
        let (answer, answered) = mpsc::sync_channel(1);
        let job = Box::new(move |shelf: &mut Shelf| {
            // Whoever asked waits for it, so this cannot fail.
            let _ = answer.send(job(shelf));
        });
        self.0.send(job).map_err(|_| AskError::Panicked)?;
        answered.recv().map_err(|_| AskError::Panicked)
    }
}

/// What lives on the thread: OpenDP's queryables, by ticket.
#[derive(Default)]
pub struct Shelf {
    objects: HashMap<u64, Box<dyn Any>>,
    tickets: u64,
    closed: bool,
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
        let _ = self.host.0.send(Box::new(move |shelf: &mut Shelf| {
            shelf.objects.remove(&ticket);
        }));
    }
}
