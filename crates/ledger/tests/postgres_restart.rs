//! A server that stops and comes back: launches with a key wait for it, as all others do.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::server::server;
use ledger::{Ledger, Postgres};
use odometry::odometer::LaunchError;
use odometry::odometer::journal::JournalError;
use odometry::prelude::*;

type People = Session<Records<u32>, Basic<PureDp>>;

fn query() -> Measurement<Records<u32>, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    Measurement::new(
        "query",
        Records::<u32>::new(),
        map,
        |data, _| Ok(data.len()),
    )
}

fn opened(ledger: &Ledger) -> People {
    let odometer = Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("all");
    let data = vec![1, 2, 3];
    odometer.filter_on(ledger.books(), 1, "1", data).unwrap()
}

#[test]
fn a_launch_with_a_key_waits_for_a_server_that_restarts() {
    let Some(server) = server("restart") else {
        return;
    };
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    let session = opened(&ledger);
    let first = session.request("monday").launch(&query()).unwrap();
    server.down("fast");
    thread::scope(|scope| {
        let keys = ["monday", "tuesday", "wednesday"];
        let launches = keys.map(|key| {
            let session = &session;
            scope.spawn(move || session.request(key).launch(&query()))
        });
        thread::sleep(Duration::from_secs(1));
        server.up("");
        let [monday, tuesday, wednesday] = launches.map(|launch| launch.join().unwrap());
        let again = matches!(monday, Err(LaunchError::AlreadyCharged { receipt, .. }) if receipt == first.receipt);
        assert!(again, "{monday:?}");
        assert!(
            tuesday.is_ok() && wednesday.is_ok(),
            "{tuesday:?} {wednesday:?}"
        );
    });
    assert_eq!(session.remaining(1).unwrap(), Some("0.7".parse().unwrap()));
    assert_eq!(ledger.verify().unwrap(), ledger.head());
}

#[test]
fn a_look_up_of_a_key_goes_on_after_the_server_has_stopped() {
    let Some(server) = server("look-up") else {
        return;
    };
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    let session = opened(&ledger);
    session.request("monday").launch(&query()).unwrap();
    for how in ["fast", "immediate"] {
        // The look-up waits for this lock when the server stops.
        let mut owner =
            postgres::Client::connect(&server.address("owner"), postgres::NoTls).unwrap();
        let lock = "BEGIN; LOCK TABLE odometry.records IN ACCESS EXCLUSIVE MODE";
        owner.batch_execute(lock).unwrap();
        thread::scope(|scope| {
            let launch = scope.spawn(|| session.request(how).launch(&query()));
            let waits = "SELECT FROM pg_locks WHERE NOT granted";
            let deadline = Instant::now() + Duration::from_secs(10);
            while owner.query(waits, &[]).unwrap().is_empty() {
                assert!(Instant::now() < deadline, "the key is not looked up");
                thread::sleep(Duration::from_millis(5));
            }
            server.down(how);
            server.up("");
            let launched = launch.join().unwrap();
            assert_eq!(launched.unwrap().answer, 3, "{how}");
        });
    }
    assert_eq!(session.remaining(1).unwrap(), Some("0.7".parse().unwrap()));
}

#[test]
fn a_launch_with_a_key_gives_up_and_is_not_charged() {
    let Some(server) = server("give-up") else {
        return;
    };
    let patience = Duration::from_millis(500);
    let store = Postgres::connect(&server.address("writer")).unwrap();
    let ledger = Ledger::on(Box::new(store.patient(patience)), None).unwrap();
    let session = opened(&ledger);
    server.down("fast");
    let began = Instant::now();
    let error = session.request("monday").launch(&query()).unwrap_err();
    let waited = began.elapsed();
    let typed = matches!(&error, LaunchError::Journal(error) if matches!(**error, JournalError::Unreachable { .. }));
    assert!(typed && !error.was_charged(), "{error}");
    // The last try is not made if it would be too late.
    assert!(
        waited >= patience / 3 && waited < Duration::from_secs(10),
        "{waited:?}"
    );
    server.up("");
    session.request("monday").launch(&query()).unwrap();
    assert_eq!(session.remaining(1).unwrap(), Some("0.9".parse().unwrap()));
}
