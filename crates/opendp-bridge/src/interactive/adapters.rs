//! Adapters between our messages and OpenDP's. A query is decoded on the thread of the OpenDP object. Its answer is encoded
//! there, and decoded on the thread of the caller.
//!
//! | adapter | our query | OpenDP's query | OpenDP's answer | our answer |
//! |---|---|---|---|---|
//! | [`Plain`] | a value that is `Send` | the same | a value that is `Send` | the same |
//! | [`Built`] | a [`Constructor`] | the measurement that it builds | – | – |
//! | [`Interactive`] | – | – | a queryable, which stays in the [`ObjectTable`] | a [`Queryable`] over [`Remote`] |
//! | [`Metered`] | a launch, or a distance | the same in OpenDP's types | an answer, or a loss | the same in our types |

use std::marker::PhantomData;

use opendp::{
    core::{
        Domain as TheirDomain, Function, Measure as TheirMeasure, Measurement as TheirMeasurement,
        Metric as TheirMetric, MetricSpace, OdometerAnswer, OdometerQuery,
    },
    error::ErrorVariant,
    interactive::Queryable as TheirQueryable,
};
use queryable::{AskError, Machine, Queryable, Scope};

use super::channel::{Channel, ObjectTable, StoredObject};
use crate::{
    constructor::Constructor,
    correspondence::Correspondence,
    distance::OpendpDistance,
    error::{BridgeError, at_release},
    measurement::TheirsIn,
    space::{OursOf, SharedDomain, SharedMetric},
};

mod sealed {
    /// The implementations decide which queries can be sent. That is a matter of soundness: OpenDP's odometers and filters
    /// run a child before they check its cost, so an object that enforces a budget by them must not receive children.
    pub trait Sealed {}
}
use sealed::Sealed;

/// An adapter for queries of the type `Q`, which an OpenDP object answers: [`Plain`] or [`Built`]. Sealed.
///
/// No adapter sends queries to OpenDP's privacy filters (`OdometerQuery`): those run a child before they check its cost.
pub trait QueryAdapter<Q>: Sealed + Clone + Send + Sync + 'static {
    /// The query on our side.
    type Ours: Send + 'static;

    /// Makes OpenDP's query, on the thread of the object.
    ///
    /// # Errors
    /// If there is no such query.
    #[doc(hidden)]
    fn decode_query(&self, query: Self::Ours, objects: &ObjectTable) -> Result<Q, AskError>;

    /// Whether OpenDP answers this query without reading data. If so, an error reveals nothing about them, and the object
    /// stays usable. If in doubt, `false`.
    #[doc(hidden)]
    fn reads_no_data(&self, _query: &Q) -> bool {
        false
    }
}

/// An adapter for answers of the type `A`, which an OpenDP object gives: [`Plain`] or [`Interactive`]. Sealed.
pub trait AnswerAdapter<A>: Sealed + Clone + Send + Sync + 'static {
    /// The encoded answer, which is sent to the caller's thread.
    #[doc(hidden)]
    type Message: Send + 'static;
    /// The answer on our side.
    type Ours: 'static;

    /// Encodes an answer, on the thread of the object. A part that is not `Send` stays in the table.
    ///
    /// # Errors
    /// If the answer makes no sense.
    #[doc(hidden)]
    fn encode_answer(
        &self,
        answer: A,
        objects: &mut ObjectTable,
    ) -> Result<Self::Message, AskError>;

    /// Makes our answer, on the thread of the caller.
    ///
    /// # Errors
    /// [`AskError::TooDeep`].
    #[doc(hidden)]
    fn decode_answer(
        &self,
        message: Self::Message,
        channel: &Channel,
        scope: &mut Scope<'_>,
    ) -> Result<Self::Ours, AskError>;
}

/// Messages that are `Send` are sent unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Sealed for Plain {}

impl<Q: Send + 'static> QueryAdapter<Q> for Plain {
    type Ours = Q;

    /// The object's own code answers it, which may read data right away.
    fn decode_query(&self, query: Q, objects: &ObjectTable) -> Result<Q, AskError> {
        objects.reads().begin()?;
        Ok(query)
    }
}

impl<A: Send + 'static> AnswerAdapter<A> for Plain {
    type Message = A;
    type Ours = A;

    fn encode_answer(&self, answer: A, _: &mut ObjectTable) -> Result<A, AskError> {
        Ok(answer)
    }

    fn decode_answer(&self, message: A, _: &Channel, _: &mut Scope<'_>) -> Result<A, AskError> {
        Ok(message)
    }
}

/// A query that is a measurement, for OpenDP's compositors, which check it before they run it. It is sent as a
/// [`Constructor`], and built on the thread of the object.
#[derive(Clone, Copy, Debug, Default)]
pub struct Built;

impl Sealed for Built {}

impl<DI, MI, MO, TO> QueryAdapter<TheirMeasurement<DI, MI, MO, TO>> for Built
where
    DI: TheirDomain + 'static,
    MI: TheirMetric + 'static,
    MO: TheirMeasure + 'static,
    TO: 'static,
    (DI, MI): MetricSpace,
{
    type Ours = Constructor<TheirMeasurement<DI, MI, MO, TO>>;

    fn decode_query(
        &self,
        query: Self::Ours,
        objects: &ObjectTable,
    ) -> Result<TheirMeasurement<DI, MI, MO, TO>, AskError> {
        recording_reads(objects, objects.build(&query)?)
    }
}

/// The same measurement, whose function records that it reads data before it does: a refused child has not read them, a
/// failed one may have.
fn recording_reads<DI, MI, MO, TO>(
    objects: &ObjectTable,
    child: TheirMeasurement<DI, MI, MO, TO>,
) -> Result<TheirMeasurement<DI, MI, MO, TO>, AskError>
where
    DI: TheirDomain + 'static,
    MI: TheirMetric + 'static,
    MO: TheirMeasure + 'static,
    TO: 'static,
    (DI, MI): MetricSpace,
{
    let (reads, function) = (objects.reads().clone(), child.function.clone());
    let function = move |data: &DI::Carrier| {
        reads.begin().map_err(|_| ErrorVariant::FailedFunction)?;
        function.eval(data)
    };
    let child = TheirMeasurement::new(
        child.input_domain.clone(),
        child.input_metric.clone(),
        child.output_measure.clone(),
        Function::new_fallible(function),
        child.privacy_map.clone(),
    );
    Ok(child.map_err(BridgeError::from)?)
}

/// An answer that is one of OpenDP's queryables: it stays on its thread, and the caller gets one of our queryables, which
/// sends messages to it. `P` adapts its queries, and `C` its answers; `C` may be an `Interactive` again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interactive<P, C>(pub P, pub C);

impl<P, C> Sealed for Interactive<P, C> {}

impl<Q, A, P, C> AnswerAdapter<TheirQueryable<Q, A>> for Interactive<P, C>
where
    Q: 'static,
    A: 'static,
    P: QueryAdapter<Q>,
    C: AnswerAdapter<A>,
{
    type Message = u64;
    type Ours = Queryable<P::Ours, C::Ours>;

    fn encode_answer(
        &self,
        answer: TheirQueryable<Q, A>,
        objects: &mut ObjectTable,
    ) -> Result<u64, AskError> {
        Ok(objects.put(answer))
    }

    fn decode_answer(
        &self,
        id: u64,
        channel: &Channel,
        scope: &mut Scope<'_>,
    ) -> Result<Self::Ours, AskError> {
        scope.spawn(Remote {
            how: self.clone(),
            object: StoredObject::new(channel, id),
            messages: PhantomData::<fn(Q) -> A>,
        })
    }
}

/// Our machine that sends messages to a queryable in the object table.
///
/// OpenDP's compositors charge a child after it has run, so a failing child is free, and could be launched again and again.
/// Therefore an error or a panic ends the thread, and the answer is always [`AskError::Halted`]: a child that is too
/// expensive looks the same whether it failed or was refused. A child that fails on data stops all launches on those data, as
/// a transformation does: no charge pays for its failure.
struct Remote<P, C, M> {
    how: Interactive<P, C>,
    object: StoredObject,
    messages: PhantomData<M>,
}

impl<Q, A, P, C> Machine for Remote<P, C, fn(Q) -> A>
where
    Q: 'static,
    A: 'static,
    P: QueryAdapter<Q>,
    C: AnswerAdapter<A>,
{
    type Query = P::Ours;
    type Answer = C::Ours;

    fn step(&mut self, query: P::Ours, scope: &mut Scope<'_>) -> Result<C::Ours, AskError> {
        // After a failure on the data, objects that were made before could reveal more, child by child. So could a question
        // that is under way: its answer is checked again below.
        let (how, id) = (self.how.clone(), self.object.id());
        let channel = self.object.channel();
        let failures = channel.failures();
        failures.check()?;
        let reads = channel.reads();
        let message = channel.call(&reads, move |objects| {
            let query = how.0.decode_query(query, objects)?;
            let mut theirs = objects
                .get::<TheirQueryable<Q, A>>(id)
                .cloned()
                .ok_or(AskError::Halted)?;
            match theirs.eval(&query) {
                Ok(answer) => how.1.encode_answer(answer, objects),
                Err(error) if how.0.reads_no_data(&query) => Err(at_release(&error)),
                Err(_) => {
                    objects.close();
                    Err(AskError::Halted)
                }
            }
        });
        let message = message.flatten();
        if let Err(error) = &message
            && reads.have_begun()
        {
            failures.record("a child of an OpenDP object", error);
        }
        let message = match message {
            Err(AskError::Panicked) => return Err(AskError::Halted),
            _ if reads.have_begun() && failures.check().is_err() => return Err(AskError::Halted),
            message => message?,
        };
        self.how.1.decode_answer(message, channel, scope)
    }
}

/// An adapter for OpenDP's odometers. A launch is sent as a constructor, and `R` adapts its answer. A loss is asked at an
/// exact distance, and answered as an exact loss of the measure `C`.
///
/// Private: with it, OpenDP's privacy filters could be imported, which run a child before they check its cost.
pub(crate) struct Metered<MI, C, R> {
    measure: C,
    answers: R,
    metric: PhantomData<fn() -> MI>,
}

impl<MI, C, R> Metered<MI, C, R> {
    /// In this measure. `answers` adapts the answers of launches.
    pub(crate) const fn new(measure: C, answers: R) -> Self {
        Self {
            measure,
            answers,
            metric: PhantomData,
        }
    }
}

impl<MI, C: Clone, R: Clone> Clone for Metered<MI, C, R> {
    fn clone(&self) -> Self {
        Self::new(self.measure.clone(), self.answers.clone())
    }
}

impl<MI, C, R> Sealed for Metered<MI, C, R> {}

impl<DI, MI, C, R, TO> QueryAdapter<OdometerQuery<TheirsIn<DI, MI, C, TO>, MI::Distance>>
    for Metered<MI, C, R>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    R: Clone + Send + Sync + 'static,
    TO: 'static,
    (DI, MI): MetricSpace,
{
    type Ours = OdometerQuery<Constructor<TheirsIn<DI, MI, C, TO>>, OursOf<MI>>;

    fn decode_query(
        &self,
        query: Self::Ours,
        objects: &ObjectTable,
    ) -> Result<OdometerQuery<TheirsIn<DI, MI, C, TO>, MI::Distance>, AskError> {
        Ok(match query {
            OdometerQuery::Invoke(constructor) => {
                OdometerQuery::Invoke(recording_reads(objects, objects.build(&constructor)?)?)
            }
            OdometerQuery::PrivacyLoss(d_in) => OdometerQuery::PrivacyLoss(
                MI::Distance::at_least(&d_in)
                    .map_err(|error| AskError::invalid(error.to_string()))?,
            ),
        })
    }

    fn reads_no_data(&self, query: &OdometerQuery<TheirsIn<DI, MI, C, TO>, MI::Distance>) -> bool {
        matches!(query, OdometerQuery::PrivacyLoss(_))
    }
}

impl<MI, C, R, A> AnswerAdapter<OdometerAnswer<A, <C::Theirs as TheirMeasure>::Distance>>
    for Metered<MI, C, R>
where
    MI: 'static,
    C: Correspondence,
    R: AnswerAdapter<A>,
{
    type Message = OdometerAnswer<R::Message, C::Loss>;
    type Ours = OdometerAnswer<R::Ours, C::Loss>;

    fn encode_answer(
        &self,
        answer: OdometerAnswer<A, <C::Theirs as TheirMeasure>::Distance>,
        objects: &mut ObjectTable,
    ) -> Result<Self::Message, AskError> {
        Ok(match answer {
            OdometerAnswer::Invoke(answer) => {
                OdometerAnswer::Invoke(self.answers.encode_answer(answer, objects)?)
            }
            OdometerAnswer::PrivacyLoss(d_out) => {
                let loss = self.measure.loss(&d_out);
                OdometerAnswer::PrivacyLoss(
                    loss.map_err(|error| AskError::failed(error.to_string()))?,
                )
            }
        })
    }

    fn decode_answer(
        &self,
        message: Self::Message,
        channel: &Channel,
        scope: &mut Scope<'_>,
    ) -> Result<Self::Ours, AskError> {
        Ok(match message {
            OdometerAnswer::Invoke(message) => {
                OdometerAnswer::Invoke(self.answers.decode_answer(message, channel, scope)?)
            }
            OdometerAnswer::PrivacyLoss(loss) => OdometerAnswer::PrivacyLoss(loss),
        })
    }
}
