//! Losses of any size and length: they are charged in full, and leave the accounts as quick as they were.

use crate::common::*;
use exact::Exact;
use measures::{
    ApproxDp, Basic, Epsilon, EpsilonDelta, GaussianDp, Loss, Measure, Mu, PureDp, Zcdp,
    adaptive::{GaussianComposition, WhitehouseFilter},
};
use odometer::journal::{Books, Memory, Snapshot};
use odometer::{LaunchError, Odometer};

/// Tiny ones, huge ones, and ones with thousands of digits.
fn extremes() -> Vec<String> {
    let digits = "7".repeat(4_000);
    let mut extremes: Vec<String> = [
        "1e-4096",
        "1*2^-16384*5^-4096",
        "1e-300",
        "5e-324",
        "1e70",
        "1e100",
        "1e4096",
    ]
    .map(String::from)
    .into();
    extremes.extend([
        format!("0.{digits}"),
        format!("{digits}.{digits}"),
        format!("{digits}*2^-16384"),
    ]);
    extremes
}

/// The same books, from a snapshot that was text meanwhile.
fn restored(journal: &Memory) -> (Memory, Books) {
    let text = serde_json::to_string(&journal.snapshot().unwrap()).unwrap();
    let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
    let again = Memory::restored_by_operator(&snapshot);
    assert_eq!(again.snapshot().unwrap(), snapshot);
    (again.clone(), Books::new(again))
}

#[test]
fn a_snapshot_with_any_loss_reads_back() {
    let odometer = Odometer::new(records(), BASIC);
    let journal = Memory::for_snapshots();
    let books = Books::new(journal.clone());
    let session = odometer.open_on(&books, 1, vec![]).unwrap();
    for extreme in extremes() {
        session.launch(&flat(PureDp, &extreme)).unwrap();
        let again = odometer.open_on(&restored(&journal).1, 1, vec![]).unwrap();
        assert_eq!(spent(&again, 1), spent(&session, 1), "{extreme}");
    }
}

/// Launches, and compares what the cap, a reading and a restored session have counted.
fn all_agree<M: Measure, R>(rule: R, measure: M, costs: &[String], budget: &str)
where
    R: measures::FilterRule<Child = M>,
    M::Loss: std::str::FromStr,
    <M::Loss as std::str::FromStr>::Err: std::fmt::Debug,
    measures::TotalLoss<R>: std::str::FromStr<Err = measures::LossError>,
{
    let odometer = Odometer::new(records(), rule);
    let journal = Memory::for_snapshots();
    let open = |books: &Books| odometer.filter_on(books, 1, budget, vec![]).unwrap();
    let session = open(&Books::new(journal.clone()));
    let leaf = session.nested("inner").capped(1, budget).open().unwrap();
    for cost in costs {
        let before = leaf.remaining(&1).unwrap();
        match leaf.launch(&flat(measure.clone(), cost)) {
            Ok(()) => {}
            Err(LaunchError::Refused(_)) => assert_eq!(leaf.remaining(&1).unwrap(), before),
            Err(other) => panic!("{other}"),
        }
        let restored = open(&restored(&journal).1);
        for other in [&session, &restored] {
            assert_eq!(other.spent().unwrap(), leaf.spent().unwrap(), "{cost}");
            assert_eq!(
                other.remaining(&1).unwrap(),
                leaf.remaining(&1).unwrap(),
                "{cost}"
            );
        }
    }
    // What remains is admitted, to the last digit.
    leaf.spend_rest(&1, |rest| {
        let rest = rest.clone();
        let map = measures::PrivacyMap::new(measure.clone(), move |_| Ok(rest.clone()));
        odometer::Measurement::new("rest", records(), map, |_, _| Ok(()))
    })
    .unwrap();
}

#[test]
fn every_path_counts_the_same() {
    let extremes = extremes();
    for budget in ["1e-4096", "1e-64", "1", "1e72", "1e4096"] {
        all_agree(BASIC, PureDp, &extremes, budget);
        all_agree(Basic::new(Zcdp), Zcdp, &extremes, budget);
        all_agree(GaussianComposition, GaussianDp, &extremes, budget);
    }
    let pairs: Vec<String> = extremes
        .iter()
        .flat_map(|epsilon| ["0", "1e-4096", "1e-9"].map(|delta| format!("({epsilon}, {delta})")))
        .collect();
    for budget in ["(1e-4096, 1e-6)", "(1, 1e-6)", "(1e72, 1e-6)"] {
        all_agree(Basic::new(ApproxDp), ApproxDp, &pairs, budget);
        let whitehouse = WhitehouseFilter::new("5e-7").unwrap();
        all_agree(whitehouse, ApproxDp, &pairs, budget);
    }
}

#[test]
fn nothing_is_charged_less_than_it_costs() {
    for extreme in extremes() {
        let session = open();
        session.launch(&flat(PureDp, &extreme)).unwrap();
        let cost: Epsilon = loss(&extreme);
        assert!(cost.at_most(&spent(&session, 1)), "{extreme}");
    }
    let tenth: Exact = loss("0.1");
    let floats = [0.1, 1e-9, 1e-30, 3.5].map(|x| Exact::try_from(x).unwrap());
    for exact in floats.iter().chain([&tenth]) {
        assert_eq!(
            Epsilon::new(exact.clone()).on_grid(),
            Epsilon::new(exact.clone())
        );
        assert_eq!(Mu::new(exact.clone()).on_grid(), Mu::new(exact.clone()));
    }
    let pair: EpsilonDelta = loss("(0.1, 1e-10)");
    assert_eq!(pair.clone().on_grid(), pair);
}
