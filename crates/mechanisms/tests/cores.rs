//! Core decomposition: exact edge-privacy of the users' side on a tiny graph, the noiseless limit, and the accuracy.

use crate::common::{delta, one_sided, ratio};
use auditor::{Input, audit};
use measures::{Basic, PureDp};
use mechanisms::{
    cores::{Cores, Graph},
    samplers::Geometric,
    sparse::SparseVector,
};
use queryable::Root;

/// A ring with chords: everybody has the neighbours at these distances.
fn ring(n: usize, distances: &[usize]) -> Graph {
    let edges = (0..n).flat_map(|v| distances.iter().map(move |by| (v, (v + by) % n)));
    Graph::new(n, edges)
}

#[test]
fn true_cores() {
    assert_eq!(ring(9, &[1]).cores(), [2; 9]);
    assert_eq!(ring(9, &[1, 2]).cores(), [4; 9]);
    assert_eq!(Graph::new(3, []).cores(), [0; 3]);
    assert!(Graph::read("1 2 3".as_bytes()).is_err() && Graph::read("a b".as_bytes()).is_err());
    // A clique of five with a path: the path is a 1-core.
    let clique = (0..5).flat_map(|u| (0..u).map(move |v| (u, v)));
    let graph = Graph::new(8, clique.chain([(4, 5), (5, 6), (6, 7)]));
    assert_eq!(graph.cores(), [4, 4, 4, 4, 4, 1, 1, 1]);
}

#[test]
fn without_noise_it_is_exact() {
    let tiny = || Geometric::new(ratio(1, 1000)).unwrap();
    let cores = Cores::with_noise(SparseVector::new(1, tiny(), tiny()).unwrap());
    let clique = (0..5).flat_map(|u| (0..u).map(move |v| (u, v)));
    let graph = Graph::new(8, clique.chain([(4, 5), (5, 6), (6, 7)]));
    for graph in [
        graph,
        ring(12, &[1, 3]),
        Graph::new(1, []),
        Graph::new(0, []),
    ] {
        let found = cores.run(&Root::seeded([1; 32]), &graph).unwrap();
        assert_eq!(found, graph.cores());
    }
}

#[test]
fn it_is_as_accurate_as_stated() {
    let graph = ring(120, &[1, 2, 3, 5, 8, 13, 21, 34]);
    let cores = Cores::for_epsilon("8").unwrap();
    let bound = cores.accuracy(120, 1e-3);
    let truth = graph.cores();
    for seed in 0..3 {
        let found = cores.run(&Root::seeded([seed; 32]), &graph).unwrap();
        let errors = found.iter().zip(&truth).map(|(x, y)| x.abs_diff(*y));
        let worst = errors.max().unwrap() as f64;
        assert!(worst <= bound, "{worst} {bound}");
    }
}

/// One edge more or less, three vertices, every server that asks about everybody or about the ends.
#[test]
fn an_edge_costs_two_users() {
    let noise = |radius| SparseVector::new(1, one_sided(1, 4, radius), one_sided(1, 4, radius));
    let cores = Cores::with_noise(noise(3).unwrap());
    let users = cores.users();
    assert_eq!(users.loss(&Basic::new(PureDp), 2).unwrap(), cores.loss());
    let graphs = [
        vec![[0usize; 0].into(), [2].into(), [1].into()],
        vec![[1].into(), [0, 2].into(), [1].into()],
    ];
    // What the server of the protocol asks, in its own order: its first questions.
    let build = |input: Input, root: &Root| root.spawn(users.users(&graphs[input.index()]));
    let questions = {
        let view = users.run(
            &Root::seeded([1; 32]),
            &graphs[0],
            mechanisms::cores::server(3),
            3,
        );
        let rounds = view.unwrap().transcript.rounds;
        rounds
            .into_iter()
            .map(|round| round.query)
            .collect::<Vec<_>>()
    };
    let report = audit(build)
        .asking(2, |_: &[_]| questions[..2].to_vec())
        .unwrap();
    let (least, most) = delta(&report, cores.loss().value());
    assert!(least <= 0.0 && most < 0.05, "{least} {most}");
    // It is not private for nothing: a tenth of the claim is refuted.
    let (least, _) = delta(&report, &cores.loss().value().split(10));
    assert!(least > 0.0);
}
