//! About how many bytes a history takes, in its tree and in the graph of both inputs. What queries and answers hold besides
//! themselves is not counted.

use dashu_base::BitTest;
use dashu_int::UBig;
use dashu_ratio::RBig;
use queryable::coins::{Branch, Probability};

use crate::{
    error::AuditError,
    explore::{self, Heard},
    graph,
    limits::{Meter, long},
    mass::Mass,
};

/// Its masses, as numbers and as counts, where it comes from, and its share of the chains.
const MASSES: usize = 2 * size_of::<Mass>() + 2 * size_of::<UBig>() + 16 + 48 + 64;

/// A history, without its queries.
pub(crate) fn node<Q, A>() -> usize {
    size_of::<explore::Node<Q, A>>() + in_graph::<Q, A>()
}

/// The same, of a graph that was made without trees.
pub(crate) fn in_graph<Q, A>() -> usize {
    size_of::<graph::Node<Q, A>>() + MASSES
}

/// A query after a history, without its answers.
pub(crate) fn edge<Q, A>() -> usize {
    size_of::<explore::Edge<Q, A>>() + size_of::<graph::Edge<Q, A>>()
}

/// One more answer, in the tree, where there is room for as many again, and in the graph.
pub(crate) fn answer<A>() -> usize {
    3 * size_of::<(Heard<A>, usize)>()
}

/// The counts of a history under both inputs, and its share of the chains, where words do not hold them: no count is above
/// the denominator. And what they are made of.
pub(crate) fn counts(denominator: &UBig) -> usize {
    6 * long(denominator.bit_len()) + 2 * size_of::<RBig>()
}

/// What a draw's probabilities hold besides themselves.
#[inline]
pub(crate) fn long_branch(branch: &Branch) -> usize {
    long_probability(&branch.probability) + long_probability(&branch.missing)
}

/// These draws, with what their probabilities hold.
pub(crate) fn branches(branches: &[Branch]) -> usize {
    let branch = |branch: &Branch| size_of::<Branch>() + long_branch(branch);
    branches.iter().map(branch).sum()
}

#[inline]
fn long_probability(probability: &Probability) -> usize {
    match probability.words() {
        Some(_) => 0,
        None => Mass::from(probability).heap(),
    }
}

/// Adds to a mass that is kept in so many copies. A sum of short ones may be long.
#[inline]
pub(crate) fn add(
    meter: &mut Meter<'_>,
    copies: usize,
    to: &mut Mass,
    more: &Mass,
) -> Result<(), AuditError> {
    let before = to.heap();
    to.add(more);
    match (before, to.heap()) {
        (0, 0) => Ok(()),
        (before, now) => meter.change(copies * before, copies * now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        equality::{Alike, Checked},
        explore::{Offer, Tree, explore},
        limits::{Limits, Memory},
        progress::Progress,
        system::{Input, boxed},
    };
    use queryable::{
        Exchange, Root, Scope,
        coins::{Distribution, Rng, Script},
        machine,
    };

    /// Sixty bits, with hardly a common divisor.
    fn denominator(index: usize) -> u64 {
        (1 << 60) + 2 * index as u64 + 1
    }

    /// Outcomes that are hardly likely, and a last one.
    struct Shares {
        masses: Vec<Probability>,
        missing: Probability,
    }

    impl Shares {
        fn new(count: usize, truncated: bool) -> Self {
            let share = |index| Probability::new(1, denominator(index)).unwrap();
            let mut masses: Vec<_> = (0..count).map(share).collect();
            let sum = masses.iter().fold(RBig::ZERO, |a, b| a + b.to_rational());
            let mut missing = Probability::try_from(RBig::ONE - sum).unwrap();
            if !truncated {
                masses.push(std::mem::replace(&mut missing, Probability::ZERO));
            }
            Self { masses, missing }
        }
    }

    impl Distribution for Shares {
        type Outcome = usize;
        fn sample(&self, _: &mut dyn Rng) -> usize {
            unreachable!("only enumerated here")
        }
        fn arity(&self) -> usize {
            self.masses.len()
        }
        fn outcome(&self, index: usize) -> (usize, Probability) {
            (index, self.masses[index].clone())
        }
        fn missing(&self) -> Probability {
            self.missing.clone()
        }
    }

    /// The tree of a machine that answers with the last bit of what it draws, and what was charged for it.
    fn explored(shares: &Shares, reruns: usize) -> (Tree<(), usize>, usize) {
        let build = boxed(|_, root: &Root| {
            let masses = shares.masses.clone();
            let missing = shares.missing.clone();
            let shares = Shares { masses, missing };
            let machine = machine(move |(), scope: &mut Scope<'_>| Ok(scope.draw(&shares)? % 2));
            root.spawn(machine)
        });
        let offer = |history: &[Exchange<(), usize>]| Offer {
            part: 0,
            queries: vec![(); usize::from(history.is_empty())],
            cut_off: true,
        };
        let limits = Limits {
            reruns,
            ..Limits::default()
        };
        let memory = Memory::new(limits.memory);
        let progress = Progress::new("runs");
        let alike = Alike::by::<Checked>();
        let tree = explore(
            &build,
            &offer,
            alike,
            Input::Zero,
            &limits,
            &memory,
            &progress,
        )
        .unwrap();
        (tree, memory.used() as usize)
    }

    #[test]
    fn sums_that_became_long_are_charged() {
        for truncated in [false, true] {
            let (tree, charged) = explored(&Shares::new(100, truncated), 7);
            let edges = || tree.nodes.iter().flat_map(|node| &node.edges);
            let masses: usize = tree.nodes.iter().map(|node| node.mass.heap()).sum();
            let missing: usize = edges().map(|edge| edge.missing[0].heap()).sum();
            // Fifty shares in each of two leaves; all of them in what is missing.
            assert!(masses > 2 * 2 * 50 * 7, "{masses}");
            assert_eq!(missing > 2 * 100 * 7, truncated, "{missing}");
            let expected = 2 * node::<(), usize>()
                + edge::<(), usize>()
                + 2 * answer::<usize>()
                + 2 * masses
                + 3 * missing;
            assert_eq!(charged, expected);
        }
    }

    #[test]
    fn what_is_long_in_a_draw_is_charged() {
        let shares = Shares::new(100, false);
        let drawn = |choice: usize| {
            let mut script = Script::new(vec![choice]);
            let root = Root::scripted(&script);
            root.run([], |scope| scope.draw(&shares)).unwrap();
            drop(root);
            script.end().unwrap().remove(0)
        };
        assert_eq!(long_branch(&drawn(99)), 0);
        assert!(long_branch(&drawn(100)) > 2 * 100 * 7);
    }
}
