//! What a binomial sample says about its probability, with a stated confidence. In floating point: tails are raised by more than
//! the error.

/// Clopper and Pearson's lower limit: the least p under which `hits` of `runs` or more is not too unlikely.
pub(super) fn at_least(hits: u64, runs: u64, miss: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, hits as f64 / runs as f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if upper_tail(hits, runs, middle) <= miss {
            low = middle;
        } else {
            high = middle;
        }
    }
    low * (1.0 - 1e-9)
}

/// The upper limit, by exchanging hits and misses.
pub(super) fn at_most(hits: u64, runs: u64, miss: f64) -> f64 {
    (1.0 - at_least(runs - hits, runs, miss)).next_up()
}

/// `P[Bin(runs, p) ≥ hits]` for `p ≤ hits/runs`, where the terms fall from the first on; rounded up by more than the error.
fn upper_tail(hits: u64, runs: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    let (n, k) = (runs as f64, hits as f64);
    let parts = [
        ln_gamma(n + 1.0),
        -ln_gamma(k + 1.0),
        -ln_gamma(n - k + 1.0),
        k * p.ln(),
        if hits == runs {
            0.0
        } else {
            (n - k) * (-p).ln_1p()
        },
    ];
    let log: f64 = parts.iter().sum();
    // The parts are large and cancel: each is off by a few units of its last place, and the series by 1e-13.
    let size: f64 = parts.iter().map(|part| part.abs()).sum();
    let off = size * 16.0 * f64::EPSILON + 1e-12;
    let mut term = log.exp();
    let mut sum = term;
    let mut terms = 1.0;
    for at in hits..runs {
        term *= (n - at as f64) / (at as f64 + 1.0) * (p / (1.0 - p));
        sum += term;
        terms += 1.0;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum * (off + terms * 8.0 * f64::EPSILON).exp()
}

/// Stirling's series after shifting the argument above 15.
fn ln_gamma(x: f64) -> f64 {
    let (mut shift, mut y) = (0.0, x);
    while y < 15.0 {
        shift += y.ln();
        y += 1.0;
    }
    let z = 1.0 / (y * y);
    let series = (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z / 1680.0))) / y;
    (y - 0.5) * y.ln() - y + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clopper_pearson_limits() {
        // Textbook values: 8 of 20 at 95 % (two-sided): 0.1912, 0.6395; 0 of 10: 0, 0.3085.
        assert!((at_least(8, 20, 0.025) - 0.191_190).abs() < 1e-5);
        assert!((at_most(8, 20, 0.025) - 0.639_457).abs() < 1e-5);
        assert!((at_most(0, 10, 0.025) - 0.308_497).abs() < 1e-5);
        assert_eq!(at_least(0, 10, 0.025), 0.0);
        assert!(at_most(10, 10, 0.025) >= 1.0);
        // All hits: p^n = miss.
        assert!((at_least(1000, 1000, 0.01) - 0.01f64.powf(0.001)).abs() < 1e-6);
    }

    #[test]
    fn limits_hold_for_very_many_runs() {
        // One hit: 1 − (1 − p)^n = miss. ln Γ(n) is known to a few thousandths only.
        for n in (1u64 << 40) - 50..=1 << 40 {
            let truth = -((-0.01f64).ln_1p() / n as f64).exp_m1();
            let limit = at_least(1, n, 0.01);
            assert!(
                limit <= truth && limit > 0.7 * truth,
                "{n}: {limit} {truth}"
            );
        }
    }

    #[test]
    fn gamma_at_integers() {
        assert!((ln_gamma(11.0) - 3_628_800f64.ln()).abs() < 1e-12);
        assert!(ln_gamma(1.0).abs() < 1e-12 && ln_gamma(2.0).abs() < 1e-12);
    }
}
