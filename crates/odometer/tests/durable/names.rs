//! Names are identities: what has none is refused, and one name is one account.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use measures::adaptive::TimeUniformBasic;
use measures::{ApproxDp, SymmetricDistance, times};
use odometer::{Space, TimeUniformOdometer, Transformation};

use super::*;

#[test]
fn a_path_is_one_account() {
    let journal = Memory::new();
    let session = open(&journal);
    let team = || session.nested("team").capped(1, "0.5").open().unwrap();
    let (one, other) = (team(), team());
    one.launch(&query("0.4")).unwrap();
    assert_eq!(left(&other), "0.1");
    drop((one, other));
    assert_eq!(left(&team()), "0.1"); // closed meanwhile
    let error = open_error(session.nested("team").capped(1, "0.6").open());
    assert!(
        error
            .to_string()
            .contains("all/team is in the ledger with the budget 0.5"),
        "{error}"
    );
    let error = open_error(session.nested("team").capped(2, "0.5").open());
    assert!(error.to_string().contains("the distance 1"), "{error}");
    let error = open_error(session.nested("").open());
    assert!(matches!(error, JournalError::Unnamed { .. }));
    let books = Books::new(restarted(&journal));
    let zcdp = Odometer::new(records(), Basic::new(ApproxDp)).named("all");
    let error = open_error(zcdp.filter_on(&books, 1, "(1, 0)", vec![]));
    assert!(
        error.to_string().contains("the rule basic{pure}"),
        "{error}"
    );
}

#[test]
fn whatever_has_no_name_is_refused() {
    let session = open(&Memory::new());
    assert!(matches!(
        open_error(session.partition(|x| x % 2)),
        JournalError::Unnamed { .. }
    ));
    let same = Transformation::new(records(), records(), times(1), |data: &Vec<i64>| {
        Ok(data.clone())
    });
    assert!(matches!(
        open_error(session.nest_after(&same)),
        JournalError::Unnamed { .. }
    ));
    assert!(session.link("same").nest_after(&same).is_ok());
}

#[test]
fn a_rule_without_a_name_is_refused() {
    let open = |name| {
        let books = Books::new(Memory::new());
        Odometer::new(records(), Mine(name)).open_on(&books, 1, vec![])
    };
    let error = open_error(open(None));
    assert!(
        error
            .to_string()
            .contains("the rule Mine(None) cannot be written down: give a name to it"),
        "{error}"
    );
    assert!(open(Some("mine")).is_ok());
}

/// Data of which none are in the space, and how often they were looked at.
#[derive(Clone, Debug)]
struct Empty(Arc<AtomicUsize>);

impl PartialEq for Empty {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Space for Empty {
    type Data = Vec<i64>;
    type Distance = u32;
    type Metric = SymmetricDistance;

    fn metric(&self) -> &SymmetricDistance {
        &SymmetricDistance
    }

    fn contains(&self, _: &Vec<i64>) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst);
        false
    }
}

/// What does not depend on data is said before they are looked at; and nothing is opened for data that are not in the space.
#[test]
fn names_are_asked_for_before_data_are_looked_at() {
    let (looked, journal) = (Arc::default(), Memory::new());
    let (empty, books) = (Empty(Arc::clone(&looked)), Books::new(journal.clone()));
    let open = |rule| Odometer::new(empty.clone(), rule).open_on(&books, 1, vec![]);
    let unnamed = open_error(open(Mine(None)));
    assert!(matches!(unnamed, JournalError::NotStorable { .. }));
    let timed = |name| {
        let odometer = TimeUniformOdometer::new(empty.clone(), TimeUniformBasic);
        odometer.named(name).open_on(&books, 1, vec![])
    };
    assert!(matches!(
        open_error(timed("")),
        JournalError::Unnamed { .. }
    ));
    assert_eq!(looked.load(Ordering::SeqCst), 0);
    for (number, opened) in [open(Mine(Some("mine"))).map(drop), timed("timed").map(drop)]
        .into_iter()
        .enumerate()
    {
        assert!(
            matches!(opened, Err(OpenError::NotInSpace { .. })),
            "{number}"
        );
    }
    assert_eq!(looked.load(Ordering::SeqCst), 2);
    assert_eq!(journal.records(), []);
}
