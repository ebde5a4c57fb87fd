//! Privacy of persons instead of rows: how many rows of a person count, as a stable transformation.
//!
//! Data are persons, each with a list of rows; their distance is the number of persons who come or go. What is kept of a person
//! depends on that person's rows alone, and not on their order.

use std::collections::BTreeMap;

use measures::times;
use odometer::{Records, Transformation};

use crate::error::BuildError;

/// Persons, each with a list of rows.
pub type Persons<T> = Records<Vec<T>>;

/// Rows by whose they are, persons in their order.
///
/// ```
/// let persons = odometry::mechanisms::persons::by_person([("ann", 3), ("bob", 1), ("ann", 2)]);
/// assert_eq!(persons, [vec![3, 2], vec![1]]);
/// ```
pub fn by_person<U: Ord, T>(rows: impl IntoIterator<Item = (U, T)>) -> Vec<Vec<T>> {
    let mut persons: BTreeMap<U, Vec<T>> = BTreeMap::new();
    for (person, row) in rows {
        persons.entry(person).or_default().push(row);
    }
    persons.into_values().collect()
}

/// Keeps at most so many rows of a person: the first in the order of rows, in whatever order they come.
///
/// *Stability:* a person who comes or goes brings at most so many rows.
///
/// ```
/// use odometry::mechanisms::{additive::count_spending, persons::{by_person, rows_per_person}, spend::epsilon};
/// use odometry::odometer::Records;
/// let visits = by_person([("ann", 9), ("ann", 10), ("ann", 11), ("bob", 10)]);
/// let early = count_spending(Records::<u32>::new(), epsilon("0.5"), |hour| *hour < 11)?;
/// let early = rows_per_person(2)?.measure(&early)?;
/// assert_eq!(early.map().loss(&1)?.to_string(), "1"); // for a person, not for a visit
/// println!("{}", early.invoke(visits)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::NotPositive`] if none are kept.
pub fn rows_per_person<T>(most: u32) -> Result<Transformation<Persons<T>, Records<T>>, BuildError>
where
    T: Ord + Clone + Send + Sync + 'static,
{
    bounded("rows per person", most, move |rows: &[T]| {
        let mut rows = rows.to_vec();
        rows.sort();
        rows.truncate(most as usize);
        rows
    })
}

/// Keeps at most `groups` groups of a person, the first in the order of keys, and at most `rows` rows in each.
///
/// *Stability:* `groups·rows`. The author vouches that `key` looks at nothing but its row and does not panic.
///
/// # Errors
/// [`BuildError::NotPositive`] if none are kept; [`BuildError::OutOfRange`] if there may be 2³² rows of a person or more.
pub fn groups_per_person<T, K: Ord>(
    groups: u32,
    rows: u32,
    key: impl Fn(&T) -> K + Send + Sync + 'static,
) -> Result<Transformation<Persons<T>, Records<T>>, BuildError>
where
    T: Ord + Clone + Send + Sync + 'static,
{
    let what = "the rows of a person";
    let most = groups.checked_mul(rows);
    let most = most.ok_or_else(|| BuildError::out_of_range(what, "fewer than 2^32", "more"))?;
    bounded("groups per person", most, move |of_person: &[T]| {
        let mut all: BTreeMap<K, Vec<T>> = BTreeMap::new();
        for row in of_person {
            all.entry(key(row)).or_default().push(row.clone());
        }
        let kept = all.into_values().take(groups as usize).map(|mut group| {
            group.sort();
            group.truncate(rows as usize);
            group
        });
        kept.flatten().collect()
    })
}

/// At most so many rows of each person, as a function of that person's rows.
fn bounded<T: Send + Sync + 'static>(
    name: &'static str,
    most: u32,
    keep: impl Fn(&[T]) -> Vec<T> + Send + Sync + 'static,
) -> Result<Transformation<Persons<T>, Records<T>>, BuildError> {
    if most == 0 {
        return Err(BuildError::not_positive("the rows of a person", 0));
    }
    let kept = move |persons: &Vec<Vec<T>>| {
        let rows = persons.iter().flat_map(|rows| keep(rows));
        Ok(rows.collect())
    };
    let transformation = Transformation::new(Records::new(), Records::new(), times(most), kept);
    Ok(transformation.named(format!("at most {most} {name}")))
}
