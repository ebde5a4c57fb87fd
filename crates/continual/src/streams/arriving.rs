//! Data sets that arrive later: mechanisms whose first message is the data (\[HSV25\] Def 3.1).

use std::{fmt, sync::Arc};

use measures::Measure;
use odometer::{Measurement, Space};
use queryable::{AskError, Queryable, Scope, machine};

use crate::pair::StreamMessage;

/// Data sets of a space that are not there yet: a mechanism is launched and charged first, and gets its data set as its
/// first message. Each mechanism gets one of its own, and all of them may differ by the distance at which the account
/// counts (\[HST+23\] Alg 2: what is composed may have inputs of its own).
///
/// ```
/// use odometry::continual::streams::Arriving;
/// use odometry::measures::{Basic, PrivacyMap, PureDp};
/// use odometry::odometer::{Measurement, Odometer, Records};
/// let people = Records::<u32>::new();
/// let map = PrivacyMap::per_record(PureDp, "0.5")?;
/// let count = Measurement::new("count", people, map, |data, _| Ok(data.len())); // yours adds noise
///
/// let later = Arriving::of(people);
/// let session = Odometer::new(later, Basic::new(PureDp)).filter(1, "1")?.invoke(())?;
/// let (monday, tuesday) = (session.launch(&later.once(&count))?, session.launch(&later.once(&count))?);
/// assert_eq!(monday.ask(vec![3, 1])?, 2);
/// assert_eq!(tuesday.ask(vec![4])?, 1);
/// assert!(monday.ask(vec![5]).is_err()); // once
/// assert!(session.launch(&later.once(&count)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Arriving<S>(S);

impl<S: Space> Arriving<S> {
    /// Data sets of this space.
    pub const fn of(space: S) -> Self {
        Self(space)
    }

    /// A noninteractive measurement as a mechanism that waits for its data, answers once and halts.
    pub fn once<M: Measure, A: 'static>(
        &self,
        measurement: &Measurement<S, M, A>,
    ) -> Measurement<Self, M, Queryable<S::Data, A>> {
        let inner = measurement.clone();
        self.like(measurement, move |_, scope: &mut Scope<'_>| {
            let inner = inner.clone();
            scope.spawn(machine(move |data: S::Data, scope: &mut Scope<'_>| {
                let data = arrived(&inner, data)?;
                scope.halt();
                inner.run(&data, scope)
            }))
        })
    }

    /// An interactive measurement as a mechanism that waits for its data, an update, and then takes questions. The update
    /// is answered with `None`; there is one.
    pub fn interactive<M: Measure, Q: 'static, A: 'static>(
        &self,
        measurement: &Measurement<S, M, Queryable<Q, A>>,
    ) -> Measurement<Self, M, Waiting<S, Q, A>> {
        let inner = measurement.clone();
        self.like(measurement, move |_, scope: &mut Scope<'_>| {
            let (inner, mut state) = (inner.clone(), State::Waiting);
            scope.spawn(machine(move |message, scope: &mut Scope<'_>| {
                match (message, &state) {
                    (StreamMessage::Question(question), State::Running(machine)) => {
                        machine.ask(question).map(Some)
                    }
                    (StreamMessage::Update(data), State::Waiting) => {
                        let data = arrived(&inner, data)?;
                        // Also if it fails: then the data were seen.
                        state = State::Failed;
                        state = State::Running(inner.run(&data, scope)?);
                        Ok(None)
                    }
                    (StreamMessage::Question(_), State::Waiting) => {
                        Err(AskError::invalid("the data have not arrived yet"))
                    }
                    (StreamMessage::Update(_), _) => {
                        Err(AskError::invalid("the data have arrived already"))
                    }
                    (_, State::Failed) => Err(AskError::Halted),
                }
            }))
        })
    }

    /// A measurement with the map and the description of another one.
    fn like<M, A, B, F>(
        &self,
        measurement: &Measurement<S, M, A>,
        function: F,
    ) -> Measurement<Self, M, B>
    where
        M: Measure,
        A: 'static,
        B: 'static,
        F: Fn(&Arc<()>, &mut Scope<'_>) -> Result<B, AskError> + Send + Sync + 'static,
    {
        let description = measurement.description();
        let (name, map) = (description.name.clone(), measurement.map().clone());
        let arriving = Measurement::new(name, self.clone(), map, function);
        let parameters = description.parameters.iter();
        parameters.fold(arriving, |arriving, (name, value)| {
            arriving.with_parameter(name.clone(), value)
        })
    }
}

/// A mechanism that waits for data of a space, and then takes questions.
pub type Waiting<S, Q, A> = Queryable<StreamMessage<<S as Space>::Data, Q>, Option<A>>;

enum State<Q, A> {
    Waiting,
    Running(Queryable<Q, A>),
    Failed,
}

/// The data, if they are in the measurement's space: that is not private.
fn arrived<S: Space, M: Measure, A: 'static>(
    measurement: &Measurement<S, M, A>,
    data: S::Data,
) -> Result<Arc<S::Data>, AskError> {
    match measurement.space().contains(&data) {
        true => Ok(Arc::new(data)),
        false => Err(AskError::invalid("the data are not in the space")),
    }
}

impl<S: Space> Space for Arriving<S> {
    type Data = ();
    type Distance = S::Distance;
    type Metric = S::Metric;

    fn metric(&self) -> &S::Metric {
        self.0.metric()
    }
}

impl<S: fmt::Debug> fmt::Debug for Arriving<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, arriving later", self.0)
    }
}
