//! Every combinator of the OpenDP crate under `contrib` that yields a measurement goes through the bridge. Interactive
//! ones are in `interactive.rs`.
//!
//! Not here, because it is behind another feature: `make_population_amplification` (`honest-but-curious`).
//! `make_zCDP_to_approxDP` and `make_fixed_approxDP_to_approxDP` give privacy profiles, which OpenDP cannot compose and
//! which have no loss of ours: they go through with their δ fixed.

use opendp::{
    combinators::{
        make_approximate, make_composition, make_fix_delta, make_fixed_approxDP_to_approxDP,
        make_pureDP_to_zCDP, make_select_private_candidate, make_zCDP_to_approxDP,
    },
    core::{Function, Measurement, PrivacyMap},
    domains::{AtomDomain, VectorDomain},
    measurements::{make_gaussian, make_laplace, make_randomized_response_bool},
    metrics::{AbsoluteDistance, DiscreteDistance, SymmetricDistance},
    transformations::{make_clamp, make_sum},
};
use opendp_bridge::theirs::{Concentrated, Pure};

use crate::support::{Any, Coin, through};

type Fallible<T> = opendp::error::Fallible<T>;
type Gaussian = Measurement<AtomDomain<f64>, AbsoluteDistance<f64>, Concentrated, f64>;

fn gaussian() -> Fallible<Gaussian> {
    let domain = AtomDomain::<f64>::new_non_nan();
    make_gaussian(domain, AbsoluteDistance::<f64>::default(), 4.0, None)
}

fn coin() -> Fallible<Coin> {
    make_randomized_response_bool(0.75, false)
}

#[test]
fn chains() -> Result<(), Any> {
    let noisy_sum = || {
        let domain = VectorDomain::new(AtomDomain::<i32>::default());
        let clamp = make_clamp(domain, SymmetricDistance, (0, 10))?;
        let bounded = VectorDomain::new(AtomDomain::new_closed((0, 10))?);
        let sum = make_sum(bounded, SymmetricDistance)?;
        let noise = make_laplace::<_, _, Pure>(
            AtomDomain::<i32>::default(),
            AbsoluteDistance::<i32>::default(),
            1.0,
            None,
        )?;
        (clamp >> sum)? >> noise >> Function::new(|x: &i32| format!("about {x}"))
    };
    let text = through("noisy sum", noisy_sum, vec![5; 100], 2)?;
    assert!(text.starts_with("about "));
    Ok(())
}

#[test]
fn composition() -> Result<(), Any> {
    let three = || make_composition(vec![coin()?, coin()?, coin()?]);
    assert_eq!(through("three coins", three, true, 1)?.len(), 3);
    #[allow(deprecated, reason = "it still yields a measurement")]
    let two = || opendp::combinators::make_basic_composition(vec![coin()?, coin()?]);
    assert_eq!(through("two coins", two, true, 1)?.len(), 2);
    let sequential = || {
        let approximate = || make_approximate(gaussian()?);
        make_composition(vec![approximate()?, approximate()?])
    };
    assert_eq!(through("two gaussians", sequential, 1.0, 1.0)?.len(), 2);
    Ok(())
}

#[test]
fn private_selection() -> Result<(), Any> {
    let select = || {
        let score = Measurement::new(
            AtomDomain::<bool>::default(),
            DiscreteDistance,
            Pure,
            Function::new(|answer: &bool| (1.0, *answer)),
            PrivacyMap::new(|d_in: &u32| f64::from(*d_in)),
        )?;
        make_select_private_candidate(score, 0.5, 0.0)
    };
    assert_eq!(through("selection", select, true, 1)?, Some((1.0, true)));
    Ok(())
}

#[test]
fn casts_between_measures() -> Result<(), Any> {
    through("coin", || make_approximate(coin()?), true, 1)?;
    through("coin", || make_pureDP_to_zCDP(coin()?), true, 1)?;
    through("gaussian", || make_approximate(gaussian()?), 1.0, 2.0)?;
    let fixed = || make_fix_delta(&make_zCDP_to_approxDP(gaussian()?)?, 1e-6);
    through("gaussian", fixed, 1.0, 1.0)?;
    let fixed = || {
        make_fix_delta(
            &make_zCDP_to_approxDP(make_approximate(gaussian()?)?)?,
            1e-6,
        )
    };
    through("gaussian", fixed, 1.0, 1.0)?;
    let there_and_back = || {
        make_fix_delta(
            &make_fixed_approxDP_to_approxDP(make_approximate(coin()?)?)?,
            0.0,
        )
    };
    through("coin", there_and_back, true, 1)?;
    Ok(())
}
