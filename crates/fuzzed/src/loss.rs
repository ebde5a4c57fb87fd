//! Losses: from text, and from JSON.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use exact::Exact;
use measures::adaptive::{ApproxGaussianComposition, GaussianComposition};
use measures::{
    Adaptive, ApproxDp, ApproxZcdp, Basic, Epsilon, EpsilonDelta, FilterRule, Loss, Measure, Mu,
    MuDelta, Orders, Profile, ProfileDp, PureDp, RenyiCurve, RenyiCurveDp, RenyiDp, RenyiEpsilon,
    Rho, RhoDelta, Rule, Tally, Tradeoff, TradeoffDp, Zcdp, laws,
};
use serde::{Serialize, de::DeserializeOwned};

/// The first byte chooses a measure; each of the next three lines is a loss, as text or as JSON.
pub fn losses(input: &[u8]) {
    let Some((&which, rest)) = input.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    let lines: Vec<&str> = text.lines().take(3).collect();
    match which {
        b'p' => adaptive(&Basic::new(PureDp), &both::<Epsilon>(&lines, |_| true)),
        b'a' => adaptive(
            &Basic::new(ApproxDp),
            &both::<EpsilonDelta>(&lines, |_| true),
        ),
        b'z' => adaptive(&Basic::new(Zcdp), &both::<Rho>(&lines, |_| true)),
        b'q' => adaptive(&Basic::new(ApproxZcdp), &both::<RhoDelta>(&lines, |_| true)),
        b'g' => adaptive(&GaussianComposition, &both::<Mu>(&lines, |_| true)),
        b'h' => adaptive(
            &ApproxGaussianComposition,
            &both::<MuDelta>(&lines, |_| true),
        ),
        b'r' => renyi(&both(&lines, has_short_order)),
        b'c' => curves(&written(&lines)),
        b'f' => profiles(&written(&lines)),
        b't' => tradeoffs(&written(&lines)),
        _ => {}
    }
}

/// Whether a loss that is shown keeps its order. One with more than 17 digits is shown as another order, and losses of
/// different orders cannot be compared.
fn has_short_order(loss: &RenyiEpsilon) -> bool {
    loss.order().to_string().parse().as_ref() == Ok(loss.order())
}

/// What text says, and JSON.
fn both<L: Loss + FromStr<Err = measures::LossError> + Serialize + DeserializeOwned>(
    lines: &[&str],
    comparable: impl Fn(&L) -> bool,
) -> Vec<L> {
    let mut found = written(lines);
    for line in lines {
        match line.parse::<L>() {
            Ok(loss) => {
                reads_back(&loss);
                // `Display` rounds up, and what is shown of a rest rounds down; at both ends of the range, a short decimal
                // may not be in it.
                let (up, down) = (loss.to_string().parse(), loss.shown_down().parse());
                let shown = comparable(&loss);
                assert!(!shown || up.ok().is_none_or(|up| loss.at_most(&up)));
                assert!(!shown || down.ok().is_none_or(|down: L| down.at_most(&loss)));
                found.push(loss);
            }
            Err(error) => crate::check_error(&error),
        }
    }
    found
}

/// What JSON says.
fn written<L: PartialEq + Debug + Serialize + DeserializeOwned>(lines: &[&str]) -> Vec<L> {
    let read = |line: &&str| serde_json::from_str(line).ok();
    let found: Vec<L> = lines.iter().filter_map(read).collect();
    found.iter().for_each(reads_back);
    found
}

fn reads_back<L: PartialEq + Debug + Serialize + DeserializeOwned>(loss: &L) {
    let text = serde_json::to_string(loss).unwrap_or_default();
    let again = serde_json::from_str::<L>(&text);
    assert!(again.is_ok_and(|again| again == *loss), "{text}");
}

fn holds(checked: Result<(), impl Display>) {
    if let Err(violation) = checked {
        panic!("{violation}");
    }
}

/// Every loss is a loss of its measure, sums do not depend on the order, and what remains fits exactly.
fn adaptive<M, R>(rule: &R, losses: &[M::Loss])
where
    M: Measure,
    R: Adaptive + Rule<Child = M, Total = M>,
{
    holds(laws::check_measure(&rule.child(), losses));
    holds(laws::check_tally(rule, losses));
    let [first, .., budget] = losses else {
        return;
    };
    let Ok(gate) = rule.open(budget) else {
        return;
    };
    let spent = rule.start().after(first, 1);
    if let Some(rest) = rule.remaining(&gate, &spent) {
        assert!(rule.fits(&gate, &spent.after(&rest, 1)), "{rest} is left");
    }
    if rule.fits(&gate, &spent) {
        assert!(first.at_most(budget), "{first} fits {budget}");
    }
}

fn renyi(losses: &[RenyiEpsilon]) {
    let Some(order) = losses.first().map(|loss| loss.order().clone()) else {
        return;
    };
    let Ok(measure) = RenyiDp::new(order.clone()) else {
        panic!("the order {order} was read");
    };
    let same: Vec<RenyiEpsilon> = losses
        .iter()
        .filter(|loss| *loss.order() == order)
        .cloned()
        .collect();
    adaptive(&Basic::new(measure), &same);
}

fn curves(losses: &[RenyiCurve]) {
    let Some(orders) = losses.first().map(|loss| loss.orders().clone()) else {
        return;
    };
    assert_eq!(
        Orders::new(orders.as_slice().to_vec()).as_ref(),
        Ok(&orders)
    );
    let same: Vec<RenyiCurve> = losses
        .iter()
        .filter(|loss| *loss.orders() == orders)
        .cloned()
        .collect();
    adaptive(&Basic::new(RenyiCurveDp::new(orders)), &same);
}

fn profiles(losses: &[Profile]) {
    holds(laws::check_measure(&ProfileDp, losses));
    for loss in losses {
        for epsilon in [Exact::ZERO, Exact::ONE, Exact::INFINITY] {
            assert!(loss.delta_at(&epsilon) <= Exact::ONE);
        }
        assert_eq!(loss.epsilon_at(&Exact::ONE), Exact::ZERO);
    }
}

fn tradeoffs(losses: &[Tradeoff]) {
    holds(laws::check_measure(&TradeoffDp, losses));
    for loss in losses {
        for (x, y) in loss.corners() {
            assert!(x + y <= Exact::ONE);
        }
        assert_eq!(loss.at(&Exact::ONE, exact::Round::Up), Exact::ZERO);
    }
}
