//! Parallel composition: sessions on disjoint parts of the data (\[HST+23\] §5.2).
//!
//! A record's parts are decided by a function that is fixed in advance. Accounts above the parts are charged for the
//! worst way in which the changed records can fall on the parts, not for the sum of all parts.

mod index;
pub(crate) mod parts;
pub(crate) mod split;

use std::{collections::HashMap, fmt, iter, panic::Location, sync::Arc, sync::OnceLock};

use exact::excerpt;
use measures::{CountsRecords, FilterRule, MapError, SymmetricDistance};
use queryable::{AskError, Canonical, guarded};

use self::index::Index;
use crate::{
    account::cost::{Asked, Cost, GroupId, PartCost, PartStep, Units, sizes},
    account::link::Link,
    account::opening::Made,
    collection::Partible,
    error::OpenError,
    failure::FirstFailure,
    journal::{JournalError, Key, Opening, PartitionTerms, Place, Relation, Segment, Terms},
    session::Data,
    session::Session,
    session::below::NamedSpot,
    space::{Any, OfRecords, Space},
    sync::Mutex,
};

/// The space of a part: any data of the same form, at the symmetric distance between multisets, also where the whole is a list at an
/// ordered distance. A part of a `Vec` is a `Vec`: `PartOf<Records<T>>` is `Records<T>`.
pub type PartOf<S> = Any<<S as Space>::Data, SymmetricDistance>;

/// A partition of a session's data: a session for every part.
///
/// At `d_in = 1` (symmetric distance, each record in one part) the cost of a launch inside a part does not depend on the
/// number of parts. Otherwise it grows with the logarithm of the number of parts that were used, and with the number of
/// changed records, up to 64; beyond that, the loss is bounded as if all changes fell on every part.
///
/// The loss is that of the worst way in which the changed records can fall on the parts. Where losses grow at least in
/// proportion to the change (noise, group privacy), that is all of them in one part. Other parts (a filter that was launched
/// in one) are split in all ways if there are at most 2²⁵/n² of them for n changed records (8,192 for 64); beyond that the loss
/// is bounded from above, as if there were any number of parts, each as bad as the worst: exact if they are equal.
///
/// The key function's author vouches that it is a function of the record alone and never panics.
/// Keys from the data are compared with those that an analyst names, and are never shown. Their
/// types are [`Canonical`]: code of the analyst in `Eq` or `Hash` would otherwise run on the data.
/// For another type the caller vouches with [`Attested`](queryable::Attested). The key function
/// sees every record once, when the first launch in any part needs its data; if it panics,
/// everything on the data [stops](crate::LaunchError::Stopped). Timing apart, which parts are asked
/// for, and when, is the analyst's choice.
///
/// The data are static: they are divided once, and a part's mechanisms learn of a change, if at all, from their data. A
/// mechanism that takes *more data in its queries* must not be launched in a part: of two (0, 0.1) mechanisms the account would
/// say (0, 0.1), and an adversary who waits for one of them to fail before it sends the update that differs reaches 0.19
/// (\[HSV25\] Thm 5.2). `continual` has spaces for such mechanisms, which do not fit here, and parts at their right price.
///
/// ```
/// use odometry::measures::{Basic, PrivacyMap, PureDp};
/// use odometry::odometer::{Measurement, Odometer, Records};
/// let people = Records::<(&str, u32)>::new();
/// let map = PrivacyMap::per_record(PureDp, "0.5")?;
/// let query = Measurement::new("query", people, map, |_, _| Ok(42));
///
/// let session = Odometer::new(people, Basic::new(PureDp)).open(vec![("north", 3), ("south", 4)])?;
/// let regions = session.partition(|&(region, _)| region)?;
/// regions.part("north")?.launch(&query)?;
/// regions.part("south")?.launch(&query)?;
/// assert_eq!(session.privacy_loss(&1)?.to_string(), "0.5"); // one person is in one region
/// assert_eq!(session.privacy_loss(&2)?.to_string(), "1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0277
/// use odometry::measures::{Basic, PureDp};
/// use odometry::odometer::{Odometer, Records};
/// use std::path::PathBuf;
/// let files = Odometer::new(Records::<PathBuf>::new(), Basic::new(PureDp)).open(vec![])?;
/// files.partition(|path| path.clone())?; // error: equal values of `PathBuf` may be distinguishable
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Partition<S: OfRecords, K, R: FilterRule> {
    session: Session<S, R>,
    group: GroupId,
    index: Data<Index<K>>,
    /// What to call the key function.
    by: Arc<str>,
    units: Arc<Units<u32>>,
    /// The units are the distance times this.
    factor: Option<u32>,
    /// Do lists of launches say which part it was? On a ledger, and where it might be on one, paths do.
    listed: bool,
    /// Its place on the ledger, if it is on one, and how keys are written there.
    durable: Option<Written<K>>,
    /// Parts by their keys. A part that is asked for again is the same part.
    numbers: Mutex<HashMap<K, u64>>,
}

/// How many records, in how many parts, one unit of distance can add or remove if each record is in one part: a replaced
/// record leaves one part and enters another.
const fn moves<MI: CountsRecords>() -> u32 {
    if MI::REPLACES { 2 } else { 1 }
}

impl<S: Space, R: FilterRule> Session<S, R> {
    /// Divides the data by a key: each record is in exactly one part.
    ///
    /// # Errors
    /// [`OpenError::Unusable`].
    #[track_caller]
    pub fn partition<K>(
        &self,
        key: impl Fn(&S::Record) -> K + Send + Sync + 'static,
    ) -> Result<Partition<S, K, R>, OpenError>
    where
        S: OfRecords<Data: Partible>,
        K: Canonical,
    {
        self.partition_sparse(1, move |record| vec![key(record)])
    }

    /// Divides the data by keys: each record is in the parts of its first `most` different keys.
    ///
    /// # Errors
    /// [`OpenError::Unusable`]; [`OpenError::NoParts`] for `most = 0`.
    #[track_caller]
    pub fn partition_sparse<K>(
        &self,
        most: u32,
        keys: impl Fn(&S::Record) -> Vec<K> + Send + Sync + 'static,
    ) -> Result<Partition<S, K, R>, OpenError>
    where
        S: OfRecords<Data: Partible>,
        K: Canonical,
    {
        self.partition_as(None, most, keys, Location::caller())
    }

    pub(crate) fn partition_as<K, F>(
        &self,
        name: Option<Versioned<K>>,
        most: u32,
        keys: F,
        made_at: &Location<'_>,
    ) -> Result<Partition<S, K, R>, OpenError>
    where
        S: OfRecords<Data: Partible>,
        K: Canonical,
        F: Fn(&S::Record) -> Vec<K> + Send + Sync + 'static,
    {
        self.openable()?;
        if most == 0 {
            return Err(OpenError::NoParts);
        }
        let units = move |d_in: &u32| {
            let units = d_in
                .checked_mul(moves::<S::Metric>())
                .and_then(|units| units.checked_mul(most));
            units.ok_or_else(|| MapError::failed(d_in, "too many changed records"))
        };
        let factor = most.checked_mul(moves::<S::Metric>());
        let listed = name.is_none();
        let durable = self.partition_place(name, most, factor)?;
        let by: Arc<str> = format!("the partition made at {made_at}").into();
        let index = {
            let (all, first, by) = (
                self.data().clone(),
                self.first_failure().clone(),
                Arc::clone(&by),
            );
            Data::derived(move || {
                let all = all.get()?;
                under(&first, &by, || Index::new(&**all, most as usize, &keys))
            })
        };
        Ok(Partition {
            session: self.clone(),
            group: match (self.account().journaled(), durable) {
                (Some(journaled), Some((place, _))) => journaled.books.group(place),
                _ => GroupId::default(),
            },
            index,
            by,
            units: Arc::new(units),
            factor,
            listed,
            durable,
            numbers: Mutex::new(HashMap::new()),
        })
    }

    /// The place of a partition on the ledger, if the session is on one.
    fn partition_place<K>(
        &self,
        name: Option<Versioned<K>>,
        most: u32,
        factor: Option<u32>,
    ) -> Result<Option<Written<K>>, OpenError> {
        let Some(journaled) = self.account().journaled() else {
            return Ok(None);
        };
        let unnamed = || JournalError::Unnamed {
            what: format!("a partition below {}", self.label()),
        };
        let Versioned { name, version, key } = name.ok_or_else(unnamed)?;
        if name.is_empty() {
            return Err(unnamed().into());
        }
        let too_many = || MapError::failed(&most, "too many changed records");
        let factor = factor.ok_or_else(|| JournalError::Unsupported(too_many().to_string()))?;
        let place = journaled.books.place(&Opening {
            parent: Some(journaled.place),
            segment: Segment::Partition { name, version },
            terms: Terms::Partition(PartitionTerms { most, factor }),
        })?;
        Ok(Some((place, key)))
    }
}

/// The place of a partition on a ledger, and how its keys are written there.
type Written<K> = (Place, fn(&K) -> Key);

/// What a partition is called on a ledger, and how its keys are written there.
pub(crate) struct Versioned<K> {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) key: fn(&K) -> Key,
}

/// Runs code that sees data, unless something has failed on them. A panic is recorded as their first failure.
fn under<X>(first: &FirstFailure, by: &str, read: impl FnOnce() -> X) -> Result<X, AskError> {
    first.check()?;
    guarded(read).map_err(|error| {
        first.record(by, &error);
        AskError::Halted
    })
}

impl<S, K, R> Partition<S, K, R>
where
    S: OfRecords<Data: Partible>,
    K: Canonical,
    R: FilterRule,
{
    /// A session on the part with this key, at the symmetric distance, live: cap it with
    /// [`nested`](Session::nested), or launch a filter in it. Parts may be added at any time, whether or not
    /// there are records in them.
    ///
    /// # Errors
    /// [`OpenError::TooDeep`], [`OpenError::Unusable`]; [`OpenError::PartsFull`] for more different keys than the
    /// session's quota.
    pub fn part(&self, key: K) -> Result<Session<PartOf<S>, R>, OpenError> {
        self.session.openable()?;
        // On a ledger, a part's number is its place, which is known before anybody has its account.
        let known = Arc::new(OnceLock::new());
        let number = self.number(&key)?;
        let spot = self.spot(&key)?;
        if spot.is_none() {
            let _ = known.set(number);
        }
        // Keys are shown by foreign code.
        let shown = self
            .listed
            .then(|| guarded(|| excerpt(&format_args!("{key:?}"))));
        let shown = shown.transpose().map_err(OpenError::Unusable)?;
        let (factor, opened) = (self.factor, Arc::clone(&known));
        let part = move || opened.get().copied().unwrap_or(u64::MAX);
        let part_here = part.clone();
        let (group, units) = (self.group.clone(), Arc::clone(&self.units));
        let translate = move |cost: &Cost<SymmetricDistance, R::Child>| {
            let part = PartCost {
                group: group.clone(),
                part: part(),
                units: Arc::clone(&units),
                factor,
                inner: cost.clone(),
            };
            Cost::part(part, shown.as_deref())
        };
        let (group, units) = (self.group.clone(), Arc::clone(&self.units));
        let pull = move |above: &u32, asked: Asked<'_, SymmetricDistance>| {
            let units = units(above).ok().filter(|units| *units == 1)?;
            let step = PartStep {
                group: group.clone(),
                part: part_here(),
                units: vec![units],
            };
            Some(iter::once(step).chain(asked(&units)?).collect())
        };
        let link = Link::pulling(self.session.payer(), translate, pull);
        let (all, index) = (self.session.data().clone(), self.index.clone());
        let (first, by) = (self.session.first_failure().clone(), Arc::clone(&self.by));
        let data = Data::derived(move || {
            let (all, index) = (all.get()?, index.get()?);
            under(&first, &by, || all.at(index.at(&key)))
        });
        let rule = self.session.rule().clone();
        let made = Made {
            placed: Some(known),
            ..self.session.made(None, rule, Arc::new(link))
        };
        self.session.child(PartOf::<S>::default(), data, made, spot)
    }

    /// Where the part with this key is on the ledger. Keys are written by foreign code.
    fn spot(&self, key: &K) -> Result<Option<NamedSpot<u32>>, OpenError> {
        let (Some((place, written)), Some(journaled)) =
            (self.durable, self.session.account().journaled())
        else {
            return Ok(None);
        };
        let key = guarded(|| written(key)).map_err(OpenError::Unusable)?;
        let units = journaled.distances.iter().map(|d_in| (self.units)(d_in));
        let units: Result<Vec<u32>, MapError> = units.collect();
        let units = units.map_err(|error| JournalError::Unsupported(error.to_string()))?;
        Ok(Some(NamedSpot {
            parent: place,
            segment: Segment::Key(key),
            relation: Relation::Part,
            distances: sizes(&units).collect(),
        }))
    }

    /// Does something in every part of a list of keys, in order: a table by region, for one. The list is public: it may not
    /// come from the data, whose keys tell who is in them.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{LaunchError, Measurement, Odometer, Records};
    /// # let people = Records::<(&str, u32)>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.5")?;
    /// # let count = Measurement::new("count", people, map, |data, _| Ok(data.len())); // yours adds noise
    /// let session = Odometer::new(people, Basic::new(PureDp)).filter(1, "1")?.invoke(vec![("north", 3), ("south", 4)])?;
    /// let regions = session.partition(|&(region, _)| region)?;
    /// let table = regions.for_each_part(["north", "east", "south"], |_, part| part.launch(&count))?;
    /// assert_eq!(table, [("north", 1), ("east", 0), ("south", 1)]);
    /// assert_eq!(session.privacy_loss(1)?.to_string(), "0.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`part`](Self::part), and what `ask` says. It stops at the first; what was launched before stays charged.
    pub fn for_each_part<X, E: From<OpenError>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        mut ask: impl FnMut(&K, &Session<PartOf<S>, R>) -> Result<X, E>,
    ) -> Result<Vec<(K, X)>, E> {
        let each = |key: K| {
            let answer = ask(&key, &self.part(key.clone())?)?;
            Ok((key, answer))
        };
        keys.into_iter().map(each).collect()
    }

    /// Keys are hashed and compared by foreign code. If that panics, a key may be lost, and its part would get another
    /// number: from then on the partition gives out no parts.
    fn number(&self, key: &K) -> Result<u64, OpenError> {
        let quota = self.session.quota();
        let number = guarded(|| {
            let mut numbers = self.numbers.lock().map_err(|_| AskError::Panicked)?;
            if let Some(number) = numbers.get(key) {
                return Ok(Some(*number));
            }
            let next = numbers.len() as u64;
            if next >= u64::from(quota) {
                return Ok(None);
            }
            numbers.insert(key.clone(), next);
            Ok(Some(next))
        });
        let number = number.and_then(|number| number);
        let number = number.map_err(OpenError::Unusable)?;
        number.ok_or_else(|| OpenError::PartsFull {
            account: self.session.label().to_string(),
            quota,
        })
    }
}

impl<S: OfRecords, K, R: FilterRule> fmt::Debug for Partition<S, K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partition of {:?}", self.session)
    }
}
