//! Plain, slow, high-precision references, by dashu's own floats: no code shared with the crate under test.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use exact::Exact;

pub type Real = FBig<HalfEven, 2>;

pub const BITS: usize = 400;

pub fn int(value: u64) -> Real {
    Real::from(value).with_precision(BITS).value()
}

pub fn real(value: &Exact) -> Real {
    let value = value.to_rational().unwrap();
    let numerator = Real::from(value.numerator().clone())
        .with_precision(BITS)
        .value();
    let denominator = Real::from(value.denominator().clone())
        .with_precision(BITS)
        .value();
    numerator / denominator
}

pub fn parse(text: &str) -> Real {
    real(&text.parse().unwrap())
}

/// `Σ_i C(k,i) max(e^(iε) − e^(x+(k−i)ε), 0) / (1+e^ε)^k`, term by term.
pub fn equal_delta(k: u64, epsilon: &Real, x: &Real) -> Real {
    let odds = epsilon.exp();
    let lie = int(1) / (int(1) + &odds);
    let mut truths = lie.powi(k.into());
    let back = int(1) / &odds;
    let mut lies = &truths * &odds.powi(k.into());
    let scale = x.exp();
    let mut choices = int(1);
    let mut sum = int(0);
    for i in 0..=k {
        let gap = &truths - &scale * &lies;
        if gap > int(0) {
            sum += &choices * gap;
        }
        choices = choices * int(k - i) / int(i + 1);
        truths *= &odds;
        lies *= &back;
    }
    sum
}

/// The same over all subsets, for different parameters.
pub fn different_delta(epsilons: &[Real], x: &Real) -> Real {
    let mut laws = vec![(int(1), int(1))];
    for epsilon in epsilons {
        let truth = int(1) / (int(1) + int(1) / epsilon.exp());
        let lie = int(1) - &truth;
        laws = laws
            .iter()
            .flat_map(|(p, q)| [(p * &truth, q * &lie), (p * &lie, q * &truth)])
            .collect();
    }
    let scale = x.exp();
    let gaps = laws
        .iter()
        .map(|(p, q)| p - &scale * q)
        .filter(|gap| *gap > int(0));
    gaps.fold(int(0), |sum, gap| sum + gap)
}

/// `1 − (1−δ_g)/(1−δ)^k`.
pub fn target(delta_g: &Real, delta: &Real, k: u64) -> Real {
    int(1) - (int(1) - delta_g) / (int(1) - delta).powi(k.into())
}
