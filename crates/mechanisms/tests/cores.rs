//! Core decomposition: exact edge-privacy of the users' side on a tiny graph, the noiseless limit, and the accuracy.

use std::collections::BTreeSet;

use crate::common::{bites, delta, one_sided, ratio};
use auditor::{Input, Report, audit};
use measures::{Basic, PureDp};
use mechanisms::{
    cores::{Cores, Graph, Question, server},
    samplers::Geometric,
    sparse::SparseVector,
};
use queryable::{Exchange, Move, Root, compose::Routed};

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

/// The question that the protocol's server asks after these answers.
fn question_after(vertices: usize, answers: &[bool]) -> Routed<Question> {
    let server = Root::seeded([1; 32]).spawn(server(vertices)).unwrap();
    let mut asked = server.ask(None).unwrap();
    for answer in answers {
        asked = server.ask(Some(Ok(*answer))).unwrap();
    }
    match asked {
        Move::Ask(question) => question,
        Move::Halt => panic!("the server has ended"),
    }
}

/// The users of these two graphs, asked these questions.
fn users_audited(
    cores: &Cores,
    graphs: &[Vec<BTreeSet<usize>>; 2],
    rounds: usize,
    offer: impl Fn(&[Exchange<Routed<Question>, bool>]) -> Vec<Routed<Question>> + Sync,
) -> Report<Routed<Question>, bool> {
    let users = cores.users();
    let build = |input: Input, root: &Root| root.spawn(users.users(&graphs[input.index()]));
    audit(build).asking(rounds, offer).unwrap()
}

/// Two neighbours, and a vertex that hangs on each of them, without and with the edge between the two.
fn path_with_and_without_its_middle() -> [Vec<BTreeSet<usize>>; 2] {
    [
        vec![[2].into(), [3].into(), [0].into(), [1].into()],
        vec![[1, 2].into(), [0, 3].into(), [0].into(), [1].into()],
    ]
}

/// In the second round, all are left: the first two users are asked. Or one of them has left, and the other is asked.
fn questions() -> [Routed<Question>; 4] {
    let all = [false; 4];
    let second = |answers: [bool; 4]| question_after(4, &[all, answers].concat());
    [
        question_after(4, &all),
        second([false, true, false, false]),
        question_after(4, &[false; 5]),
        second([true, false, false, false]),
    ]
}

/// One edge more or less: every server that asks two of these questions, in any order, chosen by the answers.
#[test]
fn an_edge_costs_two_users() {
    let noise = || one_sided(1, 4, 5);
    let cores = Cores::with_noise(SparseVector::new(1, noise(), noise()).unwrap());
    let users = cores.users();
    assert_eq!(users.loss(&Basic::new(PureDp), 2).unwrap(), cores.loss());
    let graphs = path_with_and_without_its_middle();
    let asked = questions();
    assert_eq!(asked.each_ref().map(|question| question.to), [0, 0, 1, 1]);
    let report = users_audited(&cores, &graphs, 2, |_| asked.to_vec());
    bites(&report, cores.loss().value(), 5e-3, 30);
}

/// The sharpest four: "no" pins a user's threshold while the edge counts, and "yes" follows when it does not. That is a
/// threshold's share and a query's share of both users, two thirds of the claim.
#[test]
fn an_edge_costs_more_than_one_user() {
    let noise = || one_sided(1, 50, 4);
    let cores = Cores::with_noise(SparseVector::new(1, noise(), noise()).unwrap());
    let graphs = path_with_and_without_its_middle();
    let asked = questions();
    let next = |history: &[Exchange<_, _>]| vec![asked[history.len()].clone()];
    let report = users_audited(&cores, &graphs, 4, next);
    bites(&report, cores.loss().value(), 1e-5, 60);
    let of_one_user = cores.user_loss();
    assert!(delta(&report, of_one_user.value()).0 > 0.5);
}
