//! Why a running total must not be converted and charged onwards.
//!
//! A Gaussian session's running total is converted at δ = 1e-5 and charged to a parent with ε = 1; after the session is
//! stopped, what is left of ε = 1 goes to randomized response. The parent believes in (1, 1e-5).
//!
//! The attack rounds the answers to a grid, so that only their sum counts, stops where that promises the most, and then
//! accepts what is likelier by a factor of e. What is returned is the gain of this one strategy, by the laws of the sum
//! under both inputs: a lower bound on δ(1), up to floating point errors far below it.

use std::f64::consts::{E, TAU};

/// The size of the grid, in standard deviations of one answer.
const GRID: f64 = 0.25;
/// How many steps of the grid one answer spans on either side: 7.5 standard deviations.
const REACH: usize = 30;

fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / TAU.sqrt()
}

/// The probability that a normal number is above `x`.
fn upper(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - upper(-x);
    }
    if x > 2.0 {
        let fraction = (1..=200)
            .rev()
            .fold(0.0, |rest, k| f64::from(k) / (x + rest));
        return density(x) / (x + fraction);
    }
    let terms = (1..100).scan(x, |term, k| {
        *term *= x * x / f64::from(2 * k + 1);
        Some(*term)
    });
    0.5 - density(x) * (x + terms.sum::<f64>())
}

/// ε of a Gaussian loss at a δ, rounded up.
pub fn epsilon(mu: f64, delta: f64) -> f64 {
    let found = |epsilon: f64| {
        let (a, b) = (epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0);
        upper(a) - epsilon.exp() * upper(b)
    };
    if found(0.0) <= delta {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 5.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if found(middle) <= delta {
            high = middle;
        } else {
            low = middle;
        }
    }
    high + 1e-9
}

struct Attack {
    /// The loss of one answer.
    step: f64,
    /// What is left for randomized response after each round.
    left: Vec<f64>,
    /// The law of one rounded answer, on input 0 (mean `step`) and on input 1 (mean 0).
    laws: [Vec<f64>; 2],
    /// How many places the sum may be at.
    width: usize,
}

impl Attack {
    fn new(rounds: usize, total: f64, delta: f64) -> Self {
        let step = total / (rounds as f64).sqrt();
        let spent = |k: usize| epsilon(step * (k as f64).sqrt(), delta);
        let left = |k: usize| {
            if k == 0 {
                1.0
            } else {
                (1.0 - spent(k)).max(0.0)
            }
        };
        let cell = |j: usize, mean: f64| {
            let centre = (j as f64 - REACH as f64) * GRID - mean;
            upper(centre - GRID / 2.0) - upper(centre + GRID / 2.0)
        };
        Self {
            step,
            left: (0..=rounds).map(left).collect(),
            laws: [step, 0.0].map(|mean| (0..=2 * REACH).map(|j| cell(j, mean)).collect()),
            width: (13.0 * (rounds as f64).sqrt() / GRID) as usize,
        }
    }

    /// What accepting is worth after `k` rounds and randomized response, for masses under the two inputs.
    fn gain(&self, k: usize, p0: f64, p1: f64) -> f64 {
        let truth = self.left[k].exp() / (1.0 + self.left[k].exp());
        let one = |a: f64, b: f64| (p0 * a - E * p1 * b).max(0.0);
        one(truth, 1.0 - truth) + one(1.0 - truth, truth)
    }

    /// The likelihood ratio of a Gaussian sum at this place.
    fn ratio(&self, k: usize, at: usize) -> f64 {
        let sum = (at as f64 - (self.width / 2) as f64) * GRID;
        (self.step * sum - k as f64 * self.step * self.step / 2.0).exp()
    }

    /// The mean of `values` after one more answer on input 1.
    fn later(&self, values: &[f64], at: usize) -> f64 {
        let from = at.saturating_sub(REACH);
        let law = &self.laws[1][REACH - (at - from)..];
        law.iter()
            .zip(&values[from..])
            .map(|(p, value)| p * value)
            .sum()
    }

    /// The masses of the sum after one more answer.
    fn next(&self, mass: &[f64], law: &[f64]) -> Vec<f64> {
        let mut next = vec![0.0; mass.len()];
        for (at, mass) in mass.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            let from = at.saturating_sub(REACH);
            for (to, p) in next[from..].iter_mut().zip(&law[REACH - (at - from)..]) {
                *to += mass * p;
            }
        }
        next
    }

    /// Where to stop, at every round.
    fn stops(&self) -> Vec<Vec<bool>> {
        let rounds = self.left.len() - 1;
        let now = |k: usize, at: usize| self.gain(k, self.ratio(k, at), 1.0);
        let mut stops = vec![vec![true; self.width]; rounds + 1];
        let mut worth: Vec<f64> = (0..self.width).map(|at| now(rounds, at)).collect();
        for k in (0..rounds).rev() {
            let later: Vec<f64> = (0..self.width).map(|at| self.later(&worth, at)).collect();
            for at in 0..self.width {
                let gain = now(k, at);
                stops[k][at] = gain > 0.0 && gain >= later[at];
                worth[at] = gain.max(later[at]);
            }
        }
        stops
    }

    /// What this strategy gains.
    fn value(&self) -> f64 {
        let stops = self.stops();
        let mut masses = [vec![0.0; self.width], vec![0.0; self.width]];
        masses
            .iter_mut()
            .for_each(|mass| mass[self.width / 2] = 1.0);
        let mut found = 0.0;
        for (k, stop) in stops.iter().enumerate() {
            for at in (0..self.width).filter(|&at| stop[at]) {
                let [p0, p1] = masses.each_mut().map(|mass| std::mem::take(&mut mass[at]));
                found += self.gain(k, p0, p1);
            }
            masses = [0, 1].map(|b| self.next(&masses[b], &self.laws[b]));
        }
        found
    }
}

/// The gain with this many rounds, up to a total Gaussian loss whose ε at δ is at most 1.
pub fn run(rounds: usize, total: f64, delta: f64) -> f64 {
    Attack::new(rounds, total, delta).value()
}
