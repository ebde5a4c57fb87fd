//! Adversaries against sessions over streams: they launch mechanisms, and send pairs to those that run.

use auditor::{Input, Report, ReportsLoss, Shown, System, Truncated, audit};
use continual::{
    Pair, VerificationFunction,
    streams::{Continual, Events, Streams},
};
use measures::{Adaptive, Measure, PrivacyMap, TotalLoss};
use odometer::{LaunchError, Odometer, Session};
use queryable::{AskError, Exchange, Machine, Queryable, Root};

pub type Bits<M> = Continual<Events, M, bool, u8>;
pub type OnStreams<R> = Session<Streams<Events>, R>;

pub fn streams() -> Streams<Events> {
    Streams::with(Events)
}

/// This mechanism, with this loss between streams that differ in one message.
pub fn continual<M: Measure, B>(
    measure: M,
    at_one: M::Loss,
    build: impl Fn() -> B + Send + Sync + 'static,
) -> Bits<M>
where
    B: Machine<Query = bool, Answer = u8> + 'static,
{
    let map = PrivacyMap::constant_up_to(measure, 1, at_one);
    streams().measurement("continual", map, build)
}

/// What the adversary does: launch a mechanism, or send a pair to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Do {
    Launch(usize),
    Send(usize, Pair<bool>),
}

pub type Seen = Exchange<Do, u8>;
pub const REFUSED: u8 = 100;
pub const LAUNCHED: u8 = 101;

fn failed(why: impl ToString) -> AskError {
    AskError::failed(why.to_string())
}

/// How many mechanisms run after this.
pub fn running<A>(history: &[Exchange<Do, A>], launched: &A) -> usize
where
    A: PartialEq,
{
    let counts = |seen: &&Exchange<Do, A>| seen.answer.as_ref() == Ok(launched);
    history.iter().filter(counts).count()
}

/// A mechanism that runs, and what it was sent.
type Started = (Queryable<bool, u8>, Vec<Pair<bool>>);

/// A session, the mechanisms that run in it, and what each was sent. What each is sent is valid at distance 1, or else is
/// refused.
pub struct Against<R: Adaptive> {
    input: Input,
    session: OnStreams<R>,
    shelf: Vec<Bits<R::Child>>,
    running: Vec<Started>,
}

impl<R: Adaptive> Against<R> {
    fn new(input: Input, session: OnStreams<R>, shelf: &[Bits<R::Child>]) -> Self {
        Self {
            input,
            session,
            shelf: shelf.to_vec(),
            running: vec![],
        }
    }
}

impl<R: Adaptive> System for Against<R> {
    type Query = Do;
    type Answer = u8;

    fn ask(&mut self, what: Do) -> Result<u8, AskError> {
        match what {
            Do::Launch(which) => match self.session.launch(&self.shelf[which]) {
                Ok(machine) => {
                    self.running.push((machine, vec![]));
                    Ok(LAUNCHED)
                }
                Err(LaunchError::Refused(_)) => Ok(REFUSED),
                Err(error) => Err(failed(error)),
            },
            Do::Send(to, pair) => {
                let (machine, sent) = self.running.get_mut(to).ok_or(AskError::Halted)?;
                sent.push(pair);
                if !streams().function::<bool>(&1).is_valid(sent) {
                    sent.pop();
                    return Err(AskError::invalid("not valid"));
                }
                machine.ask(self.input.pick(pair.zero, pair.one))
            }
        }
    }
}

impl<R: Adaptive> ReportsLoss for Against<R> {
    type Loss = TotalLoss<R>;

    fn privacy_loss(&mut self) -> Result<TotalLoss<R>, AskError> {
        let loss = self.session.privacy_loss(1).map_err(failed)?;
        Ok(loss.bound().clone())
    }
}

/// A filter with this budget.
pub fn audited<R: Adaptive>(
    rule: R,
    budget: TotalLoss<R>,
    shelf: Vec<Bits<R::Child>>,
    depth: usize,
    offer: impl Fn(&[Seen]) -> Vec<Do> + Sync,
) -> Report<Do, u8> {
    audit(move |input: Input, root: &Root| {
        let filter = Odometer::new(streams(), rule.clone()).filter(1, budget.clone());
        let session = filter.map_err(failed)?;
        let session = session.invoke_in(root, &std::sync::Arc::new(()));
        Ok(Against::new(input, session.map_err(failed)?, &shelf))
    })
    .asking(depth, offer)
    .unwrap()
}

/// An odometer, as far as its view is shown at this threshold.
pub fn truncated<R: Adaptive>(
    rule: R,
    threshold: TotalLoss<R>,
    shelf: Vec<Bits<R::Child>>,
    depth: usize,
    offer: impl Fn(&[Exchange<Do, Shown<u8>>]) -> Vec<Do> + Sync,
) -> Report<Do, Shown<u8>> {
    audit(move |input: Input, root: &Root| {
        let session = Odometer::new(streams(), rule.clone());
        let session = session.open_in(root, std::sync::Arc::new(()));
        let against = Against::new(input, session.map_err(failed)?, &shelf);
        Ok(Truncated::new(against, threshold.clone()))
    })
    .asking(depth, offer)
    .unwrap()
}
