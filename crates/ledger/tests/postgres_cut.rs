//! Connections that are cut at `COMMIT`, by somebody in between: before it is sent, after it was done, and while it is on its
//! way. What is there succeeds; what is not there is written again, or was not charged and did not run.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use crate::server::{Server, server};
use ledger::{
    Ledger, LedgerError, Postgres, SharedStore, Store, StoreError,
    frame::{Frame, Kind, Unchained},
};
use odometry::odometer::journal::{JournalError, Receipt};
use odometry::odometer::{LaunchError, OpenError};
use odometry::prelude::*;

/// What happens to the next `COMMIT`.
enum Cut {
    /// It is not passed on.
    Before,
    /// Its answer is not passed on.
    After,
    /// Nothing from here on: the connection ends at the first message with this in it, before `COMMIT`.
    At(&'static [u8]),
    /// It is passed on when somebody else has asked for the head row.
    Late,
    /// As the first two, and then this happens, before the client notices.
    Then(Box<Cut>, Box<dyn FnOnce() + Send>),
}

/// Somebody between a client and the server.
#[derive(Clone)]
struct Between {
    server: u16,
    cut: Arc<Mutex<Option<Cut>>>,
    /// A `COMMIT` that waits for somebody to ask for the head row.
    late: Arc<Mutex<Option<mpsc::Sender<()>>>>,
    cuts: Arc<AtomicUsize>,
    /// Nobody gets through any more.
    gone: Arc<AtomicBool>,
}

fn has(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

fn close(streams: [&TcpStream; 2]) {
    for stream in streams {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

impl Between {
    fn start(server: u16) -> (Self, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let between = Self {
            server,
            cut: Arc::default(),
            late: Arc::default(),
            cuts: Arc::default(),
            gone: Arc::default(),
        };
        let here = between.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let here = here.clone();
                thread::spawn(move || here.connection(&client));
            }
        });
        (between, port)
    }

    fn set(&self, cut: Cut) {
        *self.cut.lock().unwrap() = Some(cut);
    }

    fn connection(&self, client: &TcpStream) {
        if self.gone.load(Ordering::SeqCst) {
            return close([client, client]);
        }
        let server = TcpStream::connect(("127.0.0.1", self.server)).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        // What the server says goes back, until somebody takes over.
        let (answers, swallow) = mpsc::channel::<mpsc::Sender<()>>();
        let (mut back_from, mut back_to) =
            (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            let mut swallowing: Option<mpsc::Sender<()>> = None;
            while let Ok(read @ 1..) = back_from.read(&mut buffer) {
                swallowing = swallow.try_recv().ok().or(swallowing);
                match &swallowing {
                    Some(_) if has(&buffer[..read], b"COMMIT\0") => break,
                    Some(_) => {}
                    None if back_to.write_all(&buffer[..read]).is_err() => break,
                    None => {}
                }
            }
            swallowing = swallow.try_recv().ok().or(swallowing);
            if swallowing.is_none() {
                close([&back_from, &back_to]);
            }
            // Dropped now: whoever waits for the answer hears that it came, or that nothing will.
        });
        let mut buffer = [0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let message = &buffer[..read];
            let due = |cut: &mut Cut| match cut {
                Cut::At(text) => has(message, text),
                _ => has(message, b"COMMIT\0"),
            };
            let cut = self.cut.lock().unwrap().take_if(due);
            if let Some(cut) = cut {
                self.cuts.fetch_add(1, Ordering::SeqCst);
                return self.commit(cut, message, [client, &server], &answers);
            }
            if to.write_all(message).is_err() {
                break;
            }
            if has(message, b"FOR UPDATE")
                && let Some(late) = self.late.lock().unwrap().take()
            {
                let _ = late.send(());
            }
        }
        close([client, &server]);
    }

    fn commit(
        &self,
        cut: Cut,
        message: &[u8],
        [client, mut server]: [&TcpStream; 2],
        answers: &mpsc::Sender<mpsc::Sender<()>>,
    ) {
        let (answered, answer) = mpsc::channel();
        match cut {
            Cut::Before | Cut::At(_) => {}
            Cut::After => {
                answers.send(answered).unwrap();
                server.write_all(message).unwrap();
                let _ = answer.recv();
            }
            Cut::Late => {
                let (asked, waiting) = mpsc::channel();
                *self.late.lock().unwrap() = Some(asked);
                answers.send(answered).unwrap();
                let _ = client.shutdown(Shutdown::Both);
                waiting.recv().unwrap();
                server.write_all(message).unwrap();
                let _ = answer.recv();
            }
            Cut::Then(cut, then) => {
                let half = [client, server];
                match *cut {
                    Cut::After => {
                        answers.send(answered).unwrap();
                        server.write_all(message).unwrap();
                        let _ = answer.recv();
                    }
                    _ => {
                        // The client still waits for an answer.
                        answers.send(answered).unwrap();
                        let _ = server.shutdown(Shutdown::Both);
                    }
                }
                then();
                return close(half);
            }
        }
        close([client, server]);
    }
}

type Query = Measurement<Records<u32>, PureDp, u32>;

/// Counts how often it ran.
fn query(ran: &Arc<AtomicUsize>) -> Query {
    let ran = ran.clone();
    let map = PrivacyMap::per_record(PureDp, "0.01").unwrap();
    Measurement::new("query", Records::<u32>::new(), map, move |data, _| {
        ran.fetch_add(1, Ordering::SeqCst);
        Ok(data.len() as u32)
    })
}

fn session(ledger: &Ledger) -> Result<Session<Records<u32>, Basic<PureDp>>, OpenError> {
    let odometer = Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("all");
    odometer.filter_on(ledger.books(), 1, "1", vec![1, 2, 3])
}

fn assert_left(server: &Server, left: &str) {
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    assert_eq!(ledger.verify().unwrap(), ledger.head());
    let remaining = session(&ledger).unwrap().remaining(1).unwrap();
    assert_eq!(remaining, Some(left.parse().unwrap()));
}

#[test]
fn whatever_is_cut_at_commit_is_charged_once_and_runs_once() {
    let Some(server) = server("cut") else { return };
    let (between, port) = Between::start(server.port);
    let ledger = Ledger::connect(&server.over_tcp(port)).unwrap();
    let (session, ran) = (session(&ledger).unwrap(), Arc::default());
    let points: [&[u8]; 4] = [
        b"BEGIN",
        b"FOR UPDATE",
        b"INSERT INTO",
        b"UPDATE odometry.head",
    ];
    for round in 0..60 {
        match round % 4 {
            0 => between.set(Cut::Before),
            1 => between.set(Cut::After),
            2 => between.set(Cut::Late),
            _ => between.set(Cut::At(points[round / 4 % 4])),
        }
        session.launch(&query(&ran)).unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), round + 1);
    }
    assert_eq!(between.cuts.load(Ordering::SeqCst), 60);
    assert_left(&server, "0.4");
    // All of a group, too.
    for cut in [Cut::Before, Cut::After, Cut::Late] {
        between.set(cut);
        let all: Vec<Query> = (0..10).map(|_| query(&ran)).collect();
        assert!(session.launch_all(&all).iter().all(Result::is_ok));
    }
    assert_left(&server, "0.1");
    assert_eq!(ran.load(Ordering::SeqCst), 90);
}

#[test]
fn a_writer_that_lost_its_turn_is_fenced() {
    let Some(server) = server("fenced") else {
        return;
    };
    let (between, port) = Between::start(server.port);
    let other = Ledger::connect(&server.address("writer")).unwrap();
    let theirs = session(&other).unwrap();
    let (ran, foreign) = (Arc::default(), Arc::default());
    let (mut charged, mut lost) = (0, 0);
    for round in 0..6 {
        let ledger = Ledger::connect(&server.over_tcp(port)).unwrap();
        let mine = session(&ledger).unwrap();
        let (theirs, foreign) = (theirs.clone(), query(&foreign));
        let kind = Box::new(if round % 2 == 0 {
            Cut::Before
        } else {
            Cut::After
        });
        let meanwhile = Box::new(move || {
            theirs.launch(&foreign).unwrap();
        });
        between.set(Cut::Then(kind, meanwhile));
        let launched = mine.launch(&query(&ran));
        if round % 2 == 1 {
            // It is there, and somebody else's is behind it.
            launched.unwrap();
            charged += 1;
            continue;
        }
        // It is not there, and what it was admitted on is old: it was not charged, and did not run.
        let error = launched.unwrap_err();
        assert!(!error.was_charged(), "{error}");
        assert!(
            matches!(&error, LaunchError::Journal(error) if matches!(**error, JournalError::NotWritten { .. }))
        );
        assert!(matches!(
            ledger.refresh(),
            Err(LedgerError::Journal(JournalError::Closed { .. }))
        ));
        lost += 1;
    }
    assert_eq!((charged, lost, ran.load(Ordering::SeqCst)), (3, 3, 3));
    assert_eq!(foreign.load(Ordering::SeqCst), 6);
    assert_left(&server, "0.91");
}

fn next(head: &Receipt) -> Frame {
    let draft = Unchained::new(Kind::Note, &[], b"a record").unwrap();
    ledger::chain::Walk::after(head).seal(draft)
}

#[test]
fn a_turn_that_the_server_has_ended_is_lost_or_taken_again() {
    let Some(server) = server("ended") else {
        return;
    };
    let address = server.address("writer");
    let (one, two) = (
        Postgres::connect(&address).unwrap(),
        Postgres::connect(&address).unwrap(),
    );
    let first = Ledger::connect(&address).unwrap().head();
    let nothing = &mut |_: u64, _: &[u8]| std::ops::ControlFlow::Continue(());
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'";
    // Nobody has written: what it was admitted on is still the newest.
    assert_eq!(one.take_turn(&first, nothing).unwrap(), first);
    server.psql("ledger", end);
    one.append(&[next(&first)]).unwrap();
    let second = next(&first).receipt();
    // Somebody has: it is fenced, for certain.
    one.take_turn(&second, nothing).unwrap();
    server.psql("ledger", end);
    two.take_turn(&second, nothing).unwrap();
    two.append(&[next(&second)]).unwrap();
    let draft = Unchained::new(Kind::Note, &[], b"another record").unwrap();
    let late = ledger::chain::Walk::after(&second).seal(draft);
    assert!(matches!(
        one.append(std::slice::from_ref(&late)),
        Err(StoreError::NotWritten(_))
    ));
    // Without a turn nothing is written at all, and in a turn nothing that does not follow.
    assert!(matches!(
        one.append(std::slice::from_ref(&late)),
        Err(StoreError::NotWritten(_))
    ));
    one.take_turn(&second, nothing).unwrap();
    assert!(matches!(
        one.append(std::slice::from_ref(&late)),
        Err(StoreError::NotWritten(_))
    ));
    assert_eq!(one.last().unwrap().unwrap().0, 2);
}

#[test]
fn what_nobody_can_find_out_is_in_doubt_and_does_not_run() {
    let Some(server) = server("doubt") else {
        return;
    };
    for (cut, there) in [(Cut::Before, false), (Cut::After, true)] {
        let (between, port) = Between::start(server.port);
        let store = Postgres::connect(&server.over_tcp(port)).unwrap();
        let store = store.patient(std::time::Duration::from_millis(200));
        let ledger = Ledger::on(Box::new(store), None).unwrap();
        let (session, ran) = (session(&ledger).unwrap(), Arc::default());
        let gone = between.gone.clone();
        between.set(Cut::Then(
            Box::new(cut),
            Box::new(move || gone.store(true, Ordering::SeqCst)),
        ));
        let error = session.launch(&query(&ran)).unwrap_err();
        assert!(error.is_in_doubt() && error.was_charged(), "{error}");
        assert!(session.launch(&query(&ran)).is_err());
        assert_eq!(ran.load(Ordering::SeqCst), 0);
        // Whoever can reach the server knows.
        assert_left(&server, if there { "0.99" } else { "1" });
    }
}
