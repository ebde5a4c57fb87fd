//! How queries get to the thread of an interactive OpenDP object, and answers back: as they are, if they may cross
//! threads; a measurement as its constructor; a queryable as a queryable of ours.

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

use super::host::{Host, Shelf, Shelved};
use crate::{
    constructor::Constructor,
    correspondence::Correspondence,
    distance::OpendpDistance,
    error::{BridgeError, at_release},
    measurement::TheirsIn,
    space::{OursOf, SharedDomain, SharedMetric},
};

mod sealed {
    /// Which queries may be sent is a matter of soundness: OpenDP's odometers and filters run a child before they look at
    /// what it costs, so nothing that enforces a budget by them may be sent children.
    pub trait Sealed {}
}
use sealed::Sealed;

/// How queries of the type `Q` get to OpenDP's thread: [`Plain`] or [`Built`].
///
/// There is none for the queries of OpenDP's privacy filters (`OdometerQuery`): those run a child before they check it.
pub trait Pose<Q>: Sealed + Clone + Send + Sync + 'static {
    /// What is asked on our side.
    type Ours: Send + 'static;

    /// Makes OpenDP's query, on OpenDP's thread.
    ///
    /// # Errors
    /// If there is no such query.
    #[doc(hidden)]
    fn pose(&self, query: Self::Ours, shelf: &Shelf) -> Result<Q, AskError>;

    /// Does OpenDP answer this query without reading data? Then an error tells nothing about them, and what was asked
    /// lives on. If in doubt, `false`.
    #[doc(hidden)]
    fn reads_no_data(&self, _query: &Q) -> bool {
        false
    }
}

/// How answers of the type `A` get back from OpenDP's thread.
pub trait Carry<A>: Clone + Send + Sync + 'static {
    /// What crosses.
    type Crossed: Send + 'static;
    /// What arrives.
    type Ours: 'static;

    /// Prepares an answer, on OpenDP's thread. What may not cross is left on the shelf.
    ///
    /// # Errors
    /// If the answer makes no sense.
    fn cross(&self, answer: A, shelf: &mut Shelf) -> Result<Self::Crossed, AskError>;

    /// Takes it over, on the thread of the one who asked.
    ///
    /// # Errors
    /// [`AskError::TooDeep`].
    fn land(
        &self,
        crossed: Self::Crossed,
        host: &Host,
        scope: &mut Scope<'_>,
    ) -> Result<Self::Ours, AskError>;
}

/// As it is: for whatever may cross threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Sealed for Plain {}

impl<Q: Send + 'static> Pose<Q> for Plain {
    type Ours = Q;

    fn pose(&self, query: Q, _: &Shelf) -> Result<Q, AskError> {
        Ok(query)
    }
}

impl<A: Send + 'static> Carry<A> for Plain {
    type Crossed = A;
    type Ours = A;

    fn cross(&self, answer: A, _: &mut Shelf) -> Result<A, AskError> {
        Ok(answer)
    }

    fn land(&self, crossed: A, _: &Host, _: &mut Scope<'_>) -> Result<A, AskError> {
        Ok(crossed)
    }
}

/// A query that is built on OpenDP's thread: a measurement, for OpenDP's compositors, which check it before they run it.
/// On our side it is a [`Constructor`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Built;

impl Sealed for Built {}

impl<DI, MI, MO, TO> Pose<TheirMeasurement<DI, MI, MO, TO>> for Built
where
    DI: TheirDomain + 'static,
    MI: TheirMetric + 'static,
    MO: TheirMeasure + 'static,
    TO: 'static,
    (DI, MI): MetricSpace,
{
    type Ours = Constructor<TheirMeasurement<DI, MI, MO, TO>>;

    fn pose(
        &self,
        query: Self::Ours,
        shelf: &Shelf,
    ) -> Result<TheirMeasurement<DI, MI, MO, TO>, AskError> {
        saying(shelf, shelf.build(&query)?)
    }
}

/// The same measurement, which says when it comes to data: a child that is refused has not read them, one that fails
/// has.
fn saying<DI, MI, MO, TO>(
    shelf: &Shelf,
    child: TheirMeasurement<DI, MI, MO, TO>,
) -> Result<TheirMeasurement<DI, MI, MO, TO>, AskError>
where
    DI: TheirDomain + 'static,
    MI: TheirMetric + 'static,
    MO: TheirMeasure + 'static,
    TO: 'static,
    (DI, MI): MetricSpace,
{
    let (reads, function) = (shelf.reads().clone(), child.function.clone());
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

/// An answer that is a queryable of OpenDP's: it stays on its thread, and a queryable of ours takes its place. Its
/// queries go by `P`, its answers come by `C`, which may be an `Interactive` again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interactive<P, C>(pub P, pub C);

impl<Q, A, P, C> Carry<TheirQueryable<Q, A>> for Interactive<P, C>
where
    Q: 'static,
    A: 'static,
    P: Pose<Q>,
    C: Carry<A>,
{
    type Crossed = u64;
    type Ours = Queryable<P::Ours, C::Ours>;

    fn cross(&self, answer: TheirQueryable<Q, A>, shelf: &mut Shelf) -> Result<u64, AskError> {
        Ok(shelf.put(answer))
    }

    fn land(
        &self,
        ticket: u64,
        host: &Host,
        scope: &mut Scope<'_>,
    ) -> Result<Self::Ours, AskError> {
        scope.spawn(Remote {
            how: self.clone(),
            shelved: Shelved::new(host, ticket),
            messages: PhantomData::<fn(Q) -> A>,
        })
    }
}

/// The machine of ours that stands for a queryable on the shelf.
///
/// OpenDP's compositors charge a child after it has run, so its failure would be free, and could be had again and again. An
/// error or a panic therefore ends the thread, and is always the same [`AskError::Halted`]: a child that was too expensive
/// looks the same whether it failed or was refused. A child that fails on data stops everything on those data, as a
/// transformation does: no charge pays for it.
struct Remote<P, C, M> {
    how: Interactive<P, C>,
    shelved: Shelved,
    messages: PhantomData<M>,
}

impl<Q, A, P, C> Machine for Remote<P, C, fn(Q) -> A>
where
    Q: 'static,
    A: 'static,
    P: Pose<Q>,
    C: Carry<A>,
{
    type Query = P::Ours;
    type Answer = C::Ours;

    fn step(&mut self, query: P::Ours, scope: &mut Scope<'_>) -> Result<C::Ours, AskError> {
        // What was handed out before the data were stopped would go on telling, child by child; so would asks that were
        // under way.
        let (how, ticket) = (self.how.clone(), self.shelved.ticket());
        let host = self.shelved.host();
        let failures = host.failures();
        failures.check()?;
        let reads = host.reads();
        let crossed = host.call(&reads, move |shelf| {
            let query = how.0.pose(query, shelf)?;
            let mut theirs = shelf
                .get::<TheirQueryable<Q, A>>(ticket)
                .cloned()
                .ok_or(AskError::Halted)?;
            match theirs.eval(&query) {
                Ok(answer) => how.1.cross(answer, shelf),
                Err(error) if how.0.reads_no_data(&query) => Err(at_release(&error)),
                Err(_) => {
                    shelf.close();
                    Err(AskError::Halted)
                }
            }
        });
        let crossed = crossed.flatten();
        if let Err(error) = &crossed
            && reads.have_begun()
        {
            failures.record("a child of an OpenDP object", error);
        }
        let crossed = match crossed {
            Err(AskError::Panicked) => return Err(AskError::Halted),
            _ if reads.have_begun() && failures.check().is_err() => return Err(AskError::Halted),
            crossed => crossed?,
        };
        self.how.1.land(crossed, host, scope)
    }
}

/// For OpenDP's odometers: launches go as constructors and their answers come by `R`; the loss is asked at an exact
/// distance and answered as an exact loss of the measure `C`.
///
/// Not for anybody else: it would bring over OpenDP's privacy filters, which run a child before they check it.
pub(crate) struct Metered<MI, C, R> {
    measure: C,
    answers: R,
    metric: PhantomData<fn() -> MI>,
}

impl<MI, C, R> Metered<MI, C, R> {
    /// In this measure, with answers that come by `answers`.
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

impl<DI, MI, C, R, TO> Pose<OdometerQuery<TheirsIn<DI, MI, C, TO>, MI::Distance>>
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

    fn pose(
        &self,
        query: Self::Ours,
        shelf: &Shelf,
    ) -> Result<OdometerQuery<TheirsIn<DI, MI, C, TO>, MI::Distance>, AskError> {
        Ok(match query {
            OdometerQuery::Invoke(constructor) => {
                OdometerQuery::Invoke(saying(shelf, shelf.build(&constructor)?)?)
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

impl<MI, C, R, A> Carry<OdometerAnswer<A, <C::Theirs as TheirMeasure>::Distance>>
    for Metered<MI, C, R>
where
    MI: 'static,
    C: Correspondence,
    R: Carry<A>,
{
    type Crossed = OdometerAnswer<R::Crossed, C::Loss>;
    type Ours = OdometerAnswer<R::Ours, C::Loss>;

    fn cross(
        &self,
        answer: OdometerAnswer<A, <C::Theirs as TheirMeasure>::Distance>,
        shelf: &mut Shelf,
    ) -> Result<Self::Crossed, AskError> {
        Ok(match answer {
            OdometerAnswer::Invoke(answer) => {
                OdometerAnswer::Invoke(self.answers.cross(answer, shelf)?)
            }
            OdometerAnswer::PrivacyLoss(d_out) => {
                let loss = self.measure.loss(&d_out);
                OdometerAnswer::PrivacyLoss(
                    loss.map_err(|error| AskError::failed(error.to_string()))?,
                )
            }
        })
    }

    fn land(
        &self,
        crossed: Self::Crossed,
        host: &Host,
        scope: &mut Scope<'_>,
    ) -> Result<Self::Ours, AskError> {
        Ok(match crossed {
            OdometerAnswer::Invoke(crossed) => {
                OdometerAnswer::Invoke(self.answers.land(crossed, host, scope)?)
            }
            OdometerAnswer::PrivacyLoss(loss) => OdometerAnswer::PrivacyLoss(loss),
        })
    }
}
