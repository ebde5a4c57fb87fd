//! Data that are no lists: partitions over tables, against the same partitions over lists.

use std::sync::Arc;

use crate::common::*;
use measures::{ChangeOneDistance, PrivacyMap, PureDp, SymmetricDistance};
use odometer::{
    Any, Collection, LaunchError, Measurement, Odometer, Partible, Records, Space, Watch,
};
use proptest::prelude::*;

/// Two columns, and a row at which something goes wrong.
#[derive(Clone, Debug, Default, PartialEq)]
struct Table {
    key: Vec<i64>,
    value: Vec<i64>,
    seeing_panics: bool,
    dividing_panics: bool,
}

impl Table {
    fn of(rows: &[(i64, i64)]) -> Self {
        let (key, value) = rows.iter().copied().unzip();
        Self {
            key,
            value,
            ..Self::default()
        }
    }
}

impl Collection for Table {
    type Record = (i64, i64);

    fn each(&self, see: &mut dyn FnMut(&(i64, i64))) {
        for (key, value) in self.key.iter().zip(&self.value) {
            assert!(!self.seeing_panics || *key != 7, "a secret");
            see(&(*key, *value));
        }
    }
}

impl Partible for Table {
    fn at(&self, places: &[usize]) -> Self {
        assert!(!self.dividing_panics || places.len() < 2, "a secret");
        let rows: Vec<_> = places
            .iter()
            .map(|at| (self.key[*at], self.value[*at]))
            .collect();
        Self::of(&rows)
    }
}

/// Tells all values, and costs this much per record.
fn see<S: Space<Metric = SymmetricDistance, Distance = u32>>(
    space: S,
    cost: &str,
) -> Measurement<S, PureDp, Vec<i64>>
where
    S::Data: Collection<Record = (i64, i64)>,
{
    let map = PrivacyMap::per_record(PureDp, cost).unwrap();
    Measurement::new("see", space, map, |data, _| {
        let mut values = Vec::new();
        data.each(&mut |(_, value)| values.push(*value));
        Ok(values)
    })
}

proptest! {
    #[test]
    fn a_table_is_divided_like_a_list(
        rows in prop::collection::vec((0..4i64, -9..9i64), 0..12),
        asked in prop::collection::vec((0..5i64, 1..4u32), 0..12),
    ) {
        let (tables, lists) = (Any::<Table, _>::with(SymmetricDistance), Records::new());
        let boxes = Any::<Box<[(i64, i64)]>, _>::with(SymmetricDistance);
        let shared = Any::<Arc<[(i64, i64)]>, _>::with(SymmetricDistance);
        let table = Odometer::new(tables, BASIC).filter(1, "0.9").unwrap();
        let table = table.invoke(Table::of(&rows)).unwrap();
        let list = Odometer::new(lists, BASIC).filter(1, "0.9").unwrap();
        let list = list.invoke(rows.clone()).unwrap();
        let boxed = Odometer::new(boxes, BASIC).filter(1, "0.9").unwrap();
        let boxed = boxed.invoke(rows.clone().into()).unwrap();
        let share = Odometer::new(shared, BASIC).filter(1, "0.9").unwrap();
        let share = share.invoke(rows.clone().into()).unwrap();
        let parts = (
            table.partition(|(key, _)| *key).unwrap(),
            list.partition(|(key, _)| *key).unwrap(),
            boxed.partition(|(key, _)| *key).unwrap(),
            share.partition(|(key, _)| *key).unwrap(),
        );
        for (key, tenths) in asked {
            let cost = format!("0.{tenths}");
            let answers = [
                parts.0.part(key).unwrap().launch(&see(tables, &cost)),
                parts.1.part(key).unwrap().launch(&see(lists, &cost)),
                parts.2.part(key).unwrap().launch(&see(boxes, &cost)),
                parts.3.part(key).unwrap().launch(&see(shared, &cost)),
            ];
            prop_assert!(answers.iter().all(|answer| *answer == answers[1]));
            if let Ok(values) = &answers[0] {
                let here = rows.iter().filter(|row| row.0 == key).map(|row| row.1);
                prop_assert_eq!(values, &here.collect::<Vec<_>>());
            }
        }
        for d_in in [1, 2, 5] {
            let loss = list.privacy_loss(d_in).unwrap();
            prop_assert_eq!(&table.privacy_loss(d_in).unwrap(), &loss);
            prop_assert_eq!(&boxed.privacy_loss(d_in).unwrap(), &loss);
            prop_assert_eq!(&share.privacy_loss(d_in).unwrap(), &loss);
        }
    }
}

#[test]
fn a_replaced_row_leaves_one_part_and_enters_another() {
    let session = Odometer::new(Any::<Table, _>::with(ChangeOneDistance), BASIC)
        .open(Table::of(&[(1, 5), (2, 6)]))
        .unwrap();
    let parts = session.partition(|(key, _)| *key).unwrap();
    let see = see(Any::with(SymmetricDistance), "0.5");
    assert_eq!(parts.part(1).unwrap().launch(&see).unwrap(), [5]);
    assert_eq!(parts.part(2).unwrap().launch(&see).unwrap(), [6]);
    assert_eq!(session.privacy_loss(1).unwrap().to_string(), "1");
}

#[test]
fn a_collection_that_panics_stops_everything_on_its_data() {
    let rows = [(7, 1), (7, 2), (1, 3)];
    let broken = [
        Table {
            seeing_panics: true,
            ..Table::of(&rows)
        },
        Table {
            dividing_panics: true,
            ..Table::of(&rows)
        },
    ];
    for table in broken {
        let watch = Watch::new();
        let space = Any::<Table, _>::with(SymmetricDistance);
        let odometer = Odometer::new(space, BASIC).named("tables").watched(&watch);
        let session = odometer.open(table).unwrap();
        let parts = session.partition(|(key, _)| *key).unwrap();
        assert!(watch.failures().is_empty(), "nothing was read yet");
        let launched = parts.part(7).unwrap().launch(&see(space, "0.5"));
        assert_eq!(launched, Err(LaunchError::Stopped { charged: true }));
        assert!(!launched.unwrap_err().to_string().contains("secret"));
        assert_eq!(watch.failures().len(), 1);
        let again = session.launch(&see(space, "0.5"));
        assert_eq!(again, Err(LaunchError::Stopped { charged: false }));
        assert_eq!(session.privacy_loss(1).unwrap().to_string(), "0.5");
    }
}
