//! The lazy simulator: from *interactive* randomized response, which tells first whether it leaks, and the bit only when it
//! is asked again (\[HSV25\] Def 2.9, Lemma 5.6 and Cor 5.7, corrected).
//!
//! While all queries are the same on both inputs, the same is leaked on both: as much as either input may come to need. That is δ(ε) if the two directions need the same, and at most the sum of what they need, 2δ(ε),
//! otherwise: where the paper says δ, it is wrong.

use std::sync::Arc;

use dashu_ratio::RBig;
use queryable::{AskError, Machine, PostProcessor, Received, Scope, Sent, Side, machine};

use super::{InputResponse, Simulated, Simulator, excesses, law, share_out, simulated};
use crate::{
    error::AuditError,
    factor::Factor,
    graph::{Edge, Graph},
    report::Report,
    system::Input,
};

/// What interactive randomized response tells: first the one, then the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputTold {
    /// Whether the bit that comes is the input for certain.
    Leaks(bool),
    /// The bit.
    Bit(Input),
}

/// IRR_{ε,δ} on an input (\[HSV25\] Def 2.9): RR_{ε,δ}, whose answer is told in two messages.
///
/// # Errors
/// [`AuditError::Parameter`] if δ is not a probability.
pub fn interactive_response(
    factor: &Factor,
    delta: &RBig,
    input: Input,
) -> Result<impl Machine<Query = (), Answer = InputTold> + 'static, AuditError> {
    let law = law(factor, delta, input)?;
    let mut drawn = None;
    Ok(machine(move |(), scope: &mut Scope<'_>| match drawn {
        None => {
            let said: InputResponse = scope.draw(&law)?;
            drawn = Some(said);
            Ok(InputTold::Leaks(matches!(said, InputResponse::Leak(_))))
        }
        Some(InputResponse::Leak(bit) | InputResponse::Noisy(bit)) => {
            scope.halt();
            Ok(InputTold::Bit(bit))
        }
    }))
}

/// A system's laws given what interactive randomized response tells: see [`Report::lazy_simulator`].
#[derive(Clone)]
pub struct LazySimulator<Q, A> {
    simulator: Simulator<Q, A>,
    /// For each query of each history: has everything been the same so far?
    same: Arc<Vec<Vec<bool>>>,
}

impl<Q, A> Report<Q, A> {
    /// The simulator of this system from IRR_{ε,δ} that asks for the bit only at the first query that is not the same on
    /// both inputs (`is_same`: a pair of two equal halves); for a δ that both directions can do with together.
    ///
    /// # Errors
    /// As [`simulator`](Self::simulator), and for a smaller δ.
    pub fn lazy_simulator(
        &self,
        factor: &Factor,
        delta: &RBig,
        is_same: impl Fn(&Q) -> bool,
    ) -> Result<LazySimulator<Q, A>, AuditError>
    where
        Q: Clone,
        A: Clone,
    {
        self.demand_private(factor, delta)?;
        let t = factor.as_rational();
        let excess = [0, 1].map(|over| excesses(&self.graph, t, over));
        let same = same(&self.graph, is_same);
        let needs = needs(&self.graph, &excess, &same);
        if needs[0] > *delta {
            return Err(AuditError::Parameter {
                name: "δ",
                value: delta.to_string(),
                expected: "what both directions can do with together: at most 2δ(ε), and δ(ε) if pairs may be swapped",
            });
        }
        let leaked = leaked_lazily(&self.graph, t, &excess, &needs, &same, delta);
        let simulator = simulated(&self.graph, leaked, factor, delta);
        let same = Arc::new(same);
        Ok(LazySimulator { simulator, same })
    }
}

/// For each query of each history: has everything been the same on both inputs so far, and are the laws of the answers?
fn same<Q, A>(graph: &Graph<Q, A>, is_same: impl Fn(&Q) -> bool) -> Vec<Vec<bool>> {
    let even = |at: usize| graph.masses.count(at, 0) == graph.masses.count(at, 1);
    let mut reached = vec![false; graph.nodes.len()];
    reached[0] = true;
    let mut same = Vec::with_capacity(graph.nodes.len());
    for (at, node) in graph.nodes.iter().enumerate() {
        let edges = node.edges.iter().map(|edge| {
            let children = || edge.to.iter().map(|(_, child)| *child);
            let same = reached[at] && is_same(&edge.query) && children().all(even);
            (same, children().collect())
        });
        let edges: Vec<(bool, Vec<usize>)> = edges.collect();
        for child in edges.iter().filter(|edge| edge.0).flat_map(|edge| &edge.1) {
            reached[*child] = true;
        }
        same.push(edges.into_iter().map(|edge| edge.0).collect());
    }
    same
}

/// How much must be leaked of each history up to which everything is the same, whichever input will need it.
fn needs<Q, A>(graph: &Graph<Q, A>, excess: &[Vec<RBig>; 2], same: &[Vec<bool>]) -> Vec<RBig> {
    let mut needs = vec![RBig::ZERO; graph.nodes.len()];
    for at in (0..graph.nodes.len()).rev() {
        let sum = |of: &[RBig], edge: &Edge<Q, A>| {
            let parts = edge.to.iter().map(|(_, child)| &of[*child]);
            parts.fold(RBig::ZERO, |sum, part| sum + part)
        };
        let asked = graph.nodes[at].edges.iter().zip(&same[at]);
        let asked = asked.map(|(edge, same)| match same {
            true => sum(&needs, edge),
            false => sum(&excess[0], edge).max(sum(&excess[1], edge)),
        });
        needs[at] = asked.max().unwrap_or(RBig::ZERO);
    }
    needs
}

/// The leak masses of each history: the same for both inputs as long as everything is the same.
fn leaked_lazily<Q, A>(
    graph: &Graph<Q, A>,
    t: &RBig,
    excess: &[Vec<RBig>; 2],
    needs: &[RBig],
    same: &[Vec<bool>],
    delta: &RBig,
) -> Vec<[RBig; 2]> {
    let mut leaked = vec![[RBig::ZERO, RBig::ZERO]; graph.nodes.len()];
    leaked[0] = [delta.clone(), delta.clone()];
    for at in 0..graph.nodes.len() {
        for (edge, same) in graph.nodes[at].edges.iter().zip(&same[at]) {
            if !same {
                share_out(graph, t, excess, at, edge, &mut leaked);
                continue;
            }
            let children = || edge.to.iter().map(|(_, child)| *child);
            let needed = children().fold(RBig::ZERO, |sum, child| sum + &needs[child]);
            let mut left = &leaked[at][0] - needed;
            for child in children() {
                let budget = left + &needs[child];
                let mass = budget.clone().min(graph.masses.of(child, 0));
                left = budget - &mass;
                leaked[child] = [mass.clone(), mass];
            }
        }
    }
    leaked
}

impl<Q, A> LazySimulator<Q, A>
where
    Q: PartialEq + Send + Sync + 'static,
    A: Clone + Send + Sync + 'static,
{
    /// The simulator, to stand in front of interactive randomized response: it has not seen the input.
    pub fn processor(
        &self,
    ) -> impl PostProcessor<Query = Q, Answer = A, InnerQuery = (), InnerAnswer = InputTold>
    + use<Q, A>
    + 'static {
        Lazy {
            nodes: Arc::clone(&self.simulator.0),
            same: Arc::clone(&self.same),
            at: 0,
            leaks: None,
            bit: None,
            asked: None,
        }
    }
}

struct Lazy<Q, A> {
    nodes: Arc<Vec<Simulated<Q, A>>>,
    same: Arc<Vec<Vec<bool>>>,
    at: usize,
    leaks: Option<bool>,
    bit: Option<Input>,
    asked: Option<Q>,
}

impl<Q: PartialEq, A> Lazy<Q, A> {
    /// What is needed to answer this query: the response, or one more message. While everything is the same, the bit does
    /// not matter.
    fn response(&self, query: &Q) -> Option<InputResponse> {
        let leaks = self.leaks?;
        let response = |bit| match leaks {
            true => InputResponse::Leak(bit),
            false => InputResponse::Noisy(bit),
        };
        let asked = &self.nodes[self.at].asked;
        let known = asked.iter().position(|(known, _)| known == query);
        let is_same = known.is_none_or(|edge| self.same[self.at][edge]);
        let any = is_same.then_some(Input::Zero);
        self.bit.or(any).map(response)
    }
}

impl<Q, A> PostProcessor for Lazy<Q, A>
where
    Q: PartialEq + Send + Sync + 'static,
    A: Clone + Send + Sync + 'static,
{
    type Query = Q;
    type Answer = A;
    type InnerQuery = ();
    type InnerAnswer = InputTold;

    fn step(
        &mut self,
        message: Received<Self>,
        scope: &mut Scope<'_>,
    ) -> Result<Sent<Self>, AskError> {
        match message {
            Side::Left(query) => self.asked = Some(query),
            Side::Right(told) => match told? {
                InputTold::Leaks(leaks) => self.leaks = Some(leaks),
                InputTold::Bit(bit) => self.bit = Some(bit),
            },
        }
        let query = self.asked.as_ref();
        let query = query.ok_or_else(|| AskError::failed("an answer that nobody asked for"))?;
        let Some(response) = self.response(query) else {
            return Ok(Side::Right(()));
        };
        let nodes = Arc::clone(&self.nodes);
        let (answer, next) = nodes[self.at].draw(&nodes, query, response, scope)?;
        self.at = *next;
        answer.clone().map(Side::Left)
    }
}
