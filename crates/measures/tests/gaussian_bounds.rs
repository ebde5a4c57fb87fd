//! The least Gaussian bound of a trade-off function: it is a bound everywhere, and no smaller one is.

use dashu_ratio::RBig;
use exact::interval::{Float, Interval, upper_quantile, upper_tail};
use exact::{Exact, Round};
use measures::convert::{
    ApproxGaussianToApprox, TradeoffToApproxGaussian, TradeoffToGaussian, gaussian_delta,
    gaussian_epsilon, profile_to_tradeoff, pure_to_gaussian, tradeoff_to_gaussian,
    tradeoff_to_gaussian_beyond, tradeoff_to_profile,
};
use measures::{
    Conversion as _, EpsilonDelta, Measure as _, Mu, MuDelta, Profile, Tradeoff, TradeoffDp,
};
use proptest::prelude::*;

const BITS: usize = 256;

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

/// `(1−δ)·G_μ(x/(1−δ))` by its definition, for `0 < x < 1−δ`.
fn bound(mu: &Exact, delta: &Exact, x: &Exact) -> Interval {
    let kept = RBig::ONE - delta.to_rational().unwrap();
    let x = x.to_rational().unwrap() / &kept;
    let quantile = upper_quantile(&Interval::rational(&x, BITS)).unwrap();
    let tail = upper_tail(&(&Interval::exact(mu, BITS).unwrap() - &quantile)).unwrap();
    &Interval::rational(&kept, BITS) * &tail
}

/// Whether the bound is certainly above `y` at `x`.
fn passes(mu: &Exact, delta: &Exact, (x, y): &(Exact, Exact)) -> bool {
    let y = Interval::exact(y, BITS).unwrap();
    !bound(mu, delta, x).lo.at_most(&y.hi)
}

/// Corners strictly inside.
fn inner(f: &Tradeoff) -> Vec<(Exact, Exact)> {
    let inside = |(x, y): &(Exact, Exact)| !x.is_zero() && !y.is_zero();
    f.corners().filter(inside).collect()
}

fn functions() -> impl Strategy<Value = Tradeoff> {
    let claim = (1u32..400, 0u32..300).prop_map(|(epsilon, delta)| {
        let epsilon = Exact::ratio(epsilon.into(), 100).unwrap();
        EpsilonDelta::new(epsilon, Exact::ratio(delta.into(), 1024).unwrap()).unwrap()
    });
    proptest::collection::vec(claim, 1..6)
        .prop_map(|claims| profile_to_tradeoff(&Profile::new(claims)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// At the corners, on a grid, and by its profile; with the δ that has to be split off, and with more.
    #[test]
    fn it_is_a_bound_and_the_least(f in functions(), more in 0u32..3) {
        let delta = f.leak() + Exact::ratio(more.into(), 64).unwrap();
        let mu = tradeoff_to_gaussian_beyond(&f, &delta).into_value();
        prop_assert!(mu.is_finite());
        let kept = Exact::ONE.checked_sub(&delta).unwrap();
        let grid = (1..16).map(|i| Exact::ratio(i, 16).unwrap());
        let points: Vec<_> = grid.map(|x| (x.clone(), f.at(&x, Round::Up))).chain(inner(&f)).collect();
        let points: Vec<_> = points.into_iter().filter(|(x, _)| *x < kept).collect();
        for point in &points {
            prop_assert!(!passes(&mu, &delta, point), "{point:?}");
        }
        // The profile of f_{0,δ} ⊗ G_μ is δ + (1−δ)·δ_G.
        let profile = tradeoff_to_profile(&f);
        for i in 0..8 {
            let epsilon = Exact::ratio(i, 2).unwrap();
            let told = delta.clone() + kept.mul(&gaussian_delta(&Mu::new(mu.clone()), &epsilon), Round::Up);
            prop_assert!(told + exact("1e-15") >= profile.delta_at(&epsilon));
        }
        // Less by 2^-60, and some corner is certainly passed.
        let step = Float::power_of_two(-60).to_exact(Round::Down);
        if let Some(less) = mu.checked_sub(&step) {
            prop_assert!(inner(&f).iter().any(|corner| passes(&less, &delta, corner)));
        }
    }

    /// Where δ has to be split off, no μ does without; and a larger loss needs a larger μ.
    #[test]
    fn what_leaks_has_no_bound(f in functions(), g in functions()) {
        let whole = tradeoff_to_gaussian(&f);
        prop_assert_eq!(whole.value().is_infinite(), !f.leak().is_zero());
        let delta = f.leak().max(g.leak());
        let [one, other] = [&f, &g].map(|f| tradeoff_to_gaussian_beyond(f, &delta));
        if measures::Loss::at_most(&f, &g) {
            prop_assert!(one.value() <= other.value());
        }
    }
}

#[test]
fn randomized_response_needs_what_pure_privacy_needs() {
    for epsilon in ["1e-9", "0.001", "0.3", "1", "2", "30", "700", "5000"] {
        let loss = Tradeoff::from_approx(&EpsilonDelta::new(exact(epsilon), Exact::ZERO).unwrap());
        let (found, least) = (
            tradeoff_to_gaussian(&loss),
            pure_to_gaussian(&epsilon.parse().unwrap()),
        );
        let apart = found.value().saturating_sub(least.value())
            + least.value().saturating_sub(found.value());
        // The corner itself is rounded down, by a relative 2^-64 or so.
        assert!(apart < exact("1e-15"), "{epsilon}: {found} {least}");
    }
}

/// One coordinate is as small as a number can be, the other as close to one.
#[test]
fn far_out_it_is_as_tight() {
    let tiny = exact("1*2^-16000");
    let nearly = Exact::ONE.checked_sub(&tiny.times(3)).unwrap();
    let corners = [
        (Exact::ZERO, Exact::ONE),
        (tiny, nearly),
        (Exact::ONE, Exact::ZERO),
    ];
    let found = tradeoff_to_gaussian(&Tradeoff::new(corners).unwrap()).into_value();
    // Three times as likely at t = 148.9: about ln 3/t.
    assert!(
        found > exact("0.00737") && found < exact("0.00739"),
        "{found}"
    );
}

#[test]
fn edges() {
    assert_eq!(tradeoff_to_gaussian(&TradeoffDp.zero()), Mu::ZERO);
    assert_eq!(tradeoff_to_gaussian(&TradeoffDp.infinity()), Mu::INFINITY);
    assert_eq!(TradeoffDp.infinity().leak(), Exact::ONE);
    let all = tradeoff_to_gaussian_beyond(&TradeoffDp.infinity(), &Exact::ONE);
    assert_eq!(all, Mu::ZERO);
    let leaky = Tradeoff::from_approx(&"(0, 0.25)".parse().unwrap());
    assert_eq!(
        tradeoff_to_gaussian_beyond(&leaky, &exact("0.25")),
        Mu::ZERO
    );
    let less = tradeoff_to_gaussian_beyond(&leaky, &exact("0.2499999"));
    assert_eq!(less, Mu::INFINITY);
    // Zero before 1 is a leak as well.
    let late = [("0", "1"), ("0.25", "0.5"), ("0.75", "0")];
    let late = Tradeoff::new(late.map(|(x, y)| (exact(x), exact(y)))).unwrap();
    assert_eq!(
        (late.leak(), tradeoff_to_gaussian(&late)),
        (exact("0.25"), Mu::INFINITY)
    );
    let samples = ["(0, 0)", "(0.1, 0)", "(1, 1e-6)", "(2, 0.5)"];
    let samples = samples.map(|text| Tradeoff::from_approx(&text.parse().unwrap()));
    let checked = measures::laws::check_conversion(&TradeoffToGaussian, &samples);
    assert_eq!(checked, Ok(()));
}

/// What is given away for certain is split off, or more; and comes back with what the rest has.
#[test]
fn with_a_delta_of_its_own() {
    let leaky = Tradeoff::from_approx(&"(1, 0.125)".parse().unwrap());
    let least = TradeoffToApproxGaussian::new(0).unwrap().convert(&leaky);
    let least = least.unwrap();
    assert_eq!(*least.delta(), exact("0.125"));
    let pure = pure_to_gaussian(&"1".parse().unwrap());
    assert!(least.mu().saturating_sub(pure.value()) < exact("1e-15"));
    let more = TradeoffToApproxGaussian::new("0.25").unwrap();
    let more = more.convert(&leaky).unwrap();
    assert!(more.mu() < least.mu() && *more.delta() == exact("0.25"));
    let back = ApproxGaussianToApprox::new("0.01").unwrap();
    let both = back.convert(&least).unwrap();
    assert_eq!(*both.delta(), exact("0.13375")); // 1/8 + 7/8 of 1/100
    let mu = Mu::new(least.mu().clone());
    assert_eq!(*both.epsilon(), gaussian_epsilon(&mu, &exact("0.01")));
    assert_eq!(back.convert(&MuDelta::INFINITY), Ok(EpsilonDelta::INFINITY));
    let certain = "(0, 0.125)".parse().unwrap();
    assert_eq!(
        back.convert(&certain),
        "(0, 0.125)".parse().map_err(Into::into)
    );
    assert!(TradeoffToApproxGaussian::new(1).is_err() && ApproxGaussianToApprox::new(0).is_err());
}
