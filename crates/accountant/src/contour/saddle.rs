//! Where the contour should pass: the saddle of `K(λ) − λε − ln λ(λ+1)`. All of this is plain floating point; every λ above
//! zero gives a valid bound, and a good one gives a tight one.

use super::list::List;

/// A tilt, the ε for which it is the saddle, and what the saddle-point formula says of δ there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saddle {
    pub(crate) tilt: f64,
    pub(crate) epsilon: f64,
    pub(crate) log_delta: f64,
    /// The standard deviation of the tilted loss.
    pub(crate) deviation: f64,
    /// The same with the two exponential laws that `1/(z(z+1))` stands for.
    pub(crate) width: f64,
}

impl Saddle {
    pub(crate) fn at(list: &List, tilt: f64) -> Saddle {
        Saddle::of(list, &list.sketch(), tilt)
    }

    fn of(list: &List, sketch: &[(f64, f64)], tilt: f64) -> Saddle {
        let k = list.cumulants(sketch, tilt);
        let (a, b) = (1.0 / tilt, 1.0 / (tilt + 1.0));
        let epsilon = k.mean - a - b;
        let width = k.variance.max(0.0) + a * a + b * b;
        let peak = k.log - tilt * epsilon + (a * b).ln();
        Saddle {
            tilt,
            epsilon,
            log_delta: peak - 0.5 * (2.0 * std::f64::consts::PI * width).ln(),
            deviation: k.variance.max(0.0).sqrt(),
            width: width.sqrt(),
        }
    }

    /// The saddle at which δ is about `e^log_delta`.
    pub(crate) fn for_delta(list: &List, log_delta: f64) -> Saddle {
        let sketch = list.sketch();
        let start = start(list, &sketch, log_delta);
        let off = |saddle: &Saddle| log_delta - saddle.log_delta;
        search(list, &sketch, start, off, 0.02 + 0.002 * log_delta.abs())
    }

    /// The saddle for this ε.
    pub(crate) fn for_epsilon(list: &List, epsilon: f64) -> Saddle {
        let sketch = list.sketch();
        let rough = Saddle::of(list, &sketch, 1.0);
        let distance = ((epsilon - rough.epsilon) / rough.width).clamp(-1.0, 40.0);
        let start = start(list, &sketch, -distance * distance / 2.0 - 1.0);
        let off = |saddle: &Saddle| (saddle.epsilon - epsilon) / saddle.width;
        search(list, &sketch, start, off, 0.05)
    }
}

/// A first guess, as if the loss were Gaussian.
fn start(list: &List, sketch: &[(f64, f64)], log_delta: f64) -> f64 {
    let variance = list.cumulants(sketch, 0.5).variance;
    ((-2.0 * log_delta).max(0.5) / variance.max(1e-30))
        .sqrt()
        .clamp(1e-9, 1e9)
}

/// The tilts that are tried.
const LEAST: f64 = 1e-12;
const MOST: f64 = 1e12;

/// The tilt at which `off`, rising in the tilt, is zero up to the tolerance: regula falsi in the logarithm.
fn search(
    list: &List,
    sketch: &[(f64, f64)],
    start: f64,
    off: impl Fn(&Saddle) -> f64,
    tolerance: f64,
) -> Saddle {
    let at = |log: f64| {
        let saddle = Saddle::of(list, sketch, log.exp().clamp(LEAST, MOST));
        (log, off(&saddle), saddle)
    };
    let mut low = at(start.ln());
    let mut high = low;
    let mut stride = 0.3;
    // A bracket, wider with every step.
    while low.1 > 0.0 && low.0 > LEAST.ln() {
        high = low;
        low = at(low.0 - stride);
        stride *= 2.0;
    }
    while high.1 <= 0.0 && high.0 < MOST.ln() {
        low = high;
        high = at(high.0 + stride);
        stride *= 2.0;
    }
    for round in 0..60 {
        let best = if low.1.abs() < high.1.abs() {
            low
        } else {
            high
        };
        if best.1.abs() <= tolerance || high.0 - low.0 <= 1e-9 {
            return best.2;
        }
        let share = (low.1 / (low.1 - high.1)).clamp(0.05, 0.95);
        let share = if round % 4 == 3 || !share.is_finite() {
            0.5
        } else {
            share
        };
        let middle = at(low.0 + share * (high.0 - low.0));
        if middle.1 <= 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high.2
}
