//! Group commit: records are staged in order, and whoever waits for one first commits all that are staged.
//!
//! There is no thread of its own. Whoever waits and finds nobody committing is the *leader*: it takes everything that is
//! staged, chains it, and has the store write it; the others park. When it is done it wakes those whose records are
//! durable, and one of the rest, which leads next. So under load every sync carries as many records as came in during the last.
//!
//! A thread may wait for a limited time. When it gives up, it removes itself from those who wait. If it was just chosen to lead next,
//! it chooses another one: otherwise no thread would lead, and the rest would sleep for ever.
//!
//! Where other processes write, too, there is nothing to be staged but in a sitting ([`crate::sittings`]), and whoever leaves it last leads.
//!
//! A record that was not written, or may not have been, stops the log: memory has been charged for it, and only what the
//! store says when it is opened again can be believed. Nobody waits for ever: a leader's guard owns its batch, and whatever
//! ends the leader tells everybody.

use std::{mem, panic, time::Duration};

use odometer::journal::Receipt;

use crate::{
    chain::Walk,
    frame::{Frame, Unchained},
    store::{Cause, Store, StoreError},
    sync::{Limit, Mutex, Sleeper, lock},
    ticket::{CommitError, Ticket},
};

/// A chain of records in a store.
pub struct Log {
    store: Box<dyn Store>,
    /// A planted mistake: a thread that gives up leaves without a word.
    #[cfg(model)]
    forgets_hand_over: bool,
    state: Mutex<State>,
}

struct State {
    /// The last durable record.
    head: Receipt,
    staged: Vec<(Frame, Ticket)>,
    /// Behind the newest record, staged or durable.
    end: Walk,
    /// Of the newest record: what [`Log::flush`] waits for.
    last: Option<Ticket>,
    parked: Vec<Parked>,
    /// How often a thread was parked.
    parkings: u64,
    leading: bool,
    stopped: Option<CommitError>,
}

/// A thread that waits.
struct Parked {
    /// Its number: no two waits have the same.
    number: u64,
    /// The record that it waits for.
    seq: u64,
    thread: Sleeper,
}

impl State {
    /// This thread is about to sleep, as soon as the lock is released. Returns its number.
    fn park(&mut self, seq: u64) -> (u64, Sleeper) {
        let (number, thread) = (self.parkings, Sleeper::current());
        self.parkings += 1;
        self.parked.push(Parked {
            number,
            seq,
            thread: thread.clone(),
        });
        (number, thread)
    }

    /// Removes a thread that does not wait any more. False if it was woken.
    fn remove(&mut self, number: u64) -> bool {
        let found = self.parked.iter().position(|one| one.number == number);
        found.map(|at| self.parked.swap_remove(at)).is_some()
    }
}

impl Log {
    /// Continues a chain behind its last record.
    pub fn after(head: Receipt, store: Box<dyn Store>) -> Self {
        Self::continuing(head, Walk::after(&head), store)
    }

    /// Continues a chain that was read to its last record.
    pub(crate) fn continuing(head: Receipt, end: Walk, store: Box<dyn Store>) -> Self {
        let state = State {
            head,
            staged: Vec::new(),
            end,
            last: None,
            parked: Vec::new(),
            parkings: 0,
            leading: false,
            stopped: None,
        };
        Self {
            store,
            #[cfg(model)]
            forgets_hand_over: false,
            state: Mutex::new(state),
        }
    }

    /// A log with a mistake: a thread that was chosen to lead, and gives up, chooses no other.
    #[cfg(model)]
    pub fn forgetting_hand_over(mut self) -> Self {
        self.forgets_hand_over = true;
        self
    }

    /// Continues behind what another process has written. Nothing is staged.
    pub fn advance(&self, walk: Walk) {
        let mut state = lock(&self.state);
        if let Some(head) = walk.head() {
            (state.head, state.end) = (head, walk);
        }
    }

    /// Behind the newest record, if more can be written.
    pub(crate) fn end(&self) -> Result<Walk, CommitError> {
        let state = lock(&self.state);
        state.stopped.clone().map_or(Ok(state.end), Err)
    }

    /// Nothing is written any more.
    pub(crate) fn stop(&self, cause: Cause) {
        let stopped = CommitError::Stopped { cause };
        lock(&self.state).stopped.get_or_insert(stopped);
    }

    /// Ends a sitting: writes what is staged, and lets others write.
    pub fn rise(&self) {
        let staged = {
            let mut state = lock(&self.state);
            (!state.staged.is_empty()).then(|| self.leader(&mut state))
        };
        // Whatever ends the store's code, everybody who waits is told.
        let risen = panic::catch_unwind(panic::AssertUnwindSafe(|| match staged {
            Some(leader) => leader.lead(),
            None => self.give_back(),
        }));
        risen.unwrap_or_else(mem::forget);
    }

    /// Ends the turn of a shared store, if this is one.
    pub(crate) fn give_back(&self) {
        if let Some(shared) = self.store.shared() {
            shared.give_back();
        }
    }

    /// The store. Only reading from it makes sense.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The last durable record.
    pub fn head(&self) -> Receipt {
        lock(&self.state).head
    }

    /// Puts a record behind all others, which fixes its place. It is not durable before somebody waits for it, or for a later
    /// one.
    ///
    /// # Errors
    /// [`CommitError::Stopped`] and [`CommitError::Closed`]: it is nowhere.
    pub fn stage(&self, draft: Unchained) -> Result<Ticket, CommitError> {
        let mut state = lock(&self.state);
        if let Some(stopped) = &state.stopped {
            return Err(stopped.clone());
        }
        let frame = state.end.seal(draft);
        let ticket = Ticket::staged(frame.receipt());
        state.staged.push((frame, ticket.clone()));
        state.last = Some(ticket.clone());
        Ok(ticket)
    }

    /// Waits until a staged record is durable: `Ok` means that it survives whatever happens to the process or the machine.
    ///
    /// # Errors
    /// [`CommitError`]: what was to run must not.
    pub fn wait(&self, ticket: &Ticket) -> Result<Receipt, CommitError> {
        loop {
            // Without a limit, it ends with an outcome.
            if let Some(outcome) = self.wait_until(ticket, &Limit::NONE) {
                return outcome;
            }
        }
    }

    /// The same for a limited time: nothing if the outcome is not known by then. The record stays staged, and may be waited for
    /// again. A thread that finds no other one writing writes for all who wait, and that takes as long as the store does.
    pub fn wait_for(
        &self,
        ticket: &Ticket,
        limit: Duration,
    ) -> Option<Result<Receipt, CommitError>> {
        self.wait_until(ticket, &Limit::after(limit))
    }

    fn wait_until(&self, ticket: &Ticket, limit: &Limit) -> Option<Result<Receipt, CommitError>> {
        let mut parked = None;
        loop {
            let mut state = lock(&self.state);
            let is_chosen = parked.take().is_some_and(|number| !state.remove(number));
            if let Some(outcome) = ticket.outcome() {
                return Some(outcome.map(|()| ticket.receipt));
            }
            if limit.has_passed() {
                if is_chosen && !state.leading && self.hands_over() {
                    let next = state.parked.pop();
                    drop(state);
                    next.into_iter().for_each(|next| next.thread.wake());
                }
                return None;
            }
            if state.leading || self.store.shared().is_some() {
                let (number, thread) = state.park(ticket.receipt.seq);
                drop(state);
                thread.sleep(limit);
                parked = Some(number);
            } else {
                let leader = self.leader(&mut state);
                drop(state);
                // If the store panics, the guard has told everybody, this thread included.
                let led = panic::catch_unwind(panic::AssertUnwindSafe(|| leader.lead()));
                // What a panic carries is foreign; its destructor might panic, too.
                led.unwrap_or_else(mem::forget);
            }
        }
    }

    /// Does a thread that gives up choose another leader? Always, unless a test of the model checker plants the mistake.
    fn hands_over(&self) -> bool {
        #[cfg(model)]
        return !self.forgets_hand_over;
        #[cfg(not(model))]
        true
    }

    fn leader<'a>(&'a self, state: &mut State) -> Leader<'a> {
        state.leading = true;
        Leader {
            log: self,
            tickets: state.staged.iter().map(|staged| staged.1.clone()).collect(),
            batch: mem::take(&mut state.staged),
        }
    }

    /// Waits until everything that was staged is durable.
    ///
    /// # Errors
    /// [`CommitError`].
    pub fn flush(&self) -> Result<(), CommitError> {
        let last = lock(&self.state).last.clone();
        last.map_or(Ok(()), |ticket| self.wait(&ticket).map(drop))
    }

    /// Writes what is staged, and takes no more.
    ///
    /// # Errors
    /// [`CommitError`].
    pub fn close(&self) -> Result<(), CommitError> {
        let last = {
            let mut state = lock(&self.state);
            state.stopped.get_or_insert(CommitError::Closed);
            state.last.clone()
        };
        last.map_or(Ok(()), |ticket| self.wait(&ticket).map(drop))
    }
}

/// Whoever commits. It owns the tickets of its batch: when it goes, everybody who waits is told.
struct Leader<'a> {
    log: &'a Log,
    batch: Vec<(Frame, Ticket)>,
    tickets: Vec<Ticket>,
}

impl Leader<'_> {
    fn lead(mut self) {
        let frames: Vec<Frame> = self.batch.drain(..).map(|(frame, _)| frame).collect();
        let written = self.log.store.append(&frames);
        let tickets = mem::take(&mut self.tickets);
        match written {
            Ok(()) => self.durable(&tickets),
            Err(error) => self.failed(&tickets, error),
        }
    }

    fn durable(&self, tickets: &[Ticket]) {
        let mut state = lock(&self.log.state);
        for ticket in tickets {
            ticket.settle(Ok(()));
            state.head = ticket.receipt;
        }
        state.leading = false;
        let durable = state.head.seq;
        let parked = mem::take(&mut state.parked);
        let (done, mut rest): (Vec<_>, Vec<_>) =
            parked.into_iter().partition(|one| one.seq <= durable);
        let next = rest.pop();
        state.parked = rest;
        drop(state);
        // The next leader first: it has the longest way to go.
        for one in next.into_iter().chain(done) {
            one.thread.wake();
        }
    }

    fn failed(&self, tickets: &[Ticket], error: StoreError) {
        let (in_doubt, cause) = match error {
            StoreError::NotWritten(cause) => (false, cause),
            StoreError::InDoubt(cause)
            | StoreError::Unreadable(cause)
            | StoreError::Unreachable(cause) => (true, cause),
        };
        let mut state = lock(&self.log.state);
        for ticket in tickets {
            let (seq, cause) = (ticket.receipt.seq, cause.clone());
            ticket.settle(Err(match in_doubt {
                true => CommitError::InDoubt { seq, cause },
                false => CommitError::NotWritten { seq, cause },
            }));
        }
        for (_, ticket) in mem::take(&mut state.staged) {
            let (seq, cause) = (ticket.receipt.seq, cause.clone());
            ticket.settle(Err(CommitError::NotWritten { seq, cause }));
        }
        state.stopped = Some(CommitError::Stopped { cause });
        state.leading = false;
        let parked = mem::take(&mut state.parked);
        drop(state);
        parked.into_iter().for_each(|one| one.thread.wake());
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        let tickets = mem::take(&mut self.tickets);
        if !tickets.is_empty() {
            self.failed(&tickets, StoreError::InDoubt(Cause::Panicked));
        }
    }
}
