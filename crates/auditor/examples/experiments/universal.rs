//! The universal mechanism and the reduction F_K → F_2 (\[HST+23\] Lemma 4.5), for K = 3: a filter for three
//! mechanisms has exactly the views of a post-processing of filters for two, the second of which is a filter for the
//! rest.

use std::{error::Error, sync::Arc};

use auditor::{Input, Report, System, audit, player};
use exact::Exact;
use measures::{Basic, RenyiDp, RenyiEpsilon, SymmetricDistance};
use odometer::{Any, Measurement, Odometer, Session};
use queryable::{AskError, Exchange, Queryable, Root};

use crate::{
    filters::{Ask, Seen, ask, bits, launch, measurement, offer},
    shared::{Dice, TwoRounds},
};

type Rule = Basic<RenyiDp>;
type Account = Session<Any<u8, SymmetricDistance>, Rule>;
type Child = Measurement<Any<u8, SymmetricDistance>, RenyiDp, Queryable<bool, bool>>;

struct Setting {
    order: RenyiDp,
    children: Vec<(Child, RenyiEpsilon)>,
    budget: Exact,
}

impl Setting {
    fn loss(&self, epsilon: Exact) -> Result<RenyiEpsilon, AskError> {
        RenyiEpsilon::new(self.order.order().clone(), epsilon).map_err(failed)
    }

    fn filter(&self, root: &Root, input: Input, budget: Exact) -> Result<Account, AskError> {
        let odometer = Odometer::new(bits(), Basic::new(self.order.clone()));
        let filter = odometer.filter(1, self.loss(budget)?).map_err(failed)?;
        filter
            .invoke_in(root, &Arc::new(input.index() as u8))
            .map_err(failed)
    }
}

fn failed(why: impl ToString) -> AskError {
    AskError::failed(why.to_string())
}

/// What was found.
pub struct Found {
    /// Whether F_3 and the post-processed F_2 have exactly the same views.
    pub reduction: bool,
    /// Whether F_2, once a mechanism runs, and that mechanism beside a universal one have exactly the same views.
    pub universal: bool,
    /// The audit of F_3.
    pub report: Report<Ask, Seen>,
}

/// Compares the views over all adversaries of this depth.
pub fn run(depth: usize, seed: u8) -> Result<Found, Box<dyn Error>> {
    let dice = Dice::new(seed)?;
    let order = RenyiDp::new(2)?;
    let mut children = vec![];
    for _ in 0..2 {
        let mechanism = TwoRounds::roll(&dice, 30)?;
        let report = mechanism.audited()?;
        let [zero, one] = auditor::Direction::BOTH;
        let two = 2u32.into();
        let epsilon = report.renyi(&two, zero)?.max(report.renyi(&two, one)?).most;
        let loss = RenyiEpsilon::new(two, epsilon)?;
        children.push((measurement(&mechanism, order.clone(), loss.clone()), loss));
    }
    // Room for the first twice, or the second and the first, but not for everything.
    let budget = children[0].1.epsilon() + children[1].1.epsilon();
    let setting = Setting {
        order,
        children,
        budget,
    };
    let filtered = |input: Input, root: &Root| {
        let session = setting.filter(root, input, setting.budget.clone())?;
        let (mut machines, setting) = (vec![], &setting);
        Ok(player(move |message| match message {
            Ask::Launch(name) => Ok(match launch(&session, &setting.children[name].0)? {
                Some(machine) => {
                    machines.push(machine);
                    Seen::Started
                }
                None => Seen::Refused,
            }),
            Ask::Query(number, query) => ask(&machines, number, query),
        }))
    };
    let report = audit(filtered)
        .trusting_equality()
        .asking(depth, offer(2, 3))?;
    let reduced = audit(|input, root: &Root| {
        let outer = setting.filter(root, input, setting.budget.clone())?;
        let (sessions, left) = (vec![outer], setting.budget.clone());
        let mut reduction = Reduction {
            setting: &setting,
            sessions,
            left,
            machines: vec![],
        };
        Ok(player(move |message| reduction.answer(message)))
    })
    .trusting_equality()
    .asking(depth, offer(2, 3))?;
    // The first mechanism runs from the start; the second launch goes to the universal mechanism.
    let beside = audit(|input: Input, root: &Root| {
        let data = Arc::new(input.index() as u8);
        let first = setting.children[0]
            .0
            .invoke_in(root, &data)
            .map_err(failed)?;
        let left = setting
            .budget
            .saturating_sub(setting.children[0].1.epsilon());
        let mut universal = Universal {
            setting: &setting,
            root: root.branch()?,
            data,
            left,
            machine: None,
        };
        Ok(player(move |message| match message {
            Ask::Launch(name) => universal.launch(name),
            Ask::Query(0, query) => first.ask(query).map(Seen::Bit),
            Ask::Query(_, query) => universal.ask(query),
        }))
    })
    .trusting_equality()
    .asking(depth, after_first(1))?;
    let two = audit(|input, root: &Root| {
        let mut system = filtered(input, root)?;
        system.ask(Ask::Launch(0))?;
        Ok(system)
    })
    .trusting_equality()
    .asking(depth, after_first(1))?;
    Ok(Found {
        reduction: report.same_views(&reduced),
        universal: two.same_views(&beside),
        report,
    })
}

/// What can be asked once the first mechanism runs.
fn after_first(launches: usize) -> impl Fn(&[Exchange<Ask, Seen>]) -> Vec<Ask> + Sync {
    let offer = offer(2, launches + 1);
    move |history| {
        let started = Exchange {
            query: Ask::Launch(0),
            answer: Ok(Seen::Started),
        };
        let whole: Vec<_> = std::iter::once(started)
            .chain(history.iter().cloned())
            .collect();
        offer(&whole)
    }
}

/// A universal mechanism (\[HST+23\] Lemma 4.5): becomes the first mechanism it is given whose loss fits.
struct Universal<'a> {
    setting: &'a Setting,
    root: Root,
    data: Arc<u8>,
    left: Exact,
    machine: Option<Queryable<bool, bool>>,
}

impl Universal<'_> {
    fn launch(&mut self, name: usize) -> Result<Seen, AskError> {
        let (child, loss) = &self.setting.children[name];
        if self.machine.is_some() || *loss.epsilon() > self.left {
            return Ok(Seen::Refused);
        }
        let machine = child.invoke_in(&self.root, &self.data);
        self.machine = Some(machine.map_err(failed)?);
        Ok(Seen::Started)
    }

    fn ask(&mut self, query: bool) -> Result<Seen, AskError> {
        let machine = self
            .machine
            .as_ref()
            .ok_or_else(|| AskError::invalid("no mechanism to query"))?;
        machine.ask(query).map(Seen::Bit)
    }
}

/// The post-processing P: whenever a mechanism starts in a filter for two, a filter for the rest is launched beside it.
struct Reduction<'a> {
    setting: &'a Setting,
    /// Each filter holds one mechanism and the next filter.
    sessions: Vec<Account>,
    left: Exact,
    machines: Vec<Queryable<bool, bool>>,
}

impl Reduction<'_> {
    fn answer(&mut self, message: Ask) -> Result<Seen, AskError> {
        let name = match message {
            Ask::Query(number, query) => return ask(&self.machines, number, query),
            Ask::Launch(name) => name,
        };
        let (child, loss) = &self.setting.children[name];
        let innermost = self.sessions.last().ok_or(AskError::Halted)?;
        let Some(machine) = launch(innermost, child)? else {
            return Ok(Seen::Refused);
        };
        let left = self.left.saturating_sub(loss.epsilon());
        let odometer = Odometer::new(bits(), Basic::new(self.setting.order.clone()));
        let rest = odometer
            .filter(1, self.setting.loss(left.clone())?)
            .map_err(failed)?;
        let rest = launch(innermost, &rest)?.ok_or_else(|| failed("the rest must fit"))?;
        self.sessions.push(rest);
        self.left = left;
        self.machines.push(machine);
        Ok(Seen::Started)
    }
}
