//! Servers that accept a connection and do not answer: each call ends in time, and a charge is reported as it is.

#[path = "../../tests/server/mod.rs"]
mod server;

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    ops::ControlFlow,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use odometry::odometer::LaunchError;
use odometry::prelude::*;
use server::Server;

use super::*;

const SHORT: Limits = Limits {
    connecting: Duration::from_millis(1500),
    answering: Duration::from_millis(1500),
};

/// Runs it on another thread, so that a call that waits for ever fails the test.
fn in_time<X: Send + 'static>(run: impl FnOnce() -> X + Send + 'static) -> X {
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(run()));
    let in_time = end.recv_timeout(Duration::from_secs(20));
    in_time.expect("the call ends in time")
}

fn opened(address: &str) -> Postgres {
    let limits = Limits {
        connecting: LIMITS.connecting,
        ..SHORT
    };
    let (mut store, _) = Postgres::new(address, false, limits).ok().unwrap();
    store.limits = SHORT;
    store.patient(Duration::from_secs(1))
}

/// Accepts one connection after the other, and says this to the first message of each, and nothing else.
fn silent(says: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut first = [0; 8];
            stream.read_exact(&mut first).unwrap();
            stream.write_all(says).unwrap();
            open.push(stream);
        }
    });
    port
}

fn assert_silent(address: String) {
    let error = in_time(move || Postgres::new(&address, false, SHORT).err().unwrap());
    let typed = matches!(&error, ConnectError::Unreachable { reason, .. } if reason.contains("no answer within 1.5s"));
    assert!(typed, "{error}");
}

#[test]
fn a_server_that_accepts_and_is_silent_is_unreachable() {
    assert_silent(format!("postgres://u@127.0.0.1:{}/l", silent(b"")));
    // The log-in without a password succeeds, and nothing follows.
    let logged_in = silent(b"R\0\0\0\x08\0\0\0\0");
    assert_silent(format!("postgres://u@127.0.0.1:{logged_in}/l"));
}

#[test]
fn a_server_that_is_silent_in_the_handshake_of_tls_is_unreachable() {
    let root = std::env::temp_dir().join(format!("odometry-silent-{}", std::process::id()));
    let path = root.to_str().unwrap();
    let mut openssl = Command::new("openssl");
    let key = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ];
    let made = openssl
        .args(key)
        .args(["-subj", "/CN=root", "-keyout", "/dev/null", "-out", path]);
    assert!(made.output().unwrap().status.success());
    let port = silent(b"S");
    assert_silent(format!(
        "postgres://u@127.0.0.1:{port}/l?sslmode=require&sslrootcert={path}"
    ));
    std::fs::remove_file(root).unwrap();
}

#[test]
fn a_look_up_on_a_frozen_server_ends_and_holds_up_no_other() {
    let Some(server) = server::server("frozen-look-up") else {
        return;
    };
    drop(Postgres::connect(&server.address("writer")).unwrap());
    let store = Arc::new(opened(&server.address("writer")));
    let before = store.last().unwrap();
    server.freeze();
    let looks = [(); 4].map(|()| {
        let store = Arc::clone(&store);
        thread::spawn(move || in_time(move || store.last()))
    });
    for look in looks {
        let looked = look.join().unwrap();
        assert!(
            matches!(looked, Err(StoreError::Unreachable(_))),
            "{looked:?}"
        );
    }
    server.thaw();
    assert_eq!(store.last().unwrap(), before);
}

type Query = Measurement<Records<u32>, PureDp, usize>;

fn query(ran: &Arc<AtomicUsize>) -> Query {
    let ran = Arc::clone(ran);
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    Measurement::new("query", Records::<u32>::new(), map, move |data, _| {
        ran.fetch_add(1, Ordering::SeqCst);
        Ok(data.len())
    })
}

fn session(ledger: &Ledger) -> Session<Records<u32>, Basic<PureDp>> {
    let odometer = Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("all");
    let data = vec![1, 2, 3];
    odometer.filter_on(ledger.books(), 1, "1", data).unwrap()
}

/// A commit takes a second, in which the server can be frozen.
fn slow(server: &Server) -> Client {
    server.psql(
        "ledger",
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'; \
         GRANT EXECUTE ON FUNCTION slow() TO PUBLIC; \
         CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON odometry.records DEFERRABLE INITIALLY DEFERRED \
         FOR EACH ROW EXECUTE FUNCTION slow()",
    );
    Client::connect(&server.address("owner"), postgres::NoTls).unwrap()
}

/// Waits until a commit is on its way, and freezes the server.
fn freeze_at_commit(server: &Server, owner: &mut Client) {
    let commits = "SELECT FROM pg_stat_activity WHERE query = 'COMMIT' AND wait_event = 'PgSleep'";
    let deadline = Instant::now() + Duration::from_secs(10);
    while owner.query(commits, &[]).unwrap().is_empty() {
        assert!(Instant::now() < deadline, "there is no commit");
        thread::sleep(Duration::from_millis(5));
    }
    server.freeze();
}

fn assert_left(server: &Server, left: &str) {
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    assert_eq!(ledger.verify().unwrap(), ledger.head());
    let remaining = session(&ledger).remaining(1).unwrap();
    assert_eq!(remaining, Some(left.parse().unwrap()));
}

#[test]
fn a_commit_on_a_frozen_server_is_in_doubt_and_charged_once() {
    let Some(server) = server::server("frozen-commit") else {
        return;
    };
    let address = server.address("writer");
    drop(session(&Ledger::connect(&address).unwrap()));
    let mut owner = slow(&server);
    let ran = Arc::default();
    // The server is back before the patience ends: the commit is found, and the launch runs.
    let store = opened(&address).patient(Duration::from_secs(15));
    let ledger = Ledger::on(Box::new(store), None).unwrap();
    let here = session(&ledger);
    let launch = {
        let (here, query) = (here.clone(), query(&ran));
        thread::spawn(move || in_time(move || here.request("monday").launch(&query).map(drop)))
    };
    freeze_at_commit(&server, &mut owner);
    thread::sleep(SHORT.answering + Duration::from_secs(1));
    server.thaw();
    launch.join().unwrap().unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert_left(&server, "0.9");
    // It is back only later: the launch is in doubt and did not run. The commit was done, so its key is charged.
    let ledger = Ledger::on(Box::new(opened(&address)), None).unwrap();
    let here = session(&ledger);
    let launch = {
        let (here, query) = (here.clone(), query(&ran));
        thread::spawn(move || in_time(move || here.request("tuesday").launch(&query).map(drop)))
    };
    freeze_at_commit(&server, &mut owner);
    let error = launch.join().unwrap().unwrap_err();
    server.thaw();
    let typed = matches!(error, LaunchError::InDoubt(_));
    assert!(typed, "{error:?}");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    // The turn comes after the end of the old transaction.
    let ledger = Ledger::connect(&address).unwrap();
    let again = session(&ledger).request("tuesday").launch(&query(&ran));
    assert!(
        matches!(again, Err(LaunchError::AlreadyCharged { .. })),
        "{again:?}"
    );
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert_left(&server, "0.8");
}

#[test]
fn a_server_that_freezes_before_the_commit_has_charged_nothing() {
    let Some(server) = server::server("frozen-turn") else {
        return;
    };
    let address = server.address("writer");
    let head = Ledger::connect(&address).unwrap().head();
    let store = opened(&address);
    let nothing = &mut |_: u64, _: &[u8]| ControlFlow::Continue(());
    store.take_turn(&head, nothing).unwrap();
    server.freeze();
    let draft = Unchained::new(Kind::Note, &[], b"a record").unwrap();
    let record = Walk::after(&head).seal(draft);
    let written = in_time(move || (store.append(&[record]), store).0);
    assert!(
        matches!(written, Err(StoreError::NotWritten(_))),
        "{written:?}"
    );
    server.thaw();
    // The turn comes after the end of the old transaction, which has not moved the head.
    let other = Postgres::connect(&address).unwrap();
    assert_eq!(other.take_turn(&head, nothing).unwrap(), head);
    other.give_back();
}
