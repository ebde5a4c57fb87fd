//! Scales of OpenDP's noise that are chosen for a budget.

use std::cell::Cell;

use opendp::{
    core::Measurement,
    domains::{AtomDomain, VectorDomain},
    err,
    error::{ErrorVariant, Fallible},
    fallible,
    measurements::{make_gaussian, make_laplace},
    metrics::{AbsoluteDistance, SymmetricDistance},
    transformations::make_sum,
};
use opendp_bridge::{
    SCALE_BITS, calibrated,
    theirs::{Concentrated, Pure},
};

type Noisy<M> = Measurement<VectorDomain<AtomDomain<i32>>, SymmetricDistance, M, i32>;

fn laplace(scale: f64) -> Fallible<Noisy<Pure>> {
    let numbers = VectorDomain::new(AtomDomain::new_closed((0, 7))?);
    let change = AbsoluteDistance::<i32>::default();
    make_sum(numbers, SymmetricDistance)?
        >> make_laplace::<_, _, Pure>(AtomDomain::default(), change, scale, None)?
}

fn gaussian(scale: f64) -> Fallible<Noisy<Concentrated>> {
    let numbers = VectorDomain::new(AtomDomain::new_closed((0, 7))?);
    let change = AbsoluteDistance::<i32>::default();
    make_sum(numbers, SymmetricDistance)?
        >> make_gaussian::<_, _, Concentrated>(AtomDomain::default(), change, scale, None)?
}

/// Within the budget, and by no more than a step of the scale; rho falls with its square.
fn is_nearly(spent: f64, budget: f64) {
    let step = 2f64.powi(1 - SCALE_BITS as i32);
    let least = budget * (1.0 - 3.0 * step);
    assert!(spent <= budget && spent >= least, "{spent} of {budget}");
}

#[test]
fn the_least_scale_is_found() -> Fallible<()> {
    for (text, budget) in [("0.3", 0.3), ("1", 1.0), ("1e-9", 1e-9), ("1e9", 1e9)] {
        is_nearly(calibrated(2, text, laplace)?.map(&2)?, budget);
        is_nearly(calibrated(1, text, gaussian)?.map(&1)?, budget);
    }
    let asked = Cell::new(0);
    let counting = |scale| {
        asked.set(asked.get() + 1);
        laplace(scale)
    };
    assert_eq!(calibrated(1, "0.5", counting)?.map(&1)?, 0.5); // scale 14
    assert!(asked.get() <= 60, "{}", asked.get());
    Ok(())
}

#[test]
fn what_has_no_least_scale_is_an_error() {
    let refused = |d_in: u32, budget: &str, said: &str| {
        let error = calibrated(d_in, budget, laplace).err().unwrap();
        let text = error.message.unwrap_or_default();
        assert!(text.contains(said), "{d_in}, {budget}: {text}");
    };
    assert!(calibrated(1, "0", laplace).is_err());
    refused(0, "1", "every scale");
    refused(1, "inf", "every scale");
    let never = |_: f64| -> Fallible<Noisy<Pure>> { fallible!(MakeMeasurement, "out of paper") };
    let error = calibrated(1, "1", never).err().unwrap();
    assert_eq!(error.variant, ErrorVariant::MakeMeasurement);
    assert_eq!(error.message.as_deref(), Some("out of paper"));
}

#[test]
fn a_budget_that_is_no_loss_is_an_error_before_anything_is_built() {
    let built = Cell::new(0);
    let counting = |scale| {
        built.set(built.get() + 1);
        laplace(scale)
    };
    for bad in ["", "-1", "NaN", "0,5", "1/3", "(1, 0)"] {
        let error = calibrated(1, bad, counting).err().unwrap();
        assert_eq!(error.variant, ErrorVariant::FailedMap);
        let text = error.message.unwrap_or_default();
        assert!(text.contains("such as 0.5"), "{bad:?}: {text}");
    }
    assert_eq!(built.get(), 0);
}
