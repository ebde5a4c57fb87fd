//! What a measurement says about itself before it runs: all that accounts and sessions look at.

use std::sync::Arc;

use measures::{MAX_LINKS, Measure, PrivacyMap};
use queryable::{AskError, Root, Tenant, guarded};

use super::{
    Description,
    facts::Facts,
    reserved::{Above, OpeningBelow},
};
use crate::{
    account::cost::Cost,
    error::{LaunchError, OpenError},
    journal::Opening,
    space::{Space, check_same},
};

type Ready = dyn Fn(&Tenant) -> Result<(), AskError> + Send + Sync;

/// All of a measurement but its function: what decides whether it is launched.
pub struct Head<S: Space, M: Measure> {
    pub(super) space: S,
    pub(super) map: PrivacyMap<S::Metric, M>,
    /// The map and the description, as accounts take them.
    cost: Cost<S::Metric, M>,
    /// How many combinators it is made by.
    pub(super) links: u16,
    /// Whether it can be launched now.
    pub(super) ready: Option<Arc<Ready>>,
    /// What its author says of it beside the map.
    pub(super) known: Facts,
    /// How it is opened on a ledger, if it keeps account itself.
    pub(super) opening: Option<Arc<OpeningBelow>>,
    /// Whether there is post-processing in it, which sees the answer of every run.
    pub(super) is_postprocessed: bool,
}

impl<S: Space, M: Measure> Head<S, M> {
    pub(super) fn new(
        space: S,
        map: PrivacyMap<S::Metric, M>,
        description: Arc<Description>,
        links: u16,
        ready: Option<Arc<Ready>>,
    ) -> Self {
        // Known here once, and not looked up at every launch.
        let links = match map.is_too_deep() {
            true => MAX_LINKS + 1,
            false => links,
        };
        Self {
            space,
            cost: Cost::direct(description, map.clone()),
            map,
            links,
            ready,
            known: Facts::new(),
            opening: None,
            is_postprocessed: false,
        }
    }

    /// The same under another description.
    pub(super) fn described(&self, description: Description) -> Self {
        let (space, map, ready) = (self.space.clone(), self.map.clone(), self.ready.clone());
        let mut head = Self::new(space, map, Arc::new(description), self.links, ready);
        head.known.clone_from(&self.known);
        head.opening.clone_from(&self.opening);
        head.is_postprocessed = self.is_postprocessed;
        head
    }

    pub(crate) fn cost(&self) -> &Cost<S::Metric, M> {
        &self.cost
    }

    pub(crate) fn description(&self) -> &Arc<Description> {
        self.cost.description()
    }

    /// How it is opened where it is launched, on a ledger, if it keeps account itself.
    pub(crate) fn opened_below(&self, above: Above<'_>) -> Result<Option<Opening>, LaunchError> {
        match (&self.opening, above) {
            (Some(opening), Some((books, place))) => match opening(books, place) {
                Err(OpenError::Journal(error)) => Err(LaunchError::Journal(error)),
                opening => Ok(Some(opening?)),
            },
            _ => Ok(None),
        }
    }

    pub(crate) fn measure(&self) -> &M {
        self.map.measure()
    }

    /// What it costs at this distance, as accounts count it.
    pub(crate) fn loss(&self, d_in: &S::Distance) -> Result<M::Loss, LaunchError> {
        let cost = self.cost.at(d_in)?;
        Ok(cost
            .largest()
            .cloned()
            .unwrap_or_else(|| self.measure().infinity()))
    }

    pub(super) fn check_depth(&self) -> Result<(), LaunchError> {
        if self.links > MAX_LINKS {
            return Err(LaunchError::TooDeep { limit: MAX_LINKS });
        }
        Ok(())
    }

    /// May it be launched from this root, on data of this space, under an account in this measure?
    pub(crate) fn check_fits(
        &self,
        root: &Root,
        space: &S,
        measure: &M,
    ) -> Result<(), LaunchError> {
        root.check_runs().map_err(LaunchError::Unusable)?;
        self.check_depth()?;
        check_same(space, &self.space)?;
        if *self.measure() != *measure {
            let (ours, theirs) = (format!("{measure:?}"), format!("{:?}", self.measure()));
            return Err(LaunchError::Measure { ours, theirs });
        }
        self.check_ready(root)
    }

    /// Could what runs before it make it unready?
    pub(crate) fn needs_room(&self) -> bool {
        self.ready.is_some()
    }

    /// Can it run below this root now?
    pub(super) fn check_ready(&self, root: &Root) -> Result<(), LaunchError> {
        match &self.ready {
            None => Ok(()),
            Some(ready) => self.ask_ready(&**ready, &root.tenant()),
        }
    }

    #[cold]
    fn ask_ready(&self, ready: &Ready, tenant: &Tenant) -> Result<(), LaunchError> {
        let asked = guarded(|| ready(tenant)).and_then(|ready| ready);
        asked.map_err(|reason| LaunchError::NotReady {
            launch: self.description().to_string(),
            reason,
        })
    }
}
