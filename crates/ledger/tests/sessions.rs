//! Sessions on a ledger: crashes at every moment of a real program, with nested accounts, and what is left after them.

use crate::common::{Disk, begun, crashes};
use ledger::{Embedded, Ledger};
use measures::{Basic, PrivacyMap, PureDp};
use odometer::{LaunchError, Measurement, Odometer, Records, Session};

type Pure = Session<Records<i64>, Basic<PureDp>>;

fn query(name: &'static str, disk: &Disk) -> Measurement<Records<i64>, PureDp, ()> {
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let disk = disk.clone();
    // What runs says so: the n-th run of the program.
    Measurement::new(name, Records::new(), map, move |_, _| {
        let runs = disk.platter().ran.len() as u64;
        disk.ran(runs + 1);
        Ok(())
    })
}

fn open(ledger: &Ledger) -> (Pure, Pure) {
    let odometer = Odometer::new(Records::new(), Basic::new(PureDp)).named("all");
    let all = odometer
        .filter_on(ledger.books(), 1, "1", vec![3, 1, 4])
        .unwrap();
    let team = all.nested("team").capped(1, "0.6").open().unwrap();
    (all, team)
}

fn left(session: &Pure) -> String {
    let left = session.remaining(1).unwrap().into_loss();
    left.unwrap().to_string()
}

/// Launches until nothing fits. The answer is how many did.
fn spend(session: &Pure, query: &Measurement<Records<i64>, PureDp, ()>) -> u64 {
    let mut launched = 0;
    loop {
        match session.launch(query) {
            Ok(()) => launched += 1,
            Err(LaunchError::Refused(_)) => return launched,
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_crash_refunds_nothing_and_the_rest_is_spent_to_zero() {
    let disk = Disk::default();
    {
        let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
        let (all, team) = open(&ledger);
        let query = query("query", &disk);
        for _ in 0..2 {
            team.launch(&query).unwrap();
            all.launch(&query).unwrap();
        }
        team.request("monday").launch(&query).unwrap();
        ledger.checkpoint().unwrap();
        all.launch_all(&[query.clone(), query.clone()]);
        ledger.close().unwrap();
    }
    assert_eq!(disk.platter().ran.len(), 7);
    let (mut opened, mut resumed) = (0, 0);
    let images = crashes(&disk, 4, |image, ran| {
        let after = Disk::with(image);
        let store = Embedded::on(after.clone());
        let ledger = store.map_err(|error| error.to_string());
        let ledger = ledger
            .and_then(|store| Ledger::on(Box::new(store), None).map_err(|error| error.to_string()));
        // Before there was a ledger, nothing can have run.
        let Ok(ledger) = ledger else {
            return assert!(ran.is_empty());
        };
        opened += 1;
        let (all, team) = open(&ledger);
        let query = query("query", &after);
        let charged: u64 = all.launches().unwrap().iter().map(|run| run.1).sum();
        assert!(
            charged >= ran.len() as u64,
            "{charged} charged, {} ran",
            ran.len()
        );
        assert!(
            charged <= ran.len() as u64 + 2,
            "only what was under way may be charged and not have run"
        );
        if ran.len() == 7 {
            let again = team.request("monday").launch(&query);
            assert!(matches!(again, Err(LaunchError::AlreadyCharged { .. })));
        }
        // Every tenth is spent to the end.
        if opened % 10 == 0 {
            resumed += 1;
            let more = spend(&team, &query) + spend(&all, &query);
            assert_eq!(charged + more, 10, "ten times a tenth, and nothing else");
            assert_eq!((left(&all), left(&team)), ("0".into(), "0".into()));
            ledger.verify().unwrap();
        }
    });
    println!("{images} crashes, {opened} reopened, {resumed} spent to zero");
    assert!(resumed > 10, "{resumed}");
}
