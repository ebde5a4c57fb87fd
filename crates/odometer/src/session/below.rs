//! Sessions below a session: in the same measure, in another one, on transformed data.

use std::sync::Arc;

use measures::{Adaptive, Conversion, FilterRule, MAX_LINKS, Metric, Tallied};
use queryable::{DEFAULT_MESSAGES, Root, guarded};

use super::{Data, Session, nested::Nested, watch::DataRoot};
use crate::{
    account::cost::Cost,
    account::link::Link,
    account::opening::{Made, Spot},
    account::{Account, Parent},
    error::OpenError,
    journal::{JournalError, Place, Relation, Segment},
    space::{Space, check_same},
    transformation::Transformation,
};

/// Where a session below another is on the ledger.
pub(crate) struct NamedSpot<D> {
    pub(crate) parent: Place,
    pub(crate) segment: Segment,
    pub(crate) relation: Relation,
    pub(crate) distances: Vec<D>,
}

impl<S: Space, R: Tallied> Session<S, R> {
    /// Opens a session below this one in another measure. Every launch there is charged here with its own loss,
    /// converted.
    ///
    /// ```
    /// # use odometry::measures::{ApproxDp, Basic, PrivacyMap, PureDp, convert::PureToApprox};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
    /// let session = Odometer::new(records, Basic::new(ApproxDp)).open(vec![1, 2, 3])?;
    /// let pure = session.nest_in(Basic::new(PureDp), PureToApprox)?;
    /// pure.launch(&query)?;
    /// assert_eq!(session.privacy_loss(&1)?.to_string(), "(0.1, 0)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// What a session has come to is a total, and a total is not the loss of a measurement: it cannot be charged onwards,
    /// converted or not.
    ///
    /// ```compile_fail,E0277
    /// # use odometry::measures::{Basic, GaussianDp, PrivacyMap, adaptive::GaussianComposition};
    /// # use odometry::odometer::{Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// let session = Odometer::new(records, GaussianComposition).open(vec![1, 2, 3]).unwrap();
    /// let total = session.privacy_loss(&1).unwrap();
    /// PrivacyMap::per_record(GaussianDp, total); // error: a `Total` is not the loss of a measurement
    /// ```
    ///
    /// # Errors
    /// [`OpenError::TooDeep`], [`OpenError::Unusable`], [`OpenError::Measure`] if the conversion is for other
    /// parameters.
    pub fn nest_in<R2, C>(&self, rule: R2, conversion: C) -> Result<Session<S, R2>, OpenError>
    where
        R2: Adaptive,
        C: Conversion<From = R2::Child, To = R::Child>,
    {
        self.nest_in_as(None, rule, conversion)
    }

    pub(super) fn nest_in_as<R2, C>(
        &self,
        name: Option<&str>,
        rule: R2,
        conversion: C,
    ) -> Result<Session<S, R2>, OpenError>
    where
        R2: Adaptive,
        C: Conversion<From = R2::Child, To = R::Child>,
    {
        if conversion.to() != self.account.measure || conversion.from() != rule.child() {
            return Err(OpenError::Measure {
                ours: format!("{:?} from {:?}", self.account.measure, rule.child()),
                theirs: format!("{:?} from {:?}", conversion.to(), conversion.from()),
            });
        }
        let parent: Parent<S::Metric, R::Child> = self.account.clone();
        let link = Link::new(parent, move |cost: &Cost<S::Metric, R2::Child>| {
            cost.converted(&conversion)
        });
        let made = self.made(name, rule, Arc::new(link));
        let segment = name.map(Segment::name);
        let spot = self.spot(segment, Relation::Converted, |d_in| Some(d_in.clone()))?;
        self.child(self.space.clone(), self.data.clone(), made, spot)
    }

    /// Opens a session below this one on transformed data. Every launch there is charged here with its own loss at the
    /// distance that the stability map gives. The data are transformed when the first launch needs them; if that fails,
    /// everything on the data [stops](crate::LaunchError::Stopped).
    ///
    /// # Errors
    /// [`OpenError::Space`] if the transformation is for other data; [`OpenError::TooDeep`],
    /// [`OpenError::Unusable`].
    pub fn nest_after<T: Space>(
        &self,
        transformation: &Transformation<S, T>,
    ) -> Result<Session<T, R>, OpenError> {
        self.nest_after_as(None, transformation)
    }

    pub(super) fn nest_after_as<T: Space>(
        &self,
        name: Option<&str>,
        transformation: &Transformation<S, T>,
    ) -> Result<Session<T, R>, OpenError> {
        check_same(&self.space, transformation.input())?;
        if transformation.links() > MAX_LINKS {
            return Err(OpenError::TooDeep { limit: MAX_LINKS });
        }
        let (stable, factor) = (transformation.clone(), transformation.factor());
        let stability: Arc<dyn Fn(&S::Distance) -> _ + Send + Sync> =
            Arc::new(move |d_in: &_| stable.stability(d_in));
        let pulled = Arc::clone(&stability);
        let link = Link::pulling(
            self.payer(),
            move |cost: &Cost<T::Metric, R::Child>| cost.after(&stability, factor),
            move |above, asked| asked(&pulled(above).ok()?),
        );
        let (before, transform) = (self.data.clone(), transformation.clone());
        let first = self.first.clone();
        let data = Data::derived(move || transform.apply_once(Some(&first), before.get()?));
        let made = Made {
            through: Some(transformation.address()),
            ..self.made(name, self.account.rule.clone(), Arc::new(link))
        };
        let segment = name.map(|name| Segment::transformed(name, transformation.versions()));
        let spot = self.spot(segment, Relation::Transformed, |d_in| {
            guarded(|| transformation.stability(d_in)).ok()?.ok()
        })?;
        self.child(transformation.output().clone(), data, made, spot)
    }

    /// An account whose launches are paid for by `payer`, with the same quota.
    pub(crate) fn made<MI: Metric, R2: Tallied>(
        &self,
        name: Option<&str>,
        rule: R2,
        payer: Parent<MI, R2::Child>,
    ) -> Made<MI, R2> {
        Made {
            label: name.map_or_else(|| self.label(), Arc::from),
            rule,
            cap: None,
            quota: self.quota(),
            share: None,
            messages: DEFAULT_MESSAGES,
            parent: Some(payer),
            through: None,
            placed: None,
            sequential: false,
        }
    }

    /// Where a session below is on the ledger, if this one is on one: charges are written down at these distances there.
    fn spot<D>(
        &self,
        segment: Option<Segment>,
        relation: Relation,
        below: impl Fn(&S::Distance) -> Option<D>,
    ) -> Result<Option<NamedSpot<D>>, OpenError> {
        let (Some(journaled), Some(segment)) = (self.account.journaled(), segment) else {
            return Ok(None);
        };
        let distances: Option<Vec<D>> = journaled.distances.iter().map(below).collect();
        let unknown = "the stability map knows no distance below those of the session above";
        let distances = distances.ok_or_else(|| JournalError::Unsupported(unknown.to_string()))?;
        Ok(Some(NamedSpot {
            parent: journaled.place,
            segment,
            relation,
            distances,
        }))
    }

    /// Opens a link or a part with this account; on a ledger, with the account at this spot. Its threads count for the tenant of
    /// this session.
    pub(crate) fn child<T: Space, R2: Tallied>(
        &self,
        space: T,
        data: Data<T::Data>,
        made: Made<T::Metric, R2>,
        spot: Option<NamedSpot<T::Distance>>,
    ) -> Result<Session<T, R2>, OpenError> {
        let account = self.opened(&space, made, spot)?;
        let root = self.root.branch().map_err(OpenError::Unusable)?;
        Ok(self.session_at(root, space, data, account))
    }

    /// Opens a session with this account, as [`child`](Self::child). The account is a tenant, if this session has the tenant of a
    /// data set.
    pub(crate) fn child_as_tenant<T: Space, R2: Tallied>(
        &self,
        space: T,
        data: Data<T::Data>,
        made: Made<T::Metric, R2>,
        spot: Option<NamedSpot<T::Distance>>,
    ) -> Result<Session<T, R2>, OpenError> {
        let account = self.opened(&space, made, spot)?;
        let root = account
            .root_below(&self.root)
            .map_err(OpenError::Unusable)?;
        Ok(self.session_at(root, space, data, account))
    }

    /// A session on data that come from this session's.
    fn session_at<T: Space, R2: Tallied>(
        &self,
        root: Root,
        space: T,
        data: Data<T::Data>,
        account: Arc<Account<T::Metric, R2>>,
    ) -> Session<T, R2> {
        let first = self.first.clone();
        Session::new(space, data, DataRoot { root, first }, account)
    }

    fn opened<T: Space, R2: Tallied>(
        &self,
        space: &T,
        made: Made<T::Metric, R2>,
        spot: Option<NamedSpot<T::Distance>>,
    ) -> Result<Arc<Account<T::Metric, R2>>, OpenError> {
        self.openable()?;
        match (self.account.journaled(), spot) {
            (None, _) => Ok(Arc::new(made.account()?)),
            (Some(_), None) => {
                let what = format!("a link or partition below {}", self.account.label);
                Err(JournalError::Unnamed { what }.into())
            }
            (Some(journaled), Some(named)) => made.account_on(Spot {
                books: &journaled.books,
                parent: Some(named.parent),
                segment: named.segment,
                relation: named.relation,
                metric: space.metric(),
                distances: named.distances,
                messages: journaled.messages,
            }),
        }
    }
}

impl<S: Space, R: FilterRule> Session<S, R> {
    /// Describes a session below this one, on the same data and with the same rule: [`Nested::open`] opens it.
    pub fn nested(&self, name: impl Into<Arc<str>>) -> Nested<'_, S, R> {
        Nested::new(self, name.into())
    }
}
