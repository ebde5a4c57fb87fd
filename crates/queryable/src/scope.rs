//! Scopes: where a step gets its coins, and the only way to make a queryable.

use std::{any::Any, sync::Arc};

use crate::{
    coins::{Child, Coins, Distribution},
    error::AskError,
    handle::Queryable,
    lineage::{Lineage, Position},
    machine::Machine,
    postprocess::{DEFAULT_STEPS, PostProcessed, PostProcessor},
    root::Root,
    running::{Asker, Running},
    tenant::Tenant,
    turn::{Lease, Sequence, Turn},
};

/// Where a machine, a function or a root stands: what it may be used by, and when. Never changes.
pub(crate) struct Place {
    pub(crate) position: Position,
    pub(crate) lease: Lease,
}

/// What a machine keeps between steps besides its state. (The order of the fields: see `Slot`.)
#[repr(C)]
pub(crate) struct Context {
    /// This machine as its descendants know it; made when it first spawns.
    lineage: Option<Arc<Lineage>>,
    coins: Coins,
    spawned: u64,
    sequence: Option<Sequence>,
}

impl Context {
    pub(crate) fn new(coins: Coins) -> Self {
        Self {
            lineage: None,
            coins,
            spawned: 0,
            sequence: None,
        }
    }

    #[inline]
    pub(crate) fn lineage(&self) -> &Option<Arc<Lineage>> {
        &self.lineage
    }

    pub(crate) fn coins(&self) -> &Coins {
        &self.coins
    }

    pub(crate) fn coins_mut(&mut self) -> &mut Coins {
        &mut self.coins
    }

    /// The number of the next child.
    fn next_child(&mut self) -> u64 {
        let number = self.spawned;
        self.spawned += 1;
        number
    }

    /// The coins of the next child.
    fn child_coins(&mut self) -> Coins {
        Coins::Unborn(Child::Spawned(self.next_child()))
    }
}

/// What a step may do besides computing: draw coins, spawn machines, halt.
///
/// A scope carries its machine's demands to whatever is spawned in it: a child may be asked only while every ancestor
/// that composes sequentially still has it, or its own ancestor, as the newest child.
pub struct Scope<'a> {
    place: &'a Place,
    context: &'a mut Context,
    terms: Terms,
    pending: Option<Turn>,
    halt: bool,
}

/// Under which lease children are spawned.
pub(crate) enum Terms {
    /// That of the place.
    Inherited,
    /// That, and so many messages, for all children together: once there is one.
    Messages(u64),
    Own(Lease),
}

impl Terms {
    /// The code that runs here under these terms, as an asker: part of all launches above, and of its own.
    #[inline]
    pub(crate) fn asker(&self, place: &Place) -> Asker {
        let meters = match self {
            Self::Inherited => place.lease.meters(),
            Self::Messages(_) => place.lease.meters() + 1,
            Self::Own(lease) => lease.meters(),
        };
        Asker { meters }
    }
}

impl<'a> Scope<'a> {
    #[inline]
    pub(crate) fn new(place: &'a Place, context: &'a mut Context, terms: Terms) -> Self {
        Self {
            place,
            context,
            terms,
            pending: None,
            halt: false,
        }
    }

    /// Draws from a distribution: the only source of randomness.
    ///
    /// # Errors
    /// [`AskError::Script`] when the coins are scripted and the script does not fit; [`AskError::Forked`].
    #[inline]
    pub fn draw<D: Distribution + ?Sized>(
        &mut self,
        distribution: &D,
    ) -> Result<D::Outcome, AskError> {
        self.place.position.check_process()?;
        let parent = self.place.position.source();
        self.context.coins.draw(parent, distribution)
    }

    /// Ends the machine after this step: its answer, if any, is still delivered.
    pub fn halt(&mut self) {
        self.halt = true;
    }

    /// Spawns a child that may be asked concurrently with all others.
    ///
    /// # Errors
    /// [`AskError::TooDeep`], [`AskError::Forked`].
    pub fn spawn<M>(&mut self, machine: M) -> Result<Queryable<M::Query, M::Answer>, AskError>
    where
        M: Machine + 'static,
    {
        let lease = self.lease().clone();
        self.spawn_under(lease, machine)
    }

    /// As [`spawn`](Self::spawn); the child, with everything it spawns, answers at most so many messages, and then
    /// [`AskError::TooManyMessages`]. Asks among these are not counted; asks of this step are.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    pub fn spawn_answering_at_most<M>(
        &mut self,
        messages: u64,
        machine: M,
    ) -> Result<Queryable<M::Query, M::Answer>, AskError>
    where
        M: Machine + 'static,
    {
        let lease = self.lease().answering_at_most(messages);
        self.spawn_under(lease, machine)
    }

    /// The lease of children.
    fn lease(&mut self) -> &Lease {
        if let Terms::Messages(messages) = self.terms {
            self.terms = Terms::Own(self.place.lease.answering_at_most(messages));
        }
        match &self.terms {
            Terms::Own(lease) => lease,
            Terms::Inherited | Terms::Messages(_) => &self.place.lease,
        }
    }

    /// Spawns a child in turn: from now on no older child spawned in turn by this machine answers, nor anything below
    /// it. The turn moves when this step returns an answer, or when the child is first asked through
    /// [`ask`](Self::ask); if the step fails before, the turn stays where it was and the new child never answers.
    ///
    /// # Errors
    /// [`AskError::TooDeep`], [`AskError::Forked`].
    pub fn spawn_in_turn<M>(
        &mut self,
        machine: M,
    ) -> Result<Queryable<M::Query, M::Answer>, AskError>
    where
        M: Machine + 'static,
    {
        let turn = self
            .context
            .sequence
            .get_or_insert_with(Sequence::new)
            .issue();
        let lease = self.lease().and(turn.clone());
        let child = self.spawn_under(lease, machine)?;
        self.pending = Some(turn);
        Ok(child)
    }

    fn spawn_under<M>(
        &mut self,
        lease: Lease,
        machine: M,
    ) -> Result<Queryable<M::Query, M::Answer>, AskError>
    where
        M: Machine + 'static,
    {
        let position = self.below()?;
        let place = Place { position, lease };
        Ok(Queryable::new(machine, place, self.context.child_coins()))
    }

    /// The position below this machine.
    fn below(&mut self) -> Result<Position, AskError> {
        let position = &self.place.position;
        position.check_process()?;
        let lineage = self.context.lineage.get_or_insert_with(|| {
            let lineage = position.lineage(self.context.coins.source(position.source()));
            Running::becomes_parent(&lineage);
            lineage
        });
        position.below(lineage)
    }

    /// Asks a child; a child spawned in turn by this very step gets its turn first. (Any other child can as well be
    /// asked directly.)
    ///
    /// # Errors
    /// As [`Queryable::ask`].
    pub fn ask<Q, A>(&mut self, child: &Queryable<Q, A>, query: Q) -> Result<A, AskError> {
        if let Some(turn) = self
            .pending
            .take_if(|turn| child.place().lease.includes(turn))
        {
            turn.begin();
        }
        child.ask(query)
    }

    /// Puts a post-processor in front of a machine spawned here. It is part of this machine: it may hold data, it finds the
    /// values that [roots above carry](Self::carried), and its asks are this step's. A post-processor that the analyst gives
    /// belongs in front of a root: [`Root::postprocess`].
    ///
    /// # Errors
    /// [`AskError::TooDeep`], and [`AskError::NotSpawnedHere`] if `inner` is not below this machine.
    pub fn postprocess<P>(
        &mut self,
        inner: &Queryable<P::InnerQuery, P::InnerAnswer>,
        processor: P,
    ) -> Result<Queryable<P::Query, P::Answer>, AskError>
    where
        P: PostProcessor + 'static,
    {
        let place = Place {
            position: self.below()?.in_front_of(&inner.place().position)?,
            lease: self.lease().clone(),
        };
        let machine = PostProcessed::new(
            processor,
            inner.clone(),
            DEFAULT_STEPS,
            self.terms.asker(self.place),
        );
        Ok(Queryable::new(machine, place, self.context.child_coins()))
    }

    /// The value of this type that the nearest root above [carries](Root::branch_carrying).
    pub fn carried<T: Any>(&self) -> Option<&T> {
        self.place.position.carried()
    }

    /// The tenant for which this step runs. A post-processor runs for no data set.
    pub fn tenant(&self) -> Tenant {
        self.place.position.tenant()
    }

    /// An owned, shared scope below this machine, for what outlives the step: a session opened inside it, for one.
    ///
    /// # Errors
    /// [`AskError::TooDeep`], [`AskError::Forked`].
    pub fn root(&mut self) -> Result<Root, AskError> {
        let below = self.below()?;
        let source = below.source().below(self.context.next_child());
        let lease = self.lease().clone();
        Ok(Root::at(below.root(source), lease))
    }

    /// Ends the step. The turn moves only if it succeeded; says whether the machine halts.
    #[inline(always)]
    pub(crate) fn finish(self, succeeded: bool) -> bool {
        if succeeded && let Some(turn) = self.pending {
            turn.begin();
        }
        self.halt
    }
}
