//! Pairs with rational probabilities, composed answer by answer, and numbers that choose them.

use dashu_ratio::RBig;

/// Numbers that look random, the same in every run (Marsaglia's xorshift).
pub struct Cases(pub u64);

impl Cases {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Answers with their probabilities on both sides.
pub type Pairs = Vec<(RBig, RBig)>;

/// No answer yet.
pub fn nothing() -> Pairs {
    vec![(RBig::ONE, RBig::ONE)]
}

/// All joint answers of these, and of so many with one pair more.
pub fn with(joint: Pairs, pair: &Pairs, count: u64) -> Pairs {
    let one_more = |joint: Pairs, _| {
        let answers = |(a, b): (RBig, RBig)| pair.iter().map(move |(p, q)| (&a * p, &b * q));
        joint.into_iter().flat_map(answers).collect()
    };
    (0..count).fold(joint, one_more)
}

/// The exact δ at these odds, in both directions.
pub fn delta(joint: &Pairs, odds: &RBig) -> RBig {
    let one_way = |swap: bool| {
        joint.iter().fold(RBig::ZERO, |sum, (p, q)| {
            let (p, q) = if swap { (q, p) } else { (p, q) };
            let gap = p - odds * q;
            if gap > RBig::ZERO { sum + gap } else { sum }
        })
    };
    one_way(false).max(one_way(true))
}
