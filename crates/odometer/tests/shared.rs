//! Journals with other writers, in memory: whatever one process launches, another one that is open admits on the grounds of it.

use std::cell::Cell;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

use crate::common::observed::{Event, Observed, Observer};
use measures::{
    Adaptive, Basic, Epsilon, FixedRule, Interleaving, Name, PrivacyMap, PureDp, Rule, RuleError,
    Tallied, Tally, Total,
};
use odometer::journal::{
    Books, Draft, Journal, JournalError, Memory, OpenedPlace, Opening, Past, Place, Record,
    Sitting, Tell,
};
use odometer::{Compositor, LaunchError, Measurement, Odometer, OpenError, Records, Session};

/// What all processes write to, and whose turn it is.
#[derive(Default)]
struct Server {
    records: Mutex<Vec<Record>>,
    taken: Mutex<bool>,
    free: Condvar,
}

/// A process: what it has heard of, and what it has staged.
#[derive(Clone)]
struct Process {
    server: Arc<Server>,
    memory: Memory,
}

impl Process {
    fn on(server: &Arc<Server>) -> Books {
        Books::new(Self {
            server: server.clone(),
            memory: Memory::new(),
        })
    }
}

impl Journal for Process {
    fn has_other_writers(&self) -> bool {
        true
    }

    fn enter(&self, tell: &mut Tell<'_>) -> Result<Option<Box<dyn Sitting>>, JournalError> {
        let mut taken = self.server.taken.lock().unwrap();
        while *taken {
            taken = self.server.free.wait(taken).unwrap();
        }
        *taken = true;
        let news = self.server.records.lock().unwrap()[self.memory.records().len()..].to_vec();
        for record in &news {
            let mut draft = self.memory.draft(record.clone())?;
            draft.stage()?;
            draft.wait()?;
        }
        tell(&news)?;
        Ok(Some(Box::new(self.clone())))
    }

    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        self.memory.open(opening)
    }

    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError> {
        self.memory.find(opening)
    }

    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError> {
        self.memory.draft(record)
    }

    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

impl Sitting for Process {
    fn leave(self: Box<Self>) {
        *self.server.records.lock().unwrap() = self.memory.records();
        *self.server.taken.lock().unwrap() = false;
        self.server.free.notify_all();
    }
}

type Pure = Session<Records<i64>, Basic<PureDp>>;

fn records() -> Records<i64> {
    Records::new()
}

fn query(loss: &str) -> Measurement<Records<i64>, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, loss).unwrap();
    Measurement::new("query", records(), map, |data, _| Ok(data.len()))
}

fn organisation() -> Odometer<Records<i64>, Basic<PureDp>> {
    Odometer::new(records(), Basic::new(PureDp)).named("all")
}

fn open(books: &Books) -> Pure {
    organisation()
        .filter_on(books, 1, "1", vec![1, 2, 3, 4])
        .unwrap()
}

/// Exactly so much is left.
#[track_caller]
fn left(books: &Books, session: &Pure, left: &str) {
    books.sitting(|| ()).unwrap();
    assert_eq!(session.remaining(1).unwrap(), Some(left.parse().unwrap()));
}

#[test]
fn parts_teams_and_filters_of_other_processes_count() {
    let server = Arc::default();
    let (one, two) = (Process::on(&server), Process::on(&server));
    let (mine, theirs) = (open(&one), open(&two));
    // Nested accounts.
    let (red, same) = [&mine, &theirs]
        .map(|session| session.nested("red").capped(1, "0.5").open().unwrap())
        .into();
    red.launch(&query("0.2")).unwrap();
    same.launch(&query("0.2")).unwrap();
    assert!(matches!(
        red.launch(&query("0.2")),
        Err(LaunchError::Refused(_))
    ));
    left(&one, &mine, "0.6");
    left(&two, &same, "0.1");
    // Parts: the same part adds up, and another one is free, whoever launches in it.
    let [my_parts, their_parts] =
        [&mine, &theirs].map(|session| session.link("even").partition(1, |x| x % 2).unwrap());
    let part = |parts: &odometer::Partition<Records<i64>, i64, Basic<PureDp>>, key| {
        parts.part(key).unwrap()
    };
    part(&my_parts, 0).launch(&query("0.1")).unwrap();
    left(&two, &theirs, "0.5");
    part(&their_parts, 1).launch(&query("0.1")).unwrap();
    left(&one, &mine, "0.5");
    part(&their_parts, 0).launch(&query("0.1")).unwrap();
    left(&one, &mine, "0.4");
    // A filter that another process has launched.
    let filter = Odometer::new(records(), Basic::new(PureDp))
        .named("filter")
        .filter(1, "0.3")
        .unwrap();
    let first = mine.launch(&filter).unwrap();
    let resumed = theirs.resume(&filter).unwrap();
    assert!(matches!(
        theirs.launch(&filter),
        Err(LaunchError::Journal(_))
    ));
    first.launch(&query("0.2")).unwrap();
    assert!(resumed.launch(&query("0.2")).is_err());
    resumed.launch(&query("0.1")).unwrap();
    left(&one, &first, "0");
    left(&one, &mine, "0.1");
    // All together, in one sitting.
    let all = vec![query("0.05"), query("0.05"), query("0.05")];
    let answers = theirs.launch_all(&all);
    assert!(answers[0].is_ok() && answers[1].is_ok() && answers[2].is_err());
    left(&one, &mine, "0");
    let again = Books::new(Memory::replaying(&server.records.lock().unwrap()).unwrap());
    left(&again, &open(&again), "0");
}

#[test]
fn a_halt_in_another_process_is_a_halt() {
    let server = Arc::default();
    let (one, two) = (Process::on(&server), Process::on(&server));
    let halting = |books: &Books| {
        organisation()
            .halting()
            .filter_on(books, 1, "1", vec![])
            .unwrap()
    };
    let (mine, theirs) = (halting(&one), halting(&two));
    assert!(matches!(
        mine.launch(&query("2")),
        Err(LaunchError::Refused(_))
    ));
    assert!(matches!(
        theirs.launch(&query("0.1")),
        Err(LaunchError::Halted { .. })
    ));
}

#[test]
fn slots_that_another_process_took_are_gone() {
    let server = Arc::default();
    let (one, two) = (Process::on(&server), Process::on(&server));
    let (mine, theirs) = (open(&one), open(&two));
    let compositor = Compositor::new(records(), Mine::<false>, 1, ["0.1", "0.2"]).named("slots");
    let compositor = compositor.in_any_order().measurement().unwrap();
    let first = mine.launch(&compositor).unwrap();
    let resumed = theirs.resume(&compositor).unwrap();
    first.launch(&query("0.2")).unwrap();
    assert!(matches!(
        resumed.launch(&query("0.2")),
        Err(LaunchError::NoSlot { .. })
    ));
    resumed.launch(&query("0.1")).unwrap();
    assert!(matches!(
        first.launch(&query("0.1")),
        Err(LaunchError::NoSlot { .. })
    ));
    left(&two, &theirs, "0.7");
}

#[test]
fn budgets_that_another_process_changed_close_what_is_open() {
    let server = Arc::default();
    let (one, two) = (Process::on(&server), Process::on(&server));
    let mine = open(&one);
    drop(open(&two));
    let state = {
        let mut state = odometer::journal::State::new();
        for record in server.records.lock().unwrap().iter() {
            state.apply(record).unwrap();
        }
        state
    };
    let new = state.new_budget(Place(0), "2", "more").unwrap();
    two.change_budget(&state.path(Place(0)), new).unwrap();
    let error = mine.launch(&query("0.1")).unwrap_err();
    assert!(
        matches!(&error, LaunchError::Journal(error) if matches!(**error, JournalError::Closed { .. })),
        "{error}"
    );
    assert!(!error.was_charged());
}

/// As `Basic`, in turns or not.
#[derive(Clone, Debug)]
struct Mine<const IN_TURNS: bool>;

impl<const IN_TURNS: bool> Rule for Mine<IN_TURNS> {
    type Child = PureDp;
    type Total = PureDp;
    const INTERLEAVING: Interleaving = if IN_TURNS {
        Interleaving::Sequential
    } else {
        Interleaving::Concurrent
    };

    fn child(&self) -> PureDp {
        PureDp
    }

    fn total(&self) -> PureDp {
        PureDp
    }

    fn name(&self) -> Option<Name> {
        Some(Name::new("mine"))
    }
}

impl<const IN_TURNS: bool> Tallied for Mine<IN_TURNS> {
    type Tally = <Basic<PureDp> as Tallied>::Tally;

    fn start(&self) -> Self::Tally {
        Basic::new(PureDp).start()
    }
}

impl<const IN_TURNS: bool> Adaptive for Mine<IN_TURNS> {
    fn loss(&self, tally: &Self::Tally) -> Total<Epsilon> {
        Basic::new(PureDp).loss(tally)
    }
}

impl<const IN_TURNS: bool> FixedRule for Mine<IN_TURNS> {
    fn compose(&self, losses: &[Epsilon]) -> Result<Epsilon, RuleError> {
        let basic = Basic::new(PureDp);
        let sum = losses
            .iter()
            .fold(basic.start(), |sum, loss| sum.after(loss, 1));
        Ok(basic.loss(&sum).bound().clone())
    }
}

#[test]
fn sequential_accounts_are_refused() {
    let books = Process::on(&Arc::default());
    let error = Odometer::new(records(), Mine::<true>)
        .named("turns")
        .open_on(&books, 1, vec![])
        .err()
        .unwrap();
    assert!(
        matches!(&error, OpenError::Journal(error) if matches!(**error, JournalError::Unsupported(_))),
        "{error}"
    );
    let session = open(&books);
    let compositor = Compositor::new(records(), Mine::<true>, 1, ["0.1"])
        .named("turns")
        .measurement()
        .unwrap();
    let error = session.launch(&compositor).err().unwrap();
    assert!(
        matches!(&error, LaunchError::Journal(error) if matches!(**error, JournalError::Unsupported(_))),
        "{error}"
    );
    left(&books, &session, "1");
}

/// Maps are somebody's code, and may take their time: nobody else has to wait for them. Accounts with caps at several distances, of
/// which a measurement remembers one.
#[test]
fn no_map_is_asked_in_a_sitting() {
    let server = Arc::new(Server::default());
    let books = Process::on(&server);
    let all = organisation().filter_on(&books, 1, "1000", vec![1, 2, 3, 4]);
    let all = all.unwrap();
    let team = all.nested("team").capped(2, "1000").open().unwrap();
    let inner = team.nested("inner").capped(3, "1.5").open().unwrap();
    let asked = Arc::new(Mutex::new((0, 0)));
    let slow = || {
        let (server, asked) = (server.clone(), asked.clone());
        let map = PrivacyMap::new(PureDp, move |d_in: &u32| {
            let mut asked = asked.lock().unwrap();
            asked.0 += 1;
            asked.1 += usize::from(*server.taken.lock().unwrap());
            Ok(["0", "0.1", "0.2", "0.3"][*d_in as usize].parse().unwrap())
        });
        Measurement::new("slow", records(), map, |data, _| Ok(data.len()))
    };
    inner.launch(&slow()).unwrap();
    let answers = inner.launch_all(&[slow(), slow(), slow(), slow(), slow()]);
    let admitted = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(admitted, 4, "{answers:?}");
    assert!(matches!(answers[4], Err(LaunchError::Refused(_))));
    let (asked, inside) = *asked.lock().unwrap();
    assert!(asked >= 18, "{asked}");
    assert_eq!(inside, 0, "of {asked} questions");
    // Every account was charged at its own distance.
    for (session, spent) in [(&all, "0.5"), (&team, "1"), (&inner, "1.5")] {
        assert_eq!(session.spent().unwrap().unwrap().to_string(), spent);
    }
}

thread_local! {
    /// Is the session tried by another thread when a tally is dropped on this one?
    static TRIES: Cell<bool> = const { Cell::new(false) };
}

/// The session that is told of launches elsewhere, and whether others could use it when a tally was dropped.
#[derive(Clone, Debug, Default)]
struct Probe {
    session: Arc<OnceLock<Session<Records<i64>, Observed<Probe>>>>,
    free: Arc<Mutex<Vec<bool>>>,
}

impl Observer for Probe {
    fn told(&self, event: Event) {
        if event != Event::Drop || !TRIES.get() {
            return;
        }
        let (session, (said, heard)) = (self.session.get().cloned(), channel());
        std::thread::spawn(move || {
            let spent = session.map(|session| session.spent().is_ok());
            let _ = said.send(spent == Some(true));
        });
        let free = heard.recv_timeout(Duration::from_secs(20));
        self.free.lock().unwrap().push(free == Ok(true));
    }
}

/// What an account was before it heard of a launch is dropped when the account can be used again.
#[test]
fn nothing_is_locked_when_a_tally_is_dropped_at_news() {
    let server = Arc::default();
    let (one, two) = (Process::on(&server), Process::on(&server));
    let open = |books: &Books, probe: &Probe| {
        let odometer = Odometer::new(records(), Observed(probe.clone())).named("all");
        odometer.filter_on(books, 1, "1", vec![1]).unwrap()
    };
    let (mine, probe) = (open(&one, &Probe::default()), Probe::default());
    let theirs = open(&two, &probe);
    probe.session.set(theirs.clone()).unwrap();
    for epsilon in ["0.1", "0.2"] {
        mine.launch(&query(epsilon)).unwrap();
        TRIES.set(true);
        two.sitting(|| ()).unwrap();
        TRIES.set(false);
    }
    let spent = theirs.spent().unwrap().unwrap();
    assert_eq!(spent.bound(), &"0.3".parse().unwrap());
    let free = probe.free.lock().unwrap();
    assert!(free.len() >= 2 && free.iter().all(|free| *free), "{free:?}");
}
