//! Where a declared sensitivity could be read as a smaller one, the claim holds all the same: inputs that are never one
//! unit apart, and integers at distances that are fractions of a unit. All audited exactly, and tight.

use crate::common::*;
use exact::{Exact, Round};
use measures::{AbsoluteDistance, Measure};
use mechanisms::{
    decimal::{FiniteFloats, Grid, add_noise_on_grid},
    samplers::DiscreteGaussian,
    selection::{Scores, exponential, exponential_zcdp, report_noisy_max},
    sparse::{Above, Sensitivity, SparseVector},
};
use odometer::{Measurement, Space};

/// The even integers: no two of them are one apart.
#[derive(Clone, Debug, PartialEq)]
struct Even;

impl Space for Even {
    type Data = i64;
    type Distance = Exact;
    type Metric = AbsoluteDistance;

    fn metric(&self) -> &AbsoluteDistance {
        &AbsoluteDistance
    }

    fn contains(&self, x: &i64) -> bool {
        x % 2 == 0
    }
}

/// Between even integers one apart (there are none) the questions x and −x move together. `Sensitivity::together` is not
/// to be had for them (a `compile_fail` example of `KnownOn`), and this is why: its rate is refuted.
#[test]
fn moving_together_says_nothing_where_no_two_inputs_are_one_apart() {
    let parameters = SparseVector::new(1, one_sided(1, 6, 12), one_sided(1, 6, 12)).unwrap();
    let svt = parameters.measurement(Even, Sensitivity::UNIT, |x: &i64, sign: &i64| x * sign);
    let at = |sign| Above {
        query: sign,
        threshold: 1,
    };
    let report = audit_script(&svt, 0, 2, &[at(1), at(1), at(-1)]);
    let claimed = svt.map().loss(&exact("2")).unwrap();
    holds(&report, claimed.value(), 1e-3);
    let together = parameters.loss(Sensitivity::together(1).unwrap());
    let (least, _) = delta(&report, &together.value().times(2));
    assert!(least > 0.0);
}

/// What is claimed at the distance of these inputs.
fn claimed<M: Measure, A: 'static>(
    measurement: &Measurement<FiniteFloats, M, A>,
    (zero, one): (f64, f64),
) -> M::Loss {
    let apart = Exact::try_from((one - zero).abs()).unwrap();
    measurement.map().loss(&apart).unwrap()
}

/// Inputs less than a unit apart, and a little more than one, on both sides of where a float is rounded to an integer.
const PAIRS: [(f64, f64); 4] = [(0.25, 0.75), (0.49, 0.51), (0.25, 1.75), (-0.75, 0.75)];

#[test]
fn integer_scores_at_fractional_distances() {
    let epsilon = exact("1");
    // Times the sensitivity, too: an author may round first and multiply then.
    for times in [1, 3] {
        let sensitivity = Exact::from(times as u32);
        let score = move |x: &f64, i: usize| [times, -times][i] * x.round() as i64;
        let scores = || Scores::new(2, &sensitivity, score).unwrap();
        let flip = report_noisy_max(FiniteFloats, scores(), &epsilon).unwrap();
        let choice = exponential(FiniteFloats, scores(), &epsilon).unwrap();
        let zcdp = exponential_zcdp(FiniteFloats, scores(), &epsilon).unwrap();
        for pair in PAIRS {
            for choice in [&choice, &flip] {
                let report = audit_answer(choice, pair.0, pair.1);
                holds(&report, claimed(choice, pair).value(), 1e-14);
            }
            let report = audit_answer(&zcdp, pair.0, pair.1);
            let rho = claimed(&zcdp, pair);
            for epsilon in ["0.1", "0.5", "1"].map(exact) {
                let converted = measures::convert::zcdp_delta(&rho, &epsilon);
                assert!(delta(&report, &epsilon).1 <= converted.to_f64(Round::Up));
            }
        }
        // Half a unit costs as much as a whole one, and not less.
        assert_eq!(claimed(&choice, (0.0, 0.5)), claimed(&choice, (0.0, 1.0)));
        assert_eq!(claimed(&zcdp, (0.0, 0.5)), claimed(&zcdp, (0.0, 1.0)));
        let report = audit_answer(&choice, 0.25, 0.75);
        assert!(delta(&report, &exact("0.5")).0 > 0.0);
    }
}

/// A score of sensitivity one half: the integer changes by one where what it was rounded from changes by a half.
#[test]
fn integer_scores_of_fractional_sensitivity() {
    let half = exact("0.5");
    let score = |x: &f64, i: usize| [1, -1][i] * (x / 2.0).round() as i64;
    let scores = Scores::new(2, &half, score).unwrap();
    let choice = exponential(FiniteFloats, scores, exact("0.5")).unwrap();
    for pair in [(0.5, 1.5), (0.5, 2.5), (0.9, 1.1), (0.0, 6.0)] {
        let report = audit_answer(&choice, pair.0, pair.1);
        holds(&report, claimed(&choice, pair).value(), 1e-14);
    }
    // A change by one is a change by 2Δ. At whole multiples of it, nothing is lost.
    assert_eq!(claimed(&choice, (0.0, 0.5)).to_string(), "1");
    assert_eq!(claimed(&choice, (0.0, 4.0)).to_string(), "2");
}

#[test]
fn integer_queries_at_fractional_distances() {
    let parameters = SparseVector::new(1, one_sided(1, 6, 12), one_sided(1, 6, 12)).unwrap();
    let svt = parameters.measurement(FiniteFloats, Sensitivity::UNIT, |x: &f64, sign: &i64| {
        sign * x.round() as i64
    });
    let at = |sign| Above {
        query: sign,
        threshold: 1,
    };
    for pair in PAIRS {
        let report = audit_script(&svt, pair.0, pair.1, &[at(1), at(1), at(-1)]);
        holds(&report, claimed(&svt, pair).value(), 1e-3);
    }
    let report = audit_script(&svt, 0.25, 0.75, &[at(1), at(1), at(-1)]);
    let half = claimed(&svt, (0.0, 1.0)).value().split(2);
    assert!(delta(&report, &half).0 > 0.0);
    assert_eq!(claimed(&svt, (0.0, 0.5)), claimed(&svt, (0.0, 1.0)));
}

/// Distances below one step of the grid count as one step, for both kinds of noise.
#[test]
fn grids_at_fractions_of_a_step() {
    let tenths = Grid::new(1).unwrap();
    let laplace = add_noise_on_grid(tenths, geometric(1, 2, 30));
    let report = audit_answer(&laplace, 0.04, 0.06);
    is_tight(&report, claimed(&laplace, (0.04, 0.06)).value(), 1e-8);
    let gaussian = DiscreteGaussian::with_scale(ratio(2, 1)).unwrap();
    let gaussian = add_noise_on_grid(tenths, gaussian);
    let whole = gaussian.map().loss(&exact("0.1")).unwrap();
    assert_eq!(claimed(&gaussian, (0.04, 0.06)), whole);
}
