//! Sessions on a journal: charged and written down before they run, and the same after a restart.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use measures::adaptive::WhitehouseFilter;
use measures::convert::PureToApprox;
use measures::{
    Adaptive, ApproxDp, Basic, Epsilon, Interleaving, MAX_FORM, Name, PrivacyMap, PureDp, Rule,
    Tallied, Total, times,
};
use odometer::journal::{
    Books, Draft, Journal, JournalError, Memory, OpenedPlace, Opening, Past, Place, Record, Written,
};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Records, Session, Transformation};

type Query<A = usize> = Measurement<Records<i64>, PureDp, A>;
type Pure = Session<Records<i64>, Basic<PureDp>>;

fn records() -> Records<i64> {
    Records::new()
}

fn query(epsilon: &str) -> Query {
    let map = PrivacyMap::per_record(PureDp, epsilon).unwrap();
    Measurement::new("query", records(), map, |data, _| Ok(data.len()))
}

fn organisation() -> Odometer<Records<i64>, Basic<PureDp>> {
    Odometer::new(records(), Basic::new(PureDp)).named("all")
}

fn open(journal: &Memory) -> Pure {
    let books = Books::new(journal.clone());
    organisation()
        .filter_on(&books, 1, "1", vec![1, 2, 3])
        .unwrap()
}

/// A new process with what was written down.
fn restarted(journal: &Memory) -> Memory {
    Memory::replaying(&journal.records()).unwrap()
}

fn left(session: &Pure) -> String {
    session
        .remaining(1)
        .unwrap()
        .into_loss()
        .unwrap()
        .to_string()
}

fn journal_error(error: LaunchError) -> JournalError {
    match error {
        LaunchError::Journal(error) => *error,
        other => panic!("{other}"),
    }
}

fn open_error<X>(opened: Result<X, OpenError>) -> JournalError {
    match opened {
        Err(OpenError::Journal(error)) => *error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[test]
fn a_charge_is_written_down_before_the_function_runs() {
    let journal = Memory::new();
    let seen = journal.clone();
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let looks = Measurement::new("looks", records(), map, move |_, _| {
        Ok(seen.records().len())
    });
    let session = open(&journal);
    let team = session.nested("team").capped(1, "0.5").open().unwrap();
    let before = journal.records().len();
    assert_eq!(team.launch(&looks), Ok(before + 1));
    let Some(Record::Charge(charge)) = journal.records().pop() else {
        panic!("it is no charge");
    };
    assert_eq!(charge.postings.len(), 2);
    assert_eq!(
        team.launch_all(&[looks.clone(), looks]),
        [Ok(before + 3), Ok(before + 3)]
    );
}

#[test]
fn a_restart_refunds_nothing_and_the_rest_can_be_spent_to_zero() {
    let mut journal = Memory::new();
    for spent in 1..=10 {
        let session = open(&journal);
        let team = session.nested("team").capped(1, "0.7").open().unwrap();
        let launched = if spent <= 7 { &team } else { &session };
        launched.launch(&query("0.1")).unwrap();
        assert_eq!(
            session
                .launches()
                .unwrap()
                .iter()
                .map(|run| run.1)
                .sum::<u64>(),
            spent
        );
        if spent >= 7 {
            assert_eq!(left(&team), "0");
        }
        journal = restarted(&journal);
    }
    let session = open(&journal);
    assert_eq!(left(&session), "0");
    assert!(matches!(
        session.launch(&query("0.1")),
        Err(LaunchError::Refused(_))
    ));
    assert_eq!(journal.records().len(), 12);
}

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

/// A rule of one's own.
#[derive(Clone, Debug)]
struct Mine(Option<&'static str>);

impl Rule for Mine {
    type Child = PureDp;
    type Total = PureDp;
    // As `Basic` in pure privacy, but sequential.
    const INTERLEAVING: Interleaving = Interleaving::Sequential;

    fn child(&self) -> PureDp {
        PureDp
    }

    fn total(&self) -> PureDp {
        PureDp
    }

    fn name(&self) -> Option<Name> {
        self.0.map(Name::new)
    }
}

impl Tallied for Mine {
    type Tally = <Basic<PureDp> as Tallied>::Tally;

    fn start(&self) -> Self::Tally {
        Basic::new(PureDp).start()
    }
}

impl Adaptive for Mine {
    fn loss(&self, tally: &Self::Tally) -> Total<Epsilon> {
        Basic::new(PureDp).loss(tally)
    }
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
            .contains("the rule Mine(None) cannot be written down"),
        "{error}"
    );
    assert!(open(Some("mine")).is_ok());
}

#[test]
fn in_doubt_counts_as_charged_and_does_not_run() {
    let journal = Memory::new();
    let session = open(&journal);
    session.launch(&query("0.1")).unwrap();
    journal.fail_after(0);
    let ran = Arc::new(AtomicUsize::new(0));
    let counts = {
        let ran = Arc::clone(&ran);
        let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
        Measurement::new("counts", records(), map, move |_, _| {
            Ok(ran.fetch_add(1, Ordering::Relaxed))
        })
    };
    let doubt = session.launch(&counts).unwrap_err();
    assert!(doubt.is_in_doubt() && doubt.was_charged(), "{doubt}");
    assert_eq!(left(&session), "0.8"); // memory counts at least what is written down
    let closed = session.launch(&counts).unwrap_err();
    assert!(!closed.was_charged());
    assert!(matches!(journal_error(closed), JournalError::Closed { .. }));
    assert_eq!(left(&session), "0.8");
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    assert_eq!(left(&open(&restarted(&journal))), "0.9"); // the log decides
}

#[test]
fn a_halt_is_written_down_before_it_is_told() {
    let journal = Memory::new();
    let halting = |journal: &Memory| {
        let books = Books::new(journal.clone());
        organisation()
            .halting()
            .filter_on(&books, 1, "1", vec![])
            .unwrap()
    };
    let session = halting(&journal);
    session.launch(&query("0.5")).unwrap();
    assert!(matches!(
        session.launch(&query("0.6")),
        Err(LaunchError::Refused(_))
    ));
    assert!(matches!(
        journal.records().last(),
        Some(Record::Halt { .. })
    ));
    let session = halting(&restarted(&journal));
    assert!(matches!(
        session.launch(&query("0.1")),
        Err(LaunchError::Halted { .. })
    ));

    let journal = Memory::new();
    let session = halting(&journal);
    journal.fail_after(0);
    let refused = session.launch(&query("2")).unwrap_err();
    assert!(matches!(
        journal_error(refused),
        JournalError::InDoubt { .. }
    ));
    let closed = session.launch(&query("0.1")).unwrap_err();
    assert!(matches!(journal_error(closed), JournalError::Closed { .. }));
}

#[test]
fn keys_survive_restarts_and_belong_to_a_session() {
    let journal = Memory::new();
    let session = open(&journal);
    let team = session.nested("team").capped(1, "0.5").open().unwrap();
    let first = session.request("monday").launch(&query("0.8")).unwrap();
    assert_eq!(first.answer, 3);
    team.request("monday").launch(&query("0.2")).unwrap(); // another session's
    let session = open(&restarted(&journal));
    // Said before the budget, which is spent: whoever tries again is told that it happened.
    let again = session.request("monday").launch(&query("0.8"));
    assert!(
        matches!(&again, Err(LaunchError::AlreadyCharged { receipt, .. }) if *receipt == first.receipt)
    );
    let other = session.request("monday").launch(&query("0.1")).unwrap_err();
    assert!(matches!(
        journal_error(other),
        JournalError::OtherLaunch { .. }
    ));
    let plain = organisation().open(vec![]).unwrap();
    assert!(matches!(
        journal_error(plain.request("monday").launch(&query("0.1")).unwrap_err()),
        JournalError::Unsupported(_)
    ));
}

#[test]
fn losses_are_exact_where_maps_have_a_form() {
    let journal = Memory::new();
    let session = open(&journal);
    session.launch(&query("0.1")).unwrap();
    let session = open(&restarted(&journal));
    assert_eq!(session.privacy_loss(7).unwrap().to_string(), "0.7");
    let map = PrivacyMap::new(PureDp, |d_in: &u32| {
        Ok(Epsilon::new(exact::Exact::from(*d_in).times(2)).clone())
    });
    let closure = Measurement::new("closure", records(), map, |_, _| Ok(()));
    let journal = Memory::new();
    let books = Books::new(journal.clone());
    let session = organisation().open_on(&books, 3, vec![]).unwrap();
    session.launch(&closure).unwrap();
    assert_eq!(session.privacy_loss(4).unwrap().to_string(), "8");
    let books = Books::new(restarted(&journal));
    let session = organisation().open_on(&books, 3, vec![]).unwrap();
    assert_eq!(session.privacy_loss(3).unwrap().to_string(), "6");
    assert_eq!(session.privacy_loss(2).unwrap().to_string(), "6"); // what is known further away
    assert_eq!(session.privacy_loss(4).unwrap().to_string(), "inf");
}

/// Nobody writes forms like these. They are refused before a number in them is looked at.
#[test]
fn forged_forms_are_refused() {
    let journal = Memory::new();
    let session = open(&journal);
    session.launch(&query("0.1")).unwrap();
    let part = session.nested("part").open().unwrap();
    part.launch(&query("0.1")).unwrap();
    let linear = r#"{"Linear":"0.1"}"#;
    let sum = |pieces: usize| format!(r#"{{"Sum":[{}]}}"#, vec![linear; pieces].join(","));
    let opened = |form: &str| {
        let forge = |record: &Record| {
            let text = serde_json::to_string(record).unwrap();
            serde_json::from_str(&text.replace(linear, form)).unwrap()
        };
        let forged: Vec<Record> = journal.records().iter().map(forge).collect();
        let books = Books::new(Memory::replaying(&forged).unwrap());
        organisation().filter_on(&books, 1, "1", vec![])
    };
    let long = format!(r#"{{"Linear":"{}"}}"#, "1".repeat(5000));
    for form in [sum(100_000), sum(MAX_FORM), long] {
        let error = open_error(opened(&form));
        assert!(matches!(error, JournalError::Damaged(_)), "{error}");
        assert!(error.to_string().len() < 200, "{error}");
    }
    let twice = opened(&sum(2)).unwrap();
    assert_eq!(twice.privacy_loss(1).unwrap().to_string(), "0.2"); // what was charged at one
    assert_eq!(twice.privacy_loss(2).unwrap().to_string(), "0.8"); // what it says elsewhere
    // A form that says nothing here is infinite where nothing was charged.
    let unknown = opened(r#"{"Linear":"much"}"#).unwrap();
    assert_eq!(unknown.privacy_loss(2).unwrap().to_string(), "inf");
}

#[test]
fn a_filter_only_rule_is_put_back() {
    let rule = || WhitehouseFilter::new("5e-7").unwrap();
    let journal = Memory::new();
    let open = |journal: &Memory| {
        let books = Books::new(journal.clone());
        let odometer = Odometer::new(records(), rule()).named("all");
        odometer.filter_on(&books, 1, "(1, 1e-6)", vec![]).unwrap()
    };
    let session = open(&journal);
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(0.01, 0)").unwrap();
    let small = Measurement::new("small", records(), map, |_, _| Ok(()));
    for _ in 0..100 {
        session.launch(&small).unwrap();
    }
    assert_eq!(
        open(&restarted(&journal)).spent().unwrap(),
        session.spent().unwrap()
    );
}

/// What was launched in full stays charged in full; what happens inside is charged inside, and written down there.
#[test]
fn a_reserved_filter_is_resumed_where_it_was() {
    let journal = Memory::new();
    let session = open(&journal);
    let filter = || {
        let odometer = organisation().named("inner");
        odometer.filter(1, "0.4").unwrap()
    };
    let error = journal_error(session.resume(&filter()).unwrap_err());
    assert!(
        error
            .to_string()
            .contains("nothing of this name was launched"),
        "{error}"
    );
    assert_eq!(journal.records().len(), 1); // nothing was opened for free
    let inner = session.launch(&filter()).unwrap();
    inner.launch(&query("0.3")).unwrap();
    let Some(Record::Charge(charge)) = journal.records().pop() else {
        panic!("it is no charge");
    };
    assert_eq!(charge.postings.len(), 1);
    let team = inner.nested("team").open().unwrap();
    team.launch(&query("0.05")).unwrap();

    let session = open(&restarted(&journal));
    assert_eq!(left(&session), "0.6");
    let inner = session.resume(&filter()).unwrap();
    assert_eq!(left(&inner), "0.05");
    let again = session.resume(&filter()).unwrap(); // the same account
    again.launch(&query("0.05")).unwrap();
    assert_eq!(left(&inner), "0");
    assert_eq!(left(&session), "0.6");
    let team = inner.nested("team").open().unwrap();
    assert_eq!(team.privacy_loss(2).unwrap().to_string(), "0.1");

    // A second one under the same name would be a second budget: it is refused, uncharged.
    let error = journal_error(session.launch(&filter()).map(drop).unwrap_err());
    assert!(matches!(error, JournalError::Exists { .. }), "{error}");
    assert_eq!(left(&session), "0.6");
    let other = organisation().named("inner").filter(1, "0.5").unwrap();
    assert!(session.resume(&other).is_err());
    let error = journal_error(session.resume(&query("0.1")).unwrap_err());
    assert!(matches!(error, JournalError::Unsupported(_)), "{error}");
}

/// A filter that a function runs inside is that function's business, and is written nowhere.
#[test]
fn a_filter_inside_of_a_function_is_not_written_down() {
    let journal = Memory::new();
    let session = open(&journal);
    let filter = organisation().named("inner").filter(1, "0.4").unwrap();
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let inside = Measurement::new("inside", records(), map, move |data, scope| {
        let session = filter.run(data, scope)?;
        let launched = session.launch(&query("0.1"));
        launched.map_err(|error| queryable::AskError::failed(error.to_string()))
    });
    session.launch(&inside).unwrap();
    assert_eq!(journal.records().len(), 2);
}

/// A filter after post-processing is the same filter.
#[test]
fn a_filter_is_resumed_also_after_post_processing() {
    let journal = Memory::new();
    let session = open(&journal);
    let filter = organisation().named("inner").filter(1, "0.4").unwrap();
    let (inner, _) = session
        .launch(&filter.postprocess(|inner| (inner, 1)))
        .unwrap();
    inner.launch(&query("0.3")).unwrap();
    assert_eq!(journal.records().len(), 3);
    let session = open(&restarted(&journal));
    assert_eq!(left(&session), "0.6");
    assert_eq!(left(&session.resume(&filter).unwrap()), "0.1");
}

/// What a function opens inside depends on data, and is written nowhere.
#[test]
fn sessions_inside_of_functions_are_not_written_down() {
    let journal = Memory::new();
    let session = open(&journal);
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let inside = Measurement::new("inside", records(), map, |data, scope| {
        let session = organisation().open_in(&scope.root()?, Arc::clone(data));
        let session = session.map_err(|error| queryable::AskError::failed(error.to_string()))?;
        for _ in 0..data.len() {
            let _ = session.launch(&query("0.1"));
        }
        Ok(())
    });
    session.launch(&inside).unwrap();
    assert_eq!(journal.records().len(), 2);
    let books = Books::new(Memory::new());
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let opens = Measurement::new("opens", records(), map, move |_, _| {
        Ok(organisation().open_on(&books, 1, vec![]).is_err())
    });
    assert_eq!(session.launch(&opens), Ok(true));
}

/// A journal that goes wrong in some way.
struct Broken {
    memory: Memory,
    how: fn(&'static str) -> Option<JournalError>,
}

struct BrokenDraft {
    draft: Box<dyn Draft>,
    how: fn(&'static str) -> Option<JournalError>,
}

impl Journal for Broken {
    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        self.memory.open(opening)
    }

    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError> {
        self.memory.find(opening)
    }

    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError> {
        if let Some(error) = (self.how)("draft") {
            return Err(error);
        }
        let draft = self.memory.draft(record)?;
        Ok(Box::new(BrokenDraft {
            draft,
            how: self.how,
        }))
    }

    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

impl Draft for BrokenDraft {
    fn stage(&mut self) -> Result<(), JournalError> {
        match (self.how)("stage") {
            Some(error) => Err(error),
            None => self.draft.stage(),
        }
    }

    fn wait(self: Box<Self>) -> Result<Written, JournalError> {
        match (self.how)("wait") {
            Some(error) => Err(error),
            None => self.draft.wait(),
        }
    }
}

fn full() -> Option<JournalError> {
    Some(JournalError::Full {
        reason: "the disk".into(),
    })
}

#[test]
fn nothing_runs_and_nothing_is_charged_when_it_cannot_be_staged() {
    let at: [fn(&'static str) -> Option<JournalError>; 2] = [
        |step| (step == "draft").then(full).flatten(),
        |step| (step == "stage").then(full).flatten(),
    ];
    for how in at {
        let memory = Memory::new();
        let books = Books::new(Broken {
            memory: memory.clone(),
            how,
        });
        let session = organisation().filter_on(&books, 1, "1", vec![]).unwrap();
        let error = session.launch(&query("0.4")).unwrap_err();
        assert!(!error.was_charged());
        assert!(matches!(journal_error(error), JournalError::Full { .. }));
        assert_eq!(left(&session), "1");
        assert_eq!(memory.records().len(), 1);
    }
}

#[test]
fn a_journal_that_panics_is_closed() {
    let at: [fn(&'static str) -> Option<JournalError>; 3] = [
        |step| (step == "draft").then(|| panic!("at drafting")),
        |step| (step == "stage").then(|| panic!("at staging")),
        |step| (step == "wait").then(|| panic!("at waiting")),
    ];
    for (number, how) in at.into_iter().enumerate() {
        let memory = Memory::new();
        let books = Books::new(Broken { memory, how });
        let session = organisation().filter_on(&books, 1, "1", vec![]).unwrap();
        let error = session.launch(&query("0.4")).unwrap_err();
        assert_eq!(error.is_in_doubt(), number == 2, "{error}");
        assert_eq!(left(&session), if number == 2 { "0.6" } else { "1" });
        let closed = journal_error(session.launch(&query("0.4")).unwrap_err());
        assert!(matches!(closed, JournalError::Closed { .. }), "{closed}");
    }
}

/// Without the gate, the next launch moves the turn while this one waits, and it is charged and never runs.
#[test]
fn sequential_launches_wait_for_one_another() {
    let slow: fn(&'static str) -> Option<JournalError> = |step| {
        if step == "wait" {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        None
    };
    let books = Books::new(Broken {
        memory: Memory::new(),
        how: slow,
    });
    let odometer = Odometer::new(records(), Mine(Some("mine"))).named("all");
    let session = odometer.open_on(&books, 1, vec![1]).unwrap();
    let team = session.nested("team").open().unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let session = if number % 2 == 0 { &session } else { &team };
            scope.spawn(move || {
                for _ in 0..40 {
                    assert_eq!(session.launch(&query("0.1")), Ok(1));
                }
            });
        }
    });
    assert_eq!(session.privacy_loss(1).unwrap().to_string(), "16");
    let answers = team.launch_all(&[query("0.1")]);
    assert!(matches!(&answers[0], Err(LaunchError::Journal(_))));
}

#[test]
fn parts_and_links_are_put_back() {
    let open = |journal: &Memory| {
        let books = Books::new(journal.clone());
        let odometer = Odometer::new(records(), Basic::new(ApproxDp)).named("all");
        let all = odometer
            .filter_on(&books, 1, "(2, 1e-6)", vec![1, 2, 3])
            .unwrap();
        let pure = all
            .link("pure")
            .nest_in(Basic::new(PureDp), PureToApprox)
            .unwrap();
        let parity = pure.link("parity").partition(1, |x| x % 2).unwrap();
        (all, pure, parity)
    };
    let journal = Memory::new();
    let (all, pure, parity) = open(&journal);
    assert_eq!(parity.part(1).unwrap().launch(&query("0.5")), Ok(2));
    parity.part(0).unwrap().launch(&query("0.7")).unwrap();
    pure.launch(&query("0.1")).unwrap();
    let again = restarted(&journal);
    let (all2, pure2, parity2) = open(&again);
    assert_eq!(all2.spent().unwrap(), all.spent().unwrap());
    for d_in in 1..4 {
        assert_eq!(
            pure2.privacy_loss(d_in).unwrap(),
            pure.privacy_loss(d_in).unwrap()
        );
    }
    // In another order of asking: a part is known by its key.
    assert_eq!(
        parity2
            .part(0)
            .unwrap()
            .privacy_loss(1)
            .unwrap()
            .to_string(),
        "0.7"
    );
    assert_eq!(
        parity2
            .part(1)
            .unwrap()
            .privacy_loss(2)
            .unwrap()
            .to_string(),
        "1"
    );
    parity2.part(1).unwrap().launch(&query("0.2")).unwrap();
    assert_eq!(pure2.privacy_loss(1).unwrap().to_string(), "0.8"); // the worst part still counts
    parity2.part(1).unwrap().launch(&query("0.1")).unwrap();
    assert_eq!(pure2.privacy_loss(1).unwrap().to_string(), "0.9");
    // Another version of the key function adds up.
    let other = pure2.link("parity").partition(2, |x| x % 3).unwrap();
    other.part(1).unwrap().launch(&query("0.1")).unwrap();
    assert_eq!(pure2.privacy_loss(1).unwrap().to_string(), "1");
}
