//! The journal that a ledger is: what sessions call.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use odometer::journal::{
    Draft, Event, Invalid, Journal, JournalError, OpenedPlace, Opening, Past, Place, Receipt,
    Record, Sitting, Tell, Waited, Written,
};

use crate::{
    codec,
    frame::{Frame, Unchained},
    opened::{Book, Inner},
    store::StoreError,
    sync::lock,
    ticket::{CommitError, Ticket},
};

mod news;
#[cfg(test)]
mod tests;

/// Writes down what sessions tell it. There is one for a ledger, inside of its books: two would spend its budgets twice.
pub(crate) struct Writer(pub(crate) Arc<Inner>);

impl Journal for Writer {
    fn has_other_writers(&self) -> bool {
        self.0.sittings.is_some()
    }

    fn enter(&self, tell: &mut Tell<'_>) -> Result<Option<Box<dyn Sitting>>, JournalError> {
        let Some(sittings) = &self.0.sittings else {
            return Ok(None);
        };
        sittings.enter(|| self.0.catch_up(tell))?;
        Ok(Some(Box::new(Seat(self.0.clone()))))
    }

    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        let record = Record::from(opening.clone());
        let draft = unchained(&record, None)?;
        let inner = &self.0;
        // Looked for and staged as one step: two openers get the same place.
        let mut book = lock(&inner.book);
        let (place, draft) = match book.state.find(opening)? {
            Some(place) => (place, None),
            None => {
                let (ticket, opened) = inner.stage(&mut book, draft, &record)?;
                let none = || JournalError::Damaged("nothing was opened".into());
                let drafted = Drafted {
                    inner: inner.clone(),
                    draft: None,
                    record: Arc::new(record),
                    reserved: None,
                    staged: Some((ticket, opened)),
                };
                let drafted: Box<dyn Draft> = Box::new(drafted);
                (opened.ok_or_else(none)?, Some(drafted))
            }
        };
        let past = book.state.past(place).unwrap_or_default();
        Ok(OpenedPlace { place, past, draft })
    }

    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError> {
        let book = lock(&self.0.book);
        let found = book.state.find(opening)?;
        Ok(found.map(|place| (place, book.state.past(place).unwrap_or_default())))
    }

    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError> {
        let keyed = codec::key(&record.event).map(|(_, key)| key);
        let draft = unchained(&record, keyed.as_deref())?;
        self.0.check_reference(&record.event)?;
        let drafted = Drafted {
            inner: self.0.clone(),
            draft: Some(draft),
            record: Arc::new(record),
            reserved: keyed,
            staged: None,
        };
        drafted.reserve()?;
        Ok(Box::new(drafted))
    }

    fn flush(&self) -> Result<(), JournalError> {
        Ok(self.0.log.flush()?)
    }
}

/// Somebody in a sitting.
struct Seat(Arc<Inner>);

impl Sitting for Seat {
    fn leave(self: Box<Self>) {
        if let Some(sittings) = &self.0.sittings {
            sittings.leave(|| self.0.log.rise());
        }
    }
}

fn unchained(record: &Record, key: Option<&[u8]>) -> Result<Unchained, JournalError> {
    let body = |bytes: &mut Vec<u8>| codec::body(&record.event, bytes);
    let kind = codec::kind(&record.event);
    let draft = kind
        .and_then(|kind| Unchained::written(kind, key.unwrap_or_default(), &record.fields, body));
    draft.map_err(|reason| JournalError::Full { reason })
}

impl Inner {
    /// Puts a record into the queue and into the state, as one step: both have the same order.
    fn stage(
        &self,
        book: &mut Book,
        draft: Unchained,
        record: &Record,
    ) -> Result<(Ticket, Option<Place>), JournalError> {
        book.state.check(record).map_err(damaged)?;
        book.state.room_for(record)?;
        let ticket = self.log.stage(draft)?;
        book.since += 1;
        // Checked, so it fits.
        let opened = book.state.apply(record).map_err(damaged)?;
        Ok((ticket, opened))
    }

    /// An event refers to a record that is durable, as it says.
    fn check_reference(&self, event: &Event) -> Result<(), JournalError> {
        let next = self.log.head().seq.saturating_add(1);
        let checked = codec::check_reference(self.log.store(), next, event).map_err(unreadable)?;
        checked.map_err(JournalError::Unsupported)
    }

    /// The record with this number.
    fn read(&self, seq: u64) -> Result<(Receipt, Record), JournalError> {
        let mut found = Err("it is missing".to_owned());
        let read = self.log.store().read(seq, &mut |at, bytes| {
            if at == seq {
                found = Frame::parse(bytes)
                    .map_err(|flaw| flaw.to_string())
                    .and_then(|frame| Ok((frame.receipt(), codec::record(&frame)?)));
            }
            ControlFlow::Break(())
        });
        read.map_err(unreadable)?;
        found.map_err(|why| JournalError::Damaged(format!("record {seq}: {why}")))
    }
}

fn damaged(Invalid(why): Invalid) -> JournalError {
    JournalError::Damaged(why)
}

fn unreadable(error: StoreError) -> JournalError {
    let reason = error.to_string();
    match error {
        StoreError::Unreachable(_) => JournalError::Unreachable { reason },
        _ => JournalError::Closed { reason },
    }
}

/// A record on its way.
struct Drafted {
    inner: Arc<Inner>,
    /// Until it is staged.
    draft: Option<Unchained>,
    record: Arc<Record>,
    /// Its key, as it is indexed.
    reserved: Option<Vec<u8>>,
    staged: Option<(Ticket, Option<Place>)>,
}

impl Drafted {
    /// Looks whether the key and the place are free, among what is staged and what is in the store.
    fn reserve(&self) -> Result<(), JournalError> {
        let staged = {
            let mut book = lock(&self.inner.book);
            if let Some(key) = &self.reserved {
                book.keys.draft(key);
            }
            self.reserved.as_ref().and_then(|key| book.keys.get(key))
        };
        // Keys first: whoever tries the launch of a filter again is told that it happened, and not that its name is taken.
        let Some(key) = &self.reserved else {
            return self.free(&lock(&self.inner.book));
        };
        if let Some((ticket, record)) = staged {
            let receipt = self.inner.log.wait(&ticket)?;
            return Err(self.taken(receipt, &record));
        }
        match self.inner.log.store().find(key).map_err(unreadable)? {
            Some(seq) => {
                let (receipt, record) = self.inner.read(seq)?;
                Err(self.taken(receipt, &record))
            }
            None => self.free(&lock(&self.inner.book)),
        }
    }

    fn staged(&self) -> Result<(&Ticket, Option<Place>), JournalError> {
        let never = || JournalError::Damaged("a draft was not staged".into());
        let (ticket, opened) = self.staged.as_ref().ok_or_else(never)?;
        Ok((ticket, *opened))
    }

    /// The outcome of a wait.
    fn written(
        &self,
        outcome: Result<Receipt, CommitError>,
        opened: Option<Place>,
    ) -> Result<Written, JournalError> {
        let receipt = outcome?;
        self.inner.anchor_if_due();
        Ok(Written { receipt, opened })
    }

    /// Is the place that a launch opens new?
    fn free(&self, book: &Book) -> Result<(), JournalError> {
        if let Event::Charge(charge) = &self.record.event
            && let Some(opening) = &charge.opens
            && let Some(place) = book.state.at(opening.parent, &opening.segment)
        {
            let path = book.state.path(place).to_string();
            return Err(JournalError::Exists { path });
        }
        Ok(())
    }

    /// Somebody has the key: the same launch, or another.
    fn taken(&self, receipt: Receipt, record: &Record) -> JournalError {
        let key =
            codec::key(&self.record.event).map_or_else(String::new, |(key, _)| key.to_owned());
        match record.is_same_launch(&self.record) {
            true => JournalError::AlreadyCharged { key, receipt },
            false => JournalError::OtherLaunch {
                key,
                seq: receipt.seq,
            },
        }
    }
}

impl Draft for Drafted {
    fn stage(&mut self) -> Result<(), JournalError> {
        let inner = self.inner.clone();
        let mut book = lock(&inner.book);
        let staged = self.reserved.as_ref().and_then(|key| book.keys.get(key));
        if let Some((ticket, record)) = staged {
            return Err(self.taken(ticket.receipt(), &record));
        }
        self.free(&book)?;
        let twice = || JournalError::Damaged("a draft was staged twice".into());
        let draft = self.draft.take().ok_or_else(twice)?;
        let (ticket, opened) = inner.stage(&mut book, draft, &self.record)?;
        if let Some(key) = &self.reserved {
            let staged = (ticket.clone(), self.record.clone());
            book.keys.stage(key.clone(), staged, inner.log.head().seq);
        }
        self.staged = Some((ticket, opened));
        Ok(())
    }

    fn wait(self: Box<Self>) -> Result<Written, JournalError> {
        let (ticket, opened) = self.staged()?;
        self.written(self.inner.log.wait(ticket), opened)
    }

    fn wait_for(self: Box<Self>, limit: Duration) -> Waited {
        let (outcome, opened) = match self.staged() {
            Ok((ticket, opened)) => (self.inner.log.wait_for(ticket, limit), opened),
            Err(error) => return Waited::Known(Err(error)),
        };
        match outcome {
            Some(outcome) => Waited::Known(self.written(outcome, opened)),
            None => Waited::Unknown(self),
        }
    }
}

impl Drop for Drafted {
    fn drop(&mut self) {
        if let Some(key) = &self.reserved {
            lock(&self.inner.book).keys.gone(key);
        }
    }
}
