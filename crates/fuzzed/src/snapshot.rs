//! Snapshots, with a checksum that fits whatever they say: what is restored is what was written, and spends no more.

use std::fmt::Debug;
use std::sync::Arc;

use exact::Exact;
use measures::adaptive::WhitehouseFilter;
use measures::{
    Adaptive, ApproxDp, Basic, ChildLoss, FilterRule, Loss as _, PrivacyMap, PureDp,
    SymmetricDistance, TotalLoss, Zcdp,
};
use odometer::{
    Charge, LaunchError, Measurement, Odometer, Records, Remaining, RestoreError, Session,
    SnapshotOf,
};
use queryable::Root;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

type Data = Records<u8>;
type Opened<R> = Session<Data, R>;

/// The first byte chooses a rule; the rest is JSON. Where the rule or the metric is left empty, it is the right one: seeds
/// need not know how they are written.
pub fn snapshots(input: &[u8]) {
    let Some((&which, json)) = input.split_first() else {
        return;
    };
    match which {
        b'p' => adaptive(&Basic::new(PureDp), json),
        b'a' => adaptive(&Basic::new(ApproxDp), json),
        b'z' => adaptive(&Basic::new(Zcdp), json),
        b'w' => match Exact::ratio(1, 10_000_000).map(WhitehouseFilter::new) {
            Ok(Ok(rule)) => filter(&rule, json),
            wrong => panic!("the slack of 1e-7 is refused: {wrong:?}"),
        },
        _ => {}
    }
}

/// A snapshot as it is written, with nothing hidden. That the same bytes are read by both is checked below.
#[derive(Serialize, Deserialize)]
struct Written<L, T> {
    version: u32,
    rule: String,
    metric: String,
    d_in: u32,
    budget: Option<T>,
    halting: bool,
    halted: bool,
    charges: Vec<Charge<L>>,
    checksum: u32,
}

impl<L: Debug, T: Debug> Written<L, T> {
    /// FNV-1a of the `Debug` forms, each ended by a byte that is in no text.
    fn repair(&mut self) {
        let fields: [&dyn Debug; 7] = [
            &self.version,
            &self.rule,
            &self.metric,
            &self.d_in,
            &self.budget,
            &self.halting,
            &self.halted,
        ];
        let charges = self.charges.iter().map(|charge| charge as &dyn Debug);
        let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
        for value in fields.into_iter().chain(charges) {
            for byte in format!("{value:?}").bytes().chain([0xff]) {
                sum = (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        self.checksum = (sum ^ (sum >> 32)) as u32;
    }
}

type WrittenOf<R> = Written<ChildLoss<R>, TotalLoss<R>>;

/// A snapshot whose checksum fits, and what it says.
fn read<R: FilterRule>(rule: &R, json: &[u8]) -> Option<(SnapshotOf<Data, R>, WrittenOf<R>)>
where
    ChildLoss<R>: Serialize + DeserializeOwned,
    TotalLoss<R>: Serialize + DeserializeOwned,
{
    let opaque = serde_json::from_slice::<SnapshotOf<Data, R>>(json);
    let written = serde_json::from_slice::<WrittenOf<R>>(json);
    assert_eq!(
        opaque.is_ok(),
        written.is_ok(),
        "the form of snapshots has changed: so must `Written`"
    );
    let mut written = written.ok()?;
    if written.rule.is_empty() {
        written.rule = format!("{rule:?}");
    }
    if written.metric.is_empty() {
        written.metric = format!("{SymmetricDistance:?}");
    }
    written.repair();
    let repaired = serde_json::to_string(&written).ok()?;
    Some((serde_json::from_str(&repaired).ok()?, written))
}

fn adaptive<R: Adaptive>(rule: &R, json: &[u8])
where
    ChildLoss<R>: Serialize + DeserializeOwned,
    TotalLoss<R>: Serialize + DeserializeOwned,
{
    filter(rule, json);
    let Some((snapshot, written)) = read(rule, json) else {
        return;
    };
    match Odometer::new(space(), rule.clone()).restore(&root(), data(), &snapshot) {
        Ok(session) => {
            assert!(session.cap().is_none());
            says(&session, &written);
        }
        Err(error) => check(&error),
    }
}

fn filter<R: FilterRule>(rule: &R, json: &[u8])
where
    ChildLoss<R>: Serialize + DeserializeOwned,
    TotalLoss<R>: Serialize + DeserializeOwned,
{
    let Some((snapshot, written)) = read(rule, json) else {
        return;
    };
    let odometer = Odometer::new(space(), rule.clone());
    let session = match odometer.restore_filter(&root(), data(), &snapshot) {
        Ok(session) => session,
        Err(error) => return check(&error),
    };
    let again = says(&session, &written);
    match odometer.restore_filter(&root(), data(), &again) {
        Ok(twice) => assert_eq!(twice.snapshot(&written.d_in).as_ref(), Ok(&again)),
        Err(error) => panic!("what was restored cannot be restored again: {error}"),
    }
    let budget = written.budget.as_ref();
    assert_eq!(session.cap(), budget.map(|budget| (&written.d_in, budget)));
    within_its_limit(&session);
    // All that remains can be spent, unless it has halted or counts no further; and then the budget still holds.
    let launches = written.charges.iter().map(|charge| charge.count);
    let counted_out = launches.fold(0, u64::saturating_add) == u64::MAX;
    match session.remaining(&written.d_in).map(Remaining::into_loss) {
        Ok(None) => {}
        Ok(Some(rest)) => match session.launch(&costs(rule, &rest)) {
            Err(LaunchError::Halted { .. }) if written.halted => {}
            Err(error) if counted_out && !error.was_charged() => {}
            launched => assert_eq!(launched, Ok(()), "{rest} remains"),
        },
        Err(error) => panic!("what remains is not known: {error}"),
    }
    within_its_limit(&session);
}

/// A session says what the snapshot said. Extreme losses may be rounded up, and runs of no launches forgotten.
fn says<R: FilterRule>(session: &Opened<R>, written: &WrittenOf<R>) -> SnapshotOf<Data, R> {
    let again = match session.snapshot(&written.d_in) {
        Ok(again) => again,
        Err(error) => panic!("a restored session cannot be written down: {error}"),
    };
    let told = |charge: &&Charge<ChildLoss<R>>| charge.count > 0;
    let now: Vec<_> = again.charges().iter().filter(told).collect();
    let before: Vec<_> = written.charges.iter().filter(told).collect();
    assert_eq!(now.len(), before.len());
    for (now, before) in now.into_iter().zip(before) {
        assert_eq!(
            (&now.description, now.count),
            (&before.description, before.count)
        );
        assert!(
            before.loss.at_most(&now.loss),
            "{} became {}",
            before.loss,
            now.loss
        );
    }
    again
}

fn within_its_limit<R: FilterRule>(session: &Opened<R>) {
    match (session.spent(), session.cap()) {
        (Ok(Some(spent)), Some((_, budget))) => {
            assert!(spent.at_most(budget), "{spent} of {budget}");
        }
        (spent, cap) => panic!("{spent:?} of {cap:?}"),
    }
}

fn costs<R: FilterRule>(rule: &R, loss: &ChildLoss<R>) -> Measurement<Data, R::Child, ()> {
    let loss = loss.clone();
    let map = PrivacyMap::new(rule.child(), move |_| Ok(loss.clone()));
    Measurement::new("rest", space(), map, |_, _| Ok(()))
}

fn space() -> Data {
    Records::new()
}

fn root() -> Root {
    Root::seeded([7; 32])
}

fn data() -> Arc<Vec<u8>> {
    Arc::new(Vec::new())
}

/// A refusal names what is wrong, and no rule has panicked.
fn check(error: &RestoreError) {
    crate::check_error(error);
    let text = error.to_string();
    assert!(!text.contains("panicked"), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is repaired here is what the library computes: otherwise every snapshot would be refused at the door.
    #[test]
    fn a_repaired_snapshot_is_restored() {
        let rule = Basic::new(PureDp);
        let session = Odometer::new(space(), rule).open(Vec::new()).unwrap();
        session
            .launch(&costs(&rule, &"0.1".parse().unwrap()))
            .unwrap();
        let genuine = session.snapshot(&1).unwrap();
        let mut json = serde_json::to_value(&genuine).unwrap();
        json["checksum"] = 0.into();
        json["rule"] = "".into();
        json["metric"] = "".into();
        let (repaired, _) = read(&rule, json.to_string().as_bytes()).unwrap();
        assert_eq!(repaired, genuine);
    }
}
