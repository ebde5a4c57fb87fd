//! The experiments with the figures of the papers and of `docs/experiments.md`. The programs are in
//! `examples/experiments`.

#[path = "../examples/experiments/adjacency.rs"]
mod adjacency;
#[path = "../examples/experiments/filters.rs"]
mod filters;
#[path = "../examples/experiments/linear_programs.rs"]
mod linear_programs;
#[path = "../examples/experiments/reduction.rs"]
mod reduction;
#[path = "../examples/experiments/separation.rs"]
mod separation;
#[path = "../examples/experiments/shared.rs"]
mod shared;
#[path = "../examples/experiments/simulation.rs"]
mod simulation;
#[path = "../examples/experiments/stopping.rs"]
mod stopping;
#[path = "../examples/experiments/universal.rs"]
mod universal;

use auditor::Factor;
use dashu_ratio::RBig;
use measures::RenyiEpsilon;
use separation::{Side, crossed, printed, rogers, tight, whitehouse};

fn near(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < within, "{found:?}, expected {expected:?}");
    }
}

#[test]
fn randomized_response_simulates_pure_mechanisms() {
    assert_eq!(simulation::run(40, 1).unwrap(), 40);
}

#[test]
fn linear_programs_are_feasible_and_certified() {
    let found = linear_programs::run(200, 4, 2).unwrap();
    assert_eq!(
        (found.trials, found.feasible, found.certified),
        (200, 200, 50)
    );
    // The program can say no: with a smaller ε there is no such post-processing.
    let dice = shared::Dice::new(9).unwrap();
    let mechanism = shared::TwoRounds::roll(&dice, 5).unwrap();
    let factor = mechanism.audited().unwrap().factor(&RBig::ZERO).unwrap();
    let t = shared::decimal(factor.as_rational());
    assert!(linear_programs::solve(&mechanism, t, 0.0).unwrap() < 1e-7);
    assert!(linear_programs::solve(&mechanism, 0.9 * t, 0.0).unwrap() > 1e-4);
}

#[test]
fn advanced_composition_is_no_time_uniform_odometer() {
    let rounds = [100, 300, 1000, 3000];
    let found = crossed(0.1, Side::One, &rounds, tight(0.1, 0.1));
    near(&found, &[0.10837, 0.14412, 0.18176, 0.21465], 5e-6);
    let found = crossed(0.1, Side::Both, &rounds, tight(0.1, 0.1));
    near(&found, &[0.14457, 0.18093, 0.21779, 0.24965], 5e-6);
    let found = crossed(0.02, Side::One, &rounds, printed(0.02, 0.1));
    near(&found, &[0.10936, 0.13523, 0.15662, 0.16852], 5e-6);
    let found = crossed(0.02, Side::Both, &rounds, printed(0.02, 0.1));
    near(&found, &[0.19795, 0.23641, 0.26283, 0.27493], 5e-6);
    let found = crossed(0.1, Side::Both, &rounds, whitehouse(0.1, 0.1));
    near(&found, &[0.14457, 0.18093, 0.21771, 0.24943], 5e-6);
    let found = crossed(0.1, Side::Both, &rounds, rogers(0.1, 0.1, 1024));
    near(&found, &[0.0; 4], 5e-6);
}

#[test]
fn the_loss_grows_until_it_stops() {
    let (fixed, rounds) = stopping::run(10, 25, 5).unwrap();
    assert_eq!(fixed, "1");
    assert!(rounds.len() > 1);
    for (at, (answer, loss)) in rounds.iter().enumerate() {
        assert_eq!(*answer > 25, at + 1 == rounds.len());
        let expected = "0.1".parse::<exact::Exact>().unwrap().times(at as u64 + 1);
        assert_eq!(*loss, expected.to_string());
    }
}

#[test]
fn a_filter_for_three_is_a_post_processing_of_filters_for_two() {
    let found = universal::run(4, 3).unwrap();
    assert!(found.reduction && found.universal);
    let generous: RenyiEpsilon = "100 at order 2".parse().unwrap();
    assert!(found.report.claims(&generous).unwrap().holds());
    assert!(found.report.total_variation().least > RBig::ZERO);
}

#[test]
fn a_concurrent_filter_is_a_post_processing_of_a_filter_of_randomized_responses() {
    let (same, budget, report) = reduction::run(4, 4).unwrap();
    assert!(same);
    assert!(report.claims(&budget).unwrap().holds());
    assert!(report.total_variation().least > RBig::ZERO);
}

#[test]
fn one_account_over_datasets_chosen_per_launch() {
    let (budget, report) = adjacency::run(3).unwrap();
    assert!(report.claims(&budget).unwrap().holds());
    assert_eq!(report.factor(&RBig::ZERO), Some(Factor::new(6, 1).unwrap()));
}
