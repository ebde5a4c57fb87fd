//! Whatever an analyst can make an account remember has a bound, and lists are read without stopping anybody.

use crate::common::*;
use exact::Exact;
use measures::{
    Epsilon, Loss as _, PrivacyMap, PureDp, Zcdp, adaptive::TimeUniformBasic, convert::PureToZcdp,
};
use odometer::journal::{Books, Memory};
use odometer::{
    Bookmark, DEFAULT_QUOTA, LaunchError, Measurement, Odometer, TimeUniformOdometer,
    Transformation,
};

fn full(error: LaunchError) -> (String, u32) {
    assert!(!error.was_charged());
    assert!(error.to_string().contains("larger quota"), "{error}");
    match error {
        LaunchError::LedgerFull { account, quota } => (account, quota),
        other => panic!("{other:?}"),
    }
}

/// A measurement with a name of its own, which costs this much per record.
fn called(name: impl ToString, per_record: &str) -> On<PureDp, ()> {
    pure(per_record).named(name.to_string())
}

/// A measurement whose map is only a function.
fn closure(cost: &str) -> On<PureDp, ()> {
    flat(PureDp, cost)
}

fn root(quota: u32) -> PureSession {
    let odometer = Odometer::new(records(), BASIC).named("the root");
    odometer.quota(quota).open(vec![1, 2]).unwrap()
}

fn counts(session: &PureSession) -> Vec<u64> {
    let listed = session.launches().unwrap().into_iter();
    listed.map(|(_, count)| count).collect()
}

#[test]
fn equal_measurements_are_one_entry() {
    let session = root(2);
    for _ in 0..100 {
        session.launch(&pure("0.1")).unwrap();
        session.launch(&pure("0.2")).unwrap();
    }
    assert_eq!(counts(&session), [100, 100]);
    assert_eq!(spent(&session, 3), loss("90"));
    // Another description, form or part is another entry, and so is every closure.
    let session = root(100);
    session.launch(&pure("0.1")).unwrap();
    session.launch(&called("other", "0.1")).unwrap();
    session.launch(&pure("0.2")).unwrap();
    session.launch(&closure("0.1")).unwrap();
    session.launch(&closure("0.1")).unwrap();
    let partition = session.partition(|record: &i64| *record).unwrap();
    for key in [1, 2, 1] {
        partition.part(key).unwrap().launch(&pure("0.1")).unwrap();
    }
    assert_eq!(counts(&session), [1, 1, 1, 1, 1, 2, 1]);
    assert_eq!(spent(&session, 1), loss("0.8"));
}

/// Maps of one form may be different functions, none above the form. Together they count by the form.
#[test]
fn equal_forms_count_at_least_what_each_costs() {
    let known_as = |cost: u32| {
        let function = move |d_in: &u32| Ok(Epsilon::new(Exact::from(cost * d_in)));
        let form = || measures::Form::Linear(loss("5"));
        let map = PrivacyMap::known_as(PureDp, function, form);
        Measurement::new("known", records(), map, |_, _| Ok(()))
    };
    let session = root(100);
    session.launch(&known_as(1)).unwrap();
    assert_eq!(spent(&session, 2), loss("2"));
    session.launch(&known_as(5)).unwrap();
    assert_eq!(session.launches().unwrap().len(), 1);
    let both = spent(&session, 3);
    assert!(loss::<Epsilon>("18").at_most(&both), "{both}");
    // A cap is charged what each costs, also above a link.
    let top = filtered("100");
    let same = |data: &Vec<i64>| Ok(data.clone());
    let same = Transformation::multiplying(records(), records(), 1, same);
    let below = top.nest_after(&same).unwrap();
    for cost in [1, 5, 2] {
        below.launch(&known_as(cost)).unwrap();
    }
    assert_eq!(top.spent().unwrap().unwrap().bound(), &loss("8"));
}

#[test]
fn a_list_ends_at_the_quota() {
    let session = root(3);
    for cost in ["0", "0.1", "0.2"] {
        session.launch(&pure(cost)).unwrap();
    }
    // Without a cap, a closure is known at no distance: there is nothing to merge it into.
    assert_eq!(
        full(session.launch(&closure("0")).unwrap_err()),
        ("the root".into(), 3)
    );
    // What is listed goes on.
    session.launch(&pure("0.1")).unwrap();
    assert_eq!(counts(&session), [1, 2, 1]);
    assert_eq!(spent(&session, 1), loss("0.4"));
}

/// Beyond the quota, measurements of one form are one entry, whatever they are called.
#[test]
fn in_a_full_list_equal_forms_are_merged() {
    let session = root(2);
    for number in 0..50 {
        session.launch(&called(number, "0.1")).unwrap();
    }
    assert_eq!(counts(&session), [1, 1, 48]);
    assert_eq!(spent(&session, 1), loss("5"));
    assert_eq!(spent(&session, 4), loss("20"));
    // There is room for a few forms only.
    let forms = (1..1000).take_while(|n| session.launch(&pure(&n.to_string())).is_ok());
    assert_eq!(forms.count(), 63);
    full(session.launch(&pure("5000")).unwrap_err());
    session.launch(&called("one more", "0.1")).unwrap();
}

/// Beyond the quota, closures of one cost are one entry, which is infinite beyond the cap's distance.
#[test]
fn in_a_full_list_closures_are_merged() {
    let filter = Odometer::new(records(), BASIC).quota(2).filter(2, "10");
    let session = filter.unwrap().invoke(vec![1]).unwrap();
    for _ in 0..30 {
        session.launch(&closure("0.1")).unwrap();
    }
    assert_eq!(counts(&session), [1, 1, 28]);
    assert_eq!(session.spent().unwrap().unwrap().bound(), &loss("3"));
    assert_eq!(spent(&session, 1), loss("3"));
    assert_eq!(spent(&session, 2), loss("3"));
    assert_eq!(spent(&session, 3), Epsilon::INFINITY);
    let parts = session.partition(|record: &i64| *record).unwrap();
    for key in [1, 2, 2] {
        parts.part(key).unwrap().launch(&closure("0.1")).unwrap();
    }
    assert_eq!(counts(&session), [1, 1, 28, 1, 2]);
    // Two changed records are in one part each, or both in the second.
    assert_eq!(session.spent().unwrap().unwrap().bound(), &loss("3.3"));
    assert_eq!(spent(&session, 2), loss("3.3"));
}

/// The attack `quota.rs`: a team with a cap of 0 launches for ever, and harms no other team.
#[test]
fn a_team_without_a_budget_harms_nobody() {
    let odometer = Odometer::new(records(), BASIC).named("all").quota(64);
    let all = odometer.filter(1, "3").unwrap().invoke(vec![1]).unwrap();
    let red = all.nested("red").capped(1, "0").open().unwrap();
    let blue = all.nested("blue").capped(1, "1").open().unwrap();
    for number in 0..1000 {
        // Opening more sessions does not help.
        let below = red.nested("below").open().unwrap();
        for session in [&red, &below] {
            session.launch(&called(number, "0")).unwrap();
            session.launch(&closure("0")).unwrap();
        }
        let map = PrivacyMap::constant_up_to(PureDp, 1 + number, "0").unwrap();
        let bounded = Measurement::new("bounded", records(), map, |_, _| Ok(()));
        let _ = red.launch(&bounded);
    }
    for number in 0..10 {
        blue.launch(&called(number, "0.05")).unwrap();
        all.launch(&called(number, "0.1")).unwrap();
    }
    // A share of 16 of 64 entries, and the rest merged into as many and one in sixteen more.
    assert!(all.launches().unwrap().len() <= 16 + 1 + 16 + 20);
    assert_eq!(spent(&all, 1), loss("1.5"));
}

/// The same in a list of eight entries, with as many different maps as there can be.
#[test]
fn a_team_without_a_budget_harms_nobody_in_a_small_list() {
    let odometer = Odometer::new(records(), BASIC).named("all").quota(8);
    let all = odometer.filter(1, "3").unwrap().invoke(vec![1]).unwrap();
    let red = all.nested("red").capped(1, "0").open().unwrap();
    let blue = all.nested("blue").capped(1, "1").open().unwrap();
    let free = |number: u32| {
        let map = PrivacyMap::constant_up_to(PureDp, number, "0").unwrap();
        Measurement::new("free", records(), map, |_, _| Ok(()))
    };
    let launched = (1..1000).take_while(|number| red.launch(&free(*number)).is_ok());
    assert_eq!(launched.count(), 4 + 16);
    assert_eq!(
        full(red.launch(&free(1000)).unwrap_err()),
        ("all".into(), 4)
    );
    for number in 0..10 {
        blue.launch(&called(number, "0.1")).unwrap();
        all.launch(&called(number, "0.2")).unwrap();
    }
    assert_eq!(spent(&all, 1), loss("3"));
}

/// The attack `quota_runs.rs`: two teams of one measurement each, in turns, for ever.
#[test]
fn two_teams_in_turns_harm_nobody() {
    let all = filtered("3");
    let teams = ["red", "green"].map(|name| {
        let team = all.nested(name).quota(1).capped(1, "0");
        team.open().unwrap()
    });
    let queries = [called("a", "0"), called("b", "0")];
    for i in 0..40_000 {
        teams[i % 2].launch(&queries[i % 2]).unwrap();
    }
    assert_eq!(counts(&all), [20_000, 20_000]);
    all.launch(&pure("0.1")).unwrap();
}

/// A child has a sixteenth of its parent's list, or what was stated for it; the list itself is a limit, too.
#[test]
fn every_child_has_a_share() {
    let admitted = |session: &PureSession| {
        let launched = (0..2000).take_while(|_| session.launch(&closure("0")).is_ok());
        launched.count()
    };
    let all = root(1600);
    assert_eq!(admitted(&all.nested("red").open().unwrap()), 100);
    assert_eq!(admitted(&all.nested("blue").open().unwrap()), 100);
    assert_eq!(
        admitted(&all.nested("stated").quota(300).open().unwrap()),
        300
    );
    let green = all.nested("green").quota(1000).open().unwrap();
    let (one, other) = (green.nested("one"), green.nested("other").quota(5000));
    let one = admitted(&one.open().unwrap());
    assert_eq!(one, 62);
    assert_eq!(admitted(&other.open().unwrap()), 1000 - one);
    assert_eq!(admitted(&all), 100);
    assert_eq!(all.launches().unwrap().len(), 1600);
}

#[test]
fn the_quota_of_an_ancestor_refuses_and_charges_nobody() {
    let top = root(2);
    let inherits = top.nested("inner").open().unwrap();
    let larger = top.nested("larger").quota(1000).open().unwrap();
    let smaller = larger.nested("smaller").quota(1).open().unwrap();
    smaller.launch(&closure("0.1")).unwrap();
    assert_eq!(
        full(smaller.launch(&closure("0.1")).unwrap_err()),
        ("smaller".into(), 1)
    );
    larger.launch(&closure("0.1")).unwrap();
    for session in [&larger, &inherits] {
        assert_eq!(
            full(session.launch(&closure("0.1")).unwrap_err()),
            ("the root".into(), 2)
        );
    }
    assert_eq!(spent(&top, 1), loss("0.2"));
    assert_eq!(spent(&larger, 1), loss("0.2"));
    assert_eq!(spent(&inherits, 1), loss("0"));
    assert_eq!(inherits.launches().unwrap(), []);
}

#[test]
fn parts_translations_and_conversions_count() {
    // A translated cost is an entry: whatever is below a link is listed above it.
    let session = root(3);
    let partition = session.partition(|record: &i64| *record).unwrap();
    let query = closure("0");
    let launched = (0..10).take_while(|part| {
        // No more keys than the quota, either.
        let part = partition.part(*part);
        part.is_ok_and(|part| part.launch(&query).is_ok())
    });
    assert_eq!(launched.count(), 3);

    let same = |data: &Vec<i64>| Ok(data.clone());
    let same = Transformation::new(records(), records(), |d| Ok(*d), same);
    let session = root(32);
    let after = session.nest_after(&same).unwrap();
    let launched = (0..100).take_while(|_| after.launch(&closure("0")).is_ok());
    assert_eq!(launched.count(), 16);

    let zcdp = Odometer::new(records(), measures::Basic::new(Zcdp));
    let zcdp = zcdp.quota(32).open(vec![]).unwrap();
    let session = zcdp.nest_in(BASIC, PureToZcdp).unwrap();
    let launched = (0..100).take_while(|_| session.launch(&closure("0")).is_ok());
    assert_eq!(launched.count(), 16);

    let time_uniform = TimeUniformOdometer::new(records(), TimeUniformBasic).quota(3);
    let session = time_uniform.open(vec![]).unwrap();
    let launched = (0..10).take_while(|_| session.launch(&closure("0")).is_ok());
    assert_eq!(launched.count(), 3);
    let (page, read) = session.launches_after(Bookmark::default(), 2).unwrap();
    let rest = session.launches_after(read, 9).unwrap().0;
    assert_eq!((page.len(), rest.len()), (2, 1));
}

const MEMORY: &str = "ODOMETRY_TEST_OF_MEMORY";

/// The resident memory of this process, in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages = statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap();
    pages * 4096
}

/// A service makes a measurement for every request. It runs in a process of its own, where no other test needs memory.
#[test]
fn a_million_launches_of_measurements_made_per_request_take_no_memory() {
    if std::env::var_os(MEMORY).is_none() {
        let name = "quotas::a_million_launches_of_measurements_made_per_request_take_no_memory";
        let mut own = std::process::Command::new(std::env::current_exe().unwrap());
        let status = own.args(["--exact", name]).env(MEMORY, "1").status();
        return assert!(status.unwrap().success());
    }
    let all = filtered("2000000");
    let team = all.nested("team").capped(1, "2000000").open().unwrap();
    let same = |data: &Vec<i64>| Ok(data.clone());
    let same = Transformation::multiplying(records(), records(), 1, same);
    let after = team.nest_after(&same).unwrap();
    let launch = |session: &PureSession, times| {
        (0..times).for_each(|_| session.launch(&pure("1")).unwrap());
    };
    launch(&after, 10_000);
    let before = resident();
    launch(&team, 890_000);
    launch(&after, 100_000);
    let grown = resident().saturating_sub(before);
    assert!(grown <= 1 << 20, "{grown} bytes");
    assert_eq!(counts(&all), [1_000_000]);
    assert_eq!(spent(&all, 1), loss("1000000"));
}

#[test]
fn one_measurement_may_be_launched_for_ever() {
    const { assert!(DEFAULT_QUOTA >= 1_000_000) };
    let session = Odometer::new(records(), BASIC)
        .quota(1)
        .open(vec![])
        .unwrap();
    let query = pure("0");
    (0..100_000).for_each(|_| session.launch(&query).unwrap());
    assert_eq!(session.launches().unwrap()[0].1, 100_000);
}

#[test]
fn a_quota_survives_a_snapshot() {
    let odometer = Odometer::new(records(), BASIC).quota(2);
    let journal = Memory::for_snapshots();
    let session = odometer.open_on(&Books::new(journal.clone()), 1, vec![]);
    let session = session.unwrap();
    let both = [pure("0.1"), pure("0.2")];
    (0..10).for_each(|i| session.launch(&both[i % 2]).unwrap());
    let journal = Memory::restored_by_operator(&journal.snapshot().unwrap());
    let restored = odometer.open_on(&Books::new(journal), 1, vec![]).unwrap();
    assert_eq!(spent(&restored, 1), loss("1.5"));
    // The launches of the snapshot leave room for as many live ones as the quota states.
    restored.launch(&closure("0.3")).unwrap();
    restored.launch(&closure("0.3")).unwrap();
    full(restored.launch(&closure("0.3")).unwrap_err());
}

#[test]
fn pages_are_the_list() {
    let session = open();
    let queries: Vec<_> = (0..1000).map(|number| called(number, "0")).collect();
    for i in 0..3_000usize {
        session.launch(&queries[i * 7 % 1000]).unwrap();
    }
    let all = session.launches().unwrap();
    assert_eq!(counts(&session), vec![3; 1000]);
    for most in [1, 2, 255, 256, 257, 10_000] {
        let (mut pages, mut read) = (Vec::new(), Bookmark::default());
        loop {
            let (page, next) = session.launches_after(read, most).unwrap();
            assert!(page.len() <= most);
            if page.is_empty() {
                break;
            }
            pages.extend(page);
            read = next;
        }
        assert_eq!(pages, all, "{most} at a time");
        assert_eq!(session.launches_after(read, most).unwrap(), (vec![], read));
    }
    let (nothing, read) = session.launches_after(Bookmark::default(), 0).unwrap();
    assert!(nothing.is_empty() && read == Bookmark::default());
    // Measurements are listed in the order of their first launch.
    let (_, read) = session.launches_after(Bookmark::default(), 10_000).unwrap();
    session.launch(&queries[0]).unwrap();
    session.launch(&pure("1")).unwrap();
    let (rest, _) = session.launches_after(read, 10).unwrap();
    assert_eq!(rest.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [1]);
    assert_eq!(session.launches().unwrap()[0].1, 4);
}
