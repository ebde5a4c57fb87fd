//! Links between accounts that count differently: in another measure, at another distance, or in a part of the data.
//!
//! What goes up is always the leaf's own bill, translated; never a total. A translated bill is kept, so that repeated
//! launches of one measurement stay one run above the link, too.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use measures::{Conversion, Measure, Metric};

use crate::{
    bill::{Bill, BillId, PartBill},
    error::LaunchError,
    payer::{Launch, Locks, Parent, Payer},
    transformation::Stability,
};

/// How many translated bills a link keeps. Beyond that it starts anew: runs get shorter, nothing else changes.
const KEPT: usize = 4096;

pub(crate) struct Link<MI: Metric, M: Measure, MI2: Metric, M2: Measure> {
    translate: Box<Translate<MI, M, MI2, M2>>,
    parent: Parent<MI2, M2>,
    /// The bill beside its translation, so that it lives and its id stays its own.
    kept: Mutex<HashMap<BillId, Pair<MI, M, MI2, M2>>>,
}

type Translate<MI, M, MI2, M2> = dyn Fn(&Bill<MI, M>) -> Bill<MI2, M2> + Send + Sync;
type Pair<MI, M, MI2, M2> = (Bill<MI, M>, Bill<MI2, M2>);

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Link<MI, M, MI2, M2> {
    pub(crate) fn new(
        parent: Parent<MI2, M2>,
        translate: impl Fn(&Bill<MI, M>) -> Bill<MI2, M2> + Send + Sync + 'static,
    ) -> Self {
        Self {
            translate: Box::new(translate),
            parent,
            kept: Mutex::default(),
        }
    }

    fn translated(&self, bill: &Bill<MI, M>) -> Bill<MI2, M2> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, translation)) = kept.get(&bill.id()) {
            return translation.clone();
        }
        // Only our own code runs here: a translation wraps the map and does not ask it.
        let translation = (self.translate)(bill);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(bill.id(), (bill.clone(), translation.clone()));
        translation
    }
}

impl<MI: Metric, M: Measure, MI2: Metric, M2: Measure> Payer<MI, M> for Link<MI, M, MI2, M2> {
    fn settle(
        &self,
        bill: &Bill<MI, M>,
        launch: &Launch<'_>,
        below: &dyn Locks,
    ) -> Result<(), LaunchError> {
        self.parent.settle(&self.translated(bill), launch, below)
    }

    fn depth(&self) -> u16 {
        self.parent.depth()
    }

    /// What is left above is counted differently, and cannot be told in our measure.
    fn remaining(&self, _: &MI::Distance, _: &mut dyn FnMut(M::Loss)) {}
}

impl<MI: Metric, M: Measure> Bill<MI, M> {
    /// The same launch in another measure.
    pub(crate) fn converted<C: Conversion<From = M>>(&self, conversion: &C) -> Bill<MI, C::To> {
        match self {
            Self::Direct(map) => Bill::Direct(map.convert(conversion.clone())),
            Self::Part(part) => Bill::Part(Arc::new(PartBill {
                group: part.group.clone(),
                part: part.part,
                units: Arc::clone(&part.units),
                inner: part.inner.converted(conversion),
            })),
        }
    }

    /// The same launch as the data before a stable transformation see it.
    pub(crate) fn after<M0: Metric>(
        &self,
        metric: &M0,
        stability: &Arc<Stability<M0::Distance, MI::Distance>>,
    ) -> Bill<M0, M> {
        let stability = Arc::clone(stability);
        match self {
            Self::Direct(map) => {
                Bill::Direct(map.after(metric.clone(), move |d_in| stability(d_in)))
            }
            Self::Part(part) => {
                let units = Arc::clone(&part.units);
                Bill::Part(Arc::new(PartBill {
                    group: part.group.clone(),
                    part: part.part,
                    units: Arc::new(move |d_in: &M0::Distance| units(&stability(d_in)?)),
                    inner: part.inner.clone(),
                }))
            }
        }
    }
}
