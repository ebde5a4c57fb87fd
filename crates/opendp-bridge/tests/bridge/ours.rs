//! Mechanisms of ours on OpenDP's data: vectors, counters, monitors, weights, randomized response.

use measures::{Basic, L1Distance, L2Distance, PureDp, Zcdp};
use odometer::{LaunchError, Odometer};
use odometry::mechanisms::{
    additive::{Vectors, add_noise_to_vector},
    counter::{Counter, SquareRootCounter, SubtractingCounter},
    monitor::Monitor,
    response::{leaky_randomized_response, randomized_response},
    samplers::DiscreteGaussian,
    spend::{epsilon, rho},
    weights::{MultiplicativeWeights, Subset},
};
use opendp::{
    domains::{AtomDomain, VectorDomain},
    metrics,
};
use opendp_bridge::{export, same_data_in, same_value, space};
use queryable::coins::Probability;

use crate::support::Any;

const LENGTH: usize = 20;

fn numbers() -> VectorDomain<AtomDomain<i64>> {
    VectorDomain::new(AtomDomain::default()).with_size(LENGTH)
}

#[test]
fn vectors_counters_and_monitors() -> Result<(), Any> {
    let (one, unit) = (1u32.into(), "0.5");
    let stream = space(numbers(), metrics::L1Distance::<i64>::default())?;
    let into = same_data_in(&stream, Vectors::of_length(LENGTH, L1Distance)?);
    let blocks = (&into >> &Counter::spending(LENGTH as u64, epsilon(unit))?.measurement()?)?;
    let counter = SubtractingCounter::spending(LENGTH as u64, epsilon(unit))?;
    let counter = (&into >> &counter.measurement()?)?;
    let monitor = (&into >> &Monitor::for_epsilon(unit, 1)?.measurement(LENGTH)?)?;
    let session = Odometer::new(stream.clone(), Basic::new(PureDp)).open(vec![100; LENGTH])?;
    for counts in [session.launch(&blocks)?, session.launch(&counter)?] {
        for _ in 0..LENGTH {
            counts.ask(())?;
        }
        assert!(counts.ask(()).is_err());
    }
    let passed = session.launch(&monitor)?;
    assert!((0..LENGTH).any(|_| passed.ask(1000) == Ok(true)));
    assert_eq!(session.privacy_loss(&one)?.to_string(), "1.5");

    let vector = space(numbers(), metrics::L2Distance::<f64>::default())?;
    let noisy = add_noise_to_vector(
        Vectors::of_length(LENGTH, L2Distance)?,
        DiscreteGaussian::for_rho(1, "0.5")?,
    );
    let noisy = (&same_data_in(&vector, noisy.space().clone()) >> &noisy)?;
    assert_eq!(noisy.map().loss(&one)?.to_string(), "0.5");
    assert_eq!(noisy.invoke(vec![7; LENGTH])?.len(), LENGTH);
    // And out again, as a measurement of theirs.
    let theirs = export(&noisy)?;
    assert_eq!(theirs.map(&2.0)?, 2.0);
    assert_eq!(theirs.invoke(&vec![7; LENGTH])??.len(), LENGTH);

    let square_root = SquareRootCounter::spending(LENGTH as u64, rho("0.5"))?;
    let square_root = (&into >> &square_root.measurement()?)?;
    let session = Odometer::new(stream, Basic::new(Zcdp)).open(vec![1; LENGTH])?;
    session.launch(&square_root)?.ask(())?;
    assert_eq!(session.privacy_loss(&one)?.to_string(), "0.5");
    Ok(())
}

#[test]
fn a_promise_about_the_domain_that_is_not_kept_runs_nothing() -> Result<(), Any> {
    let any = VectorDomain::new(AtomDomain::<i64>::default());
    let stream = space(any, metrics::L1Distance::<i64>::default())?;
    let into = same_data_in(&stream, Vectors::of_length(LENGTH, L1Distance)?);
    let counter = SubtractingCounter::spending(LENGTH as u64, epsilon("0.5"))?;
    let counter = (&into >> &counter.measurement()?)?;
    assert!(counter.invoke(vec![1; LENGTH]).is_ok());
    assert!(counter.invoke(vec![1; LENGTH - 1]).is_err());
    let session = Odometer::new(stream, Basic::new(PureDp)).open(vec![1; LENGTH + 1])?;
    let refused: Result<_, LaunchError> = session.launch(&counter);
    assert!(refused.is_err());
    // It was charged before the data were looked at.
    assert_eq!(session.privacy_loss(&1u32.into())?.to_string(), "0.5");
    Ok(())
}

#[test]
fn weights_on_data_of_a_public_size() -> Result<(), Any> {
    let elements = VectorDomain::new(AtomDomain::<usize>::new_closed((0, 7))?).with_size(1000);
    let elements = space(elements, metrics::ChangeOneDistance)?;
    let weights = MultiplicativeWeights::for_epsilon(1, 8, 1000, 4, 200)?.measurement();
    let weights = (&same_data_in(&elements, weights.space().clone()) >> &weights)?;
    let session = Odometer::new(elements, Basic::new(PureDp)).open(vec![3; 1000])?;
    let answers = session.launch(&weights)?;
    answers.ask(Subset::new(8, |i| i < 4))?;
    assert_eq!(session.privacy_loss(&1)?.to_string(), "1");
    Ok(())
}

#[test]
fn randomized_response_of_ours() -> Result<(), Any> {
    let bit = space(AtomDomain::<bool>::default(), metrics::DiscreteDistance)?;
    let (truth, delta) = (Probability::new(3, 4)?, Probability::new(1, 100)?);
    let response = (&same_value(&bit) >> &randomized_response(truth.clone())?)?;
    let leaky = (&same_value(&bit) >> &leaky_randomized_response(truth, delta)?)?;
    let session = Odometer::new(bit, Basic::new(PureDp)).open(true)?;
    session.launch(&response)?;
    let ln3 = session.privacy_loss(&1)?.to_string();
    assert!(ln3.starts_with("1.0986122886681"), "{ln3}");
    assert_eq!(leaky.map().loss(&1)?.delta(), &"0.01".parse()?);
    let theirs = export(&response)?;
    assert!((theirs.map(&1)? - 3f64.ln()).abs() < 1e-12);
    let truths = (0..4000).filter(|_| theirs.invoke(&true) == Ok(Ok(true)));
    // 3000, with a standard deviation of 27: off by 250 with probability below 1e-18.
    assert!((2750..3250).contains(&truths.count()));
    Ok(())
}
