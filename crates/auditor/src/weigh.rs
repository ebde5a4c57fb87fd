//! About how many bytes a history takes, in its tree and in the graph of both inputs. What queries and answers hold besides
//! themselves is not counted.

use dashu_int::UBig;

use crate::{explore, explore::Heard, graph, mass::Mass};

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
