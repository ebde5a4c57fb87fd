//! Roots: owned, shared scopes on the analyst's side.

use std::{fmt, sync::Arc};

use crate::{
    cell::{Status, run},
    coins::{Coins, Script, Source},
    error::AskError,
    handle::Queryable,
    machine::Machine,
    postprocess::{DEFAULT_STEPS, PostProcessed, PostProcessor},
    scope::{Context, Place, Scope},
    sync::{AtomicU64, Ordering},
    turn::{Lease, Sequence, Turn},
};

/// The root of a tree of machines: where an analyst, a server or a session spawns.
///
/// A root is shared freely between threads; a clone is the same root. It belongs to whoever made it: used inside a
/// step of a machine that did not, it refuses.
///
/// ```
/// use queryable::{Root, machine};
/// let root = Root::from_os()?;
/// let echo = root.spawn(machine(|text: String, _| Ok(text)))?;
/// assert_eq!(echo.ask("hello".into())?, "hello");
/// # Ok::<(), queryable::AskError>(())
/// ```
#[derive(Clone)]
pub struct Root(Arc<Shared>);

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Root")
    }
}

struct Shared {
    place: Place,
    source: Source,
    spawned: AtomicU64,
    sequence: Sequence,
}

impl Root {
    /// Coins from the operating system's generator, stretched by ChaCha20, each machine its own stream.
    ///
    /// # Errors
    /// [`AskError::NoEntropy`] when the operating system has none to give; [`AskError::NotSpawnedHere`] inside a step,
    /// whose randomness comes from its scope alone.
    pub fn from_os() -> Result<Self, AskError> {
        Place::TOP.position.check_reachable()?;
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|_| AskError::NoEntropy)?;
        Ok(Self::at(Place::TOP, Source::Key(key)))
    }

    /// Reproducible coins: the same seed and the same order of spawns give the same answers. For tests and
    /// simulations only: who knows the seed knows every coin.
    pub fn seeded(seed: [u8; 32]) -> Self {
        Self::at(Place::TOP, Source::Key(seed))
    }

    /// Scripted coins, shared by everything below.
    pub fn scripted(script: &Script) -> Self {
        Self::at(Place::TOP, Source::Script(script.clone()))
    }

    pub(crate) fn at(place: Place, source: Source) -> Self {
        Self(Arc::new(Shared {
            place,
            source,
            spawned: AtomicU64::new(0),
            sequence: Sequence::new(),
        }))
    }

    /// Spawns a machine that may be asked concurrently with all others.
    ///
    /// # Errors
    /// [`AskError::NotSpawnedHere`] inside a step of a machine that this root is not below.
    pub fn spawn<M>(&self, machine: M) -> Result<Queryable<M::Query, M::Answer>, AskError>
    where
        M: Machine + 'static,
    {
        self.spawn_under(self.0.place.lease.clone(), machine)
    }

    /// Spawns a machine in turn: no older machine spawned in turn from this root answers from now on.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    pub fn spawn_in_turn<M>(&self, machine: M) -> Result<Queryable<M::Query, M::Answer>, AskError>
    where
        M: Machine + 'static,
    {
        self.0.place.position.check_reachable()?;
        let turn = self.0.sequence.begin_next();
        self.spawn_under(self.0.place.lease.and(turn), machine)
    }

    fn spawn_under<M>(
        &self,
        lease: Lease,
        machine: M,
    ) -> Result<Queryable<M::Query, M::Answer>, AskError>
    where
        M: Machine + 'static,
    {
        let place = self.child_place(lease)?;
        Ok(Queryable::new(machine, place, self.child_coins()))
    }

    /// Where a child stands.
    fn child_place(&self, lease: Lease) -> Result<Place, AskError> {
        let position = self.0.place.position.clone();
        position.check_reachable()?;
        Ok(Place { position, lease })
    }

    /// A place and a context for an analyst that plays below this root.
    pub(crate) fn seat(&self) -> Result<(Place, Context), AskError> {
        let place = self.child_place(self.0.place.lease.clone())?;
        Ok((place, Context::new(self.child_coins())))
    }

    fn child_coins(&self) -> Coins {
        self.0
            .source
            .coins(self.0.spawned.fetch_add(1, Ordering::Relaxed))
    }

    /// May the code that runs on this thread use this root now?
    ///
    /// # Errors
    /// [`AskError::NotSpawnedHere`] inside a step of a machine that this root is not below; [`AskError::OutOfTurn`] if
    /// a sequential composition above has moved on.
    pub fn check(&self) -> Result<(), AskError> {
        self.0.place.position.check_reachable()?;
        self.0.place.lease.check()
    }

    /// Runs a function as if it were one step of a machine of its own: with its own coins and scope, on the data side,
    /// a panic caught. It runs only while all of `turns` and this root's own are current, and whatever it spawns lives
    /// under them.
    ///
    /// This is what launches a measurement's function.
    ///
    /// # Errors
    /// The function's own; [`AskError::Panicked`]; [`AskError::OutOfTurn`]; [`AskError::TooDeep`];
    /// [`AskError::NotSpawnedHere`] inside a step of a machine that this root is not below.
    pub fn run<R>(
        &self,
        turns: impl IntoIterator<Item = Turn>,
        function: impl FnOnce(&mut Scope<'_>) -> Result<R, AskError>,
    ) -> Result<R, AskError> {
        let mut turns = turns.into_iter();
        let Some(first) = turns.next() else {
            return self.run_at(&self.0.place, function);
        };
        let lease = turns.fold(self.0.place.lease.and(first), |lease, turn| lease.and(turn));
        self.run_at(&self.child_place(lease)?, function)
    }

    fn run_at<R>(
        &self,
        place: &Place,
        function: impl FnOnce(&mut Scope<'_>) -> Result<R, AskError>,
    ) -> Result<R, AskError> {
        place.position.check_reachable()?;
        place.lease.check()?;
        let mut context = Context::new(self.child_coins());
        run(place, &mut context, &mut Status::Running, function)
    }

    /// An owned, shared scope below this one, for a session inside a session.
    ///
    /// # Errors
    /// [`AskError::NotSpawnedHere`] inside a step of a machine that this root is not below.
    pub fn branch(&self) -> Result<Self, AskError> {
        let place = self.child_place(self.0.place.lease.clone())?;
        Ok(Self::at(place, self.child_coins().source()))
    }

    /// Puts a post-processor in front of a machine (seed 000 Def 2.15, 003 Alg 1). It costs no privacy, because it
    /// sees only what the analyst could see.
    ///
    /// # Errors
    /// [`AskError::TooDeep`]; [`AskError::NotSpawnedHere`] inside a step of a machine that this root is not below, or if
    /// this root was made inside a step and `inner` is not below that step's machine.
    pub fn postprocess<P>(
        &self,
        inner: &Queryable<P::InnerQuery, P::InnerAnswer>,
        processor: P,
    ) -> Result<Queryable<P::Query, P::Answer>, AskError>
    where
        P: PostProcessor + 'static,
    {
        self.postprocess_within(DEFAULT_STEPS, inner, processor)
    }

    /// As [`postprocess`](Self::postprocess), with the largest number of inner steps per query.
    ///
    /// # Errors
    /// As [`postprocess`](Self::postprocess).
    pub fn postprocess_within<P>(
        &self,
        inner_steps: u32,
        inner: &Queryable<P::InnerQuery, P::InnerAnswer>,
        processor: P,
    ) -> Result<Queryable<P::Query, P::Answer>, AskError>
    where
        P: PostProcessor + 'static,
    {
        let Place { position, lease } = self.child_place(self.0.place.lease.clone())?;
        let position = position.in_front_of(&inner.place().position)?;
        let machine = PostProcessed::new(processor, inner.clone(), inner_steps);
        let place = Place { position, lease };
        Ok(Queryable::new(machine, place, self.child_coins()))
    }
}
