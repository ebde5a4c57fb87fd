//! Collections of records: what counts and sums go through, and what partitions divide.

use std::sync::Arc;

/// Data that are records, in whatever form they are kept: a list, a table of columns, a map from people to rows.
///
/// The implementer vouches that every record is seen once, each time in the same order, and that what one record
/// looks like depends on no other. The metric of a space decides how far apart two collections are, and counts these
/// records: with one record more or less here, data sets must be at distance 1 there. With the same records in another order they
/// are at distance 0, unless the metric is [ordered](measures::InsertDeleteDistance).
///
/// ```
/// use odometry::mechanisms::{additive::count_spending, spend::epsilon};
/// use odometry::odometer::{Collection, Partible};
/// use odometry::prelude::*;
///
/// /// Two columns of the same length.
/// struct Table { region: Vec<u8>, age: Vec<u32> }
///
/// impl Collection for Table {
///     type Record = (u8, u32);
///     fn each(&self, see: &mut dyn FnMut(&(u8, u32))) {
///         self.region.iter().zip(&self.age).for_each(|(region, age)| see(&(*region, *age)));
///     }
/// }
///
/// impl Partible for Table {
///     fn at(&self, places: &[usize]) -> Self {
///         let (region, age) = places.iter().map(|at| (self.region[*at], self.age[*at])).unzip();
///         Table { region, age }
///     }
/// }
///
/// let tables = Any::<Table, _>::with(SymmetricDistance);
/// let adults = count_spending(tables, epsilon("0.5"), |(_, age)| *age >= 18)?;
/// let people = Table { region: vec![1, 2, 1], age: vec![40, 12, 71] };
/// let session = Odometer::new(tables, Basic::new(PureDp)).filter(1, "0.5")?.invoke(people)?;
/// let regions = session.partition(|(region, _)| *region)?;
/// let table = regions.for_each_part([1, 2, 3], |_, part| part.launch(&adults))?;
/// assert_eq!(table.len(), 3);
/// assert_eq!(session.privacy_loss(1)?.to_string(), "0.5"); // one person is in one region
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Collection: Send + Sync + 'static {
    /// What a record looks like.
    type Record: Send + Sync + 'static;

    /// Shows every record once, always in the same order.
    fn each(&self, see: &mut dyn FnMut(&Self::Record));
}

/// A collection that can be divided: see [`Session::partition`](crate::Session::partition).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be divided into parts",
    note = "a list can if its records are `Clone`; for data of your own implement `Partible`"
)]
pub trait Partible: Collection {
    /// The records at these places, counted from 0 in the order of [`each`](Collection::each), and no others. Places are
    /// in order, and none is there twice.
    ///
    /// Whoever implements it vouches that it does not panic: it is not charged, so that would tell of data for free. (The
    /// first panic stops everything on the data.)
    fn at(&self, places: &[usize]) -> Self;
}

macro_rules! lists {
    ($($list:ty),*) => {$(
        impl<T: Send + Sync + 'static> Collection for $list {
            type Record = T;

            fn each(&self, see: &mut dyn FnMut(&T)) {
                self.iter().for_each(see);
            }
        }

        impl<T: Clone + Send + Sync + 'static> Partible for $list {
            fn at(&self, places: &[usize]) -> Self {
                places.iter().map(|at| self[*at].clone()).collect()
            }
        }
    )*};
}

lists!(Vec<T>, Box<[T]>, Arc<[T]>);
