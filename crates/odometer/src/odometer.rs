//! Odometers, and the filters made from them.

use std::{fmt, ops::Shr, sync::Arc};

use measures::{Adaptive, FilterRule, Metric, PrivacyMap, Rule, TotalLoss};
use queryable::Root;

use crate::{
    account::{Account, Cap},
    data::Data,
    error::LaunchError,
    measurement::Measurement,
    session::Session,
    space::{Domain, Space},
    transformation::{Mismatch, Transformation},
};

/// A way to keep account of everything that is launched on some data (seed 000 Alg 4 and 6).
///
/// ```
/// use measures::{Basic, PrivacyMap, PureDp, SymmetricDistance};
/// use odometer::{Measurement, Odometer, Space};
/// let records = Space::any::<Vec<i64>>(SymmetricDistance);
/// let map = PrivacyMap::linear(SymmetricDistance, PureDp, "0.1".parse()?);
/// let query = Measurement::new("query", records, map, |_, _| Ok(42));
///
/// let session = Odometer::new(records, Basic::new(PureDp)).open(vec![1, 2, 3])?;
/// for _ in 0..10 {
///     session.launch(&query)?;
/// }
/// assert_eq!(session.privacy_loss(&1)?.to_string(), "1");
/// assert_eq!(session.privacy_loss(&2)?.to_string(), "2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A rule for losses fixed in advance makes no odometer and no filter:
///
/// ```compile_fail,E0277
/// use measures::{SymmetricDistance, fixed::Optimal};
/// use odometer::{Odometer, Space};
/// let records = Space::any::<Vec<i64>>(SymmetricDistance);
/// Odometer::new(records, Optimal::new("1e-6".parse().unwrap()).unwrap()); // error: `Optimal` is not valid as a filter
/// ```
pub struct Odometer<D: Domain, MI: Metric, R: FilterRule> {
    space: Space<D, MI>,
    rule: R,
    label: Arc<str>,
    halting: bool,
}

/// A filter: a measurement whose answer is a session with a budget.
pub type Filter<D, MI, R> = Measurement<D, MI, <R as Rule>::Total, Session<D, MI, R>>;

/// A filter of transformed data.
pub type FilterAfter<D0, M0, D1, M1, R> =
    Measurement<D0, M0, <R as Rule>::Total, Session<D1, M1, R>>;

impl<D: Domain, MI: Metric, R: FilterRule> Odometer<D, MI, R> {
    /// An odometer on these data that composes with this rule. A rule that is only a filter's makes only
    /// [filters](Self::filter).
    pub fn new(space: Space<D, MI>, rule: R) -> Self {
        Self {
            space,
            rule,
            label: "the session".into(),
            halting: false,
        }
    }

    /// Gives its sessions a name, for refusals.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.label = name.into();
        self
    }

    pub(crate) fn space(&self) -> &Space<D, MI> {
        &self.space
    }

    pub(crate) fn rule(&self) -> &R {
        &self.rule
    }

    /// Its filters refuse everything after their first refusal: the papers' halting form.
    pub fn halting(mut self) -> Self {
        self.halting = true;
        self
    }

    /// A filter: a measurement whose answer is a session that refuses what would pass the budget at distance `d_in`
    /// (seed 000 Alg 2 and 3).
    ///
    /// Launched in another session it is charged in full, and what happens inside is nobody else's business. Its privacy
    /// map is the budget up to `d_in` and infinity beyond ([`Measurement::by_group_privacy`] may know more).
    ///
    /// ```
    /// # use measures::{Basic, PrivacyMap, PureDp, SymmetricDistance};
    /// # use odometer::{LaunchError, Measurement, Odometer, Space};
    /// # let records = Space::any::<Vec<i64>>(SymmetricDistance);
    /// # let map = PrivacyMap::linear(SymmetricDistance, PureDp, "0.4".parse()?);
    /// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
    /// let filter = Odometer::new(records, Basic::new(PureDp)).named("team red").filter(1, "1".parse()?)?;
    /// let session = filter.invoke(vec![1, 2, 3])?;
    /// session.launch(&query)?;
    /// session.launch(&query)?;
    /// let refusal = session.launch(&query).unwrap_err();
    /// assert_eq!(
    ///     refusal.to_string(),
    ///     "refused by team red: `query` asks for 0.4, but only 0.2 is left of 1 (0.8 spent; PureDp at distance 1)"
    /// );
    /// assert_eq!(session.privacy_loss(&1)?.to_string(), "0.8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LaunchError::Rule`] if the rule cannot be opened with this budget.
    pub fn filter(
        &self,
        d_in: MI::Distance,
        budget: TotalLoss<R>,
    ) -> Result<Filter<D, MI, R>, LaunchError> {
        let cap = Cap::new(
            &self.label,
            &self.rule,
            d_in.clone(),
            budget.clone(),
            self.halting,
        )?;
        let metric = self.space.metric.clone();
        let map =
            PrivacyMap::constant_up_to(metric, self.rule.total(), d_in.clone(), budget.clone());
        let (space, rule, label) = (
            self.space.clone(),
            self.rule.clone(),
            Arc::clone(&self.label),
        );
        let open = move |data: &Arc<D::Carrier>, scope: &mut queryable::Scope<'_>| {
            let account = Account::new(Arc::clone(&label), rule.clone(), Some(cap.clone()), None)
                .map_err(|error| queryable::AskError::failed(error.to_string()))?;
            Ok(Session::new(
                space.clone(),
                Data::Here(Arc::clone(data)),
                scope.root()?,
                account,
            ))
        };
        let filter = Measurement::new(
            format!("filter of {}", self.label),
            self.space.clone(),
            map,
            open,
        );
        Ok(filter
            .with_parameter("d_in", d_in)
            .with_parameter("budget", budget))
    }
}

impl<D: Domain, MI: Metric, R: Adaptive> Odometer<D, MI, R> {
    /// Opens a session on data, with coins from the operating system.
    ///
    /// # Errors
    /// [`LaunchError::NotInDomain`]; [`LaunchError::Unusable`] without entropy, or inside a step.
    pub fn open(&self, data: D::Carrier) -> Result<Session<D, MI, R>, LaunchError> {
        self.open_in(
            &Root::from_os().map_err(LaunchError::Unusable)?,
            Arc::new(data),
        )
    }

    /// Opens a session on data, with coins of your choice. Inside a measurement's function, take the root from its scope
    /// ([`queryable::Scope::root`]): that measurement's own map covers whatever the session launches.
    ///
    /// # Errors
    /// [`LaunchError::NotInDomain`]; [`LaunchError::Unusable`] if the root is somebody else's.
    pub fn open_in(
        &self,
        root: &Root,
        data: Arc<D::Carrier>,
    ) -> Result<Session<D, MI, R>, LaunchError> {
        let root = root.branch().map_err(LaunchError::Unusable)?;
        self.space.check_contains(&data)?;
        let account = Account::new(Arc::clone(&self.label), self.rule.clone(), None, None)?;
        Ok(Session::new(
            self.space.clone(),
            Data::Here(data),
            root,
            account,
        ))
    }
}

impl<D: Domain, MI: Metric, R: FilterRule> Clone for Odometer<D, MI, R> {
    fn clone(&self) -> Self {
        Self {
            space: self.space.clone(),
            rule: self.rule.clone(),
            label: Arc::clone(&self.label),
            halting: self.halting,
        }
    }
}

impl<D: Domain, MI: Metric, R: FilterRule> fmt::Debug for Odometer<D, MI, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Odometer({}, {:?}, {:?})",
            self.label, self.space, self.rule
        )
    }
}

/// A stable transformation, and an odometer of the data after it: `(&transformation >> &odometer)?`.
///
/// It keeps account at distances between the data *before* the transformation.
///
/// ```
/// # use measures::{Basic, PrivacyMap, PureDp, SymmetricDistance};
/// # use odometer::{Measurement, Odometer, Space, Transformation};
/// # let records = Space::any::<Vec<i64>>(SymmetricDistance);
/// # let map = PrivacyMap::linear(SymmetricDistance, PureDp, "0.1".parse()?);
/// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
/// let twice = Transformation::new(records, records, |d| Ok(2 * d), |data: &Vec<i64>| Ok([data.clone(), data.clone()].concat()));
/// let pipeline = (&twice >> &Odometer::new(records, Basic::new(PureDp)))?;
/// let session = pipeline.open(vec![1, 2, 3])?;
/// session.after.launch(&query)?;
/// assert_eq!(session.before.privacy_loss(&1)?.to_string(), "0.2");
///
/// let filtered = pipeline.filter(1, "0.3".parse()?)?.invoke(vec![1, 2, 3])?;
/// filtered.launch(&query)?;
/// assert!(filtered.launch(&query).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pipeline<D0: Domain, M0: Metric, D1: Domain, M1: Metric, R: FilterRule> {
    transformation: Transformation<D0, M0, D1, M1>,
    odometer: Odometer<D0, M0, R>,
}

/// A session on transformed data, and the account of the data before.
pub struct Transformed<D0: Domain, M0: Metric, D1: Domain, M1: Metric, R: Adaptive> {
    /// The account at distances between the data before the transformation.
    pub before: Session<D0, M0, R>,
    /// Where to launch: the data after.
    pub after: Session<D1, M1, R>,
}

impl<D0: Domain, M0: Metric, D1: Domain, M1: Metric, R: Adaptive> Pipeline<D0, M0, D1, M1, R> {
    /// Opens a session on data, with coins from the operating system.
    ///
    /// # Errors
    /// As [`Odometer::open`].
    pub fn open(&self, data: D0::Carrier) -> Result<Transformed<D0, M0, D1, M1, R>, LaunchError> {
        self.opened(self.odometer.open(data)?)
    }

    /// Opens a session on data, with coins of your choice.
    ///
    /// # Errors
    /// As [`Odometer::open_in`].
    pub fn open_in(
        &self,
        root: &Root,
        data: Arc<D0::Carrier>,
    ) -> Result<Transformed<D0, M0, D1, M1, R>, LaunchError> {
        self.opened(self.odometer.open_in(root, data)?)
    }

    fn opened(
        &self,
        before: Session<D0, M0, R>,
    ) -> Result<Transformed<D0, M0, D1, M1, R>, LaunchError> {
        Ok(Transformed {
            after: before.nest_after(&self.transformation)?,
            before,
        })
    }
}

impl<D0: Domain, M0: Metric, D1: Domain, M1: Metric, R: FilterRule> Pipeline<D0, M0, D1, M1, R> {
    /// A filter whose budget holds between data at distance `d_in` before the transformation. Its answer is a session on
    /// the data after.
    ///
    /// # Errors
    /// As [`Odometer::filter`].
    pub fn filter(
        &self,
        d_in: M0::Distance,
        budget: TotalLoss<R>,
    ) -> Result<FilterAfter<D0, M0, D1, M1, R>, LaunchError> {
        let filter = self.odometer.filter(d_in, budget)?;
        let transformation = self.transformation.clone();
        let (space, map) = (filter.space().clone(), filter.map().clone());
        Ok(filter.clone().derived(space, map, move |data, scope| {
            let before = filter.run(data, scope)?;
            before
                .nest_after(&transformation)
                .map_err(|error| queryable::AskError::failed(error.to_string()))
        }))
    }
}

/// `(&transformation >> &odometer)?`.
impl<D0, M0, D1, M1, R> Shr<&Odometer<D1, M1, R>> for &Transformation<D0, M0, D1, M1>
where
    D0: Domain,
    M0: Metric,
    D1: Domain,
    M1: Metric,
    R: FilterRule,
{
    type Output = Result<Pipeline<D0, M0, D1, M1, R>, Mismatch>;

    fn shr(self, odometer: &Odometer<D1, M1, R>) -> Self::Output {
        Mismatch::check(self.output(), &odometer.space)?;
        let Odometer {
            rule,
            label,
            halting,
            ..
        } = odometer.clone();
        let odometer = Odometer {
            space: self.input().clone(),
            rule,
            label,
            halting,
        };
        Ok(Pipeline {
            transformation: self.clone(),
            odometer,
        })
    }
}
