//! OpenDP does not know our queryables, so its sequential compositors cannot lock them: after the parent has moved on, a
//! child of ours would go on answering. The canary is an OpenDP queryable born beside it. OpenDP wraps that one, at birth,
//! with the checks of every compositor above; each question to the child goes through the canary first, and what OpenDP
//! spawns meanwhile inherits the same checks.

use std::{cell::RefCell, rc::Rc};

use opendp::{
    combinators::make_fully_adaptive_composition,
    core::{Function, Measurement, OdometerQueryable, PrivacyMap},
    domains::AtomDomain,
    error::Fallible,
    metrics::DiscreteDistance,
};
use queryable::AskError;

use crate::measures::theirs::Pure;

type Nothing = Measurement<AtomDomain<bool>, DiscreteDistance, Pure, ()>;
type Job = Box<dyn FnOnce()>;

/// Tells whether OpenDP's compositors above would still answer. Bound to its thread, like everything of OpenDP's.
#[derive(Clone)]
pub struct Canary {
    /// An odometer without data, with one launch of loss zero. Its privacy map does the job: so the job runs inside of
    /// all wrappers, and nothing grows.
    odometer: OdometerQueryable<Nothing, (), u32, f64>,
    job: Rc<RefCell<Option<Job>>>,
}

impl Canary {
    /// A canary under the compositors that are at work now: to be called in the function of an OpenDP measurement.
    pub(crate) fn hatch() -> Fallible<Self> {
        let (domain, metric) = (AtomDomain::<bool>::default(), DiscreteDistance);
        let mut odometer = make_fully_adaptive_composition(domain.clone(), metric.clone(), Pure)?
            .invoke(&false)?;
        let job: Rc<RefCell<Option<Job>>> = Rc::default();
        let todo = Rc::clone(&job);
        let work = PrivacyMap::new(move |_: &u32| {
            let job = todo.borrow_mut().take();
            if let Some(job) = job {
                job();
            }
            0.0
        });
        odometer.invoke(Measurement::new(
            domain,
            metric,
            Pure,
            Function::new(|_: &bool| ()),
            work,
        )?)?;
        Ok(Self { odometer, job })
    }

    /// Does a job, if every compositor above agrees.
    ///
    /// # Errors
    /// [`AskError::OutOfTurn`] if not. The job was not done then (or, under a wrapper that checks afterwards, what it gave
    /// is withheld).
    pub(crate) fn run<R: 'static>(&self, job: impl FnOnce() -> R + 'static) -> Result<R, AskError> {
        let done = Rc::new(RefCell::new(None));
        let answer = Rc::clone(&done);
        *self.job.borrow_mut() = Some(Box::new(move || {
            let result = job();
            *answer.borrow_mut() = Some(result);
        }));
        let agreed = self.odometer.clone().privacy_loss(0).is_ok();
        let undone = self.job.borrow_mut().take();
        drop(undone);
        match done.borrow_mut().take() {
            Some(result) if agreed => Ok(result),
            _ => Err(AskError::OutOfTurn),
        }
    }
}
