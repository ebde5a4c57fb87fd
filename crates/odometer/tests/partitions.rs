//! Parallel composition: the loss of launches in parts, against every way to split the changed records.

use crate::common::*;
use exact::Exact;
use measures::adaptive::{ImprovedBasic, WhitehouseOdometer};
use measures::convert::PureToZcdp;
use measures::{
    Adaptive, ApproxDp, Basic, Epsilon, EpsilonDelta, PrivacyMap, PureDp, Rho, Tallied, Tally,
    Zcdp, times,
};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Records, Session, Transformation};
use proptest::prelude::*;
use queryable::Attested;

#[test]
fn two_filters_as_parts_cost_more_than_the_worst_part() {
    // Against [HST+23] §5.2: at distance 2 one change may fall on each, and each filter's map is constant up to its
    // bound.
    let session = open();
    let partition = session.partition(|record: &i64| *record % 2).unwrap();
    for (key, budget) in [(0, "0.5"), (1, "0.75")] {
        let filter = Odometer::new(records(), BASIC).filter(2, budget).unwrap();
        partition.part(key).unwrap().launch(&filter).unwrap();
    }
    assert_eq!(spent(&session, 1), loss("0.75"));
    assert_eq!(spent(&session, 2), loss("1.25"), "not 0.75");
    assert_eq!(spent(&session, 3), Epsilon::INFINITY);
}

#[test]
fn linear_maps_put_everything_in_one_part() {
    let session = filtered("1");
    let partition = session.partition(|record: &i64| *record).unwrap();
    for key in 0..100 {
        partition.part(key).unwrap().launch(&pure("0.5")).unwrap();
    }
    assert_eq!(session.remaining(&1).unwrap(), Some(loss("0.5")));
    assert_eq!(spent(&session, 3), loss("1.5"));
    partition.part(7).unwrap().launch(&pure("0.5")).unwrap();
    refusal(partition.part(7).unwrap().launch(&pure("0.1")).unwrap_err());
    partition.part(8).unwrap().launch(&pure("0.5")).unwrap();
    refusal(session.launch(&pure("0.1")).unwrap_err());
    assert_eq!(spent(&session, 1), loss("1"));
}

#[test]
fn the_data_of_a_part_are_its_records() {
    let session = Odometer::new(records(), BASIC)
        .open(vec![1, 2, 3, 4, 5, 6, 7])
        .unwrap();
    let see = Measurement::new("see", records(), pure("0.1").map().clone(), |data, _| {
        Ok((**data).clone())
    });
    let thirds = session.partition(|record: &i64| record % 3).unwrap();
    assert_eq!(thirds.part(1).unwrap().launch(&see).unwrap(), [1, 4, 7]);
    assert_eq!(
        thirds.part(5).unwrap().launch(&see).unwrap(),
        [] as [i64; 0],
        "a part may be empty"
    );
    let sparse = session
        .partition_sparse(2, |record: &i64| {
            vec![record % 3, record % 3, record % 2, 9]
        })
        .unwrap();
    assert_eq!(sparse.part(0).unwrap().launch(&see).unwrap(), [2, 3, 4, 6]);
    assert_eq!(
        sparse.part(9).unwrap().launch(&see).unwrap(),
        [1, 6, 7],
        "only the first two different keys count"
    );
    assert!(matches!(
        session.partition_sparse(0, |_: &i64| vec![0]),
        Err(OpenError::NoParts)
    ));
}

#[test]
fn a_record_in_two_parts_is_counted_twice() {
    let session = open();
    let sparse = session
        .partition_sparse(2, |record: &i64| vec![*record, -record])
        .unwrap();
    sparse.part(1).unwrap().launch(&pure("0.5")).unwrap();
    sparse
        .part(-1)
        .unwrap()
        .launch(&flat(PureDp, "0.25"))
        .unwrap();
    // One record: two units, 0.5 + 0.25 or 2·0.5.
    assert_eq!(spent(&session, 1), loss("1"));
}

#[test]
fn a_replaced_record_moves() {
    let space = Records::<i64>::replaced();
    let session = Odometer::new(space, BASIC).open(vec![1, 2, 3]).unwrap();
    let partition = session.partition(|record: &i64| *record).unwrap();
    partition
        .part(1)
        .unwrap()
        .launch(&flat(PureDp, "0.5"))
        .unwrap();
    partition
        .part(2)
        .unwrap()
        .launch(&flat(PureDp, "0.25"))
        .unwrap();
    partition
        .part(3)
        .unwrap()
        .launch(&flat(PureDp, "0.125"))
        .unwrap();
    assert_eq!(
        session.privacy_loss(&1).unwrap().bound(),
        &loss("0.75"),
        "it leaves one part and enters another"
    );
    assert_eq!(session.privacy_loss(&2).unwrap().bound(), &loss("0.875"));
}

#[test]
fn several_partitions_add_up_and_asking_again_is_the_same_part() {
    let session = open();
    let (by_size, by_parity) = (
        session.partition(|record: &i64| *record > 1).unwrap(),
        session.partition(|record: &i64| *record % 2).unwrap(),
    );
    by_size.part(true).unwrap().launch(&pure("0.5")).unwrap();
    by_size.part(true).unwrap().launch(&pure("0.5")).unwrap();
    by_size.part(false).unwrap().launch(&pure("0.75")).unwrap();
    by_parity.part(0).unwrap().launch(&pure("0.25")).unwrap();
    session.launch(&pure("0.125")).unwrap();
    assert_eq!(spent(&session, 1), loss("1.375"));
    assert_eq!(
        spent(&by_size.part(true).unwrap(), 1),
        loss("0"),
        "a session of its own, on the same part"
    );
}

#[test]
fn conversions_and_stability_maps_above_a_partition() {
    let session = open_with(Basic::new(Zcdp));
    let twice = Transformation::new(records(), records(), times(2), |data: &Vec<i64>| {
        Ok([data.clone(), data.clone()].concat())
    });
    let after = session
        .nest_after(&twice)
        .unwrap()
        .nest_in(BASIC, PureToZcdp)
        .unwrap();
    let partition = after.partition(|record: &i64| *record).unwrap();
    partition
        .part(1)
        .unwrap()
        .launch(&flat(PureDp, "1"))
        .unwrap();
    partition
        .part(2)
        .unwrap()
        .launch(&flat(PureDp, "2"))
        .unwrap();
    partition
        .part(3)
        .unwrap()
        .launch(&flat(PureDp, "0.5"))
        .unwrap();
    let rho = |epsilon: &str| measures::convert::pure_to_zcdp(&loss(epsilon));
    // One record before is two after: one in each of the two worst parts; each leaf converted by itself.
    let expected = Rho::new(rho("1").value() + rho("2").value());
    assert_eq!(session.privacy_loss(&1).unwrap().bound(), &expected);
    assert_eq!(after.privacy_loss(&2).unwrap().bound(), &loss("3"));
    assert_eq!(after.privacy_loss(&1).unwrap().bound(), &loss("2"));
}

#[test]
fn beyond_64_units_the_loss_is_bounded_from_above() {
    let session = open();
    let partition = session.partition(|record: &i64| *record).unwrap();
    for key in 0..3 {
        partition
            .part(key)
            .unwrap()
            .launch(&flat(PureDp, "0.5"))
            .unwrap();
    }
    for d_in in [64, 65, 1000] {
        assert_eq!(spent(&session, d_in), loss("1.5"));
    }
    partition.part(0).unwrap().launch(&pure("0.1")).unwrap();
    assert_eq!(
        spent(&session, 64),
        loss("7.7"),
        "62 units there, one in each other part"
    );
    assert_eq!(
        spent(&session, 65),
        loss("8"),
        "as if all units fell on every part"
    );
    let part = partition
        .part(1)
        .unwrap()
        .partition(|record: &i64| record % 2)
        .unwrap();
    part.part(0).unwrap().launch(&flat(PureDp, "0.25")).unwrap();
    assert_eq!(spent(&session, 2000), loss("201.75"));
    // Too many records to count.
    let sparse = session
        .partition_sparse(u32::MAX, |record: &i64| vec![*record])
        .unwrap();
    sparse.part(0).unwrap().launch(&pure("0.1")).unwrap();
    assert!(matches!(
        session.privacy_loss(&2),
        Err(LaunchError::Map { .. })
    ));
}

#[test]
fn nested_partitions_at_a_large_distance_cost_no_more_than_shallow_ones() {
    // Asked level by level for every number of units, this would take C(74, 10) costs.
    let mut session = open();
    let top = session.clone();
    for _ in 0..10 {
        session = session
            .partition(|record: &i64| record % 2)
            .unwrap()
            .part(1)
            .unwrap();
    }
    session.launch(&pure("0.1")).unwrap();
    assert_eq!(spent(&top, 64), loss("6.4"));
    let capped = Odometer::new(records(), BASIC)
        .filter(64, "10")
        .unwrap()
        .invoke(vec![1, 2])
        .unwrap();
    let mut session = capped.clone();
    for _ in 0..10 {
        session = session
            .partition(|record: &i64| record % 2)
            .unwrap()
            .part(1)
            .unwrap();
    }
    session.launch(&pure("0.1")).unwrap();
    assert_eq!(capped.remaining(&64).unwrap(), Some(loss("3.6")));
}

#[test]
fn parts_can_be_capped_and_reserved_with_different_budgets() {
    let session = filtered("1");
    let partition = session.partition(|record: &i64| *record).unwrap();
    let capped = partition
        .part(1)
        .unwrap()
        .nested("inner")
        .capped(1, "0.3")
        .open()
        .unwrap();
    capped.launch(&pure("0.3")).unwrap();
    let said = refusal(capped.launch(&pure("0.1")).unwrap_err());
    assert_eq!(said.budget, "0.3");
    let reserved = Odometer::new(records(), BASIC)
        .named("part two")
        .filter(1, "0.9")
        .unwrap();
    let reserved = partition.part(2).unwrap().launch(&reserved).unwrap();
    assert_eq!(spent(&session, 1), loss("0.9"));
    reserved.launch(&pure("0.9")).unwrap();
    assert_eq!(
        refusal(reserved.launch(&pure("0.9")).unwrap_err()).account,
        "part two"
    );
    session.launch(&pure("0.1")).unwrap();
}

/// Launches with losses given at 1, 2, … units, in a tree of parts.
#[derive(Clone, Debug)]
struct Tree {
    own: Vec<Vec<EpsilonDelta>>,
    partitions: Vec<Vec<Tree>>,
}

const UNITS: usize = 4;

/// Every raw sum over every way in which `units` changed records can fall on the data: the list of all of them.
fn all_sums<R: Tallied<Tally: PartialEq, Child = ApproxDp>>(
    rule: &R,
    tree: &Tree,
    units: usize,
) -> Vec<R::Tally> {
    let mut own = rule.start();
    for losses in &tree.own {
        if units > 0 {
            own.absorb(&losses[units - 1], 1);
        }
    }
    let mut sums = vec![own];
    for parts in &tree.partitions {
        let splits = all_splits(rule, parts, units);
        sums = sums
            .iter()
            .flat_map(|sum| {
                splits.iter().map(|split| {
                    let mut both = sum.clone();
                    both.merge(split);
                    both
                })
            })
            .collect();
        thin(&mut sums);
    }
    sums
}

fn all_splits<R: Tallied<Tally: PartialEq, Child = ApproxDp>>(
    rule: &R,
    parts: &[Tree],
    units: usize,
) -> Vec<R::Tally> {
    let Some((first, rest)) = parts.split_first() else {
        return vec![rule.start()];
    };
    let mut all = Vec::new();
    for here in 0..=units {
        let rest = all_splits(rule, rest, units - here);
        for one in all_sums(rule, first, here) {
            all.extend(rest.iter().map(|other| {
                let mut both = one.clone();
                both.merge(other);
                both
            }));
        }
    }
    thin(&mut all);
    all
}

fn thin<T: PartialEq>(sums: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::new();
    for sum in sums.drain(..) {
        if !kept.contains(&sum) {
            kept.push(sum);
        }
    }
    *sums = kept;
}

fn measurement(losses: &[EpsilonDelta]) -> On<ApproxDp, ()> {
    let losses = losses.to_vec();
    let map = PrivacyMap::new(ApproxDp, move |d| {
        Ok(losses
            .get(*d as usize - 1)
            .cloned()
            .unwrap_or(EpsilonDelta::INFINITY))
    });
    Measurement::new("query", records(), map, |_, _| Ok(()))
}

fn play<R: measures::FilterRule<Child = ApproxDp>>(
    session: &Session<Numbers, R>,
    tree: &Tree,
    filter: &mut dyn FnMut(Result<(), LaunchError>),
) {
    for losses in &tree.own {
        filter(session.launch(&measurement(losses)));
    }
    for parts in &tree.partitions {
        let partition = session.partition(|record: &i64| *record as usize).unwrap();
        for (key, part) in parts.iter().enumerate() {
            play(&partition.part(key).unwrap(), part, filter);
        }
    }
}

fn check<R: Adaptive<Child = ApproxDp, Total = ApproxDp>>(rule: R, tree: &Tree) {
    let session = Odometer::new(records(), rule.clone()).open(vec![]).unwrap();
    play(&session, tree, &mut |launched| launched.unwrap());
    for units in 1..=UNITS {
        let mut joined = rule.start();
        for sum in all_sums(&rule, tree, units) {
            joined.join(&sum);
        }
        // The sums of several partitions are bounded one by one, so the reference joins where they are added, too.
        let expected = rule.loss(&join_tree(&rule, tree, units));
        let real = session.privacy_loss(&(units as u32)).unwrap();
        assert_eq!(real, expected, "at {units} units");
        assert!(
            rule.loss(&joined).at_most(real.bound()),
            "every split is covered"
        );
        if tree.partitions.len() < 2
            && tree
                .partitions
                .iter()
                .flatten()
                .all(|part| part.partitions.len() < 2)
        {
            assert_eq!(real, rule.loss(&joined), "one partition is exact");
        }
    }
}

/// The same as `all_sums`, joined wherever a partition ends.
fn join_tree<R: Tallied<Child = ApproxDp>>(rule: &R, tree: &Tree, units: usize) -> R::Tally {
    let mut total = rule.start();
    for losses in &tree.own {
        if units > 0 {
            total.absorb(&losses[units - 1], 1);
        }
    }
    for parts in &tree.partitions {
        let mut worst = rule.start();
        for split in compositions(parts.len(), units) {
            let mut sum = rule.start();
            for (part, here) in parts.iter().zip(split) {
                sum.merge(&join_tree(rule, part, here));
            }
            worst.join(&sum);
        }
        total.merge(&worst);
    }
    total
}

/// All ways to give at most `units` units to `parts` parts.
fn compositions(parts: usize, units: usize) -> Vec<Vec<usize>> {
    if parts == 0 {
        return vec![Vec::new()];
    }
    (0..=units)
        .flat_map(|here| {
            compositions(parts - 1, units - here)
                .into_iter()
                .map(move |mut rest| {
                    rest.insert(0, here);
                    rest
                })
        })
        .collect()
}

fn losses() -> impl Strategy<Value = Vec<EpsilonDelta>> {
    let pair =
        |(e, d): (u32, u32)| EpsilonDelta::new(Exact::from(e), tiny().times(d.into())).unwrap();
    // Not monotone on purpose: a larger change may do what a smaller one does all the same.
    proptest::collection::vec((0u32..5, 0u32..5).prop_map(pair), UNITS)
}

fn tiny() -> Exact {
    "0.0009765625".parse().unwrap()
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = proptest::collection::vec(losses(), 0..3).prop_map(|own| Tree {
        own,
        partitions: vec![],
    });
    leaf.prop_recursive(2, 7, 3, |inner| {
        let partition = proptest::collection::vec(inner, 1..4);
        (
            proptest::collection::vec(losses(), 0..2),
            proptest::collection::vec(partition, 0..3),
        )
            .prop_map(|(own, partitions)| Tree { own, partitions })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_worst_split_is_the_worst_of_all_splits(tree in tree()) {
        check(Basic::new(ApproxDp), &tree);
        check(ImprovedBasic, &tree);
        check(WhitehouseOdometer::new(tiny(), "0.5").unwrap(), &tree);
    }

    #[test]
    fn a_filter_over_parts_stays_within_its_budget(tree in tree(), epsilon in 1u32..9, units in 1..=UNITS) {
        let rule = Basic::new(ApproxDp);
        let budget = EpsilonDelta::new(Exact::from(epsilon), "0.01".parse().unwrap()).unwrap();
        let filter = Odometer::new(records(), rule).filter(units as u32, budget.clone()).unwrap();
        let session = filter.invoke(vec![]).unwrap();
        play(&session, &tree, &mut |launched| {
            prop_assert_refusal(launched);
        });
        let total = session.privacy_loss(&(units as u32)).unwrap();
        prop_assert!(total.at_most(&budget));
        prop_assert_eq!(session.spent().unwrap().unwrap(), total);
    }
}

fn prop_assert_refusal(launched: Result<(), LaunchError>) {
    assert!(
        matches!(launched, Ok(()) | Err(LaunchError::Refused(_))),
        "{launched:?}"
    );
}

#[test]
fn many_parts_and_many_partitions_stay_affordable() {
    let session = Odometer::new(records(), BASIC)
        .filter(2, "1")
        .unwrap()
        .invoke(vec![])
        .unwrap();
    let partition = session.partition(|record: &i64| *record).unwrap();
    let query = pure("0.25");
    for key in 0..3000 {
        partition.part(key).unwrap().launch(&query).unwrap();
    }
    assert_eq!(session.remaining(&2).unwrap(), Some(loss("0.5")));
    let free = pure("0");
    for _ in 0..500 {
        session
            .partition(|record: &i64| *record)
            .unwrap()
            .part(1)
            .unwrap()
            .launch(&free)
            .unwrap();
    }
    assert_eq!(session.privacy_loss(&2).unwrap().bound(), &loss("0.5"));
    assert_eq!(session.privacy_loss(&5).unwrap().bound(), &loss("1.25"));
}

#[test]
fn a_partition_remembers_no_more_keys_than_the_quota() {
    let odometer = Odometer::new(records(), BASIC).quota(10);
    let session = odometer.open(vec![1, 2, 3]).unwrap();
    let partition = session.partition(|record: &i64| *record).unwrap();
    (0..10).for_each(|key| drop(partition.part(key).unwrap()));
    let full = partition.part(10).unwrap_err();
    assert!(matches!(full, OpenError::PartsFull { quota: 10, .. }));
    partition.part(9).unwrap().launch(&pure("0.1")).unwrap();
}

/// The list of launches says in which part each was, and how each session is called; losses and counts are as before.
#[test]
fn the_list_tells_parts_apart() {
    let session = Odometer::new(records(), BASIC).named("all");
    let session = session.open(vec![1, 2, 3]).unwrap();
    let query = pure("0.25").with_parameter("scale", 4);
    let parity = session.partition(|x| x % 2).unwrap();
    parity.part(0).unwrap().launch(&query).unwrap();
    let odd = parity.part(1).unwrap();
    (0..2).for_each(|_| odd.launch(&query).unwrap());
    session.launch(&query).unwrap();
    let listed: Vec<String> = session
        .launches()
        .unwrap()
        .iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    assert_eq!(
        listed,
        [
            "1 `query`(scale = 4, part = 0)",
            "2 `query`(scale = 4, part = 1)",
            "1 `query`(scale = 4)"
        ]
    );
    let json = serde_json::to_value(session.ledger(1).unwrap()).unwrap();
    assert_eq!(
        json[1]["description"]["parameters"][1],
        serde_json::json!(["part", "1"])
    );
    assert_eq!(
        (&json[1]["loss"], &json[1]["count"]),
        (&"0.25".into(), &2.into())
    );
    let team = session.nested("team red").open().unwrap();
    assert_eq!(team.path(), ["all", "team red"]);
}

/// Keys are shown by foreign code: what panics opens no part, and what is long is cut.
#[test]
fn a_key_that_cannot_be_shown_opens_no_part() {
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Key(bool);
    impl std::fmt::Debug for Key {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            assert!(self.0, "no words for it");
            (0..1_000_000).try_for_each(|_| f.write_str("long "))
        }
    }
    let session = Odometer::new(records(), BASIC).open(vec![1, 2, 3]).unwrap();
    let parts = session.partition(|x| Attested(Key(x % 2 == 0))).unwrap();
    assert!(matches!(
        parts.part(Attested(Key(false))),
        Err(OpenError::Unusable(_))
    ));
    let part = parts.part(Attested(Key(true))).unwrap();
    part.launch(&pure("0.1")).unwrap();
    let (what, _) = session.launches().unwrap().remove(0);
    assert!(what.to_string().len() < 100, "{what}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Parts with the same launches share what a question finds out about them. It is the same as asking after every launch, which
    /// shares hardly anything.
    #[test]
    fn what_alike_parts_share_is_what_each_has(
        launches in prop::collection::vec((0i64..12, 0usize..8, 1u64..3), 1..60),
    ) {
        // At distance 12 the worst is one changed record in each part, if the maps are flat: every part counts.
        let queries: Vec<_> = (1..=6)
            .map(|tenths| flat(PureDp, &format!("0.{tenths}")))
            .chain([pure("0.01"), pure("1e-100")])
            .collect();
        let (at_once, one_by_one) = (open(), open());
        let parts = [&at_once, &one_by_one].map(|session| session.partition(|record: &i64| *record).unwrap());
        let groups = [&at_once, &one_by_one].map(|session| session.partition(|record: &i64| record % 2).unwrap());
        for (key, query, count) in &launches {
            for (parts, groups) in parts.iter().zip(&groups) {
                let part = parts.part(*key).unwrap();
                for _ in 0..*count {
                    part.launch(&queries[*query]).unwrap();
                }
                // Parts in parts.
                let part = groups.part(key % 2).unwrap();
                part.partition(|record: &i64| *record).unwrap().part(*key).unwrap().launch(&queries[*query]).unwrap();
            }
            for d_in in [1, 3, 12, 65] {
                spent(&one_by_one, d_in);
            }
        }
        for d_in in [1, 3, 12, 65] {
            prop_assert_eq!(spent(&at_once, d_in), spent(&one_by_one, d_in));
        }
    }
}
