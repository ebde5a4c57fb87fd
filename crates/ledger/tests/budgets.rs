//! Another budget for an account, with a reason.

use std::ops::ControlFlow;

use crate::common::{Disk, begun};
use ledger::{Embedded, Ledger, LedgerReader, WrittenDown};
use measures::adaptive::{WhitehouseFilter, WhitehouseOdometer};
use measures::{ApproxDp, Basic, EpsilonDelta, PrivacyMap, PureDp};
use odometer::journal::{
    BudgetError, Event, Guarantee, JournalError, MAX_REASON, NewBudget, Record,
};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Records, Session};

type Pure = Session<Records<i64>, Basic<PureDp>>;

fn records() -> Records<i64> {
    Records::new()
}

fn query(epsilon: &str) -> Measurement<Records<i64>, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, epsilon).unwrap();
    Measurement::new("query", records(), map, |data, _| Ok(data.len()))
}

fn approximate(loss: &str) -> Measurement<Records<i64>, ApproxDp, usize> {
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, loss.parse::<EpsilonDelta>().unwrap());
    Measurement::new("query", records(), map, |data, _| Ok(data.len()))
}

fn fresh() -> (Disk, Ledger) {
    let disk = Disk::default();
    let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
    (disk, ledger)
}

fn again(disk: &Disk) -> Ledger {
    Ledger::on(Box::new(Embedded::on(disk.clone()).unwrap()), None).unwrap()
}

fn open(ledger: &Ledger, budget: &str) -> Result<Pure, OpenError> {
    let odometer = Odometer::new(records(), Basic::new(PureDp)).named("all");
    odometer.filter_on(ledger.books(), 1, budget, vec![3, 1, 4])
}

/// All changes of budgets that are written down.
fn changes(disk: &Disk) -> Vec<NewBudget> {
    let reader = LedgerReader::on(Box::new(Embedded::on(disk.clone()).unwrap()));
    let mut changes = Vec::new();
    reader
        .entries(0, |entry| {
            if let WrittenDown::Event(Record {
                event: Event::Budget(new),
                ..
            }) = entry.written
            {
                changes.push(new);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    changes
}

fn left(session: &Pure) -> String {
    session.remaining(1).unwrap().text().unwrap()
}

#[test]
fn a_budget_is_raised_while_nobody_has_the_account_open_and_stays_raised() {
    let (disk, ledger) = fresh();
    let session = open(&ledger, "1").unwrap();
    let team = session.nested("team").capped(1, "0.5").open().unwrap();
    team.launch(&query("0.4")).unwrap();
    let refused = ledger.change_budget("all", "2", "more");
    assert!(
        matches!(&refused, Err(BudgetError::Journal(JournalError::InUse { path })) if path == "all"),
        "{refused:?}"
    );
    // What is below keeps what is above open.
    drop(session);
    assert!(ledger.change_budget("all", "2", "more").is_err());
    assert!(ledger.change_budget("all/team", "1", "more").is_err());
    let head = ledger.head();
    drop(team);
    assert_eq!(ledger.head(), head, "refusals write nothing");
    ledger.change_budget("all", " 2.0 ", " more ").unwrap();
    ledger.change_budget("all/team", "1.5", "for them").unwrap();

    drop(ledger);
    let written = changes(&disk);
    let [new, _] = written.as_slice() else {
        panic!("{written:?}");
    };
    assert_eq!((&*new.old, &*new.new, &*new.reason), ("1", "2", "more"));
    assert_eq!(new.guarantee, Guarantee::Odometer);
    let ledger = again(&disk);
    ledger.verify().unwrap();
    let old = open(&ledger, "1").unwrap_err().to_string();
    assert!(old.contains("the budget 2"), "{old}");
    let recorded = ledger.budget("all").unwrap();
    let session = open(&ledger, &recorded).unwrap();
    assert_eq!(left(&session), "1.6");
    let team = session.nested("team").capped(1, "1.5").open().unwrap();
    assert_eq!(left(&team), "1.1");
    team.launch(&query("1.1")).unwrap();
    assert!(team.launch(&query("0.1")).is_err());
    // A checkpoint keeps it, too.
    ledger.checkpoint().unwrap();
    drop((session, team, ledger));
    assert_eq!(left(&open(&again(&disk), "2").unwrap()), "0.5");
}

#[test]
fn a_budget_below_what_was_spent_refuses_everything_that_costs() {
    let (disk, ledger) = fresh();
    open(&ledger, "1").unwrap().launch(&query("0.4")).unwrap();
    ledger.change_budget("all", "0.3", "an error").unwrap();
    drop(ledger);
    assert_eq!(changes(&disk)[0].guarantee, Guarantee::Stands);
    let ledger = again(&disk);
    let session = open(&ledger, "0.3").unwrap();
    assert!(matches!(
        session.launch(&query("0.1")),
        Err(LaunchError::Refused(_))
    ));
    drop(session);
    // Raised again, the rest can be spent to zero.
    ledger.change_budget("all", "1", "it was none").unwrap();
    let session = open(&ledger, "1").unwrap();
    session.launch(&query("0.6")).unwrap();
    assert_eq!(left(&session), "0");
}

#[test]
fn a_rule_that_is_only_a_filters_is_lowered_and_never_raised() {
    let (_, ledger) = fresh();
    let rule = WhitehouseFilter::new("1e-7").unwrap();
    let odometer = Odometer::new(records(), rule).named("all");
    let open = |budget: &str| odometer.filter_on(ledger.books(), 1, budget, vec![1]);
    drop(open("(1, 1e-6)").unwrap());
    for more in ["(1.1, 1e-6)", "(1, 2e-6)", "(0.5, 2e-6)"] {
        let refused = ledger.change_budget("all", more, "more").unwrap_err();
        assert!(
            matches!(refused, BudgetError::FilterOnly { .. }),
            "{refused}"
        );
        assert!(
            refused.to_string().contains("Open a second account"),
            "{refused}"
        );
    }
    // Nor by a record that says that it is all right.
    let (disk, same) = fresh();
    drop(odometer.filter_on(same.books(), 1, "(1, 1e-6)", vec![1]));
    drop(same);
    let reader = LedgerReader::on(Box::new(Embedded::on(disk).unwrap()));
    let (state, _) = reader.state().unwrap();
    let account = state.named("all").unwrap();
    for guarantee in [Guarantee::Stands, Guarantee::Odometer] {
        let made_up = NewBudget {
            account,
            old: ledger.budget("all").unwrap(),
            new: "(100, 0.000001)".into(),
            reason: "more".into(),
            guarantee,
        };
        let refused = ledger
            .books()
            .change_budget(&state.path(account), made_up.clone());
        assert!(
            matches!(refused, Err(JournalError::Damaged(_))),
            "{refused:?}"
        );
        assert!(state.check(&Record::from(made_up)).is_err());
    }
    // Its own δ′ does not fit.
    let refused = ledger.change_budget("all", "(0.5, 1e-8)", "less");
    assert!(matches!(refused, Err(BudgetError::NotABudget { .. })));
    ledger.change_budget("all", "(0.5, 1e-6)", "less").unwrap();
    open("(0.5, 1e-6)").unwrap();

    let rule = WhitehouseOdometer::new("1e-7", "1e-6").unwrap();
    let adaptive = Odometer::new(records(), rule).named("adaptive");
    let open = |budget: &str| adaptive.filter_on(ledger.books(), 1, budget, vec![1]);
    open("(1, 1e-6)")
        .unwrap()
        .launch(&approximate("(0.1, 0)"))
        .unwrap();
    ledger
        .change_budget("adaptive", "(2, 1e-6)", "more")
        .unwrap();
    open("(2, 1e-6)").unwrap();
}

#[test]
fn a_filter_that_was_launched_is_not_raised_behind_what_paid_for_it() {
    let (_, ledger) = fresh();
    let session = open(&ledger, "1").unwrap();
    let filter = |budget: &str| {
        let odometer = Odometer::new(records(), Basic::new(PureDp)).named("red");
        odometer.filter(1, budget).unwrap()
    };
    session.launch(&filter("0.5")).unwrap();
    let refused = ledger.change_budget("all/red", "0.6", "more").unwrap_err();
    assert!(matches!(refused, BudgetError::Reserved { .. }), "{refused}");
    ledger.change_budget("all/red", "0.4", "less").unwrap();
    let red = session.resume(&filter("0.4")).unwrap();
    assert_eq!(left(&red), "0.4");
    assert_eq!(left(&session), "0.5", "nothing is refunded above");
}

#[test]
fn senseless_changes_are_refused_and_write_nothing() {
    let (_, ledger) = fresh();
    drop(open(&ledger, "1").unwrap());
    let odometer = Odometer::new(records(), Basic::new(PureDp)).named("endless");
    drop(odometer.open_on(ledger.books(), 1, vec![1]).unwrap());
    let head = ledger.head();
    let long = "x".repeat(MAX_REASON + 1);
    for reason in ["", "  ", "\n", "two\nlines", "\u{1b}[31mred", "a\tb", &long] {
        let refused = ledger.change_budget("all", "2", reason);
        assert!(matches!(refused, Err(BudgetError::Reason(_))), "{reason:?}");
    }
    for new in ["", "-1", "NaN", "many", "inf", "(1, 0)"] {
        let refused = ledger.change_budget("all", new, "why not");
        assert!(
            matches!(refused, Err(BudgetError::NotABudget { .. })),
            "{new}"
        );
    }
    let same = ledger.change_budget("all", "1.0", "why not");
    assert!(matches!(same, Err(BudgetError::Same { .. })));
    let none = ledger.change_budget("nobody", "1", "why not");
    assert!(matches!(none, Err(BudgetError::NoAccount { .. })));
    let endless = ledger.change_budget("endless", "1", "why not");
    assert!(matches!(endless, Err(BudgetError::NoBudget { .. })));
    let other = WhitehouseOdometer::new("1e-7", "1e-6").unwrap();
    let refused = ledger.change_budget_by("all", &other, "(1, 1e-6)", "why not");
    assert!(matches!(refused, Err(BudgetError::OtherRule { .. })));
    assert_eq!(ledger.head(), head);
    let rule = Basic::new(PureDp);
    ledger
        .change_budget_by("all", &rule, "2", "with its rule")
        .unwrap();
}
