//! The auditor's front door: what to audit, and how far.

use std::marker::PhantomData;

use queryable::{AskError, Root};

use crate::{
    concurrent::Part,
    equality::{Alike, Checked, Equality, Trusted},
    error::AuditError,
    limits::Limits,
    replay::Settings,
    report::Report,
    system::{History, Input, System, boxed},
};

/// Audits the system that `build` makes of each input, with coins from the root it is handed.
///
/// The system is built anew for every run: `build` must be a function of the input and the coins.
pub fn audit<S, B>(build: B) -> Audit<B>
where
    S: System,
    B: Fn(Input, &Root) -> Result<S, AskError>,
{
    Audit::default().of(build)
}

/// An audit to be made. `E` is the reason why equal answers count as one answer.
pub struct Audit<B, E = Checked> {
    build: B,
    settings: Settings,
    equality: PhantomData<fn() -> E>,
}

/// An audit of nothing in particular yet.
impl Default for Audit<()> {
    fn default() -> Self {
        Self {
            build: (),
            settings: Settings::default(),
            equality: PhantomData,
        }
    }
}

impl<E> Audit<(), E> {
    /// The same audit of this system.
    pub(crate) fn of<B>(&self, build: B) -> Audit<B, E> {
        Audit {
            build,
            settings: self.settings,
            equality: PhantomData,
        }
    }
}

impl<B, E> Audit<B, E> {
    pub(crate) fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Allows this many runs per input ([`DEFAULT_RUNS`](crate::DEFAULT_RUNS) otherwise).
    pub fn runs(self, runs: u64) -> Self {
        self.set(|settings| settings.limits.runs = runs)
    }

    /// Allows this many draws per run ([`DEFAULT_DRAWS`](crate::DEFAULT_DRAWS) otherwise). A system that draws until it
    /// likes the outcome has runs without end.
    pub fn draws(self, draws: usize) -> Self {
        self.set(|settings| settings.limits.draws = draws)
    }

    /// Allows the histories about this many bytes ([`DEFAULT_MEMORY`](crate::DEFAULT_MEMORY) otherwise). What queries and
    /// answers hold besides themselves (a long text) is not counted.
    pub fn memory(self, bytes: u64) -> Self {
        self.set(|settings| settings.limits.memory = bytes)
    }

    /// Makes this many runs again per input, and compares ([`DEFAULT_RERUNS`](crate::DEFAULT_RERUNS) otherwise): how well
    /// this finds randomness that does not come from the coins, [`Coverage::reruns`](crate::Coverage::reruns) says.
    ///
    /// ```
    /// use odometry::auditor::{Input, audit};
    /// use odometry::queryable::{Root, machine};
    /// let build = |_: Input, root: &Root| root.spawn(machine(|(), _| Ok(())));
    /// // One percent stays hidden with probability 0.99^2100 < 1e-9.
    /// let report = audit(build).reruns(2100).asking(1, |_| vec![()])?;
    /// assert_eq!(report.coverage().reruns, 2100);
    /// # Ok::<(), odometry::auditor::AuditError>(())
    /// ```
    pub fn reruns(self, reruns: usize) -> Self {
        self.set(|settings| settings.limits.reruns = reruns)
    }

    /// Cuts every draw to its first `2·radius + 1` outcomes: for noise around zero, as the samplers order it, those from
    /// `−radius` to `radius`. The rest is counted as missing, so δ is bounded from both sides, and a claim that needs the
    /// tail (a pure one) is refuted or undecided.
    ///
    /// ```
    /// use odometry::auditor::{Factor, Input, audit};
    /// use odometry::queryable::{Root, coins::Uniform, machine};
    /// let noise = Uniform::below(100)?;
    /// let build = |input: Input, root: &Root| {
    ///     let noise = noise.clone();
    ///     root.spawn(machine(move |(), scope| Ok(scope.draw(&noise)? + input.pick(0, 1))))
    /// };
    /// let report = audit(build).enumerating(1).asking(1, |_| vec![()])?; // 3 of 100 outcomes
    /// assert_eq!(report.total_variation().to_string(), "between 0 and 49/50");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enumerating(self, radius: u32) -> Self {
        let outcomes = (radius as usize).saturating_mul(2).saturating_add(1);
        self.set(|settings| settings.limits.outcomes = outcomes)
    }

    /// Checks that every two parts of [`concurrently`](Self::concurrently) are independent in all interleavings of at most
    /// so many turns (at least two; [`DEFAULT_TURNS`](crate::DEFAULT_TURNS) otherwise). There are about `d^turns` of
    /// them, if each part is asked `d` times.
    pub fn turns(self, turns: usize) -> Self {
        self.set(|settings| settings.turns = turns.max(2))
    }

    /// Replays every interleaving of [`concurrently`](Self::concurrently), to check the merging.
    pub fn unmerged(self) -> Self {
        self.set(|settings| settings.merge = false)
    }

    /// Replays one input after the other, on the caller's thread. The result is the same.
    pub fn on_one_thread(self) -> Self {
        self.set(|settings| settings.threads = 1)
    }

    /// Assumes that equal answers are indistinguishable. Needed where the type of the answers is
    /// not [`Canonical`](queryable::Canonical): for example, an enum of the caller's. The verdict
    /// states the assumption.
    ///
    /// It holds if `Eq` and `Ord` compare everything that an analyst can read from an answer, as
    /// derived ones do for fields of canonical types without spare capacity.
    ///
    /// ```
    /// use odometry::auditor::{Input, audit};
    /// use odometry::measures::Epsilon;
    /// use odometry::queryable::{Root, machine};
    /// use std::path::PathBuf;
    /// // The paths are equal, and show the input.
    /// let build = |input: Input, root: &Root| {
    ///     root.spawn(machine(move |(), _| Ok(PathBuf::from(input.pick("a/b", "a//b")))))
    /// };
    /// let verdict = audit(build).trusting_equality().asking(1, |_| vec![()])?.claims(&Epsilon::ZERO)?;
    /// assert!(verdict.holds() && verdict.coverage.equality_assumed);
    /// assert!(verdict.to_string().contains("equal answers were assumed indistinguishable"));
    /// # Ok::<(), odometry::auditor::AuditError>(())
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use odometry::auditor::{Input, audit};
    /// # use odometry::queryable::{Root, machine};
    /// # use std::path::PathBuf;
    /// let build = |input: Input, root: &Root| {
    ///     root.spawn(machine(move |(), _| Ok(PathBuf::from(input.pick("a/b", "a//b")))))
    /// };
    /// audit(build).asking(1, |_| vec![()])?; // error: equal values of `PathBuf` may be distinguishable
    /// # Ok::<(), odometry::auditor::AuditError>(())
    /// ```
    pub fn trusting_equality(self) -> Audit<B, Trusted> {
        Audit {
            build: self.build,
            settings: self.settings,
            equality: PhantomData,
        }
    }

    /// Audits histories of at most `depth` rounds. `offer` says what can be asked after a history; nothing ends it.
    ///
    /// Offer every query that differs in effect: the result is the worst case over adversaries that ask what was
    /// offered. The offers must be a function of the history, in the same order each time: they are asked for more than
    /// once and compared. Queries that cannot be compared, such as closures, can be offered by number: let a [`player`](crate::player)
    /// hold the list.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn asking<S, O>(
        &self,
        depth: usize,
        offer: O,
    ) -> Result<Report<S::Query, S::Answer>, AuditError>
    where
        S: System,
        S::Query: Clone + PartialEq + Send,
        S::Answer: Clone + Ord + Send,
        E: Equality<S::Answer>,
        B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
        O: Fn(&History<S>) -> Vec<S::Query> + Sync,
    {
        let alike = Alike::by::<E>();
        self.settings
            .asking(&boxed(&self.build), depth, &offer, alike)
    }

    /// Audits parts that run concurrently with coins of their own, under all interleavings, which are merged: see
    /// [`Part`].
    ///
    /// That the parts are independent is checked for every two parts, in every interleaving of at
    /// most four [`turns`](Self::turns), and for all parts together one after the other. Beyond
    /// that it is assumed, and the verdict states it: it holds for children with coins of their own
    /// that cannot ask one another. Anything else needs [`unmerged`](Self::unmerged), where no
    /// independence is assumed.
    ///
    /// # Errors
    /// [`AuditError::NotIndependent`] where that check fails; any other [`AuditError`].
    pub fn concurrently<S>(
        &self,
        parts: &[Part<S::Query, S::Answer>],
    ) -> Result<Report<S::Query, S::Answer>, AuditError>
    where
        S: System,
        S::Query: Clone + PartialEq + Send,
        S::Answer: Clone + Ord + Send,
        E: Equality<S::Answer>,
        B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
    {
        let alike = Alike::by::<E>();
        self.settings
            .concurrently(&boxed(&self.build), parts, alike)
    }
}
