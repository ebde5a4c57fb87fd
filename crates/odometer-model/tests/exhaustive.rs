//! Three threads on one account, in every schedule; and three levels, in as many as there is time for.

use crate::common::*;

/// Three threads launch what fits twice; the test's own thread is the third.
fn three_launches() {
    let session = filter("2");
    let unit = query("1");
    let threads = [(); 2].map(|()| {
        let (session, unit) = (session.clone(), unit.clone());
        spawn(move || admitted(&session, &unit))
    });
    let own = admitted(&session, &unit);
    let others: u64 = threads.map(|thread| thread.join().unwrap()).iter().sum();
    assert_eq!(own + others, 2);
    assert_eq!(spent(&session), epsilon("2"));
    assert_eq!(session.launches().unwrap()[0].1, 2);
}

/// The search is complete, so the number of schedules is a property of the source: of every lock and atomic that a launch
/// touches. Whoever changes it has changed that.
#[test]
fn three_threads_on_one_account_in_every_schedule() {
    assert_eq!(every_schedule(three_launches), 515);
}

/// Three threads launch at three levels, each capped; what fits at the top fits twice.
fn three_levels() {
    let top = filter("2");
    let middle = top.nested("inner").capped(1, epsilon("2")).open().unwrap();
    let leaf = middle
        .nested("inner")
        .capped(1, epsilon("1"))
        .open()
        .unwrap();
    let unit = query("1");
    let threads = [middle.clone(), leaf.clone()].map(|session| {
        let unit = unit.clone();
        spawn(move || admitted(&session, &unit))
    });
    let by_top = admitted(&top, &unit);
    let [by_middle, by_leaf] = threads.map(|thread| thread.join().unwrap());
    assert_eq!(by_top + by_middle + by_leaf, 2);
    let charged = [(&top, 2), (&middle, by_middle + by_leaf), (&leaf, by_leaf)];
    for (session, charged) in charged {
        assert_eq!(*spent(session).value(), exact::Exact::from(charged));
        let listed: u64 = session.launches().unwrap().iter().map(|(_, n)| n).sum();
        assert_eq!(listed, charged);
    }
}

/// Not complete: there are many millions of schedules.
#[test]
fn three_levels_in_twelve_thousand_schedules() {
    assert_eq!(some_schedules(6_000, three_levels), 12_000);
}
