//! An accountant takes measurements of one metric: an ε of two would be valid for no neighbouring data.

use crate::common::*;
use accountant::{Accountant, AccountantError, Mechanism};
use measures::{
    CountsRecords, HammingDistance, InsertDeleteDistance, Metric, PrivacyMap, PureDp,
    SymmetricDistance,
};
use mechanisms::additive::{add_noise, histogram};
use odometer::{Any, Measurement, Records};

const BIN: fn(&usize) -> usize = |bin| *bin;

/// Ten histograms lose ln 3 each for an added record, and ten lose 2·ln 3 each for a replaced one. Together they lose 40·ln 3 for a replaced
/// record, because that is one removed and one added. The sum of the two claims, 30·ln 3, is valid for neither kind of neighbours.
#[test]
fn an_accountant_takes_one_metric() {
    let added = histogram(Records::<usize>::new(), geometric(1, 3, 40), 2, BIN).unwrap();
    let replaced = histogram(Records::<usize>::replaced(), geometric(1, 3, 40), 2, BIN).unwrap();
    let mixed = Accountant::new().add(&added, 10).unwrap();
    let refused = mixed.clone().add(&replaced, 10).unwrap_err();
    assert!(
        matches!(&refused, AccountantError::Metrics { .. }),
        "{refused}"
    );
    let text = refused.to_string();
    for name in ["SymmetricDistance", "ChangeOneDistance", "histogram"] {
        assert!(text.contains(name), "{text}");
    }
    // The other way round, and with lists, whose records may be in one order only.
    let first = Accountant::new().add(&replaced, 10).unwrap();
    assert!(first.clone().add(&added, 10).is_err());
    let list = histogram(Records::<usize>::ordered(), geometric(1, 3, 40), 2, BIN).unwrap();
    assert!(mixed.clone().add(&list, 1).is_err());
    let positions = Records::<usize>::ordered_replaced();
    let list = histogram(positions, geometric(1, 3, 40), 2, BIN).unwrap();
    assert!(first.clone().add(&list, 1).is_err());

    // A replaced record moves two counts of those that are private for an added one: this is vouched for as a mechanism.
    let truth = exact("43.944491546724388");
    let all = first.add(Mechanism::of(&added, &2).unwrap(), 10);
    assert!(all.epsilon("0").unwrap() >= truth);
    // More of the same metric, on data of another type, and mechanisms without a metric are taken.
    let words = histogram(Records::<&str>::new(), geometric(1, 3, 40), 2, |word| {
        word.len()
    });
    let more = mixed.add(&words.unwrap(), 1).unwrap();
    let noise = Mechanism::of(&add_noise(geometric(1, 3, 40)), &1u32.into()).unwrap();
    assert!(more.add(noise, 1).epsilon("0").is_ok());
}

/// A metric with a parameter: the number of days that make one record.
#[derive(Clone, Debug, PartialEq)]
struct Days(u32);

impl Metric for Days {
    type Distance = u32;
}

impl CountsRecords for Days {
    const REPLACES: bool = false;
}

/// Metrics are compared with their parameters; a map knows only the type.
#[test]
fn parameters_of_metrics_are_compared() {
    let per_unit = |loss: &str| PrivacyMap::<Days, _>::linear(PureDp, loss).unwrap();
    let of_days = |days| {
        let space = Any::<Vec<u8>, _>::with(Days(days));
        Measurement::new("of days", space, per_unit("0.1"), |_, _| Ok(0))
    };
    let (day, week, map) = (of_days(1), of_days(7), per_unit("0.1"));
    let one = Accountant::new().add(&day, 1).unwrap();
    assert!(matches!(
        one.clone().add(&week, 1),
        Err(AccountantError::Metrics { .. })
    ));
    assert!(one.add(&of_days(1), 1).unwrap().add(&map, 1).is_ok());
    let from_map = Accountant::new()
        .add(&map, 1)
        .unwrap()
        .add(&day, 1)
        .unwrap();
    assert!(from_map.add(&week, 1).is_err());
    let symmetric = PrivacyMap::<SymmetricDistance, _>::linear(PureDp, "0.1").unwrap();
    let inserted = PrivacyMap::<InsertDeleteDistance, _>::linear(PureDp, "0.1").unwrap();
    let positions = PrivacyMap::<HammingDistance, _>::linear(PureDp, "0.1").unwrap();
    let one = Accountant::new().add(&symmetric, 1).unwrap();
    assert!(one.clone().add(&inserted, 1).is_err() && one.add(&positions, 1).is_err());
}
