//! Snapshots: what was charged to an account, to be written down and taken up again. No state of any mechanism, no data.
//!
//! Restoring an older snapshot is a refund: it is for the operators of a deployment, never for analysts.

use std::{fmt::Debug, sync::Arc};

use measures::{Adaptive, ChildLoss, FilterRule, PrivacyMap, TotalLoss};
use queryable::Root;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    account::bill::{Bill, Quote},
    error::{LaunchError, OpenError},
    measurement::Description,
    odometer::Odometer,
    session::Session,
    space::Space,
};

/// The only version there is.
const VERSION: u32 = 1;

/// What was charged to a session at one distance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot<D, L, T> {
    version: u32,
    /// The rule with its parameters: a snapshot is restored only under the same.
    rule: String,
    /// The metric of the distance.
    metric: String,
    d_in: D,
    /// The budget, if the session was capped at this distance.
    budget: Option<T>,
    /// Whether it was of the halting form.
    halting: bool,
    /// Whether it has refused, and so halted.
    halted: bool,
    charges: Vec<Charge<L>>,
    /// Of everything above, against snapshots that were cut off or damaged. It is no protection against forgery.
    checksum: u32,
}

/// A run of launches of one measurement, and what each was charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge<L> {
    /// What was launched.
    pub description: Description,
    /// The loss of one launch.
    pub loss: L,
    /// How many launches.
    pub count: u64,
}

/// The snapshot of a session.
pub type SnapshotOf<S, R> = Snapshot<<S as Space>::Distance, ChildLoss<R>, TotalLoss<R>>;

impl<D, L, T> Snapshot<D, L, T> {
    /// What was charged, in order.
    pub fn charges(&self) -> &[Charge<L>] {
        &self.charges
    }
}

impl<D: Debug, L: Debug, T: Debug> Snapshot<D, L, T> {
    fn compute_checksum(&self) -> u32 {
        let mut sum = Checksum(0xcbf2_9ce4_8422_2325);
        sum.add(&self.version);
        sum.add(&self.rule);
        sum.add(&self.metric);
        sum.add(&self.d_in);
        sum.add(&self.budget);
        sum.add(&self.halting);
        sum.add(&self.halted);
        self.charges.iter().for_each(|charge| sum.add(charge));
        (sum.0 ^ (sum.0 >> 32)) as u32
    }
}

/// FNV-1a of values in their `Debug` form, which is exact; each is ended by a byte that is in no text.
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, value: &impl Debug) {
        for byte in format!("{value:?}").bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// Why a snapshot cannot be taken up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// It was written by another version.
    #[error("the snapshot has version {found}, not {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// It belongs to another rule or measure.
    #[error("the snapshot was taken under {found}, not under {expected}")]
    Rule {
        /// The rule of the odometer.
        expected: String,
        /// The rule of the snapshot.
        found: String,
    },
    /// Its distances are those of another metric.
    #[error("the snapshot counts in the metric {found}, not in {expected}")]
    Metric {
        /// The metric of the odometer.
        expected: String,
        /// The metric of the snapshot.
        found: String,
    },
    /// It says something that no account can have come to.
    #[error("the snapshot is corrupted: {0}")]
    Corrupted(String),
    /// It was taken of a session without a cap, or not at the distance of its cap.
    #[error("the snapshot is not that of a filter: it has no budget")]
    NotAFilter,
    /// It was taken of a filter, and would lose its budget.
    #[error("the snapshot is that of a filter: restore it as one, or its budget would be lost")]
    IsAFilter,
    /// The session cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The filter cannot be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// Why no snapshot was taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The session is capped at another distance, and the snapshot would lose the cap.
    #[error("the session is capped at distance {at}: take the snapshot there")]
    CappedElsewhere {
        /// The distance of the cap.
        at: String,
    },
    /// There were launches inside partitions: what they cost depends on launches in other parts.
    #[error("a snapshot cannot hold launches inside partitions")]
    InsideParts,
    /// What was charged is not known at this distance.
    #[error(transparent)]
    Loss(#[from] LaunchError),
}

impl<S: Space, R: FilterRule> Session<S, R> {
    /// What has been charged here, at this distance: for a capped session, that of its cap.
    ///
    /// # Errors
    /// [`SnapshotError`]; as [`SnapshotError::Loss`], [`LaunchError::Map`] if a map does not know its loss at this distance.
    pub fn snapshot(&self, d_in: &S::Distance) -> Result<SnapshotOf<S, R>, SnapshotError> {
        self.usable()?;
        if let Some((at, _)) = self.cap()
            && at != d_in
        {
            return Err(SnapshotError::CappedElsewhere { at: at.to_string() });
        }
        let charges = self
            .charges(d_in)?
            .into_iter()
            .map(charge)
            .collect::<Result<Vec<_>, _>>()?;
        let mut snapshot = Snapshot {
            version: VERSION,
            rule: format!("{:?}", self.rule()),
            metric: format!("{:?}", self.space().metric()),
            d_in: d_in.clone(),
            budget: self.cap().map(|(_, budget)| budget.clone()),
            halting: self.is_halting(),
            halted: self.has_halted(),
            charges,
            checksum: 0,
        };
        snapshot.checksum = snapshot.compute_checksum();
        Ok(snapshot)
    }
}

fn charge<L>(
    (description, quote, count): (Arc<Description>, Quote<L>, u64),
) -> Result<Charge<L>, SnapshotError> {
    match quote {
        Quote::Direct(loss) => Ok(Charge {
            description: (*description).clone(),
            loss,
            count,
        }),
        Quote::Part(_) => Err(SnapshotError::InsideParts),
    }
}

impl<S: Space, R: FilterRule> Odometer<S, R> {
    /// Opens the filter of which this is a snapshot, on the same data: it refuses what the original would have refused.
    /// At distances beyond the snapshot's, what was charged before counts as infinite.
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore_filter(
        &self,
        root: &Root,
        data: Arc<S::Data>,
        snapshot: &SnapshotOf<S, R>,
    ) -> Result<Session<S, R>, RestoreError> {
        self.check_snapshot(snapshot)?;
        let budget = snapshot.budget.clone().ok_or(RestoreError::NotAFilter)?;
        let odometer = match snapshot.halting {
            true => self.clone().halting(),
            false => self.clone(),
        };
        let session = odometer
            .filter(snapshot.d_in.clone(), budget)?
            .invoke_in(root, data)?;
        self.recharge(&session, snapshot)?;
        if snapshot.halted {
            session.halt();
        }
        Ok(session)
    }

    fn check_snapshot(&self, snapshot: &SnapshotOf<S, R>) -> Result<(), RestoreError> {
        if snapshot.version != VERSION {
            return Err(RestoreError::Version {
                found: snapshot.version,
            });
        }
        let expected = format!("{:?}", self.rule());
        if snapshot.rule != expected {
            return Err(RestoreError::Rule {
                expected,
                found: snapshot.rule.clone(),
            });
        }
        let expected = format!("{:?}", self.space().metric());
        if snapshot.metric != expected {
            return Err(RestoreError::Metric {
                expected,
                found: snapshot.metric.clone(),
            });
        }
        if snapshot.checksum != snapshot.compute_checksum() {
            return Err(RestoreError::Corrupted("its checksum is wrong".into()));
        }
        Ok(())
    }

    /// Charges everything again. That it does not fit means that no account can have come to this.
    fn recharge(
        &self,
        session: &Session<S, R>,
        snapshot: &SnapshotOf<S, R>,
    ) -> Result<(), RestoreError> {
        let corrupted = |error: LaunchError| RestoreError::Corrupted(error.to_string());
        for Charge {
            description,
            loss,
            count,
        } in &snapshot.charges
        {
            let measure = self.rule().child();
            measures::Measure::check(&measure, loss)
                .map_err(|error| RestoreError::Corrupted(error.to_string()))?;
            let map = PrivacyMap::constant_up_to(measure, snapshot.d_in.clone(), loss.clone());
            session
                .charge_again(&Bill::direct(Arc::new(description.clone()), map), *count)
                .map_err(corrupted)?;
        }
        Ok(())
    }
}

impl<S: Space, R: Adaptive> Odometer<S, R> {
    /// Opens a session with everything charged that this snapshot says. At distances beyond the snapshot's, what was
    /// charged before counts as infinite.
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(
        &self,
        root: &Root,
        data: Arc<S::Data>,
        snapshot: &SnapshotOf<S, R>,
    ) -> Result<Session<S, R>, RestoreError> {
        self.check_snapshot(snapshot)?;
        if snapshot.budget.is_some() || snapshot.halted {
            return Err(RestoreError::IsAFilter);
        }
        let session = self.open_in(root, data)?;
        self.recharge(&session, snapshot)?;
        Ok(session)
    }
}
