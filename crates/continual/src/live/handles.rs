//! The two handles of a stream, and what is behind them: the parts that exist, and who has contributed what.

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher, Hash, RandomState},
    sync::Arc,
};

use queryable::{AskError, Fixed, Queryable, Root};
use serde::{Deserialize, Serialize};

use super::{
    ContributionBounds, Live, LiveError, LivePart, Recorded, Replaced,
    table::{Asked, MAX_PARTS, Row, Table},
};
use crate::{
    allowance::Leaks,
    pair::StreamMessage,
    sync::{Apart, Mutex, RwLock, SHARDS, lock, read, write},
};

/// The number of updates that are counted together.
const BATCH: usize = 1024;

/// The two handles of a stream.
pub type Handles<K, X, U, Q, A> = (Writer<K, X, U, Q, A>, Reader<K, X, U, Q, A>);

/// What units have contributed, and the δ of what was created, to be written down.
///
/// Whoever restores an older one, or none, gives back what was spent since: a lost table is a refund. Write it down when
/// the writer has stopped; what is sent while it is taken may be missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contributions<X> {
    bounds: ContributionBounds,
    leaks: Leaks,
    rows: Vec<Row<X>>,
}

impl<X: Hash + Eq + Clone> Contributions<X> {
    pub(super) const fn bounds(&self) -> &ContributionBounds {
        &self.bounds
    }

    /// As if all this had come to pass here.
    pub(super) fn count_in<K, U, Q, A>(&self, writer: &Writer<K, X, U, Q, A>) {
        writer.0.table.restore(&self.rows);
        *lock(&writer.0.leaks) = self.leaks.clone();
    }
}

/// Which mechanism the part with a key has.
pub(super) type Find<K, U, Q, A> = dyn Fn(&K) -> Option<LivePart<U, Q, A>> + Send + Sync;

/// Nothing was created, nobody has contributed.
pub(super) fn open<K, X: Hash + Eq, U, Q, A>(
    root: &Root,
    bounds: &ContributionBounds,
    part: &Arc<Find<K, U, Q, A>>,
) -> Result<Handles<K, X, U, Q, A>, LiveError> {
    let shared = Arc::new(Shared {
        root: root.branch()?,
        part: Arc::clone(part),
        bounds: bounds.clone(),
        table: Table::new(bounds.slots().len(), bounds.updates()),
        parts: Parts::default(),
        leaks: Mutex::new(bounds.leaks()),
    });
    Ok((Writer(Arc::clone(&shared)), Reader(shared)))
}

struct Shared<K, X, U, Q, A> {
    root: Root,
    part: Arc<Find<K, U, Q, A>>,
    bounds: ContributionBounds,
    table: Table<X>,
    parts: Parts<K, U, Q, A>,
    /// Taken before `parts` where both are: creations come one after the other.
    leaks: Mutex<Leaks>,
}

/// Parts are found at every update and hardly ever created, so they are spread over many locks.
struct Parts<K, U, Q, A> {
    by_key: Vec<Apart<ByKey<K, U, Q, A>>>,
    hasher: RandomState,
    /// A part comes here first, and then among those that are found by their keys.
    in_order: RwLock<Vec<Part<U, Q, A>>>,
}

type Part<U, Q, A> = Arc<Running<U, Q, A>>;
type ByKey<K, U, Q, A> = RwLock<HashMap<K, Part<U, Q, A>>>;

impl<K, U, Q, A> Default for Parts<K, U, Q, A> {
    fn default() -> Self {
        let shard = |_| Apart(RwLock::new(HashMap::new()));
        Self {
            by_key: (0..SHARDS).map(shard).collect(),
            hasher: RandomState::new(),
            in_order: RwLock::new(Vec::new()),
        }
    }
}

impl<K: Hash + Eq, U, Q, A> Parts<K, U, Q, A> {
    fn shard(&self, key: &K) -> &ByKey<K, U, Q, A> {
        &self.by_key[self.hasher.hash_one(key) as usize % self.by_key.len()].0
    }

    fn find(&self, key: &K) -> Option<Part<U, Q, A>> {
        read(self.shard(key)).get(key).cloned()
    }

    fn add(&self, key: K, part: &Part<U, Q, A>) {
        write(&self.in_order).push(Arc::clone(part));
        write(self.shard(&key)).insert(key, Arc::clone(part));
    }
}

impl<K, U, Q, A> Parts<K, U, Q, A> {
    fn len(&self) -> usize {
        read(&self.in_order).len()
    }
}

/// A part that exists.
struct Running<U, Q, A> {
    number: u32,
    room: Vec<usize>,
    mechanism: Queryable<Live<U, Q>, A>,
}

impl<U, Q, A> Running<U, Q, A> {
    fn asked_by<'a, X>(&'a self, unit: &'a X) -> Asked<'a, X> {
        Asked {
            unit,
            part: self.number,
            room: &self.room,
        }
    }

    fn step(&self, update: Option<U>) -> Result<(), AskError> {
        self.mechanism.ask(StreamMessage::Update(update)).map(drop)
    }
}

impl<K: Hash + Eq + Clone, X, U: 'static, Q: 'static, A: 'static> Shared<K, X, U, Q, A> {
    fn find(&self, key: &K) -> Option<Arc<Running<U, Q, A>>> {
        self.parts.find(key)
    }

    /// The part with this key, created if need be: charged first.
    fn find_or_create(&self, key: K) -> Result<Arc<Running<U, Q, A>>, LiveError> {
        if let Some(part) = self.find(&key) {
            return Ok(part);
        }
        let LivePart { loss, machine } = (self.part)(&key).ok_or(LiveError::Unknown)?;
        let room = self.bounds.room_for(&loss)?;
        let mut leaks = lock(&self.leaks);
        if let Some(part) = self.find(&key) {
            return Ok(part);
        }
        let number = u32::try_from(self.parts.len()).unwrap_or(MAX_PARTS);
        if number >= MAX_PARTS {
            return Err(LiveError::TooManyParts);
        }
        leaks.add(loss.delta())?;
        let part = Arc::new(Running {
            number,
            room,
            mechanism: self.root.spawn(machine)?,
        });
        self.parts.add(key, &part);
        Ok(part)
    }
}

/// Sends what units contribute. It is told what was replaced, and must not send anything else because of that: a stream
/// that reacts to its own bounds is no neighbour of the stream without the unit.
///
/// A clone is the same writer, and can be used on another thread.
pub struct Writer<K, X, U, Q, A>(Arc<Shared<K, X, U, Q, A>>);

impl<K, X, U, Q, A> Writer<K, X, U, Q, A>
where
    K: Hash + Eq + Clone,
    X: Hash + Eq + Clone,
    U: 'static,
    Q: 'static,
    A: 'static,
{
    /// An update of this unit for this part: one step of the part's mechanism, with the update if the unit may still
    /// contribute, with the empty record if not. What was counted stays counted, also if the mechanism fails.
    ///
    /// # Errors
    /// [`LiveError::Mechanism`] if the part's mechanism does not take it: it has halted, for one.
    pub fn update(&self, unit: &X, part: &K, update: U) -> Result<Recorded, LiveError> {
        let Some(part) = self.0.find(part) else {
            return Ok(Err(Replaced::NoSuchPart));
        };
        let recorded = self.0.table.admit(&part.asked_by(unit));
        part.step(recorded.is_ok().then_some(update))?;
        Ok(recorded)
    }

    /// Sends many updates, each of a unit for a part, as if one by one in this order, but with one lock for those among a
    /// thousand whose units are in one shard of the table.
    ///
    /// Each answer is the one that [`update`](Self::update) would have returned.
    ///
    /// ```
    /// use odometry::continual::live::{ContributionBounds, GroupBy, LivePart, Replaced, latest};
    /// use odometry::measures::Epsilon;
    /// use odometry::queryable::{Root, machine};
    /// let sums = |_: &char| {
    ///     let mut sum = 0;
    ///     let running = machine(move |x: i64, _| { sum += x; Ok(sum) });
    ///     Some(LivePart::new("0.1".parse::<Epsilon>().ok()?, latest(running, |x: Option<i64>| x.unwrap_or(0))))
    /// };
    /// let letters = GroupBy::new(ContributionBounds::equal(1, "0.1".parse()?, 2)?, sums);
    /// let (writer, reader) = letters.open::<u64>(&Root::from_os()?)?;
    /// reader.create(['a', 'b'])?;
    /// let told = writer.update_all([(7, 'a', 3), (7, 'b', 3), (8, 'a', 4), (9, 'c', 1)]);
    /// let told: Vec<_> = told.into_iter().collect::<Result<_, _>>()?;
    /// assert_eq!(told, [Ok(()), Err(Replaced::TooManyParts), Ok(()), Err(Replaced::NoSuchPart)]);
    /// assert_eq!(reader.ask('a', ())?, Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update_all(
        &self,
        updates: impl IntoIterator<Item = (X, K, U)>,
    ) -> Vec<Result<Recorded, LiveError>> {
        let (mut updates, mut told) = (updates.into_iter(), Vec::new());
        loop {
            let batch: Vec<(X, K, U)> = updates.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return told;
            }
            self.send(batch, &mut told);
        }
    }

    fn send(&self, batch: Vec<(X, K, U)>, told: &mut Vec<Result<Recorded, LiveError>>) {
        let parts: Vec<_> = batch.iter().map(|(_, part, _)| self.0.find(part)).collect();
        let known = batch
            .iter()
            .zip(&parts)
            .filter_map(|((unit, ..), part)| Some(part.as_deref()?.asked_by(unit)));
        let mut recorded = self
            .0
            .table
            .admit_all(&known.collect::<Vec<_>>())
            .into_iter();
        for ((_, _, update), part) in batch.into_iter().zip(&parts) {
            let recorded = match part {
                None => Ok(Err(Replaced::NoSuchPart)),
                Some(part) => {
                    let recorded = recorded.next().unwrap_or(Err(Replaced::NoSuchPart));
                    let stepped = part.step(recorded.is_ok().then_some(update));
                    stepped.map(|()| recorded).map_err(LiveError::from)
                }
            };
            told.push(recorded);
        }
    }

    /// The same, without showing for which part: every part steps, all others with the empty record. It takes as long as
    /// there are parts.
    ///
    /// # Errors
    /// As [`update`](Self::update), once all parts have stepped.
    pub fn update_everywhere(&self, unit: &X, part: &K, update: U) -> Result<Recorded, LiveError> {
        // In this order: what is found by its key is among all.
        let target = self.0.find(part);
        let all = read(&self.0.parts.in_order).clone();
        let recorded = match &target {
            None => Err(Replaced::NoSuchPart),
            Some(part) => self.0.table.admit(&part.asked_by(unit)),
        };
        let number = target.filter(|_| recorded.is_ok()).map(|part| part.number);
        let (mut update, mut failed) = (Some(update), None);
        for part in all {
            let mine = number == Some(part.number);
            let update = if mine { update.take() } else { None };
            failed = failed.or(part.step(update).err());
        }
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(recorded),
        }
    }

    /// A step of time without data: the empty record.
    ///
    /// # Errors
    /// [`LiveError::Mechanism`]; [`LiveError::Unknown`] if there is no such part.
    pub fn step(&self, part: &K) -> Result<(), LiveError> {
        Ok(self.0.find(part).ok_or(LiveError::Unknown)?.step(None)?)
    }

    /// What units have contributed so far.
    pub fn contributions(&self) -> Contributions<X> {
        let leaks = lock(&self.0.leaks).clone();
        Contributions {
            bounds: self.0.bounds.clone(),
            leaks,
            rows: self.0.table.rows(),
        }
    }

    /// How many units have sent something.
    pub fn units(&self) -> usize {
        self.0.table.len()
    }
}

/// Asks questions, and creates parts. It is told nothing about updates.
///
/// A clone is the same reader, and can be used on another thread.
pub struct Reader<K, X, U, Q, A>(Arc<Shared<K, X, U, Q, A>>);

impl<K, X, U, Q, A> Reader<K, X, U, Q, A>
where
    K: Hash + Eq + Clone,
    U: 'static,
    Q: Fixed + 'static,
    A: 'static,
{
    /// Creates the parts with these keys, if they are not there yet. The keys come from a list that everybody may know,
    /// not from data.
    ///
    /// # Errors
    /// [`LiveError`] for the first part that could not be created; those before it were.
    pub fn create(&self, keys: impl IntoIterator<Item = K>) -> Result<(), LiveError> {
        let mut keys = keys.into_iter();
        keys.try_for_each(|key| self.0.find_or_create(key).map(drop))
    }

    /// Asks a part, which is created if it is not there yet.
    ///
    /// # Errors
    /// [`LiveError::Refused`] if it may not be created any more; what the mechanism says.
    pub fn ask(&self, part: K, question: Q) -> Result<A, LiveError> {
        let part = self.0.find_or_create(part)?;
        Ok(part.mechanism.ask(StreamMessage::Question(question))?)
    }

    /// How many parts there are. Who creates them knows.
    pub fn parts(&self) -> usize {
        self.0.parts.len()
    }
}

macro_rules! handle {
    ($($name:ident),*) => { $(
        impl<K, X, U, Q, A> Clone for $name<K, X, U, Q, A> {
            fn clone(&self) -> Self {
                Self(Arc::clone(&self.0))
            }
        }

        impl<K, X, U, Q, A> fmt::Debug for $name<K, X, U, Q, A> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )* };
}

handle!(Writer, Reader);
