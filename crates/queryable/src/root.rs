//! Roots: owned, shared scopes on the analyst's side.

pub(crate) mod branch;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use zeroize::Zeroizing;

use crate::{
    cell::{Status, run},
    coins::{Child, Coins, Key, Script, Source},
    contained::Caught,
    error::AskError,
    handle::Queryable,
    lineage::Position,
    machine::Machine,
    meter::Prepaid,
    postprocess::{DEFAULT_STEPS, PostProcessed, PostProcessor},
    running::{Asker, check_analyst},
    scope::{Context, Place, Scope, Terms},
    sync::{AtomicU64, Ordering},
    turn::{Lease, Sequence, Turn, inside},
};

/// The root of a tree of machines: where an analyst, a server or a session spawns.
///
/// A root is shared freely between threads; a clone is the same root. It belongs to whoever made it: used inside a
/// step of a machine that did not, it refuses.
///
/// It belongs to the process that made it, too. After a `fork` both processes would draw the same coins, and noise that
/// is drawn twice hides nothing; so in the forked process the root, everything below it and every session on it refuse
/// ([`AskError::Forked`]), and nothing is drawn or charged. Make a root after the fork, in the process that uses it.
/// What cannot be noticed: a process made by a bare `clone` system call, without the C library's `fork`; a virtual machine
/// that is restored or copied from a snapshot while the root is in memory. Make the root after restoring, and never go on
/// twice from one snapshot.
///
/// ```
/// use odometry::queryable::{Root, machine};
/// let root = Root::from_os()?;
/// let echo = root.spawn(machine(|text: String, _| Ok(text)))?;
/// assert_eq!(echo.ask("hello".into())?, "hello");
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
#[derive(Clone)]
pub struct Root(Arc<Shared>);

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Root")
    }
}

struct Shared {
    /// Where the root stands, and its children.
    place: Place,
    spawned: AtomicU64,
    /// Made when it is first needed: most roots spawn nothing in turn.
    sequence: OnceLock<Sequence>,
}

impl Root {
    /// Coins from the operating system's generator, stretched by ChaCha20, each machine its own stream.
    ///
    /// # Errors
    /// [`AskError::NoEntropy`] when the operating system has none to give; [`AskError::NotSpawnedHere`] inside a step,
    /// whose randomness comes from its scope alone.
    pub fn from_os() -> Result<Self, AskError> {
        check_analyst()?;
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).map_err(|_| AskError::NoEntropy)?;
        Ok(Self::top(Source::keyed(Key::from_bytes(&key), false)))
    }

    /// Reproducible coins: the same seed and the same order of spawns and draws give the same answers. For tests and
    /// simulations only: who knows the seed knows every coin.
    ///
    /// What counts for a function under [`run`](Self::run) is when it first draws or spawns: one that does neither takes
    /// no coins, and the next one gets those that it would have had.
    pub fn seeded(seed: [u8; 32]) -> Self {
        let seed = Zeroizing::new(seed);
        Self::top(Source::keyed(Key::from_bytes(&seed), true))
    }

    /// Scripted coins, shared by everything below.
    pub fn scripted(script: &Script) -> Self {
        Self::top(Source::Script(script.clone()))
    }

    fn top(source: Source) -> Self {
        Self::at(Position::top(source), Lease::FREE)
    }

    pub(crate) fn at(position: Position, lease: Lease) -> Self {
        Self(Arc::new(Shared {
            place: Place { position, lease },
            spawned: AtomicU64::new(0),
            sequence: OnceLock::new(),
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
        let turn = self.0.sequence.get_or_init(Sequence::new).begin_next();
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
        Coins::Unborn(Child::Spawned(self.next_child()))
    }

    fn next_child(&self) -> u64 {
        self.0.spawned.fetch_add(1, Ordering::Relaxed)
    }

    /// May the code that runs on this thread use this root now?
    ///
    /// # Errors
    /// [`AskError::NotSpawnedHere`] inside a step of a machine that this root is not below; [`AskError::OutOfTurn`] if
    /// a sequential composition above has moved on.
    pub fn check(&self) -> Result<(), AskError> {
        self.0.place.position.check_reachable()?;
        match self.0.place.lease.check()? {
            None => Ok(()),
            Some(outside) => inside(outside, || Ok(())),
        }
    }

    /// As [`check`](Self::check); and is there a message left for what would [run](Self::run) here?
    ///
    /// # Errors
    /// As [`check`](Self::check); [`AskError::TooManyMessages`].
    pub fn check_runs(&self) -> Result<(), AskError> {
        self.check()?;
        self.0.place.lease.check_meters(Asker::now())
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
        self.run_under(turns, Terms::Inherited, function)
    }

    /// As [`run`](Self::run); all that the function spawns, with everything that spawns, answers together at most so many
    /// messages from outside, and then [`AskError::TooManyMessages`]. Asks between the function's machines are not counted;
    /// asks of a post-processor are, unless one of them has built it.
    ///
    /// ```
    /// use odometry::queryable::{AskError, Root, machine};
    /// let root = Root::from_os()?;
    /// let echo = root.run_answering_at_most(2, [], |scope| scope.spawn(machine(|x: u8, _| Ok(x))))?;
    /// assert_eq!((echo.ask(1)?, echo.ask(2)?), (1, 2));
    /// assert_eq!(echo.ask(3), Err(AskError::TooManyMessages { limit: 2 }));
    /// # Ok::<(), AskError>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_answering_at_most<R>(
        &self,
        messages: u64,
        turns: impl IntoIterator<Item = Turn>,
        function: impl FnOnce(&mut Scope<'_>) -> Result<R, AskError>,
    ) -> Result<R, AskError> {
        self.run_under(turns, Terms::Messages(messages), function)
    }

    fn run_under<R>(
        &self,
        turns: impl IntoIterator<Item = Turn>,
        terms: Terms,
        function: impl FnOnce(&mut Scope<'_>) -> Result<R, AskError>,
    ) -> Result<R, AskError> {
        match self.place_under(turns)? {
            None => self.run_at(&self.0.place, terms, function),
            Some(place) => self.run_at(&place, terms, function),
        }
    }

    /// Where a function stands that runs under these turns; `None` if there are none: here. Inlined, because without turns, which is
    /// what most launches are, it is nothing.
    #[inline]
    fn place_under(
        &self,
        turns: impl IntoIterator<Item = Turn>,
    ) -> Result<Option<Place>, AskError> {
        let mut lease: Option<Lease> = None;
        for turn in turns {
            lease = Some(lease.as_ref().unwrap_or(&self.0.place.lease).and(turn));
        }
        lease.map(|lease| self.child_place(lease)).transpose()
    }

    fn run_at<R>(
        &self,
        place: &Place,
        terms: Terms,
        function: impl FnOnce(&mut Scope<'_>) -> Result<R, AskError>,
    ) -> Result<R, AskError> {
        let asker = place.position.check_reachable()?;
        let outside = place.lease.enter(&mut { Prepaid::NONE }, asker)?;
        let mut caught = Caught::default();
        let mut context = Context::new(Coins::Unborn(Child::Function));
        let status = &mut Status::Running;
        let (context, caught) = (&mut context, &mut caught);
        match outside {
            None => run(place, terms, context, status, caught, function),
            Some(outside) => inside(outside, || {
                run(place, terms, context, status, caught, function)
            }),
        }
    }

    /// Puts a post-processor in front of a machine (\[HST+23\] Def 2.15, \[HSV25\] Alg 1). It costs no privacy, because
    /// it sees only what the analyst could see.
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
        let position = position
            .in_front_of(&inner.place().position)?
            .for_an_analyst();
        let machine = PostProcessed::new(processor, inner.clone(), inner_steps, Asker::now());
        let place = Place { position, lease };
        Ok(Queryable::new(machine, place, self.child_coins()))
    }
}
