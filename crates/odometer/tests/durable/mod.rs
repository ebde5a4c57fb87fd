//! Sessions on a journal: charged and written down before they run, and the same after a restart.

mod broken;
mod destructors;
mod forged;
mod launching;
mod lists;
mod names;
mod put_back;
mod resumed;

use measures::{
    Adaptive, Basic, Epsilon, Interleaving, Name, PrivacyMap, PureDp, Rule, Tallied, Total,
};
use odometer::journal::{Books, JournalError, Memory};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Records, Session};

type Query<A = usize> = Measurement<Records<i64>, PureDp, A>;
type Pure = Session<Records<i64>, Basic<PureDp>>;

fn records() -> Records<i64> {
    Records::new()
}

fn query(epsilon: &str) -> Query {
    let map = PrivacyMap::per_record(PureDp, epsilon).unwrap();
    Measurement::new("query", records(), map, |data, _| Ok(data.len()))
}

fn organisation() -> Odometer<Records<i64>, Basic<PureDp>> {
    Odometer::new(records(), Basic::new(PureDp)).named("all")
}

fn open(journal: &Memory) -> Pure {
    let books = Books::new(journal.clone());
    organisation()
        .filter_on(&books, 1, "1", vec![1, 2, 3])
        .unwrap()
}

/// A new process with what was written down.
fn restarted(journal: &Memory) -> Memory {
    Memory::replaying(&journal.records()).unwrap()
}

fn left(session: &Pure) -> String {
    session
        .remaining(1)
        .unwrap()
        .into_loss()
        .unwrap()
        .to_string()
}

fn journal_error(error: LaunchError) -> JournalError {
    match error {
        LaunchError::Journal(error) => *error,
        other => panic!("{other}"),
    }
}

fn open_error<X>(opened: Result<X, OpenError>) -> JournalError {
    match opened {
        Err(OpenError::Journal(error)) => *error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was opened"),
    }
}

/// A rule of one's own.
#[derive(Clone, Debug)]
struct Mine(Option<&'static str>);

impl Rule for Mine {
    type Child = PureDp;
    type Total = PureDp;
    // As `Basic` in pure privacy, but sequential.
    const INTERLEAVING: Interleaving = Interleaving::Sequential;

    fn child(&self) -> PureDp {
        PureDp
    }

    fn total(&self) -> PureDp {
        PureDp
    }

    fn name(&self) -> Option<Name> {
        self.0.map(Name::new)
    }
}

impl Tallied for Mine {
    type Tally = <Basic<PureDp> as Tallied>::Tally;

    fn start(&self) -> Self::Tally {
        Basic::new(PureDp).start()
    }
}

impl Adaptive for Mine {
    fn loss(&self, tally: &Self::Tally) -> Total<Epsilon> {
        Basic::new(PureDp).loss(tally)
    }
}
