//! Conversions between measures: never optimistic, against references of 50 digits, and there and back.

use exact::{Exact, Round};
use measures::convert::{
    ApproxToTradeoff, GaussianToApprox, GaussianToProfile, GaussianToTradeoff, ProfileToApprox,
    PureToGaussian, PureToZcdp, Then, TradeoffToApprox, ZcdpToApprox, gaussian_delta,
    gaussian_epsilon, profile_to_tradeoff, tradeoff_to_profile,
};
use measures::{
    Conversion, EpsilonDelta, GaussianDp, Loss, Measure, Mu, PrivacyMap, Profile, ProfileDp, Total,
    Tradeoff, TradeoffDp,
};
use proptest::prelude::*;

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

fn mu(text: &str) -> Mu {
    text.parse().unwrap()
}

/// Not below the digits given, to their precision, and at most a relative 1e-15 above.
fn assert_just_above(found: &Exact, digits: &str) {
    let expected = exact(digits);
    let slack = expected.mul(&exact("1e-15"), Round::Up);
    assert!(
        found.clone() + expected.mul(&exact("1e-28"), Round::Up) >= expected,
        "{found} is below {digits}"
    );
    assert!(*found <= expected + slack, "{found} is above {digits}");
}

// The references below are 60-digit evaluations in mpmath.

#[test]
fn gaussian_delta_at_many_magnitudes() {
    for (loss, epsilon, digits) in [
        ("1", "1", "0.126936737506643945800829624758"),
        ("0.5", "2", "0.00000943916863494723375851126696403"),
        ("0.01", "0.1", "7.85769277103679939441603027027e-27"),
        ("3", "20", "0.0000000422475461676941008613838739485"),
        ("5", "0.1", "0.986946023365888372358583627056"),
        ("0.1", "2", "3.71945072680464044120918736565e-91"),
        ("1", "30", "4.70932631809752219698194729848e-193"),
        ("300", "45900", "0.00133527162852437809483915825391"),
        // Past 2^18 in μ, and past 2^40 in ε, where e^ε is not computed.
        (
            "300000",
            "4.5000600002e10",
            "0.022749592044513033605456465062",
        ),
        ("1000000", "5e11", "0.499999601057719598966264340454"),
        ("2000000", "2e12", "0.499999800528859799333528815077"),
        ("1e9", "5e17", "0.499999999601057719598567322459"),
        (
            "1e9",
            "500000005e9",
            "0.000000286651570392474404373052162957",
        ),
    ] {
        assert_just_above(&gaussian_delta(&mu(loss), &exact(epsilon)), digits);
    }
}

#[test]
fn gaussian_delta_falls_in_epsilon_also_for_large_mu() {
    for (loss, steps) in [("1", "0.5"), ("2e6", "1e6"), ("1e100", "1e99")] {
        // From ε = μ²/2 − 20 steps on, past the middle.
        let middle = exact(loss).pow(2, Round::Up).div(&2u8.into(), Round::Up);
        let start = middle.saturating_sub(&exact(steps).times(20));
        let deltas: Vec<Exact> = (0..60)
            .map(|i| gaussian_delta(&mu(loss), &(start.clone() + exact(steps).times(i))))
            .collect();
        assert!(deltas.windows(2).all(|pair| pair[1] < pair[0]), "{loss}");
        assert!(deltas[59] < exact("0.2"), "{loss}: {}", deltas[59]);
    }
}

#[test]
fn gaussian_epsilon_inverts() {
    for (loss, delta, digits) in [
        ("1", "1e-6", "4.88655411746221199637049944247"),
        ("0.5", "1e-5", "1.99309140441511963114946158809"),
        ("0.01", "1e-10", "0.0530920333778439225127167999577"),
        ("3", "1e-3", "13.0881791646282634373313165441"),
        ("1", "0.1", "1.16033385279161722839212831845"),
        (
            "1e9",
            "0.000000286651570392474404373052162957",
            "500000005000000000",
        ),
    ] {
        let epsilon = gaussian_epsilon(&mu(loss), &exact(delta));
        assert_just_above(&epsilon, digits);
        assert!(gaussian_delta(&mu(loss), &epsilon) <= exact(delta));
    }
}

#[test]
fn pure_privacy_comes_back_from_the_whole_curve() {
    let one: EpsilonDelta = "(1, 0)".parse().unwrap();
    let leaky: EpsilonDelta = "(1, 1e-9)".parse().unwrap();
    let by_tradeoff = TradeoffToApprox::new(Exact::ZERO).unwrap();
    let by_profile = ProfileToApprox::new(Exact::ZERO).unwrap();
    for back in [
        by_tradeoff.convert(&Tradeoff::from_approx(&one)),
        by_profile.convert(&Profile::new([one.clone()])),
    ] {
        let back = back.unwrap();
        assert!(back.delta().is_zero() && *back.epsilon() >= Exact::ONE);
        assert!(*back.epsilon() < exact("1.000000000000001"), "{back}");
    }
    for back in [
        by_tradeoff.convert(&Tradeoff::from_approx(&leaky)),
        by_profile.convert(&Profile::new([leaky])),
        by_tradeoff.convert(&TradeoffDp.infinity()),
        by_profile.convert(&ProfileDp.infinity()),
    ] {
        assert_eq!(back, Ok(EpsilonDelta::INFINITY));
    }
    assert_eq!(
        by_tradeoff.convert(&TradeoffDp.zero()),
        Ok(EpsilonDelta::ZERO)
    );
    assert_eq!(
        by_profile.convert(&ProfileDp.zero()),
        Ok(EpsilonDelta::ZERO)
    );
    assert!(TradeoffToApprox::new(Exact::ONE).is_err());
    assert!(ProfileToApprox::new(Exact::ONE).is_err());
}

#[test]
fn gaussian_edges() {
    assert_eq!(gaussian_delta(&Mu::ZERO, &Exact::ZERO), Exact::ZERO);
    assert_eq!(gaussian_delta(&Mu::INFINITY, &exact("3")), Exact::ONE);
    assert_eq!(gaussian_delta(&mu("1"), &Exact::INFINITY), Exact::ZERO);
    assert_eq!(gaussian_epsilon(&Mu::ZERO, &exact("1e-9")), Exact::ZERO);
    assert_eq!(
        gaussian_epsilon(&Mu::INFINITY, &exact("0.5")),
        Exact::INFINITY
    );
    assert_eq!(gaussian_epsilon(&mu("1"), &Exact::ZERO), Exact::INFINITY);
    assert_eq!(gaussian_epsilon(&mu("1"), &Exact::ONE), Exact::ZERO);
    // The total variation of μ = 0.1 is 0.0399: at a larger δ, ε is zero.
    assert_eq!(gaussian_epsilon(&mu("0.1"), &exact("0.04")), Exact::ZERO);
    // Far out: an upper bound, still a sensible one.
    assert!(gaussian_delta(&mu("1e-8"), &exact("1")) < exact("1e-300"));
    assert!(gaussian_delta(&mu("1e7"), &exact("1")) <= Exact::ONE);
    assert!(gaussian_epsilon(&mu("1e-12"), &exact("1e-30")) < exact("2e-11"));
    assert!(gaussian_epsilon(&mu("100"), &exact("1e-300")).is_finite());
    assert!(gaussian_epsilon(&mu("1"), &exact("1e-300")) > exact("30"));
}

#[test]
fn gaussian_tradeoff_is_below_the_true_one() {
    // Points (Φ(−t), Φ(t−1)) on G_1, for t = 0, 1/2, 1, 2, 3: the function found may not pass above.
    let on_curve = [
        ("0.5", "0.158655253931457051414767454368"),
        (
            "0.308537538725986896362295389391",
            "0.308537538725986896362295389393",
        ),
        ("0.158655253931457051414767454367", "0.5"),
        (
            "0.0227501319481792072002826371",
            "0.841344746068542948585232545633",
        ),
        (
            "0.00134989803163009452665181477",
            "0.977249868051820792799717362834",
        ),
    ];
    for tangents in [2, 9, 65] {
        let f = GaussianToTradeoff { tangents }.convert(&mu("1")).unwrap();
        for (x, y) in on_curve {
            assert!(f.at(&exact(x), Round::Down) <= exact(y), "{tangents} {x}");
        }
    }
    let fine = GaussianToTradeoff { tangents: 65 }
        .convert(&mu("1"))
        .unwrap();
    for (x, y) in on_curve {
        let gap = exact(y).saturating_sub(&fine.at(&exact(x), Round::Down));
        assert!(gap < exact("0.002"), "{x}: {gap}");
    }
    let coarse = GaussianToTradeoff { tangents: 9 }
        .convert(&mu("1"))
        .unwrap();
    for i in 0..100 {
        let x = Exact::ratio(i, 100).unwrap();
        let rounding = exact("1e-30");
        assert!(coarse.at(&x, Round::Down) <= fine.at(&x, Round::Up) + rounding);
    }
}

#[test]
fn gaussian_profile_is_above_the_true_one() {
    let profile = GaussianToProfile { points: 33 }.convert(&mu("1")).unwrap();
    for i in 0..60 {
        let epsilon = Exact::ratio(i, 7).unwrap();
        let (found, true_delta) = (
            profile.delta_at(&epsilon),
            gaussian_delta(&mu("1"), &epsilon),
        );
        assert!(
            found.clone() + exact("1e-30") >= true_delta,
            "{epsilon}: {found} {true_delta}"
        );
    }
    let zero = GaussianToProfile { points: 9 };
    assert_eq!(zero.convert(&Mu::ZERO), Ok(ProfileDp.zero()));
    assert_eq!(zero.convert(&Mu::INFINITY), Ok(ProfileDp.infinity()));
}

#[test]
fn approximate_to_f_and_back() {
    for loss in ["(1, 1e-6)", "(0, 0.25)", "(3, 0.125)", "(0.001, 1e-9)"] {
        let loss: EpsilonDelta = loss.parse().unwrap();
        let f = ApproxToTradeoff.convert(&loss).unwrap();
        let back = TradeoffToApprox::new(loss.delta().clone())
            .unwrap()
            .convert(&f)
            .unwrap();
        assert!(back.epsilon() >= loss.epsilon());
        let excess = back.epsilon().checked_sub(loss.epsilon()).unwrap();
        assert!(excess < exact("1e-14"), "{loss}: {excess}");
    }
    let half = TradeoffToApprox::new(exact("0.5")).unwrap();
    assert_eq!(
        half.convert(&TradeoffDp.infinity()),
        Ok(EpsilonDelta::INFINITY)
    );
    assert_eq!(
        half.convert(&TradeoffDp.zero()).unwrap().epsilon(),
        &Exact::ZERO
    );
    // A tighter δ than the function has: nothing.
    let f = Tradeoff::from_approx(&"(1, 0.01)".parse().unwrap());
    let tight = TradeoffToApprox::new(exact("0.001")).unwrap();
    assert_eq!(tight.convert(&f), Ok(EpsilonDelta::INFINITY));
}

#[test]
fn profile_to_approximate_reads_the_curve() {
    let profile = Profile::new(["(0.5, 0.1)".parse().unwrap(), "(1, 1e-6)".parse().unwrap()]);
    let loss = ProfileToApprox::new(exact("0.01"))
        .unwrap()
        .convert(&profile)
        .unwrap();
    assert!(*loss.epsilon() > exact("0.5") && *loss.epsilon() < exact("1"));
}

#[test]
fn curves_are_partially_ordered() {
    let losses = [
        "(0.5, 0)",
        "(0.5, 0.1)",
        "(1, 1e-6)",
        "(0, 0.25)",
        "(3, 0)",
        "(0.2, 0.3)",
    ];
    let losses: Vec<EpsilonDelta> = losses.iter().map(|loss| loss.parse().unwrap()).collect();
    let functions: Vec<_> = losses.iter().map(Tradeoff::from_approx).collect();
    measures::laws::check_measure(&TradeoffDp, &functions).unwrap();
    let profiles: Vec<_> = losses
        .iter()
        .map(|loss| Profile::new([loss.clone()]))
        .collect();
    measures::laws::check_measure(&ProfileDp, &profiles).unwrap();
    // (ε, δ) compares coordinate by coordinate; the curves know more: RR_0.2 is (0, 0.1)-private.
    let (response, shift) = ("(0.2, 0)".parse().unwrap(), "(0, 0.1)".parse().unwrap());
    assert!(!Loss::at_most(&response, &shift));
    assert!(Profile::new([response]).at_most(&Profile::new([shift])));
}

#[test]
fn maps_and_totals() {
    let map = PrivacyMap::per_record(GaussianDp, mu("0.5"));
    let converted = map.convert(GaussianToApprox::new(exact("1e-5")).unwrap());
    assert_eq!(converted.loss(&0).unwrap(), EpsilonDelta::ZERO);
    assert_just_above(
        converted.loss(&1).unwrap().epsilon(),
        "1.99309140441511963114946158809",
    );
    assert!(converted.loss(&2).unwrap().epsilon() > converted.loss(&1).unwrap().epsilon());
    let total = Total::new(mu("0.5"))
        .convert(&GaussianToApprox::new(exact("1e-5")).unwrap())
        .unwrap();
    assert_eq!(total.bound(), &converted.loss(&1).unwrap());
    let both = Then(PureToZcdp, ZcdpToApprox::new(exact("1e-6")).unwrap());
    assert!(
        Total::new("0.1".parse().unwrap())
            .convert(&both)
            .unwrap()
            .bound()
            .epsilon()
            < &exact("1")
    );
}

#[test]
fn pure_by_gaussian_is_never_better_than_pure() {
    // RR_ε has the profile δ(x) = (e^ε − e^x)/(1+e^ε); the Gaussian one must lie above.
    for epsilon in ["0.1", "1", "4"] {
        let loss = epsilon.parse().unwrap();
        let gaussian = PureToGaussian.convert(&loss).unwrap();
        let pure = Profile::new([loss.into()]);
        for i in 0..=40 {
            let x = exact(epsilon).mul(&Exact::ratio(i, 40).unwrap(), Round::Down);
            let (found, true_delta) = (gaussian_delta(&gaussian, &x), pure.delta_at(&x));
            assert!(
                found.clone() + exact("1e-15") >= true_delta,
                "{epsilon} {x}"
            );
        }
    }
}

fn claims() -> impl Strategy<Value = Vec<EpsilonDelta>> {
    let claim = (0u32..400, 0u32..1000).prop_map(|(epsilon, delta)| {
        let epsilon = Exact::ratio(epsilon.into(), 100).unwrap();
        EpsilonDelta::new(epsilon, Exact::ratio(delta.into(), 1024).unwrap()).unwrap()
    });
    proptest::collection::vec(claim, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Both directions only lose what rounding takes.
    #[test]
    fn profile_to_f_and_back(claims in claims()) {
        let profile = Profile::new(claims);
        let back = tradeoff_to_profile(&profile_to_tradeoff(&profile));
        for i in 0..30 {
            let epsilon = Exact::ratio(i, 6).unwrap();
            let (before, after) = (profile.delta_at(&epsilon), back.delta_at(&epsilon));
            prop_assert!(after.clone() + exact("1e-16") >= before);
            prop_assert!(after <= before + exact("1e-14"));
        }
    }

    #[test]
    fn more_claims_are_less_loss(first in claims(), second in claims()) {
        let one = Profile::new(first.clone());
        let both = Profile::new(first.into_iter().chain(second));
        prop_assert!(both.at_most(&one));
        prop_assert!(profile_to_tradeoff(&both).at_most(&Tradeoff::from_approx(&EpsilonDelta::INFINITY)));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn gaussian_is_monotone(a in 1u32..400, b in 1u32..400, epsilon in 0u32..400) {
        prop_assume!(a < b);
        let mu = |n: u32| Mu::new(Exact::ratio(n.into(), 100).unwrap());
        let epsilon = Exact::ratio(epsilon.into(), 100).unwrap();
        prop_assert!(gaussian_delta(&mu(a), &epsilon) <= gaussian_delta(&mu(b), &epsilon));
        prop_assert!(gaussian_epsilon(&mu(a), &exact("1e-6")) <= gaussian_epsilon(&mu(b), &exact("1e-6")));
    }
}

/// What the test kit asks of everybody's conversions holds for ours.
#[test]
fn the_laws_of_conversions() {
    fn check<C: Conversion>(conversion: C, samples: [&str; 4])
    where
        <C::From as Measure>::Loss: std::str::FromStr<Err: std::fmt::Debug>,
    {
        let samples = samples.map(|text| text.parse().unwrap());
        let checked = measures::laws::check_conversion(&conversion, &samples);
        assert_eq!(checked, Ok(()), "{conversion:?}");
    }
    let delta = || exact("1e-6");
    let numbers = ["1e-9", "0.1", "1", "30"];
    check(PureToZcdp, numbers);
    check(PureToGaussian, numbers);
    check(measures::convert::PureToApprox, numbers);
    check(measures::convert::PureToTradeoff, numbers);
    check(measures::convert::GaussianToZcdp, numbers);
    check(GaussianToApprox::new(delta()).unwrap(), numbers);
    check(ZcdpToApprox::new(delta()).unwrap(), numbers);
    check(measures::convert::ZcdpToApproxZcdp, numbers);
    let pairs = ["(0, 0)", "(0.1, 1e-9)", "(1, 1e-6)", "(2, 0.5)"];
    check(ApproxToTradeoff, pairs);
    check(measures::convert::ApproxToProfile, pairs);
    check(measures::convert::GaussianToApproxGaussian, numbers);
    check(measures::convert::ApproxToApproxGaussian, pairs);
    check(
        measures::convert::ApproxGaussianToApprox::new(delta()).unwrap(),
        pairs,
    );
}
