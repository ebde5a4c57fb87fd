//! The message form: the papers' algorithms 2 to 6 over messages that can be written down.

use std::sync::Arc;

use crate::common::*;
use measures::{ApproxZcdp, Basic, Epsilon, PrivacyMap, PureDp, SymmetricDistance, times};
use odometer::message::{Entry, Launchable, Launched, Message, Reply, truncated_view};
use odometer::{Measurement, Odometer, OpenError, Space, Transformation, Watch};
use queryable::coins::{Bit, Probability, Script, enumerate};
use queryable::{AskError, Queryable, Root, Scope, machine};

type Ask = Message<String, u64, u32>;
type Told = Reply<u64, Epsilon>;

/// `value 0.5` answers the number of records; `machine 0.5` adds up; `fail 0.5` and `panic 0.5` do; `bit` is a lie one
/// time in four; `broken` is a number of records after a transformation that fails.
struct Menu;

impl Launchable<Numbers, Pure> for Menu {
    type Name = String;
    type Query = u64;
    type Answer = u64;

    fn find(&self, name: &String) -> Option<Entry<Numbers, Pure, u64, u64>> {
        let (kind, cost) = name.split_once(' ')?;
        let kind = kind.to_owned();
        let map = PrivacyMap::per_record(PureDp, cost).ok()?;
        if kind == "broken" {
            let broken = Transformation::new(records(), records(), times(1), |_: &Vec<i64>| {
                Err(AskError::failed("broken"))
            });
            return (&broken.named("broken") >> &self.find(&format!("value {cost}"))?).ok();
        }
        Some(Measurement::new(
            name.clone(),
            records(),
            map,
            move |data, scope| match kind.as_str() {
                "value" => Ok(Launched::Value(data.len() as u64)),
                "machine" => scope.spawn(adding()).map(Launched::Machine),
                "fail" => Err(AskError::failed("no luck")),
                "bit" => {
                    let lie = scope.draw(&Bit::new(Probability::new(1, 4).unwrap()))?;
                    Ok(Launched::Value(u64::from(data.is_empty() ^ lie)))
                }
                _ => panic!("careless"),
            },
        ))
    }
}

fn adding() -> impl queryable::Machine<Query = u64, Answer = u64> {
    let mut sum = 0;
    machine(move |x: u64, _: &mut Scope<'_>| {
        sum += x;
        Ok(sum)
    })
}

fn launch(name: &str) -> Ask {
    Message::Launch(name.into())
}

fn ask(machine: usize, query: u64) -> Ask {
    Message::Ask { machine, query }
}

fn odometer() -> Queryable<Ask, Told> {
    let odometer = Odometer::new(records(), BASIC);
    let machine = odometer.machine(Arc::new(vec![1, 2, 3]), Menu);
    Root::seeded([1; 32]).spawn(machine).unwrap()
}

#[test]
fn an_odometer_over_messages() {
    let odometer = odometer();
    assert_eq!(
        odometer.ask(Message::PrivacyLoss(1)),
        Ok(Reply::Loss(loss("0")))
    );
    assert_eq!(odometer.ask(launch("value 0.1")), Ok(Reply::Value(3)));
    assert_eq!(odometer.ask(launch("machine 0.2")), Ok(Reply::Machine(0)));
    assert_eq!(odometer.ask(launch("machine 0.2")), Ok(Reply::Machine(1)));
    assert_eq!(odometer.ask(ask(0, 5)), Ok(Reply::Value(5)));
    assert_eq!(odometer.ask(ask(1, 7)), Ok(Reply::Value(7)), "concurrently");
    assert_eq!(odometer.ask(ask(0, 5)), Ok(Reply::Value(10)));
    assert_eq!(
        odometer.ask(launch("fail 0.1")),
        Ok(Reply::Failed(AskError::failed("no luck")))
    );
    assert_eq!(
        odometer.ask(launch("panic 0.1")),
        Ok(Reply::Failed(AskError::Panicked))
    );
    assert_eq!(
        odometer.ask(Message::PrivacyLoss(1)),
        Ok(Reply::Loss(loss("0.7")))
    );
    assert_eq!(
        odometer.ask(Message::PrivacyLoss(2)),
        Ok(Reply::Loss(loss("1.4")))
    );
    for wrong in [ask(2, 0), launch("nothing"), launch("value -1")] {
        assert!(matches!(
            odometer.ask(wrong),
            Err(AskError::InvalidQuery(_))
        ));
    }
    assert_eq!(
        odometer.ask(Message::PrivacyLoss(1)),
        Ok(Reply::Loss(loss("0.7")))
    );
}

#[test]
fn a_filter_over_messages() {
    let filter =
        Odometer::new(records(), BASIC).filter_machine(1, loss("1"), Arc::new(vec![1]), Menu);
    let filter = Root::seeded([1; 32]).spawn(filter.unwrap()).unwrap();
    assert_eq!(filter.ask(launch("value 0.75")), Ok(Reply::Value(1)));
    assert_eq!(filter.ask(launch("value 0.5")), Ok(Reply::Refused));
    assert_eq!(
        filter.ask(launch("value 0.25")),
        Ok(Reply::Value(1)),
        "a refusal is not a death"
    );
    assert_eq!(
        filter.ask(Message::PrivacyLoss(1)),
        Ok(Reply::Loss(loss("1")))
    );
    assert!(
        filter.ask(Message::PrivacyLoss(2)).is_err(),
        "known at its own distance"
    );

    let halting = Odometer::new(records(), BASIC).halting();
    let halting = halting
        .filter_machine(1, loss("1"), Arc::new(vec![1]), Menu)
        .unwrap();
    let halting = Root::seeded([1; 32]).spawn(halting).unwrap();
    assert_eq!(halting.ask(launch("value 2")), Ok(Reply::Refused));
    assert_eq!(halting.ask(launch("value 0")), Ok(Reply::Refused));
}

/// Interactive measurements of approximate zCDP.
struct InTurn;

impl Launchable<Numbers, Basic<ApproxZcdp>> for InTurn {
    type Name = u8;
    type Query = u64;
    type Answer = u64;

    fn find(&self, _: &u8) -> Option<Entry<Numbers, Basic<ApproxZcdp>, u64, u64>> {
        let map = PrivacyMap::new(ApproxZcdp, |_| Ok(loss("(0.1, 1e-9)")));
        let open = |_: &_, scope: &mut Scope<'_>| scope.spawn(adding()).map(Launched::Machine);
        Some(Measurement::new("machine", records(), map, open))
    }
}

#[test]
fn a_sequential_odometer_over_messages() {
    let odometer =
        Odometer::new(records(), Basic::new(ApproxZcdp)).machine(Arc::new(vec![]), InTurn);
    let odometer = Root::seeded([1; 32]).spawn(odometer).unwrap();
    let ask = |machine| Message::Ask { machine, query: 1 };
    odometer.ask(Message::Launch(0)).unwrap();
    assert_eq!(odometer.ask(ask(0)), Ok(Reply::Value(1)));
    odometer.ask(Message::Launch(0)).unwrap();
    assert_eq!(odometer.ask(ask(0)), Err(AskError::OutOfTurn));
    assert_eq!(odometer.ask(ask(1)), Ok(Reply::Value(1)));
    assert_eq!(
        odometer.ask(Message::PrivacyLoss(1)),
        Ok(Reply::Loss(loss("(0.2, 2e-9)")))
    );
}

#[test]
fn the_truncated_view_stops_before_it_shows_too_much() {
    let root = Root::seeded([1; 32]);
    let truncated = |limit: &str| {
        let machine = Odometer::new(records(), BASIC).machine(Arc::new(vec![1, 2, 3]), Menu);
        let odometer = root.spawn(machine).unwrap();
        root.postprocess(&odometer, truncated_view(1, loss(limit)))
            .unwrap()
    };
    let view = truncated("0.5");
    assert_eq!(view.ask(launch("value 0.25")), Ok(Reply::Value(3)));
    assert_eq!(
        view.ask(launch("machine 0.25")),
        Ok(Reply::Machine(0)),
        "equality is shown"
    );
    assert_eq!(view.ask(ask(0, 4)), Ok(Reply::Value(4)));
    assert_eq!(
        view.ask(Message::PrivacyLoss(2)),
        Ok(Reply::Loss(loss("1")))
    );
    assert!(
        view.ask(launch("nonsense")).is_err(),
        "an error is an answer"
    );
    assert_eq!(
        view.ask(launch("value 0.1")),
        Err(AskError::Halted),
        "the loss after it is too large"
    );
    assert_eq!(
        view.ask(ask(0, 4)),
        Err(AskError::Halted),
        "and that is the end"
    );

    // Read as printed, a limit of zero would show one answer.
    let view = truncated("0");
    assert_eq!(view.ask(launch("value 0")), Ok(Reply::Value(3)));
    assert_eq!(view.ask(launch("bit 1.0987")), Err(AskError::Halted));

    // A mechanism that fails was charged as well.
    let view = truncated("0.5");
    assert!(matches!(view.ask(launch("fail 0.5")), Ok(Reply::Failed(_))));
    assert_eq!(view.ask(launch("fail 0.1")), Err(AskError::Halted));
}

#[test]
fn the_truncated_view_of_two_lies_is_the_view_of_one() {
    // Exactly: the law of what an analyst sees, on neighbouring data.
    let law = |data: Vec<i64>| {
        let play = |script: &Script| {
            let root = Root::scripted(script);
            let machine = Odometer::new(records(), BASIC).machine(Arc::new(data.clone()), Menu);
            let odometer = root.spawn(machine).unwrap();
            let view = root
                .postprocess(&odometer, truncated_view(1, loss("1.0987")))
                .unwrap();
            let first = view.ask(launch("bit 1.0987"));
            format!("{first:?}, {:?}", view.ask(launch("bit 1.0987")))
        };
        enumerate(1000, play).unwrap().law()
    };
    let (empty, one) = (law(vec![]), law(vec![1]));
    assert_eq!(empty.len(), 2, "the second answer is never shown");
    assert!(empty.keys().eq(one.keys()));
    for (seen, p) in &empty {
        let q = &one[seen];
        let (triple_p, triple_q) = (p + p + p, q + q + q);
        assert!(triple_p == *q || triple_q == *p, "{p} {q}");
    }
}

#[test]
fn messages_and_answers_are_written_down_and_read_back() {
    let messages = [launch("value 0.1"), ask(3, 4), Message::PrivacyLoss(2)];
    let text = serde_json::to_string(&messages).unwrap();
    assert_eq!(
        text,
        r#"[{"Launch":"value 0.1"},{"Ask":{"machine":3,"query":4}},{"PrivacyLoss":2}]"#
    );
    assert_eq!(serde_json::from_str::<[Ask; 3]>(&text).unwrap(), messages);
    let odometer = odometer();
    for message in
        messages
            .into_iter()
            .chain([launch("machine 1"), launch("fail 1"), launch("value 0.3")])
    {
        let answer = odometer.ask(message);
        let text = serde_json::to_string(&answer).unwrap();
        assert_eq!(
            serde_json::from_str::<Result<Told, AskError>>(&text).unwrap(),
            answer,
            "{text}"
        );
    }
    serde_json::from_str::<Told>(r#"{"Loss":"-1"}"#).unwrap_err();
    serde_json::from_str::<Ask>(r#"{"Refund":1}"#).unwrap_err();
}

#[test]
fn a_transformation_that_fails_stops_the_message_form_too() {
    let watch = Watch::new();
    let odometer = Odometer::new(records(), BASIC).watched(&watch);
    let machine = odometer.machine(Arc::new(vec![1, 2, 3]), Menu);
    let odometer = Root::seeded([1; 32]).spawn(machine).unwrap();
    assert_eq!(odometer.ask(launch("machine 0.2")), Ok(Reply::Machine(0)));
    for name in ["broken 0.1", "value 0", "broken 0.1"] {
        assert_eq!(odometer.ask(launch(name)), Err(AskError::Halted));
    }
    assert_eq!(odometer.ask(ask(0, 5)), Ok(Reply::Value(5)), "it goes on");
    let charged = odometer.ask(Message::PrivacyLoss(1));
    assert_eq!(charged, Ok(Reply::Loss(loss("0.3"))));
    assert_eq!(watch.failures()[0].by, "broken");
}

/// At most ten records.
#[derive(Clone, Debug, PartialEq)]
struct Few;

impl Space for Few {
    type Data = Vec<u8>;
    type Distance = u32;
    type Metric = SymmetricDistance;

    fn metric(&self) -> &SymmetricDistance {
        &SymmetricDistance
    }

    fn contains(&self, data: &Vec<u8>) -> bool {
        data.len() <= 10
    }
}

struct Nothing;

impl Launchable<Few, Pure> for Nothing {
    type Name = ();
    type Query = ();
    type Answer = ();

    fn find(&self, (): &()) -> Option<Entry<Few, Pure, (), ()>> {
        None
    }
}

#[test]
fn a_filter_in_message_form_checks_the_space_too() {
    let odometer = Odometer::new(Few, BASIC);
    let machine =
        |n| odometer.filter_machine(1, "1".parse().unwrap(), Arc::new(vec![0; n]), Nothing);
    assert!(machine(10).is_ok());
    assert!(matches!(machine(11), Err(OpenError::NotInSpace { .. })));
}
