//! The store on a real PostgreSQL server: what it refuses, who may do what, and what two processes see of one another.

use crate::server::server;
use ledger::{ConnectError, Ledger, LedgerError, LedgerReader};
use odometry::odometer::journal::JournalError;
use odometry::odometer::{LaunchError, OpenError};
use odometry::prelude::*;

type Query = Measurement<Records<u32>, PureDp, u32>;

fn query(loss: &str) -> Query {
    let map = PrivacyMap::per_record(PureDp, loss).unwrap();
    Measurement::new("query", Records::<u32>::new(), map, |data, _| {
        Ok(data.len() as u32)
    })
}

fn organisation() -> Odometer<Records<u32>, Basic<PureDp>> {
    Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("the organisation")
}

fn session(
    ledger: &Ledger,
    budget: &str,
) -> Result<Session<Records<u32>, Basic<PureDp>>, OpenError> {
    organisation().filter_on(ledger.books(), 1, budget, vec![1, 2, 3])
}

#[test]
fn two_ledgers_share_one_budget() {
    let Some(server) = server("share") else {
        return;
    };
    let address = server.address("writer");
    let (one, two) = (
        Ledger::connect(&address).unwrap(),
        Ledger::connect(&address).unwrap(),
    );
    assert_eq!(one.hazards(), []);
    let (mine, theirs) = (session(&one, "1").unwrap(), session(&two, "1").unwrap());
    let team = mine.nested("team").capped(1, "0.5").open().unwrap();
    team.launch(&query("0.3")).unwrap();
    // Opened by the other process: found with its past, and with its terms.
    let same = theirs.nested("team").capped(1, "0.5").open().unwrap();
    assert_eq!(same.remaining(1).unwrap(), Some("0.2".parse().unwrap()));
    let error = theirs.nested("team").capped(1, "0.6").open().err().unwrap();
    let other = matches!(&error, OpenError::Journal(error) if matches!(**error, JournalError::OtherTerms { .. }));
    assert!(other, "{error}");
    // Neither has seen what the other launches until it launches itself, and then exactly that is refused.
    theirs.launch(&query("0.6")).unwrap();
    assert_eq!(mine.remaining(1).unwrap(), Some("0.7".parse().unwrap()));
    assert!(matches!(
        mine.launch(&query("0.2")),
        Err(LaunchError::Refused(_))
    ));
    assert_eq!(mine.remaining(1).unwrap(), Some("0.1".parse().unwrap()));
    mine.launch(&query("0.1")).unwrap();
    two.refresh().unwrap();
    assert_eq!(theirs.remaining(1).unwrap(), Some("0".parse().unwrap()));
    assert_eq!(theirs.privacy_loss(1).unwrap().to_string(), "1");
    // Whoever reads sees all of it, and it is whole.
    let reader = LedgerReader::connect(&server.address("reader")).unwrap();
    assert_eq!(reader.verify().unwrap(), one.head());
    assert_eq!(one.checkpoint().unwrap(), one.head());
    assert_eq!(two.verify().unwrap(), one.head());
    let again = Ledger::connect(&address).unwrap();
    let third = session(&again, "1").unwrap();
    assert!(matches!(
        third.launch(&query("0.001")),
        Err(LaunchError::Refused(_))
    ));
    let mut file = Vec::new();
    assert_eq!(two.export(&mut file).unwrap(), Some(one.head()));
}

#[test]
fn a_request_is_charged_once_by_whichever_process_comes_first() {
    let Some(server) = server("keys") else { return };
    let address = server.address("writer");
    let (one, two) = (
        Ledger::connect(&address).unwrap(),
        Ledger::connect(&address).unwrap(),
    );
    let (mine, theirs) = (session(&one, "100").unwrap(), session(&two, "100").unwrap());
    let mut ran = 0;
    for round in 0..40 {
        let key = format!(
            "request {round} {}",
            "long ".repeat(if round % 4 == 0 { 700 } else { 0 })
        );
        let ask = |session: &Session<Records<u32>, Basic<PureDp>>| {
            session.request(&*key).launch(&query("0.5"))
        };
        let answers = std::thread::scope(|scope| {
            let both = [scope.spawn(|| ask(&mine)), scope.spawn(|| ask(&theirs))];
            both.map(|each| each.join().unwrap())
        });
        let charged: Vec<_> = answers
            .iter()
            .flatten()
            .map(|answer| answer.receipt)
            .collect();
        assert_eq!(charged.len(), 1, "{answers:?}");
        ran += charged.len();
        for answer in answers {
            if let Err(error) = answer {
                let told = matches!(error, LaunchError::AlreadyCharged { receipt, .. } if receipt == charged[0]);
                assert!(told, "{error}");
            }
        }
        let other = theirs.request(&*key).launch(&query("0.25"));
        let other = matches!(&other, Err(LaunchError::Journal(error)) if matches!(**error, JournalError::OtherLaunch { .. }));
        assert!(other);
    }
    assert_eq!(ran, 40);
    one.refresh().unwrap();
    assert_eq!(mine.remaining(1).unwrap(), Some("80".parse().unwrap()));
    assert_eq!(one.verify().unwrap(), one.head());
}

fn refused(address: &str) -> ConnectError {
    match Ledger::connect(address).err().expect("it is refused") {
        LedgerError::Connect(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn a_server_that_would_lose_charges_or_has_no_ledger_is_refused() {
    let Some(server) = server("refused") else {
        return;
    };
    let address = server.address("writer");
    drop(Ledger::connect(&address).unwrap());
    for setting in ["fsync", "full_page_writes"] {
        server.down("fast");
        server.up(&format!("-c {setting}=off"));
        assert!(
            matches!(refused(&address), ConnectError::NotDurable { setting: found, .. } if found == setting)
        );
    }
    server.down("fast");
    assert!(matches!(
        refused(&address),
        ConnectError::Unreachable { .. }
    ));
    server.up("");
    assert!(matches!(
        refused(&address.replace("user=writer", "user=nobody")),
        ConnectError::LoggedOut { .. }
    ));
    assert!(matches!(
        refused(&address.replace("dbname=ledger", "dbname=postgres")),
        ConnectError::NotSetUp { .. }
    ));
    assert!(matches!(
        refused(&address.replace("dbname=ledger", "dbname=none")),
        ConnectError::NotSetUp { .. }
    ));
    server.psql("ledger", "UPDATE odometry.head SET version = 2");
    assert!(matches!(
        refused(&address),
        ConnectError::Version { found: 2, .. }
    ));
    server.psql("ledger", "UPDATE odometry.head SET version = 1");
    // Charges are lost in a failover to whoever is not waited for.
    server.down("fast");
    server.up("-c archive_mode=on -c archive_command=true");
    assert_eq!(
        Ledger::connect(&address).unwrap().hazards(),
        [ledger::Hazard::Failover]
    );
}

#[test]
fn roles_do_no_more_than_they_may() {
    let Some(server) = server("roles") else {
        return;
    };
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    let session = session(&ledger, "1").unwrap();
    session.launch(&query("0.1")).unwrap();
    let run = |user: &str, sql: &str| {
        let mut client = postgres::Client::connect(&server.address(user), postgres::NoTls).unwrap();
        let code = client
            .batch_execute(sql)
            .err()
            .map(|error| error.code().cloned());
        code.map(|code| code == Some(postgres::error::SqlState::INSUFFICIENT_PRIVILEGE))
    };
    for sql in [
        "DELETE FROM odometry.records",
        "UPDATE odometry.records SET bytes = ''",
        "TRUNCATE odometry.records",
        "DROP TABLE odometry.records",
        "DELETE FROM odometry.head",
        "UPDATE odometry.head SET version = 7",
        "INSERT INTO odometry.head VALUES (false, 1, 0, '')",
        "ALTER TABLE odometry.records DISABLE TRIGGER ALL",
        "CREATE TABLE odometry.mine ()",
    ] {
        assert_eq!(run("writer", sql), Some(true), "{sql}");
        assert_eq!(run("reader", sql), Some(true), "{sql}");
    }
    for sql in [
        "INSERT INTO odometry.records VALUES (9, NULL, false, '', '')",
        "SELECT FROM odometry.head FOR UPDATE",
    ] {
        assert_eq!(run("reader", sql), Some(true), "{sql}");
    }
    // Whoever only reads can open a session and is refused its first launch.
    let only = Ledger::connect(&server.address("reader")).unwrap();
    assert!(matches!(
        only.refresh(),
        Err(LedgerError::Journal(JournalError::Unreachable { .. }))
    ));
    assert_eq!(only.verify().unwrap(), ledger.head());
}

#[test]
fn sequential_accounts_and_damaged_chains_are_refused() {
    let Some(server) = server("damage") else {
        return;
    };
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    // A turn cannot be ended in another process. In a file, which one process has, the same account is opened.
    let sequential = |ledger: &Ledger| {
        let pairs = Odometer::new(
            Records::<u32>::new(),
            Basic::new(odometry::measures::ApproxZcdp),
        );
        let session = pairs.named("in turns").open_on(ledger.books(), 1, vec![1]);
        session.map(drop)
    };
    let before = ledger.head();
    let error = sequential(&ledger).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a turn cannot be ended in another process"),
        "{error}"
    );
    assert_eq!(ledger.head(), before, "nothing was written");
    let file = std::env::temp_dir().join(format!("odometry-turns-{}.redb", std::process::id()));
    let _ = std::fs::remove_file(&file);
    assert!(sequential(&Ledger::open(&file).unwrap()).is_ok());
    std::fs::remove_file(&file).unwrap();
    let session = session(&ledger, "1").unwrap();
    let receipt = session.launch_receipted(&query("0.1")).unwrap().receipt;
    let other = Ledger::connect(&server.address("writer")).unwrap();
    // Somebody with the owner's rights changes what a process has not read yet.
    session.launch(&query("0.1")).unwrap();
    server.psql(
        "ledger",
        "UPDATE odometry.records SET bytes = set_byte(bytes, 60, 65) WHERE seq = 3",
    );
    assert!(matches!(
        other.refresh(),
        Err(LedgerError::Journal(JournalError::Damaged(_)))
    ));
    assert!(matches!(
        other.refresh(),
        Err(LedgerError::Journal(JournalError::Closed { .. }))
    ));
    assert!(matches!(
        LedgerReader::connect(&server.address("reader"))
            .unwrap()
            .verify(),
        Err(LedgerError::Damage(_))
    ));
    // And here the server is put back to what it was before: a failover that has lost records.
    server.psql("ledger", "DELETE FROM odometry.records WHERE seq > 2");
    server.psql(
        "ledger",
        &format!(
            "UPDATE odometry.head SET seq = 2, hash = decode('{}', 'hex')",
            &receipt.to_string()[2..]
        ),
    );
    let error = session.launch(&query("0.1")).unwrap_err();
    assert!(error.to_string().contains("rolled back"), "{error}");
    assert!(!error.was_charged());
}

/// The child: logs in, and says what came of it. (Run as a test by itself, it does nothing.)
#[test]
fn child() {
    if let Ok(address) = std::env::var("ODOMETRY_POSTGRES_LOGIN") {
        match Ledger::connect(&address) {
            Ok(_) => println!("\nlogged in"),
            Err(error) => println!("\n{error:?} {error}"),
        }
    }
}

#[test]
fn passwords_come_from_the_environment_or_a_pass_file() {
    let Some(server) = server("password") else {
        return;
    };
    drop(Ledger::connect(&server.address("writer")).unwrap());
    server.ask_for_passwords();
    let file = std::env::temp_dir().join(format!("odometry-pass-{}", std::process::id()));
    let log_in = |variable: &str, value: &str| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "postgres::child", "--nocapture"]);
        command.env("ODOMETRY_POSTGRES_LOGIN", server.over_tcp(server.port));
        command.env_remove("PGPASSWORD").env("HOME", "/nowhere");
        let said = command.env(variable, value).output().unwrap().stdout;
        String::from_utf8(said).unwrap()
    };
    assert!(log_in("PGPASSWORD", "right").contains("logged in"));
    let wrong = log_in("PGPASSWORD", "hunter2");
    assert!(
        wrong.contains("LoggedOut") && !wrong.contains("hunter2"),
        "{wrong}"
    );
    assert!(log_in("NONE", "").contains("LoggedOut"));
    std::fs::write(&file, format!("*:{}:ledger:writer:right\n", server.port)).unwrap();
    let permit = |mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&file, permissions).unwrap();
        log_in("PGPASSFILE", file.to_str().unwrap())
    };
    assert!(permit(0o600).contains("logged in"));
    let seen = permit(0o644);
    assert!(
        seen.contains("PassFile") && !seen.contains("right"),
        "{seen}"
    );
    std::fs::remove_file(&file).unwrap();
}

/// These tests, where no server is installed: all pass, and say what they have skipped. Where one is demanded, they fail.
#[test]
fn without_a_server_tests_are_skipped_loudly_or_fail() {
    const NEEDING: [&str; 8] = [
        "share",
        "keys",
        "refused",
        "roles",
        "damage",
        "password",
        "only-read",
        "large",
    ];
    let nowhere = std::env::temp_dir().join(format!("odometry-nowhere-{}", std::process::id()));
    std::fs::create_dir_all(&nowhere).unwrap();
    let run = |demanded: bool| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args([
            "postgres::",
            "--skip",
            "without_a_server",
            "--test-threads=1",
        ]);
        command
            .env("PATH", &nowhere)
            .env(crate::server::INSTALLED, &nowhere);
        match demanded {
            true => command.env("ODOMETRY_REQUIRE_POSTGRES", "1"),
            false => command.env_remove("ODOMETRY_REQUIRE_POSTGRES"),
        };
        let ran = command.output().unwrap();
        let [out, said] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
        (ran.status.success(), out, said)
    };
    let (passed, out, said) = run(false);
    assert!(passed, "{out}{said}");
    for name in NEEDING {
        let skipped = format!("!! SKIPPED {name}: no PostgreSQL server is installed");
        assert!(said.contains(&skipped), "{name}: {said}");
    }
    assert_eq!(said.matches("!! SKIPPED").count(), NEEDING.len(), "{said}");
    let (passed, out, _) = run(true);
    assert!(!passed && out.contains("ODOMETRY_REQUIRE_POSTGRES is set"));
    assert!(out.contains(&format!("{} failed", NEEDING.len())), "{out}");
    std::fs::remove_dir(&nowhere).unwrap();
}

#[test]
fn whoever_looks_writes_nothing() {
    let Some(server) = server("only-read") else {
        return;
    };
    // Also as a writer, also where nobody has written yet.
    for user in ["writer", "reader"] {
        let error = LedgerReader::connect(&server.address(user)).err().unwrap();
        assert!(
            matches!(error, LedgerError::Connect(ConnectError::NotBegun { .. })),
            "{error}"
        );
    }
    let mut client = postgres::Client::connect(&server.address("reader"), postgres::NoTls).unwrap();
    let mut records = || -> i64 {
        let count = client.query_one("SELECT count(*) FROM odometry.records", &[]);
        count.unwrap().get(0)
    };
    assert_eq!(records(), 0);
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    assert_eq!(records(), 1);
    let store = ledger::Postgres::connect_to_read(&server.address("writer")).unwrap();
    assert_eq!(
        LedgerReader::on(Box::new(store)).verify().unwrap(),
        ledger.head()
    );
    // Nor by mistake: a ledger on a store that is only looked at takes no turn.
    let store = ledger::Postgres::connect_to_read(&server.address("writer")).unwrap();
    let only = Ledger::on(Box::new(store), None).unwrap();
    assert!(session(&only, "1").is_err());
    assert_eq!(records(), 1);
}

#[test]
fn batches_that_are_too_large_for_a_message_are_written_in_pieces() {
    let Some(server) = server("large") else {
        return;
    };
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    let session = session(&ledger, "100").unwrap();
    let long = |number: usize| {
        let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
        let name = format!("{number} {}", "long ".repeat(180_000));
        Measurement::new(name, Records::<u32>::new(), map, move |_, _| Ok(number))
    };
    let queries: Vec<_> = (0..40).map(long).collect();
    let answers = session.launch_all(&queries);
    let answers: Vec<usize> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers, (0..40).collect::<Vec<_>>());
    let reader = LedgerReader::connect(&server.address("reader")).unwrap();
    assert_eq!(reader.verify().unwrap(), ledger.head());
    assert_eq!(ledger.head().seq, 41, "one opens the account");
}
