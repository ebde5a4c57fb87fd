//! What is printed is rounded in the direction of the claim, and readable.

use crate::common::{always, audited_response, probability};
use auditor::{Direction, Factor, Input, audit};
use dashu_ratio::RBig;
use queryable::{Root, machine};

#[test]
fn printed_bounds_are_bounds() {
    // Tells its input with probability p, just below 2/3: δ ≥ p at every ε, and 0.6666667 is above p.
    let p = probability(2_000_000_000_000, 3_000_000_000_001);
    let build = |input: Input, root: &Root| {
        let tells = queryable::coins::Bit::new(p.clone());
        root.spawn(machine(move |(), scope| {
            Ok(scope.draw(&tells)?.then_some(input))
        }))
    };
    let report = audit(build).asking(1, always(vec![()])).unwrap();
    let attack = report.best_attack(&Factor::new(2, 1).unwrap());
    assert_eq!(
        attack.claim,
        "accepts with probability at least 0.6666666 on input 0 and 0 on input 1: δ ≥ 0.6666666 at every ε"
    );
    let text = attack.to_string();
    assert!(text.contains("accept: p0 = 0.6666666…, p1 = 0"), "{text}");
    assert_eq!(report.total_variation().to_string(), "0.6666666…");
    // From above: δ ≤ 0.6666667.
    let claim: measures::EpsilonDelta = "(0, 0.66666667)".parse().unwrap();
    let text = report.claims(&claim).unwrap().to_string();
    assert!(
        text.starts_with("holds: δ(ε) ≤ 0.6666667 where 0.6666667 was"),
        "{text}"
    );
    let bounds = auditor::Enclosure {
        least: p.to_rational(),
        most: p.to_rational() + RBig::from_parts(1.into(), 1_000_000_000u64.into()),
    };
    assert_eq!(bounds.to_string(), "between 0.6666666 and 0.6666667");
    // ε that would do: ln 3 = 1.09861228866810969…
    let verdict = audited_response(3, 4)
        .claims(&"2".parse::<measures::Epsilon>().unwrap())
        .unwrap();
    assert!(
        verdict
            .to_string()
            .contains("; ε = 1.0986122886681097 would do"),
        "{verdict}"
    );
    let bounds = audited_response(3, 4)
        .renyi(&2u32.into(), Direction::ZeroOverOne)
        .unwrap();
    assert_eq!(bounds.to_string(), "0.8472978603872…"); // ln(7/3) = 0.84729786038720361…
    let attack = audited_response(3, 4)
        .renyi_attack(&2u32.into(), Direction::ZeroOverOne)
        .unwrap();
    assert!(
        attack.claim.contains("at least 0.8472978603872 of order 2"),
        "{attack}"
    );
}

#[test]
fn attacks_print_readably() {
    let text = audited_response(3, 4).best_attack(&Factor::ONE).to_string();
    let expected = "accepts with probability 0.75 (3/4) on input 0 and 0.25 (1/4) on input 1: δ ≥ 0.5 (1/2) at e^ε = 1\n\
                    ask ()\n  false → accept: p0 = 0.75 (3/4), p1 = 0.25 (1/4)\n  true → stop: p0 = 0.25 (1/4), p1 = 0.75 (3/4)\n";
    assert_eq!(text, expected);
}
