//! Lists and multisets of records: which distances are at most which others, paths of unit steps, and accounts on lists.

use measures::{Basic, PrivacyMap, PureDp};
use odometer::{Measurement, Odometer, Records};

type List = Vec<u8>;

/// Every list of at most `length` records, each of three.
fn lists(length: usize) -> Vec<List> {
    let mut all = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..length {
        let longer = |list: &List| [0, 1, 2].map(|last| [list.as_slice(), &[last]].concat());
        longest = longest.iter().flat_map(longer).collect();
        all.extend(longest.clone());
    }
    all
}

/// The longest list that both become by deletions.
fn common(one: &[u8], other: &[u8]) -> usize {
    match (one.split_first(), other.split_first()) {
        (Some((x, xs)), Some((y, ys))) if x == y => 1 + common(xs, ys),
        (Some((_, xs)), Some((_, ys))) => common(xs, other).max(common(one, ys)),
        _ => 0,
    }
}

fn insert_delete(one: &List, other: &List) -> usize {
    one.len() + other.len() - 2 * common(one, other)
}

fn hamming(one: &List, other: &List) -> Option<usize> {
    let differ = one.iter().zip(other).filter(|(x, y)| x != y).count();
    (one.len() == other.len()).then_some(differ)
}

fn sorted(list: &List) -> List {
    let mut list = list.clone();
    list.sort_unstable();
    list
}

/// How many records both have, as multisets.
fn shared(one: &List, other: &List) -> usize {
    let count = |list: &List, x| list.iter().filter(|y| **y == x).count();
    (0..3).map(|x| count(one, x).min(count(other, x))).sum()
}

fn symmetric(one: &List, other: &List) -> usize {
    one.len() + other.len() - 2 * shared(one, other)
}

fn change_one(one: &List, other: &List) -> Option<usize> {
    (one.len() == other.len()).then(|| one.len() - shared(one, other))
}

/// A claim for multisets is one for lists; and two multisets have orders in which they are as near as lists.
#[test]
fn distances_of_lists_are_never_below_those_of_their_multisets() {
    let all = lists(4);
    for one in all.iter().filter(|list| **list == sorted(list)) {
        for multiset in all.iter().filter(|list| **list == sorted(list)) {
            let orders = || all.iter().filter(|list| sorted(list) == *multiset);
            let nearest = orders().map(|list| insert_delete(one, list)).min();
            assert_eq!(
                nearest,
                Some(symmetric(one, multiset)),
                "{one:?} {multiset:?}"
            );
            let nearest = orders().filter_map(|list| hamming(one, list)).min();
            assert_eq!(nearest, change_one(one, multiset), "{one:?} {multiset:?}");
        }
    }
    // Another order is no distance for multisets, and one for lists.
    let (one, other) = (vec![0, 1], vec![1, 0]);
    assert_eq!(
        (symmetric(&one, &other), insert_delete(&one, &other)),
        (0, 2)
    );
    assert_eq!(
        (change_one(&one, &other), hamming(&one, &other)),
        (Some(0), Some(2))
    );
}

/// What `CountsRecords` and `Connected` promise.
#[test]
fn lists_are_connected_by_unit_steps() {
    let all = lists(3);
    for one in &all {
        for other in &all {
            let far = insert_delete(one, other);
            let step =
                |via: &List| insert_delete(one, via) == 1 && insert_delete(via, other) + 1 == far;
            assert!(far == 0 || all.iter().any(step), "{one:?} {other:?}");
            let far = hamming(one, other).unwrap_or(0);
            let step = |via: &List| {
                hamming(one, via) == Some(1)
                    && hamming(via, other).map(|rest| rest + 1) == Some(far)
            };
            assert!(far == 0 || all.iter().any(step), "{one:?} {other:?}");
        }
    }
}

fn length(loss: &str) -> Measurement<Records<u8>, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, loss).unwrap();
    Measurement::new("length", Records::new(), map, |data, _| Ok(data.len()))
}

/// Accounts on lists take measurements of lists, and those of multisets through `forget_order`; parts are multisets.
#[test]
fn accounts_on_lists() {
    let list = Records::<u8>::ordered();
    let map = PrivacyMap::linear(PureDp, "0.5").unwrap();
    let first = Measurement::new("first", list, map, |data, _| Ok(data.first().copied()));
    let session = Odometer::new(list, Basic::new(PureDp))
        .open(vec![3, 1, 2])
        .unwrap();
    assert_eq!(session.launch(&first), Ok(Some(3)));
    let of_list = (&list.forget_order() >> &length("0.1")).unwrap();
    assert_eq!(session.launch(&of_list), Ok(3));
    let parts = session.partition(|x| x % 2).unwrap();
    for part in [0, 1] {
        parts.part(part).unwrap().launch(&length("0.2")).unwrap();
    }
    assert_eq!(session.privacy_loss(1).unwrap().to_string(), "0.8");

    // A replaced record leaves one part and enters another.
    let positions = Records::<u8>::ordered_replaced();
    let session = Odometer::new(positions, Basic::new(PureDp))
        .open(vec![3, 1, 2])
        .unwrap();
    let parts = session.partition(|x| x % 2).unwrap();
    assert_eq!(parts.part(1).unwrap().launch(&length("0.2")), Ok(2));
    assert_eq!(session.privacy_loss(1).unwrap().to_string(), "0.4");
    let replaced = PrivacyMap::per_replacement(PureDp, "0.1").unwrap();
    let replaced = Measurement::new(
        "length",
        Records::replaced(),
        replaced,
        |data: &std::sync::Arc<List>, _| Ok(data.len()),
    );
    let of_list = (&positions.forget_order() >> &replaced).unwrap();
    assert_eq!(session.launch(&of_list), Ok(3));
    assert_eq!(session.privacy_loss(1).unwrap().to_string(), "0.5");
}
