//! The histories of both inputs together: a graph whose edges go from smaller to larger numbers, with the exact masses
//! of its nodes as integers over one common denominator. Everything that is computed about a system is a pass over it.

use std::{collections::HashSet, ops::AddAssign};

use dashu_base::{Gcd, UnsignedAbs};
use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::{error::AuditError, explore::Heard, limits::Memory, mass::Mass, weigh};

/// A history, or several that are worth the same.
pub(crate) struct Node<Q, A> {
    pub(crate) part: usize,
    pub(crate) edges: Vec<Edge<Q, A>>,
}

/// A query, and where its answers lead.
pub(crate) struct Edge<Q, A> {
    pub(crate) query: Q,
    pub(crate) to: Vec<(Heard<A>, usize)>,
    /// What was not enumerated, under each input.
    pub(crate) missing: [Mass; 2],
}

pub(crate) struct Graph<Q, A> {
    pub(crate) nodes: Vec<Node<Q, A>>,
    pub(crate) masses: Masses,
    /// The largest mass that an adversary can lose to truncated draws, under each input.
    pub(crate) missing: [RBig; 2],
    /// Whether a node stands for several histories.
    pub(crate) merged: bool,
}

/// `(p0, p1)` of every node, times the denominator. Small numbers are much faster and give the same results.
pub(crate) struct Masses {
    pub(crate) denominator: UBig,
    pub(crate) counts: Counts,
}

pub(crate) enum Counts {
    Small(Vec<[u64; 2]>),
    Big(Vec<[UBig; 2]>),
}

impl Masses {
    /// The mass of a node under an input.
    pub(crate) fn of(&self, node: usize, input: usize) -> RBig {
        RBig::from_parts(self.count(node, input).into(), self.denominator.clone())
    }

    /// The mass of a node under an input, times the denominator.
    pub(crate) fn count(&self, node: usize, input: usize) -> UBig {
        match &self.counts {
            Counts::Small(counts) => UBig::from(counts[node][input]),
            Counts::Big(counts) => counts[node][input].clone(),
        }
    }

    pub(crate) fn is_zero(&self, node: usize, input: usize) -> bool {
        match &self.counts {
            Counts::Small(counts) => counts[node][input] == 0,
            Counts::Big(counts) => counts[node][input].is_zero(),
        }
    }
}

impl<Q, A> Graph<Q, A> {
    /// A graph with these masses at its leaves; the masses of the other nodes follow.
    pub(crate) fn with_leaves(
        nodes: Vec<Node<Q, A>>,
        leaves: Vec<[Mass; 2]>,
        memory: &Memory,
    ) -> Result<Self, AuditError> {
        let missing = worst_missing(&nodes);
        let truncated = missing.iter().any(|mass| !mass.is_zero());
        let (denominator, counts) = match in_words(&leaves) {
            Some((denominator, counts)) => (denominator.into(), Counts::Small(counts)),
            None => in_lowest_terms(&leaves, memory)?,
        };
        let counts = match counts {
            Counts::Small(counts) => Counts::Small(fill_up(&nodes, counts, truncated)?),
            Counts::Big(counts) => Counts::Big(fill_up(&nodes, counts, truncated)?),
        };
        let masses = Masses {
            denominator,
            counts,
        };
        if truncated {
            check_stable(&nodes, &masses)?;
        }
        Ok(Self {
            nodes,
            masses,
            missing,
            merged: false,
        })
    }

    pub(crate) fn map_queries<R>(self, map: impl Fn(Q) -> R) -> Graph<R, A> {
        let edge = |edge: Edge<Q, A>| Edge {
            query: map(edge.query),
            to: edge.to,
            missing: edge.missing,
        };
        let node = |node: Node<Q, A>| Node {
            part: node.part,
            edges: node.edges.into_iter().map(edge).collect(),
        };
        Graph {
            nodes: self.nodes.into_iter().map(node).collect(),
            masses: self.masses,
            missing: self.missing,
            merged: self.merged,
        }
    }

    /// Whether all histories have the same probabilities; an impossible history may be missing from either.
    pub(crate) fn same_views(&self, other: &Self) -> bool
    where
        Q: PartialEq,
        A: PartialEq,
    {
        let mut waiting = vec![(0, 0)];
        // Merged histories are reached in many ways.
        let mut seen = HashSet::new();
        while let Some((mine, theirs)) = waiting.pop() {
            if (self.merged || other.merged) && !seen.insert((mine, theirs)) {
                continue;
            }
            let same = (0..2).all(|b| self.masses.of(mine, b) == other.masses.of(theirs, b));
            let (here, there) = (&self.nodes[mine].edges, &other.nodes[theirs].edges);
            if !same || here.len() != there.len() {
                return false;
            }
            for (a, b) in here.iter().zip(there) {
                let possible = |graph: &Self, edge: &Edge<Q, A>| {
                    let likely = |to: &&(Heard<A>, usize)| {
                        (0..2).any(|input| !graph.masses.is_zero(to.1, input))
                    };
                    edge.to.iter().filter(likely).count()
                };
                let pairs: Vec<(usize, usize)> =
                    a.to.iter()
                        .filter_map(|(answer, to)| {
                            let found = b.to.iter().find(|(other, _)| other == answer)?;
                            Some((*to, found.1))
                        })
                        .collect();
                let shared = pairs
                    .iter()
                    .filter(|(to, _)| (0..2).any(|input| !self.masses.is_zero(*to, input)))
                    .count();
                let all = shared == possible(self, a) && shared == possible(other, b);
                if a.query != b.query || !all {
                    return false;
                }
                waiting.extend(pairs);
            }
        }
        true
    }

    /// An error if a draw was truncated.
    pub(crate) fn demand_everything(&self, what: &'static str) -> Result<(), AuditError> {
        if !self.is_truncated() {
            return Ok(());
        }
        let [zero, one] = &self.missing;
        let missing = zero.max(one).clone();
        Err(AuditError::Truncated { what, missing })
    }

    pub(crate) fn is_truncated(&self) -> bool {
        self.missing.iter().any(|mass| !mass.is_zero())
    }
}

/// These masses over one denominator, if words hold all that comes up.
fn in_words(leaves: &[[Mass; 2]]) -> Option<(u64, Vec<[u64; 2]>)> {
    let mut denominator = 1u64;
    for mass in leaves.iter().flatten() {
        let Mass::Small(_, own) = mass else {
            return None;
        };
        let own = own.get();
        if !denominator.is_multiple_of(own) {
            denominator = denominator.checked_mul(own / denominator.gcd(own))?;
        }
    }
    let count = |mass: &Mass| match mass {
        Mass::Small(numerator, own) => numerator.checked_mul(denominator / *own),
        Mass::Big(_) => None,
    };
    let counts = leaves
        .iter()
        .map(|[zero, one]| Some([count(zero)?, count(one)?]));
    Some((denominator, counts.collect::<Option<_>>()?))
}

/// These masses over the least common denominator. It may be long where every mass is short.
fn in_lowest_terms(leaves: &[[Mass; 2]], memory: &Memory) -> Result<(UBig, Counts), AuditError> {
    let leaves: Vec<[RBig; 2]> = leaves
        .iter()
        .map(|[zero, one]| [zero.to_rational(), one.to_rational()])
        .collect();
    // Asked for as it grows: a long one takes long to find.
    let counts = |denominator: &UBig| leaves.len() as u128 * weigh::counts(denominator) as u128;
    let mut denominator = UBig::ONE;
    memory.take(counts(&denominator))?;
    for mass in leaves.iter().flatten() {
        let den = mass.denominator();
        let common = (&denominator).gcd(den);
        let before = counts(&denominator);
        denominator *= den / common;
        memory.take(counts(&denominator) - before)?;
    }
    let scaled = |mass: &RBig| {
        let num = mass.numerator().clone().unsigned_abs();
        num * (&denominator / mass.denominator())
    };
    let big: Vec<[UBig; 2]> = leaves
        .iter()
        .map(|[zero, one]| [scaled(zero), scaled(one)])
        .collect();
    let counts = match u64::try_from(&denominator) {
        Ok(_) => Counts::Small(big.iter().map(small).collect()),
        Err(_) => Counts::Big(big),
    };
    Ok((denominator, counts))
}

/// Fits, because no mass is above one.
fn small(counts: &[UBig; 2]) -> [u64; 2] {
    let fit = |count: &UBig| u64::try_from(count.clone()).unwrap_or(u64::MAX);
    [fit(&counts[0]), fit(&counts[1])]
}

/// As [`fill_up`] checks it where nothing is missing: what follows a query and what is missing there add up to the same
/// for every query.
fn check_stable<Q, A>(nodes: &[Node<Q, A>], masses: &Masses) -> Result<(), AuditError> {
    for input in 0..2 {
        // What is missing below a node when the first query is asked everywhere, as in its mass.
        let mut lost = vec![RBig::ZERO; nodes.len()];
        for at in (0..nodes.len()).rev() {
            let mut first = None;
            for edge in &nodes[at].edges {
                let missing = edge.missing[input].to_rational();
                let missing = edge
                    .to
                    .iter()
                    .fold(missing, |sum, (_, to)| sum + &lost[*to]);
                let known = edge.to.iter().map(|(_, to)| masses.of(*to, input));
                let total = known.fold(missing.clone(), |sum, mass| sum + mass);
                match &first {
                    None => first = Some((missing, total)),
                    Some((_, same)) if *same == total => {}
                    Some(_) => {
                        let round = depth_of(nodes, at);
                        return Err(AuditError::Unstable { round });
                    }
                }
            }
            lost[at] = first.map_or(RBig::ZERO, |(missing, _)| missing);
        }
    }
    Ok(())
}

/// The mass of a history is the sum of the masses of its continuations by any one query.
fn fill_up<Q, A, N>(
    nodes: &[Node<Q, A>],
    mut counts: Vec<[N; 2]>,
    truncated: bool,
) -> Result<Vec<[N; 2]>, AuditError>
where
    N: Clone + PartialEq + for<'a> AddAssign<&'a N>,
{
    for at in (0..nodes.len()).rev() {
        let mut sums = nodes[at].edges.iter().map(|edge| sum_of(edge, &counts));
        let Some(sum) = sums.next() else {
            continue;
        };
        if !truncated && !sums.all(|other| other == sum) {
            let round = depth_of(nodes, at);
            return Err(AuditError::Unstable { round });
        }
        if let Some(sum) = sum {
            counts[at] = sum;
        }
    }
    Ok(counts)
}

fn sum_of<Q, A, N>(edge: &Edge<Q, A>, counts: &[[N; 2]]) -> Option<[N; 2]>
where
    N: Clone + for<'a> AddAssign<&'a N>,
{
    let mut children = edge.to.iter().map(|(_, child)| &counts[*child]);
    let mut sum = children.next()?.clone();
    for [zero, one] in children {
        sum[0] += zero;
        sum[1] += one;
    }
    Some(sum)
}

/// How many rounds the shortest history has that leads to a node.
fn depth_of<Q, A>(nodes: &[Node<Q, A>], node: usize) -> usize {
    let mut depths = vec![usize::MAX; nodes.len()];
    depths[0] = 0;
    for (at, this) in nodes.iter().enumerate() {
        for (_, child) in this.edges.iter().flat_map(|edge| &edge.to) {
            depths[*child] = depths[*child].min(depths[at].saturating_add(1));
        }
    }
    depths[node]
}

/// The largest missing mass over adversaries, under each input.
fn worst_missing<Q, A>(nodes: &[Node<Q, A>]) -> [RBig; 2] {
    let none = |edge: &Edge<Q, A>| edge.missing.iter().all(Mass::is_zero);
    if nodes.iter().flat_map(|node| &node.edges).all(none) {
        return [RBig::ZERO, RBig::ZERO];
    }
    [0, 1].map(|input| {
        let mut worst = vec![RBig::ZERO; nodes.len()];
        for at in (0..nodes.len()).rev() {
            let lost = nodes[at].edges.iter().map(|edge| {
                edge.to
                    .iter()
                    .fold(edge.missing[input].to_rational(), |sum, (_, child)| {
                        sum + &worst[*child]
                    })
            });
            worst[at] = lost.max().unwrap_or(RBig::ZERO);
        }
        worst.swap_remove(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One round, two queries, one answer each, with these masses; the second query's draw was truncated.
    fn graph(masses: [i64; 2], missing: i64) -> Result<Graph<u8, ()>, AuditError> {
        let part = |n: i64| RBig::from_parts(n.into(), 8u8.into());
        let leaf = |n| Mass::from(&part(n));
        let edge = |query: u8, missing| Edge {
            query,
            to: vec![(Ok(()), usize::from(query) + 1)],
            missing: [leaf(missing), leaf(missing)],
        };
        let node = |edges| Node { part: 0, edges };
        let nodes = vec![
            node(vec![edge(0, 0), edge(1, missing)]),
            node(vec![]),
            node(vec![]),
        ];
        let leaves = [0, masses[0], masses[1]].map(|n| [leaf(n), leaf(n)]);
        Graph::with_leaves(nodes, leaves.to_vec(), &Memory::new(u64::MAX))
    }

    #[test]
    fn a_truncated_draw_excuses_its_own_mass_only() {
        assert!(graph([8, 8], 0).is_ok());
        assert!(graph([8, 7], 1).is_ok());
        for (masses, missing) in [([8, 7], 0), ([8, 6], 1), ([8, 8], 1)] {
            let found = graph(masses, missing).err();
            assert_eq!(
                found,
                Some(AuditError::Unstable { round: 0 }),
                "{masses:?} {missing}"
            );
        }
    }
}
