//! A ledger on a server in asynchronous programs: calls and drops work on every thread of every runtime. Each scenario is a
//! process of its own, because a panic in a destructor would abort it.

use std::{
    env,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Command, Output},
    thread,
    time::{Duration, Instant},
};

use axum::{Router, extract::State, http::StatusCode, routing::get};
use tokio::runtime::{Builder, Runtime};

use crate::server::server;
use ledger::{ConnectError, Ledger, LedgerError, LedgerReader};
use odometry::prelude::*;

const SCENARIO: &str = "ODOMETRY_ASYNC_SCENARIO";
const ADDRESS: &str = "ODOMETRY_ASYNC_ADDRESS";

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

/// Everything that talks to the server, and all drops, inside of an asynchronous task.
async fn launch_and_drop(address: String) {
    let ledger = Ledger::connect(&address).unwrap();
    let session = opened(&ledger);
    assert_eq!(session.launch(&query()).unwrap(), 3);
    let key = format!("after {}", ledger.head());
    let keyed = session.request(key).launch(&query()).unwrap();
    assert_eq!(keyed.answer, 3);
    ledger.refresh().unwrap();
    ledger.checkpoint().unwrap();
    let reader = LedgerReader::connect(&address).unwrap();
    assert_eq!(reader.verify().unwrap(), ledger.head());
    drop(session);
    drop(reader);
    drop(ledger);
}

async fn size(State(session): State<People>) -> Result<String, (StatusCode, String)> {
    let launched = session.launch(&query());
    let failed = |error: LaunchError| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
    launched.map(|size| size.to_string()).map_err(failed)
}

fn fetch(server: SocketAddr) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    let request = b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The main function of an ordinary program with `axum`: the ledger and the session are dropped at its end.
async fn serve(address: String) {
    let ledger = Ledger::connect(&address).unwrap();
    let session = opened(&ledger);
    let router = Router::new().route("/", get(size)).with_state(session);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let answer = tokio::task::spawn_blocking(move || fetch(here));
    let answer = answer.await.unwrap();
    assert!(
        answer.contains("200 OK") && answer.ends_with('3'),
        "{answer}"
    );
    serving.abort();
    assert!(serving.await.unwrap_err().is_cancelled());
    assert_eq!(
        ledger.head().seq,
        2,
        "one opens the account, one is charged"
    );
}

fn runtimes() -> [Runtime; 2] {
    let build = |mut builder: Builder| builder.enable_all().build().unwrap();
    [Builder::new_multi_thread(), Builder::new_current_thread()].map(build)
}

/// How many threads of connections there are.
#[cfg(target_os = "linux")]
fn connections() -> usize {
    let named = |task: std::io::Result<std::fs::DirEntry>| {
        let name = std::fs::read_to_string(task.ok()?.path().join("comm")).ok()?;
        (name.trim_end() == "odometry ledger").then_some(())
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.filter_map(named).count()
}

#[cfg(target_os = "linux")]
fn threads_end(address: &str) {
    let ledger = Ledger::connect(address).unwrap();
    let session = opened(&ledger);
    session.launch(&query()).unwrap();
    let copies = (ledger.clone(), session.clone());
    assert!((1..=2).contains(&connections()), "{}", connections());
    drop((ledger, session));
    assert!(connections() > 0, "copies are left");
    drop(copies);
    let deadline = Instant::now() + Duration::from_secs(10);
    while connections() > 0 {
        assert!(Instant::now() < deadline, "threads are left");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The child. (Run as a test by itself, it does nothing.)
#[test]
fn child() {
    let (Ok(scenario), Ok(address)) = (env::var(SCENARIO), env::var(ADDRESS)) else {
        return;
    };
    match &*scenario {
        "tasks" => {
            for runtime in runtimes() {
                runtime.block_on(async {
                    let task = tokio::spawn(launch_and_drop(address.clone()));
                    task.await.unwrap();
                });
            }
        }
        "main" => {
            for runtime in runtimes() {
                runtime.block_on(launch_and_drop(address.clone()));
            }
        }
        "axum" => runtimes()[0].block_on(serve(address)),
        "axum on one thread" => runtimes()[1].block_on(serve(address)),
        #[cfg(target_os = "linux")]
        "threads" => threads_end(&address),
        "no thread" => {
            let error = Ledger::connect(&address).err().unwrap();
            let typed = matches!(&error, LedgerError::Connect(ConnectError::NoThread { .. }));
            assert!(typed && error.to_string().contains("thread"), "{error}");
        }
        other => panic!("{other} is no scenario"),
    }
    println!("\ndone");
}

fn run(scenario: &str, address: &str, more: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    let arguments = [
        "--exact",
        "postgres_async::child",
        "--nocapture",
        "--test-threads=1",
    ];
    command.args(arguments);
    command.env(SCENARIO, scenario).env(ADDRESS, address);
    command.envs(more.iter().copied()).output().unwrap()
}

fn passes(scenario: &str, address: &str, more: &[(&str, &str)]) {
    let ran = run(scenario, address, more);
    let [out, said] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
    let passed = ran.status.success() && out.contains("\ndone");
    assert!(passed, "{scenario}: {}\n{out}{said}", ran.status);
}

#[test]
fn launches_and_drops_work_in_asynchronous_tasks() {
    let Some(server) = server("tasks") else {
        return;
    };
    for scenario in ["tasks", "main"] {
        let address = server.address("writer");
        passes(scenario, &address, &[]);
    }
}

#[test]
fn a_program_with_axum_launches_in_handlers_and_ends() {
    for scenario in ["axum", "axum on one thread"] {
        let Some(server) = server("axum") else { return };
        passes(scenario, &server.address("writer"), &[]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn threads_of_connections_end_with_the_last_handle() {
    let Some(server) = server("threads-end") else {
        return;
    };
    passes("threads", &server.address("writer"), &[]);
}

#[test]
fn a_thread_that_cannot_be_made_is_an_error() {
    let Some(server) = server("no-thread") else {
        return;
    };
    // No thread has so large a stack.
    let more = [("RUST_MIN_STACK", "140737488355328")];
    passes("no thread", &server.address("writer"), &more);
}
