//! `bench numbers`: exact sums and directed functions against OpenDP's `inf_add`, `inf_exp`, `inf_ln`
//! on the same decimals.

use std::hint::black_box;

use exact::{Exact, Round};
use opendp::traits::{InfAdd, InfExp, InfLn};

use crate::measure::{Contestant, Effort, compare, print_table};

/// Losses as people write them, with different numbers of digits.
const LOSSES: [&str; 8] = [
    "0.1", "0.25", "1", "0.001", "0.05", "2.5", "0.125", "0.0003",
];

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    let exact: Vec<Exact> = LOSSES.iter().filter_map(|loss| loss.parse().ok()).collect();
    let floats: Vec<f64> = LOSSES.iter().filter_map(|loss| loss.parse().ok()).collect();
    let (above_one, floats_above_one): (Vec<Exact>, Vec<f64>) = exact
        .iter()
        .zip(&floats)
        .map(|(x, y)| (x + &Exact::ONE, y + 1.0))
        .unzip();
    let n = LOSSES.len();

    let timings = compare(
        effort,
        [
            Contestant::new("add: exact", n, || {
                let mut sum = black_box(Exact::ZERO);
                for x in black_box(&exact) {
                    sum += x;
                }
                black_box(&sum);
            }),
            Contestant::new("add: OpenDP inf_add", n, || {
                let mut sum = black_box(0.0_f64);
                for x in black_box(&floats) {
                    sum = sum.inf_add(x).unwrap_or(f64::NAN);
                }
                black_box(sum);
            }),
            Contestant::new("exp: exact", n, || {
                for x in black_box(&exact) {
                    black_box(x.exp(Round::Up));
                }
            }),
            Contestant::new("exp: OpenDP inf_exp", n, || {
                for x in black_box(&floats) {
                    black_box(x.inf_exp().unwrap_or(f64::NAN));
                }
            }),
            Contestant::new("ln: exact", n, || {
                for x in black_box(&above_one) {
                    black_box(x.ln(Round::Up));
                }
            }),
            Contestant::new("ln: OpenDP inf_ln", n, || {
                for x in black_box(&floats_above_one) {
                    black_box(x.inf_ln().unwrap_or(f64::NAN));
                }
            }),
        ],
    );
    print_table(&timings);
    let [add, inf_add, exp, inf_exp, ln, inf_ln] = timings.map(|timing| timing.best);
    format!(
        "bar: add_ratio={:.0} exp_ratio={:.0} ln_ratio={:.0}",
        inf_add / add,
        inf_exp / exp,
        inf_ln / ln
    )
}
