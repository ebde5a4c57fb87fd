//! Random programs on a journal, and a crash after any record: what is opened again is what a tree in memory is to which the
//! same launches were charged.

use measures::convert::PureToApprox;
use measures::{ApproxDp, Basic, PrivacyMap, PureDp};
use odometer::journal::{Books, Event, Memory};
use odometer::{
    LaunchError, Listed, Measurement, Odometer, Partition, Records, Session, Transformation,
};
use proptest::prelude::*;

type Numbers = Records<i64>;
type PureSession = Session<Numbers, Basic<PureDp>>;

/// An organisation in (ε, δ); below it a session in pure privacy, teams, doubled data, and parts within parts.
struct Tree {
    all: Session<Numbers, Basic<ApproxDp>>,
    sessions: Vec<PureSession>,
}

const PLACES: usize = 9;

/// Every launch by itself: launches that are written alike are one run.
fn listed(runs: Vec<Listed>) -> String {
    let names = runs
        .iter()
        .map(|(launch, count)| launch.to_string().repeat(*count as usize));
    names.collect()
}

fn part(partition: &Partition<Numbers, i64, Basic<PureDp>>, key: i64) -> PureSession {
    partition.part(key).unwrap()
}

impl Tree {
    fn open(books: Option<&Books>) -> Self {
        let records = Records::<i64>::new();
        let odometer = Odometer::new(records, Basic::new(ApproxDp))
            .named("all")
            .halting();
        let data = vec![1, 2, 3, 4];
        let budget = "(4, 1e-9)";
        let all = match books {
            Some(books) => odometer.filter_on(books, 1, budget, data).unwrap(),
            None => odometer.filter(1, budget).unwrap().invoke(data).unwrap(),
        };
        let pure = all
            .link("pure")
            .nest_in(Basic::new(PureDp), PureToApprox)
            .unwrap();
        let team = pure.nested("team").capped(1, "1.5").open().unwrap();
        let analyst = team.nested("analyst").open().unwrap();
        let far = pure.nested("far").capped(3, "4").halting().open().unwrap();
        let twice = Transformation::multiplying(records, records, 2, |data: &Vec<i64>| {
            Ok([data.clone(), data.clone()].concat())
        });
        let doubled = pure.link("doubled").nest_after(&twice).unwrap();
        let parity = pure.link("parity").partition(1, |x: &i64| x % 2).unwrap();
        let even = part(&parity, 0);
        let capped = even.nested("capped").capped(1, "0.9").open().unwrap();
        let odd = part(&parity, 1);
        let inner = odd
            .link("inner")
            .partition_sparse(3, 2, |x: &i64| vec![*x, -*x])
            .unwrap();
        let sessions = vec![
            pure,
            team,
            analyst,
            far,
            doubled,
            even,
            capped,
            odd,
            part(&inner, 3),
        ];
        Self { all, sessions }
    }

    /// What everybody would be told, where both know it exactly.
    fn told(&self) -> Vec<String> {
        let mut told = vec![
            format!("{:?}", self.all.spent().unwrap()),
            self.all.privacy_loss(1).unwrap().to_string(),
            self.all.privacy_loss(3).unwrap().to_string(),
            listed(self.all.launches().unwrap()),
        ];
        for session in &self.sessions {
            told.push(format!(
                "{:?} {:?}",
                session.spent().unwrap(),
                session.remaining(1)
            ));
            told.push(listed(session.launches().unwrap()));
            for d_in in 1..=3 {
                told.push(session.privacy_loss(d_in).unwrap().to_string());
            }
        }
        told
    }
}

fn queries() -> Vec<Measurement<Numbers, PureDp, ()>> {
    let linear = |loss: &str| PrivacyMap::per_record(PureDp, loss).unwrap();
    let maps = [
        linear("0.1"),
        linear("0.35"),
        linear("1.2"),
        linear("0"),
        PrivacyMap::constant_up_to(PureDp, 4, "0.3").unwrap(),
    ];
    let named = ["a", "b", "c", "free", "constant"].into_iter().zip(maps);
    named
        .map(|(name, map)| Measurement::new(name, Records::new(), map, |_, _| Ok(())))
        .collect()
}

/// The same launches in memory, and after each record that was written what everybody would be told.
fn run(program: &[(usize, usize)]) -> (Memory, Vec<(usize, Vec<String>)>) {
    let journal = Memory::new();
    let durable = Tree::open(Some(&Books::new(journal.clone())));
    let plain = Tree::open(None);
    let queries = queries();
    let mut told = vec![(journal.records().len(), plain.told())];
    for (session, query) in program {
        let query = &queries[*query];
        let kind = |launched: Result<(), LaunchError>| launched.map_err(|error| error.to_string());
        let launched = kind(durable.sessions[*session].launch(query));
        assert_eq!(launched, kind(plain.sessions[*session].launch(query)));
        assert_eq!(durable.told(), plain.told());
        told.push((journal.records().len(), plain.told()));
    }
    (journal, told)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_crash_after_any_record_loses_nothing(
        program in prop::collection::vec((0..PLACES, 0..5usize), 0..24),
    ) {
        let (journal, told) = run(&program);
        let records = journal.records();
        for (written, told) in told {
            let again = Memory::replaying(&records[..written]).unwrap();
            // What can be journaled can be snapshotted.
            let snapshot = serde_json::to_string(&again.snapshot().unwrap()).unwrap();
            let snapshot = Memory::restored_by_operator(&serde_json::from_str(&snapshot).unwrap());
            let restored = Tree::open(Some(&Books::new(snapshot)));
            prop_assert_eq!(restored.told(), told.clone());
            let again = Books::new(again);
            let tree = Tree::open(Some(&again));
            prop_assert_eq!(tree.told(), told);
            let halted = records[..written].iter().any(|record| matches!(record.event, Event::Halt(_)));
            let refused = tree.sessions[3].launch(&queries()[3]);
            let halts = matches!(refused, Err(LaunchError::Halted { .. }));
            prop_assert!(halts <= halted);
        }
    }
}

/// The same again, in another process each time, until nothing is left.
#[test]
fn a_budget_is_spent_to_zero_over_many_restarts() {
    let queries = queries();
    let mut journal = Memory::new();
    let mut launched = 0;
    for number in 0..200 {
        let tree = Tree::open(Some(&Books::new(journal.clone())));
        let session = &tree.sessions[[0, 5, 7, 8][number % 4]];
        match session.launch(&queries[0]) {
            Ok(()) => launched += 1,
            Err(LaunchError::Refused(_) | LaunchError::Halted { .. }) => {}
            Err(other) => panic!("{other}"),
        }
        journal = Memory::replaying(&journal.records()).unwrap();
    }
    let tree = Tree::open(Some(&Books::new(journal)));
    let spent = tree.all.spent().unwrap().unwrap();
    assert_eq!(spent.to_string(), "(4, 0)", "{launched} launches");
    assert!(tree.sessions[0].launch(&queries[0]).is_err());
}
