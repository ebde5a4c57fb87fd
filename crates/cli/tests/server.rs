//! The commands on a ledger that is on a PostgreSQL server, while others write to it. Where no server is installed this is said
//! loudly, and `ODOMETRY_REQUIRE_POSTGRES` demands one.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::common::program::{count, people};
use crate::common::{folder, run_in};
use crate::postgres::server;
use odometry::ledger::Ledger;
use odometry::prelude::*;
use serde_json::Value;

type People = Session<Records<u32>, Basic<PureDp>>;

fn session(ledger: &Ledger) -> People {
    let hospital = Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("the hospital");
    hospital
        .filter_on(ledger.books(), 1, "3", people())
        .unwrap()
}

/// A command that goes on, until it is dropped.
struct Following(Child, BufReader<std::process::ChildStdout>);

impl Following {
    fn new(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_odometry"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self(child, out)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn looking_at_a_live_ledger_and_following_it() {
    let Some(server) = server("custodian") else {
        return;
    };
    let folder = folder("server");
    let (writer, reader) = (server.address("writer"), server.address("reader"));
    let on = |arguments: &[&str]| run_in(&folder, &[arguments, &["--store", &reader]].concat(), "");
    let begun = run_in(&folder, &["init", "--store", &writer], "");
    assert_eq!(begun.code, 0, "{}", begun.err);
    let ledger = Ledger::connect(&writer).unwrap();
    let hospital = session(&ledger);
    hospital
        .request("first")
        .launch(&count("adults", "0.5"))
        .unwrap();
    // The program still runs, and a role that may only read sees everything.
    for arguments in [
        &["show"][..],
        &["charges"],
        &["explain", "first"],
        &["what-if", "the hospital", "1"],
        &["verify"],
        &["doctor"],
        &["anchor", "write", "anchor"],
        &["anchor", "check", "anchor"],
        &["export", "--csv"],
        &["report", "--html", "page.html"],
    ] {
        let ran = on(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.out, ran.err);
    }
    assert!(
        on(&["doctor"])
            .out
            .contains("fsync and full_page_writes are on")
    );
    assert_eq!(
        run_in(&folder, &["init", "--store", &writer], "").code,
        1,
        "it is there"
    );
    let mut charges = Following::new(&["charges", "--follow", "--json", "--store", &reader]);
    let charge = |line: String| serde_json::from_str::<Value>(&line).unwrap();
    assert_eq!(charge(charges.line())["what"], "adults");
    let mut shown = Following::new(&["show", "--follow", "--store", &reader]);
    assert!(shown.line().starts_with("account"));
    assert!(shown.line().contains("0.5"));
    // An account that did not exist when they began.
    let team = hospital.nested("team red").capped(1, "1").open().unwrap();
    team.launch(&count("beds", "0.25")).unwrap();
    let new = charge(charges.line());
    assert_eq!(
        (&new["what"], &new["account"]),
        (&"beds".into(), &"the hospital/team red".into())
    );
    let later = std::iter::repeat_with(|| shown.line()).find(|line| line.contains("team red"));
    assert!(later.unwrap().contains("└─ team red"));
    drop((charges, shown, team, hospital));
    drop(ledger);
    let changed = ["budget", "the hospital", "4", "--reason", "more", "--store"];
    assert_eq!(
        run_in(&folder, &[&changed[..], &[&writer]].concat(), "").code,
        0
    );
    let forbidden = run_in(&folder, &[&changed[..], &[&reader]].concat(), "");
    assert_eq!(
        forbidden.code, 1,
        "a reader changes nothing: {}",
        forbidden.err
    );
    // Records that were cut off on the server: the anchor knows.
    assert_eq!(on(&["anchor", "write", "anchor"]).code, 0);
    server.psql(
        "ledger",
        "DELETE FROM odometry.records WHERE seq = (SELECT max(seq) FROM odometry.records)",
    );
    let rolled_back = on(&["verify", "--anchor", "anchor"]);
    assert_eq!(
        rolled_back.code, 4,
        "{}{}",
        rolled_back.out, rolled_back.err
    );
}

#[test]
fn addresses_with_passwords_and_servers_that_are_not_there() {
    let folder = folder("no-server");
    let ran = run_in(
        &folder,
        &["show", "--store", "postgres://me:secret@localhost/ledger"],
        "",
    );
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        !ran.err.contains("secret") && ran.err.contains("PGPASSWORD"),
        "{}",
        ran.err
    );
    for address in [
        "postgres://me@db.example/ledger",
        "postgres://me@db.example/ledger?sslmode=verify-full",
        "postgres://me@db.example/ledger?sslmode=verify-ca",
        "host=/run user=me sslmode=require sslrootcert=/dev/null",
    ] {
        let ran = run_in(&folder, &["show", "--store", address], "");
        assert_eq!(ran.code, 2, "{address}: {}", ran.err);
        assert!(ran.err.contains("sslmode") || ran.err.contains("sslrootcert"));
    }
    let nowhere = format!("host={} user=me dbname=ledger", folder.display());
    let ran = run_in(&folder, &["show", "--store", &nowhere], "");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("does not answer"), "{}", ran.err);
}

/// Somebody between the command and the server, who passes on so many bytes of what the server says, and then nothing to anybody.
fn until(server: u16, mut bytes: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while bytes > 0 {
            let (mut client, _) = listener.accept().unwrap();
            let mut server = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let (mut asked, mut asking) =
                (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut asked, &mut asking));
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = server.read(&mut buffer) {
                if read >= bytes || client.write_all(&buffer[..read]).is_err() {
                    bytes = bytes.saturating_sub(read);
                    break;
                }
                bytes -= read;
            }
            let _ = (
                client.shutdown(Shutdown::Both),
                server.shutdown(Shutdown::Both),
            );
        }
    });
    port
}

#[test]
fn a_server_that_fails_in_the_middle_is_not_taken_for_damage() {
    let Some(server) = server("middle") else {
        return;
    };
    let folder = folder("middle");
    // Nobody has begun it, and whoever looks does not.
    let nothing = run_in(&folder, &["show", "--store", &server.address("writer")], "");
    assert_eq!(nothing.code, 1, "{}", nothing.err);
    assert!(nothing.err.contains("odometry init"), "{}", nothing.err);
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    let hospital = session(&ledger);
    let launched = hospital.launch_all(&vec![count("adults", "0.001"); 1500]);
    assert!(launched.iter().all(Result::is_ok));
    let whole = run_in(
        &folder,
        &["verify", "--store", &server.address("reader")],
        "",
    );
    assert_eq!(whole.code, 0, "{}", whole.err);
    for arguments in [&["verify"][..], &["show"], &["charges"]] {
        let cut = server.over_tcp(until(server.port, 100_000));
        let ran = run_in(&folder, &[arguments, &["--store", &cut]].concat(), "");
        assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains("does not answer"), "{}", ran.err);
    }
}
