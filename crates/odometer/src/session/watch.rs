//! What happens when code that reads data before anything is charged for it fails: a transformation, or the function that
//! gives records their keys.

use std::{fmt, sync::Arc};

use queryable::{AskError, Root};

use crate::{
    failure::FirstFailure,
    sync::{Mutex, lock},
};

/// How whoever opens data learns which transformation has failed on them, and how: analysts, whatever session they hold,
/// are told only that everything has [stopped](crate::LaunchError::Stopped).
///
/// What it tells depends on the data: it is for operators. A clone is the same watch; it may watch many data sets. It
/// has no say on data that were opened by somebody else: a filter that an analyst makes and launches in a session
/// reports to those who opened the session's data, not to the analyst's watch.
///
/// ```
/// use odometry::measures::{Basic, PrivacyMap, PureDp, times};
/// use odometry::odometer::{LaunchError, Measurement, Odometer, Records, Transformation, Watch};
/// use odometry::queryable::AskError;
/// let records = Records::<i64>::new();
/// let free = PrivacyMap::per_record(PureDp, "0")?;
/// let nothing = Measurement::new("nothing", records, free, |_, _| Ok(()));
/// // Whoever makes a transformation vouches that it fails on no data set. This one does.
/// let careless = Transformation::new(records, records, times(1), |data: &Vec<i64>| match data.contains(&7) {
///     true => Err(AskError::failed("seven")),
///     false => Ok(data.clone()),
/// })
/// .named("careless");
///
/// let watch = Watch::new();
/// let odometer = Odometer::new(records, Basic::new(PureDp)).named("the survey").watched(&watch);
/// let session = odometer.filter(1, "1")?.invoke(vec![1, 7])?;
/// let analyst = session.nested("inner").open()?;
/// assert_eq!(analyst.launch(&(&careless >> &nothing)?), Err(LaunchError::Stopped { charged: true }));
/// assert_eq!(analyst.launch(&nothing), Err(LaunchError::Stopped { charged: false }));
/// assert_eq!(session.launch(&nothing), Err(LaunchError::Stopped { charged: false }));
///
/// let failures = watch.failures();
/// assert_eq!((&*failures[0].session, &*failures[0].by), ("the survey", "careless"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Watch(Arc<Mutex<Vec<Failure>>>);

/// What stopped everything on some data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The name of the session that opened the data.
    pub session: String,
    /// The transformation by its [name](crate::Transformation::named), or where it was made; or the partition whose key
    /// function it was.
    pub by: String,
    /// How it failed.
    pub error: AskError,
}

impl Watch {
    /// Nothing has failed yet.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Vec::new())))
    }

    /// What has failed, in order: at most one failure for each data set that was opened.
    pub fn failures(&self) -> Vec<Failure> {
        lock(&self.0).clone()
    }

    /// Lists the failure if it is the first on its data. Both happen under the lock, so readers see both or neither.
    pub(crate) fn add_if(&self, is_first: impl FnOnce() -> bool, failure: Failure) {
        let mut failures = lock(&self.0);
        if is_first() {
            failures.push(failure);
        }
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

/// What it was told stays inside: it depends on data.
impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// A root for sessions on one data set.
pub(crate) struct DataRoot {
    pub(crate) root: Root,
    /// Of the data from which these come, or of these.
    pub(crate) first: FirstFailure,
}

impl DataRoot {
    /// Opens data below this root. If they come from data that were opened before, these have a first failure and a watch.
    pub(crate) fn below(root: &Root, label: &str, watch: Option<&Watch>) -> Result<Self, AskError> {
        if let Some(first) = root.carried::<FirstFailure>() {
            return Ok(Self {
                root: root.branch_for(label)?,
                first: first.clone(),
            });
        }
        let first = FirstFailure::new(label, watch);
        Ok(Self {
            root: root.branch_for_carrying(label, first.clone())?,
            first,
        })
    }
}
