//! Local protocols: the server's view costs what the users that differ cost, whatever the server.

use crate::common::{
    Bits, Seen, ask, create, game, loss, probability, ratio, suitable, total_variation,
};
use auditor::{Factor, Input, Report, audit};
use continual::{
    Catalogue, Certified, ConsistentParallel, Outcome, PriceError, Static, local::Protocol,
};
use measures::{
    ApproxZcdp, Basic, Epsilon, EpsilonDelta, PureDp, RhoDelta, adaptive::ImprovedBasic,
};
use queryable::{
    AskError, Exchange, Heard, Machine, Move, Root, Scope, coins::Bit, compose::Routed, machine,
};

/// Randomized response, once.
fn responses() -> Protocol<bool, (), bool, Epsilon> {
    Protocol::new("1.0987".parse().unwrap(), |truth: &bool| {
        let (lie, truth) = (Bit::new(probability(1, 4)), *truth);
        machine(move |(), scope: &mut Scope<'_>| {
            scope.halt();
            Ok(scope.draw(&lie)? ^ truth)
        })
    })
}

/// All servers, on inputs in which the first `k` of three users differ.
fn all_servers<L: measures::Loss>(
    protocol: &Protocol<bool, (), bool, L>,
    k: usize,
) -> Report<Routed<()>, bool> {
    let build = |input: Input, root: &Root| {
        let data: Vec<bool> = (0..3).map(|user| user < k && input == Input::One).collect();
        root.spawn(protocol.users(&data))
    };
    let everybody =
        |_: &[Exchange<Routed<()>, bool>]| (0..3).map(|to| Routed { to, query: () }).collect();
    audit(build).asking(3, everybody).unwrap()
}

#[test]
fn k_users_cost_k_users() {
    for (k, factor) in [(1, 3), (2, 9)] {
        let report = all_servers(&responses(), k);
        let price = responses().loss(&Basic::new(PureDp), k as u32).unwrap();
        assert!(report.claims(&price).unwrap().holds());
        assert_eq!(
            report.factor(&ratio(0, 1)),
            Some(Factor::new(factor, 1).unwrap())
        );
    }
    // RR_{0, δ}: three users, of whom k differ.
    let leaky: Protocol<bool, (), bool, EpsilonDelta> =
        Protocol::new(loss("(0, 0.1)"), |truth: &bool| {
            let (leak, truth) = (Bit::new(probability(1, 10)), *truth);
            machine(move |(), scope: &mut Scope<'_>| {
                scope.halt();
                Ok(scope.draw(&leak)? & truth)
            })
        });
    for (k, truth) in [(1, ratio(1, 10)), (2, ratio(19, 100))] {
        let report = all_servers(&leaky, k);
        assert_eq!(total_variation(&report), truth);
        let price = leaky.loss(&ImprovedBasic, k as u32).unwrap();
        assert!(report.claims(&price).unwrap().holds());
    }
}

#[test]
fn users_are_asked_in_any_order_so_the_rule_must_allow_it() {
    let users: Protocol<bool, (), bool, RhoDelta> =
        Protocol::new("(0.1, 0)".parse().unwrap(), |_: &bool| {
            machine(|(), _: &mut Scope<'_>| Ok(true))
        });
    let refused = users.loss(&Basic::new(ApproxZcdp), 1).unwrap_err();
    assert_eq!(refused, PriceError::Sequential);
}

/// A server that asks the users in turn until one says yes.
fn first_yes(users: usize) -> impl Machine<Query = Heard<bool>, Answer = Move<Routed<()>>> {
    let mut next = 0;
    machine(move |heard: Heard<bool>, _: &mut Scope<'_>| {
        if heard == Some(Ok(true)) || next == users {
            return Ok(Move::Halt);
        }
        next += 1;
        Ok(Move::Ask(Routed {
            to: next - 1,
            query: (),
        }))
    })
}

#[test]
fn a_protocol_is_a_measurement() {
    let rule = Basic::new(PureDp);
    let measurement = responses().measurement(rule, || first_yes(3), 10).unwrap();
    assert_eq!(measurement.map().loss(&2).unwrap().to_string(), "2.1974");
    let data = vec![true, false, true];
    let view = measurement
        .invoke_in(&Root::seeded([1; 32]), data.into())
        .unwrap();
    let rounds = &view.transcript.rounds;
    assert!((1..=3).contains(&rounds.len()));
    assert!(
        rounds[..rounds.len() - 1]
            .iter()
            .all(|round| round.answer == Ok(false))
    );
}

#[test]
fn users_answer_only_what_has_the_property() {
    let rising: Protocol<u32, u32, u32, Epsilon> = Protocol::new(Epsilon::ZERO, |_: &u32| {
        machine(|x: u32, _: &mut Scope<'_>| Ok(x))
    });
    let rising = rising.answering(|asked| asked.is_sorted());
    let users = Root::seeded([1; 32]).spawn(rising.users(&[0, 0])).unwrap();
    let ask = |to, query| users.ask(Routed { to, query });
    assert_eq!((ask(0, 5), ask(1, 2)), (Ok(5), Ok(2)));
    assert!(matches!(ask(0, 4), Err(AskError::InvalidQuery(_))));
    assert_eq!(ask(0, 6), Ok(6)); // a refused question was not asked
    assert!(ask(2, 0).is_err()); // nobody
}

/// A user has its data.
const JOINED: u8 = 9;

/// Users who join after what others have answered (\[HSV25\] Remark 8.10): their data come first, so two of them that
/// differ cost two users, however many join; a third is refused.
#[test]
fn users_may_join_later() {
    let ln_3: Epsilon = "1.0987".parse().unwrap();
    let each = ln_3.clone();
    let users: Bits<Epsilon> = Catalogue::new(move |_: &u8| {
        let any = Static::new(|_: &bool, _: &bool| true);
        Some(Certified::first_pair_consistent(each.clone(), any, || {
            let lie = Bit::new(probability(1, 4));
            let mut data = None;
            machine(move |message: bool, scope: &mut Scope<'_>| match data {
                None => {
                    data = Some(message);
                    Ok(JOINED)
                }
                Some(truth) => {
                    scope.halt();
                    Ok(u8::from(scope.draw(&lie)? ^ truth))
                }
            })
        }))
    });
    // A user joins, with data that differ or not; is asked; and then the next, up to three.
    let offer = |history: &[Seen]| match history.last().map(|round| &round.answer) {
        None => vec![create(0)],
        Some(Ok(Outcome::Created(at))) => vec![ask(*at, false, true), ask(*at, true, true)],
        Some(Ok(Outcome::Answer(JOINED))) => vec![ask(history.len() / 3, false, false)],
        Some(Ok(Outcome::Answer(_))) if history.len() < 9 => vec![create(0)],
        Some(_) => vec![],
    };
    let two = ConsistentParallel::new(vec![ln_3.clone(); 2]);
    let build =
        |input: Input, root: &Root| game(input, root, &users, suitable(&users, two.clone()));
    let report = audit(build).asking(9, offer).unwrap();
    let price = two.slots().total(&Basic::new(PureDp)).unwrap();
    assert!(report.claims(&price).unwrap().holds());
    assert!(report.claims(&ln_3).unwrap().attack().is_some());
    let nine = Factor::new(9, 1).unwrap();
    assert_eq!(report.factor(&ratio(0, 1)), Some(nine));
}
