//! How far what is published can be from the truth, and the margins that make it so.

use exact::Round;

use super::{
    Histogram,
    counting::{Counting, CountingNoise},
};
use crate::samplers::DiscreteLaplace;

/// How much the threshold grows, and how much is allowed for the noise of a comparison. Privacy does not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margins {
    /// The distance between thresholds (γ in \[HSV25\]).
    pub step: i64,
    /// How far below its threshold a comparison still counts as above (ξ).
    pub check: i64,
}

impl<N: CountingNoise> Histogram<N> {
    /// With other margins, the same at all times.
    #[must_use]
    pub fn with_margins(self, margins: Margins) -> Self {
        let margins = [margins].into();
        Self { margins, ..self }
    }

    /// With the [margins](Self::margins_until) for a failure probability. The default is 0.05.
    #[must_use]
    pub fn failing_at_most(self, beta: f64) -> Self {
        let last = match &self.noises.counter {
            Counting::Until(_) => 0,
            Counting::Endless(counter) => counter.horizon().ilog2(),
        };
        let margins = (0..=last).map(|i| self.margins_until(1 << i, beta));
        let margins = margins.collect();
        Self { margins, ..self }
    }

    /// The steps among which a time's share of a failure probability is shared, the share, and the last of them. With a horizon there is one period, of
    /// all steps. Otherwise periods begin at 1, 2, 4, 8 and so on, and number `i`, from 0, has the share `1/((i+1)(i+2))`: the shares of
    /// all together are one.
    pub(super) fn period(&self, time: u64) -> (f64, f64, u64) {
        match &self.noises.counter {
            Counting::Until(counter) => (counter.horizon() as f64, 1.0, counter.horizon()),
            Counting::Endless(counter) => {
                let number = time.clamp(1, counter.horizon()).ilog2();
                let (begin, i) = (1u64 << number, f64::from(number));
                let last = begin.saturating_mul(2) - 1;
                (begin as f64, 1.0 / ((i + 1.0) * (i + 2.0)), last)
            }
        }
    }

    /// With probability at least `1 − β`, for all times at once: up to this time, the two noises of a monitor's comparison are together
    /// within the first number, the noise of a Laplace comparison within the second, and every total of the counter within the
    /// third.
    ///
    /// Laplace noise of scale `s` is beyond `x` with probability at most `2e^(−x/s)`, one-sided or not; the sum of a counter's
    /// blocks is as far out as its [noise](CountingNoise) says. Each of the four kinds of noise gets a quarter of the period's share of β, shared among
    /// its steps (and the columns). The bounds grow from one period to the next, so that they hold for what was drawn before, too.
    pub(super) fn noise_until(&self, time: u64, beta: f64) -> [f64; 3] {
        let (steps, share, last) = self.period(time);
        let each = 8.0 * steps / (beta * share);
        let scale = |noise: &DiscreteLaplace| 1.0 / noise.loss_per_unit().to_f64(Round::Down);
        let [threshold, query] = self.noises.monitor.scales();
        let columns = (each * self.dimensions as f64).ln();
        [
            (threshold + query) * each.ln(),
            scale(&self.noises.comparison) * each.ln(),
            self.noises.counter.spread(last, columns),
        ]
    }

    /// The margins at this time for a failure probability (derived here; the paper takes them from elsewhere): thresholds are as far apart
    /// as a monitor can be wrong, and a comparison counts as above if its noise may be to blame. With a horizon they are the same at all times.
    pub fn margins_until(&self, time: u64, beta: f64) -> Margins {
        let [monitor, comparison, _] = self.noise_until(time, beta);
        Margins {
            step: (monitor.ceil() as i64).max(1),
            check: comparison.ceil() as i64,
        }
    }

    /// How far what is published can be from the truth: at most so far at all steps with probability at least `1 − β`, if
    /// the margins are [those for β](Self::failing_at_most). Without a horizon that is the bound at the last of 2^62 steps; see
    /// [`accuracy_until`](Self::accuracy_until).
    pub fn accuracy(&self, beta: f64) -> f64 {
        self.accuracy_until(self.horizon(), beta)
    }

    /// The same up to a time: with probability at least `1 − β`, this holds for all times at once (derived here).
    ///
    /// Let `a`, `ξ`, `κ` bound the noises. What is published is at most `κ` above. After an interval that ended with a
    /// comparison above, the truth was more than `threshold − 2ξ − κ`; while the next monitor says no, it is below
    /// `threshold + γ + a + κ`; and what is published was `κ` off. After one that ended with a comparison below, or before
    /// the first, it is less. Together `γ + a + 2ξ + 3κ`, which is of order `d·ln^1.5(T)·ln(dT/β)/ε`, or with
    /// Gaussian noise `√d·ln(T)·√(ln(dT/β)·ln(1/δ))/ε` and `ln(T/β)/ε`. Without a horizon, all four are bounds that grow with time, so those of
    /// the time in question are enough; the orders are the same, with the time for `T`.
    pub fn accuracy_until(&self, time: u64, beta: f64) -> f64 {
        let [monitor, comparison, counter] = self.noise_until(time, beta);
        let step = self.margins_until(time, beta).step as f64;
        step + monitor + 2.0 * comparison.ceil() + 3.0 * counter
    }
}
