//! Whatever is asked, there is a typed error or the right limit.

use accountant::{Accountant, AccountantError, Mechanism};
use exact::{Exact, Round};
use measures::EpsilonDelta;

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

fn is_parameter<T>(result: Result<T, AccountantError>, name: &str) -> bool {
    matches!(result, Err(AccountantError::Parameter { name: found, .. }) if found == name)
}

fn laplace() -> Mechanism {
    Mechanism::laplace(exact("1"), exact("10")).unwrap()
}

#[test]
fn parameters_out_of_range() {
    for scale in [Exact::ZERO, Exact::INFINITY] {
        assert!(is_parameter(
            Mechanism::laplace(exact("1"), scale.clone()),
            "scale"
        ));
        assert!(is_parameter(
            Mechanism::discrete_laplace(1, scale.clone()),
            "scale"
        ));
        assert!(is_parameter(
            Mechanism::gaussian(exact("1"), scale.clone()),
            "σ"
        ));
        assert!(is_parameter(
            Mechanism::discrete_gaussian(1, scale.clone()),
            "σ"
        ));
        assert!(is_parameter(
            Mechanism::poisson_gaussian(exact("0.1"), scale.clone()),
            "σ"
        ));
        assert!(is_parameter(
            Mechanism::poisson_laplace(exact("0.1"), exact("1"), scale),
            "scale"
        ));
    }
    for rate in ["1.0001", "7", "inf"] {
        assert!(is_parameter(
            Mechanism::poisson_gaussian(exact(rate), exact("1")),
            "sampling rate"
        ));
        assert!(is_parameter(
            Mechanism::poisson_laplace(exact(rate), exact("1"), exact("1")),
            "sampling rate"
        ));
    }
    assert!(
        "-0.1".parse::<Exact>().is_err(),
        "a negative number does not get this far"
    );
    assert!(is_parameter(
        Mechanism::gaussian(Exact::INFINITY, exact("1")),
        "sensitivity"
    ));
    assert!(is_parameter(
        Mechanism::approximate(exact("1"), exact("1.5")),
        "δ"
    ));
    assert!(is_parameter(
        Mechanism::discrete_laplace(u64::MAX, exact("1")),
        "sensitivity"
    ));
    assert!(is_parameter(
        Mechanism::discrete_gaussian(1 << 30, exact("1")),
        "sensitivity"
    ));
    assert!(is_parameter(Mechanism::finite(&[]), "sum of weights"));
    assert!(is_parameter(
        Mechanism::finite(&[(exact("1"), Exact::ZERO)]),
        "sum of weights"
    ));
    assert!(is_parameter(
        Mechanism::finite(&[(Exact::INFINITY, exact("1"))]),
        "sum of weights"
    ));
    assert!(is_parameter(
        Mechanism::mixture(Vec::<(u32, Mechanism)>::new()),
        "odds"
    ));
    assert!(is_parameter(
        Mechanism::mixture([(Exact::INFINITY, laplace())]),
        "odds"
    ));
    assert!(is_parameter(
        Accountant::new().add(laplace(), 1).epsilon(&exact("1.1")),
        "δ"
    ));
    assert!(is_parameter(
        Accountant::new().epsilon(&Exact::INFINITY),
        "δ"
    ));
}

#[test]
fn limits_of_delta() {
    let all = Accountant::new().add(laplace(), 1000);
    // At δ = 0 the sum of the largest losses, rounded up from 0.1 each.
    let pure = all.epsilon(&Exact::ZERO).unwrap();
    assert!(
        pure >= exact("100") && pure < exact("100.0000001"),
        "{pure}"
    );
    assert_eq!(all.epsilon(&Exact::ONE), Ok(Exact::ZERO));
    assert!(all.delta(&exact("100.0000001")).unwrap().is_zero());
    assert!(all.delta(&Exact::INFINITY).unwrap().is_zero());
    let tiny = all.epsilon(&exact("1e-4000")).unwrap();
    assert!(tiny <= pure && tiny > exact("50"), "{tiny}");
    let noise = Accountant::new().add(Mechanism::gaussian(exact("1"), exact("1")).unwrap(), 1);
    assert_eq!(noise.epsilon(&Exact::ZERO), Ok(Exact::INFINITY));
    assert!(noise.delta(&exact("1000")).unwrap() < exact("1e-1000"));
    assert_eq!(noise.epsilon(&exact("0.9999")), Ok(Exact::ZERO));
}

#[test]
fn nothing_and_everything() {
    let nothing = Accountant::new().add(laplace(), 0);
    assert_eq!(nothing.epsilon(&exact("1e-6")), Ok(Exact::ZERO));
    assert_eq!(nothing.epsilon(&Exact::ZERO), Ok(Exact::ZERO));
    assert_eq!(nothing.delta(&Exact::ZERO), Ok(Exact::ZERO));
    let silent = Mechanism::gaussian(Exact::ZERO, exact("1")).unwrap();
    assert_eq!(
        Accountant::new().add(silent, 1 << 40).delta(&Exact::ZERO),
        Ok(Exact::ZERO)
    );
    for open in ["inf", "1e40"] {
        let all = Accountant::new()
            .add(Mechanism::randomized_response(exact(open)).unwrap(), 1)
            .add(laplace(), 5);
        assert_eq!(all.epsilon(&exact("0.5")), Ok(Exact::INFINITY));
        assert_eq!(all.delta(&exact("5")), Ok(Exact::ONE));
    }
    let too_many = Accountant::new().add(laplace(), u64::MAX);
    assert_eq!(
        too_many.epsilon(&exact("0.1")),
        Err(AccountantError::TooMany)
    );
    assert_eq!(too_many.curve([exact("1")]), Err(AccountantError::TooMany));
}

#[test]
fn as_many_as_two_to_the_forty() {
    let count = 1u64 << 40;
    let mechanisms = [
        Mechanism::laplace(exact("1"), exact("1000000")).unwrap(),
        Mechanism::discrete_laplace(2, exact("2000000")).unwrap(),
        Mechanism::discrete_gaussian(1, exact("1000000")).unwrap(),
        Mechanism::poisson_gaussian(exact("0.000001"), exact("1")).unwrap(),
    ];
    for mechanism in mechanisms {
        let found = Accountant::new()
            .add(mechanism.clone(), count)
            .epsilon(&exact("1e-6"))
            .unwrap();
        // Each is about a Gaussian with μ between 1 and 2.
        assert!(
            found > exact("2") && found < exact("20"),
            "{mechanism:?}: {found}"
        );
    }
}

/// A single (ε, δ) mechanism at its own δ, and at a little less.
#[test]
fn the_last_bit_of_delta() {
    let one = Accountant::new().add(
        Mechanism::approximate(exact("0.7"), exact("1e-9")).unwrap(),
        1,
    );
    let found = one.epsilon(&exact("1e-9")).unwrap().to_f64(Round::Up);
    assert!((0.7..0.700_000_000_1).contains(&found), "{found}");
    assert_eq!(one.epsilon(&exact("9.999999999e-10")), Ok(Exact::INFINITY));
    let delta = one.delta(&exact("0.8")).unwrap();
    assert!(
        delta >= exact("1e-9") && delta < exact("1.0000000000001e-9"),
        "{delta}"
    );
}

#[test]
fn very_large_and_very_small_parameters() {
    for epsilon in ["1e-90", "1e-30", "1e-9", "50", "1000", "1e9", "1e29"] {
        let all = Accountant::new()
            .add(Mechanism::randomized_response(exact(epsilon)).unwrap(), 3)
            .add(laplace(), 2)
            .add(Mechanism::randomized_response(exact("0.01")).unwrap(), 50);
        let found = all.epsilon(&exact("1e-6")).unwrap();
        let sum = exact(epsilon).times(3) + exact("0.7000001");
        assert!(
            found <= sum.mul(&exact("1.0000001"), Round::Up),
            "{epsilon}: {found}"
        );
        let large = exact(epsilon) >= exact("50");
        assert!(
            !large || found >= exact(epsilon).times(3),
            "{epsilon}: {found}"
        );
        let delta = all.delta(&exact("0.1")).unwrap();
        assert!(delta <= Exact::ONE && !delta.is_zero());
    }
    for sigma in ["0.05", "0.5", "30", "1000000"] {
        for rate in ["1e-30", "0.001", "0.5", "0.999999"] {
            let step = Mechanism::poisson_gaussian(exact(rate), exact(sigma)).unwrap();
            let sampled = Accountant::new()
                .add(step, 3)
                .epsilon(&exact("1e-5"))
                .unwrap();
            let all = Mechanism::gaussian(exact("1"), exact(sigma)).unwrap();
            let all = Accountant::new()
                .add(all, 3)
                .epsilon(&exact("1e-5"))
                .unwrap();
            // Sampling never costs more.
            assert!(
                sampled <= all.mul(&exact("1.001"), Round::Up) + exact("1e-6"),
                "{sigma} {rate}: {sampled} {all}"
            );
        }
    }
}

#[test]
fn calibration() {
    let budget: EpsilonDelta = "(2, 1e-6)".parse().unwrap();
    let noise = |sigma: Exact| Mechanism::gaussian(exact("1"), sigma);
    let sigma = Accountant::new().calibrate(100, &budget, noise).unwrap();
    let at = |sigma: Exact| {
        Accountant::new()
            .add(noise(sigma).unwrap(), 100)
            .epsilon(budget.delta())
            .unwrap()
    };
    assert!(at(sigma.clone()) <= exact("2"));
    assert!(at(sigma.mul(&exact("0.99999"), Round::Down)) > exact("2"));
    // What is spent already leaves less.
    let spent = Accountant::new().add(laplace(), 5);
    assert!(spent.calibrate(100, &budget, noise).unwrap() > sigma);
    let over = Accountant::new().add(Mechanism::randomized_response(exact("3")).unwrap(), 1);
    let small: EpsilonDelta = "(0.001, 0)".parse().unwrap();
    assert!(matches!(
        over.calibrate(1, &small, noise),
        Err(AccountantError::OutOfReach { .. })
    ));
    assert_eq!(over.runs(&laplace(), &small), Ok(0));
    let silent = Mechanism::gaussian(Exact::ZERO, exact("1")).unwrap();
    assert_eq!(Accountant::new().runs(&silent, &budget), Ok((1 << 40) - 1));
}

/// Text that is no number, wherever one is wanted.
#[test]
fn text_that_is_no_number_says_what_to_write() {
    let all = Accountant::new().add(laplace(), 10);
    for (bad, said) in [
        ("", "write decimals such as 0.1"),
        ("NaN", "write decimals such as 0.1"),
        ("0,5", "write decimals such as 0.1"),
        ("1/3", "write decimals such as 0.1"),
        ("-1", "-1 is negative"),
        ("1e99999999", "out of range"),
    ] {
        let says = |error: AccountantError| {
            assert!(
                matches!(error, AccountantError::NotANumber { .. }),
                "{error:?}"
            );
            assert!(error.to_string().contains(said), "{bad:?}: {error}");
        };
        says(Mechanism::laplace(bad, 1).unwrap_err());
        says(Mechanism::laplace(1, bad).unwrap_err());
        says(Mechanism::gaussian(bad, 1).unwrap_err());
        says(Mechanism::gaussian(1, bad).unwrap_err());
        says(Mechanism::discrete_laplace(1, bad).unwrap_err());
        says(Mechanism::discrete_gaussian(1, bad).unwrap_err());
        says(Mechanism::poisson_gaussian(bad, 1).unwrap_err());
        says(Mechanism::poisson_gaussian("0.1", bad).unwrap_err());
        says(Mechanism::poisson_laplace(bad, 1, 1).unwrap_err());
        says(Mechanism::randomized_response(bad).unwrap_err());
        says(Mechanism::approximate(bad, 0).unwrap_err());
        says(Mechanism::approximate(1, bad).unwrap_err());
        says(Mechanism::mixture([(bad, laplace())]).unwrap_err());
        says(laplace().poisson_sampled(bad).unwrap_err());
        says(all.epsilon(bad).unwrap_err());
        says(all.delta(bad).unwrap_err());
        says(all.curve(["1", bad]).unwrap_err());
        assert!(accountant::CertifiedProfile::new([bad]).is_err());
        let asked = std::cell::Cell::new(false);
        let budget = all.calibrate(1, bad, |scale| {
            asked.set(true);
            Mechanism::laplace(1, scale)
        });
        for error in [budget.unwrap_err(), all.runs(&laplace(), bad).unwrap_err()] {
            assert!(matches!(error, AccountantError::Loss(_)), "{error:?}");
            assert!(error.to_string().contains("such as"), "{error}");
        }
        assert!(!asked.get());
    }
}
