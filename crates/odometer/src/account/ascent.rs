//! A launch on its way up the tree of accounts, and the locks that those below it hold.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use queryable::{AskError, Root, Scope, Sequence, Turn};

use crate::{account::durable::Drafting, account::seat::Place, error::LaunchError};

/// All were charged, or nobody was.
pub(crate) type Settled = Result<(), Box<LaunchError>>;

/// Which kind of launch it is.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Plain,
    /// A refusal leads to another try, so it halts no account.
    Tentative,
    /// Only a question: nobody is charged, and nobody halts.
    Asked,
    /// Only if exactly so many launches have been charged to the leaf's account.
    After(u64),
}

/// Under which conditions a launch runs, once it was charged.
pub(crate) struct Terms {
    /// Its turn in every sequential account.
    pub(crate) turns: Vec<Turn>,
    /// How many messages it answers at the most, with everything it spawns.
    pub(crate) messages: Option<u64>,
}

impl Terms {
    #[inline]
    pub(crate) fn run<X>(
        self,
        root: &Root,
        function: impl FnOnce(&mut Scope<'_>) -> Result<X, AskError>,
    ) -> Result<X, AskError> {
        match self.messages {
            // Most rules are concurrent: nothing to go through.
            None if self.turns.is_empty() => root.run(None, function),
            None => root.run(self.turns, function),
            Some(messages) => root.run_answering_at_most(messages, self.turns, function),
        }
    }
}

/// A launch on its way up.
pub(crate) struct Launch<'a> {
    pub(super) kind: Kind,
    /// Whoever does not agree now will be asked again.
    pub(super) at_once: Cell<bool>,
    /// The turn of the launch under every sequential account on the way, and how many there may be.
    turns: RefCell<Vec<Turn>>,
    sequential: Cell<usize>,
    /// The least number of messages that an account on the way asks for.
    messages: Cell<Option<u64>>,
    /// Whose rule is asked now.
    pub(super) at: Cell<&'a Arc<str>>,
    /// The seat of the account that it comes from, if that counts it by the same bill.
    pub(super) seat: Cell<Option<&'a Place>>,
    /// What is written down of it, if it is.
    pub(super) drafting: Option<&'a Drafting<'a>>,
}

impl<'a> Launch<'a> {
    pub(super) fn new(kind: Kind, at: &'a Arc<str>) -> Self {
        Self {
            kind,
            at_once: Cell::new(true),
            turns: RefCell::default(),
            sequential: Cell::new(0),
            messages: Cell::new(None),
            at: Cell::new(at),
            seat: Cell::new(None),
            drafting: None,
        }
    }

    /// A launch that is written down.
    pub(super) fn drafted(kind: Kind, at: &'a Arc<str>, drafting: &'a Drafting<'a>) -> Self {
        Self {
            drafting: Some(drafting),
            at_once: Cell::new(false),
            ..Self::new(kind, at)
        }
    }

    /// How many launches must have been charged to the leaf's account, if it matters.
    #[inline]
    pub(super) fn expected(&self) -> Option<u64> {
        match self.kind {
            Kind::After(launched) => Some(launched),
            Kind::Plain | Kind::Tentative | Kind::Asked => None,
        }
    }

    /// Is everybody charged once all have agreed?
    #[inline]
    pub(super) fn charges(&self) -> bool {
        !matches!(self.kind, Kind::Asked)
    }

    /// May an account that has admitted it in advance only count it? Not if it depends on what the book says.
    #[inline]
    pub(super) fn may_count(&self) -> bool {
        self.at_once.get() && matches!(self.kind, Kind::Plain | Kind::Tentative)
    }

    /// Does a refusal halt accounts of the halting form?
    pub(super) fn may_halt(&self) -> bool {
        !self.at_once.get() && !matches!(self.kind, Kind::Tentative | Kind::Asked)
    }

    /// Takes the turn for which [room was made](Self::expect_turn).
    #[inline(never)]
    pub(super) fn take_turn(&self, sequence: &Sequence) {
        self.turns.borrow_mut().push(sequence.begin_next());
    }

    /// Answers at most so many messages, with everything it spawns.
    #[inline]
    pub(super) fn answers_at_most(&self, messages: u64) {
        let least = |before: u64| before.min(messages);
        self.messages
            .update(|before| Some(before.map_or(messages, least)));
    }

    /// On which terms it runs.
    #[inline]
    pub(super) fn terms(self) -> Terms {
        Terms {
            turns: self.turns.into_inner(),
            messages: self.messages.get(),
        }
    }

    /// Makes room for one more turn.
    #[inline(never)]
    pub(super) fn expect_turn(&self) {
        self.sequential.update(|turns| turns + 1);
        self.turns.borrow_mut().reserve(self.sequential.get());
    }
}

/// All accounts below are locked, and have agreed. They are charged if all above agree, too, and unlocked in any case.
pub(crate) struct Locked<'a>(Option<&'a mut dyn FnMut(bool)>);

impl<'a> Locked<'a> {
    #[inline]
    pub(super) fn new(unlock: &'a mut dyn FnMut(bool)) -> Self {
        Self(Some(unlock))
    }

    /// Charges them if all have agreed.
    #[inline]
    pub(super) fn unlock(&mut self, agreed: bool) {
        if let Some(unlock) = self.0.take() {
            unlock(agreed);
        }
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.unlock(false);
    }
}

/// The accounts below, which know their prices and lock first.
pub(crate) trait Below {
    fn lock_then(&self, above: &mut dyn FnMut(Locked<'_>) -> Settled) -> Settled;
}

/// Below the leaf's account there is only whoever wants to know whether all were charged.
impl Below for Cell<bool> {
    fn lock_then(&self, above: &mut dyn FnMut(Locked<'_>) -> Settled) -> Settled {
        above(Locked::new(&mut |agreed| self.set(agreed)))
    }
}
