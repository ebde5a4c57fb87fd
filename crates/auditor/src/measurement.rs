//! Audits of measurements in one call: the claim is what the measurement's own map says. Errors and panics of its function
//! are answers; only what keeps it from being run at all is an error.

use std::{
    fmt::{self, Debug, Display},
    sync::Arc,
};

use measures::{CountsRecords, MapError, Measure};
use odometer::{LaunchError, Measurement, Space};
use queryable::{AskError, Exchange, Queryable, Root, coins::Script};

use crate::{
    attack::Attack,
    audit::Audit,
    claims::{Claim, Verdict},
    equality::{Checked, Equality, Trusted},
    error::AuditError,
    report::Report,
    system::{History, Input, System, contained, player},
};

/// Audits a measurement on two data sets that differ in one record: one is added or removed, or replaced, as the metric of
/// its space has it.
///
/// Nothing checks that the data sets are that close: an attack on others refutes nothing. The claim is about these two data
/// sets only: choose two on which the answers differ most. Between multisets of records, a claim is for all orders: two orders of the
/// same records are at distance 0 of [`audit_measurement_at`].
///
/// ```
/// use odometry::auditor::audit_measurement;
/// use odometry::measures::{PrivacyMap, PureDp};
/// use odometry::odometer::{Measurement, Records};
/// use odometry::queryable::coins::{Bit, Probability};
///
/// let lie = Bit::new(Probability::new(1, 4)?);
/// let anybody = |epsilon: &str| -> Result<_, Box<dyn std::error::Error>> {
///     let (lie, map) = (lie.clone(), PrivacyMap::per_record(PureDp, epsilon)?);
///     Ok(Measurement::new("anybody", Records::<i64>::new(), map, move |data, scope| {
///         Ok(data.is_empty() ^ !scope.draw(&lie)?)
///     }))
/// };
/// assert!(audit_measurement(&anybody("1.0987")?, vec![], vec![7]).answer()?.holds()); // ln 3 < 1.0987
/// let audited = audit_measurement(&anybody("1")?, vec![], vec![7]).answer()?;
/// assert!(audited.attack().is_some());
/// println!("{audited}"); // `anybody` claims 1 at distance 1: refuted: accepts with probability 0.75 (3/4) on …
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn audit_measurement<S, M, A>(
    measurement: &Measurement<S, M, A>,
    zero: S::Data,
    one: S::Data,
) -> MeasurementAudit<S, M, A>
where
    S: Space<Distance = u32, Metric: CountsRecords>,
    M: Measure,
{
    audit_measurement_at(measurement, 1, zero, one)
}

/// As [`audit_measurement`], on two data sets at distance `d_in`.
///
/// ```
/// use odometry::auditor::audit_measurement_at;
/// use odometry::measures::{AbsoluteDistance, PrivacyMap, PureDp};
/// use odometry::odometer::{Any, Measurement};
/// // Forgets its noise.
/// let map = PrivacyMap::linear(PureDp, "0.1")?;
/// let exact = Measurement::new("exact", Any::<i64, _>::with(AbsoluteDistance), map, |x, _| Ok(**x));
/// let audited = audit_measurement_at(&exact, 3u32.into(), 4, 7).answer()?;
/// assert_eq!(audited.claimed.to_string(), "0.3");
/// assert!(audited.to_string().contains("δ ≥ 1 at every ε"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn audit_measurement_at<S: Space, M: Measure, A>(
    measurement: &Measurement<S, M, A>,
    d_in: S::Distance,
    zero: S::Data,
    one: S::Data,
) -> MeasurementAudit<S, M, A> {
    MeasurementAudit {
        measurement: measurement.clone(),
        d_in,
        data: [Arc::new(zero), Arc::new(one)],
        audit: Audit::default(),
    }
}

/// An audit of a measurement, to be made: [`answer`](Self::answer) for one that answers once, [`asking`](Self::asking) for
/// one that answers with a queryable, [`playing`](Self::playing) for everything else.
pub struct MeasurementAudit<S: Space, M: Measure, A, E = Checked> {
    measurement: Measurement<S, M, A>,
    d_in: S::Distance,
    data: [Arc<S::Data>; 2],
    audit: Audit<(), E>,
}

/// What the audit of a measurement in the measure `M` gives, played as the system `P`.
pub type AuditedAs<M, P> =
    Result<Audited<<M as Measure>::Loss, <P as System>::Query, <P as System>::Answer>, AuditError>;

impl<S: Space, M: Measure, A: 'static, E> MeasurementAudit<S, M, A, E> {
    /// Cuts all noise to what is at most `radius` from zero: see [`Audit::enumerating`].
    pub fn enumerating(self, radius: u32) -> Self {
        self.with(|audit| audit.enumerating(radius))
    }

    /// With other limits.
    ///
    /// ```
    /// use odometry::auditor::{AuditError, audit_measurement};
    /// use odometry::measures::{PrivacyMap, PureDp};
    /// use odometry::odometer::{Measurement, Records};
    /// use odometry::queryable::coins::Bit;
    /// let map = PrivacyMap::per_record(PureDp, "0")?;
    /// let coin = Measurement::new("coin", Records::<i64>::new(), map, |_, scope| scope.draw(&Bit::fair()));
    /// let audit = audit_measurement(&coin, vec![], vec![7]).with(|audit| audit.runs(1));
    /// assert_eq!(audit.answer().unwrap_err(), AuditError::TooManyRuns { limit: 1 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with<F>(
        self,
        set: impl FnOnce(Audit<(), E>) -> Audit<(), F>,
    ) -> MeasurementAudit<S, M, A, F> {
        MeasurementAudit {
            measurement: self.measurement,
            d_in: self.d_in,
            data: self.data,
            audit: set(self.audit),
        }
    }

    /// Assumes that equal answers are indistinguishable: see [`Audit::trusting_equality`].
    pub fn trusting_equality(self) -> MeasurementAudit<S, M, A, Trusted> {
        self.with(Audit::trusting_equality)
    }

    /// Audits the answer. One that has no order (a float) is post-processed first: `m.postprocess(f64::to_bits)`.
    ///
    /// # Errors
    /// As [`playing`](Self::playing).
    pub fn answer(&self) -> Result<Audited<M::Loss, (), A>, AuditError>
    where
        A: Clone + Ord + Send,
        E: Equality<A>,
        M::Loss: Claim<(), A>,
    {
        // The answer itself: a copy of it may have another capacity.
        let once = |answer: A| {
            let mut answer = Some(answer);
            player(move |()| answer.take().ok_or(AskError::Halted))
        };
        // The second round is offered nothing, so no history is cut off.
        let offer = |history: &[_]| vec![(); 1 - history.len()];
        self.playing(2, offer, once)
    }

    /// Audits histories of at most `depth` rounds with the system that `play` makes of the answer: a session in a
    /// [`player`], for one, whose answers may be what launches return, errors and all. `offer` is as in [`Audit::asking`].
    ///
    /// # Errors
    /// [`AuditError::Map`]: the map knows no loss at this distance. [`AuditError::NotRun`]: data that are not in the space,
    /// or too many combinators. [`AuditError::OnlyErrors`]: whatever is asked first is answered by the same error on both
    /// inputs, which shows nothing. All others as [`Audit::asking`] and [`Report::claims`].
    pub fn playing<P, O>(
        &self,
        depth: usize,
        offer: O,
        play: impl Fn(A) -> P + Sync,
    ) -> AuditedAs<M, P>
    where
        P: System<Query: Clone + PartialEq + Send, Answer: Clone + Ord + Send>,
        E: Equality<P::Answer>,
        O: Fn(&History<P>) -> Vec<P::Query> + Sync,
        M::Loss: Claim<P::Query, P::Answer>,
    {
        let claimed = self.claimed()?;
        self.check_runs()?;
        let build = |input: Input, root: &Root| self.invoke(input, root).map(&play);
        let report = self.audit.of(build).asking(depth, offer)?;
        check_not_only_errors(&report)?;
        Ok(Audited {
            measurement: self.measurement.description().to_string(),
            d_in: self.d_in.to_string(),
            verdict: report.claims(&claimed)?,
            claimed,
            report,
        })
    }

    /// What the map says. It is somebody's code, and may panic.
    fn claimed(&self) -> Result<M::Loss, AuditError> {
        let map = self.measurement.map();
        contained(|| map.loss(&self.d_in))
            .unwrap_or_else(|| Err(MapError::failed(&self.d_in, "it panicked")))
            .map_err(AuditError::Map)
    }

    /// One run on each input, for what would keep all of them from being run.
    fn check_runs(&self) -> Result<(), AuditError> {
        for input in Input::BOTH {
            let script = self.audit.limits().applied(Script::new(Vec::new()));
            let data = &self.data[input.index()];
            let run = || {
                let root = Root::scripted(&script);
                self.measurement.invoke_in(&root, data).err()
            };
            match contained(run).ok_or(AuditError::DestructorPanicked)? {
                None | Some(LaunchError::Failed(_)) => {}
                Some(source) => {
                    let input = input.index();
                    let source = Box::new(source);
                    return Err(AuditError::NotRun { input, source });
                }
            }
        }
        Ok(())
    }

    fn invoke(&self, input: Input, root: &Root) -> Result<A, AskError> {
        let data = &self.data[input.index()];
        let answer = self.measurement.invoke_in(root, data);
        answer.map_err(|error| match error {
            LaunchError::Failed(error) => error,
            // It could be run before: whatever keeps it from that now, the analyst would notice.
            other => AskError::failed(other.to_string()),
        })
    }
}

impl<S, M, Q, A, E> MeasurementAudit<S, M, Queryable<Q, A>, E>
where
    E: Equality<A>,
    S: Space,
    M: Measure<Loss: Claim<Q, A>>,
    Q: Clone + PartialEq + Send + 'static,
    A: Clone + Ord + Send + 'static,
{
    /// Audits histories of at most `depth` rounds with the queryable. `offer` is as in [`Audit::asking`].
    ///
    /// ```
    /// use odometry::auditor::audit_measurement;
    /// use odometry::measures::{PrivacyMap, PureDp};
    /// use odometry::odometer::{Measurement, Records};
    /// use odometry::queryable::{coins::{Bit, Probability}, machine};
    ///
    /// // Is there anybody? May be asked again, and lies one time in four each time: two answers cost 2 ln 3.
    /// let map = PrivacyMap::per_record(PureDp, "2.2")?;
    /// let lie = Bit::new(Probability::new(1, 4)?);
    /// let anybody = Measurement::new("anybody", Records::<i64>::new(), map, move |data, scope| {
    ///     let (lie, empty) = (lie.clone(), data.is_empty());
    ///     scope.spawn(machine(move |(), scope| Ok(empty ^ !scope.draw(&lie)?)))
    /// });
    /// let audit = audit_measurement(&anybody, vec![], vec![7]);
    /// assert!(audit.asking(2, |_| vec![()])?.holds());
    /// assert!(audit.asking(3, |_| vec![()])?.attack().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`playing`](Self::playing).
    pub fn asking<O>(&self, depth: usize, offer: O) -> Result<Audited<M::Loss, Q, A>, AuditError>
    where
        O: Fn(&[Exchange<Q, A>]) -> Vec<Q> + Sync,
    {
        self.playing(depth, offer, |queryable| queryable)
    }
}

fn check_not_only_errors<Q, A>(report: &Report<Q, A>) -> Result<(), AuditError> {
    let mut answers = report.graph.nodes[0].edges.iter().flat_map(|edge| &edge.to);
    let Some((Err(first), _)) = answers.next() else {
        return Ok(());
    };
    match answers.all(|(answer, _)| answer.as_ref().err() == Some(first)) {
        true => Err(AuditError::OnlyErrors(first.clone())),
        false => Ok(()),
    }
}

/// What was found out about a measurement.
#[derive(Debug)]
#[non_exhaustive]
pub struct Audited<L, Q, A> {
    /// What was audited, in words.
    pub measurement: String,
    /// The distance of the two data sets.
    pub d_in: String,
    /// What its map claims at this distance.
    pub claimed: L,
    /// What was found about the claim.
    pub verdict: Verdict<Q, A>,
    /// Everything that was found, for other claims.
    pub report: Report<Q, A>,
}

impl<L, Q, A> Audited<L, Q, A> {
    /// Whether the claim holds for certain on these data sets, within what was [covered](Verdict::coverage).
    pub fn holds(&self) -> bool {
        self.verdict.holds()
    }

    /// The attack, if the claim was refuted.
    pub fn attack(&self) -> Option<&Attack<Q, A>> {
        self.verdict.attack()
    }
}

impl<L: Display, Q: Debug, A: Debug> Display for Audited<L, Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            measurement,
            claimed,
            d_in,
            verdict,
            ..
        } = self;
        write!(
            f,
            "{measurement} claims {claimed} at distance {d_in}: {verdict}"
        )
    }
}
