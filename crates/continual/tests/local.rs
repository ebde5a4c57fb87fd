//! Local protocols: the server's view costs what the users that differ cost, whatever the server.

use crate::common::{
    Bits, Seen, ask, create, game, loss, probability, ratio, suitable, total_variation,
};
use auditor::{Factor, Input, Report, audit, player};
use continual::{
    Catalogue, Certified, ConsistentParallel, Identifier, Outcome, Pair, PriceError, Static,
    StreamMessage, Verifier,
    local::{Protocol, UserMessage, Users},
    streams::Streams,
};
use measures::{
    ApproxZcdp, Basic, Epsilon, EpsilonDelta, PureDp, RhoDelta, adaptive::ImprovedBasic,
};
use queryable::{
    AskError, Chain, Exchange, Heard, Machine, Move, Root, Scope, View,
    coins::{Bit, Uniform},
    compose::Routed,
    machine,
};

/// Randomized response, once, three times in four the truth.
fn responses() -> Protocol<bool, (), bool, Epsilon> {
    Protocol::new("1.0987".parse().unwrap(), |truth: &bool| {
        let (lie, truth) = (Bit::new(probability(1, 4)), *truth);
        machine(move |(), scope: &mut Scope<'_>| {
            scope.halt();
            Ok(scope.draw(&lie)? ^ truth)
        })
    })
}

/// RR_{0, δ} with δ = 0.1, once.
fn leaky() -> Protocol<bool, (), bool, EpsilonDelta> {
    Protocol::new(loss("(0, 0.1)"), |truth: &bool| {
        let (leak, truth) = (Bit::new(probability(1, 10)), *truth);
        machine(move |(), scope: &mut Scope<'_>| {
            scope.halt();
            Ok(scope.draw(&leak)? & truth)
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
    // Three users, of whom k differ.
    let leaky = leaky();
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

/// A server with coins: each asks a user, or ends. Nothing keeps it from asking the same user again.
fn randomized(users: usize) -> impl Machine<Query = Heard<bool>, Answer = Move<Routed<()>>> {
    let next = Uniform::below(users as u64 + 1).unwrap();
    machine(
        move |_: Heard<bool>, scope: &mut Scope<'_>| match scope.draw(&next)? as usize {
            to if to < users => Ok(Move::Ask(Routed { to, query: () })),
            _ => Ok(Move::Halt),
        },
    )
}

/// The view of the randomized server, its coins and the messages, as one answer. The first `k` of two users differ.
fn randomized_view(
    protocol: &Protocol<bool, (), bool, Epsilon>,
    k: usize,
) -> Report<(), View<Routed<()>, bool>> {
    let build = |input: Input, root: &Root| {
        let (protocol, root) = (protocol.clone(), root.clone());
        let data: Vec<bool> = (0..2).map(|user| user < k && input == Input::One).collect();
        Ok(player(move |()| {
            protocol.run(&root, &data, randomized(2), 3)
        }))
    };
    audit(build)
        .trusting_equality()
        .asking(1, |_: &[_]| vec![()])
        .unwrap()
}

#[test]
fn a_randomized_server_sees_no_more() {
    let rule = Basic::new(PureDp);
    for (k, factor) in [(1, 3), (2, 9)] {
        let report = randomized_view(&responses(), k);
        let price = responses().loss(&rule, k as u32).unwrap();
        assert!(report.claims(&price).unwrap().holds());
        let exact = Factor::new(factor, 1).unwrap();
        assert_eq!(report.factor(&ratio(0, 1)), Some(exact));
    }
    // Wrong: users who answer whenever they are asked. The server's coins let it ask three times.
    let forgetful: Protocol<bool, (), bool, Epsilon> =
        Protocol::new("1.0987".parse().unwrap(), |truth: &bool| {
            let (lie, truth) = (Bit::new(probability(1, 4)), *truth);
            machine(move |(), scope: &mut Scope<'_>| Ok(scope.draw(&lie)? ^ truth))
        });
    let report = randomized_view(&forgetful, 1);
    let price = forgetful.loss(&rule, 1).unwrap();
    assert!(report.claims(&price).unwrap().attack().is_some());
    let three = Factor::new(27, 1).unwrap();
    assert_eq!(report.factor(&ratio(0, 1)), Some(three));
}

/// A user's data, and what it does with them.
#[derive(Clone, Copy)]
enum User {
    /// Answers once, by randomized response.
    Honest(bool),
    /// Answers the sum of its data and of all that the server told it.
    Colluding(bool),
}

/// Questions bring what the server knows, so that a colluder knows it, too.
fn with_colluders() -> Protocol<User, Vec<bool>, bool, Epsilon> {
    Protocol::new("1.0987".parse().unwrap(), |user: &User| {
        let (lie, user) = (Bit::new(probability(1, 4)), *user);
        machine(move |told: Vec<bool>, scope: &mut Scope<'_>| match user {
            User::Honest(truth) => {
                scope.halt();
                Ok(scope.draw(&lie)? ^ truth)
            }
            User::Colluding(known) => Ok(told.into_iter().fold(known, |sum, bit| sum ^ bit)),
        })
    })
}

/// Two honest users and one that colludes, for every server that passes on what it heard.
fn colluding(data: impl Fn(Input) -> [User; 3] + Sync) -> Report<Routed<Vec<bool>>, bool> {
    let protocol = with_colluders();
    let build = |input: Input, root: &Root| root.spawn(protocol.users(&data(input)));
    let everybody = |history: &[Exchange<Routed<Vec<bool>>, bool>]| {
        let heard = |round: &Exchange<_, bool>| round.answer.as_ref().ok().copied();
        let told: Vec<bool> = history.iter().filter_map(heard).collect();
        let ask = |to| Routed {
            to,
            query: told.clone(),
        };
        (0..3).map(ask).collect()
    };
    audit(build).asking(4, everybody).unwrap()
}

/// Users who collude with the server are a part of it (\[HSV25\] Remark 8.11): the honest users that differ cost what they cost.
#[test]
fn colluding_users_see_no_more() {
    let rule = Basic::new(PureDp);
    for (k, factor) in [(1, 3), (2, 9)] {
        let honest = |input: Input, user: u32| User::Honest(user < k && input == Input::One);
        let report = colluding(|input| [honest(input, 0), honest(input, 1), User::Colluding(true)]);
        let price = with_colluders().loss(&rule, k).unwrap();
        assert!(report.claims(&price).unwrap().holds());
        let exact = Factor::new(factor, 1).unwrap();
        assert_eq!(report.factor(&ratio(0, 1)), Some(exact));
    }
    // Wrong: the colluder holds a copy of an honest user's data. No price is enough.
    let report = colluding(|input| {
        let truth = input == Input::One;
        [
            User::Honest(truth),
            User::Honest(false),
            User::Colluding(truth),
        ]
    });
    let price = with_colluders().loss(&rule, 3).unwrap();
    assert!(report.claims(&price).unwrap().attack().is_some());
    assert_eq!(report.factor(&ratio(0, 1)), None);
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
        .invoke_in(&Root::seeded([1; 32]), &data.into())
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

type Message = UserMessage<bool, ()>;
type Round = Exchange<Pair<Message>, Outcome<bool>>;

fn asking(to: usize) -> Pair<Message> {
    Pair::same(StreamMessage::Question(Routed { to, query: () }))
}

/// Everybody who joins is asked once, whenever the adversary likes; up to three join, with any data.
fn joins_and_questions(history: &[Round]) -> Vec<Pair<Message>> {
    if history.last().is_some_and(|round| round.answer.is_err()) {
        return vec![];
    }
    let is_join = |round: &&Round| matches!(round.query.zero, StreamMessage::Update(_));
    let joined = history.iter().filter(is_join).count();
    let asked = |to: &usize| !history.iter().any(|round| round.query == asking(*to));
    let bits = [(false, false), (false, true), (true, false)];
    let join = |(zero, one)| Pair::new(zero, one).map(StreamMessage::Update);
    let joins = bits.map(join).into_iter().filter(|_| joined < 3);
    (0..joined).filter(asked).map(asking).chain(joins).collect()
}

/// All adversaries against this machine, where `k` users may join with different data.
fn joining<L: measures::Loss, M>(
    protocol: &Protocol<bool, (), bool, L>,
    k: u32,
    machine: impl Fn() -> M + Sync,
) -> Report<Pair<Message>, Outcome<bool>>
where
    M: Machine<Query = Message, Answer = Outcome<bool>> + 'static,
{
    let build = |input: Input, root: &Root| {
        let referee = Verifier::new(protocol.function(k));
        root.postprocess(
            &root.spawn(machine())?,
            Chain::new(referee, Identifier::new(input)),
        )
    };
    audit(build).asking(6, joins_and_questions).unwrap()
}

#[test]
fn users_who_join_cost_what_users_cost() {
    let (pure, rule) = (responses(), Basic::new(PureDp));
    for (k, factor) in [(1, 3), (2, 9)] {
        let report = joining(&pure, k, || pure.joining());
        assert!(
            report
                .claims(&pure.loss(&rule, k).unwrap())
                .unwrap()
                .holds()
        );
        let less = report.claims(&pure.loss(&rule, k - 1).unwrap()).unwrap();
        assert!(less.attack().is_some());
        let exact = Factor::new(factor, 1).unwrap();
        assert_eq!(report.factor(&ratio(0, 1)), Some(exact));
    }
    let leaky = leaky();
    for (k, truth) in [(1, ratio(1, 10)), (2, ratio(19, 100))] {
        let report = joining(&leaky, k, || leaky.joining());
        assert_eq!(total_variation(&report), truth);
        let price = leaky.loss(&ImprovedBasic, k).unwrap();
        assert!(report.claims(&price).unwrap().holds());
    }
}

/// Wrong: a user tells whether it will leak before it has its data, and gets them with its question. Three join, one of them differs, and the
/// adversary knows in time which one should: that is a stream, and not a user.
#[test]
fn users_whose_data_come_later_cost_more() {
    let later = || {
        let (leak, mut leaks) = (Bit::new(probability(1, 10)), Vec::new());
        machine(
            move |message: Message, scope: &mut Scope<'_>| match message {
                StreamMessage::Question(Routed { to, .. }) => {
                    leaks.push(scope.draw(&leak)?);
                    Ok(Outcome::Answer(leaks[to.min(leaks.len() - 1)]))
                }
                // The data of the user who was asked last.
                StreamMessage::Update(truth) => {
                    let leaks = leaks.last().copied().unwrap_or(false);
                    Ok(Outcome::Answer(leaks & truth))
                }
            },
        )
    };
    // Questions first, then data.
    let offer = |history: &[Round]| match history.last().map(|round| &round.query) {
        _ if history.len() == 4 => vec![],
        Some(pair) if *pair == asking(0) => {
            let join = |(zero, one)| Pair::new(zero, one).map(StreamMessage::Update);
            vec![join((false, false)), join((false, true))]
        }
        _ => vec![asking(0)],
    };
    let leaky = leaky();
    let build = |input: Input, root: &Root| {
        let referee = Verifier::new(leaky.function(1));
        root.postprocess(
            &root.spawn(later())?,
            Chain::new(referee, Identifier::new(input)),
        )
    };
    let report = audit(build).asking(4, offer).unwrap();
    assert_eq!(total_variation(&report), ratio(19, 100));
    let price = leaky.loss(&ImprovedBasic, 1).unwrap();
    assert!(report.claims(&price).unwrap().attack().is_some());
}

#[test]
fn only_neighbours_join_in_each_others_place() {
    let near: Protocol<i64, (), i64, Epsilon> = Protocol::new(Epsilon::ZERO, |_: &i64| {
        machine(|(), _: &mut Scope<'_>| Ok(0))
    });
    let near = near.between(|zero, one| zero + 1 == *one);
    let join = |zero, one| Pair::new(zero, one).map(StreamMessage::Update);
    let valid = |k, pairs: &[Pair<UserMessage<i64, ()>>]| {
        continual::VerificationFunction::is_valid(&near.function(k), pairs)
    };
    assert!(valid(1, &[join(3, 4)]) && valid(1, &[join(4, 3), join(7, 7)]));
    assert!(!valid(1, &[join(3, 5)]) && !valid(1, &[join(3, 4), join(7, 8)]));
    assert!(valid(2, &[join(3, 4), join(7, 8)]));
    // That somebody joins is public.
    let question = StreamMessage::Question(Routed { to: 0, query: () });
    assert!(!valid(9, &[Pair::new(StreamMessage::Update(1), question)]));
}

#[test]
fn a_user_who_panics_ends_alone_also_over_its_data() {
    let users: Protocol<u32, (), u32, Epsilon> = Protocol::new(Epsilon::ZERO, |data: &u32| {
        let share = 6 / data;
        machine(move |(), _: &mut Scope<'_>| Ok(share))
    });
    let (door, server) = users.open(&Root::seeded([1; 32])).unwrap();
    for data in [3, 0, 2] {
        door.join(data).unwrap();
    }
    let ask = |to| server.ask(Routed { to, query: () });
    assert_eq!((ask(0), ask(2)), (Ok(2), Ok(3)));
    assert!(ask(1).is_err());
    assert_eq!((door.clone().join(6), ask(3)), (Ok(3), Ok(1)));
}

#[test]
fn a_protocol_with_a_door_is_charged_when_it_is_launched() {
    let rule = Basic::new(PureDp);
    let odometer = odometer::Odometer::new(Streams::with(Users), rule);
    let session = odometer.filter(1, "2").unwrap().invoke(()).unwrap();
    let protocol = responses().continual(rule).unwrap();
    let (door, server) = session.launch(&protocol).unwrap();
    assert!(session.launch(&protocol).is_err()); // 2.1974 > 2, and nobody has joined yet
    for _ in 0..100 {
        door.join(true).unwrap();
    }
    assert!((0..100).all(|to| server.ask(Routed { to, query: () }).is_ok()));
    let sequential: Protocol<bool, (), bool, RhoDelta> =
        Protocol::new("(0.1, 0)".parse().unwrap(), |_: &bool| {
            machine(|(), _: &mut Scope<'_>| Ok(true))
        });
    let refused = sequential.continual(Basic::new(ApproxZcdp));
    assert_eq!(refused.err(), Some(PriceError::Sequential));
}
