//! Rogers' separation (\[RRUV16\] Thm 6.1, Alg 5): play RR_ε and stop when the realized loss passes a curve. The
//! probability that it ever does, by the law of the walk that the loss makes.

/// Which crossings count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The loss itself.
    One,
    /// Its absolute value.
    Both,
}

/// The probabilities that the loss of RR_ε has passed `curve(t)` at some round, by each of these rounds.
pub fn crossed(
    epsilon: f64,
    side: Side,
    rounds: &[usize],
    curve: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let last = rounds.iter().copied().max().unwrap_or(0);
    let up = epsilon.exp() / (1.0 + epsilon.exp());
    // The mass of walks that have not crossed, by position: index `last + position`.
    let mut mass = vec![0.0; 2 * last + 3];
    mass[last] = 1.0;
    let (mut gone, mut found) = (0.0, Vec::new());
    for t in 1..=last {
        let bound = curve(t);
        let mut next = vec![0.0; mass.len()];
        for at in (last + 1 - t..=last + t - 1).step_by(2) {
            next[at + 1] += mass[at] * up;
            next[at - 1] += mass[at] * (1.0 - up);
        }
        for at in (last - t..=last + t).step_by(2) {
            let loss = epsilon * (at as f64 - last as f64);
            if loss > bound || (side == Side::Both && -loss > bound) {
                gone += std::mem::take(&mut next[at]);
            }
        }
        mass = next;
        if rounds.contains(&t) {
            found.push(gone);
        }
    }
    found
}

/// Advanced composition with the tight drift: `t·ε·tanh(ε/2) + ε√(2t ln(1/δ))`.
pub fn tight(epsilon: f64, delta: f64) -> impl Fn(usize) -> f64 {
    move |t| {
        let t = t as f64;
        t * epsilon * (epsilon / 2.0).tanh() + epsilon * (2.0 * t * (1.0 / delta).ln()).sqrt()
    }
}

/// Advanced composition as printed (\[RRUV16\] Thm 2.10): drift `ε(e^ε − 1)`.
pub fn printed(epsilon: f64, delta: f64) -> impl Fn(usize) -> f64 {
    move |t| {
        let t = t as f64;
        t * epsilon * epsilon.exp_m1() + epsilon * (2.0 * t * (1.0 / delta).ln()).sqrt()
    }
}

/// The Whitehouse odometer: `√(2 ln(1/δ) Σε²) + ½Σε²`.
pub fn whitehouse(epsilon: f64, delta: f64) -> impl Fn(usize) -> f64 {
    move |t| {
        let squares = t as f64 * epsilon * epsilon;
        (2.0 * (1.0 / delta).ln() * squares).sqrt() + squares / 2.0
    }
}

/// The Rogers odometer (\[RRUV16\] Thm 6.5) with the best β, granularity `1/n²`.
pub fn rogers(epsilon: f64, delta: f64, n: u32) -> impl Fn(usize) -> f64 {
    move |t| {
        let squares = t as f64 * epsilon * epsilon;
        let m = (f64::from(n).powi(2)).log2().ceil();
        let root = |i: f64| {
            let beta = i.exp2() / f64::from(n).powi(2);
            let inner = (squares + beta) * (1.0 + 0.5 * (1.0 + squares / beta).ln());
            (2.0 * inner * (2.0 * m / delta).ln()).sqrt()
        };
        let best = (0..m as u32)
            .map(|i| root(f64::from(i)))
            .fold(f64::INFINITY, f64::min);
        t as f64 * epsilon * epsilon.exp_m1() / 2.0 + best
    }
}
