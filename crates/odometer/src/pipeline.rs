//! Pipelines: an odometer of transformed data, which keeps account at distances between the data before.

use std::{ops::Shr, sync::Arc};

use measures::{Adaptive, FilterRule, IntoLoss, Rule, TotalLoss};
use queryable::Root;

use crate::{
    error::OpenError,
    measurement::{Measurement, Unprocessed},
    odometer::Odometer,
    session::Session,
    space::{Space, check_same},
    transformation::{Mismatch, Transformation, linked},
};

/// On a ledger, the account of the data after lies below the filter's, under this name.
const AFTER: &str = "after";

/// A stable transformation, and an odometer of the data after it: `(&transformation >> &odometer)?`.
///
/// It keeps account at distances between the data *before* the transformation.
///
/// ```
/// # use odometry::measures::{Basic, PrivacyMap, PureDp, times};
/// # use odometry::odometer::{Measurement, Odometer, Records, Transformation};
/// # let records = Records::<i64>::new();
/// # let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
/// let twice = Transformation::new(records, records, times(2), |data: &Vec<i64>| Ok([data.clone(), data.clone()].concat()));
/// let pipeline = (&twice >> &Odometer::new(records, Basic::new(PureDp)))?;
/// let session = pipeline.open(vec![1, 2, 3])?;
/// session.after.launch(&query)?;
/// assert_eq!(session.before.privacy_loss(&1)?.to_string(), "0.2");
///
/// let filtered = pipeline.filter(1, "0.3")?.invoke(vec![1, 2, 3])?;
/// filtered.launch(&query)?;
/// assert!(filtered.launch(&query).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pipeline<S: Space, T: Space, R: FilterRule> {
    transformation: Transformation<S, T>,
    odometer: Odometer<S, R>,
}

/// A session on transformed data, and the account of the data before.
pub struct Transformed<S: Space, T: Space, R: Adaptive> {
    /// The account at distances between the data before the transformation.
    pub before: Session<S, R>,
    /// Where to launch: the data after.
    pub after: Session<T, R>,
}

/// A filter of transformed data.
pub type FilterAfter<S, T, R> = Measurement<S, <R as Rule>::Total, Session<T, R>>;

impl<S: Space, T: Space, R: Adaptive> Pipeline<S, T, R> {
    /// Opens a session on data, with coins from the operating system.
    ///
    /// # Errors
    /// As [`Odometer::open`].
    pub fn open(&self, data: S::Data) -> Result<Transformed<S, T, R>, OpenError> {
        self.opened(self.odometer.open(data)?)
    }

    /// Opens a session on data, with coins of your choice.
    ///
    /// # Errors
    /// As [`Odometer::open_in`].
    pub fn open_in(
        &self,
        root: &Root,
        data: Arc<S::Data>,
    ) -> Result<Transformed<S, T, R>, OpenError> {
        self.opened(self.odometer.open_in(root, data)?)
    }

    fn opened(&self, before: Session<S, R>) -> Result<Transformed<S, T, R>, OpenError> {
        Ok(Transformed {
            after: before.nest_after(&self.transformation)?,
            before,
        })
    }
}

impl<S: Space, T: Space, R: FilterRule> Pipeline<S, T, R> {
    /// A filter whose budget holds between data at distance `d_in` before the transformation. Its answer is a session on
    /// the data after.
    ///
    /// # Errors
    /// As [`Odometer::filter`].
    pub fn filter(
        &self,
        d_in: S::Distance,
        budget: impl IntoLoss<TotalLoss<R>>,
    ) -> Result<FilterAfter<S, T, R>, OpenError> {
        let filter = self.odometer.filter(d_in, budget)?;
        let transformation = self.transformation.clone();
        let (space, map) = (filter.space().clone(), filter.map().clone());
        let links = linked(transformation.links(), filter.links());
        let function = {
            let filter = filter.clone();
            move |data: &Arc<S::Data>, scope: &mut queryable::Scope<'_>| {
                let before = filter.run(data, scope)?;
                before
                    .nest_after(&transformation)
                    .map(Unprocessed::Done)
                    .map_err(|error| queryable::AskError::failed(error.to_string()))
            }
        };
        let transformation = self.transformation.clone();
        let reserved = filter.reserved().map(|reserved| {
            reserved.then(Arc::new(move |before: Session<S, R>| {
                let after = before.link(AFTER).nest_after(&transformation);
                after.map_err(|error| queryable::AskError::failed(error.to_string()))
            }))
        });
        let after = filter.derived(links, space, map, function);
        Ok(after.reserved_by(reserved))
    }
}

/// `(&transformation >> &odometer)?`.
impl<S, T, R> Shr<&Odometer<T, R>> for &Transformation<S, T>
where
    S: Space,
    T: Space,
    R: FilterRule,
{
    type Output = Result<Pipeline<S, T, R>, Mismatch>;

    fn shr(self, odometer: &Odometer<T, R>) -> Self::Output {
        check_same(self.output(), odometer.space())?;
        Ok(Pipeline {
            transformation: self.clone(),
            odometer: odometer.on(self.input().clone()),
        })
    }
}
