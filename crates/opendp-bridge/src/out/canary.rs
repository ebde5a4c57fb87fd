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
    /// If not: nothing was done, or, under a wrapper that checks afterwards, what the job gave is withheld.
    pub(crate) fn run<R: 'static>(&self, job: impl FnOnce() -> R + 'static) -> Result<R, NoTurn> {
        let done = Rc::new(RefCell::new(None));
        let answer = Rc::clone(&done);
        *self.job.borrow_mut() = Some(Box::new(move || {
            let result = job();
            *answer.borrow_mut() = Some(result);
        }));
        let agreed = self.odometer.clone().privacy_loss(0).is_ok();
        let undone = self.job.borrow_mut().take();
        drop(undone);
        let result = done.borrow_mut().take();
        match result {
            Some(result) if agreed => Ok(result),
            Some(_) => Err(NoTurn::Withheld),
            None => Err(NoTurn::Undone),
        }
    }
}

/// A compositor above has moved on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTurn {
    /// The job was not done.
    Undone,
    /// The job was done: whatever it charged is charged.
    Withheld,
}

#[cfg(test)]
mod tests {
    use measures::{Basic, PrivacyMap as OurMap, PureDp};
    use odometer::{LaunchError, Measurement as OurMeasurement, Odometer};
    use opendp::{
        core::OdometerQuery,
        interactive::{FromPolyQueryable, IntoPolyQueryable, Queryable as TheirQueryable},
    };
    use queryable::AskError;

    use super::*;
    use crate::{out::Guard, space};

    /// A canary under a wrapper that lets everything through, and refuses afterwards.
    fn refusing_afterwards() -> Canary {
        let mut canary = Canary::hatch().unwrap();
        // No answer of an odometer is a `u8`.
        let wrong = TheirQueryable::<OdometerQuery<Nothing, u32>, u8>::from_poly(
            canary.odometer.into_poly(),
        );
        canary.odometer = OdometerQueryable::from_poly(wrong.into_poly());
        canary
    }

    #[test]
    fn done_and_withheld_is_not_undone() {
        assert_eq!(Canary::hatch().unwrap().run(|| 7), Ok(7));
        let ran = Rc::new(RefCell::new(false));
        let seen = Rc::clone(&ran);
        let outcome = refusing_afterwards().run(move || *seen.borrow_mut() = true);
        assert_eq!((outcome, *ran.borrow()), (Err(NoTurn::Withheld), true));
    }

    #[test]
    fn a_withheld_launch_says_that_it_was_charged() {
        let space = space(AtomDomain::<bool>::default(), DiscreteDistance).unwrap();
        let map = OurMap::linear(space.metric.clone(), PureDp, "0.5".parse().unwrap());
        let truth = OurMeasurement::new("truth", space.clone(), map, |data, _| Ok(**data));
        let session = Odometer::new(space, Basic::new(PureDp)).open(true).unwrap();
        let guarded = session.clone().guard(&refusing_afterwards());
        assert_eq!(
            guarded.launch(&truth),
            Err(LaunchError::Failed(AskError::OutOfTurn))
        );
        assert_eq!(session.privacy_loss(&1).unwrap().to_string(), "0.5");
    }
}
