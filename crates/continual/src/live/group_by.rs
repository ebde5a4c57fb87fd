//! Data in parts.

use std::{hash::Hash, sync::Arc};

use queryable::{Canonical, Fixed, Root};

use super::{
    ContributionBounds, LiveError, LivePart,
    handles::{Contributions, Find, Handles, open},
};

/// Data in parts, each with a continual mechanism of its own, and bounds on what one unit contributes.
///
/// The keys of updates are compared with those that readers name, and are never shown. Their type
/// is [`Canonical`], or [`Attested`](queryable::Attested): a reader's code in `Eq` or `Hash` would
/// otherwise run on the data.
///
/// ```
/// use odometry::continual::live::{ContributionBounds, GroupBy, Live, LivePart, Replaced, latest};
/// use odometry::measures::Epsilon;
/// use odometry::queryable::{Root, machine};
///
/// // A part for every city. (The sums are exact: an honest author would add noise, and name its loss.)
/// let sums = |_: &String| {
///     let mut sum = 0;
///     let running = machine(move |x: i64, _| { sum += x; Ok(sum) });
///     Some(LivePart::new("0.1".parse::<Epsilon>().ok()?, latest(running, |x: Option<i64>| x.unwrap_or(0))))
/// };
/// let cities = GroupBy::new(ContributionBounds::equal(1, "0.1".parse()?, 2)?, sums);
/// let (writer, reader) = cities.open::<u64>(&Root::from_os()?)?;
/// reader.create(["Graz".to_owned(), "Linz".to_owned()])?;
///
/// assert_eq!(writer.update(&7, &"Graz".into(), 3)?, Ok(()));
/// assert_eq!(writer.update(&7, &"Linz".into(), 3)?, Err(Replaced::TooManyParts)); // a step without data
/// assert_eq!(writer.update(&8, &"Wels".into(), 3)?, Err(Replaced::NoSuchPart));
/// assert_eq!(reader.ask("Graz".into(), ())?, Some(3));
/// assert_eq!(reader.ask("Linz".into(), ())?, Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GroupBy<K, U, Q, A> {
    bounds: ContributionBounds,
    part: Arc<Find<K, U, Q, A>>,
}

impl<K, U, Q, A> GroupBy<K, U, Q, A> {
    /// With these bounds. `part` says which mechanism the part with this key has; it must not look at data.
    pub fn new(
        bounds: ContributionBounds,
        part: impl Fn(&K) -> Option<LivePart<U, Q, A>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            bounds,
            part: Arc::new(part),
        }
    }

    /// The bounds, and with them the [price](ContributionBounds::price) of everything.
    pub const fn bounds(&self) -> &ContributionBounds {
        &self.bounds
    }
}

impl<K, U, Q, A> GroupBy<K, U, Q, A>
where
    K: Canonical,
    U: 'static,
    Q: Fixed + 'static,
    A: 'static,
{
    /// Begins: nothing was created, nobody has contributed. A unit is whatever is protected as a whole: a person's number.
    ///
    /// # Errors
    /// [`LiveError::Mechanism`] where the root may not be used.
    pub fn open<X>(&self, root: &Root) -> Result<Handles<K, X, U, Q, A>, LiveError>
    where
        X: Hash + Eq + Clone,
    {
        open(root, &self.bounds, &self.part)
    }

    /// Goes on after a restart: what was contributed and created before counts. States of mechanisms are not restored:
    /// parts are created and charged anew, and a unit that touches one of them takes a new slot.
    ///
    /// # Errors
    /// [`LiveError::OtherBounds`]; as [`open`](Self::open).
    pub fn restore<X>(
        &self,
        root: &Root,
        from: &Contributions<X>,
    ) -> Result<Handles<K, X, U, Q, A>, LiveError>
    where
        X: Hash + Eq + Clone,
    {
        if *from.bounds() != self.bounds {
            return Err(LiveError::OtherBounds);
        }
        let handles = self.open(root)?;
        from.count_in(&handles.0);
        Ok(handles)
    }
}
