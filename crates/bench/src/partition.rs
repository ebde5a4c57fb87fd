//! `bench partition`: many parts. The first launch in each of them, and a question about many changed records.

use std::{hint::black_box, time::Instant};

use measures::{Basic, PrivacyMap, PureDp};
use odometer::{Measurement, Odometer, Records};

use crate::{measure::Effort, ours::expect};

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    let (records, parts, many) = match effort {
        Effort::Full => (100_000, 3_000, 100_000),
        Effort::Quick => (10_000, 300, 2_000),
    };
    let first = first_launches(records, parts);
    println!("first launch in each of {parts} parts over {records} records: {first:.2} µs each");
    let question = question_at_64(many);
    println!("the loss at distance 64 over {many} parts: {question:.2} s");
    format!("bar: first_launch_us={first:.2} new_distance_s={question:.2}")
}

/// Microseconds for the first launch in a part; the records are grouped in the first of them all.
fn first_launches(records: u32, parts: u32) -> f64 {
    let space = Records::<u32>::new();
    let map = expect(PrivacyMap::per_record(PureDp, "0.1"));
    let query = Measurement::new("length", space, map, |data, _| Ok(data.len()));
    let session = expect(Odometer::new(space, Basic::new(PureDp)).open((0..records).collect()));
    let partition = expect(session.partition(move |record: &u32| record % parts));
    let start = Instant::now();
    for key in 0..parts {
        let length = expect(expect(partition.part(key)).launch(&query));
        assert!(length > 0, "every part has records");
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(parts)
}

/// Seconds for one question about 64 changed records, over many parts with a launch each.
pub fn question_at_64(parts: u32) -> f64 {
    let space = Records::<u32>::new();
    let map = expect(PrivacyMap::per_record(PureDp, "0.1"));
    let query = Measurement::new("null", space, map, |_, _| Ok(()));
    let session = expect(Odometer::new(space, Basic::new(PureDp)).open(Vec::new()));
    let partition = expect(session.partition(|record: &u32| *record));
    for key in 0..parts {
        expect(expect(partition.part(key)).launch(&query));
    }
    let start = Instant::now();
    black_box(expect(session.privacy_loss(&64)));
    start.elapsed().as_secs_f64()
}
