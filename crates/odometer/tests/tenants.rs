//! The accounts and data sets for which threads count, and when their limits are asked. A thread is held here without being started.

use std::sync::{Mutex, PoisonError};

use measures::{Basic, PrivacyMap, PureDp, times};
use odometer::journal::{Books, Memory};
use odometer::{LaunchError, Measurement, Odometer, Records, Session, Transformation};
use queryable::internal::{HeldThread, hold_thread};
use queryable::{AskError, PostProcessor, Received, Root, Scope, Sent, Side, Tenant, machine};

type Person = (u32, i64);
type People = Records<Person>;
type Holds = Measurement<People, PureDp, HeldThread>;
type On = Session<People, Basic<PureDp>>;

/// The limit of the process is shared by these tests.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn people() -> Odometer<People, Basic<PureDp>> {
    Odometer::new(Records::new(), Basic::new(PureDp)).named("people")
}

fn data() -> Vec<Person> {
    vec![(1, 1), (2, 2)]
}

fn free<A: 'static>(
    function: impl Fn(&mut Scope<'_>) -> Result<A, AskError> + Send + Sync + 'static,
) -> Measurement<People, PureDp, A> {
    let map = PrivacyMap::per_record(PureDp, "0").unwrap();
    Measurement::new("holds a thread", Records::new(), map, move |_, scope| {
        function(scope)
    })
}

/// It has loss 0, and its answer holds a thread.
fn holds() -> Holds {
    free(|scope| hold_thread(&scope.tenant())).ready_when(Tenant::check_thread)
}

/// Everything that can be launched here before a launch is refused, without a charge.
fn all(session: &On, kept: &mut Vec<HeldThread>) -> usize {
    let before = kept.len();
    loop {
        match session.launch(&holds()) {
            Ok(held) => kept.push(held),
            Err(refused) => {
                assert!(matches!(refused, LaunchError::NotReady { .. }), "{refused}");
                return kept.len() - before;
            }
        }
    }
}

/// A post-processor that answers with all threads that it can hold.
struct Taking;

impl PostProcessor for Taking {
    type Query = ();
    type Answer = Vec<HeldThread>;
    type InnerQuery = ();
    type InnerAnswer = ();

    fn step(&mut self, _: Received<Self>, scope: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        let below = scope.root()?;
        let child = machine(|(), scope: &mut Scope<'_>| Ok(scope.tenant()));
        let tenants = [
            scope.tenant(),
            scope.spawn(child)?.ask(())?,
            below.tenant(),
            below.branch_for("another")?.tenant(),
            below.branch_for("another")?.branch_for("red")?.tenant(),
        ];
        let mut held = Vec::new();
        for tenant in tenants {
            while let Ok(more) = hold_thread(&tenant) {
                held.push(more);
            }
        }
        Ok(Side::Left(held))
    }
}

#[test]
fn a_post_processor_holds_no_thread_of_the_data_set() -> Result<(), AskError> {
    let _alone = alone();
    let data_set = Root::from_os()?.branch_for("the data set")?;
    let account = data_set.branch_for("red")?;
    let inner = account.spawn(machine(|(), _| Ok(())))?;
    let taken = account.postprocess(&inner, Taking)?.ask(())?;
    assert_eq!(taken.len(), 512, "half of the limit of the process");
    account.tenant().check_thread()?;
    data_set.tenant().check_thread()?;
    Ok(())
}

#[test]
fn launches_together_charge_nothing_that_finds_no_room() -> Result<(), Box<dyn std::error::Error>> {
    let _alone = alone();
    let session = people().open_on(&Books::new(Memory::new()), 1, data())?;
    let answers = session.launch_all(&vec![holds(); 300]);
    let (held, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    let not_ready = |answer: &Result<_, _>| matches!(answer, Err(LaunchError::NotReady { .. }));
    assert!(refused.iter().all(not_ready));
    assert_eq!((held.len(), refused.len()), (256, 44));
    let launched = session.launches()?.iter().map(|run| run.1).sum::<u64>();
    assert_eq!(launched, 256);

    // Those that need no thread are launched in order, before and after.
    drop(held);
    let plain = || free(|_| Ok(None));
    let one = || holds().postprocess(Some);
    let mixed = session.launch_all(&[plain(), plain(), one(), plain(), one(), one()]);
    let held = mixed
        .into_iter()
        .map(|answer| answer.map(|held| held.is_some()));
    let held: Result<Vec<_>, _> = held.collect();
    assert_eq!(held?, [false, false, true, false, true, true]);
    Ok(())
}

#[test]
fn opening_an_account_again_makes_no_room() -> Result<(), Box<dyn std::error::Error>> {
    let _alone = alone();
    let mut kept = Vec::new();
    let books = Books::new(Memory::new());
    let session = people().open_on(&books, 1, data())?;
    let mut room = |session: &On| all(session, &mut kept);
    let red = session.nested("red").open()?;
    assert_eq!(room(&red), 64);
    assert_eq!(room(&session.nested("red").open()?), 0);
    let filter = people().named("reserved").filter(1, "1")?;
    let reserved = session.launch(&filter)?;
    assert_eq!(room(&reserved), 64);
    assert_eq!(room(&session.resume(&filter)?), 0);
    assert_eq!(room(&session.nested("blue").open()?), 64);
    drop(kept);

    // A part counts for the tenant of the session that is divided.
    let mut kept = Vec::new();
    let session = people().open(data())?;
    let red = session.nested("red").open()?;
    let parts = red.partition(|person: &Person| person.0)?;
    for (part, expected) in [(1, 64), (1, 0), (2, 0)] {
        assert_eq!(all(&parts.part(part)?, &mut kept), expected);
    }
    let parts = session.partition(|person: &Person| person.0)?;
    for expected in [192, 0] {
        assert_eq!(all(&parts.part(1)?, &mut kept), expected);
    }
    Ok(())
}

#[test]
fn teams_below_a_link_of_the_top_session_are_accounts() -> Result<(), Box<dyn std::error::Error>> {
    let _alone = alone();
    let mut kept = Vec::new();
    let same = Transformation::new(
        Records::<Person>::new(),
        Records::<Person>::new(),
        times(1),
        |data: &Vec<Person>| Ok(data.clone()),
    );
    let top = people().open(data())?;
    let after = top.nest_after(&same)?;
    let red = after.nested("red").open()?;
    assert_eq!(all(&red, &mut kept), 64);
    assert_eq!(
        all(&red.nest_after(&same)?.nested("below").open()?, &mut kept),
        0
    );
    assert_eq!(all(&after.nested("blue").open()?, &mut kept), 64);
    assert_eq!(all(&after, &mut kept), 128, "the rest of the data set");
    Ok(())
}

#[test]
fn launches_without_a_session_are_asked_and_leave_room_to_sessions()
-> Result<(), Box<dyn std::error::Error>> {
    let _alone = alone();
    let mut kept = Vec::new();
    let refused = loop {
        match holds().invoke(data()) {
            Ok(held) => kept.push(held),
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, LaunchError::NotReady { .. }), "{refused}");
    assert!(
        refused.to_string().contains("ThreadLimits::process"),
        "{refused}"
    );
    assert_eq!(kept.len(), 512);
    let root = Root::from_os()?;
    assert!(
        hold_thread(&root.tenant()).is_err(),
        "nothing is charged, so the limit is exact"
    );
    assert_eq!(all(&people().open(data())?, &mut kept), 256);
    Ok(())
}
