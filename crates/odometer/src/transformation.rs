//! Stable transformations: data sets at distance `d` become data sets at distance at most `stability(d)`.

use std::{fmt, ops::Shr, panic::Location, sync::Arc};

use measures::{MAX_LINKS, MapError, Measure, Number, times};
use queryable::{AskError, guarded};

use crate::{
    error::LaunchError,
    failure::FirstFailure,
    measurement::Measurement,
    space::{Space, check_same},
};

type Function<X, Y> = dyn Fn(&X, Option<&FirstFailure>) -> Result<Y, Failed> + Send + Sync;
pub(crate) type Stability<D0, D1> = dyn Fn(&D0) -> Result<D1, MapError> + Send + Sync;

/// A deterministic, stable change of the data.
///
/// Its author vouches for the stability map, and that it is total: it fails and panics on no data set of its space. A
/// failure would tell something about the data for which nobody was charged, and no charge could pay for it. If it fails
/// all the same, everything on those data stops for good ([`LaunchError::Stopped`](crate::LaunchError::Stopped)), so that
/// it can happen once; whoever opened the data can find out [what it was](crate::Watch). A transformation that does not
/// return, or takes longer on some data, is not noticed.
///
/// ```
/// use odometry::measures::{PrivacyMap, PureDp, times};
/// use odometry::odometer::{Measurement, Records, Transformation};
/// let records = Records::<i64>::new();
/// let twice = Transformation::new(records, records, times(2), |data: &Vec<i64>| Ok([data.clone(), data.clone()].concat()));
/// let noisy = Measurement::new("noisy", records, PrivacyMap::per_record(PureDp, "0.1")?, |_, _| Ok(0));
/// assert_eq!((&twice >> &noisy)?.map().loss(&1)?, "0.2".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Transformation<S: Space, T: Space>(Arc<Inner<S, T>>);

struct Inner<S: Space, T: Space> {
    input: S,
    output: T,
    /// A chain has none of its own, unless it is given one.
    name: Option<Arc<str>>,
    /// How many others it is made of.
    links: u16,
    stability: Arc<Stability<S::Distance, T::Distance>>,
    /// What the stability map multiplies distances by, if it does.
    factor: Option<u32>,
    /// Its author's numbers for what it does: of a chain, those of all its links.
    versions: Vec<u32>,
    function: Arc<Function<S::Data, T::Data>>,
}

impl<S: Space, T: Space> Inner<S, T> {
    /// The same under another name, or in another version.
    fn called(&self, name: Option<Arc<str>>, versions: Vec<u32>) -> Self {
        Self {
            input: self.input.clone(),
            output: self.output.clone(),
            name,
            links: self.links,
            stability: Arc::clone(&self.stability),
            factor: self.factor,
            versions,
            function: Arc::clone(&self.function),
        }
    }
}

/// A transformation has failed on some data.
struct Failed {
    by: Option<Arc<str>>,
    error: AskError,
}

impl<S: Space, T: Space> Transformation<S, T> {
    /// A transformation from its parts. It is called after the place where it is made, until it is
    /// [named](Self::named).
    #[track_caller]
    pub fn new<D, F>(input: S, output: T, stability: D, function: F) -> Self
    where
        D: Fn(&S::Distance) -> Result<T::Distance, MapError> + Send + Sync + 'static,
        F: Fn(&S::Data) -> Result<T::Data, AskError> + Send + Sync + 'static,
    {
        Self::known((input, output), None, stability, function)
    }

    /// A transformation that turns data at distance `d` into data at distance at most `factor·d`. As [`new`](Self::new) with
    /// [`times(factor)`](measures::times), but privacy maps keep their [form](measures::Form) through it: on a ledger, what was
    /// launched behind it is known at every distance after a restart.
    ///
    /// ```
    /// use odometry::measures::{Form, PrivacyMap, PureDp};
    /// use odometry::odometer::{Measurement, Records, Transformation};
    /// let records = Records::<i64>::new();
    /// let twice = Transformation::multiplying(records, records, 2, |data: &Vec<i64>| Ok([data.clone(), data.clone()].concat()));
    /// let noisy = Measurement::new("noisy", records, PrivacyMap::per_record(PureDp, "0.1")?, |_, _| Ok(0));
    /// assert_eq!(*(&twice >> &noisy)?.map().form(), Form::Linear("0.2".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn multiplying<F>(input: S, output: T, factor: u32, function: F) -> Self
    where
        S: Space<Distance = T::Distance>,
        T: Space<Distance: Number>,
        F: Fn(&S::Data) -> Result<T::Data, AskError> + Send + Sync + 'static,
    {
        Self::known((input, output), Some(factor), times(factor), function)
    }

    #[track_caller]
    fn known<D, F>((input, output): (S, T), factor: Option<u32>, stability: D, function: F) -> Self
    where
        D: Fn(&S::Distance) -> Result<T::Distance, MapError> + Send + Sync + 'static,
        F: Fn(&S::Data) -> Result<T::Data, AskError> + Send + Sync + 'static,
    {
        let name = format!("the transformation made at {}", Location::caller());
        let function = move |data: &_, _: Option<&_>| match guarded(|| function(data)) {
            Ok(Ok(after)) => Ok(after),
            Ok(Err(error)) | Err(error) => Err(Failed { by: None, error }),
        };
        Self(Arc::new(Inner {
            input,
            output,
            name: Some(name.into()),
            links: 0,
            stability: Arc::new(stability),
            factor,
            versions: vec![0],
            function: Arc::new(function),
        }))
    }

    /// The same transformation under another name, by which whoever opened the data learns of its failure.
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        let (name, versions) = (Some(name.into()), self.0.versions.clone());
        Self(Arc::new(self.0.called(name, versions)))
    }

    /// The same transformation with its author's number for what it does; without one it is 0. Whoever changes what a
    /// transformation does to data gives it another number: on a ledger, a [link](crate::Session::link) through another version is
    /// another account, and so are the partitions below it. Under one number, launches in the parts of the old data and in
    /// those of the new would be charged as if a record were in one part of both, which is too little; another number adds up.
    /// The number of a chain is that of all its links.
    #[must_use]
    pub fn versioned(self, version: u32) -> Self {
        Self(Arc::new(self.0.called(self.0.name.clone(), vec![version])))
    }

    /// Its author's numbers, of all links of a chain.
    pub(crate) fn versions(&self) -> &[u32] {
        &self.0.versions
    }

    /// What its stability map multiplies distances by, if it does.
    pub(crate) fn factor(&self) -> Option<u32> {
        self.0.factor
    }

    /// The space of the data before.
    pub fn input(&self) -> &S {
        &self.0.input
    }

    /// The space of the data after.
    pub fn output(&self) -> &T {
        &self.0.output
    }

    /// How far apart data can be after, if they were `d_in` apart before.
    ///
    /// # Errors
    /// The stability map's own; [`MapError::TooDeep`] if it is a chain of too many.
    pub fn stability(&self, d_in: &S::Distance) -> Result<T::Distance, MapError> {
        (self.0.stability)(d_in)
    }

    /// Tells it and its clones apart from others while they are alive.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0.stability).cast::<()>().addr()
    }

    /// The data after. For use inside a measurement's function, whose own map must cover it, failures included; nothing
    /// stops if it fails here.
    ///
    /// # Errors
    /// The function's own; [`AskError::Panicked`]; [`AskError::TooDeep`] if it is a chain of too many.
    pub fn apply(&self, data: &S::Data) -> Result<T::Data, AskError> {
        self.try_apply(data, None).map_err(|failed| failed.error)
    }

    /// The data after, if nothing has failed on the data before: each link of a chain asks.
    fn try_apply(&self, data: &S::Data, first: Option<&FirstFailure>) -> Result<T::Data, Failed> {
        let ready = first.map_or(Ok(()), FirstFailure::check);
        ready.map_err(|error| Failed { by: None, error })?;
        (self.0.function)(data, first).map_err(|Failed { by, error }| {
            let by = match (&self.0.name, by) {
                (Some(whole), Some(link)) => Some(format!("{whole}: {link}").into()),
                (Some(name), None) => Some(Arc::clone(name)),
                (None, link) => link,
            };
            Failed { by, error }
        })
    }

    /// The data after, if nothing has failed on the data by then. A failure is recorded as the first, and its
    /// error is not returned.
    pub(crate) fn apply_once(
        &self,
        first: Option<&FirstFailure>,
        data: &S::Data,
    ) -> Result<T::Data, AskError> {
        let Some(first) = first else {
            return self.apply(data);
        };
        // Only the first failure is recorded.
        let after = self.try_apply(data, Some(first));
        if let Err(Failed { by, error }) = &after {
            first.record(by.as_deref().unwrap_or("a transformation"), error);
        }
        first.check()?;
        after.map_err(|failed| failed.error)
    }

    /// How many others it is made of.
    pub(crate) fn links(&self) -> u16 {
        self.0.links
    }

    /// This transformation, then another. Beyond [`MAX_LINKS`] in a chain, every use of it is an error.
    ///
    /// # Errors
    /// [`Mismatch`] if the other is for other data.
    pub fn then<U: Space>(
        &self,
        next: &Transformation<T, U>,
    ) -> Result<Transformation<S, U>, Mismatch> {
        check_same(self.output(), next.input())?;
        let links = linked(self.links(), next.links());
        let factors = self.factor().zip(next.factor());
        let factor = factors.and_then(|(one, other)| one.checked_mul(other));
        // One that is too long holds nothing of what it was made from.
        let versions = match links > MAX_LINKS {
            true => Vec::new(),
            false => [self.versions(), next.versions()].concat(),
        };
        let (stability, function): (Arc<Stability<_, _>>, Arc<Function<_, _>>) = if links
            > MAX_LINKS
        {
            (
                Arc::new(|_: &_| Err(MapError::TooDeep { limit: MAX_LINKS })),
                Arc::new(|_: &_, _: Option<&_>| {
                    Err(Failed {
                        by: None,
                        error: AskError::TooDeep { limit: MAX_LINKS },
                    })
                }),
            )
        } else {
            let (first, second) = (self.clone(), next.clone());
            let (stable_first, stable_second) = (self.clone(), next.clone());
            (
                Arc::new(move |d_in: &_| stable_second.stability(&stable_first.stability(d_in)?)),
                Arc::new(move |data: &_, failure: Option<&_>| {
                    second.try_apply(&first.try_apply(data, failure)?, failure)
                }),
            )
        };
        Ok(Transformation(Arc::new(Inner {
            input: self.input().clone(),
            output: next.output().clone(),
            name: None,
            links,
            stability,
            factor,
            versions,
            function,
        })))
    }

    /// This transformation, then a measurement: a measurement of the data before. Beyond [`MAX_LINKS`] in a chain, every
    /// use of it is an error.
    ///
    /// # Errors
    /// [`Mismatch`] if the measurement is for other data.
    pub fn measure<M: Measure, A: 'static>(
        &self,
        measurement: &Measurement<T, M, A>,
    ) -> Result<Measurement<S, M, A>, Mismatch> {
        check_same(self.output(), measurement.space())?;
        let stability = Arc::clone(&self.0.stability);
        let map = measurement.map();
        let map = map.after_known(self.factor(), move |d_in| stability(d_in));
        let links = linked(self.links(), measurement.links());
        let (before, function) = (self.clone(), measurement.function());
        Ok(
            measurement.derived(links, self.input().clone(), map, move |data, scope| {
                let data = before.apply_once(scope.carried(), data).map(Arc::new)?;
                function(&data, scope)
            }),
        )
    }
}

/// How many links two chains have together. Their sum, and not the longer one: a chain put behind itself again and again
/// would do exponential work at little depth.
pub(crate) fn linked(one: u16, other: u16) -> u16 {
    one.saturating_add(other)
        .saturating_add(1)
        .min(MAX_LINKS + 1)
}

/// Two pieces that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[error("the first ends in {first}, but the second starts from {second}")]
pub struct Mismatch {
    /// The space in which the first ends.
    pub first: String,
    /// The space from which the second starts.
    pub second: String,
}

impl From<Mismatch> for LaunchError {
    fn from(Mismatch { first, second }: Mismatch) -> Self {
        Self::Space {
            ours: first,
            theirs: second,
        }
    }
}

/// `(&transformation >> &measurement)?` is [`Transformation::measure`].
impl<S, T, M, A> Shr<&Measurement<T, M, A>> for &Transformation<S, T>
where
    S: Space,
    T: Space,
    M: Measure,
    A: 'static,
{
    type Output = Result<Measurement<S, M, A>, Mismatch>;

    fn shr(self, measurement: &Measurement<T, M, A>) -> Self::Output {
        self.measure(measurement)
    }
}

impl<S: Space, T: Space> Clone for Transformation<S, T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Space, T: Space> fmt::Debug for Transformation<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Transformation from {:?} to {:?}",
            self.0.input, self.0.output
        )
    }
}
