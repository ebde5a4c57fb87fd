//! A tighter concentration bound than that of \[WRRW23\]: children as zCDP mechanisms, and the best known
//! conversion of the whole.

use super::search::{largest_admitted, short};
use super::slack::{Concentration, SlackFilter, SlackOdometer, sealed};
use crate::Epsilon;
use crate::convert::pure_to_zcdp;
use crate::renyi::best_order::{Order, best_order};
use exact::{Exact, Round};

/// `ε ≤ inf over α > 1 of αρ + (ln(1/δ′) − ln α)/(α−1) + ln(1 − 1/α)`, where ρ = Σ ε·tanh(ε/2): an ε-DP mechanism is
/// `ε·tanh(ε/2)`-zCDP (\[Ste24\] Thm 5), and the rest is the conversion of \[CKS20\] Prop 12. The entries are rounded
/// up to 53 bits. The order α is chosen in floating point; every order gives a valid bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Concentrated;

/// A filter through zCDP: launches fit a budget `(ε, δ)` while ρ = Σ ε·tanh(ε/2) is at most the largest ρ* for which
/// every ρ*-zCDP mechanism is `(ε, δ′)`-DP by \[CKS20\] Prop 12, and `δ′ + Σδ ≤ δ`.
///
/// Valid as a filter for adaptively chosen `(ε_j, δ_j)`, δ′ and budget fixed in advance, concurrently under finite
/// communication: views are post-processings of randomized response (\[HST+23\] Thm 1.24), whose pure parts add up as
/// zCDP. It admits more than [`WhitehouseFilter`](super::WhitehouseFilter). The threshold is solved once, rounded down;
/// the sums are exact.
///
/// ```
/// use odometry::measures::adaptive::{ConcentratedFilter, WhitehouseFilter};
/// use odometry::measures::{FilterRule, Tallied, Tally};
/// let (budget, slack): (_, odometry::exact::Exact) = ("(1, 1e-6)".parse()?, "1e-6".parse()?);
/// let rule = ConcentratedFilter::new(slack.clone())?;
/// let gate = rule.open(&budget)?;
/// assert!(rule.fits(&gate, &rule.start().after(&"(0.01, 0)".parse()?, 400)));
/// let older = WhitehouseFilter::new(slack)?;
/// let gate = older.open(&budget)?;
/// assert!(!older.fits(&gate, &older.start().after(&"(0.01, 0)".parse()?, 400)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ConcentratedFilter = SlackFilter<Concentrated>;

/// The odometer that belongs to [`ConcentratedFilter`]: the total is the least ε that would have fitted, with δ, while
/// `δ′ + Σδ ≤ δ`, and infinite beyond.
///
/// Valid as an accumulator (truncated view), because what fits ε fits every larger ε (\[HST+23\] Lemma 2.19);
/// concurrently under finite communication; not time-uniform. The sums are exact; the total is rounded up.
pub type ConcentratedOdometer = SlackOdometer<Concentrated>;

impl sealed::Sealed for Concentrated {}

impl Concentration for Concentrated {
    const NAME: &'static str = "concentrated";

    fn entry(epsilon: &Exact) -> Exact {
        short(pure_to_zcdp(&Epsilon::new(epsilon.clone())).value())
    }

    fn epsilon(log: &Exact, sum: &Exact) -> Exact {
        if sum.is_zero() {
            return Exact::ZERO;
        }
        let (l, rho) = (log.to_f64(Round::Up), sum.to_f64(Round::Up));
        let order = best_order(|less_one| (1.0 + less_one) * rho + rough_price(l, less_one));
        let (price, rebate) = price(log, &order);
        (order.value().mul(sum, Round::Up) + price).saturating_sub(&rebate)
    }

    fn threshold(log: &Exact, epsilon: &Exact) -> Exact {
        let (l, e) = (log.to_f64(Round::Up), epsilon.to_f64(Round::Down));
        let order = best_order(|less_one| (rough_price(l, less_one) - e) / (1.0 + less_one));
        let (price, rebate) = price(log, &order);
        (epsilon + rebate)
            .saturating_sub(&price)
            .div(&order.value(), Round::Down)
    }

    fn largest(rest: &Exact) -> Exact {
        // tanh(x) ≥ x/(1+x), so an ε with entry at most `rest` is at most rest + √(2·rest).
        let upper = rest + rest.times(2).sqrt(Round::Up);
        largest_admitted(&upper, |epsilon| Self::entry(epsilon) <= *rest).unwrap_or(Exact::ZERO)
    }
}

/// `(L − ln α)/(α−1) + ln(1 − 1/α)`, rounded up, as a difference of two non-negative numbers.
fn price(log: &Exact, order: &Order) -> (Exact, Exact) {
    let alpha = order.value();
    let ln_alpha = order.less_one.ln_1p(Round::Down);
    let rebate = alpha
        .recip(Round::Down)
        .neg_ln_1m(Round::Down)
        .unwrap_or(Exact::ZERO);
    match log.checked_sub(&ln_alpha) {
        Some(rest) => (rest.div(&order.less_one, Round::Up), rebate),
        None => {
            let rest = ln_alpha.saturating_sub(log);
            (Exact::ZERO, rebate + rest.div(&order.less_one, Round::Down))
        }
    }
}

fn rough_price(log: f64, less_one: f64) -> f64 {
    (log - less_one.ln_1p()) / less_one - less_one.recip().ln_1p()
}
