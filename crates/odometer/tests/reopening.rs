//! What a restart keeps: maps that were converted or scaled, versions of transformations, limits on messages, and the other
//! notion of odometer.

use measures::adaptive::{RogersOdometer, TimeUniformBasic, TimeUniformRogers};
use measures::convert::{PureToApprox, PureToZcdp, ZcdpToApprox};
use measures::{ApproxDp, Basic, Epsilon, Interleaving, PrivacyMap, PureDp, Rule, Zcdp, times};
use odometer::journal::{Books, Event, JournalError, Memory, Record};
use odometer::{
    LaunchError, Measurement, Odometer, OpenError, Records, Session, TimeUniformOdometer,
    Transformation,
};
use queryable::{AskError, Queryable, Scope, machine};

const RECORDS: Records<i64> = Records::new();

fn query(epsilon: &str) -> Measurement<Records<i64>, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, epsilon).unwrap();
    Measurement::new("query", RECORDS, map, |data, _| Ok(data.len()))
}

fn restarted(journal: &Memory) -> Books {
    Books::new(Memory::replaying(&journal.records()).unwrap())
}

fn twice(factor: Option<u32>) -> Transformation<Records<i64>, Records<i64>> {
    let function = |data: &Vec<i64>| Ok([data.clone(), data.clone()].concat());
    match factor {
        Some(factor) => Transformation::multiplying(RECORDS, RECORDS, factor, function),
        None => Transformation::new(RECORDS, RECORDS, times(2), function),
    }
}

fn approximate(books: &Books) -> Session<Records<i64>, Basic<ApproxDp>> {
    let odometer = Odometer::new(RECORDS, Basic::new(ApproxDp)).named("all");
    odometer.open_on(books, 1, vec![1, 2, 3]).unwrap()
}

/// Through two conversions, a transformation and a partition: at every distance what it was.
#[test]
fn converted_and_scaled_losses_are_exact_at_every_distance() {
    let journal = Memory::new();
    let open = |books: &Books| {
        let all = approximate(books);
        let zcdp = all.link("zcdp");
        let conversion = ZcdpToApprox::new("1e-9").unwrap();
        let zcdp = zcdp.nest_in(Basic::new(Zcdp), conversion).unwrap();
        let pure = zcdp
            .link("pure")
            .nest_in(Basic::new(PureDp), PureToZcdp)
            .unwrap();
        let doubled = pure.link("twice").nest_after(&twice(Some(2))).unwrap();
        let parts = doubled
            .link("parity")
            .partition(1, |x: &i64| x % 2)
            .unwrap();
        (all, zcdp, pure, doubled, parts)
    };
    let live = open(&Books::new(journal.clone()));
    live.3.launch(&query("0.1")).unwrap();
    live.4.part(0).unwrap().launch(&query("0.2")).unwrap();
    live.4.part(1).unwrap().launch(&query("0.05")).unwrap();
    let again = open(&restarted(&journal));
    for d_in in [0, 1, 2, 3, 5, 20] {
        let loss = live.0.privacy_loss(d_in).unwrap();
        assert!(loss.bound().epsilon().is_finite());
        assert_eq!(again.0.privacy_loss(d_in).unwrap(), loss, "{d_in}");
        assert_eq!(again.1.privacy_loss(d_in), live.1.privacy_loss(d_in));
        assert_eq!(again.2.privacy_loss(d_in), live.2.privacy_loss(d_in));
        assert_eq!(again.3.privacy_loss(d_in), live.3.privacy_loss(d_in));
    }
    // Two of one part, each counted twice, and one that adds up.
    assert_eq!(again.2.privacy_loss(3).unwrap().to_string(), "1.8");
}

/// A stability map that is only a closure: known where it was written down.
#[test]
fn a_closure_on_the_way_counts_as_infinite_beyond() {
    let journal = Memory::new();
    let open = |books: &Books| {
        let all = approximate(books);
        let pure = all
            .link("pure")
            .nest_in(Basic::new(PureDp), PureToApprox)
            .unwrap();
        let doubled = pure.link("twice").nest_after(&twice(None)).unwrap();
        (all, doubled)
    };
    open(&Books::new(journal.clone()))
        .1
        .launch(&query("0.1"))
        .unwrap();
    let (all, doubled) = open(&restarted(&journal));
    assert_eq!(all.privacy_loss(1).unwrap().to_string(), "(0.2, 0)");
    assert!(all.privacy_loss(2).unwrap().bound().is_infinite());
    assert_eq!(doubled.privacy_loss(7).unwrap().to_string(), "0.7");
}

/// A changed key function below another transformation would be charged as a maximum where it must be a sum.
#[test]
fn another_version_of_a_transformation_adds_up() {
    let journal = Memory::new();
    let shifted = |by: i64, version: u32| {
        let function = move |data: &Vec<i64>| Ok(data.iter().map(|x| x + by).collect());
        Transformation::multiplying(RECORDS, RECORDS, 1, function).versioned(version)
    };
    let open = |books: &Books| {
        let odometer = Odometer::new(RECORDS, Basic::new(PureDp)).named("all");
        odometer.filter_on(books, 1, "1", vec![1, 2, 3]).unwrap()
    };
    let launch = |books: &Books, by, version, part| {
        let all = open(books);
        let link = all
            .link("shifted")
            .nest_after(&shifted(by, version))
            .unwrap();
        let parity = link.link("parity").partition(1, |x: &i64| x % 2).unwrap();
        let launched = parity.part(part).unwrap().launch(&query("0.3"));
        (
            launched.map(drop),
            all.spent().unwrap().unwrap().to_string(),
        )
    };
    let books = Books::new(journal.clone());
    assert_eq!(launch(&books, 0, 1, 0), (Ok(()), "0.3".into()));
    assert_eq!(launch(&books, 0, 1, 1), (Ok(()), "0.3".into()));
    // The record 1 was odd, and is even now: it is in both parts that were asked.
    let books = restarted(&journal);
    assert_eq!(launch(&books, 1, 2, 0).1, "0.6");
    // After a restart the first version is where it was.
    let all = open(&books);
    let first = all.link("shifted").nest_after(&shifted(0, 1)).unwrap();
    assert_eq!(first.privacy_loss(1).unwrap().to_string(), "0.3");
    // Of a chain, every link counts.
    let chain = |one, other| shifted(0, one).then(&shifted(0, other)).unwrap();
    let link = all.link("chain").nest_after(&chain(1, 2)).unwrap();
    link.launch(&query("0.1")).unwrap();
    let other = all.link("chain").nest_after(&chain(2, 1)).unwrap();
    assert_eq!(
        other.privacy_loss(1).unwrap(),
        measures::Total::new(Epsilon::ZERO)
    );
    assert_eq!(all.spent().unwrap().unwrap().to_string(), "0.7");
    drop((first, link, other));
    // Under one version, another transformation is the author's mistake, which is noticed while the first is open.
    let first = all.link("shifted").nest_after(&shifted(0, 1)).unwrap();
    let refused = all.link("shifted").nest_after(&shifted(1, 1));
    assert!(matches!(refused, Err(OpenError::Journal(_))));
    drop(first);
}

type Echo = Queryable<u8, u8>;

fn echo() -> Measurement<Records<i64>, ApproxDp, Echo> {
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(0.1, 0)").unwrap();
    Measurement::new("echo", RECORDS, map, |_, scope: &mut Scope<'_>| {
        scope.spawn(machine(|x: u8, _: &mut Scope<'_>| Ok(x)))
    })
}

fn answered(echo: &Echo) -> (u64, Option<AskError>) {
    for answered in 0..100 {
        if let Err(error) = echo.ask(1) {
            return (answered, Some(error));
        }
    }
    (100, None)
}

/// What a filter may answer when it is resumed is what it might at its launch, and not the default.
#[test]
fn a_resumed_filter_answers_as_many_messages_as_a_launched_one() {
    let limited = |messages: u64| {
        let odometer = Odometer::new(RECORDS, Basic::new(ApproxDp)).named("all");
        odometer.answering_at_most(messages)
    };
    let inner = || {
        let odometer = Odometer::new(RECORDS, Basic::new(ApproxDp)).named("inner");
        odometer.filter(1, "(1, 1e-6)").unwrap()
    };
    let budget = "(3, 1e-5)";
    let journal = Memory::new();
    let over = |limit| Some(AskError::TooManyMessages { limit });
    let all = limited(5)
        .filter_on(&Books::new(journal.clone()), 1, budget, vec![])
        .unwrap();
    let team = all.nested("team").open().unwrap();
    let launched = team.launch(&inner()).unwrap();
    // The launch inside is one of its messages.
    assert_eq!(answered(&launched.launch(&echo()).unwrap()), (4, over(5)));

    let books = restarted(&journal);
    let error = limited(1 << 48)
        .filter_on(&books, 1, budget, vec![])
        .unwrap_err();
    assert!(error.to_string().contains("at most 5 messages"), "{error}");
    let all = limited(5).filter_on(&books, 1, budget, vec![]).unwrap();
    let team = all.nested("team").open().unwrap();
    let resumed = team.resume(&inner()).unwrap();
    assert_eq!(answered(&resumed.launch(&echo()).unwrap()), (4, over(5)));
    assert_eq!(answered(&team.launch(&echo()).unwrap()), (5, over(5)));
}

/// The first version wrote no limit: whatever is said now holds.
/// The events of all records, as JSON.
fn written(journal: &Memory) -> String {
    let records = journal.records().into_iter();
    let events: Vec<Event> = records.map(|record| record.event).collect();
    serde_json::to_string(&events).unwrap()
}

#[test]
fn a_limit_that_was_not_written_down_is_believed() {
    let journal = Memory::new();
    let odometer = |messages| {
        let odometer = Odometer::new(RECORDS, Basic::new(ApproxDp)).named("all");
        odometer.answering_at_most(messages)
    };
    let books = Books::new(journal.clone());
    odometer(7)
        .filter_on(&books, 1, "(3, 1e-5)", vec![])
        .unwrap();
    let text = written(&journal);
    assert!(text.contains(",\"messages\":7"));
    let events: Vec<Event> = serde_json::from_str(&text.replace(",\"messages\":7", "")).unwrap();
    let records: Vec<Record> = events.into_iter().map(Record::from).collect();
    let books = Books::new(Memory::replaying(&records).unwrap());
    let session = odometer(6)
        .filter_on(&books, 1, "(3, 1e-5)", vec![])
        .unwrap();
    assert_eq!(answered(&session.launch(&echo()).unwrap()).0, 6);
    // Where communication need not be finite, nothing is written.
    assert_eq!(Basic::<PureDp>::INTERLEAVING, Interleaving::Concurrent);
    let journal = Memory::new();
    let pure = Odometer::new(RECORDS, Basic::new(PureDp)).answering_at_most(7);
    pure.open_on(&Books::new(journal.clone()), 1, vec![])
        .unwrap();
    assert!(!written(&journal).contains("messages"));
}

#[test]
fn time_uniform_sessions_are_put_back() {
    let rule = || TimeUniformRogers::new(RogersOdometer::new("1e-6", 1 << 20).unwrap());
    let odometer = || TimeUniformOdometer::new(RECORDS, rule()).named("all");
    let journal = Memory::new();
    let plain = odometer().open(vec![1]).unwrap();
    let durable = odometer()
        .open_on(&Books::new(journal.clone()), 1, vec![1])
        .unwrap();
    for number in 0..50 {
        assert_eq!(durable.launch(&query("0.01")), Ok(1));
        plain.launch(&query("0.01")).unwrap();
        // Written down before it ran: one record to open, and one for each launch.
        assert_eq!(journal.records().len(), number + 2);
    }
    let first = durable.request("monday").launch(&query("0.02")).unwrap();
    plain.launch(&query("0.02")).unwrap();
    let books = restarted(&journal);
    let again = odometer().open_on(&books, 1, vec![1]).unwrap();
    for d_in in [0, 1, 2, 9] {
        assert_eq!(again.bound(&d_in), plain.bound(&d_in), "{d_in}");
    }
    assert_eq!(
        again
            .launches()
            .unwrap()
            .iter()
            .map(|run| run.1)
            .sum::<u64>(),
        51
    );
    let error = again.request("monday").launch(&query("0.02")).unwrap_err();
    assert!(
        matches!(error, LaunchError::AlreadyCharged { receipt, .. } if receipt == first.receipt)
    );
    assert_eq!(
        again.bound(&1),
        plain.bound(&1),
        "nothing was charged again"
    );

    // Another rule, an account of the other notion, and no name: typed errors.
    let other = TimeUniformOdometer::new(RECORDS, TimeUniformBasic).named("all");
    let journal_error = |opened: OpenError| match opened {
        OpenError::Journal(error) => *error,
        other => panic!("{other}"),
    };
    let error = journal_error(other.open_on(&books, 1, vec![]).unwrap_err());
    assert!(
        error.to_string().contains("time-uniform{rogers-odometer"),
        "{error}"
    );
    let basic = Odometer::new(RECORDS, Basic::new(PureDp)).named("all");
    let error = journal_error(basic.open_on(&books, 1, vec![]).unwrap_err());
    assert!(matches!(error, JournalError::OtherTerms { .. }), "{error}");
    let error = journal_error(odometer().named("").open_on(&books, 1, vec![]).unwrap_err());
    assert!(matches!(error, JournalError::Unnamed { .. }), "{error}");
    let error = journal_error(odometer().open_on(&books, 2, vec![]).unwrap_err());
    assert!(error.to_string().contains("the distance 1"), "{error}");
}

/// Only the newest launch is answered, also on a ledger, and those that wait to be written down do not end one another's turn.
#[test]
fn time_uniform_launches_are_sequential() {
    let books = Books::new(Memory::new());
    let odometer = TimeUniformOdometer::new(RECORDS, TimeUniformBasic).named("all");
    let session = odometer.open_on(&books, 1, vec![]).unwrap();
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let echo = Measurement::new("echo", RECORDS, map, |_, scope: &mut Scope<'_>| {
        scope.spawn(machine(|x: u8, _: &mut Scope<'_>| Ok(x)))
    });
    let first: Echo = session.launch(&echo).unwrap();
    assert_eq!(first.ask(1), Ok(1));
    let second = session.launch(&echo).unwrap();
    assert!(first.ask(1).is_err() && second.ask(1) == Ok(1));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(session.launch(&query("0.1")), Ok(0))));
        }
    });
    assert_eq!(session.bound(&1).unwrap().to_string(), "8.2");
}
