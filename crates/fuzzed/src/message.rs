//! The message form: an odometer and a filter under any list of messages, against a plain sum.

use std::sync::Arc;

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Basic, Epsilon, PrivacyMap, PureDp};
use odometer::message::{Entry, Launchable, Launched, Message, Reply};
use odometer::{Measurement, Odometer, Records};
use queryable::{AskError, Fixed, Queryable, Root, Scope, machine};

type Data = Records<u8>;
type Rule = Basic<PureDp>;
type Ask = Message<Name, u64, u32>;
type Told = Reply<u64, Epsilon>;

/// The budget of the filter at distance 1.
const BUDGET: u32 = 1;

/// The size of the data.
const SIZE: u64 = 3;

/// How many messages are read: the rest would only be slow.
const MOST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Kind {
    /// Answers the number of records.
    Value,
    /// A machine that counts what it was asked.
    Machine,
    /// Fails, and is charged all the same.
    Failure,
}

/// A kind and a price.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Name(Kind, Epsilon);

impl Fixed for Name {}

/// Everything of these kinds, at any price.
struct Menu;

impl Launchable<Data, Rule> for Menu {
    type Name = Name;
    type Query = u64;
    type Answer = u64;

    fn find(&self, Name(kind, loss): &Name) -> Option<Entry<Data, Rule, u64, u64>> {
        let kind = *kind;
        let map = PrivacyMap::per_record(PureDp, loss.clone());
        let function = move |data: &Arc<Vec<u8>>, scope: &mut Scope<'_>| match kind {
            Kind::Value => Ok(Launched::Value(data.len() as u64)),
            Kind::Machine => scope.spawn(counting()).map(Launched::Machine),
            Kind::Failure => Err(AskError::failed("no luck")),
        };
        Some(Measurement::new("menu", space(), map, function))
    }
}

fn counting() -> impl queryable::Machine<Query = u64, Answer = u64> {
    let mut asked: u64 = 0;
    machine(move |_: u64, _: &mut Scope<'_>| {
        asked += 1;
        Ok(asked)
    })
}

fn space() -> Data {
    Records::new()
}

/// Every line is a message in JSON; what is none is left out.
pub fn messages(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let messages: Vec<Ask> = text.lines().take(MOST).filter_map(read).collect();
    let odometer = Odometer::new(space(), Basic::new(PureDp));
    let data = Arc::new(vec![0; SIZE as usize]);
    let root = Root::seeded([7; 32]);

    let open = root.spawn(odometer.machine(Arc::clone(&data), Menu));
    play(open, &messages, None);
    match odometer.filter_machine(1, Epsilon::new(BUDGET.into()), data, Menu) {
        Ok(filter) => play(root.spawn(filter), &messages, Some(Exact::from(BUDGET))),
        Err(error) => panic!("a budget of {BUDGET} is refused: {error}"),
    }
}

fn read(line: &str) -> Option<Ask> {
    let message = serde_json::from_str::<Ask>(line).ok()?;
    let again = serde_json::to_string(&message).ok();
    let again = again.and_then(|text| serde_json::from_str(&text).ok());
    assert_eq!(again.as_ref(), Some(&message));
    Some(message)
}

/// Asks them all, and compares with what should have been answered.
fn play(machine: Result<Queryable<Ask, Told>, AskError>, messages: &[Ask], budget: Option<Exact>) {
    let Ok(machine) = machine else {
        panic!("the machine was not spawned");
    };
    let mut expected = Expected {
        launched: Vec::new(),
        asked: Vec::new(),
        budget,
    };
    for message in messages {
        let answer = machine.ask(message.clone());
        written(&answer);
        if let Err(error) = &answer {
            crate::check_error(error);
            let text = error.to_string();
            assert!(!text.contains("panicked"), "{message:?}: {text}");
        }
        let right = expected.takes(message, answer.as_ref().ok());
        assert!(right, "{message:?}: {answer:?}");
    }
}

fn written(answer: &Result<Told, AskError>) {
    let text = serde_json::to_string(answer).unwrap_or_default();
    let again = serde_json::from_str::<Result<Told, AskError>>(&text);
    assert!(again.is_ok_and(|again| again == *answer), "{text}");
}

/// What an odometer or a filter may answer: it keeps a sum, and how often each machine was asked.
///
/// A loss may be rounded up to the [grid](on_grid) when it is charged: sums lie between that of the losses and that of the
/// rounded ones. Where the two are one, and that is everywhere but at extreme losses, the answer is determined.
struct Expected {
    launched: Vec<Exact>,
    asked: Vec<u64>,
    budget: Option<Exact>,
}

impl Expected {
    /// Whether this is an answer to this message; `None` is an error.
    fn takes(&mut self, message: &Ask, answer: Option<&Told>) -> bool {
        match (message, answer) {
            (Message::Launch(Name(kind, loss)), Some(answer)) => {
                self.launches(*kind, loss.value(), answer)
            }
            (Message::Ask { machine, .. }, answer) => match self.asked.get_mut(*machine) {
                Some(asked) => {
                    *asked += 1;
                    answer == Some(&Reply::Value(*asked))
                }
                None => answer.is_none(),
            },
            (Message::PrivacyLoss(d_in), Some(Reply::Loss(loss))) => {
                let (least, most) = self.sums(*d_in, None);
                least <= *loss.value() && *loss.value() <= most
            }
            (Message::PrivacyLoss(d_in), None) => self.budget.is_some() && *d_in != 1,
            _ => false,
        }
    }

    fn launches(&mut self, kind: Kind, loss: &Exact, answer: &Told) -> bool {
        let (least, most) = self.sums(1, Some(loss));
        let over = |sum: Exact| self.budget.as_ref().is_some_and(|budget| sum > *budget);
        if *answer == Reply::Refused {
            return over(most);
        }
        if over(least) {
            return false;
        }
        self.launched.push(loss.clone());
        let right = match kind {
            Kind::Value => Reply::Value(SIZE),
            Kind::Machine => {
                self.asked.push(0);
                Reply::Machine(self.asked.len() - 1)
            }
            Kind::Failure => Reply::Failed(AskError::failed("no luck")),
        };
        *answer == right
    }

    /// The sum at this distance, with one more launch perhaps: of the losses, and of the losses rounded up.
    fn sums(&self, d_in: u32, more: Option<&Exact>) -> (Exact, Exact) {
        let losses = self.launched.iter().chain(more);
        let losses: Vec<Exact> = losses.map(|loss| loss.times(d_in.into())).collect();
        (losses.iter().sum(), losses.iter().map(on_grid).sum())
    }
}

/// The least multiple of `2^-256 · 5^-64` that is not below; infinity from `2^256` on.
fn on_grid(loss: &Exact) -> Exact {
    let steps = (UBig::ONE << 256) * UBig::from(5u8).pow(64);
    let Some(ratio) = loss.to_rational() else {
        return Exact::INFINITY;
    };
    if ratio >= RBig::from(UBig::ONE << 256) {
        return Exact::INFINITY;
    }
    let up = (ratio * RBig::from(steps.clone())).ceil();
    Exact::from_rational(&RBig::from_parts(up, steps), Round::Up).unwrap_or(Exact::INFINITY)
}
