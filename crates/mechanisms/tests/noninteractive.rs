//! Exact audits of the measurements that answer once: the claimed loss holds, one per cent less does not.

use crate::common::*;
use dashu_int::IBig;
use exact::{Exact, Round};
use measures::{EpsilonDelta, L1Distance, L2Distance, Neighbouring, Number, Rho};
use mechanisms::{
    BuildError,
    additive::{Clamp, Vectors, add_noise, add_noise_to_vector, count, histogram, sum},
    decimal::{Grid, add_noise_on_grid, sum_on_grid},
    noise::ApproxGaussian,
    response::{
        Response, Told, interactive_randomized_response, leaky_randomized_response,
        randomized_response,
    },
    samplers::{DiscreteGaussian, DiscreteLaplace},
    selection::{Scores, exponential, exponential_zcdp, report_noisy_max},
    sparse::{Sensitivity, SparseVector},
    weights::MultiplicativeWeights,
};
use odometer::Records;
use queryable::coins::Distribution;

#[test]
fn randomized_response_is_exactly_as_private_as_claimed() {
    for (n, d) in [(3, 4), (1, 2), (9, 10)] {
        let rr = randomized_response(probability(n, d)).unwrap();
        let report = audit_answer(&rr, false, true);
        let claimed = rr.map().loss(&Neighbouring).unwrap();
        assert!(report.claims(&claimed).unwrap().holds());
        let exact_factor = report.factor(&ratio(0, 1)).unwrap();
        assert_eq!(*exact_factor.as_rational(), ratio(n as i64, d - n));
        if n * 2 > d {
            is_tight(&report, claimed.value(), 0.0);
        }
    }
    assert!(randomized_response(probability(1, 3)).is_err());
}

#[test]
fn leaky_randomized_response_is_exactly_as_private_as_claimed() {
    let rr = leaky_randomized_response(probability(3, 4), probability(1, 10)).unwrap();
    let report = audit_answer(&rr, false, true);
    let claimed = rr.map().loss(&Neighbouring).unwrap();
    assert!(report.claims(&claimed).unwrap().holds());
    // At e^ε = 3 the loss is exactly δ.
    let factor = auditor::Factor::new(3, 1).unwrap();
    assert_eq!(report.delta(&factor).value(), Some(&ratio(1, 10)));
    let less: EpsilonDelta = "(1.0986122886681098, 0.099)".parse().unwrap();
    assert!(report.claims(&less).unwrap().attack().is_some());

    let irr = interactive_randomized_response(probability(3, 4), probability(1, 10)).unwrap();
    let interactive = audit_queryable(&irr, false, true, 3, &[()]);
    assert_eq!(interactive.delta(&factor).value(), Some(&ratio(1, 10)));
    for f in [(1, 1), (2, 1), (5, 2), (7, 1)] {
        let factor = auditor::Factor::new(f.0, f.1).unwrap();
        assert_eq!(interactive.delta(&factor), report.delta(&factor));
    }
}

#[test]
fn interactive_response_says_its_flag_first() {
    let irr = interactive_randomized_response(probability(1, 1), probability(1, 2)).unwrap();
    let rr = leaky_randomized_response(probability(1, 1), probability(1, 2)).unwrap();
    for seed in 0..10 {
        let root = queryable::Root::seeded([seed; 32]);
        let q = irr.invoke_in(&root, &true.into()).unwrap();
        assert!(matches!(q.ask(()), Ok(Told::Leak | Told::NoLeak)));
        assert_eq!(q.ask(()), Ok(Told::Bit(true)));
        assert_eq!(q.ask(()), Err(queryable::AskError::Halted));
        let answer = rr.invoke_in(&root, &true.into()).unwrap();
        assert!(matches!(
            answer,
            Response::Leak(true) | Response::NoLeak(true)
        ));
    }
}

#[test]
fn laplace_noise_is_tight() {
    let one = Exact::ONE;
    // Rational probabilities: e^ε = 2 per unit. What the tail leaves open is 4·2^-40.
    let noise = add_noise(geometric(1, 2, 40));
    let report = audit_answer(&noise, 5, 6);
    is_tight(&report, noise.map().loss(&one).unwrap().value(), 1e-11);
    let report = audit_answer(&noise, 5, 8);
    is_tight(
        &report,
        noise.map().loss(&exact("3")).unwrap().value(),
        1e-11,
    );
    // A scale: probabilities are lower bounds.
    let noise = add_noise(DiscreteLaplace::new(ratio(1, 1)).unwrap());
    let report = audit_answer(&noise, -1, 0);
    is_tight(&report, &one, 1e-11);
}

#[test]
fn gaussian_noise_has_the_divergence_it_claims() {
    // Σ p^α q^(1−α) over the enumerated integers: at a whole shift it is e^(α(α−1)/2σ²) exactly ([CKS20] Prop 5), and
    // so the claimed ρ is tight.
    let noise = DiscreteGaussian::with_scale(ratio(2, 1))
        .unwrap()
        .enumerating(60);
    let claimed = add_noise(noise.clone()).map().loss(&Exact::ONE).unwrap();
    assert_eq!(claimed, "0.125".parse::<Rho>().unwrap());
    let mass = |x: i64| {
        let index = if x > 0 { 2 * x - 1 } else { -2 * x };
        let (value, mass) = noise.outcome(index as usize);
        assert_eq!(value, IBig::from(x));
        mass.to_rational().to_f64().value()
    };
    for order in [2i32, 3, 5] {
        let powers = (-22..22).map(|x| mass(x).powi(order) * mass(x + 1).powi(1 - order));
        let divergence = powers.sum::<f64>().ln() / f64::from(order - 1);
        assert!((divergence - f64::from(order) * 0.125).abs() < 1e-12);
    }
    // The audit's δ(ε) is what the theorem for (ε, δ) says (ibid. Thm 7): the mass above εσ² − 1/2, and so on.
    let report = audit_answer(&add_noise(noise.clone()), 0, 1);
    for epsilon in ["0.3", "0.6", "1"] {
        let e: f64 = epsilon.parse().unwrap();
        let above = |x: f64| {
            (-60..=60i64)
                .filter(|&y| y as f64 > x)
                .map(mass)
                .sum::<f64>()
        };
        let expected = above(e * 4.0 - 0.5) - e.exp() * above(e * 4.0 + 0.5);
        let (least, most) = delta(&report, &exact(epsilon));
        assert!((least - expected).abs() < 1e-12 && (most - expected).abs() < 1e-12);
        // And the conversion of the claim bounds it.
        let converted = measures::convert::zcdp_delta(&claimed, &exact(epsilon));
        assert!(most <= converted.to_f64(Round::Up));
    }
}

#[test]
fn counts_sums_and_histograms_are_tight() {
    let records = Records::<i64>::new();
    let replaced = Records::<i64>::replaced();
    let noise = || geometric(1, 2, 30);

    let even = count(records, noise(), |x| x % 2 == 0);
    let report = audit_answer(&even, vec![1, 2], vec![1, 2, 4]);
    is_tight(&report, even.map().loss(&1).unwrap().value(), 1e-8);

    let bounds = Clamp::new(-1, 3).unwrap();
    let total = sum(records, noise(), bounds, |x| *x);
    let report = audit_answer(&total, vec![1], vec![1, 100]);
    is_tight(&report, total.map().loss(&1).unwrap().value(), 1e-7);
    let total = sum(replaced, noise(), bounds, |x| *x);
    let report = audit_answer(&total, vec![-100], vec![i64::MAX]);
    is_tight(&report, total.map().loss(&1).unwrap().value(), 1e-7);

    let bins = |x: &i64| *x as usize;
    let noise = || geometric(1, 3, 16);
    let bars = histogram(records, noise(), 2, bins).unwrap();
    let report = audit_answer(&bars, vec![0], vec![0, 1]);
    is_tight(&report, bars.map().loss(&1).unwrap().value(), 1e-6);
    let bars = histogram(replaced, noise(), 2, bins).unwrap();
    let report = audit_answer(&bars, vec![0], vec![1]);
    is_tight(&report, bars.map().loss(&1).unwrap().value(), 1e-6);

    let vector = add_noise_to_vector(Vectors::of_length(2, L1Distance).unwrap(), noise());
    let report = audit_answer(&vector, vec![0, 0], vec![1, -1]);
    is_tight(
        &report,
        vector.map().loss(&exact("2")).unwrap().value(),
        1e-6,
    );
    let vector = add_noise_to_vector(
        Vectors::of_length(2, L2Distance).unwrap(),
        DiscreteGaussian::new(ratio(4, 1)).unwrap(),
    );
    assert_eq!(
        vector.map().loss(&exact("2")).unwrap(),
        "0.5".parse().unwrap()
    );
}

#[test]
fn gaussian_counts_and_histograms_claim_their_norms() {
    let noise = || DiscreteGaussian::new(ratio(100, 1)).unwrap();
    let records = Records::<usize>::new();
    let replaced = Records::<usize>::replaced();
    let claimed = |map: &measures::PrivacyMap<_, _>| map.loss(&3).unwrap();
    assert_eq!(
        claimed(count(records, noise(), |_| true).map()),
        "0.045".parse().unwrap()
    );
    assert_eq!(
        claimed(histogram(records, noise(), 4, |x| *x).unwrap().map()),
        "0.045".parse().unwrap()
    );
    let bars = histogram(replaced, noise(), 4, |x| *x).unwrap();
    assert_eq!(bars.map().loss(&3).unwrap(), "0.09".parse().unwrap());
}

#[test]
fn decimals_are_as_private_as_claimed() {
    let tenths = add_noise_on_grid(Grid::new(1).unwrap(), geometric(1, 2, 30));
    // 0.01 apart, but on different sides of a rounding boundary: one step.
    let report = audit_answer(&tenths, 0.145, 0.155);
    is_tight(
        &report,
        tenths.map().loss(&exact("0.01")).unwrap().value(),
        1e-8,
    );
    let report = audit_answer(&tenths, 0.1, 0.4);
    is_tight(
        &report,
        tenths.map().loss(&exact("0.3")).unwrap().value(),
        1e-7,
    );

    let records = Records::<f64>::new();
    let grid = Grid::new(1).unwrap();
    let total = sum_on_grid(records, grid, geometric(1, 2, 30), (-0.2, 0.3), |x| *x).unwrap();
    for extreme in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let report = audit_answer(&total, vec![0.1], vec![0.1, extreme]);
        holds(&report, total.map().loss(&1).unwrap().value(), 1e-7);
    }
    let report = audit_answer(&total, vec![], vec![5.0]);
    is_tight(&report, total.map().loss(&1).unwrap().value(), 1e-7);
    for wrong in [
        (0.0, f64::INFINITY),
        (f64::NAN, 1.0),
        (1.0, 0.0),
        (-1e300, 0.0),
    ] {
        assert!(sum_on_grid(records, grid, geometric(1, 2, 3), wrong, |x| *x).is_err());
    }
}

#[test]
fn selections_are_tight() {
    // One candidate gains a point and the other loses one; the first is far behind, so its normalizer hardly moves.
    let space = Records::<i64>::new();
    let scores = || Scores::new(2, &Exact::ONE, |data: &Vec<i64>, i| data[i]).unwrap();
    let epsilon = exact("0.5");
    let (zero, one) = (vec![0, 40], vec![1, 39]);
    let choice = exponential(space, scores(), &epsilon).unwrap();
    let report = audit_answer(&choice, zero.clone(), one.clone());
    is_tight(&report, choice.map().loss(&1).unwrap().value(), 1e-20);
    let choice = report_noisy_max(space, scores(), &epsilon).unwrap();
    let report = audit_answer(&choice, zero, one);
    is_tight(&report, choice.map().loss(&1).unwrap().value(), 1e-20);

    // Three candidates, all patterns of change by at most one.
    let scores = || Scores::new(3, &Exact::ONE, |data: &Vec<i64>, i| data[i]).unwrap();
    let choices = [
        exponential(space, scores(), &epsilon).unwrap(),
        report_noisy_max(space, scores(), &epsilon).unwrap(),
    ];
    for change in 0..27 {
        let base = [2, 0, 1];
        let moved = [change % 3 - 1, change / 3 % 3 - 1, change / 9 - 1];
        let other: Vec<i64> = (0..3).map(|i| base[i] + moved[i]).collect();
        for choice in &choices {
            let report = audit_answer(choice, base.to_vec(), other.clone());
            holds(&report, &epsilon, 1e-14);
        }
    }
    let zcdp = exponential_zcdp(space, scores(), &epsilon).unwrap();
    assert_eq!(zcdp.map().loss(&2).unwrap(), "0.125".parse().unwrap());
    assert!(Scores::new(0, &Exact::ONE, |_: &(), _: usize| 0).is_err());
    assert!(Scores::new(1, &Exact::ZERO, |_: &(), _: usize| 0).is_err());
    assert!(exponential(space, scores_of_one(), &Exact::ZERO).is_err());
    assert!(exponential(space, scores_of_one(), &Exact::INFINITY).is_err());
}

fn scores_of_one() -> Scores<impl Fn(&Vec<i64>, usize) -> i64 + Send + Sync + 'static> {
    Scores::new(1, &Exact::ONE, |_: &Vec<i64>, _| 0).unwrap()
}

/// Parameters that would take for ever are refused when a mechanism is built, and no score makes it fail later.
#[test]
fn parameters_are_bounded_and_scores_are_not() {
    let space = Records::<i64>::new();
    let scores = |sensitivity: &Exact| Scores::new(2, sensitivity, |data: &Vec<i64>, i| data[i]);
    let [tiny, huge] = ["1*2^-2047", "1*2^2047"].map(exact);
    for (epsilon, sensitivity) in [(&tiny, &huge), (&huge, &tiny), (&tiny, &tiny)] {
        let root = queryable::Root::seeded([4; 32]);
        for choice in [
            exponential(space, scores(sensitivity).unwrap(), epsilon).unwrap(),
            report_noisy_max(space, scores(sensitivity).unwrap(), epsilon).unwrap(),
        ] {
            let data = vec![i64::MIN, i64::MAX];
            assert!(choice.invoke_in(&root, &data.into()).unwrap() < 2);
            choice.map().loss(&u32::MAX).unwrap();
        }
    }
    let too_long = |error: &BuildError| matches!(error, BuildError::TooLong { .. });
    for long in ["1e-4096", "1e4000"].map(exact) {
        assert!(too_long(&scores(&long).err().unwrap()));
        let unit = scores(&Exact::ONE).unwrap();
        assert!(too_long(&exponential(space, unit, &long).err().unwrap()));
        let free = Sensitivity::UNIT;
        assert!(too_long(
            &SparseVector::for_epsilon(&long, free, 1).unwrap_err()
        ));
        assert!(MultiplicativeWeights::for_epsilon(&long, 2, 10, 1, 1).is_err());
        let noise = DiscreteGaussian::with_scale(ratio(5, 1)).unwrap();
        assert!(too_long(&ApproxGaussian::new(noise, long).unwrap_err()));
    }
}

#[test]
fn the_zcdp_of_the_exponential_mechanism_holds() {
    // Two candidates: the exact Rényi divergence of the enumerated law, at several orders and scores.
    use mechanisms::samplers::ExponentialChoice;
    let epsilon = 1.0f64;
    let law = |scores: [i64; 3]| {
        let best = *scores.iter().max().unwrap();
        let penalties = scores.map(|s| ratio(best - s, 2)).to_vec();
        let choice = ExponentialChoice::new(penalties).unwrap();
        [0, 1, 2].map(|i| choice.outcome(i).1.to_rational().to_f64().value())
    };
    for (a, b) in [
        ([0, 0, 0], [1, -1, -1]),
        ([0, 3, 1], [1, 2, 0]),
        ([5, 0, 0], [4, 1, 1]),
    ] {
        let (p, q) = (law(a), law(b));
        for order in [1.5f64, 2.0, 8.0, 40.0] {
            let sum: f64 = (0..3)
                .map(|i| p[i].powf(order) * q[i].powf(1.0 - order))
                .sum();
            let divergence = sum.ln() / (order - 1.0);
            assert!(divergence <= order * epsilon * epsilon / 8.0);
        }
    }
}

#[test]
fn extremes_saturate_and_do_not_fail() {
    let root = queryable::Root::seeded([3; 32]);
    let noise = || DiscreteLaplace::new(ratio(1000, 1)).unwrap();
    let ends = [i64::MIN, i64::MAX];
    for seed in 0..20i64 {
        for end in ends {
            let answer = add_noise(noise()).invoke_in(&root, &end.into()).unwrap();
            assert!(answer.abs_diff(end) < 100_000, "{seed}");
        }
    }
    let records = Records::<i64>::new();
    let total = sum(
        records,
        noise(),
        Clamp::new(i64::MIN, i64::MAX).unwrap(),
        |x| *x,
    );
    assert_eq!(
        total.invoke_in(&root, &vec![i64::MAX; 5].into()).unwrap(),
        i64::MAX
    );
    assert_eq!(
        total.invoke_in(&root, &vec![i64::MIN; 5].into()).unwrap(),
        i64::MIN
    );
    let expected = 3u32.number().times(1 << 63).div(&exact("1000"), Round::Up);
    assert_eq!(*total.map().loss(&3).unwrap().value(), expected);
    assert!(Clamp::new(1, 0).is_err());
    assert!(Vectors::of_length(0, L1Distance).is_err());
    assert!(histogram(records, noise(), 0, |_| 0).is_err());
}

#[test]
fn maps_convert_to_the_other_measures() {
    use auditor::{Claim, Report};
    use measures::RenyiDp;
    use measures::convert::{
        PureToApprox, PureToGaussian, PureToRenyi, PureToZcdp, ZcdpToApprox, ZcdpToRenyi,
    };
    let records = Records::<i64>::new();
    let at_two = RenyiDp::new(2).unwrap();
    let rr = randomized_response(probability(3, 4)).unwrap();
    let report = audit_answer(&rr, false, true);
    let approx = rr.convert(PureToApprox).map().loss(&Neighbouring).unwrap();
    let zcdp = rr.convert(PureToZcdp).map().loss(&Neighbouring).unwrap();
    let renyi = rr
        .convert(PureToRenyi {
            order: at_two.clone(),
        })
        .map()
        .loss(&Neighbouring)
        .unwrap();
    let gaussian = rr
        .convert(PureToGaussian)
        .map()
        .loss(&Neighbouring)
        .unwrap();
    assert!(report.claims(&approx).unwrap().holds());
    // These are tight: within the audit's own rounding, so not refuted, and one per cent less is.
    fn is_tight<L: Claim<(), bool>>(report: &Report<(), bool>, claimed: &L, less: &L) {
        assert!(report.claims(claimed).unwrap().attack().is_none());
        assert!(report.claims(less).unwrap().attack().is_some());
    }
    let less = |value: &Exact| value.mul(&exact("0.99"), Round::Up);
    is_tight(&report, &zcdp, &less(zcdp.value()).into());
    is_tight(&report, &renyi, &at_two.loss(less(renyi.epsilon())));
    is_tight(&report, &gaussian, &less(gaussian.value()).into());

    let noise = DiscreteGaussian::with_scale(ratio(3, 1)).unwrap();
    let gaussian = count(records, noise, |_| true);
    let report = audit_answer(&gaussian, vec![], vec![1]);
    let loss = gaussian
        .convert(ZcdpToApprox::new(exact("1e-6")).unwrap())
        .map()
        .loss(&1)
        .unwrap();
    assert!(delta(&report, loss.epsilon()).1 <= loss.delta().to_f64(Round::Down));
    let renyi = gaussian
        .convert(ZcdpToRenyi { order: at_two })
        .map()
        .loss(&1)
        .unwrap();
    assert_eq!(*renyi.epsilon(), Exact::ratio(1, 9).unwrap());
}

#[test]
fn the_theorem_of_one_coordinate_is_used_for_one_coordinate() {
    let noise = DiscreteGaussian::with_scale(ratio(2, 1)).unwrap();
    let noise = ApproxGaussian::new(noise, exact("1")).unwrap();
    let bars = |d_in: u32| {
        let space = Records::<usize>::new();
        let bars = histogram(space, noise.clone(), 2, |x| *x).unwrap();
        bars.map().loss(&d_in).unwrap()
    };
    let vector = |d_in: u64| {
        let space = Vectors::of_length(2, L1Distance).unwrap();
        let vector = add_noise_to_vector(space, noise.clone());
        vector.map().loss(&Exact::from(d_in)).unwrap()
    };
    let number = |d_in: u64| {
        add_noise(noise.clone())
            .map()
            .loss(&Exact::from(d_in))
            .unwrap()
    };
    // ρ = 2²/(2·2²): a change of two may be one in each of two coordinates.
    let general = measures::convert::zcdp_delta(&"0.5".parse().unwrap(), &exact("1"));
    // It costs less than zCDP says, and more than one coordinate does by the same norm.
    assert_eq!(bars(2), vector(2));
    assert!(*vector(2).delta() < general);
    assert!(number(2).delta() < vector(2).delta());
    // A change of one is in one.
    assert_eq!((bars(1), vector(1)), (number(1), number(1)));
}

#[test]
fn the_exact_delta_of_gaussian_noise_is_exact() {
    let noise = DiscreteGaussian::with_scale(ratio(2, 1))
        .unwrap()
        .enumerating(60);
    for (epsilon, change) in [("0.1", 1), ("1", 1), ("0.7", 3), ("2", 3), ("0.01", 9)] {
        let approx = ApproxGaussian::new(noise.clone(), exact(epsilon)).unwrap();
        let approx = add_noise(approx);
        let loss = approx.map().loss(&Exact::from(change as u64)).unwrap();
        let report = audit_answer(&approx, 0, change);
        let (least, most) = delta(&report, &exact(epsilon));
        let claimed = loss.delta().to_f64(Round::Up);
        assert!(
            most <= claimed + 1e-15 && claimed <= least + 1e-15,
            "{least} {claimed} {most}"
        );
    }
    // Less than a unit costs no more than the whole one; two coordinates no more than by zCDP.
    let approx = ApproxGaussian::new(noise, exact("1")).unwrap();
    let at = |change| {
        add_noise(approx.clone())
            .map()
            .loss(&exact(change))
            .unwrap()
    };
    assert!(measures::Loss::at_most(&at("0.5"), &at("1")));
    assert_eq!(at("0"), EpsilonDelta::ZERO);
    let replaced = Records::<usize>::replaced();
    let bars = histogram(replaced, approx, 2, |x| *x).unwrap();
    let general = measures::convert::zcdp_delta(&"0.25".parse().unwrap(), &exact("1"));
    let claimed = bars.map().loss(&1).unwrap();
    assert!(*claimed.delta() < general);
    let report = audit_answer(&bars, vec![0], vec![1]);
    assert!(delta(&report, &exact("1")).1 <= claimed.delta().to_f64(Round::Down));
    let huge = DiscreteGaussian::with_scale(ratio(100_000, 1)).unwrap();
    let huge = add_noise(ApproxGaussian::new(huge, exact("0.001")).unwrap());
    assert!(huge.map().loss(&Exact::ONE).unwrap().delta() < &exact("1e-6"));
}
