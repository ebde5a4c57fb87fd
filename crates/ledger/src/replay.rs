//! Reopening is replay: records are applied in order, from the last checkpoint on.

use std::ops::ControlFlow;

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

/// Launches come again and again, with the same bytes: so many are kept.
const RECENT: usize = 8;

struct Replay {
    /// Nothing before the first checkpoint on the way, unless everything is replayed.
    state: Option<State>,
    since: u64,
    recent: Vec<(Vec<u8>, Record)>,
    next: usize,
}

impl Replay {
    fn new(everything: bool) -> Self {
        Self {
            state: everything.then(State::new),
            since: 0,
            recent: Vec::new(),
            next: 0,
        }
    }

    fn run(mut self, store: &dyn Store, mut walk: Walk) -> Result<Replayed, LedgerError> {
        let mut wrong = None;
        walk.through(store, |frame| match self.step(frame) {
            Ok(()) => ControlFlow::Continue(()),
            Err(reason) => {
                let seq = frame.seq();
                wrong = Some(LedgerError::Invalid { seq, reason });
                ControlFlow::Break(())
            }
        })?;
        let begun = |head| Some((head, self.state?));
        match (wrong, walk.head().and_then(begun)) {
            (Some(wrong), _) => Err(wrong),
            (None, None) => Err(Damage {
                seq: 0,
                flaw: Flaw::Missing,
            }
            .into()),
            (None, Some((head, state))) => Ok(Replayed {
                state,
                head,
                since: self.since,
            }),
        }
    }

    fn step(&mut self, frame: &Frame<&[u8]>) -> Result<(), String> {
        self.since += 1;
        match frame.kind() {
            Kind::Begin => Ok(()),
            Kind::Event => self.event(frame.body()),
            Kind::Checkpoint => self.checkpoint(frame.body()),
        }
    }

    fn event(&mut self, body: &[u8]) -> Result<(), String> {
        let at = match self.recent.iter().position(|(bytes, _)| bytes == body) {
            Some(at) => at,
            None => self.decode(body)?,
        };
        let state = self.state.as_mut().ok_or("it is before its checkpoint")?;
        let applied = state.apply(&self.recent[at].1);
        applied.map(drop).map_err(|error| error.to_string())
    }

    fn decode(&mut self, body: &[u8]) -> Result<usize, String> {
        let decoded = (body.to_vec(), codec::record(body)?);
        let at = self.next;
        self.next = (at + 1) % RECENT;
        match self.recent.get_mut(at) {
            Some(place) => *place = decoded,
            None => self.recent.push(decoded),
        }
        Ok(at)
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
