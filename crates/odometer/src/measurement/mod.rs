//! Measurements: an input space, a function and a privacy map (\[HST+23\] §5.1). The answer may be a queryable.

mod around;
mod facts;
mod head;
mod postprocess;
mod reserved;

use std::{borrow::Cow, fmt, sync::Arc};

use measures::{Conversion, GroupPrivacy, MAX_LINKS, Measure, PrivacyMap};
use queryable::{AskError, Root, Scope, Tenant, internal::counted_as_analyst};
use serde::{Deserialize, Serialize};

use self::reserved::hidden;
pub(crate) use self::{
    head::Head,
    postprocess::Unprocessed,
    reserved::{Above, Reserved},
};
use crate::{
    error::LaunchError,
    failure::{FirstFailure, withhold},
    space::{Connected, Space, check_contains},
    transformation::linked,
};

/// What a measurement is, in words: for lists of launches and for outside accountants.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What it is called.
    pub name: Cow<'static, str>,
    /// Its parameters, with their names.
    pub parameters: Vec<(Cow<'static, str>, String)>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)?;
        for (at, (name, value)) in self.parameters.iter().enumerate() {
            let open = if at == 0 { "(" } else { ", " };
            write!(f, "{open}{name} = {value}")?;
        }
        f.write_str(if self.parameters.is_empty() { "" } else { ")" })
    }
}

pub(crate) type Function<X, A> =
    dyn Fn(&Arc<X>, &mut Scope<'_>) -> Result<Unprocessed<A>, AskError> + Send + Sync;

/// A private mechanism with its promise: a function of the data whose answers on inputs at distance `d_in` are as close
/// as the privacy map says.
///
/// Its author vouches for the map, for the errors (they are part of the answer), and for drawing randomness only from
/// the scope. The function gets the data shared, so an interactive mechanism keeps them without a copy. A clone is the
/// same measurement. At most [`MAX_LINKS`] combinators may be applied one after the other, transformations included: beyond
/// that, every use is [`LaunchError::TooDeep`], and nothing is charged.
///
/// ```
/// use odometry::measures::{PrivacyMap, PureDp};
/// use odometry::odometer::{Measurement, Records};
/// use odometry::queryable::coins::{Bit, Probability};
///
/// // Is there anybody? Answered wrongly one time in four: e^ε = 3, and ln 3 < 1.0987.
/// let lie = Bit::new(Probability::new(1, 4)?);
/// let anybody = Measurement::new(
///     "anybody",
///     Records::<i64>::new(),
///     PrivacyMap::per_record(PureDp, "1.0987")?,
///     move |data, scope| Ok(data.is_empty() ^ !scope.draw(&lie)?),
/// );
/// let answer: bool = anybody.invoke(vec![1, 2, 3])?;
/// # let _ = answer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The metric is that of the space. A map for another one does not fit:
///
/// ```compile_fail,E0308
/// use odometry::measures::{PrivacyMap, PureDp};
/// use odometry::odometer::{Measurement, Records};
/// let per_record = PrivacyMap::per_record(PureDp, "0.1").unwrap();
/// Measurement::new("query", Records::<i64>::replaced(), per_record, |_, _| Ok(42));
/// ```
pub struct Measurement<S: Space, M: Measure, A>(Arc<Inner<S, M, A>>);

struct Inner<S: Space, M: Measure, A> {
    head: Head<S, M>,
    function: Arc<Function<S::Data, A>>,
    /// What a filter does on a ledger instead.
    reserved: Option<Arc<Reserved<S::Data, A>>>,
}

impl<S: Space, M: Measure, A: 'static> Measurement<S, M, A> {
    /// A measurement from its parts.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        space: S,
        map: PrivacyMap<S::Metric, M>,
        function: impl Fn(&Arc<S::Data>, &mut Scope<'_>) -> Result<A, AskError> + Send + Sync + 'static,
    ) -> Self {
        let description = Description {
            name: name.into(),
            parameters: Vec::new(),
        };
        let head = Head::new(space, map, Arc::new(description), 0, None);
        let function = move |data: &Arc<S::Data>, scope: &mut Scope<'_>| {
            function(data, scope).map(Unprocessed::Done)
        };
        Self::from_parts(head, Arc::new(function))
    }

    fn from_parts(head: Head<S, M>, function: Arc<Function<S::Data, A>>) -> Self {
        Self::reserving(head, function, None)
    }

    fn reserving(
        mut head: Head<S, M>,
        function: Arc<Function<S::Data, A>>,
        reserved: Option<Arc<Reserved<S::Data, A>>>,
    ) -> Self {
        if let Some(reserved) = &reserved {
            head.opening = Some(reserved.opening());
        }
        Self(Arc::new(Inner {
            head,
            function,
            reserved,
        }))
    }

    /// The same function under another head.
    fn with_head(&self, head: Head<S, M>) -> Self {
        Self::reserving(head, self.function(), self.0.reserved.clone())
    }

    /// The same measurement under another name, to tell it apart in lists of launches and in refusals.
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let mut description = (**self.description()).clone();
        description.name = name.into();
        self.with_head(self.head().described(description))
    }

    /// The same measurement with one more parameter in its description.
    pub fn with_parameter(
        self,
        name: impl Into<Cow<'static, str>>,
        value: impl fmt::Display,
    ) -> Self {
        let mut description = (**self.description()).clone();
        description
            .parameters
            .push((name.into(), value.to_string()));
        self.with_head(self.head().described(description))
    }

    /// The same measurement, which can be launched only while `ready` returns `Ok`: for one that needs more than data
    /// and coins, a thread for example. `ready` receives the [tenant](Tenant) for which it would run. It is called before anything
    /// is charged, and by [`invoke`](Self::invoke), so it must depend on no data.
    /// Every measurement that is made from this one calls it, too. It replaces an earlier `ready`.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{LaunchError, Measurement, Odometer, Records};
    /// # use odometry::queryable::AskError;
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// let never = Measurement::new("never", records, map, |_, _| Ok(42))
    ///     .ready_when(|_| Err(AskError::failed("out of paper")));
    /// let session = Odometer::new(records, Basic::new(PureDp)).open(vec![])?;
    /// assert!(matches!(session.launch(&never), Err(LaunchError::NotReady { .. })));
    /// assert_eq!(session.privacy_loss(&1)?.to_string(), "0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ready_when(
        self,
        ready: impl Fn(&Tenant) -> Result<(), AskError> + Send + Sync + 'static,
    ) -> Self {
        let mut head = self.head().described((**self.description()).clone());
        head.ready = Some(Arc::new(ready));
        self.with_head(head)
    }

    /// Runs it on data outside any session, with coins from the operating system. Nothing keeps account.
    ///
    /// # Errors
    /// [`OpenError::NotInSpace`](crate::OpenError::NotInSpace); [`LaunchError::TooDeep`]; [`LaunchError::NotReady`];
    /// [`LaunchError::Failed`] with the function's error.
    pub fn invoke(&self, data: S::Data) -> Result<A, LaunchError> {
        self.invoke_in(
            &Root::from_os().map_err(LaunchError::Unusable)?,
            &Arc::new(data),
        )
    }

    /// As [`invoke`](Self::invoke), with coins of your choice.
    ///
    /// # Errors
    /// As [`invoke`](Self::invoke).
    pub fn invoke_in(&self, root: &Root, data: &Arc<S::Data>) -> Result<A, LaunchError> {
        self.head().check_depth()?;
        check_contains(self.space(), data)?;
        self.head().check_ready(root)?;
        root.run([], |scope| self.run_unprocessed(data, scope))
            .and_then(Unprocessed::processed)
            .map_err(LaunchError::Failed)
    }

    /// Its function, for use inside another measurement's function, whose own map must cover it. Its post-processing runs
    /// inside, too, sees every answer, and can pass it to the analyst: so the map covers the answers of all runs, also of those
    /// whose answers the function drops. Asks of the post-processing count as the analyst's.
    ///
    /// # Errors
    /// The function's own; [`AskError::Panicked`] if its post-processing panics; [`AskError::Halted`] if something
    /// [has failed](LaunchError::Stopped) on the data of the session in which this runs: before, and then nothing has run, or
    /// meanwhile.
    pub fn run(&self, data: &Arc<S::Data>, scope: &mut Scope<'_>) -> Result<A, AskError> {
        let answer = self.run_unprocessed(data, scope)?;
        counted_as_analyst(|| answer.processed())
    }

    pub(super) fn run_unprocessed(
        &self,
        data: &Arc<S::Data>,
        scope: &mut Scope<'_>,
    ) -> Result<Unprocessed<A>, AskError> {
        FirstFailure::check_in(scope)?;
        let answer = (self.0.function)(data, scope);
        if let Err(stopped) = FirstFailure::check_in(scope) {
            withhold(answer);
            return Err(stopped);
        }
        answer
    }

    pub(crate) fn function(&self) -> Arc<Function<S::Data, A>> {
        Arc::clone(&self.0.function)
    }

    /// The input space.
    pub fn space(&self) -> &S {
        &self.0.head.space
    }

    /// The privacy map.
    pub fn map(&self) -> &PrivacyMap<S::Metric, M> {
        &self.0.head.map
    }

    pub(crate) fn head(&self) -> &Head<S, M> {
        &self.0.head
    }

    /// What it is, in words.
    pub fn description(&self) -> &Arc<Description> {
        self.0.head.description()
    }

    /// The same measurement in another measure. What is converted is this measurement's own loss, never a total.
    pub fn convert<C: Conversion<From = M>>(&self, conversion: C) -> Measurement<S, C::To, A> {
        let map = self.map().convert(conversion);
        self.derived_as_is(map)
    }

    /// The same measurement, its loss beyond distance 1 replaced by what group privacy gives
    /// ([`PrivacyMap::group`]). Hypothesis: the space is [`Connected`].
    ///
    /// ```compile_fail,E0277
    /// use odometry::measures::{PrivacyMap, PureDp, SymmetricDistance};
    /// use odometry::odometer::{Measurement};
    /// // No two arrays of three records are at distance 1.
    /// let arrays = Any::<[i64; 3], _>::with(SymmetricDistance);
    /// let first = PrivacyMap::constant_up_to(PureDp, 1, "0").unwrap();
    /// Measurement::new("first", arrays, first, |data, _| Ok(data[0])).by_group_privacy();
    /// ```
    pub fn by_group_privacy(&self) -> Self
    where
        S: Connected,
        M: GroupPrivacy,
    {
        self.derived_as_is(self.map().group())
    }

    /// How many combinators it is made by.
    pub(crate) fn links(&self) -> u16 {
        self.0.head.links
    }

    /// The same function under another map.
    fn derived_as_is<M2: Measure>(&self, map: PrivacyMap<S::Metric, M2>) -> Measurement<S, M2, A> {
        let Head { space, ready, .. } = self.head();
        let (description, links) = (Arc::clone(self.description()), linked(self.links(), 0));
        let mut head = Head::new(space.clone(), map, description, links, ready.clone());
        head.known.clone_from(&self.head().known);
        head.opening.clone_from(&self.head().opening);
        head.is_postprocessed = self.head().is_postprocessed;
        Measurement::reserving(head, self.function(), self.0.reserved.clone())
    }

    /// Another measurement made from this one, with its description. If that is too many `links`, its function is not
    /// kept.
    pub(crate) fn derived<T: Space, M2: Measure, B: 'static, F>(
        &self,
        links: u16,
        space: T,
        map: PrivacyMap<T::Metric, M2>,
        function: F,
    ) -> Measurement<T, M2, B>
    where
        F: Fn(&Arc<T::Data>, &mut Scope<'_>) -> Result<Unprocessed<B>, AskError>,
        F: Send + Sync + 'static,
    {
        let function: Arc<Function<_, _>> = match links {
            0..=MAX_LINKS => Arc::new(function),
            _ => Arc::new(|_, _| Err(AskError::TooDeep { limit: MAX_LINKS })),
        };
        let description = Arc::clone(self.description());
        let ready = self.head().ready.clone();
        let mut head = Head::new(space, map, description, links, ready);
        head.opening = self.head().opening.as_ref().map(|_| hidden());
        head.is_postprocessed = self.head().is_postprocessed;
        Measurement::from_parts(head, function)
    }
}

impl<S: Space, M: Measure, A> Clone for Measurement<S, M, A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Space, M: Measure, A> fmt::Debug for Measurement<S, M, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} on {:?} in {:?}",
            self.0.head.description(),
            self.0.head.space,
            self.0.head.measure()
        )
    }
}
