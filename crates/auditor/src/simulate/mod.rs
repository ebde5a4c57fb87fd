//! Simulators from the proofs: every (ε, δ)-private system is a post-processing of randomized response (\[VW21\] Thm
//! 1.10 for δ = 0; \[HSV25\] §10 in general, in a simpler form).
//!
//! For each history, part of its probability under input `b` is leaked: `y_b`, at most the worst excess that remains
//! possible, summing to δ. What is left, `ν_b = p_b − y_b`, has ratios within `e^±ε`, so that it is a mixture of the two
//! laws `ψ` given randomized response's answers. The simulator draws from these laws and never sees the input.
//! The lazy one ([`LazySimulator`]) asks for the bit only when an answer first depends on it.

mod lazy;

use std::sync::Arc;

use dashu_ratio::RBig;
use queryable::{
    AskError, Machine, Scope,
    coins::{Categorical, Probability},
    machine,
};

pub use lazy::{InputTold, LazySimulator, interactive_response};

use crate::{
    error::AuditError,
    explore::Heard,
    factor::Factor,
    graph::{Edge, Graph},
    report::Report,
    system::Input,
};

/// What randomized response RR_{ε,δ} tells about a bit (\[HSV25\] Def 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputResponse {
    /// The bit itself, for certain: with probability δ.
    Leak(Input),
    /// The bit with probability `e^ε/(1 + e^ε)`, the other one otherwise.
    Noisy(Input),
}

/// RR_{ε,δ} on an input, as a machine that answers once.
///
/// # Errors
/// [`AuditError::Parameter`] if δ is not a probability.
pub fn randomized_response(
    factor: &Factor,
    delta: &RBig,
    input: Input,
) -> Result<impl Machine<Query = (), Answer = InputResponse> + 'static, AuditError> {
    let law = law(factor, delta, input)?;
    Ok(queryable::once(move |(), scope: &mut Scope<'_>| {
        scope.draw(&law)
    }))
}

/// The law of RR_{ε,δ}.
fn law(
    factor: &Factor,
    delta: &RBig,
    input: Input,
) -> Result<Categorical<InputResponse>, AuditError> {
    let t = factor.as_rational();
    let rest = RBig::ONE - delta;
    let truth = &rest * t / (RBig::ONE + t);
    let other = input.pick(Input::One, Input::Zero);
    let lie = rest - &truth;
    categorical(vec![
        (InputResponse::Leak(input), delta.clone()),
        (InputResponse::Noisy(input), truth),
        (InputResponse::Noisy(other), lie),
    ])
}

fn categorical<T>(outcomes: Vec<(T, RBig)>) -> Result<Categorical<T>, AuditError> {
    let law = outcomes.into_iter().map(|(outcome, mass)| {
        Probability::try_from(mass)
            .map(|mass| (outcome, mass))
            .map_err(|wrong| out_of_range(&wrong))
    });
    Categorical::new(law.collect::<Result<_, _>>()?).map_err(|wrong| out_of_range(&wrong))
}

fn out_of_range(why: &impl ToString) -> AuditError {
    AuditError::Parameter {
        name: "(e^ε, δ)",
        value: why.to_string(),
        expected: "e^ε above 1 and a δ that the system attains",
    }
}

/// A system's laws given each answer of randomized response.
#[derive(Clone)]
pub struct Simulator<Q, A>(Arc<Vec<Simulated<Q, A>>>);

/// A history: for each query, the answers with where they lead.
struct Simulated<Q, A> {
    /// The mass of this history given a leak of each input, times δ; and given each noisy answer.
    leaked: [RBig; 2],
    noisy: [RBig; 2],
    asked: Vec<(Q, Onwards<A>)>,
}

/// Answers, with the number of the history to which each leads.
type Onwards<A> = Vec<(Heard<A>, usize)>;

impl<Q, A> Report<Q, A> {
    /// The simulator of this system from RR_{ε,δ}, for an (ε, δ) that the system has, `e^ε` above one.
    ///
    /// # Errors
    /// [`AuditError::Parameter`] if the system is not (ε, δ)-private; [`AuditError::Merged`] or
    /// [`AuditError::Truncated`] if its histories are not known one by one.
    pub fn simulator(&self, factor: &Factor, delta: &RBig) -> Result<Simulator<Q, A>, AuditError>
    where
        Q: Clone,
        A: Clone,
    {
        self.demand_private(factor, delta)?;
        let leaked = leaked(&self.graph, factor.as_rational(), delta);
        Ok(simulated(&self.graph, leaked, factor, delta))
    }

    /// Are the histories known one by one, and is the system (ε, δ)-private?
    fn demand_private(&self, factor: &Factor, delta: &RBig) -> Result<(), AuditError> {
        self.demand_everything("the law of each history")?;
        if self.graph.merged {
            return Err(AuditError::Merged);
        }
        let private = self.delta(factor).most <= *delta;
        if *factor <= Factor::ONE || !private || *delta > RBig::ONE {
            return Err(AuditError::Parameter {
                name: "(e^ε, δ)",
                value: format!("({factor}, {delta})"),
                expected: "e^ε above 1 and δ between the system's δ(ε) and 1",
            });
        }
        Ok(())
    }
}

/// The laws of a simulator that leaks so much of each history.
fn simulated<Q: Clone, A: Clone>(
    graph: &Graph<Q, A>,
    leaked: Vec<[RBig; 2]>,
    factor: &Factor,
    delta: &RBig,
) -> Simulator<Q, A> {
    let nodes = graph.nodes.iter().zip(leaked).enumerate();
    let simulated = nodes.map(|(at, (node, leaked))| Simulated {
        noisy: noisy(graph, at, &leaked, factor.as_rational(), delta),
        leaked,
        asked: node
            .edges
            .iter()
            .map(|edge| (edge.query.clone(), edge.to.clone()))
            .collect(),
    });
    Simulator(Arc::new(simulated.collect()))
}

/// The worst excess `L_b` that remains possible after each history (\[HSV25\] Def 10.2).
fn excesses<Q, A>(graph: &Graph<Q, A>, t: &RBig, over: usize) -> Vec<RBig> {
    let mut worst = vec![RBig::ZERO; graph.nodes.len()];
    for at in (0..graph.nodes.len()).rev() {
        let asked = graph.nodes[at].edges.iter().map(|edge| {
            let answers = edge.to.iter().map(|(_, child)| &worst[*child]);
            answers.fold(RBig::ZERO, |sum, part| sum + part)
        });
        worst[at] = asked.max().unwrap_or_else(|| {
            let excess = graph.masses.of(at, over) - t * graph.masses.of(at, 1 - over);
            excess.max(RBig::ZERO)
        });
    }
    worst
}

/// The leak masses `y_b` of each history: as much as the constraints allow, answer by answer.
fn leaked<Q, A>(graph: &Graph<Q, A>, t: &RBig, delta: &RBig) -> Vec<[RBig; 2]> {
    let excess = [0, 1].map(|over| excesses(graph, t, over));
    let mut leaked = vec![[RBig::ZERO, RBig::ZERO]; graph.nodes.len()];
    leaked[0] = [delta.clone(), delta.clone()];
    for at in 0..graph.nodes.len() {
        for edge in &graph.nodes[at].edges {
            share_out(graph, t, &excess, at, edge, &mut leaked);
        }
    }
    leaked
}

/// Shares out what is leaked of a history among the answers to a query.
fn share_out<Q, A>(
    graph: &Graph<Q, A>,
    t: &RBig,
    excess: &[Vec<RBig>; 2],
    at: usize,
    edge: &Edge<Q, A>,
    leaked: &mut [[RBig; 2]],
) {
    // What is left for this answer: what this history has, less what earlier answers took and later ones need.
    let mut left = leaked[at].clone();
    for (_, child) in &edge.to {
        left[0] -= &excess[0][*child];
        left[1] -= &excess[1][*child];
    }
    for (_, child) in &edge.to {
        let budget = [0, 1].map(|b| &left[b] + &excess[b][*child]);
        let mass = [0, 1].map(|b| graph.masses.of(*child, b));
        let slack = [0, 1].map(|b| &mass[b] - &mass[1 - b] / t);
        let zero = budget[0].clone().min(&slack[0] + &budget[1] / t);
        let zero = zero.min(mass[0].clone());
        let one = budget[1].clone().min(&slack[1] + &zero / t);
        left = [&budget[0] - &zero, &budget[1] - &one];
        leaked[*child] = [zero, one];
    }
}

/// The masses given the noisy answers: `ψ_b = (e^ε ν_b − ν_{1−b}) / ((1 − δ)(e^ε − 1))`.
fn noisy<Q, A>(
    graph: &Graph<Q, A>,
    at: usize,
    leaked: &[RBig; 2],
    t: &RBig,
    delta: &RBig,
) -> [RBig; 2] {
    if *delta == RBig::ONE {
        return leaked.clone();
    }
    let rest = [0, 1].map(|b| graph.masses.of(at, b) - &leaked[b]);
    let scale = (RBig::ONE - delta) * (t - RBig::ONE);
    [0, 1].map(|b| (t * &rest[b] - &rest[1 - b]) / &scale)
}

impl<Q: PartialEq, A> Simulated<Q, A> {
    /// Draws the answer to a query given a response, with where it leads.
    fn draw<'a>(
        &'a self,
        nodes: &'a [Self],
        query: &Q,
        response: InputResponse,
        scope: &mut Scope<'_>,
    ) -> Result<&'a (Heard<A>, usize), AskError> {
        let answers = self.answers(query)?;
        let all = self.mass(response);
        let law = answers
            .iter()
            .map(|answer| (answer, nodes[answer.1].mass(response) / all))
            .collect();
        let law = categorical(law).map_err(|why| AskError::failed(why.to_string()))?;
        scope.draw(&law)
    }

    fn answers(&self, query: &Q) -> Result<&Onwards<A>, AskError> {
        let asked = self.asked.iter().find(|(known, _)| known == query);
        let (_, answers) = asked.ok_or_else(|| AskError::invalid("it was not audited"))?;
        Ok(answers)
    }
}

impl<Q, A> Simulated<Q, A> {
    fn mass(&self, response: InputResponse) -> &RBig {
        match response {
            InputResponse::Leak(b) => &self.leaked[b.index()],
            InputResponse::Noisy(b) => &self.noisy[b.index()],
        }
    }
}

impl<Q, A> Simulator<Q, A>
where
    Q: PartialEq + Send + Sync + 'static,
    A: Clone + Send + Sync + 'static,
{
    /// The simulator given what randomized response said: a machine that has not seen the input.
    ///
    /// # Errors
    /// [`AuditError::Parameter`] for what randomized response never says: a leak at δ = 0.
    pub fn given(
        &self,
        response: InputResponse,
    ) -> Result<impl Machine<Query = Q, Answer = A> + use<Q, A> + 'static, AuditError> {
        if self.0[0].mass(response).is_zero() {
            return Err(AuditError::Parameter {
                name: "the response",
                value: format!("{response:?}"),
                expected: "one that has a probability above 0 at this δ",
            });
        }
        let nodes = Arc::clone(&self.0);
        let mut at = 0;
        Ok(machine(move |query: Q, scope: &mut Scope<'_>| {
            let (answer, next) = nodes[at].draw(&nodes, &query, response, scope)?;
            at = *next;
            answer.clone()
        }))
    }
}
