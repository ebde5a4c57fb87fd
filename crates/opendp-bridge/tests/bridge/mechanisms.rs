//! Every mechanism of the OpenDP crate under `contrib` goes through the bridge.
//!
//! Not here, because they are behind other features: `make_alp_*` (`idealized-numerics`), `make_private_expr` and
//! `make_private_lazyframe` (`polars`), `make_user_measurement` (`ffi`). Combinators are in `combinators.rs`.

use std::collections::{HashMap, HashSet};

use opendp::{
    domains::{AtomDomain, BitVector, BitVectorDomain, MapDomain, VectorDomain},
    measurements::{
        Optimize, make_canonical_noise, make_gaussian, make_gaussian_threshold, make_geometric,
        make_laplace, make_laplace_threshold, make_noise, make_noise_threshold, make_noisy_max,
        make_noisy_top_k, make_private_quantile, make_randomized_response,
        make_randomized_response_bitvec, make_randomized_response_bool,
    },
    metrics::{
        AbsoluteDistance, DiscreteDistance, L0PInfDistance, L1Distance, L2Distance, LInfDistance,
        SymmetricDistance,
    },
};
use opendp_bridge::theirs::{Approximate, Concentrated, Pure};

use crate::support::{Any, through};

fn number() -> AtomDomain<f64> {
    AtomDomain::new_non_nan()
}

fn numbers() -> VectorDomain<AtomDomain<f64>> {
    VectorDomain::new(number())
}

#[test]
fn laplace() -> Result<(), Any> {
    let scalar =
        || make_laplace::<_, _, Pure>(number(), AbsoluteDistance::<f64>::default(), 2.0, None);
    through("laplace", scalar, 3.0, 1.0)?;
    let vector = || {
        let domain = VectorDomain::new(AtomDomain::<i32>::default());
        make_laplace::<_, _, Pure>(domain, L1Distance::<i32>::default(), 2.0, None)
    };
    assert_eq!(through("laplace", vector, vec![1, 2, 3], 1)?.len(), 3);
    Ok(())
}

#[test]
fn geometric() -> Result<(), Any> {
    let domain = AtomDomain::<i32>::default;
    let free = move || {
        make_geometric::<_, _, Pure>(domain(), AbsoluteDistance::<i32>::default(), 2.0, None)
    };
    through("geometric", free, 3, 1)?;
    let bounded = move || {
        make_geometric::<_, _, Pure>(
            domain(),
            AbsoluteDistance::<i32>::default(),
            2.0,
            Some((0, 10)),
        )
    };
    assert!((0..=10).contains(&through("geometric", bounded, 3, 1)?));
    Ok(())
}

#[test]
fn gaussian() -> Result<(), Any> {
    let scalar = || {
        make_gaussian::<_, _, Concentrated>(number(), AbsoluteDistance::<f64>::default(), 2.0, None)
    };
    through("gaussian", scalar, 3.0, 1.0)?;
    let vector =
        || make_gaussian::<_, _, Concentrated>(numbers(), L2Distance::<f64>::default(), 2.0, None);
    assert_eq!(through("gaussian", vector, vec![1.0, 2.0], 0.1)?.len(), 2);
    Ok(())
}

#[test]
fn noise_by_measure() -> Result<(), Any> {
    let domain = AtomDomain::<i64>::default;
    through(
        "noise",
        move || {
            make_noise(
                domain(),
                AbsoluteDistance::<i64>::default(),
                Pure,
                3.0,
                None,
            )
        },
        0,
        2,
    )?;
    through(
        "noise",
        move || {
            make_noise(
                domain(),
                AbsoluteDistance::<i64>::default(),
                Concentrated,
                3.0,
                None,
            )
        },
        0,
        2,
    )?;
    Ok(())
}

fn counts() -> MapDomain<AtomDomain<bool>, AtomDomain<i32>> {
    MapDomain::new(AtomDomain::default(), AtomDomain::default())
}

#[test]
fn thresholds() -> Result<(), Any> {
    let data = HashMap::from([(false, 0), (true, 100_000)]);
    let metric = || L0PInfDistance::<1, _>(AbsoluteDistance::<i32>::default());
    let laplace = move || {
        make_laplace_threshold::<_, _, Approximate<Pure>>(counts(), metric(), 1.0, 50, None)
    };
    let released = through("laplace threshold", laplace, data.clone(), (1, 1, 1))?;
    assert!(released.contains_key(&true) && !released.contains_key(&false));
    let noise = move || make_noise_threshold(counts(), metric(), Approximate(Pure), 1.0, 50, None);
    through("noise threshold", noise, data.clone(), (1, 1, 1))?;
    let gaussian = || {
        let metric = L0PInfDistance::<2, _>(AbsoluteDistance::<i32>::default());
        make_gaussian_threshold::<_, _, Approximate<Concentrated>>(counts(), metric, 1.0, 50, None)
    };
    through("gaussian threshold", gaussian, data, (1, 1, 1))?;
    Ok(())
}

#[test]
fn selection() -> Result<(), Any> {
    let scores = vec![0.0, 1000.0, 2.0];
    let metric = LInfDistance::<f64>::default;
    let best = move || make_noisy_max(numbers(), metric(), Pure, 1.0, false);
    assert_eq!(through("noisy max", best, scores.clone(), 1.0)?, 1);
    let best = move || make_noisy_max(numbers(), metric(), Concentrated, 1.0, false);
    assert_eq!(through("noisy max", best, scores.clone(), 1.0)?, 1);
    let two = move || make_noisy_top_k(numbers(), metric(), Pure, 2, 1.0, false);
    assert_eq!(through("noisy top k", two, scores.clone(), 1.0)?[0], 1);
    #[allow(deprecated, reason = "it still yields a measurement")]
    let gumbel = move || {
        opendp::measurements::make_report_noisy_max_gumbel(numbers(), metric(), 1.0, Optimize::Max)
    };
    assert_eq!(through("report noisy max", gumbel, scores, 1.0)?, 1);
    Ok(())
}

#[test]
fn quantile() -> Result<(), Any> {
    let median = || {
        let domain = VectorDomain::new(AtomDomain::<i32>::default());
        make_private_quantile(domain, SymmetricDistance, Pure, vec![0, 50, 100], 0.5, 1.0)
    };
    let found = through("quantile", median, (0..1000).map(|i| i % 101).collect(), 1)?;
    assert_eq!(found, 50);
    Ok(())
}

#[test]
fn randomized_response() -> Result<(), Any> {
    through(
        "coin",
        || make_randomized_response_bool(0.75, false),
        true,
        1,
    )?;
    let colours = || {
        make_randomized_response(
            HashSet::from(["red", "green", "blue"].map(String::from)),
            0.8,
        )
    };
    through("colours", colours, "red".to_string(), 1)?;
    let bits = || {
        let domain = BitVectorDomain::new().with_max_weight(8);
        make_randomized_response_bitvec(domain, DiscreteDistance, 0.5, false)
    };
    let released = through("bits", bits, BitVector::repeat(true, 8), 1)?;
    assert_eq!(released.len(), 8);
    Ok(())
}

#[test]
fn canonical_noise() -> Result<(), Any> {
    let canonical = || {
        make_canonical_noise(
            number(),
            AbsoluteDistance::<f64>::default(),
            1.0,
            (1.0, 1e-5),
        )
    };
    through("canonical noise", canonical, 3.0, 1.0)?;
    Ok(())
}
