//! Links between accounts that count differently: in another measure, at another distance, or in a part of the data.
//!
//! What goes up is always the leaf's own bill, translated; never a total. A translated bill is kept, so that repeated
//! launches of one measurement stay one run above the link, too.

use std::mem;

use measures::{Measure, Metric};
use queryable::guarded;

use crate::{
    addresses::AddressMap,
    bill::Bill,
    error::LaunchError,
    payer::{Launch, Locks, Parent, Payer},
    sync::{Mutex, lock},
};

/// How many translated bills a link keeps. Beyond that it starts anew: runs get shorter, nothing else changes.
const KEPT: usize = 4096;

pub(crate) struct Link<MI: Metric, M: Measure, MI2: Metric, M2: Measure> {
    translate: Box<Translate<MI, M, MI2, M2>>,
    parent: Parent<MI2, M2>,
    /// The bill beside its translation, so that it lives and its id stays its own.
    kept: Mutex<Kept<MI, M, MI2, M2>>,
}

type Translate<MI, M, MI2, M2> = dyn Fn(&Bill<MI, M>) -> Bill<MI2, M2> + Send + Sync;
type Kept<MI, M, MI2, M2> = AddressMap<usize, (Bill<MI, M>, Bill<MI2, M2>)>;

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Link<MI, M, MI2, M2> {
    pub(crate) fn new(
        parent: Parent<MI2, M2>,
        translate: impl Fn(&Bill<MI, M>) -> Bill<MI2, M2> + Send + Sync + 'static,
    ) -> Self {
        Self {
            translate: Box::new(translate),
            parent,
            kept: Mutex::new(Kept::default()),
        }
    }

    fn translated(&self, bill: &Bill<MI, M>) -> Result<Bill<MI2, M2>, LaunchError> {
        if let Some((_, translation)) = lock(&self.kept).get(&bill.address()) {
            return Ok(translation.clone());
        }
        // Metrics, measures and conversions are cloned here: foreign code, so no lock is held.
        let translation =
            guarded(|| (self.translate)(bill)).map_err(|_| LaunchError::MapPanicked {
                launch: bill.description().to_string(),
            })?;
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

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Payer<MI, M> for Link<MI, M, MI2, M2> {
    fn settle(
        &self,
        bill: &Bill<MI, M>,
        launch: &Launch,
        below: &dyn Locks,
    ) -> Result<(), LaunchError> {
        self.parent.settle(&self.translated(bill)?, launch, below)
    }

    fn depth(&self) -> u16 {
        self.parent.depth()
    }

    /// What is left above is counted differently, and cannot be told in our measure.
    fn remaining(
        &self,
        _: &MI::Distance,
        _: &mut dyn FnMut(Option<M::Loss>),
    ) -> Result<(), LaunchError> {
        Ok(())
    }
}
