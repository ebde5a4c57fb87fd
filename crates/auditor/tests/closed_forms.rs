//! The exact auditor against closed forms: δ, trade-offs, power sums, Rényi divergences.

use crate::common::{always, audited_response, probability, ratio};
use auditor::{AuditError, Direction, Factor, Input, audit, player};
use dashu_ratio::RBig;
use exact::Exact;
use queryable::{Root, machine, once};

#[test]
fn randomized_response_by_closed_form() {
    let report = audited_response(3, 4);
    assert_eq!(report.total_variation().value(), Some(&ratio(1, 2)));
    assert_eq!(
        report.delta(&Factor::new(2, 1).unwrap()).value(),
        Some(&ratio(1, 4))
    );
    assert_eq!(
        report.delta(&Factor::new(3, 1).unwrap()).value(),
        Some(&RBig::ZERO)
    );
    assert_eq!(report.factor(&RBig::ZERO), Some(Factor::new(3, 1).unwrap()));
    assert_eq!(
        report.factor(&ratio(1, 4)),
        Some(Factor::new(2, 1).unwrap())
    );
    for direction in Direction::BOTH {
        let profile = report.profile(direction);
        assert_eq!(
            profile.trade_off(&RBig::ZERO).unwrap().value(),
            Some(&RBig::ONE)
        );
        assert_eq!(
            profile.trade_off(&ratio(1, 8)).unwrap().value(),
            Some(&ratio(5, 8))
        );
        assert_eq!(
            profile.trade_off(&ratio(1, 4)).unwrap().value(),
            Some(&ratio(1, 4))
        );
        assert_eq!(
            profile.trade_off(&ratio(5, 8)).unwrap().value(),
            Some(&ratio(1, 8))
        );
        // 3/4·3 + 1/4·1/3
        assert_eq!(report.power_sum(2, direction).unwrap(), Some(ratio(7, 3)));
        let pieces: Vec<_> = profile
            .pieces()
            .into_iter()
            .map(|p| (p.from, p.y, p.x))
            .collect();
        let expected = [
            (RBig::ZERO, RBig::ONE, RBig::ONE),
            (ratio(1, 3), ratio(3, 4), ratio(1, 4)),
            (ratio(3, 1), RBig::ZERO, RBig::ZERO),
        ];
        assert_eq!(pieces, expected);
    }
}

#[test]
fn renyi_intervals_hold_the_exact_power_sums() {
    let report = audited_response(3, 4);
    for order in [2u32, 3, 7] {
        let sum = report
            .power_sum(order, Direction::ZeroOverOne)
            .unwrap()
            .unwrap();
        let bounds = report.renyi(&order.into(), Direction::ZeroOverOne).unwrap();
        let log = |round| {
            Exact::from_rational(&sum, round)
                .unwrap()
                .ln(round)
                .unwrap()
        };
        let truth = (log(exact::Round::Down), log(exact::Round::Up));
        let scaled = |bound: &Exact| bound.times(u64::from(order) - 1);
        assert!(scaled(&bounds.least) <= truth.1 && truth.0 <= scaled(&bounds.most));
        let gap = bounds.most.checked_sub(&bounds.least).unwrap();
        assert!(gap < "1e-13".parse().unwrap(), "{gap}");
    }
    let half = report
        .renyi(&"1.5".parse().unwrap(), Direction::ZeroOverOne)
        .unwrap();
    // ln(3/4·√3 + 1/4/√3) / 0.5
    let truth = 2.0 * (0.75 * 3f64.sqrt() + 0.25 / 3f64.sqrt()).ln();
    assert!((half.least.to_f64(exact::Round::Down) - truth).abs() < 1e-12);
    assert!(report.renyi(&Exact::ONE, Direction::ZeroOverOne).is_err());
}

#[test]
fn zeros_count_in_the_direction_in_which_they_are_zeros() {
    let leak = |input: Input, root: &Root| {
        root.spawn(machine(move |(), scope| {
            let shown = scope.draw(&queryable::coins::Bit::new(probability(1, 10)))?;
            Ok(shown && input == Input::One)
        }))
    };
    let report = audit(leak).asking(1, always(vec![()])).unwrap();
    assert_eq!(report.power_sum(2, Direction::OneOverZero).unwrap(), None);
    // Σ p0²/p1 = 1/(9/10)
    assert_eq!(
        report.power_sum(2, Direction::ZeroOverOne).unwrap(),
        Some(ratio(10, 9))
    );
    assert!(
        report
            .renyi(&2u32.into(), Direction::OneOverZero)
            .unwrap()
            .least
            .is_infinite()
    );
    assert_eq!(report.profile(Direction::OneOverZero).largest_ratio(), None);
    let ratio_of_zero = report.profile(Direction::ZeroOverOne).largest_ratio();
    assert_eq!(ratio_of_zero, Some(Factor::new(10, 9).unwrap()));
    assert_eq!(report.factor(&ratio(1, 10)), Some(Factor::ONE));
}

#[test]
fn errors_and_panics_are_answers() {
    let fails = |input: Input, root: &Root| {
        root.spawn(once(move |mode: u8, _| match (mode, input) {
            (0, Input::Zero) => Err(queryable::AskError::failed("no")),
            (1, Input::Zero) => panic!("expected by the test"),
            _ => Ok(()),
        }))
    };
    for mode in 0..2 {
        let report = audit(fails).asking(1, always(vec![mode])).unwrap();
        assert_eq!(report.total_variation().value(), Some(&RBig::ONE));
    }
    let unborn = |input: Input, _: &Root| match input {
        Input::Zero => Err(queryable::AskError::NoEntropy),
        Input::One => Ok(player(|()| Ok(()))),
    };
    let report = audit(unborn).asking(1, always(vec![()])).unwrap();
    assert_eq!(report.total_variation().value(), Some(&RBig::ONE));
}

#[test]
fn a_type_one_error_is_a_probability() {
    for profile in
        Direction::BOTH.map(|direction| audited_response(3, 4).profile(direction).clone())
    {
        for wrong in [ratio(-1, 1), ratio(-1, 1 << 60), ratio(2, 1)] {
            let found = profile.trade_off(&wrong);
            assert!(
                matches!(found, Err(AuditError::Parameter { .. })),
                "{wrong}"
            );
        }
        let all = profile.trade_off(&RBig::ONE).unwrap();
        assert_eq!(all.value(), Some(&RBig::ZERO));
    }
}

#[test]
fn an_order_whose_power_sum_would_not_fit_is_a_typed_error() {
    let found = audited_response(3, 4).power_sum(u32::MAX, Direction::ZeroOverOne);
    assert!(matches!(found, Err(AuditError::Parameter { .. })));
    assert!(
        audited_response(3, 4)
            .power_sum(10_000, Direction::ZeroOverOne)
            .is_ok()
    );
}
