//! `bench rules`: what a composition rule costs per launch, and optimal composition of a million children.

use std::hint::black_box;

use accountant::CertifiedProfile;
use exact::Exact;
use measures::adaptive::WhitehouseFilter;
use measures::fixed::{Optimal, TradeoffProduct};
use measures::{Basic, EpsilonDelta, FilterRule, FixedRule, Profile, PureDp, Tallied, Tally};
use measures::{RuleError, Tradeoff};

use crate::measure::{Contestant, Effort, compare, not_measured, print_table};

/// Launches per call of the cheap operations.
const LAUNCHES: usize = 64;

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    table(effort).unwrap_or_else(|error| not_measured(&error))
}

fn table(effort: Effort) -> Result<String, RuleError> {
    let sum = Basic::new(PureDp);
    let pure = "0.001".parse()?;
    let mut absorbed = sum.start();

    let filter = WhitehouseFilter::new(decimal("1e-6"))?;
    let gate = filter.open(&"(1000, 0.00001)".parse()?)?;
    let loss: EpsilonDelta = "(0.001, 1e-20)".parse()?;
    let mut admitted = filter.start();

    let optimal = Optimal::new(decimal("1e-30"))?;
    let each: EpsilonDelta = "(0.01, 0)".parse()?;
    let twenty: Vec<EpsilonDelta> = (1..=20)
        .map(|i| format!("(0.0{:02}, 1e-9)", 10 + i).parse())
        .collect::<Result<_, _>>()?;
    let small = Optimal::new(decimal("1e-6"))?;
    let functions = vec![Tradeoff::from_approx(&"(0.1, 1e-9)".parse()?); 32];
    let product = TradeoffProduct::default();
    let profiles = vec![Profile::new(["(0.1, 1e-9)".parse()?]); 100];
    let numerical = CertifiedProfile::new([Exact::ONE])?;

    let timings = compare(
        effort,
        [
            Contestant::new("absorb: Basic<PureDp>", LAUNCHES, || {
                for _ in 0..LAUNCHES {
                    absorbed.absorb(black_box(&pure), 1);
                }
                black_box(&absorbed);
            }),
            Contestant::new("admit: WhitehouseFilter", LAUNCHES, || {
                for _ in 0..LAUNCHES {
                    let next = admitted.after(black_box(&loss), 1);
                    if filter.fits(&gate, &next) {
                        admitted = next;
                    }
                }
                black_box(&admitted);
            }),
            Contestant::new("Optimal, a million equal", 1, || {
                black_box(optimal.compose_n(black_box(&each), 1_000_000));
            }),
            Contestant::new("Optimal, twenty different", 1, || {
                black_box(small.compose(black_box(&twenty)).ok());
            }),
            Contestant::new("TradeoffProduct, 32 equal", 1, || {
                black_box(product.compose(black_box(&functions)).ok());
            }),
            Contestant::new("CertifiedProfile, 100 equal", 1, || {
                black_box(numerical.compose(black_box(&profiles)).ok());
            }),
        ],
    );
    print_table(&timings);
    let [absorb, whitehouse, million, ..] = timings.map(|timing| timing.best);
    Ok(format!(
        "bar: absorb_ns={absorb:.1} whitehouse_ns={whitehouse:.1} kov_million_ms={:.1}",
        million / 1e6
    ))
}

/// A number of this file.
fn decimal(text: &str) -> Exact {
    text.parse().unwrap_or(Exact::INFINITY)
}
