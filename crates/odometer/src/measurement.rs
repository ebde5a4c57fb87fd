//! Measurements: an input space, a function and a privacy map (seed 000 §5.1). The answer may be a queryable.

use std::{borrow::Cow, fmt, sync::Arc};

use measures::{Conversion, GroupPrivacy, Measure, Metric, PrivacyMap, UnitSteps};
use queryable::{AskError, Root, Scope};
use serde::{Deserialize, Serialize};

use crate::{
    bill::Bill,
    error::LaunchError,
    space::{Connected, Domain, Space},
};

/// What a measurement is, in words: for lists of launches and for outside accountants.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

type Function<X, A> = dyn Fn(&Arc<X>, &mut Scope<'_>) -> Result<A, AskError> + Send + Sync;

/// A private mechanism with its promise: a function of the data whose answers on inputs at distance `d_in` are as close
/// as the privacy map says.
///
/// Its author vouches for the map, for the errors (they are part of the answer), and for drawing randomness only from
/// the scope. The function gets the data shared, so an interactive mechanism keeps them without a copy. A clone is the
/// same measurement.
///
/// ```
/// use measures::{PrivacyMap, PureDp, SymmetricDistance};
/// use odometer::{Measurement, Space};
/// use queryable::coins::{Bit, Probability};
///
/// // Is there anybody? Answered wrongly one time in four: e^ε = 3, and ln 3 < 1.0987.
/// let lie = Bit::new(Probability::new(1, 4)?);
/// let anybody = Measurement::new(
///     "anybody",
///     Space::any::<Vec<i64>>(SymmetricDistance),
///     PrivacyMap::linear(SymmetricDistance, PureDp, "1.0987".parse()?),
///     move |data, scope| Ok(data.is_empty() ^ !scope.draw(&lie)?),
/// );
/// let answer: bool = anybody.invoke(vec![1, 2, 3])?;
/// # let _ = answer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Measurement<D: Domain, MI: Metric, M: Measure, A>(Arc<Inner<D, MI, M, A>>);

struct Inner<D: Domain, MI: Metric, M: Measure, A> {
    space: Space<D, MI>,
    map: PrivacyMap<MI, M>,
    /// The map and the description, as accounts take them.
    bill: Bill<MI, M>,
    function: Arc<Function<D::Carrier, A>>,
}

impl<D: Domain, MI: Metric, M: Measure, A: 'static> Measurement<D, MI, M, A> {
    /// A measurement from its parts.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        space: Space<D, MI>,
        map: PrivacyMap<MI, M>,
        function: impl Fn(&Arc<D::Carrier>, &mut Scope<'_>) -> Result<A, AskError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let description = Description {
            name: name.into(),
            parameters: Vec::new(),
        };
        Self::from_parts(space, map, Arc::new(description), Arc::new(function))
    }

    fn from_parts(
        space: Space<D, MI>,
        map: PrivacyMap<MI, M>,
        description: Arc<Description>,
        function: Arc<Function<D::Carrier, A>>,
    ) -> Self {
        Self(Arc::new(Inner {
            space,
            bill: Bill::direct(description, map.clone()),
            map,
            function,
        }))
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
        let Inner {
            space,
            map,
            function,
            ..
        } = &*self.0;
        Self::from_parts(
            space.clone(),
            map.clone(),
            Arc::new(description),
            Arc::clone(function),
        )
    }

    /// Runs it on data outside any session, with coins from the operating system. Nothing keeps account.
    ///
    /// # Errors
    /// [`LaunchError::NotInDomain`]; [`LaunchError::Failed`] with the function's error.
    pub fn invoke(&self, data: D::Carrier) -> Result<A, LaunchError> {
        self.invoke_in(
            &Root::from_os().map_err(LaunchError::Unusable)?,
            Arc::new(data),
        )
    }

    /// As [`invoke`](Self::invoke), with coins of your choice.
    ///
    /// # Errors
    /// As [`invoke`](Self::invoke).
    pub fn invoke_in(&self, root: &Root, data: Arc<D::Carrier>) -> Result<A, LaunchError> {
        self.0.space.check_contains(&data)?;
        root.run([], |scope| self.run(&data, scope))
            .map_err(LaunchError::Failed)
    }

    /// Its function, for use inside another measurement's function, whose own map must cover it.
    ///
    /// # Errors
    /// The function's own.
    pub fn run(&self, data: &Arc<D::Carrier>, scope: &mut Scope<'_>) -> Result<A, AskError> {
        (self.0.function)(data, scope)
    }

    /// The input space.
    pub fn space(&self) -> &Space<D, MI> {
        &self.0.space
    }

    /// The privacy map.
    pub fn map(&self) -> &PrivacyMap<MI, M> {
        &self.0.map
    }

    pub(crate) fn bill(&self) -> &Bill<MI, M> {
        &self.0.bill
    }

    /// What it is, in words.
    pub fn description(&self) -> &Arc<Description> {
        self.0.bill.description()
    }

    /// The same measurement with its answer post-processed. The privacy loss stays the same (seed 000 Thm 2.17).
    pub fn postprocess<B: 'static>(
        &self,
        process: impl Fn(A) -> B + Send + Sync + 'static,
    ) -> Measurement<D, MI, M, B> {
        let function = Arc::clone(&self.0.function);
        self.derived(
            self.0.space.clone(),
            self.0.map.clone(),
            move |data, scope| function(data, scope).map(&process),
        )
    }

    /// The same measurement in another measure. What is converted is this measurement's own loss, never a total.
    pub fn convert<C: Conversion<From = M>>(&self, conversion: C) -> Measurement<D, MI, C::To, A> {
        let map = self.0.map.convert(conversion);
        let function = Arc::clone(&self.0.function);
        self.derived(self.0.space.clone(), map, move |data, scope| {
            function(data, scope)
        })
    }

    /// The same measurement, its loss beyond distance 1 replaced by what group privacy gives
    /// ([`PrivacyMap::group`]). Hypothesis: the domain is [`Connected`].
    ///
    /// ```compile_fail,E0277
    /// use measures::{PrivacyMap, PureDp, SymmetricDistance};
    /// use odometer::{Measurement, Space};
    /// // No two arrays of three records are at distance 1.
    /// let arrays = Space::any::<[i64; 3]>(SymmetricDistance);
    /// let first = PrivacyMap::constant_up_to(SymmetricDistance, PureDp, 1, "0".parse().unwrap());
    /// Measurement::new("first", arrays, first, |data, _| Ok(data[0])).by_group_privacy();
    /// ```
    pub fn by_group_privacy(&self) -> Self
    where
        D: Connected<MI>,
        MI: UnitSteps,
        M: GroupPrivacy,
    {
        let function = Arc::clone(&self.0.function);
        self.derived(
            self.0.space.clone(),
            self.0.map.group(),
            move |data, scope| function(data, scope),
        )
    }

    /// May it be launched from this root, on data of this space, under an account in this measure?
    pub(crate) fn check_fits(
        &self,
        root: &Root,
        space: &Space<D, MI>,
        measure: &M,
    ) -> Result<(), LaunchError> {
        root.check().map_err(LaunchError::Unusable)?;
        if *self.space() != *space || *self.map().metric() != space.metric {
            let (ours, theirs) = (format!("{space:?}"), self.takes());
            return Err(LaunchError::Space { ours, theirs });
        }
        if *self.map().measure() != *measure {
            let (ours, theirs) = (
                format!("{measure:?}"),
                format!("{:?}", self.map().measure()),
            );
            return Err(LaunchError::Measure { ours, theirs });
        }
        Ok(())
    }

    /// The space, and the metric of the map where it is another one.
    pub(crate) fn takes(&self) -> String {
        let (space, metric) = (self.space(), self.map().metric());
        if *metric == space.metric {
            return format!("{space:?}");
        }
        format!("{space:?} (its map takes distances in {metric:?})")
    }

    /// Another measurement made from this one, with its description.
    pub(crate) fn derived<D2: Domain, MI2: Metric, M2: Measure, B: 'static>(
        &self,
        space: Space<D2, MI2>,
        map: PrivacyMap<MI2, M2>,
        function: impl Fn(&Arc<D2::Carrier>, &mut Scope<'_>) -> Result<B, AskError>
        + Send
        + Sync
        + 'static,
    ) -> Measurement<D2, MI2, M2, B> {
        Measurement::from_parts(
            space,
            map,
            Arc::clone(self.description()),
            Arc::new(function),
        )
    }
}

impl<D: Domain, MI: Metric, M: Measure, A> Clone for Measurement<D, MI, M, A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: Domain, MI: Metric, M: Measure, A> fmt::Debug for Measurement<D, MI, M, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} on {:?} in {:?}",
            self.0.bill.description(),
            self.0.space,
            self.0.map.measure()
        )
    }
}
