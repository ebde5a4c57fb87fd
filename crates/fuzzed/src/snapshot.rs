//! Journals that somebody wrote, and snapshots of them: what is restored is what was replayed, and spends no more.

use exact::Exact;
use measures::adaptive::WhitehouseFilter;
use measures::{
    ApproxDp, Basic, ChildLoss, FilterRule, IntoLoss, PrivacyMap, PureDp, TotalLoss, Zcdp,
};
use odometer::journal::{Books, Event, Memory, Record, Snapshot};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Records, Remaining, Session};

type Data = Records<u8>;
type Opened<R> = Result<Session<Data, R>, OpenError>;

/// The first byte chooses a rule; the rest is JSON, of a list of records or of a snapshot.
pub fn snapshots(input: &[u8]) {
    let Some((&which, json)) = input.split_first() else {
        return;
    };
    if let Ok(snapshot) = serde_json::from_slice::<Snapshot>(json) {
        assert_eq!(
            Memory::restored_by_operator(&snapshot).snapshot(),
            Ok(snapshot)
        );
    }
    let Ok(events) = serde_json::from_slice::<Vec<Event>>(json) else {
        return;
    };
    let records: Vec<Record> = events.into_iter().map(Record::from).collect();
    let journals = || Some((Memory::replaying(&records).ok()?, restored(&records)?));
    let Some(journals) = journals() else {
        return;
    };
    match which {
        b'p' => same(&Basic::new(PureDp), "1", journals),
        b'a' => same(&Basic::new(ApproxDp), "(1, 1e-6)", journals),
        b'z' => same(&Basic::new(Zcdp), "1", journals),
        b'w' => match Exact::ratio(1, 10_000_000).map(WhitehouseFilter::new) {
            Ok(Ok(rule)) => same(&rule, "(1, 1e-6)", journals),
            wrong => panic!("the slack of 1e-7 is refused: {wrong:?}"),
        },
        _ => {}
    }
}

/// The journal of these records, through a snapshot that was text meanwhile.
fn restored(records: &[Record]) -> Option<Memory> {
    let snapshot = Memory::replaying(records).ok()?.snapshot();
    let text = snapshot.as_ref().map(serde_json::to_string);
    let Ok(Ok(text)) = text else {
        panic!("a snapshot cannot be written down: {text:?}");
    };
    match serde_json::from_str::<Snapshot>(&text) {
        Ok(read) => {
            assert_eq!(Ok(&read), snapshot.as_ref());
            Some(Memory::restored_by_operator(&read))
        }
        Err(error) => panic!("a snapshot does not read back: {error}"),
    }
}

/// A filter is opened on both, or on neither, and both say the same; all that remains can be spent, and no more.
fn same<R: FilterRule>(rule: &R, budget: &'static str, (replayed, restored): (Memory, Memory))
where
    &'static str: IntoLoss<TotalLoss<R>>,
{
    let open = |journal| {
        Odometer::new(Data::new(), rule.clone())
            .named("q")
            .filter_on(&Books::new(journal), 1, budget, Vec::new())
    };
    let (one, other): (Opened<R>, Opened<R>) = (open(replayed), open(restored));
    let (one, other) = match (one, other) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(one), Err(other)) => {
            assert_eq!(one, other);
            let text = one.to_string();
            return assert!(!text.contains("panicked"), "{text}");
        }
        (one, other) => panic!("{:?} and {:?}", one.err(), other.err()),
    };
    assert_eq!(one.spent(), other.spent());
    assert_eq!(one.launches(), other.launches());
    let rest = one.remaining(1).map(Remaining::into_loss);
    assert_eq!(rest, other.remaining(1).map(Remaining::into_loss));
    let counted = one.launches().map(|runs| {
        runs.iter()
            .fold(0, |sum: u64, run| sum.saturating_add(run.1))
    });
    for session in [one, other] {
        match &rest {
            Ok(None) => {}
            Ok(Some(rest)) => match session.launch(&costs(rule, rest)) {
                Ok(()) | Err(LaunchError::Halted { .. }) => {}
                Err(error) if counted == Ok(u64::MAX) && !error.was_charged() => {}
                Err(error) => panic!("{rest} remains: {error}"),
            },
            Err(error) => panic!("what remains is not known: {error}"),
        }
    }
}

fn costs<R: FilterRule>(rule: &R, loss: &ChildLoss<R>) -> Measurement<Data, R::Child, ()> {
    let loss = loss.clone();
    let map = PrivacyMap::new(rule.child(), move |_| Ok(loss.clone()));
    Measurement::new("rest", Data::new(), map, |_, _| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise every input would end at the door.
    #[test]
    fn a_seed_is_opened_with_what_it_was_charged() {
        let seed = include_bytes!("../../../fuzz/seeds/snapshots/pure");
        let events: Vec<Event> = serde_json::from_slice(&seed[1..]).unwrap();
        let records: Vec<Record> = events.into_iter().map(Record::from).collect();
        let books = Books::new(restored(&records).unwrap());
        let odometer = Odometer::new(Data::new(), Basic::new(PureDp)).named("q");
        let session = odometer.filter_on(&books, 1, "1", Vec::new()).unwrap();
        assert_eq!(session.spent().unwrap().unwrap().to_string(), "0.3");
    }
}
