//! `bench ledger`: what a durable charge costs, against raw appends of as many bytes with `fdatasync`, in one run.

use std::{
    fs::{self, File},
    hint::black_box,
    io::Write as _,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::Instant,
};

use ledger::{
    Each, Embedded, Ledger, LedgerOptions, Log, Store, StoreError,
    chain::Walk,
    frame::{Frame, Kind, Unchained},
};
use measures::{Basic, PureDp};
use odometer::Odometer;

use crate::{
    measure::{Contestant, Effort, compare, print_table},
    ours::{self, PureSession, expect},
    theirs,
};

/// The size of a record.
const BYTES: usize = 216;
/// How many launches `launch_all` charges at once.
const TOGETHER: usize = 100;
const THREADS: usize = 64;

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    let (rounds, records) = match effort {
        Effort::Full => (60, 1_000_000),
        Effort::Quick => (10, 20_000),
    };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench-ledger");
    let _ = fs::remove_dir_all(&directory);
    expect(fs::create_dir_all(&directory));
    let place = Place(directory);
    let unattached = unattached(effort);
    let durable = durable(&place, &place.file("small"), rounds);
    let fan_in = fan_in(&place, rounds);
    let all = launch_all(&place, rounds);
    let equal = replay(&place, "equal", records, |body, _| body.to_vec());
    let different = replay(&place, "different", records, renamed);
    let on_large = self::durable(&place, &place.file("different"), rounds);
    let reopened = from_checkpoint(&place.file("equal"));
    println!();
    for (what, value) in [
        ("a launch on no ledger, of OpenDP's bare invoke", unattached),
        ("a durable launch, in raw syncs", durable),
        ("the same, after all records below", on_large),
        ("64 threads, of the launches/s to a plain file", fan_in),
        ("launch_all of 100, of raw batches of 100", all),
        ("records below", records as f64),
        ("replay of so many equal ones, s", equal),
        ("replay of so many different ones, s", different),
        ("reopening from a checkpoint, ms", reopened * 1e3),
    ] {
        println!("{what:<48}{value:>12.2}");
    }
    let gain = crate::postgres::run(effort);
    let million = 1e6 / records as f64;
    format!(
        "bar: unattached_ratio={unattached:.2} durable_over_raw={durable:.2} durable_on_large={on_large:.2} fan_in={fan_in:.2} \
         launch_all={all:.2} replay_million_s={:.2} replay_different_s={:.2} checkpoint_ms={:.1} \
         postgres_batch_gain={gain:.1}",
        equal * million,
        different * million,
        reopened * 1e3,
    )
}

/// Where files are; they go with it.
struct Place(PathBuf);

impl Place {
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A launch in a session without a ledger, as a part of what a bare invoke of OpenDP's odometer takes in the same run: that one neither
/// has a budget nor can be given a ledger.
fn unattached(effort: Effort) -> f64 {
    const BATCH: usize = 1_000;
    let (session, query) = (ours::filter(), ours::null());
    let timings = compare(
        effort,
        [
            Contestant::new("launch on no ledger", BATCH, || {
                (0..BATCH).for_each(|_| ours::launch(black_box(&session), black_box(&query)));
            }),
            Contestant::new("OpenDP odometer invoke", BATCH, theirs::launches(BATCH)),
        ],
    );
    print_table(&timings);
    timings[0].best / timings[1].best
}

/// A session on a ledger, which is new or where it was.
pub fn session(ledger: &Ledger) -> PureSession {
    let odometer = Odometer::new(ours::space(), Basic::new(PureDp)).named("all");
    expect(odometer.filter_on(ledger.books(), 1, "1000000000", true))
}

/// A plain file to which batches are appended.
struct Plain(Mutex<File>);

impl Plain {
    fn new(path: &Path) -> Self {
        Self(Mutex::new(expect(File::create(path))))
    }

    fn write(&self, bytes: &[u8]) {
        let mut file = expect(self.0.lock());
        expect(file.write_all(bytes));
        expect(file.sync_data());
    }
}

pub fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The median over rounds of the time of `ours` over that of `raw`, which is measured before and after. Rounds in which the
/// disk was busy with others do not count.
fn over(rounds: usize, raw: impl Fn(), ours: impl Fn()) -> f64 {
    let mut ratios = Vec::new();
    for round in 0..20 * rounds {
        let before = seconds(&raw);
        let ours = seconds(&ours);
        let after = seconds(&raw);
        let disturbed = before.max(after) > 1.3 * before.min(after);
        if !disturbed {
            ratios.push(2.0 * ours / (before + after));
        }
        if ratios.len() == rounds || (round > 3 * rounds && ratios.len() > 4) {
            break;
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One launch after the other, in raw syncs.
fn durable(place: &Place, path: &Path, rounds: usize) -> f64 {
    const LAUNCHES: usize = 10;
    let ledger = expect(Ledger::open(path));
    let (session, query) = (session(&ledger), ours::null());
    let plain = Plain::new(&place.file("raw"));
    over(
        rounds,
        || (0..LAUNCHES).for_each(|_| plain.write(&[7; BYTES])),
        || (0..LAUNCHES).for_each(|_| ours::launch(&session, &query)),
    )
}

/// Launches one at a time from many threads, as a part of what the same threads commit to a plain file.
fn fan_in(place: &Place, rounds: usize) -> f64 {
    const EACH: usize = 8;
    let ledger = expect(Ledger::open(place.file("fan-in")));
    let (session, query) = (session(&ledger), ours::null());
    let begin = expect(Unchained::new(Kind::Begin, &[], &[]));
    let head = Walk::from_the_start().seal(begin).receipt();
    let log = Log::after(head, Box::new(Plain::new(&place.file("plain"))));
    let commit = || {
        let draft = expect(Unchained::new(Kind::Note, &[], &[7; BYTES]));
        let ticket = expect(log.stage(draft));
        expect(log.wait(&ticket));
    };
    let by_threads = |work: &(dyn Fn() + Sync)| {
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..EACH).for_each(|_| work()));
            }
        });
    };
    let launch = || ours::launch(&session, &query);
    1.0 / over(rounds, || by_threads(&commit), || by_threads(&launch))
}

/// Launches that are charged together, as a part of raw batches.
fn launch_all(place: &Place, rounds: usize) -> f64 {
    let ledger = expect(Ledger::open(place.file("together")));
    let session = session(&ledger);
    let queries: Vec<_> = (0..TOGETHER).map(|_| ours::null()).collect();
    let plain = Plain::new(&place.file("batches"));
    let batch = vec![7; TOGETHER * BYTES];
    let launch = || session.launch_all(&queries).into_iter().for_each(expect);
    1.0 / over(rounds, || plain.write(&batch), launch)
}

/// Fills a ledger with so many launches, and says how long it takes to open it and the session on it.
fn replay(place: &Place, name: &str, records: usize, body: fn(&[u8], usize) -> Vec<u8>) -> f64 {
    let path = place.file(name);
    let ledger = expect(Ledger::open(&path));
    ours::launch(&session(&ledger), &ours::null());
    drop(ledger);
    let store = expect(Embedded::open(&path));
    let (mut walk, mut last) = (Walk::from_the_start(), Vec::new());
    expect(walk.through(&store, |frame| {
        last = frame.body().to_vec();
        ControlFlow::Continue(())
    }));
    let numbers: Vec<usize> = (1..records).collect();
    for batch in numbers.chunks(20_000) {
        let drafts = batch
            .iter()
            .map(|number| Unchained::new(Kind::Charge, &[], &body(&last, *number)));
        let frames: Vec<Frame> = drafts.map(|draft| walk.seal(expect(draft))).collect();
        expect(store.append(&frames));
    }
    drop(store);
    let (mut opened, mut resumed) = (None, None);
    let taken = seconds(|| {
        let ledger = opened.insert(expect(Ledger::open(&path)));
        resumed = Some(session(ledger));
    });
    let launches = resumed.map(|session| expect(session.launches()));
    let launched: u64 = launches.into_iter().flatten().map(|run| run.1).sum();
    assert_eq!(launched, records as u64, "all are there");
    taken
}

/// The same launch under another name.
fn renamed(body: &[u8], number: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    text.replacen("\"null\"", &format!("\"null {number}\""), 1)
        .into_bytes()
}

fn from_checkpoint(path: &Path) -> f64 {
    let ledger = expect(Ledger::open(path));
    expect(ledger.checkpoint());
    drop(ledger);
    let quickly = LedgerOptions::new().believing_checkpoints();
    seconds(|| drop(session(&expect(quickly.open(path)))))
}

/// As little of a store as a log needs.
impl Store for Plain {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        let bytes: Vec<u8> = batch
            .iter()
            .flat_map(|frame| frame.bytes().iter().copied())
            .collect();
        self.write(&bytes);
        Ok(())
    }

    fn read(&self, _: u64, _: &mut Each<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        Ok(None)
    }

    fn find(&self, _: &[u8]) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        Ok((0, 0))
    }
}
