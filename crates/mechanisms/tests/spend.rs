//! Noise for a loss: what was asked is not exceeded, no smaller scale would do, and what cannot be is refused in words.

use crate::common::exact;
use exact::{Exact, Round};
use measures::{AbsoluteDistance, Epsilon, Neighbouring, SymmetricDistance};
use mechanisms::{
    BuildError, Parameter,
    additive::{
        Clamp, Vectors, add_noise, count, count_spending, histogram_spending, sum_spending,
    },
    calibrate::{SCALE_BITS, calibrate},
    counter::{Counter, EndlessCounter, SquareRootCounter, SubtractingCounter},
    keys::{choose_keys, histogram_of_keys, histogram_of_keys_spending},
    monitor::Monitor,
    noise::{ApproxGaussian, Change, Noise},
    response::randomized_response_for_epsilon,
    samplers::{DiscreteGaussian, DiscreteLaplace, Geometric, Staircase},
    selection::{
        Scores, exponential, exponential_for_epsilon, exponential_for_rho, exponential_zcdp,
        report_noisy_max, report_noisy_max_for_epsilon, top_k, top_k_zcdp,
    },
    sparse::{Sensitivity, SparseVector},
    spend::{APPROX_BITS, Spend, epsilon, epsilon_delta, rho, staircase},
    statistics::{Quantile, clamping_bound, count_distinct_spending, mean, quantile, variance},
    weights::MultiplicativeWeights,
};
use odometer::{Any, Records, Transformation};
use proptest::prelude::*;

/// Decimals of up to 30 digits over many magnitudes, and binary fractions of up to 128 bits.
fn numbers() -> impl Strategy<Value = Exact> {
    let decimal =
        (1u128..1 << 100, -40i32..10).prop_map(|(digits, ten)| exact(&format!("{digits}e{ten}")));
    let short =
        (1u32..10_000, -6i32..3).prop_map(|(digits, ten)| exact(&format!("{digits}e{ten}")));
    let binary = (1u128.., -200i32..20).prop_map(|(bits, two)| exact(&format!("{bits}*2^{two}")));
    prop_oneof![decimal, short, binary]
}

/// A little less, and surely less.
fn less(value: &Exact) -> Exact {
    value.mul(&exact("0.999999999999999999999"), Round::Down)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pure_and_concentrated_losses_are_spent_exactly(sensitivity in numbers(), loss in numbers()) {
        let laplace = DiscreteLaplace::for_epsilon(&sensitivity, &loss).unwrap();
        let spent = add_noise(laplace).map().loss(&sensitivity).unwrap();
        prop_assert_eq!(spent.into_value(), loss.clone());
        let gaussian = DiscreteGaussian::for_rho(&sensitivity, &loss).unwrap();
        let spent = add_noise(gaussian.clone()).map().loss(&sensitivity).unwrap();
        prop_assert_eq!(spent.into_value(), loss.clone());
        // So a smaller scale costs more.
        let variance = Exact::from_rational(gaussian.variance(), Round::Down).unwrap();
        let smaller = add_noise(DiscreteGaussian::new(less(&variance)).unwrap());
        prop_assert!(*smaller.map().loss(&sensitivity).unwrap().value() > loss);
    }

    #[test]
    fn selections_stay_within_what_is_asked(sensitivity in numbers(), loss in numbers()) {
        let scores = || Scores::new(2, &sensitivity, |data: &Vec<i64>, i| data[i]).unwrap();
        let space = Vectors::of_length(2, measures::L1Distance).unwrap();
        let one = Exact::ONE;
        let em = exponential_for_epsilon(space.clone(), scores(), &loss).unwrap();
        let rnm = report_noisy_max_for_epsilon(space.clone(), scores(), &loss).unwrap();
        let spent = em.map().loss(&one).unwrap();
        prop_assert_eq!(&spent, &rnm.map().loss(&one).unwrap());
        prop_assert!(*spent.value() <= loss && *spent.value() >= less(&loss), "{:?} of {:?}", spent, loss);
        let em = exponential_for_rho(space, scores(), &loss).unwrap();
        let spent = em.map().loss(&one).unwrap().into_value();
        let nearly = loss.mul(&exact("0.99999999999999"), Round::Down);
        prop_assert!(spent <= loss && spent >= nearly, "{spent:?} of {loss:?}");
    }

    #[test]
    fn sparse_vector_monitors_and_weights_spend_exactly(loss in numbers(), positives in 1u32..100, by in 1u64..1000) {
        let svt = SparseVector::for_epsilon(&loss, Sensitivity::free(by).unwrap(), positives).unwrap();
        prop_assert_eq!(svt.loss(Sensitivity::free(by).unwrap()).into_value(), loss.clone());
        let monitor = Monitor::for_epsilon(&loss, positives).unwrap().map();
        prop_assert_eq!(monitor.loss(&Exact::ONE).unwrap().into_value(), loss.clone());
        let weights = MultiplicativeWeights::for_epsilon(&loss, 4, 10, positives, 1).unwrap().loss();
        prop_assert!(*weights.value() <= loss && *weights.value() >= less(&loss));
    }

    #[test]
    fn randomized_response_stays_within_what_is_asked(digits in 1u64..1_000_000, ten in -30i32..-3) {
        let loss = exact(&format!("{digits}e{ten}"));
        let rr = randomized_response_for_epsilon(&loss).unwrap();
        let spent = rr.map().loss(&Neighbouring).unwrap().into_value();
        let nearly = loss.mul(&exact("0.99999999999998"), Round::Down);
        prop_assert!(spent <= loss && spent >= nearly, "{spent:?} of {loss:?}");
    }

    #[test]
    fn counts_sums_histograms_and_counters_spend_exactly(loss in numbers(), lowest in -50i64..0, highest in 1i64..50, horizon in 1u64..) {
        let added = Records::<i64>::new();
        let replaced = Records::<i64>::replaced();
        let bounds = Clamp::new(lowest, highest).unwrap();
        macro_rules! spent { ($measurement:expr) => {
            prop_assert_eq!($measurement.unwrap().map().loss(&1).unwrap().into_value(), loss.clone())
        }; }
        spent!(count_spending(added, epsilon(&loss), |x| *x > 0));
        spent!(count_spending(replaced, rho(&loss), |x| *x > 0));
        spent!(sum_spending(added, rho(&loss), bounds, |x| *x));
        spent!(sum_spending(replaced, epsilon(&loss), bounds, |x| *x));
        spent!(histogram_spending(added, epsilon(&loss), 3, |x| *x as usize));
        spent!(histogram_spending(replaced, rho(&loss), 3, |x| *x as usize));
        let counter = Counter::spending(horizon, epsilon(&loss)).unwrap();
        prop_assert_eq!(counter.map().loss(&Exact::ONE).unwrap().into_value(), loss.clone());
        let counter = Counter::spending(horizon, rho(&loss)).unwrap();
        prop_assert_eq!(counter.map().loss(&Exact::ONE).unwrap().into_value(), loss.clone());
    }
}

/// The scale that was found fits, and one that is a step smaller does not.
fn is_least(change: &Change, asked: (&str, &str)) {
    let noise = epsilon_delta(asked.0, asked.1).noise_for(change).unwrap();
    let delta = exact(asked.1);
    let loss = noise.loss(change);
    assert!(
        *loss.epsilon() <= exact(asked.0) && *loss.delta() <= delta,
        "{asked:?}: {loss}"
    );
    let variance = Exact::from_rational(noise.gaussian().variance(), Round::Up).unwrap();
    let step = Exact::ratio(1, 1 << (APPROX_BITS - 1)).unwrap();
    let below = variance.sqrt(Round::Down);
    let below = below.saturating_sub(&below.mul(&step, Round::Up));
    let smaller =
        ApproxGaussian::new(DiscreteGaussian::with_scale(below).unwrap(), asked.0).unwrap();
    assert!(*smaller.loss(change).delta() > delta, "{asked:?}");
}

#[test]
fn approximate_losses_are_spent_to_twelve_bits() {
    for asked in [
        ("1", "1e-6"),
        ("0.1", "1e-3"),
        ("8", "1e-9"),
        ("0.5", "0.3"),
    ] {
        is_least(&Change::one(&Exact::ONE), asked);
        is_least(&Change::repeated(&Exact::ONE, 2), asked);
    }
    is_least(&Change::one(&exact("7")), ("2", "1e-5"));
    is_least(&Change::one(&exact("1e9")), ("1", "1e-6"));
    is_least(&Change::one(&Exact::ONE), ("1e-9", "1e-12"));
    // Tighter than what zCDP gives.
    let tight = ApproxGaussian::for_approx(1, 1, "1e-6").unwrap();
    let loose = epsilon_delta(1, "1e-6").noise_for(&Change {
        one_coordinate: false,
        ..Change::one(&Exact::ONE)
    });
    assert!(tight.gaussian().variance() < loose.unwrap().gaussian().variance());
    let counter = Counter::spending(100, epsilon_delta(1, "1e-6")).unwrap();
    assert!(*counter.map().loss(&Exact::ONE).unwrap().delta() <= exact("1e-6"));
}

/// Numbers that no parameter can be, and what the errors have to say of them.
const BAD: [(&str, &str); 12] = [
    ("0", "above zero, not 0"),
    ("0.000", "above zero, not 0"),
    ("-1", "above zero, not -1"),
    ("-inf", "above zero, not -inf"),
    ("inf", "above zero, not inf"),
    ("NaN", "write decimals such as 0.1"),
    ("", "write decimals such as 0.1"),
    ("1/3", "write decimals such as 0.1"),
    ("0,5", "write decimals such as 0.1"),
    ("1e99999999999999999999", "out of range"),
    ("1e-99999", "out of range"),
    ("1e3000", "at most 2048 bits"),
];

/// A constructor from one parameter refuses all that is bad, in words, and takes what is good.
fn refuses_the_bad<T>(build: impl Fn(&str) -> Result<T, BuildError>) {
    for (bad, said) in BAD {
        let error = build(bad)
            .err()
            .unwrap_or_else(|| panic!("{bad:?} is taken"));
        let text = error.to_string();
        assert!(text.contains(said) && text.len() < 300, "{bad:?}: {text}");
        assert!(!matches!(error, BuildError::Failed { .. }), "{text}");
    }
    assert!(build("0.5").is_ok());
}

#[test]
fn bad_parameters_are_refused_everywhere() {
    let scores = || Scores::new(2, 1, |data: &Vec<i64>, i| data[i]).unwrap();
    let space = || Vectors::of_length(2, measures::L1Distance).unwrap();
    let records = Records::<i64>::new();
    refuses_the_bad(|bad| DiscreteLaplace::new(bad));
    refuses_the_bad(|bad| DiscreteLaplace::with_ratio(bad));
    refuses_the_bad(|bad| DiscreteLaplace::for_epsilon(bad, 1));
    refuses_the_bad(|bad| DiscreteLaplace::for_epsilon(1, bad));
    refuses_the_bad(|bad| DiscreteGaussian::with_scale(bad));
    refuses_the_bad(|bad| DiscreteGaussian::for_rho(bad, 1));
    refuses_the_bad(|bad| DiscreteGaussian::for_rho(1, bad));
    refuses_the_bad(|bad| ApproxGaussian::for_approx(bad, 1, "1e-6"));
    refuses_the_bad(|bad| ApproxGaussian::for_approx(1, bad, "1e-6"));
    refuses_the_bad(|bad| ApproxGaussian::for_approx(1, 1, bad));
    refuses_the_bad(|bad| ApproxGaussian::new(DiscreteGaussian::new(1)?, bad));
    refuses_the_bad(|bad| count_spending(records, epsilon(bad), |x| *x > 0));
    refuses_the_bad(|bad| sum_spending(records, rho(bad), Clamp::new(0, 1)?, |x| *x));
    refuses_the_bad(|bad| histogram_spending(records, epsilon(bad), 2, |x| *x as usize));
    refuses_the_bad(|bad| Counter::spending(10, rho(bad)));
    refuses_the_bad(|bad| Monitor::for_epsilon(bad, 1));
    refuses_the_bad(|bad| SparseVector::for_epsilon(bad, Sensitivity::UNIT, 1));
    refuses_the_bad(|bad| SparseVector::above_threshold(bad, Sensitivity::UNIT));
    refuses_the_bad(|bad| MultiplicativeWeights::for_epsilon(bad, 2, 10, 1, 1));
    refuses_the_bad(|bad| randomized_response_for_epsilon(bad));
    refuses_the_bad(|bad| Scores::new(2, bad, |data: &Vec<i64>, i: usize| data[i]));
    refuses_the_bad(|bad| exponential(space(), scores(), bad));
    refuses_the_bad(|bad| exponential_zcdp(space(), scores(), bad));
    refuses_the_bad(|bad| exponential_for_epsilon(space(), scores(), bad));
    refuses_the_bad(|bad| exponential_for_rho(space(), scores(), bad));
    refuses_the_bad(|bad| report_noisy_max(space(), scores(), bad));
    refuses_the_bad(|bad| report_noisy_max_for_epsilon(space(), scores(), bad));
    refuses_the_bad(|bad| top_k(space(), scores(), 1, bad));
    refuses_the_bad(|bad| top_k_zcdp(space(), scores(), 1, bad));
    refuses_the_bad(|bad| Geometric::new(bad));
    refuses_the_bad(|bad| Geometric::with_ratio(bad));
    refuses_the_bad(|bad| Staircase::new(3, bad));
    refuses_the_bad(|bad| Staircase::with_ratio(3, 1, bad));
    refuses_the_bad(|bad| sum_spending(records, staircase(bad), Clamp::new(0, 9)?, |x| *x));
    refuses_the_bad(|bad| {
        sum_spending(
            records,
            epsilon_delta(bad, "1e-6"),
            Clamp::new(0, 9)?,
            |x| *x,
        )
    });
    refuses_the_bad(|bad| quantile(records, Quantile::MEDIAN, vec![1, 2], bad, |x| *x));
    refuses_the_bad(|bad| clamping_bound(records, Quantile::MEDIAN, bad, |x| *x));
    refuses_the_bad(|bad| mean(records, Clamp::new(0, 9)?, bad, |x| *x));
    refuses_the_bad(|bad| variance(records, Clamp::new(0, 9)?, bad, |x| *x));
    refuses_the_bad(|bad| count_distinct_spending(records, epsilon(bad), |x| *x));
    refuses_the_bad(|bad| histogram_of_keys_spending(records, epsilon(bad), "1e-6", |x| *x));
    refuses_the_bad(|bad| histogram_of_keys_spending(records, epsilon(1), bad, |x| *x));
    refuses_the_bad(|bad| choose_keys(records, bad, "1e-6", |x| *x));
    refuses_the_bad(|bad| choose_keys(records, 1, bad, |x| *x));
    refuses_the_bad(|bad| EndlessCounter::spending(epsilon(bad)));
    refuses_the_bad(|bad| SquareRootCounter::spending(10, rho(bad)));
}

/// Every index of a table, every bound and every budget: refused before anything is built on it.
#[test]
fn bad_numbers_and_budgets_are_refused_in_words() {
    let scores = |n| Scores::new(n, 1, |data: &Vec<i64>, i| data[i]);
    let space = || Vectors::of_length(2, measures::L1Distance).unwrap();
    let records = Records::<i64>::new();
    let says = |error: BuildError, said: &str| {
        assert!(error.to_string().contains(said), "{error}");
    };
    says(scores(0).err().unwrap(), "the candidates");
    says(
        top_k(space(), scores(2).unwrap(), 3, 1).err().unwrap(),
        "at most the number of candidates",
    );
    says(
        top_k(space(), scores(2).unwrap(), 0, 1).err().unwrap(),
        "at least 1",
    );
    says(
        quantile(records, Quantile::MEDIAN, vec![], 1, |x| *x)
            .err()
            .unwrap(),
        "the candidates",
    );
    says(Quantile::new(2, 1).err().unwrap(), "at most the whole");
    says(Clamp::new(2, 1).err().unwrap(), "the");
    says(Staircase::new(0, 1).err().unwrap(), "the width");
    says(
        histogram_of_keys(records, DiscreteLaplace::new(1).unwrap(), 0, |x| *x)
            .err()
            .unwrap(),
        "the threshold",
    );
    says(
        SquareRootCounter::spending(0, rho(1)).err().unwrap(),
        "the length of the stream",
    );
    let built = std::cell::Cell::new(0);
    for bad in ["", "-1", "NaN", "one", "0,5", "1/3"] {
        let found = calibrate(1, bad, |scale| {
            built.set(built.get() + 1);
            Ok(count(records, DiscreteLaplace::new(scale)?, |x| *x > 0))
        });
        let error = found.err().unwrap();
        assert!(matches!(error, BuildError::Loss(_)), "{error:?}");
        says(error, "such as 0.5");
    }
    assert_eq!(built.get(), 0);
}

#[test]
fn what_leaves_no_noise_to_choose_is_refused() {
    let records = Records::<i64>::replaced();
    let nothing = Clamp::new(5, 5).unwrap();
    let refused =
        |error: BuildError| assert!(error.to_string().starts_with("the sensitivity"), "{error}");
    refused(sum_spending(records, epsilon(1), nothing, |x| *x).unwrap_err());
    refused(sum_spending(records, rho(1), nothing, |x| *x).unwrap_err());
    refused(sum_spending(records, epsilon_delta(1, "1e-6"), nothing, |x| *x).unwrap_err());
    refused(
        epsilon(1)
            .noise_for(&Change::one(&Exact::INFINITY))
            .unwrap_err(),
    );
    refused(
        rho(1)
            .noise_for(&Change::one(&Exact::INFINITY))
            .unwrap_err(),
    );
    for delta in ["1", "2"] {
        let error = ApproxGaussian::for_approx(1, 1, delta).unwrap_err();
        assert_eq!(error.to_string(), format!("δ must be below 1, not {delta}"));
    }
    assert!(Counter::spending(0, epsilon(1)).is_err());
    assert!(SubtractingCounter::spending(0, epsilon(1)).is_err());
    assert!(Monitor::for_epsilon(1, 0).is_err());
    assert!(histogram_spending(records, epsilon(1), 0, |x| *x as usize).is_err());
}

#[test]
fn parameters_are_whatever_is_exact() {
    fn is_a_quarter(parameter: impl Parameter) {
        let noise = DiscreteLaplace::for_epsilon(1, parameter).unwrap();
        assert_eq!(noise.loss_per_unit(), exact("0.25"));
    }
    is_a_quarter("0.25");
    let (text, number) = (String::from(".25"), exact("0.25"));
    is_a_quarter(&text);
    is_a_quarter(text);
    is_a_quarter(&number);
    is_a_quarter(number);
    is_a_quarter(crate::common::ratio(1, 4));
    let four = exact("4");
    macro_rules! is_four { ($($integer:ty),*) => {$(
        assert_eq!(DiscreteLaplace::for_epsilon(1, 4 as $integer).unwrap().loss_per_unit(), four);
    )*}; }
    is_four!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64);
    assert!(
        DiscreteLaplace::new(-4)
            .unwrap_err()
            .to_string()
            .ends_with("not -4")
    );
}

#[test]
fn descriptions_tell_mechanisms_apart() {
    let records = Records::<i64>::new();
    let shown = |text: &str, expected: &str| assert_eq!(text, expected);
    let count = count_spending(records, epsilon("0.5"), |x| *x > 0).unwrap();
    shown(
        &count.description().to_string(),
        "`count`(sensitivity = 1, noise = discrete Laplace, scale = 2)",
    );
    let sum = sum_spending(records, rho("0.5"), Clamp::new(-3, 2).unwrap(), |x| *x).unwrap();
    shown(
        &sum.description().to_string(),
        "`sum`(sensitivity = 3, noise = discrete Gaussian, variance = 9)",
    );
    let noise = DiscreteLaplace::with_ratio(crate::common::ratio(1, 3)).unwrap();
    shown(
        &add_noise(noise).description().to_string(),
        "`noise`(noise = discrete Laplace, ratio = 1/3)",
    );
    let approx = ApproxGaussian::new(DiscreteGaussian::with_scale("1.5").unwrap(), 1).unwrap();
    shown(
        &add_noise(approx).description().to_string(),
        "`noise`(noise = discrete Gaussian, variance = 2.25, ε = 1)",
    );
    let svt =
        SparseVector::for_epsilon(1, Sensitivity::of_counts::<SymmetricDistance>(), 1).unwrap();
    let svt = svt.of_counts::<_, std::ops::RangeInclusive<i64>>(records);
    shown(
        &svt.description().to_string(),
        "`sparse vector`(sensitivity = 1, positives = 1, threshold noise = geometric, scale 2, query noise = geometric, scale 2, centre = 0)",
    );
    let rr = mechanisms::response::leaky_randomized_response(
        crate::common::probability(3, 4),
        crate::common::probability(1, 10),
    );
    shown(
        &rr.unwrap().description().to_string(),
        "`leaky randomized response`(truth = 0.75, δ = 0.1)",
    );
    // A scale of which not all is shown is shown smaller than it is.
    let long =
        DiscreteLaplace::for_epsilon(1, "0.123456789012345678901234567890123456789").unwrap();
    let description = add_noise(long).description().to_string();
    assert!(
        description.ends_with("scale = 8.1000000729000006)"),
        "{description}"
    );
}

#[test]
fn pipelines_are_calibrated() {
    // Each record moves the number by 7/2.
    let before = || {
        Transformation::new(
            Records::<i64>::new(),
            Any::<i64, _>::with(AbsoluteDistance),
            |d_in: &u32| Ok(Exact::from(*d_in).mul(&"3.5".parse().unwrap(), Round::Up)),
            |data: &Vec<i64>| Ok(data.len() as i64),
        )
    };
    let noisy = |scale: Exact| Ok(before().measure(&add_noise(DiscreteLaplace::new(scale)?))?);
    for budget in ["0.5", "0.3", "1e-30", "123456.789", "1e40"] {
        let budget: Epsilon = budget.parse().unwrap();
        let found = calibrate(2, &budget, noisy).unwrap();
        let spent = found.map().loss(&2).unwrap().into_value();
        let step = Exact::ratio(1, 1 << (SCALE_BITS - 1)).unwrap();
        let least = budget
            .value()
            .saturating_sub(&budget.value().mul(&step, Round::Up));
        assert!(
            spent <= *budget.value() && spent >= least,
            "{spent} of {budget}"
        );
    }
    let gaussian = |scale: Exact| {
        let noise = DiscreteGaussian::with_scale(scale)?;
        Ok(count(Records::<i64>::replaced(), noise, |x| *x > 0))
    };
    let found = calibrate(3, "0.125", gaussian).unwrap();
    assert_eq!(found.map().loss(&3).unwrap().to_string(), "0.125"); // σ = 6, exactly
    let _: &odometer::Measurement<_, _, i64> = &found;

    let error = calibrate(1, "0", noisy).unwrap_err();
    assert!(
        matches!(error, BuildError::NoScale { .. }) && error.to_string().contains("within 0"),
        "{error}"
    );
    for (d_in, budget) in [(0, "1"), (1, "inf")] {
        let error = calibrate(d_in, budget, noisy).unwrap_err();
        assert!(matches!(error, BuildError::AnyScale { .. }), "{error}");
    }
    for budget in ["0,5", "", "-1", "(1, 1e-6)"] {
        let error = calibrate(1, budget, noisy).unwrap_err();
        assert!(matches!(error, BuildError::Loss(_)), "{error:?}");
        assert!(error.to_string().contains("such as 0.5 or 1e-6"), "{error}");
    }
    // An author's error is passed on.
    let never = |_: Exact| {
        Err::<odometer::Measurement<Records<i64>, measures::PureDp, i64>, _>(BuildError::failed(
            "out of paper",
        ))
    };
    let error = calibrate(1, "1", never).unwrap_err();
    assert!(error.to_string().ends_with("out of paper"), "{error}");
}
