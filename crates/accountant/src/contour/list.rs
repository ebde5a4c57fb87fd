//! What is composed, in one direction: responses, Gaussians and other laws, with their counts.

use crate::laws::{Cumulants, Law, Response};

/// Larger counts are computed with sums of two.
pub(crate) const MOST_PLAIN: u64 = 4096;

/// Groups of responses for estimates.
const SKETCHED: usize = 128;

/// A composition whose losses are finite with probability 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    /// The ε of randomized responses, the largest first, each once.
    pub(crate) responses: Vec<(f64, u64)>,
    pub(crate) laws: Vec<(Law, u64)>,
    /// The sum of all μ², rounded up.
    pub(crate) gaussian: f64,
}

impl List {
    pub(crate) fn is_empty(&self) -> bool {
        self.responses.is_empty() && self.laws.is_empty() && self.gaussian == 0.0
    }

    /// How many parts are different.
    pub(crate) fn distinct(&self) -> usize {
        self.responses.len() + self.laws.len()
    }

    /// The responses for estimates: neighbours in a long list count as equal, with the mean of their squares.
    pub(crate) fn sketch(&self) -> Vec<(f64, f64)> {
        let group = |group: &[(f64, u64)]| {
            let count: f64 = group.iter().map(|(_, count)| *count as f64).sum();
            let squares: f64 = group.iter().map(|(e, count)| e * e * *count as f64).sum();
            ((squares / count).sqrt(), count)
        };
        let size = self.responses.len().div_ceil(SKETCHED).max(1);
        self.responses.chunks(size).map(group).collect()
    }

    pub(crate) fn cumulants(&self, sketch: &[(f64, f64)], tilt: f64) -> Cumulants {
        let mut total = Cumulants {
            log: self.gaussian * (tilt + tilt * tilt) / 2.0,
            mean: self.gaussian * (0.5 + tilt),
            variance: self.gaussian,
        };
        for (epsilon, count) in sketch {
            let response = Response { epsilon: *epsilon };
            total.add(response.cumulants(tilt), *count);
        }
        for (law, count) in &self.laws {
            total.add(law.cumulants(tilt), *count as f64);
        }
        total
    }

    /// What a node costs, in turns, roughly. Of many responses few are looked at before the product is negligible.
    pub(crate) fn cost(&self, tilt: f64, reach: f64) -> f64 {
        let of = |turns: f64, count: u64| match count > MOST_PLAIN {
            true => 50.0 * (turns + 8.0),
            false => turns + 1.0,
        };
        let responses = self
            .responses
            .iter()
            .take(100)
            .map(|(_, count)| of(1.0, *count));
        let laws = self
            .laws
            .iter()
            .map(|(law, count)| of(law.cost(tilt, reach), *count));
        responses.chain(laws).sum()
    }

    /// A bound of `|Φ(t)|` for all `t ≥ from` by the laws that have one; the Gaussian part is not in it.
    pub(crate) fn decay(&self, tilt: f64, from: f64) -> f64 {
        let mut bound = 1.0;
        for (law, count) in &self.laws {
            bound *= power_up(law.decay(tilt, from), *count);
        }
        bound * (1.0 + 1e-9)
    }
}

/// `x^n` for `x` between 0 and 1, rounded up.
fn power_up(x: f64, n: u64) -> f64 {
    let up = |x: f64| (x * (1.0 + f64::EPSILON) + f64::MIN_POSITIVE).min(1.0);
    let (mut power, mut square, mut rest) = (1.0, up(x), n);
    loop {
        if rest & 1 == 1 {
            power = up(power * square);
        }
        rest >>= 1;
        if rest == 0 {
            return power;
        }
        square = up(square * square);
    }
}
