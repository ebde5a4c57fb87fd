//! How queries get to the thread of an interactive OpenDP object, and answers back: as they are, if they may cross
//! threads; a measurement as its constructor; a queryable as a queryable of ours.

use std::marker::PhantomData;

use opendp::{
    core::{Measurement as TheirMeasurement, OdometerAnswer, OdometerQuery},
    interactive::Queryable as TheirQueryable,
};
use queryable::{AskError, Machine, Queryable, Scope};

use super::host::{Host, Shelf, Shelved};
use crate::{
    constructor::Constructor,
    correspondence::Correspondence,
    distance::OpendpDistance,
    error::at_release,
    space::{SharedDomain, SharedMetric},
};

/// How queries of the type `Q` get to OpenDP's thread.
pub trait Pose<Q>: Clone + Send + Sync + 'static {
    /// What is asked on our side.
    type Ours: Send + 'static;

    /// Makes OpenDP's query, on OpenDP's thread.
    ///
    /// # Errors
    /// If there is no such query.
    fn pose(&self, query: Self::Ours) -> Result<Q, AskError>;

    /// Does OpenDP answer this query without reading data? Then an error tells nothing about them, and what was asked
    /// lives on. If in doubt, `false`.
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

impl<Q: Send + 'static> Pose<Q> for Plain {
    type Ours = Q;

    fn pose(&self, query: Q) -> Result<Q, AskError> {
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

/// A query that is built on OpenDP's thread: a measurement, for OpenDP's compositors. On our side it is a
/// [`Constructor`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Built;

impl<T: 'static> Pose<T> for Built {
    type Ours = Constructor<T>;

    fn pose(&self, query: Constructor<T>) -> Result<T, AskError> {
        Ok(query.build()?)
    }
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
/// OpenDP's compositors run a child before they check and charge it, so its failure would be free, and could be had again
/// and again. An error or a panic therefore ends the thread, and is always the same [`AskError::Halted`]: a child that was
/// too expensive looks the same whether it failed or was refused, and one that was not is within what the whole costs.
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
        let (how, ticket) = (self.how.clone(), self.shelved.ticket());
        let crossed = self.shelved.host().call(move |shelf| {
            let query = how.0.pose(query)?;
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
        let crossed = crossed.unwrap_or(Err(AskError::Halted))?;
        self.how.1.land(crossed, self.shelved.host(), scope)
    }
}

/// For OpenDP's odometers and privacy filters: launches go as constructors and their answers come by `R`; the loss is
/// asked at an exact distance and answered as an exact loss of the measure `C`.
pub struct Metered<MI, C, R> {
    measure: C,
    answers: R,
    metric: PhantomData<fn() -> MI>,
}

impl<MI, C, R> Metered<MI, C, R> {
    /// In this measure, with answers that come by `answers`.
    pub const fn new(measure: C, answers: R) -> Self {
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

impl<DI, MI, C, R, TO> Pose<OdometerQuery<TheirMeasurement<DI, MI, C::Theirs, TO>, MI::Distance>>
    for Metered<MI, C, R>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    R: Clone + Send + Sync + 'static,
    TO: 'static,
{
    type Ours = OdometerQuery<
        Constructor<TheirMeasurement<DI, MI, C::Theirs, TO>>,
        <MI::Distance as OpendpDistance>::Ours,
    >;

    fn pose(
        &self,
        query: Self::Ours,
    ) -> Result<OdometerQuery<TheirMeasurement<DI, MI, C::Theirs, TO>, MI::Distance>, AskError>
    {
        Ok(match query {
            OdometerQuery::Invoke(constructor) => OdometerQuery::Invoke(constructor.build()?),
            OdometerQuery::PrivacyLoss(d_in) => OdometerQuery::PrivacyLoss(
                MI::Distance::at_least(&d_in)
                    .map_err(|error| AskError::invalid(error.to_string()))?,
            ),
        })
    }

    fn reads_no_data(
        &self,
        query: &OdometerQuery<TheirMeasurement<DI, MI, C::Theirs, TO>, MI::Distance>,
    ) -> bool {
        matches!(query, OdometerQuery::PrivacyLoss(_))
    }
}

impl<MI, C, R, A> Carry<OdometerAnswer<A, <C::Theirs as opendp::core::Measure>::Distance>>
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
        answer: OdometerAnswer<A, <C::Theirs as opendp::core::Measure>::Distance>,
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
