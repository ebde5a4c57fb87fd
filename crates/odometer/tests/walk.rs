//! `docs/architecture.md` walks a launch through the files that it passes. Backtraces are compared with the walk, taken
//! in user-supplied code: in a map, a rule, a function and a journal.

use std::backtrace::Backtrace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use crate::common::observed::{Event, Observed, Observer};
use crate::common::*;
use measures::{Epsilon, PrivacyMap, PureDp};
use odometer::journal::{
    Books, Draft, Journal, JournalError, Memory, OpenedPlace, Opening, Past, Place, Record, Written,
};
use odometer::{Measurement, Odometer};

/// The backtraces that were taken during a launch.
#[derive(Clone, Debug, Default)]
struct Seen(Arc<Mutex<Option<Vec<String>>>>);

impl Seen {
    /// Takes a backtrace, if a launch is looked at.
    fn here(&self) {
        if let Some(seen) = &mut *self.0.lock().unwrap() {
            seen.push(Backtrace::force_capture().to_string());
        }
    }

    /// The source files of this crate on the backtraces of what runs, below its source folder.
    fn files_of<X>(&self, run: impl FnOnce() -> X) -> (X, BTreeSet<String>) {
        *self.0.lock().unwrap() = Some(Vec::new());
        let answer = run();
        let seen = self.0.lock().unwrap().take().unwrap();
        (answer, seen.iter().flat_map(|trace| files(trace)).collect())
    }
}

impl Observer for Seen {
    fn told(&self, event: Event) {
        // Destructors run when the launch is over.
        if event != Event::Drop {
            self.here();
        }
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of the modules in which the functions of a backtrace are.
fn files(trace: &str) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for (start, _) in trace.match_indices("odometer::") {
        let before = trace[..start].chars().last();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let is_name = |c: char| c.is_lowercase() || c.is_numeric() || c == '_' || c == ':';
        let path = trace[start..].split(|c| !is_name(c)).next().unwrap();
        let modules: Vec<&str> = path
            .split("::")
            .skip(1)
            .filter(|name| !name.is_empty())
            .collect();
        files.extend(
            (1..=modules.len())
                .rev()
                .find_map(|length| file(&modules[..length])),
        );
    }
    files
}

/// The file of a module, if it is one.
fn file(modules: &[&str]) -> Option<String> {
    let path = modules.join("/");
    let names = [format!("{path}.rs"), format!("{path}/mod.rs")];
    names.into_iter().find(|name| source().join(name).is_file())
}

fn walk() -> &'static str {
    static PAGE: OnceLock<String> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        let path = source().join("../../../docs/architecture.md");
        std::fs::read_to_string(path).unwrap()
    });
    let (_, walk) = page
        .split_once("## A launch, from the call to the answer")
        .unwrap();
    walk.split("\n## ").next().unwrap()
}

/// What stands between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The files of this crate that a part of the walk names.
fn named(part: &str) -> BTreeSet<String> {
    quoted(part)
        .filter_map(|quoted| quoted.strip_prefix("odometer/src/"))
        .map(ToString::to_string)
        .collect()
}

#[track_caller]
fn are_named(seen: &BTreeSet<String>, walk: &str, most: usize) {
    // Where the tests stand, and what every launch through a handle of any kind has.
    let named = named(walk);
    let missing: Vec<_> = seen.difference(&named).collect();
    assert!(missing.is_empty(), "the walk does not name {missing:?}");
    assert!(seen.len() >= 7 && seen.len() <= most, "{seen:?}");
}

fn looking(seen: &Seen) -> On<PureDp, ()> {
    let (in_map, in_function) = (seen.clone(), seen.clone());
    let map = PrivacyMap::new(PureDp, move |_: &u32| {
        in_map.here();
        Ok(loss::<Epsilon>("0.1"))
    });
    Measurement::new("looking", records(), map, move |_, _| {
        in_function.here();
        Ok(())
    })
}

#[test]
fn a_launch_in_memory_passes_the_files_of_the_walk() {
    let seen = Seen::default();
    let filter = Odometer::new(records(), Observed(seen.clone())).filter(1, "1");
    let top = filter.unwrap().invoke(vec![1]).unwrap();
    let team = top.nested("team").capped(1, "1").open().unwrap();
    let (launched, files) = seen.files_of(|| team.launch(&looking(&seen)));
    launched.unwrap();
    are_named(&files, walk(), 10);
    // Files without user-supplied code on the way are named, too: at most ten in all before the ledger's.
    let (memory, _) = walk().split_once("A launch on a ledger goes").unwrap();
    let numbered = memory.matches("(10) `").count();
    assert_eq!(numbered, 1, "the tenth file is the last one in memory");
}

/// A journal that takes backtraces.
#[derive(Clone)]
struct Looking(Memory, Seen);

struct LookingDraft(Box<dyn Draft>, Seen);

impl Journal for Looking {
    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        self.0.open(opening)
    }

    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError> {
        self.0.find(opening)
    }

    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError> {
        self.1.here();
        Ok(Box::new(LookingDraft(
            self.0.draft(record)?,
            self.1.clone(),
        )))
    }

    fn flush(&self) -> Result<(), JournalError> {
        self.0.flush()
    }
}

impl Draft for LookingDraft {
    fn stage(&mut self) -> Result<(), JournalError> {
        self.1.here();
        self.0.stage()
    }

    fn wait(self: Box<Self>) -> Result<Written, JournalError> {
        self.1.here();
        self.0.wait()
    }
}

#[test]
fn a_launch_on_a_ledger_passes_the_files_of_the_walk() {
    let seen = Seen::default();
    let books = Books::new(Looking(Memory::new(), seen.clone()));
    let odometer = Odometer::new(records(), Observed(seen.clone())).named("all");
    let top = odometer.filter_on(&books, 1, "1", vec![1]).unwrap();
    let team = top.nested("team").capped(1, "1").open().unwrap();
    let (launched, files) = seen.files_of(|| team.launch(&looking(&seen)));
    launched.unwrap();
    are_named(&files, walk(), 16);
    assert!(files.contains("account/durable.rs") && files.contains("journal/books.rs"));
}

/// Every `Type::function` that the walk names is a function of a source file that is named, too.
#[test]
fn the_walk_names_functions_that_exist() {
    let crates = source().join("../..");
    let files = quoted(walk()).filter(|quoted| quoted.ends_with(".rs"));
    let texts: Vec<String> = files
        .map(|file| std::fs::read_to_string(crates.join(file)).expect(file))
        .collect();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut checked = 0;
    for quoted in quoted(walk()) {
        let Some((of, function)) = quoted.split_once("::") else {
            continue;
        };
        if !of.starts_with(char::is_uppercase) || !function.starts_with(char::is_lowercase) {
            continue;
        }
        checked += 1;
        let exists = |text: &String| {
            let after = |at: usize| text[at..].chars().next();
            let name = format!("fn {function}");
            let declared = text.match_indices(&name);
            let mut ends = declared.map(|(at, found)| at + found.len());
            ends.any(|end| !after(end).is_some_and(is_name))
        };
        assert!(texts.iter().any(exists), "the walk names {quoted}");
    }
    assert!(checked >= 8, "{checked}");
}

/// The checks find what they look for.
#[test]
fn a_file_that_is_missing_is_found() {
    let trace = "4: <odometer::account::step::AccountStep<MI,R> as odometer::account::admission::Step>::check\n\
                 5: odometer::session::Session<S,R>::launch\n6: main::odometer_test::other";
    let found: Vec<_> = files(trace).into_iter().collect();
    assert_eq!(
        found,
        ["account/admission.rs", "account/step.rs", "session/mod.rs"]
    );
    let all: BTreeSet<String> = found.into_iter().collect();
    let named = named("`odometer/src/session/mod.rs`");
    let missing = all.difference(&named).count();
    assert_eq!(missing, 2);
}
