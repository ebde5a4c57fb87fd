//! Privacy of persons instead of rows: how many rows of a person count, as a stable transformation.
//!
//! Data are persons, each with a list of rows; their distance is the number of persons who come or go. Only that person's rows
//! decide which of them are kept, and not their order, as long as `Ord` calls only indistinguishable rows equal. The persons may be in
//! any order.

use std::collections::BTreeMap;

use measures::{ChangeOneDistance, CountsRecords};
use odometer::{Any, Records, Transformation};

use crate::error::BuildError;

/// Persons, each with a list of rows.
pub type Persons<T> = Records<Vec<T>>;

/// The same where persons are replaced, and their number is public.
pub type ReplacedPersons<T> = Records<Vec<T>, ChangeOneDistance>;

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
        first_rows(rows, most)
    })
}

/// The same where persons are replaced by others. *Stability:* twice as much, because the rows of one go and those of another come.
///
/// # Errors
/// As [`rows_per_person`]; [`BuildError::OutOfRange`] for 2³¹ rows and more.
pub fn rows_per_replaced_person<T>(
    most: u32,
) -> Result<Transformation<ReplacedPersons<T>, Records<T>>, BuildError>
where
    T: Ord + Clone + Send + Sync + 'static,
{
    bounded("rows per person", most, move |rows: &[T]| {
        first_rows(rows, most)
    })
}

/// The first rows in their own order.
fn first_rows<T: Ord + Clone>(rows: &[T], most: u32) -> Vec<T> {
    let mut rows = rows.to_vec();
    rows.sort();
    rows.truncate(most as usize);
    rows
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
    let most = rows_in_all(groups, rows)?;
    bounded("groups per person", most, move |of_person: &[T]| {
        first_groups(of_person, groups, rows, &key)
    })
}

/// The same where persons are replaced by others. *Stability:* twice as much.
///
/// # Errors
/// As [`groups_per_person`], from 2³¹ rows on.
pub fn groups_per_replaced_person<T, K: Ord>(
    groups: u32,
    rows: u32,
    key: impl Fn(&T) -> K + Send + Sync + 'static,
) -> Result<Transformation<ReplacedPersons<T>, Records<T>>, BuildError>
where
    T: Ord + Clone + Send + Sync + 'static,
{
    let most = rows_in_all(groups, rows)?;
    bounded("groups per person", most, move |of_person: &[T]| {
        first_groups(of_person, groups, rows, &key)
    })
}

fn too_many() -> BuildError {
    BuildError::out_of_range(
        "the rows of a person",
        "fewer than 2^32 come and go",
        "more",
    )
}

fn rows_in_all(groups: u32, rows: u32) -> Result<u32, BuildError> {
    groups.checked_mul(rows).ok_or_else(too_many)
}

/// The first groups in the order of keys, and the first rows of each.
fn first_groups<T: Ord + Clone, K: Ord>(
    of_person: &[T],
    groups: u32,
    rows: u32,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut all: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for row in of_person {
        all.entry(key(row)).or_default().push(row.clone());
    }
    let kept = all.into_values().take(groups as usize);
    kept.flat_map(|group| first_rows(&group, rows)).collect()
}

type ToRows<T, MI> = Transformation<Records<Vec<T>, MI>, Records<T>>;

/// At most so many rows of each person, as a function of that person's rows. One who is replaced takes rows away and brings others.
fn bounded<T: Send + Sync + 'static, MI: CountsRecords + Default>(
    name: &'static str,
    most: u32,
    keep: impl Fn(&[T]) -> Vec<T> + Send + Sync + 'static,
) -> Result<ToRows<T, MI>, BuildError> {
    if most == 0 {
        return Err(BuildError::not_positive("the rows of a person", 0));
    }
    let stability = match MI::REPLACES {
        true => most.checked_mul(2).ok_or_else(too_many)?,
        false => most,
    };
    let kept = move |persons: &Vec<Vec<T>>| {
        let rows = persons.iter().flat_map(|rows| keep(rows));
        Ok(rows.collect())
    };
    let transformation =
        Transformation::multiplying(Any::default(), Records::new(), stability, kept);
    Ok(transformation.named(format!("at most {most} {name}")))
}
