//! Core decomposition by a local protocol: every vertex of a graph is a user who knows its neighbours, and a server peels
//! the graph (\[HSV25\] §9, with a rule for the threshold, which is missing there).
//!
//! The core number of a vertex is the largest `k` such that it is in a part of the graph in which everybody has at least `k`
//! neighbours. An edge is in the lists of two users, so that edge-private at ε is ε/2 for each user.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufRead},
    sync::Arc,
};

use continual::local::Protocol;
use measures::Epsilon;
use queryable::{AskError, Fixed, Heard, Machine, Move, Root, Scope, compose::Routed, machine};

use crate::{
    error::BuildError,
    parameter::{self, Parameter},
    sparse::{Gate, Sensitivity, SparseVector},
};

/// A graph as its users know it: for each vertex, its neighbours.
///
/// ```
/// use odometry::mechanisms::cores::Graph;
/// let triangle = Graph::read("0 1\n1 2\n# a comment\n2 0\n2 3\n".as_bytes())?;
/// assert_eq!((triangle.vertices(), triangle.edges()), (4, 4));
/// assert_eq!(triangle.cores(), [2, 2, 2, 1]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph(Vec<BTreeSet<usize>>);

impl Graph {
    /// The graph with these edges, on vertices numbered from zero. Loops are left out.
    pub fn new(vertices: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut lists = vec![BTreeSet::new(); vertices];
        for (u, v) in edges {
            if u != v && u < vertices && v < vertices {
                lists[u].insert(v);
                lists[v].insert(u);
            }
        }
        Self(lists)
    }

    /// Reads a list of edges: two numbers on a line, `#` begins a comment. Vertices are numbered as they first appear in
    /// increasing order.
    ///
    /// # Errors
    /// [`io::Error`] of the reader, or of kind `InvalidData` for a line that is no edge.
    pub fn read(lines: impl BufRead) -> io::Result<Self> {
        let mut edges = Vec::new();
        for line in lines.lines() {
            let line = line?;
            let text = line.split('#').next().unwrap_or("").trim();
            if text.is_empty() {
                continue;
            }
            let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
            match numbers.as_deref() {
                Ok([u, v]) => edges.push((*u, *v)),
                _ => {
                    let why = format!("two numbers make an edge: {}", exact::excerpt(text));
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
            }
        }
        let names: BTreeSet<u64> = edges.iter().flat_map(|(u, v)| [*u, *v]).collect();
        let number: BTreeMap<u64, usize> = names.iter().copied().zip(0..).collect();
        let numbered = edges.iter().map(|(u, v)| (number[u], number[v]));
        Ok(Self::new(names.len(), numbered))
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> usize {
        self.0.len()
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.0.iter().map(BTreeSet::len).sum::<usize>() / 2
    }

    /// The true core numbers, without any privacy: for comparison.
    pub fn cores(&self) -> Vec<usize> {
        let mut alive = vec![true; self.0.len()];
        let mut cores = vec![0; self.0.len()];
        let mut threshold = 1;
        while alive.contains(&true) {
            let degree = |v: usize| self.0[v].iter().filter(|u| alive[**u]).count();
            let low: Vec<usize> = (0..alive.len())
                .filter(|v| alive[*v] && degree(*v) < threshold)
                .collect();
            if low.is_empty() {
                threshold += 1;
            }
            for v in low {
                alive[v] = false;
                cores[v] = threshold - 1;
            }
        }
        cores
    }
}

/// Is the number of your neighbours among these less than the threshold?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    alive: Arc<[bool]>,
    threshold: u32,
}

// Copies share the list. The pointer is private, and no code reads its count.
impl Fixed for Question {}

/// The private core decomposition.
///
/// The server begins with everybody and the threshold 1. In every round it asks all who are left; who says "less" leaves,
/// with the core number `threshold − 1`. When nobody leaves, the threshold is raised by one. A user is a sparse vector with
/// one positive answer, charged once, however many rounds there are.
///
/// *Accuracy* (derived here). Let all comparisons be right up to `α`. When the threshold rises from `d`, everybody who is
/// left has at least `d − α` neighbours left, so is in the `(d − α)`-core: who leaves later with `d` is at most `α` above.
/// Of a `k`-core, the first who leaves has `k` neighbours left, so `k < d + α`, and the others leave later: nobody is more
/// than `α` below. There are at most `2n` rounds, so with probability `1 − β` that holds for
/// [`accuracy`](Self::accuracy) `= O(ln(n/β)/ε)`, which is better than the `O(log n · log Δ)` of the paper's server.
///
/// ```
/// use odometry::mechanisms::cores::{Cores, Graph};
/// use odometry::queryable::Root;
/// let edges = (0..40).flat_map(|u| (0..u).map(move |v| (u, v)));
/// let everybody_knows_everybody = Graph::new(40, edges);
/// let cores = Cores::for_epsilon("4")?;
/// assert_eq!(cores.loss().to_string(), "4"); // for an edge
/// let found = cores.run(&Root::seeded([1; 32]), &everybody_knows_everybody)?;
/// let bound = cores.accuracy(40, 0.01);
/// assert!(found.iter().all(|core| core.abs_diff(39) as f64 <= bound));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cores(Arc<SparseVector>);

impl Cores {
    /// With a loss of ε for an edge: ε/2 for each of the two users whose lists it is in.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn for_epsilon(epsilon: impl Parameter) -> Result<Self, BuildError> {
        let epsilon = parameter::loss("ε", epsilon)?;
        let user = SparseVector::for_epsilon(&epsilon.split(2), Sensitivity::UNIT, 1)?;
        Ok(Self::with_noise(user))
    }

    /// With this noise of every user.
    pub fn with_noise(user: SparseVector) -> Self {
        Self(Arc::new(user))
    }

    /// The loss of one user, whose list has one vertex more or less.
    pub fn user_loss(&self) -> Epsilon {
        self.0.loss(Sensitivity::UNIT)
    }

    /// The loss of the server's view, for one edge more or less: two users differ (\[HSV25\] Lemma 9.1).
    pub fn loss(&self) -> Epsilon {
        Epsilon::new(self.user_loss().value().times(2))
    }

    /// How far a core number can be from the truth, with probability at least `1 − β`, for all of `n` vertices at once.
    pub fn accuracy(&self, n: usize, beta: f64) -> f64 {
        let ([threshold, query], n) = (self.0.scales(), n as f64);
        threshold * (4.0 * n / beta).ln() + query * (8.0 * n * n / beta).ln()
    }

    /// What users do.
    pub fn users(&self) -> Protocol<BTreeSet<usize>, Question, bool, Epsilon> {
        let parameters = Arc::clone(&self.0);
        let users = Protocol::new(self.user_loss(), move |neighbours: &BTreeSet<usize>| {
            let (neighbours, mut gate) = (neighbours.clone(), Gate::new(&parameters));
            machine(move |question: Question, scope: &mut Scope<'_>| {
                let Question { alive, threshold } = question;
                let is_alive = |v: &&usize| alive.get(**v).copied().unwrap_or(false);
                let left = neighbours.iter().filter(is_alive).count() as i128;
                // Less than the threshold: `−left ≥ 1 − threshold`.
                let less = gate.is_above(-left, 1 - i128::from(threshold), scope)?;
                if gate.is_closed() {
                    scope.halt();
                }
                Ok(less)
            })
        });
        users.between(|zero, one| zero.symmetric_difference(one).count() <= 1)
    }

    /// Runs the protocol: the core numbers, as the server finds them.
    ///
    /// # Errors
    /// What [`Protocol::run`] says.
    pub fn run(&self, root: &Root, graph: &Graph) -> Result<Vec<usize>, AskError> {
        let n = graph.vertices();
        let rounds = n.saturating_mul(2).saturating_add(1);
        let limit = rounds.saturating_mul(n);
        let view = self.users().run(root, &graph.0, server(n), limit)?;
        // What the server found follows from its view.
        let mut cores = vec![n.saturating_sub(1); n];
        for round in view.transcript.rounds {
            if round.answer == Ok(true) {
                let threshold = round.query.query.threshold as usize;
                cores[round.query.to] = threshold.saturating_sub(1);
            }
        }
        Ok(cores)
    }
}

/// The server of [`Cores`]: who is left, whom to ask next in this round, and who leaves after it. No core number is above `n − 1`, so it
/// ends with the threshold `n`.
pub fn server(
    n: usize,
) -> impl Machine<Query = Heard<bool>, Answer = Move<Routed<Question>>> + 'static {
    let mut alive: Arc<[bool]> = vec![true; n].into();
    let (mut threshold, mut asked, mut leaving) = (1u32, None::<usize>, Vec::new());
    machine(move |heard: Heard<bool>, _: &mut Scope<'_>| {
        if let (Some(Ok(true)), Some(user)) = (heard, asked) {
            leaving.push(user);
        }
        let mut from = asked.map_or(0, |user| user + 1);
        loop {
            if let Some(to) = (from..n).find(|user| alive[*user]) {
                asked = Some(to);
                let query = Question {
                    alive: Arc::clone(&alive),
                    threshold,
                };
                return Ok(Move::Ask(Routed { to, query }));
            }
            // The round is over.
            if leaving.is_empty() {
                threshold += 1;
            } else {
                let mut left = alive.to_vec();
                for user in leaving.drain(..) {
                    left[user] = false;
                }
                alive = left.into();
            }
            if threshold as usize > n.max(1) || !alive.contains(&true) {
                return Ok(Move::Halt);
            }
            from = 0;
        }
    })
}
