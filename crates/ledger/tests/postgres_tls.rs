//! Encrypted connections to a real server, with authorities that the test makes: which servers are trusted, and that nothing is
//! sent to any other.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream, UdpSocket},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::server::{Server, server};
use ledger::{ConnectError, Hazard, Ledger, LedgerError, LedgerReader};
use odometry::prelude::*;

/// An authority that issues certificates, in a directory that goes with it.
struct Authority(PathBuf);

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The configuration of `openssl`, in place of the system's.
const CONFIGURATION: &str = "\
[req]
distinguished_name = name
x509_extensions = authority
prompt = no
[name]
CN = made for a test
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
";

impl Authority {
    fn new(name: &str) -> Self {
        let here = format!("odometry-authority-{name}-{}", std::process::id());
        let authority = Self(std::env::temp_dir().join(here));
        let _ = fs::remove_dir_all(&authority.0);
        fs::create_dir(&authority.0).unwrap();
        fs::write(authority.0.join("openssl.cnf"), CONFIGURATION).unwrap();
        authority.request("root", &["-x509", "-days", "2", "-out", "root.crt"]);
        authority
    }

    fn openssl(&self, arguments: &[&str]) {
        let mut command = Command::new("openssl");
        let ran = command.args(arguments).current_dir(&self.0).output();
        let ran = ran.expect("`openssl` is installed (Debian's PostgreSQL needs it)");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{arguments:?}: {said}");
    }

    fn request(&self, name: &str, more: &[&str]) {
        let key = format!("{name}.key");
        let curve = "ec_paramgen_curve:prime256v1";
        let new = [
            "req", "-new", "-newkey", "ec", "-pkeyopt", curve, "-nodes", "-keyout", &key,
        ];
        self.openssl(&[&new[..], &["-config", "openssl.cnf"], more].concat());
    }

    /// The file for `sslrootcert`.
    fn root(&self) -> PathBuf {
        self.0.join("root.crt")
    }

    /// Starts a server with a certificate for these names (`DNS:…`, `IP:…`).
    fn start(&self, server: &Server, names: &str) {
        fs::write(self.0.join("names"), format!("subjectAltName = {names}\n")).unwrap();
        self.request("server", &["-out", "server.csr"]);
        let issue = "x509 -req -in server.csr -CA root.crt -CAkey root.key -CAcreateserial -days 2 -extfile names -out server.crt";
        self.openssl(&issue.split(' ').collect::<Vec<_>>());
        server.up_encrypted(&self.0.join("server.crt"), &self.0.join("server.key"));
    }
}

fn address(server: &Server, host: &str, mode: &str, root: &Path) -> String {
    let (port, root) = (server.port, root.display());
    format!("postgres://writer@{host}:{port}/ledger?sslmode={mode}&sslrootcert={root}")
}

fn refused(address: &str) -> ConnectError {
    let error = match Ledger::connect(address) {
        Err(LedgerError::Connect(error)) => error,
        other => panic!("{address}: {:?}", other.err()),
    };
    let read = match LedgerReader::connect(address) {
        Err(LedgerError::Connect(error)) => error,
        other => panic!("{address}: {:?}", other.err()),
    };
    assert_eq!(error, read);
    error
}

fn is_untrusted(address: &str, why: &str) {
    let error = refused(address);
    let typed = matches!(&error, ConnectError::Certificate { reason, .. } if reason.contains(why));
    assert!(typed, "{address}: {error:?}");
}

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
fn a_server_is_trusted_for_its_certificate_and_its_name() {
    let Some(server) = server("encrypted") else {
        return;
    };
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    server.down("fast");
    ours.start(&server, "DNS:localhost");
    for mode in ["require", "verify-full"] {
        let ledger = Ledger::connect(&address(&server, "localhost", mode, &ours.root())).unwrap();
        assert_eq!(ledger.hazards(), []);
        opened(&ledger).launch(&query()).unwrap();
        let mut owner =
            postgres::Client::connect(&server.address("owner"), postgres::NoTls).unwrap();
        let encrypted = "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_ssl \
                         JOIN pg_stat_activity USING (pid) WHERE application_name = 'odometry ledger'";
        let row = owner.query_one(encrypted, &[]).unwrap();
        let (all, encrypted): (i64, i64) = (row.get(0), row.get(1));
        assert!(
            all > 0 && all == encrypted,
            "{encrypted} of {all} are encrypted"
        );
        let reader = LedgerReader::connect(&address(&server, "localhost", mode, &ours.root()));
        assert_eq!(reader.unwrap().verify().unwrap(), ledger.head());
        // Another authority, whose name is the same; another host, which the certificate is not for.
        is_untrusted(
            &address(&server, "localhost", mode, &other.root()),
            "BadSignature",
        );
        is_untrusted(
            &address(&server, "127.0.0.1", mode, &ours.root()),
            "127.0.0.1",
        );
        // The name counts, and not where it leads to.
        let (port, root) = (server.port, ours.root());
        let at = |host: &str| {
            let root = root.display();
            format!(
                "host={host} hostaddr=127.0.0.1 port={port} user=writer dbname=ledger sslmode={mode} sslrootcert='{root}'"
            )
        };
        drop(Ledger::connect(&at("localhost")).unwrap());
        is_untrusted(&at("db.example"), "db.example");
    }
    server.down("fast");
    ours.start(&server, "DNS:db.example,IP:127.0.0.1");
    drop(Ledger::connect(&address(&server, "127.0.0.1", "verify-full", &ours.root())).unwrap());
    is_untrusted(
        &address(&server, "localhost", "require", &ours.root()),
        "localhost",
    );
}

/// Logs in through a process of its own, because a password comes from the environment.
fn log_in(address: &str, password: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "postgres::child", "--nocapture"]);
    command
        .env("ODOMETRY_POSTGRES_LOGIN", address)
        .env("PGPASSWORD", password);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn passwords_go_to_a_server_that_is_trusted_only() {
    let Some(server) = server("secrets") else {
        return;
    };
    let (ours, other) = (Authority::new("secrets"), Authority::new("thief"));
    drop(Ledger::connect(&server.address("writer")).unwrap());
    server.ask_for_passwords();
    server.down("fast");
    ours.start(&server, "DNS:localhost");
    let trusted = address(&server, "localhost", "verify-full", &ours.root());
    assert!(log_in(&trusted, "right").contains("logged in"));
    let wrong = log_in(&trusted, "hunter2");
    assert!(
        wrong.contains("LoggedOut") && !wrong.contains("hunter2"),
        "{wrong}"
    );
    let untrusted = address(&server, "localhost", "verify-full", &other.root());
    let wrong = log_in(&untrusted, "hunter2");
    assert!(
        wrong.contains("Certificate") && !wrong.contains("hunter2"),
        "{wrong}"
    );
    // A client that refused the certificate has sent no password.
    let said = server.said();
    let asked = said.matches("password authentication failed").count();
    assert_eq!(asked, 1, "{said}");
}

#[test]
fn another_server_at_the_same_address_gets_nothing() {
    let Some(server) = server("taken-over") else {
        return;
    };
    let (ours, other) = (Authority::new("owner"), Authority::new("taker"));
    server.down("fast");
    ours.start(&server, "DNS:localhost");
    let address = address(&server, "localhost", "verify-full", &ours.root());
    let ledger = Ledger::connect(&address).unwrap();
    let session = opened(&ledger);
    session.launch(&query()).unwrap();
    server.down("fast");
    other.start(&server, "DNS:localhost");
    let began = Instant::now();
    for launched in [
        session.launch(&query()),
        session
            .request("monday")
            .launch(&query())
            .map(|launched| launched.answer),
    ] {
        let error = launched.unwrap_err();
        assert!(
            error.to_string().contains("certificate") && !error.was_charged(),
            "{error}"
        );
    }
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "time does not mend it"
    );
    server.down("fast");
    ours.start(&server, "DNS:localhost");
    session.launch(&query()).unwrap();
    assert_eq!(session.remaining(1).unwrap(), Some("0.8".parse().unwrap()));
}

#[test]
fn a_server_without_encryption_receives_nothing_secret() {
    let Some(server) = server("plain") else {
        return;
    };
    let ours = Authority::new("plain");
    let error = refused(&address(&server, "localhost", "require", &ours.root()));
    assert!(
        matches!(error, ConnectError::NotEncrypted { .. }),
        "{error}"
    );
    // A server in between answers the same, and receives only the question.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let received = thread::spawn(move || {
        let answer = |mut stream: TcpStream| {
            let mut question = [0; 8];
            stream.read_exact(&mut question).unwrap();
            stream.write_all(b"N").unwrap();
            let mut received = question.to_vec();
            stream.read_to_end(&mut received).unwrap();
            received
        };
        let streams = listener.incoming().take(2);
        streams
            .map(|stream| answer(stream.unwrap()))
            .collect::<Vec<_>>()
    });
    let root = ours.root();
    let there = format!(
        "postgres://writer@127.0.0.1:{port}/ledger?sslmode=require&sslrootcert={}",
        root.display()
    );
    let error = refused(&there);
    assert!(
        matches!(error, ConnectError::NotEncrypted { .. }),
        "{error}"
    );
    // The length, and the code of a request for TLS.
    let question = [0, 0, 0, 8, 4, 210, 22, 47].to_vec();
    assert_eq!(received.join().unwrap(), [question.clone(), question]);
}

/// An address of this machine that is not its loopback, if it has one.
fn on_a_network() -> Option<std::net::IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: it only chooses where it would be sent from.
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    if address.is_loopback() {
        let skipped = "!! SKIPPED a part of postgres_tls: this machine is on no network\n";
        std::io::stderr().write_all(skipped.as_bytes()).unwrap();
        return None;
    }
    Some(address)
}

#[test]
fn another_machine_receives_nothing_without_encryption() {
    // No machine has this address.
    let began = Instant::now();
    for mode in ["", " sslmode=prefer", " sslmode=allow"] {
        let error = refused(&format!("host=192.0.2.1 user=writer dbname=ledger{mode}"));
        assert!(matches!(error, ConnectError::Unencrypted { .. }), "{error}");
        assert!(error.to_string().contains("sslmode=verify-full"), "{error}");
    }
    assert!(began.elapsed() < Duration::from_secs(2));
    let Some(here) = on_a_network() else { return };
    let listener = TcpListener::bind((here, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = format!("postgres://writer@{here}:{port}/ledger");
    let error = refused(&address);
    assert!(matches!(error, ConnectError::Unencrypted { .. }), "{error}");
    listener.set_nonblocking(true).unwrap();
    let accepted = listener.accept().err().map(|error| error.kind());
    assert_eq!(
        accepted,
        Some(std::io::ErrorKind::WouldBlock),
        "there was no connection"
    );
    // With `sslmode=disable`, the same address is tried.
    listener.set_nonblocking(false).unwrap();
    let tried = thread::spawn(move || {
        let mut first = [0; 8];
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut first).unwrap();
        first
    });
    let plain = Ledger::connect(&format!("{address}?sslmode=disable"));
    let error = plain.err().unwrap();
    let typed = matches!(
        &error,
        LedgerError::Connect(ConnectError::Unreachable { .. })
    );
    assert!(typed, "{error}");
    // The version of the protocol, without a word of TLS.
    assert_eq!(tried.join().unwrap()[4..], [0, 3, 0, 0]);
}

#[test]
fn a_plain_connection_to_another_machine_is_a_hazard() {
    let Some(server) = server("hazard") else {
        return;
    };
    let Some(here) = on_a_network() else { return };
    server.down("fast");
    server.up_for_all(&here.to_string());
    let address = format!(
        "postgres://writer@{here}:{}/ledger?sslmode=disable",
        server.port
    );
    let ledger = Ledger::connect(&address).unwrap();
    assert_eq!(ledger.hazards(), [Hazard::Network]);
}
