//! Links between accounts that count differently: in another measure, at another distance, or in a
//! part of the data.
//!
//! A link passes the cost of the launched measurement itself upwards, translated; never a total.
//! The newest translations are stored, so that a cost that is launched again is translated to the
//! same one. A cost without a symbolic form is a new entry above the link once its translation was
//! forgotten.

use std::{borrow::Cow, collections::HashMap, mem, sync::Arc};

use measures::{MAX_LINKS, Measure, Metric};
use queryable::guarded;

use crate::{
    account::admission::Steps,
    account::cost::{Asked, Cost, PartStep},
    account::entries::Share,
    account::plan::Copies,
    account::{Parent, Payer},
    error::LaunchError,
    remaining::Remaining,
    sync::{Mutex, lock},
};

/// The number of translations that a link stores. After that it starts again.
const MAX_STORED: usize = 4096;

pub(crate) struct Link<MI: Metric, M: Measure, MI2: Metric, M2: Measure> {
    parts: Arc<Parts<MI, M, MI2, M2>>,
    parent: Parent<MI2, M2>,
}

/// What a link and its copies for dry runs share.
struct Parts<MI: Metric, M: Measure, MI2: Metric, M2: Measure> {
    translate: Box<Translate<MI, M, MI2, M2>>,
    remaining: Box<Remains<MI, M, MI2, M2>>,
    /// The costs below and their translations, by the hash of the identity below: of equal costs
    /// the newest is stored.
    stored: Mutex<Stored<MI, M, MI2, M2>>,
}

type Translate<MI, M, MI2, M2> = dyn Fn(&Cost<MI, M>) -> Cost<MI2, M2> + Send + Sync;
type Remains<MI, M, MI2, M2> =
    dyn Fn(&Parent<MI2, M2>, Asked<'_, MI>, Left<M>) -> Result<Left<M>, LaunchError> + Send + Sync;
type Stored<MI, M, MI2, M2> = HashMap<u64, (Cost<MI, M>, Cost<MI2, M2>)>;
type Left<M> = Remaining<<M as Measure>::Loss>;

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Link<MI, M, MI2, M2> {
    /// A link that counts in another measure above. The remaining loss there is not known in the
    /// measure below: only the accounts are named.
    pub(crate) fn new(
        parent: Parent<MI2, M2>,
        translate: impl Fn(&Cost<MI, M>) -> Cost<MI2, M2> + Send + Sync + 'static,
    ) -> Self {
        let remaining = |parent: &Parent<MI2, M2>, _: Asked<'_, MI>, below: Left<M>| {
            let above = parent.remaining(&|_| Some(Vec::new()), Remaining::unlimited())?;
            Ok(above.accounts().iter().fold(below, Remaining::beside))
        };
        Self::with(parent, Box::new(translate), Box::new(remaining))
    }

    fn with(
        parent: Parent<MI2, M2>,
        translate: Box<Translate<MI, M, MI2, M2>>,
        remaining: Box<Remains<MI, M, MI2, M2>>,
    ) -> Self {
        let parts = Parts {
            translate,
            remaining,
            stored: Mutex::new(HashMap::new()),
        };
        Self {
            parts: Arc::new(parts),
            parent,
        }
    }
}

impl<MI: Metric, M: Measure, MI2: Metric> Link<MI, M, MI2, M> {
    /// A link in the same measure: `pull` finds the distance below at which a cap above charges.
    pub(crate) fn pulling<P>(
        parent: Parent<MI2, M>,
        translate: impl Fn(&Cost<MI, M>) -> Cost<MI2, M> + Send + Sync + 'static,
        pull: P,
    ) -> Self
    where
        P: Fn(&MI2::Distance, Asked<'_, MI>) -> Option<Vec<PartStep>> + Send + Sync + 'static,
    {
        let remaining = move |parent: &Parent<MI2, M>, asked: Asked<'_, MI>, below: Left<M>| {
            parent.remaining(&|above| pull(above, asked), below)
        };
        Self::with(parent, Box::new(translate), Box::new(remaining))
    }
}

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Parts<MI, M, MI2, M2> {
    fn translated(&self, cost: &Cost<MI, M>) -> Result<Cost<MI2, M2>, LaunchError> {
        let key = cost.identity().hash();
        if let Some((known, translation)) = lock(&self.stored).get(&key)
            && known.address() == cost.address()
        {
            return Ok(translation.clone());
        }
        // Metrics, measures and conversions are cloned here: user-supplied code, so no lock is held.
        let translation = guarded(|| (self.translate)(cost));
        let translation = translation.map_err(|_| LaunchError::MapPanicked {
            launch: cost.description().to_string(),
        })?;
        if translation.is_too_deep() {
            return Err(LaunchError::TooDeep { limit: MAX_LINKS });
        }
        let mut stored = lock(&self.stored);
        let forgotten = match stored.len() {
            MAX_STORED.. => mem::take(&mut *stored),
            _ => HashMap::new(),
        };
        let replaced = stored.insert(key, (cost.clone(), translation.clone()));
        drop(stored);
        // Maps have user-supplied destructors: they run with nothing locked.
        let _ = guarded(|| drop((forgotten, replaced)));
        Ok(translation)
    }
}

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Payer<MI, M> for Link<MI, M, MI2, M2> {
    fn prepare<'a>(
        &'a self,
        cost: Cow<'a, Cost<MI, M>>,
        share: Option<&'a Share>,
        steps: &mut Steps<'a>,
    ) -> Result<(), LaunchError> {
        let translated = self.parts.translated(&cost)?;
        self.parent.prepare(Cow::Owned(translated), share, steps)
    }

    fn copied(self: Arc<Self>, copies: &Copies) -> Result<Parent<MI, M>, LaunchError> {
        Ok(Arc::new(Self {
            parts: Arc::clone(&self.parts),
            parent: Arc::clone(&self.parent).copied(copies)?,
        }))
    }

    fn remaining(
        &self,
        asked: Asked<'_, MI>,
        below: Remaining<M::Loss>,
    ) -> Result<Remaining<M::Loss>, LaunchError> {
        (self.parts.remaining)(&self.parent, asked, below)
    }

    fn depth(&self) -> u16 {
        self.parent.depth()
    }

    fn quota(&self) -> u32 {
        self.parent.quota()
    }

    fn is_sequential(&self) -> bool {
        self.parent.is_sequential()
    }

    fn path(&self) -> Vec<String> {
        self.parent.path()
    }
}
