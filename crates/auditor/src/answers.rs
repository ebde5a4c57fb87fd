//! Where the answers to a query lead.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::{equality::Alike, error::AuditError, explore::Heard};

/// More answers than this are kept in a search tree.
const FEW: usize = 16;

/// An answer, and where it leads.
type Entry<A> = (Heard<A>, usize);

/// Where the answers to a query lead, by the order of the answers. Most queries have few: a list takes less time and
/// memory than a search tree.
pub(crate) enum Answers<A> {
    Few(Vec<Entry<A>>),
    #[allow(clippy::box_collection, reason = "so that all are as small as a list")]
    Many(Box<BTreeMap<Heard<A>, usize>>),
}

impl<A: Ord> Answers<A> {
    pub(crate) fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// Where this answer leads, if it is known. `round` is for the errors: answers that are the
    /// same in their order must be equal, and equal ones indistinguishable.
    pub(crate) fn get(
        &self,
        answer: &Heard<A>,
        round: usize,
        alike: Alike<A>,
    ) -> Result<Option<usize>, AuditError> {
        let found = match self {
            Self::Few(list) => list
                .binary_search_by(|(known, _)| known.cmp(answer))
                .ok()
                .map(|at| (&list[at].0, list[at].1)),
            Self::Many(tree) => tree.get_key_value(answer).map(|(known, to)| (known, *to)),
        };
        match found {
            Some((known, _)) if known != answer => Err(AuditError::CoarseOrder { round }),
            Some((known, _)) if !alike.same(known, answer) => {
                Err(AuditError::UnequalInMemory { round })
            }
            found => Ok(found.map(|(_, to)| to)),
        }
    }

    /// Adds an answer that is not known.
    pub(crate) fn insert(&mut self, answer: Heard<A>, to: usize) {
        match self {
            Self::Few(list) if list.len() < FEW => {
                let at = list.partition_point(|(known, _)| *known < answer);
                if list.capacity() == 0 {
                    // Many queries have two answers, hardly one has none.
                    list.reserve_exact(2);
                }
                list.insert(at, (answer, to));
            }
            Self::Few(list) => {
                let mut tree: BTreeMap<_, _> = std::mem::take(list).into_iter().collect();
                tree.insert(answer, to);
                *self = Self::Many(Box::new(tree));
            }
            Self::Many(tree) => {
                tree.insert(answer, to);
            }
        }
    }

    /// The answers in order.
    pub(crate) fn into_list(self) -> Vec<Entry<A>> {
        match self {
            Self::Few(list) => list,
            Self::Many(tree) => tree.into_iter().collect(),
        }
    }
}

/// The answers under both inputs, in order. `place` says where an answer leads that led there under each input.
pub(crate) fn join<A: Ord>(
    [zero, one]: [Answers<A>; 2],
    round: usize,
    alike: Alike<A>,
    place: &mut dyn FnMut([Option<usize>; 2]) -> usize,
) -> Result<Vec<Entry<A>>, AuditError> {
    let (mut zero, one) = (zero.into_list(), one.into_list());
    // Nearly always: then one list does for both.
    let same = |(a, b): (&Entry<A>, &Entry<A>)| {
        a.0 == b.0 && a.0.cmp(&b.0).is_eq() && alike.same(&a.0, &b.0)
    };
    if zero.len() == one.len() && zero.iter().zip(&one).all(same) {
        for ((_, here), (_, there)) in zero.iter_mut().zip(one) {
            *here = place([Some(*here), Some(there)]);
        }
        return Ok(zero);
    }
    let mut joined = Vec::with_capacity(zero.len().max(one.len()));
    let (mut zero, mut one) = (zero.into_iter(), one.into_iter());
    let (mut left, mut right) = (zero.next(), one.next());
    loop {
        let order = match (&left, &right) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Ok(joined),
        };
        let here = order
            .is_le()
            .then(|| std::mem::replace(&mut left, zero.next()));
        let there = order
            .is_ge()
            .then(|| std::mem::replace(&mut right, one.next()));
        let (answer, at) = match (here.flatten(), there.flatten()) {
            (Some((a, _)), Some((b, _))) if a != b => {
                return Err(AuditError::CoarseOrder { round });
            }
            (Some((a, _)), Some((b, _))) if !alike.same(&a, &b) => {
                return Err(AuditError::UnequalInMemory { round });
            }
            (Some((answer, to)), there) => (answer, [Some(to), there.map(|(_, to)| to)]),
            (None, Some((answer, to))) => (answer, [None, Some(to)]),
            (None, None) => return Ok(joined),
        };
        joined.push((answer, place(at)));
    }
}
