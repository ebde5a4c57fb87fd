//! Links and partitions with a name: on a ledger, whatever is found again after a restart is found by its name.

use std::panic::Location;

use measures::{Adaptive, Conversion, FilterRule, Tallied};
use queryable::Canonical;

use super::Session;
use crate::{
    collection::Partible,
    error::OpenError,
    journal::DurableKey,
    partition::{Partition, Versioned},
    space::{OfRecords, Space},
    transformation::Transformation,
};

/// A session below another that counts differently, with a name: see [`Session::link`].
#[must_use = "it is opened by one of its methods"]
pub struct NamedLink<'a, S: Space, R: Tallied> {
    session: &'a Session<S, R>,
    name: &'a str,
}

impl<S: Space, R: Tallied> Session<S, R> {
    /// Names a link or a partition below this session. On a ledger every one has a name, by which it is found again.
    ///
    /// ```
    /// # use odometry::measures::{ApproxDp, Basic, PrivacyMap, PureDp, convert::PureToApprox};
    /// # use odometry::odometer::journal::{Books, Memory};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # let people = Records::<(String, u32)>::new();
    /// # let query = Measurement::new("query", people, PrivacyMap::per_record(PureDp, "0.4")?, |_, _| Ok(42));
    /// # let books = Books::new(Memory::new());
    /// let session = Odometer::new(people, Basic::new(ApproxDp)).filter_on(&books, 1, "(1, 1e-6)", vec![])?;
    /// let pure = session.link("in pure privacy").nest_in(Basic::new(PureDp), PureToApprox)?;
    /// let regions = pure.link("regions").partition(1, |person: &(String, u32)| person.0.clone())?;
    /// regions.part("north".into())?.launch(&query)?;
    /// regions.part("south".into())?.launch(&query)?;
    /// assert_eq!(session.spent()?.unwrap().to_string(), "(0.4, 0)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn link<'a>(&'a self, name: &'a str) -> NamedLink<'a, S, R> {
        NamedLink {
            session: self,
            name,
        }
    }
}

impl<S: Space, R: Tallied> NamedLink<'_, S, R> {
    /// As [`Session::nest_in`].
    ///
    /// # Errors
    /// As there, and [`OpenError::Journal`].
    pub fn nest_in<R2, C>(self, rule: R2, conversion: C) -> Result<Session<S, R2>, OpenError>
    where
        R2: Adaptive,
        C: Conversion<From = R2::Child, To = R::Child>,
    {
        self.session.nest_in_as(Some(self.name), rule, conversion)
    }

    /// As [`Session::nest_after`].
    ///
    /// # Errors
    /// As there, and [`OpenError::Journal`].
    pub fn nest_after<T: Space>(
        self,
        transformation: &Transformation<S, T>,
    ) -> Result<Session<T, R>, OpenError> {
        self.session.nest_after_as(Some(self.name), transformation)
    }
}

impl<S: Space, R: FilterRule> NamedLink<'_, S, R> {
    /// As [`Session::partition`]. The version is its author's number for the key function: another function under an old
    /// number would be charged as if a record were in one part of both, which is too little; another number adds up.
    ///
    /// # Errors
    /// As there, and [`OpenError::Journal`].
    #[track_caller]
    pub fn partition<K>(
        self,
        version: u32,
        key: impl Fn(&S::Record) -> K + Send + Sync + 'static,
    ) -> Result<Partition<S, K, R>, OpenError>
    where
        S: OfRecords<Data: Partible>,
        K: Canonical + DurableKey,
    {
        self.partition_sparse(version, 1, move |record| vec![key(record)])
    }

    /// As [`Session::partition_sparse`], with a version as for [`partition`](Self::partition).
    ///
    /// # Errors
    /// As there, and [`OpenError::Journal`].
    #[track_caller]
    pub fn partition_sparse<K>(
        self,
        version: u32,
        most: u32,
        keys: impl Fn(&S::Record) -> Vec<K> + Send + Sync + 'static,
    ) -> Result<Partition<S, K, R>, OpenError>
    where
        S: OfRecords<Data: Partible>,
        K: Canonical + DurableKey,
    {
        let name = Versioned {
            name: self.name.into(),
            version,
            key: K::key,
        };
        let place = Location::caller();
        self.session.partition_as(Some(name), most, keys, place)
    }
}
