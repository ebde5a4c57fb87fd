//! Parallel composition: sessions on disjoint parts of the data (seed 000 §5.2).
//!
//! A record's parts are decided by a function that is fixed in advance. Accounts above the parts are charged for the
//! worst way in which the changed records can fall on the parts, not for the sum of all parts.

use std::{collections::HashMap, fmt, hash::Hash, sync::Arc};

use measures::{ChangeOneDistance, FilterRule, MapError, Metric, SymmetricDistance};
use queryable::{AskError, guarded};

use crate::{
    bill::{Bill, GroupId, PartBill, Units},
    data::Data,
    error::LaunchError,
    link::Link,
    session::Session,
    space::{AnyOf, Space},
    sync::Mutex,
};

/// A metric that counts changed records.
pub trait CountsRecords: Metric<Distance = u32> {
    /// How many records, in how many parts, one unit of distance can add or remove if each record is in one part: a
    /// replaced record leaves one part and enters another.
    const MOVES: u32;
}

impl CountsRecords for SymmetricDistance {
    const MOVES: u32 = 1;
}

impl CountsRecords for ChangeOneDistance {
    const MOVES: u32 = 2;
}

type Keys<T, K> = dyn Fn(&T) -> Vec<K> + Send + Sync;

/// A partition of a session's data: a session for every part.
///
/// At `d_in = 1` (symmetric distance, each record in one part) the cost of a launch inside a part does not depend on the
/// number of parts. Otherwise it grows with the logarithm of the number of parts that were used, and with the square of
/// the number of changed records, up to 64; beyond that, the loss is bounded as if all changes fell on every part.
///
/// The key function's author vouches that it is a function of the record alone and never panics (it sees every record
/// when the first launch in any part needs its data), and `K`'s that equality is one. Timing
/// apart, which parts are asked for, and when, is the analyst's choice.
///
/// ```
/// use measures::{Basic, PrivacyMap, PureDp, SymmetricDistance};
/// use odometer::{Measurement, Odometer, Space};
/// let people = Space::any::<Vec<(&str, u32)>>(SymmetricDistance);
/// let map = PrivacyMap::linear(SymmetricDistance, PureDp, "0.5".parse()?);
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
pub struct Partition<T, K, MI: Metric, R: FilterRule>
where
    T: Send + Sync + 'static,
{
    session: Session<AnyOf<Vec<T>>, MI, R>,
    group: GroupId,
    keys: Arc<Keys<T, K>>,
    units: Arc<Units<u32>>,
    /// Parts by their keys. A part that is asked for again is the same part.
    numbers: Mutex<HashMap<K, u64>>,
}

impl<T, MI, R> Session<AnyOf<Vec<T>>, MI, R>
where
    T: Clone + Send + Sync + 'static,
    MI: CountsRecords,
    R: FilterRule,
{
    /// Divides the data by a key: each record is in exactly one part.
    ///
    /// # Errors
    /// [`LaunchError::Unusable`].
    pub fn partition<K>(
        &self,
        key: impl Fn(&T) -> K + Send + Sync + 'static,
    ) -> Result<Partition<T, K, MI, R>, LaunchError>
    where
        K: Clone + Eq + Hash + Send + Sync + 'static,
    {
        self.partition_sparse(1, move |record| vec![key(record)])
    }

    /// Divides the data by keys: each record is in the parts of its first `most` different keys.
    ///
    /// # Errors
    /// [`LaunchError::Unusable`]; [`LaunchError::Unsupported`] for `most = 0`.
    pub fn partition_sparse<K>(
        &self,
        most: u32,
        keys: impl Fn(&T) -> Vec<K> + Send + Sync + 'static,
    ) -> Result<Partition<T, K, MI, R>, LaunchError>
    where
        K: Clone + Eq + Hash + Send + Sync + 'static,
    {
        self.usable()?;
        if most == 0 {
            return Err(LaunchError::Unsupported(
                "each record must be in at least one part".into(),
            ));
        }
        let units = move |d_in: &u32| {
            let units = d_in
                .checked_mul(MI::MOVES)
                .and_then(|units| units.checked_mul(most));
            units.ok_or_else(|| MapError::failed(d_in, "too many changed records"))
        };
        Ok(Partition {
            session: self.clone(),
            group: GroupId::default(),
            keys: Arc::new(move |record| first_different(keys(record), most as usize)),
            units: Arc::new(units),
            numbers: Mutex::new(HashMap::new()),
        })
    }
}

fn first_different<K: Eq>(keys: Vec<K>, most: usize) -> Vec<K> {
    let mut kept: Vec<K> = Vec::new();
    for key in keys {
        if kept.len() < most && !kept.contains(&key) {
            kept.push(key);
        }
    }
    kept
}

impl<T, K, MI, R> Partition<T, K, MI, R>
where
    T: Clone + Send + Sync + 'static,
    K: Clone + Eq + Hash + Send + Sync + 'static,
    MI: CountsRecords,
    R: FilterRule,
{
    /// A session on the part with this key, at the symmetric distance, live: cap it with
    /// [`nest_capped`](Session::nest_capped), or launch a filter in it. Parts may be added at any time, whether or not
    /// there are records in them.
    ///
    /// # Errors
    /// [`LaunchError::TooDeep`], [`LaunchError::Unusable`].
    pub fn part(
        &self,
        key: K,
    ) -> Result<Session<AnyOf<Vec<T>>, SymmetricDistance, R>, LaunchError> {
        self.session.usable()?;
        let part = self.number(&key).map_err(LaunchError::Unusable)?;
        let (group, units) = (self.group.clone(), Arc::clone(&self.units));
        let link = Link::new(
            self.session.payer(),
            move |bill: &Bill<SymmetricDistance, R::Child>| {
                let (group, units) = (group.clone(), Arc::clone(&units));
                Bill::part(PartBill {
                    group,
                    part,
                    units,
                    inner: bill.clone(),
                })
            },
        );
        let (all, keys) = (self.session.data().clone(), Arc::clone(&self.keys));
        let data = Data::derived(move || {
            let all = all.get()?;
            Ok(all
                .iter()
                .filter(|record| keys(record).contains(&key))
                .cloned()
                .collect())
        });
        let space = Space::new(AnyOf::new(), SymmetricDistance);
        let (label, rule) = (self.session.label(), self.session.rule().clone());
        self.session
            .child(space, data, label, rule, None, Arc::new(link))
    }

    /// Keys are hashed and compared by foreign code. If that panics, a key may be lost, and its part would get another
    /// number: from then on the partition gives out no parts.
    fn number(&self, key: &K) -> Result<u64, AskError> {
        guarded(|| {
            let mut numbers = self.numbers.lock().map_err(|_| AskError::Panicked)?;
            if let Some(number) = numbers.get(key) {
                return Ok(*number);
            }
            let next = numbers.len() as u64;
            numbers.insert(key.clone(), next);
            Ok(next)
        })?
    }
}

impl<T: Send + Sync + 'static, K, MI: Metric, R: FilterRule> fmt::Debug for Partition<T, K, MI, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partition of {:?}", self.session)
    }
}
