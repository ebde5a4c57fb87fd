//! Launches of sessions on a ledger: each is written down before it runs, and can be asked for by its key.

use std::sync::Arc;

use measures::Tallied;
use queryable::{AskError, Scope};

use super::Session;
use crate::{
    account::Payer as _,
    account::admission::{Admitted, Kind, TurnLocks},
    account::durable::{Charged, Durable, Request, charge_all, not_on_a_ledger},
    error::LaunchError,
    journal::{Books, JournalError, Receipt, Written},
    measurement::{Above, Head, Measurement},
    space::Space,
};

/// An answer, and where its charge is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipted<A> {
    /// What the launch answered.
    pub answer: A,
    /// Its record.
    pub receipt: Receipt,
}

/// A launch with a key: see [`Session::request`].
pub struct KeyedLaunch<'a, S: Space, R: Tallied> {
    session: &'a Session<S, R>,
    key: String,
}

impl<S: Space, R: Tallied> KeyedLaunch<'_, S, R> {
    /// As [`Session::launch`], once for all times.
    ///
    /// # Errors
    /// As there, and [`LaunchError::AlreadyCharged`] if it was launched before.
    pub fn launch<A: 'static>(
        self,
        measurement: &Measurement<S, R::Child, A>,
    ) -> Result<Receipted<A>, LaunchError> {
        self.session.receipted(Some(self.key), measurement)
    }
}

impl<S: Space, R: Tallied> Session<S, R> {
    /// A launch with a key of your choice, for whoever has to try again after a crash or a time-out: the same key is never run
    /// twice, which would be a second sample. Keys belong to the session, and survive restarts. Only on a ledger.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::journal::{Books, Memory};
    /// # use odometry::odometer::{LaunchError, Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.4")?, |_, _| Ok(42));
    /// # let books = Books::new(Memory::new());
    /// let session = Odometer::new(records, Basic::new(PureDp)).filter_on(&books, 1, "1", vec![1, 2, 3])?;
    /// let first = session.request("monday").launch(&query)?;
    /// let again = session.request("monday").launch(&query);
    /// assert!(matches!(again, Err(LaunchError::AlreadyCharged { receipt, .. }) if receipt == first.receipt));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn request(&self, key: impl Into<String>) -> KeyedLaunch<'_, S, R> {
        KeyedLaunch {
            session: self,
            key: key.into(),
        }
    }

    /// As [`launch`](Self::launch), with the record of the charge. Only on a ledger.
    ///
    /// # Errors
    /// As there, and [`LaunchError::Journal`] if the session is on no ledger.
    pub fn launch_receipted<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
    ) -> Result<Receipted<A>, LaunchError> {
        self.receipted(None, measurement)
    }

    /// Launches several measurements in order: on a ledger, all of them are charged before the first is waited for, so that
    /// they are written down together. A measurement that runs only [when it is ready](Measurement::ready_when) is charged alone, and
    /// runs before the next is asked. Not under a sequential account on a ledger, where only the newest would answer.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::journal::{Books, Memory};
    /// # use odometry::odometer::{LaunchError, Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.4")?, |_, _| Ok(42));
    /// # let books = Books::new(Memory::new());
    /// let session = Odometer::new(records, Basic::new(PureDp)).filter_on(&books, 1, "1", vec![1, 2, 3])?;
    /// let answers = session.launch_all(&[query.clone(), query.clone(), query]);
    /// assert!(answers[0].is_ok() && answers[1].is_ok() && answers[2].is_err()); // 1.2 would be too much
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn launch_all<A: 'static>(
        &self,
        measurements: &[Measurement<S, R::Child, A>],
    ) -> Vec<Result<A, LaunchError>> {
        let Some(journaled) = self.account.journaled() else {
            return measurements.iter().map(|each| self.launch(each)).collect();
        };
        let together = |one: &Measurement<_, _, _>, next: &Measurement<_, _, _>| {
            !one.head().needs_room() && !next.head().needs_room()
        };
        let groups = measurements.chunk_by(together);
        groups
            .flat_map(|group| self.launch_together(&journaled.books, group))
            .collect()
    }

    /// Launches measurements that are all charged before the first one runs.
    fn launch_together<A: 'static>(
        &self,
        books: &Books,
        measurements: &[Measurement<S, R::Child, A>],
    ) -> Vec<Result<A, LaunchError>> {
        let prepared = measurements.iter().map(|each| self.prepared(each.head()));
        let charged = charge_all(books, prepared.collect(), Kind::Plain);
        let launched = measurements.iter().zip(charged);
        let run = |(each, charged): (&Measurement<S, R::Child, A>, Result<_, _>)| {
            let run =
                |data: &_, scope: &mut Scope<'_>, above: Above<'_>| each.run_at(data, scope, above);
            let (admitted, _) = charged?;
            let answer = self.run_charged(admitted, TurnLocks::new(), run)?;
            answer.processed().map_err(LaunchError::Failed)
        };
        launched.map(run).collect()
    }

    /// A launch that can be charged together with others.
    fn prepared<'b>(&'b self, head: &'b Head<S, R::Child>) -> Result<Durable<'b>, LaunchError> {
        self.check(head)?;
        if self.account.is_sequential() {
            let why = "launches under a sequential account cannot be charged together: launch them one by one";
            return Err(JournalError::Unsupported(why.into()).into());
        }
        let opens = head.opened_below(self.above())?;
        let request = Request { key: None, opens };
        Durable::prepare(&self.account, head.cost(), Kind::Plain, request)
    }

    fn receipted<A: 'static>(
        &self,
        key: Option<String>,
        measurement: &Measurement<S, R::Child, A>,
    ) -> Result<Receipted<A>, LaunchError> {
        if self.account.journaled().is_none() {
            return Err(not_on_a_ledger());
        }
        let run = |data: &_, scope: &mut Scope<'_>, above: Above<'_>| {
            measurement.run_at(data, scope, above)
        };
        let (answer, written) = self.launch_durably(Kind::Plain, key, measurement.head(), run)?;
        Ok(Receipted {
            answer: answer.processed().map_err(LaunchError::Failed)?,
            receipt: written.receipt,
        })
    }

    /// What a filter or a compositor that was launched here before answered, after a restart: where it was, and charged nothing
    /// again. Not below a sequential account, where its turn has passed. Where an odometer
    /// [answers at most](crate::Odometer::answering_at_most) so many messages, it may answer as many each time it is resumed.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::journal::{Books, Memory};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.4")?, |_, _| Ok(42));
    /// let odometer = Odometer::new(records, Basic::new(PureDp));
    /// let filter = odometer.clone().named("red").filter(1, "0.5")?;
    /// let journal = Memory::new();
    /// let session = odometer.filter_on(&Books::new(journal.clone()), 1, "1", vec![1, 2, 3])?;
    /// session.launch(&filter)?.launch(&query)?;
    ///
    /// let again = Books::new(Memory::replaying(&journal.records())?);
    /// let session = odometer.filter_on(&again, 1, "1", vec![1, 2, 3])?;
    /// assert_eq!(session.resume(&filter)?.remaining(1)?, Some("0.1".parse()?));
    /// assert_eq!(session.remaining(1)?, Some("0.5".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LaunchError::Journal`] if it was never launched here, or with other terms; as [`launch`](Self::launch) before it
    /// charges.
    pub fn resume<A: 'static>(
        &self,
        filter: &Measurement<S, R::Child, A>,
    ) -> Result<A, LaunchError> {
        self.check(filter.head())?;
        let journaled = self.account.journaled().ok_or_else(not_on_a_ledger)?;
        let above = Some((&journaled.books, journaled.place));
        let opening = filter.head().opened_below(above)?;
        let unsupported = |why: &str| JournalError::Unsupported(why.into());
        let opening =
            opening.ok_or_else(|| unsupported("only filters and compositors are resumed"))?;
        let admitted = self.account.resumed(journaled)?;
        // Whether it was launched is asked before anything runs.
        journaled.books.launched(&opening)?;
        let answer = self.run_charged(admitted, TurnLocks::new(), |data, scope, above| {
            filter.run_at(data, scope, above)
        })?;
        answer.processed().map_err(LaunchError::Failed)
    }

    /// Launches what has this head, and writes it down before it runs.
    #[cold]
    #[inline(never)]
    pub(super) fn launch_durably<A, F>(
        &self,
        kind: Kind,
        key: Option<String>,
        head: &Head<S, R::Child>,
        run: F,
    ) -> Result<(A, Written), LaunchError>
    where
        F: FnOnce(&Arc<S::Data>, &mut Scope<'_>, Above<'_>) -> Result<A, AskError>,
    {
        self.check(head)?;
        let opens = head.opened_below(self.above())?;
        let request = Request { key, opens };
        let prepared = Durable::prepare(&self.account, head.cost(), kind, request)?;
        let Charged {
            admitted,
            written,
            turn_locks,
        } = prepared.charge(kind)?;
        Ok((self.run_charged(admitted, turn_locks, run)?, written))
    }

    /// Where launches are written down, if they are.
    fn above(&self) -> Above<'_> {
        let journaled = self.account.journaled()?;
        Some((&journaled.books, journaled.place))
    }

    /// Runs what was charged, unless something has failed meanwhile. The turn locks are released when it has begun.
    fn run_charged<A>(
        &self,
        admitted: Admitted,
        turn_locks: TurnLocks<'_>,
        run: impl FnOnce(&Arc<S::Data>, &mut Scope<'_>, Above<'_>) -> Result<A, AskError>,
    ) -> Result<A, LaunchError> {
        let run = |scope: &mut Scope<'_>| {
            drop(turn_locks);
            run(self.ready_data()?, scope, self.above())
        };
        // Whatever it answers: a function may not have passed the failure on.
        self.first.outcome(admitted.run(&self.root, run))
    }
}
