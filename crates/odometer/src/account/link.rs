//! Links between accounts that count differently: in another measure, at another distance, or in a part of the data.
//!
//! What goes up is always the leaf's own bill, translated; never a total. A translated bill is kept, so that repeated
//! launches of one measurement stay one run above the link, too.

use std::{mem, sync::Arc};

use measures::{MAX_LINKS, Measure, Metric};
use queryable::guarded;

use crate::{
    account::addresses::AddressMap,
    account::ascent::{Below, Launch, Locked, Settled},
    account::bill::{Asked, Bill, Step},
    account::contained::Contained,
    account::planning::{Copies, Planned, PlannedParent},
    account::settling::{Parent, Payer},
    error::LaunchError,
    remaining::Remaining,
    sync::{Mutex, MutexGuard, lock},
};

/// How many translated bills a link keeps. Beyond that it starts anew: runs get shorter, nothing else changes.
const KEPT: usize = 4096;

pub(crate) struct Link<MI: Metric, M: Measure, MI2: Metric, M2: Measure> {
    translate: Box<Translate<MI, M, MI2, M2>>,
    remaining: Box<Remains<MI, M, MI2, M2>>,
    parent: Parent<MI2, M2>,
    /// The bill beside its translation, so that it lives and its id stays its own.
    kept: Mutex<Kept<MI, M, MI2, M2>>,
}

type Translate<MI, M, MI2, M2> = dyn Fn(&Bill<MI, M>) -> Bill<MI2, M2> + Send + Sync;
type Remains<MI, M, MI2, M2> =
    dyn Fn(&Parent<MI2, M2>, Asked<'_, MI>, Left<M>) -> Result<Left<M>, LaunchError> + Send + Sync;
type Left<M> = Remaining<<M as Measure>::Loss>;
type Kept<MI, M, MI2, M2> = AddressMap<usize, (Bill<MI, M>, Bill<MI2, M2>)>;

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Link<MI, M, MI2, M2> {
    pub(crate) fn new(
        parent: Parent<MI2, M2>,
        translate: impl Fn(&Bill<MI, M>) -> Bill<MI2, M2> + Send + Sync + 'static,
    ) -> Self {
        // What is left above is counted differently, and cannot be told in our measure: only by whom.
        let remaining = |parent: &Parent<MI2, M2>, _: Asked<'_, MI>, below: Left<M>| {
            let above = parent.remaining(&|_| Some(Vec::new()), Remaining::unlimited())?;
            Ok(above.accounts().iter().fold(below, Remaining::beside))
        };
        Self {
            translate: Box::new(translate),
            remaining: Box::new(remaining),
            parent,
            kept: Mutex::new(Kept::default()),
        }
    }

    /// The translation, if it was kept.
    fn known(&self, bill: &Bill<MI, M>) -> Option<Bill<MI2, M2>> {
        let kept = lock(&self.kept);
        let known = kept.get(&bill.address());
        known.map(|(_, translation)| translation.clone())
    }

    fn translated(&self, bill: &Bill<MI, M>) -> Result<Bill<MI2, M2>, LaunchError> {
        if let Some(known) = self.known(bill) {
            return Ok(known);
        }
        // Metrics, measures and conversions are cloned here: foreign code, so no lock is held.
        let translation =
            guarded(|| (self.translate)(bill)).map_err(|_| LaunchError::MapPanicked {
                launch: bill.description().to_string(),
            })?;
        if translation.is_too_deep() {
            return Err(LaunchError::TooDeep { limit: MAX_LINKS });
        }
        Ok(self.keep(bill, translation))
    }

    /// Keeps a translation, unless another thread was faster: then that one.
    fn keep(&self, bill: &Bill<MI, M>, translation: Bill<MI2, M2>) -> Bill<MI2, M2> {
        let mut kept = lock(&self.kept);
        let old = match kept.len() {
            KEPT.. => mem::take(&mut *kept),
            _ => Kept::default(),
        };
        let faster = kept.get(&bill.address()).map(|(_, known)| known.clone());
        let (translation, unused) = match faster {
            Some(faster) => (faster, Some(translation)),
            None => {
                kept.insert(bill.address(), (bill.clone(), translation.clone()));
                (translation, None)
            }
        };
        drop(kept);
        // Maps have foreign destructors: they run when nothing is locked.
        let _ = guarded(|| drop((old, unused)));
        translation
    }
}

impl<MI: Metric, M: Measure, MI2: Metric> Link<MI, M, MI2, M> {
    /// This link, which knows what the caps above charge: the loss at the distance that `pull` finds for theirs.
    pub(crate) fn pulling(
        mut self,
        pull: impl Fn(&MI2::Distance, Asked<'_, MI>) -> Option<Vec<Step>> + Send + Sync + 'static,
    ) -> Self {
        self.remaining = Box::new(move |parent, asked, below| {
            parent.remaining(&|above| pull(above, asked), below)
        });
        self
    }
}

/// A link to a copy, for a dry run.
struct Linked<MI: Metric, M: Measure, MI2: Metric, M2: Measure> {
    link: Arc<Link<MI, M, MI2, M2>>,
    parent: PlannedParent<MI2, M2>,
}

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Planned<MI, M> for Linked<MI, M, MI2, M2> {
    fn check(&self, bill: &Bill<MI, M>) -> Result<(), LaunchError> {
        self.parent.check(&self.link.translated(bill)?)
    }

    fn commit(&self) {
        self.parent.commit();
    }
}

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Payer<MI, M> for Link<MI, M, MI2, M2> {
    fn settle_at_once<'a>(
        &'a self,
        bill: &Bill<MI, M>,
        launch: &Launch<'a>,
        below: Locked<'_>,
    ) -> bool {
        let mut known = Contained::new(self.known(bill));
        let Some(bill) = known.get() else {
            return false;
        };
        // Above, it is another bill: that seat would never count it.
        launch.seat.set(None);
        let settled = self.parent.settle_at_once(bill, launch, below);
        known.release();
        settled
    }

    fn settle<'a>(&'a self, bill: &Bill<MI, M>, launch: &Launch<'a>, below: &dyn Below) -> Settled {
        self.parent.settle(&self.translated(bill)?, launch, below)
    }

    fn pass<'a>(&'a self, gates: &mut Vec<MutexGuard<'a, ()>>) {
        self.parent.pass(gates);
    }

    fn depth(&self) -> u16 {
        self.parent.depth()
    }

    fn path(&self) -> Vec<String> {
        self.parent.path()
    }

    fn plan(self: Arc<Self>, copies: &Copies) -> Result<PlannedParent<MI, M>, LaunchError> {
        let parent = Arc::clone(&self.parent).plan(copies)?;
        Ok(Arc::new(Linked { link: self, parent }))
    }

    fn remaining(
        &self,
        asked: Asked<'_, MI>,
        below: Remaining<M::Loss>,
    ) -> Result<Remaining<M::Loss>, LaunchError> {
        (self.remaining)(&self.parent, asked, below)
    }
}
