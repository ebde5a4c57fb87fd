//! Failover to a real standby: with one that the server waits for, nothing that was acknowledged is lost, and the budget is spent to
//! exactly zero; with one that it does not wait for, an anchor tells of the rollback.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use crate::server::{Server, server};
use ledger::{
    Hazard, Ledger, LedgerError, LedgerOptions, LedgerReader, Postgres, WrittenDown,
    anchor::AnchorError,
};
use odometry::odometer::journal::{Event, Receipt};
use odometry::odometer::{LaunchError, OpenError};
use odometry::prelude::*;

const THREADS: usize = 4;
/// A hundredth each.
const LAUNCHES: usize = 300;
const BUDGET: &str = "3";

type People = Session<Records<u32>, Basic<PureDp>>;

fn query() -> Measurement<Records<u32>, PureDp, u32> {
    let map = PrivacyMap::per_record(PureDp, "0.01").unwrap();
    Measurement::new("query", Records::<u32>::new(), map, |data, _| {
        Ok(data.len() as u32)
    })
}

fn opened(ledger: &Ledger) -> Result<People, OpenError> {
    let odometer = Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("all");
    odometer.filter_on(ledger.books(), 1, BUDGET, vec![1, 2, 3])
}

/// Launches until nothing is left, each request until it is known to be charged. What was acknowledged is noted.
fn spend(address: &str, name: usize, acknowledged: &Mutex<Vec<(String, Receipt)>>) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let mut tried = 0;
    while Instant::now() < deadline {
        let ledger = Ledger::connect(address);
        let Some(session) = ledger.ok().and_then(|ledger| opened(&ledger).ok()) else {
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        loop {
            let key = format!("{name}.{tried}");
            match session.request(&*key).launch(&query()) {
                Ok(launched) => {
                    let acknowledged = &mut acknowledged.lock().unwrap();
                    acknowledged.push((key, launched.receipt));
                    tried += 1;
                }
                Err(LaunchError::AlreadyCharged { .. }) => tried += 1,
                Err(LaunchError::Refused(_)) => return,
                // Nothing ran. The same request again, on a ledger that is opened again.
                Err(_) => break,
            }
        }
    }
    panic!("the server did not come back");
}

/// The keys and the records of all charges.
fn charged(address: &str) -> Vec<(Option<String>, Receipt)> {
    let reader = LedgerReader::connect(address).unwrap();
    reader.verify().unwrap();
    let mut charged = Vec::new();
    let each = |entry: ledger::LedgerEntry| {
        if let WrittenDown::Event(record) = entry.written
            && let Event::Charge(charge) = record.event
        {
            charged.push((charge.key, entry.receipt));
        }
        ControlFlow::Continue(())
    };
    reader.entries(0, each).unwrap();
    charged
}

/// The standby is written to from now on, at the address of the server that is gone.
fn fail_over(primary: &Server, standby: &Server) {
    standby.promote();
    standby.down("fast");
    standby.up_as(primary);
}

#[test]
fn a_standby_that_is_waited_for_loses_nothing() {
    let Some(primary) = server("primary") else {
        return;
    };
    let standby = primary.standby("standby");
    let address = primary.address("writer");
    assert_eq!(
        Ledger::connect(&address).unwrap().hazards(),
        [Hazard::Failover],
        "nobody waits for it yet"
    );
    primary.wait_for("standby");
    assert_eq!(Ledger::connect(&address).unwrap().hazards(), []);
    let acknowledged = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for name in 0..THREADS {
            let (address, acknowledged) = (&address, &acknowledged);
            scope.spawn(move || spend(address, name, acknowledged));
        }
        while acknowledged.lock().unwrap().len() < LAUNCHES / 3 {
            thread::sleep(Duration::from_millis(1));
        }
        primary.down("immediate");
        fail_over(&primary, &standby);
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    let charged = charged(&primary.address("reader"));
    let there: HashSet<_> = charged.iter().cloned().collect();
    for (key, receipt) in &acknowledged {
        let kept = there.contains(&(Some(key.clone()), *receipt));
        assert!(kept, "{key} was acknowledged as {receipt}, and is lost");
    }
    let keys: HashSet<_> = charged.iter().map(|(key, _)| key).collect();
    assert_eq!((charged.len(), keys.len()), (LAUNCHES, LAUNCHES));
    let ledger = Ledger::connect(&address).unwrap();
    let left = opened(&ledger).unwrap().remaining(1).unwrap();
    assert_eq!(left, Some("0".parse().unwrap()));
    eprintln!(
        "{} of {LAUNCHES} launches were acknowledged through a failover",
        acknowledged.len()
    );
}

#[test]
fn a_standby_that_is_not_waited_for_is_told_by_an_anchor() {
    let Some(primary) = server("alone") else {
        return;
    };
    let standby = primary.standby("late");
    let address = primary.address("writer");
    let anchor = std::env::temp_dir().join(format!("odometry-failover-{}", std::process::id()));
    let _ = std::fs::remove_file(&anchor);
    let anchored = || {
        let store = Postgres::connect(&address).unwrap();
        let options = LedgerOptions::new().anchored(&anchor).anchor_every(1);
        options.on(Box::new(store))
    };
    let ledger = anchored().unwrap();
    assert_eq!(ledger.hazards(), [Hazard::Failover]);
    let session = opened(&ledger).unwrap();
    session.launch(&query()).unwrap();
    // What is charged from now on does not reach the standby before the server is gone.
    standby.down("fast");
    let lost = session.launch_receipted(&query()).unwrap().receipt;
    primary.down("immediate");
    standby.up("");
    fail_over(&primary, &standby);
    // Whoever was connected has seen more than is there.
    let error = session.launch(&query()).unwrap_err();
    assert!(error.to_string().contains("rolled back"), "{error}");
    assert!(!error.was_charged());
    // Whoever comes later knows it from the anchor, and from nothing else.
    let error = anchored().err().expect("it is refused");
    assert!(
        matches!(&error, LedgerError::Anchor(AnchorError::RolledBack { anchor, .. }) if *anchor == lost),
        "{error}"
    );
    let trusting = Ledger::connect(&address).unwrap();
    let left = opened(&trusting).unwrap().remaining(1).unwrap();
    assert_eq!(left, Some("2.99".parse().unwrap()), "one charge is gone");
    std::fs::remove_file(&anchor).unwrap();
}
