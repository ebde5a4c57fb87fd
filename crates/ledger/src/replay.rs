//! Reopening is replay: records are applied in order, from the last checkpoint on.

use std::{mem, ops::ControlFlow, thread};

use odometer::journal::{Receipt, Record, State};

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
    let frozen = store.frozen()?;
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
                seq if seq == before => Ok(frame.receipt()),
                found => Err(Flaw::Misplaced { found }),
            });
        }
        ControlFlow::Break(())
    })?;
    let receipt = found.map_err(|flaw| Damage { seq: before, flaw })?;
    Ok(Walk::after(&receipt))
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
    bodies: Vec<Vec<u8>>,
    bytes: usize,
    waiting: Vec<(u64, usize)>,
}

/// A record that does not fit those before it.
type Wrong = (u64, String);

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
            wrong = self.step(frame);
            match wrong {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        // What was read before the walk ended comes first.
        let wrong = wrong.and_then(|()| self.apply());
        wrong.map_err(|(seq, reason)| LedgerError::Invalid { seq, reason })?;
        walked?;
        match (walk.head(), self.state) {
            (Some(head), Some(state)) => Ok(Replayed {
                state,
                head,
                since: self.since,
            }),
            _ => Err(Damage {
                seq: 0,
                flaw: Flaw::Missing,
            }
            .into()),
        }
    }

    fn step(&mut self, frame: &Frame<&[u8]>) -> Result<(), Wrong> {
        self.since += 1;
        match frame.kind() {
            Kind::Begin => Ok(()),
            Kind::Event => self.event(frame.seq(), frame.body()),
            Kind::Checkpoint => {
                self.apply()?;
                let compared = self.checkpoint(frame.body());
                compared.map_err(|reason| (frame.seq(), reason))
            }
        }
    }

    fn event(&mut self, seq: u64, body: &[u8]) -> Result<(), Wrong> {
        let recent = self.bodies.len().saturating_sub(RECENT);
        let same = self.bodies[recent..]
            .iter()
            .rposition(|bytes| bytes == body);
        let at = match same {
            Some(at) => recent + at,
            None => {
                self.bytes += body.len();
                self.bodies.push(body.to_vec());
                self.bodies.len() - 1
            }
        };
        self.waiting.push((seq, at));
        match self.waiting.len() < SOME && self.bytes < SOME_BYTES {
            true => Ok(()),
            false => self.apply(),
        }
    }

    /// Applies what has been read, in order.
    fn apply(&mut self) -> Result<(), Wrong> {
        let records = decoded(&mem::take(&mut self.bodies));
        self.bytes = 0;
        for (seq, at) in self.waiting.drain(..) {
            let state = self.state.as_mut().ok_or("it is before its checkpoint");
            let applied = state.map_err(str::to_owned).and_then(|state| {
                let record = records[at].as_ref().map_err(Clone::clone)?;
                state.apply(record).map_err(|error| error.to_string())
            });
            applied.map_err(|reason| (seq, reason))?;
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

/// The records with these bodies.
fn decoded(bodies: &[Vec<u8>]) -> Vec<Result<Record, String>> {
    let decode = |bodies: &[Vec<u8>]| -> Vec<_> {
        let records = bodies.iter().map(|body| codec::record(body));
        records.collect()
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
        let mut records = decode(mine);
        for (part, other) in others {
            // Where there is no thread, or whatever ended it: it is read here.
            let read = other.and_then(|other| other.join().ok());
            records.extend(read.unwrap_or_else(|| decode(part)));
        }
        records
    })
}
