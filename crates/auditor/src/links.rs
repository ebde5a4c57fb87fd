//! A graph without what is asked and answered: what is computed from this alone is compiled once, not once for every type of
//! queries and answers.

use dashu_ratio::RBig;

use crate::{
    error::AuditError,
    graph::{Edge, Node},
    mass::Mass,
    masses::Masses,
};

/// Which nodes lead to which.
pub(crate) trait Links {
    /// How many nodes there are.
    fn count(&self) -> usize;
    /// How many queries a node has.
    fn edges(&self, at: usize) -> usize;
    /// Where the answers to a query lead: in place of what is in the list, which serves for one query after another.
    fn children(&self, at: usize, edge: usize, list: &mut Vec<usize>);
    /// What was not enumerated while answering a query, under each input.
    fn missing(&self, at: usize, edge: usize) -> &[Mass; 2];
}

impl<Q, A> Links for Vec<Node<Q, A>> {
    fn count(&self) -> usize {
        self.len()
    }

    fn edges(&self, at: usize) -> usize {
        self[at].edges.len()
    }

    fn children(&self, at: usize, edge: usize, list: &mut Vec<usize>) {
        let Edge { to, .. } = &self[at].edges[edge];
        list.clear();
        list.reserve(to.len());
        for (_, child) in to {
            list.push(*child);
        }
    }

    fn missing(&self, at: usize, edge: usize) -> &[Mass; 2] {
        &self[at].edges[edge].missing
    }
}

/// A graph without what is asked and answered.
#[derive(Clone, Copy)]
pub(crate) struct Outline<'a> {
    pub(crate) nodes: &'a dyn Links,
    pub(crate) masses: &'a Masses,
    /// The largest mass that an adversary can lose to truncated draws, under each input.
    pub(crate) missing: &'a [RBig; 2],
    /// Whether a node stands for several histories.
    pub(crate) merged: bool,
}

impl Outline<'_> {
    /// An error if a draw was truncated.
    pub(crate) fn demand_everything(&self, what: &'static str) -> Result<(), AuditError> {
        if !self.is_truncated() {
            return Ok(());
        }
        let [zero, one] = self.missing;
        let missing = zero.max(one).clone();
        Err(AuditError::Truncated { what, missing })
    }

    /// An error if a run was lost on the way, or is there twice: either could make too much look private.
    pub(crate) fn demand_all_runs(&self) -> Result<(), AuditError> {
        for (input, missing) in self.missing.iter().enumerate() {
            // What is known is known of the first way to ask, and what is missing is missing from the worst.
            let sum = self.masses.of(0, input) + missing;
            if sum < RBig::ONE || (sum > RBig::ONE && !self.is_truncated()) {
                return Err(AuditError::Lost { input, sum });
            }
        }
        Ok(())
    }

    pub(crate) fn is_truncated(&self) -> bool {
        self.missing.iter().any(|mass| !mass.is_zero())
    }
}
