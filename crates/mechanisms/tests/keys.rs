//! Keys that nobody lists: exact audits, thresholds that are too low, and which way of choosing shows more.

use std::sync::Arc;

use crate::common::*;
use measures::EpsilonDelta;
use mechanisms::{
    keys::{KeyNoise, choose_keys, histogram_of_keys, histogram_of_keys_spending},
    noise::ApproxGaussian,
    samplers::DiscreteGaussian,
    spend::{epsilon, epsilon_delta},
};
use odometer::Records;
use queryable::Root;

const NEIGHBOURS: [(&[u8], &[u8]); 5] = [
    (&[], &[0]),
    (&[0], &[0, 0]),
    (&[0, 0, 0], &[0, 0, 0, 0]),
    (&[0, 0], &[0, 0, 1]),
    (&[0, 1], &[0, 1, 1]),
];

#[test]
fn histograms_of_keys_are_as_private_as_claimed() {
    let counts = |threshold| {
        histogram_of_keys(Records::<u8>::new(), geometric(1, 3, 14), threshold, |x| *x).unwrap()
    };
    let claimed = counts(3).map().loss(&1).unwrap();
    for (zero, one) in NEIGHBOURS {
        let report = audit_answer(&counts(3), zero.to_vec(), one.to_vec());
        let (least, most) = delta(&report, claimed.epsilon());
        // P(noise ≥ 2) = (1/9)/(1 + 1/3), and what is not enumerated.
        assert!(most <= 1.0 / 12.0 + 1e-5, "{zero:?} {one:?}: {most}");
        let new = one.len() == 1 || one.contains(&1) && !zero.contains(&1);
        assert!(
            !new || least > 1.0 / 12.0 - 1e-5,
            "{zero:?} {one:?}: {least}"
        );
    }
    // A lower threshold does not keep it.
    let report = audit_answer(&counts(2), vec![], vec![0]);
    assert!(delta(&report, claimed.epsilon()).0 > claimed.delta().to_f64(::exact::Round::Up));
    // A replaced record is two steps.
    let replaced = Records::<u8>::replaced();
    let counts = histogram_of_keys(replaced, geometric(1, 3, 14), 3, |x| *x).unwrap();
    let claimed = counts.map().loss(&1).unwrap();
    let report = audit_answer(&counts, vec![0], vec![1]);
    let (_, most) = delta(&report, claimed.epsilon());
    assert!(most <= claimed.delta().to_f64(::exact::Round::Up) + 1e-5);
    assert!(histogram_of_keys(replaced, geometric(1, 3, 14), 0, |x| *x).is_err());
}

#[test]
fn gaussian_tails_are_those_of_the_law() {
    let gaussian = DiscreteGaussian::with_scale(2).unwrap().enumerating(30);
    let noise = ApproxGaussian::new(gaussian, "1").unwrap();
    let counts = histogram_of_keys(Records::<u8>::new(), noise.clone(), 4, |x| *x).unwrap();
    let claimed = counts.map().loss(&1).unwrap();
    for (zero, one) in NEIGHBOURS {
        let report = audit_answer(&counts, zero.to_vec(), one.to_vec());
        let (_, most) = delta(&report, claimed.epsilon());
        assert!(most <= claimed.delta().to_f64(::exact::Round::Up) + 1e-9);
    }
    // Where sums are too long, the bound of a subgaussian law.
    let wide = |scale: u32| {
        let gaussian = DiscreteGaussian::with_scale(scale).unwrap();
        ApproxGaussian::new(gaussian, "1")
            .unwrap()
            .tail(4 * u64::from(scale))
    };
    let [near, far] = [1000, 5000].map(|scale| wide(scale).to_f64(::exact::Round::Up));
    assert!(near < far && far < (-8f64).exp() * 1.001, "{near} {far}");
}

#[test]
fn thresholds_are_the_least_for_their_delta() {
    let space = Records::<u8>::new;
    let laplace = histogram_of_keys_spending(space(), epsilon("0.5"), "1e-8", |x| *x).unwrap();
    let loss = laplace.map().loss(&1).unwrap();
    let (delta, asked) = (loss.delta().to_f64(::exact::Round::Up), 1e-8);
    assert!(
        delta <= asked && delta > asked * (-0.51f64).exp(),
        "{delta}"
    );
    let gaussian = histogram_of_keys_spending(space(), epsilon_delta(1, "1e-7"), "1e-7", |x| *x);
    let loss = gaussian.unwrap().map().loss(&1).unwrap();
    assert!(measures::Loss::at_most(
        &loss,
        &"(1, 1e-7)".parse::<EpsilonDelta>().unwrap()
    ));
    assert!(histogram_of_keys_spending(space(), epsilon("1e-30"), "1e-8", |x| *x).is_err());
    assert!(histogram_of_keys_spending(space(), epsilon("1"), "1", |x| *x).is_err());
}

#[test]
fn chosen_keys_are_as_private_as_claimed() {
    let keys = choose_keys(Records::<u8>::new(), "0.7", "0.1", |x| *x).unwrap();
    for count in 0..9 {
        let report = audit_answer(&keys, vec![0; count], vec![0; count + 1]);
        let (least, most) = delta(&report, &exact("0.7"));
        assert!(most <= 0.1, "{count}: {most}");
        // The whole of it is used, until a key is shown for certain; so less is refuted.
        assert!(count > 2 || least > 0.0999, "{count}: {least}");
    }
    let report = audit_answer(&keys, vec![0, 1, 1], vec![0, 1]);
    assert!(delta(&report, &exact("0.7")).1 <= 0.1);
    let far = keys.map().loss(&3).unwrap();
    let report = audit_answer(&keys, vec![0], vec![0, 0, 1, 2]);
    assert!(delta(&report, far.epsilon()).1 <= far.delta().to_f64(::exact::Round::Down));
    assert!(choose_keys(Records::<u8>::new(), "0.000001", "1e-9", |x| *x).is_err());
    assert!(choose_keys(Records::<u8>::new(), "1", "1", |x| *x).is_err());
}

#[test]
fn the_best_choice_shows_more_keys() {
    // 2000 keys of each count.
    let space = Records::<(u32, u32)>::new;
    let best = choose_keys(space(), "1", "1e-3", |x| *x).unwrap();
    let counts = histogram_of_keys_spending(space(), epsilon(1), "1e-3", |x| *x).unwrap();
    let root = Root::seeded([3; 32]);
    for count in [3, 5, 6, 7, 9] {
        let data = (0..2000).flat_map(|key| vec![(key, count); count as usize]);
        let data: Arc<Vec<_>> = Arc::new(data.collect());
        let best = best.invoke_in(&root, &data).unwrap().len();
        let laplace = counts.invoke_in(&root, &data).unwrap().len();
        assert!(best + 60 > laplace, "{count}: {best} {laplace}");
        assert!(
            count != 6 || best > laplace + 100,
            "{count}: {best} {laplace}"
        );
    }
}

/// The static string that is cut into keys.
const TEXT: &str = "aa";

#[test]
fn equal_keys_are_shown_alike() {
    // A record's key is "x" with as much spare room, or one of two equal pieces of a static string.
    // The first record differs.
    let roomy = |room: &usize| {
        let mut key = String::with_capacity(*room);
        key.push('x');
        key
    };
    let piece = |at: &usize| &TEXT[*at % 2..=*at % 2];
    let space = Records::<usize>::new;
    let tables = histogram_of_keys_spending(space(), epsilon("1"), "1e-9", roomy).unwrap();
    let lists = choose_keys(space(), "1", "1e-9", move |room| vec![roomy(room)]).unwrap();
    let texts = choose_keys(space(), "1", "1e-9", piece).unwrap();
    let data = |first: usize| [vec![first], vec![0; 1000]].concat();
    let seen = |first: usize| {
        let table = tables.invoke(data(first)).unwrap();
        let list = lists.invoke(data(first)).unwrap();
        let text = texts.invoke(data(first)).unwrap();
        let text: &str = text.first().unwrap();
        (
            table.keys().map(String::capacity).collect::<Vec<_>>(),
            list.iter()
                .map(|keys| keys[0].capacity())
                .collect::<Vec<_>>(),
            TEXT.as_bytes().as_ptr_range().contains(&text.as_ptr()),
        )
    };
    assert_eq!(seen(0), (vec![1], vec![1], false));
    assert_eq!(seen(1001), seen(0));
}
