//! The loss of randomized responses with different parameters, exactly: all outcomes of either
//! half of the parameters are listed and sorted, and a tail of the whole is a walk along both
//! lists. This is the numeric core of optimal composition with few different parameters.

use dashu_int::IBig;
use dashu_int::ops::Gcd;
use dashu_ratio::RBig;
use exact::Round;

use super::least_epsilon::LossTail;
use exact::interval::{Float, Interval};

/// Equal parameters count as one group: `count` responses of `epsilon` each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) epsilon: RBig,
    pub(crate) count: u64,
}

/// Neither half is longer than this.
const LONGEST_HALF: u64 = 1 << 12;

pub(crate) struct DifferentLoss {
    /// Losses are integers over this.
    denominator: IBig,
    left: Vec<Outcome>,
    /// Sorted; with the sums of the weights from here to the end.
    right: Vec<Outcome>,
    sum: RBig,
    bits: usize,
}

/// A value of the loss with its probabilities under both laws.
#[derive(Clone)]
struct Outcome {
    loss: IBig,
    p: Interval,
    q: Interval,
}

impl DifferentLoss {
    /// `None` if the parameters have too many outcomes, or the precision does not suffice.
    pub(crate) fn new(groups: &[Group], bits: usize) -> Option<DifferentLoss> {
        let (left, right) = split(groups)?;
        let denominator = groups.iter().fold(IBig::ONE, |common, group| {
            let own = IBig::from(group.epsilon.denominator().clone());
            let shared = IBig::from((&common).gcd(&own));
            common * own / shared
        });
        let left = outcomes(&left, &denominator, bits)?;
        let mut right = outcomes(&right, &denominator, bits)?;
        for i in (0..right.len() - 1).rev() {
            right[i].p = &right[i].p + &right[i + 1].p;
            right[i].q = &right[i].q + &right[i + 1].q;
        }
        let sum = groups
            .iter()
            .map(|group| &group.epsilon * RBig::from(group.count));
        let sum = sum.fold(RBig::ZERO, |sum, part| sum + part);
        Some(DifferentLoss {
            denominator,
            left,
            right,
            sum,
            bits,
        })
    }

    /// Whether the exact method applies.
    pub(crate) fn is_feasible(groups: &[Group]) -> bool {
        split(groups).is_some()
    }
}

impl LossTail for DifferentLoss {
    fn tail(&self, x: &Float) -> Option<(Interval, Interval)> {
        let threshold = (x.to_rational() * RBig::from(self.denominator.clone())).floor();
        let mut p = Interval::int(0u8, self.bits);
        let mut q = Interval::int(0u8, self.bits);
        let mut from = self.right.len();
        for left in &self.left {
            while from > 0 && &left.loss + &self.right[from - 1].loss > threshold {
                from -= 1;
            }
            if let Some(right) = self.right.get(from) {
                p = &p + &(&left.p * &right.p);
                q = &q + &(&left.q * &right.q);
            }
        }
        Some((p, q))
    }

    fn largest(&self) -> Float {
        Float::from_rational(&self.sum, self.bits, Round::Up)
    }
}

/// Both halves, the larger groups first, each to the shorter side.
fn split(groups: &[Group]) -> Option<(Vec<Group>, Vec<Group>)> {
    let mut groups = groups.to_vec();
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let (mut left_size, mut right_size) = (1u64, 1u64);
    for group in groups {
        let outcomes = group.count.saturating_add(1);
        if left_size <= right_size {
            left_size = left_size.saturating_mul(outcomes);
            left.push(group);
        } else {
            right_size = right_size.saturating_mul(outcomes);
            right.push(group);
        }
    }
    (left_size.max(right_size) <= LONGEST_HALF).then_some((left, right))
}

fn outcomes(groups: &[Group], denominator: &IBig, bits: usize) -> Option<Vec<Outcome>> {
    let one = Interval::int(1u8, bits);
    let mut all = vec![Outcome {
        loss: IBig::ZERO,
        p: one.clone(),
        q: one,
    }];
    for group in groups {
        let of_group = group_outcomes(group, denominator, bits)?;
        all = all
            .iter()
            .flat_map(|old| of_group.iter().map(move |new| joint(old, new)))
            .collect();
    }
    all.sort_by(|a, b| a.loss.cmp(&b.loss));
    Some(all)
}

fn joint(a: &Outcome, b: &Outcome) -> Outcome {
    Outcome {
        loss: &a.loss + &b.loss,
        p: &a.p * &b.p,
        q: &a.q * &b.q,
    }
}

/// Outcome `i` of a group: `i` of its responses tell the truth.
fn group_outcomes(group: &Group, denominator: &IBig, bits: usize) -> Option<Vec<Outcome>> {
    let unit = (&group.epsilon * RBig::from(denominator.clone())).floor();
    let odds = Interval::rational(&group.epsilon, bits + 64).exp()?;
    let one = Interval::int(1u8, bits + 64);
    let lie = one.div(&(&one + &odds))?;
    let truth = (&odds * &lie).with_bits(bits);
    let lie = lie.with_bits(bits);
    let truths = powers(&truth, group.count);
    let lies = powers(&lie, group.count);
    let k = group.count;
    let mut choices = IBig::ONE;
    let mut result = Vec::new();
    for i in 0..=k {
        let ways = Interval::int(choices.clone(), bits);
        let (true_part, false_part) = (&truths[i as usize], &lies[(k - i) as usize]);
        let (true_swap, false_swap) = (&truths[(k - i) as usize], &lies[i as usize]);
        result.push(Outcome {
            loss: (IBig::from(2 * i) - IBig::from(k)) * &unit,
            p: &ways * &(true_part * false_part),
            q: &ways * &(true_swap * false_swap),
        });
        choices = choices * IBig::from(k - i) / IBig::from(i + 1);
    }
    Some(result)
}

/// `x^0, …, x^n`.
fn powers(x: &Interval, n: u64) -> Vec<Interval> {
    let mut power = Interval::int(1u8, x.bits);
    let mut all = vec![power.clone()];
    for _ in 0..n {
        power = &power * x;
        all.push(power.clone());
    }
    all
}
