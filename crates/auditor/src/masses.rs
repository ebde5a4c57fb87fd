//! The exact masses of a graph's nodes, as integers over one common denominator. Not generic in what is asked and answered:
//! what is computed from masses alone sees a graph as its links.

use std::ops::AddAssign;

use dashu_base::{Gcd, UnsignedAbs};
use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::{error::AuditError, limits::Memory, links::Links, mass::Mass, weigh};

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

    /// These masses at the leaves; the masses of the other nodes follow.
    pub(crate) fn with_leaves(
        nodes: &dyn Links,
        leaves: &[[Mass; 2]],
        truncated: bool,
        memory: &Memory,
    ) -> Result<Self, AuditError> {
        let (denominator, counts) = match in_words(leaves) {
            Some((denominator, counts)) => (denominator.into(), Counts::Small(counts)),
            None => in_lowest_terms(leaves, memory)?,
        };
        let counts = match counts {
            Counts::Small(counts) => Counts::Small(fill_up(nodes, counts, truncated)?),
            Counts::Big(counts) => Counts::Big(fill_up(nodes, counts, truncated)?),
        };
        let masses = Self {
            denominator,
            counts,
        };
        if truncated {
            check_stable(nodes, &masses)?;
        }
        Ok(masses)
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
fn check_stable(nodes: &dyn Links, masses: &Masses) -> Result<(), AuditError> {
    let mut children = Vec::new();
    for input in 0..2 {
        // What is missing below a node when the first query is asked everywhere, as in its mass.
        let mut lost = vec![RBig::ZERO; nodes.count()];
        for at in (0..nodes.count()).rev() {
            let mut first = None;
            for edge in 0..nodes.edges(at) {
                nodes.children(at, edge, &mut children);
                let missing = nodes.missing(at, edge)[input].to_rational();
                let missing = children.iter().fold(missing, |sum, to| sum + &lost[*to]);
                let known = children.iter().map(|to| masses.of(*to, input));
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
fn fill_up<N>(
    nodes: &dyn Links,
    mut counts: Vec<[N; 2]>,
    truncated: bool,
) -> Result<Vec<[N; 2]>, AuditError>
where
    N: Clone + PartialEq + for<'a> AddAssign<&'a N>,
{
    let mut children = Vec::new();
    for at in (0..nodes.count()).rev() {
        let mut sums = (0..nodes.edges(at)).map(|edge| {
            nodes.children(at, edge, &mut children);
            sum_of(&children, &counts)
        });
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

fn sum_of<N>(children: &[usize], counts: &[[N; 2]]) -> Option<[N; 2]>
where
    N: Clone + for<'a> AddAssign<&'a N>,
{
    let (first, rest) = children.split_first()?;
    let mut sum = counts[*first].clone();
    for child in rest {
        let [zero, one] = &counts[*child];
        sum[0] += zero;
        sum[1] += one;
    }
    Some(sum)
}

/// How many rounds the shortest history has that leads to a node.
fn depth_of(nodes: &dyn Links, node: usize) -> usize {
    let mut depths = vec![usize::MAX; nodes.count()];
    depths[0] = 0;
    let mut children = Vec::new();
    for at in 0..nodes.count() {
        for edge in 0..nodes.edges(at) {
            nodes.children(at, edge, &mut children);
            for child in &children {
                depths[*child] = depths[*child].min(depths[at].saturating_add(1));
            }
        }
    }
    depths[node]
}

/// The largest missing mass over adversaries, under each input.
pub(crate) fn worst_missing(nodes: &dyn Links) -> [RBig; 2] {
    let nothing = |at: usize| {
        let mut edges = 0..nodes.edges(at);
        edges.all(|edge| nodes.missing(at, edge).iter().all(Mass::is_zero))
    };
    if (0..nodes.count()).all(nothing) {
        return [RBig::ZERO, RBig::ZERO];
    }
    let mut children = Vec::new();
    [0, 1].map(|input| {
        let mut worst = vec![RBig::ZERO; nodes.count()];
        for at in (0..nodes.count()).rev() {
            let lost = (0..nodes.edges(at)).map(|edge| {
                nodes.children(at, edge, &mut children);
                let missing = nodes.missing(at, edge)[input].to_rational();
                children.iter().fold(missing, |sum, to| sum + &worst[*to])
            });
            worst[at] = lost.max().unwrap_or(RBig::ZERO);
        }
        worst.swap_remove(0)
    })
}
