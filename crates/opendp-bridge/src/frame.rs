//! Running OpenDP's code on threads that go on living.
//!
//! OpenDP keeps one thing per thread: the *wrapper*, which it applies to every queryable that it makes, so that
//! compositors can watch over what their children spawn. A compositor sets it while a child runs, and puts back what was
//! there before; but a panic that unwinds through OpenDP leaves it behind, and from then on strangers are wrapped. So
//! everything here runs inside of a wrapper of our own, from which no panic escapes: then OpenDP itself puts back what
//! was there before, and one panic costs the thread nothing.

use std::{cell::RefCell, marker::PhantomData};

use opendp::{
    core::{Domain, Function, Measurement, PrivacyMap},
    domains::VectorDomain,
    error::Fallible,
    interactive::Wrapper,
    metrics::SymmetricDistance,
};
use queryable::{AskError, guarded};

use crate::measures::theirs::Pure;

/// Runs OpenDP's code. It may use no session and no queryable of ours, because it may see data.
///
/// # Errors
/// [`AskError::Panicked`].
pub(crate) fn framed<R>(work: impl FnOnce() -> R) -> Result<R, AskError> {
    let (mut work, mut done) = (Some(work), Err(AskError::Panicked));
    let mut job = || {
        if let Some(work) = work.take() {
            done = guarded(work);
        }
    };
    wrapped(Wrapper::new(Ok), &mut job);
    done
}

/// Does a job that does not panic, with this wrapper for whatever OpenDP makes meanwhile.
pub(crate) fn wrapped(wrapper: Wrapper, job: &mut dyn FnMut()) {
    // OpenDP sets wrappers only while it invokes measurements. This one's data are the job.
    let call = Measurement::new(
        VectorDomain::new(Jobs(PhantomData)),
        SymmetricDistance,
        Pure,
        Function::new(|jobs: &Vec<Job<'_>>| {
            for job in jobs {
                (*job.borrow_mut())();
            }
        }),
        PrivacyMap::new(|_: &u32| f64::INFINITY),
    );
    if let Ok(call) = call {
        // The function does not fail.
        let _ = call.invoke_wrap(&vec![RefCell::new(job)], Some(wrapper));
    }
}

type Job<'a> = RefCell<&'a mut dyn FnMut()>;

/// The domain of jobs.
#[derive(Clone, Debug, PartialEq)]
struct Jobs<'a>(PhantomData<fn(&'a ())>);

impl<'a> Domain for Jobs<'a> {
    type Carrier = Job<'a>;

    fn member(&self, _: &Job<'a>) -> Fallible<bool> {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use opendp::{err, fallible};

    use super::*;
    use crate::out::TurnProbe;

    /// A wrapper under which OpenDP makes no queryables.
    fn refusing() -> Wrapper {
        Wrapper::new(|_| fallible!(FailedFunction, "no"))
    }

    fn panic_through_opendp() {
        wrapped(refusing(), &mut || panic!("through OpenDP"));
    }

    #[test]
    fn a_panic_leaves_no_wrapper_behind() {
        assert_eq!(framed(|| 7), Ok(7));
        assert_eq!(framed(panic_through_opendp), Err(AskError::Panicked));
        assert!(TurnProbe::new().is_ok());

        // Without a frame it stays: this is what frames are for.
        let careless = || guarded(panic_through_opendp).is_err() && TurnProbe::new().is_err();
        assert!(std::thread::spawn(careless).join().unwrap());
    }

    #[test]
    fn a_frame_keeps_the_wrapper_that_it_is_in() {
        let mut made = None;
        let mut make = || made = Some(framed(TurnProbe::new).unwrap().is_ok());
        wrapped(refusing(), &mut make);
        assert_eq!(made, Some(false));
    }
}
