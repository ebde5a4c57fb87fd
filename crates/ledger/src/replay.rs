//! Reopening is replay: records are applied in order, from the last checkpoint on.

use std::{mem, ops::ControlFlow, thread};

use odometer::journal::{Event, Fields, Receipt, State};

use crate::{
    chain::{self, Damage, Walk},
    codec,
    error::LedgerError,
    frame::{Flaw, Frame, Kind},
    store::Store,
};

/// What a store's records amount to.
pub(crate) struct Replayed {
    pub(crate) state: State,
    pub(crate) head: Receipt,
    /// Behind that record.
    pub(crate) end: Walk,
    /// How many records there are after the last checkpoint.
    pub(crate) since: u64,
}

/// From this checkpoint on. What is before it is believed: its hash is in the chain, which [`everything`] checks. Checkpoints
/// after it are compared.
pub(crate) fn from_checkpoint(store: &dyn Store, seq: u64) -> Result<Replayed, LedgerError> {
    Replay::new(false).run(store, before(store, seq)?)
}

/// From the first record on. Every checkpoint must be what the records before it amount to.
pub(crate) fn everything(store: &dyn Store) -> Result<Replayed, LedgerError> {
    Replay::new(true).run(store, Walk::from_the_start())
}

/// Everything, if every hash, both indices and every checkpoint are as they should be. What is written meanwhile is left out.
pub(crate) fn verified(store: &dyn Store) -> Result<Replayed, LedgerError> {
    let frozen = match store.shared() {
        Some(shared) => Some(shared.frozen()?),
        None => None,
    };
    let store = frozen.as_deref().unwrap_or(store);
    chain::verify(store)?;
    everything(store)
}

/// In front of this record: the one before it is believed.
pub(crate) fn before(store: &dyn Store, seq: u64) -> Result<Walk, LedgerError> {
    let before = seq.saturating_sub(1);
    let mut found = Err(Flaw::Missing);
    store.read(before, &mut |at, bytes| {
        if at == before {
            found = Frame::parse(bytes).and_then(|frame| match frame.seq() {
                seq if seq == before => Ok(Walk::behind(&frame)),
                found => Err(Flaw::Misplaced { found }),
            });
        }
        ControlFlow::Break(())
    })?;
    Ok(found.map_err(|flaw| Damage { seq: before, flaw })?)
}

/// Launches come again and again, with the same bytes: a body is compared with so many before it.
const RECENT: usize = 8;

/// So many records are read before they are applied, or so many bytes of different ones: then all processors take part in
/// reading what they say.
const SOME: usize = 8192;
const SOME_BYTES: usize = 4 << 20;

/// Fewer different bodies than this are read faster than a thread starts.
const FEW: usize = 256;

struct Replay {
    /// Nothing before the first checkpoint on the way, unless everything is replayed.
    state: Option<State>,
    since: u64,
    /// What has been read and not been applied: different bodies, and which of them each record has.
    bodies: Vec<Body>,
    bytes: usize,
    waiting: Vec<Waiting>,
}

/// The body of an event, and what kind it is.
type Body = (Kind, Vec<u8>);

/// A record that was read and is not applied yet.
struct Waiting {
    seq: u64,
    /// Its body, among those that were read.
    at: usize,
    /// Its fields, if it has any.
    fields: Option<Box<Fields>>,
}

impl Replay {
    fn new(everything: bool) -> Self {
        Self {
            state: everything.then(State::new),
            since: 0,
            bodies: Vec::new(),
            bytes: 0,
            waiting: Vec::new(),
        }
    }

    fn run(mut self, store: &dyn Store, mut walk: Walk) -> Result<Replayed, LedgerError> {
        let mut wrong = Ok(());
        let walked = walk.through(store, |frame| {
            wrong = self.step(store, frame);
            match wrong {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        // What was read before the walk ended comes first.
        wrong.and_then(|()| self.apply(store))?;
        walked?;
        match (walk.head(), self.state) {
            (Some(head), Some(state)) => Ok(Replayed {
                state,
                head,
                end: walk,
                since: self.since,
            }),
            _ => Err(Damage {
                seq: 0,
                flaw: Flaw::Missing,
            }
            .into()),
        }
    }

    fn step(&mut self, store: &dyn Store, frame: &Frame<&[u8]>) -> Result<(), LedgerError> {
        self.since += 1;
        match frame.kind() {
            Kind::Begin => Ok(()),
            Kind::Checkpoint => {
                self.apply(store)?;
                let compared = self.checkpoint(frame.body());
                compared.map_err(|reason| invalid(frame.seq(), reason))
            }
            kind => self.event(store, kind, frame),
        }
    }

    fn event(
        &mut self,
        store: &dyn Store,
        kind: Kind,
        frame: &Frame<&[u8]>,
    ) -> Result<(), LedgerError> {
        let (seq, body) = (frame.seq(), frame.body());
        let recent = self.bodies.len().saturating_sub(RECENT);
        let same = self.bodies[recent..]
            .iter()
            .rposition(|(other, bytes)| *other == kind && bytes == body);
        let at = match same {
            Some(at) => recent + at,
            None => {
                self.bytes += body.len();
                self.bodies.push((kind, body.to_vec()));
                self.bodies.len() - 1
            }
        };
        let fields = frame.fields().map_err(|flaw| Damage {
            seq,
            flaw: flaw.into(),
        })?;
        let fields = (!fields.is_empty()).then(|| Box::new(fields));
        self.waiting.push(Waiting { seq, at, fields });
        match self.waiting.len() < SOME && self.bytes < SOME_BYTES {
            true => Ok(()),
            false => self.apply(store),
        }
    }

    /// Applies what has been read, in order.
    fn apply(&mut self, store: &dyn Store) -> Result<(), LedgerError> {
        let events = decoded(&mem::take(&mut self.bodies));
        self.bytes = 0;
        let none = Fields::default();
        for Waiting { seq, at, fields } in self.waiting.drain(..) {
            let invalid = |reason| invalid(seq, reason);
            let state = self.state.as_mut();
            let state = state.ok_or_else(|| invalid("it is before its checkpoint".into()))?;
            let event = events[at].as_ref();
            let event = event.map_err(|reason| invalid(reason.clone()))?;
            codec::check_reference(store, seq, event)?.map_err(invalid)?;
            let applied = state.apply_event(event, fields.as_deref().unwrap_or(&none));
            applied.map_err(|error| invalid(error.to_string()))?;
        }
        Ok(())
    }

    fn checkpoint(&mut self, body: &[u8]) -> Result<(), String> {
        self.since = 0;
        match &self.state {
            None => self.state = Some(codec::state(body)?),
            Some(state) if codec::checkpoint(state)? == body => {}
            Some(_) => return Err("it says something else than the records before it".into()),
        }
        Ok(())
    }
}

fn invalid(seq: u64, reason: String) -> LedgerError {
    LedgerError::Invalid { seq, reason }
}

/// The events with these bodies.
fn decoded(bodies: &[Body]) -> Vec<Result<Event, String>> {
    let decode = |bodies: &[Body]| -> Vec<_> {
        let events = bodies.iter().map(|(kind, body)| codec::event(*kind, body));
        events.collect()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    if bodies.len() < FEW || threads == 1 {
        return decode(bodies);
    }
    let mut parts = bodies.chunks(bodies.len().div_ceil(threads));
    let mine = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let spawn = |part| {
            let other = thread::Builder::new().spawn_scoped(scope, move || decode(part));
            (part, other.ok())
        };
        let others: Vec<_> = parts.map(spawn).collect();
        let mut events = decode(mine);
        for (part, other) in others {
            // Where there is no thread, or whatever ended it: it is read here.
            let read = other.and_then(|other| other.join().ok());
            events.extend(read.unwrap_or_else(|| decode(part)));
        }
        events
    })
}
