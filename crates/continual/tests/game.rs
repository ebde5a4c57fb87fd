//! Verification functions have the properties that they are trusted to have; the verifier stops what is not valid; and
//! the identifier does what it should.

use crate::common::{probability, ratio, total_variation};
use auditor::{Factor, Input, audit};
use continual::{
    EventLevel, Identifier, Mixed, Pair, Static, StreamMessage, SwapSymmetric, UserLevel,
    VerificationFunction, Verifier, laws,
};
use queryable::{
    AskError, Chain, Exchange, Root, Scope,
    coins::{Bit, Uniform},
    machine,
};

type Mail = StreamMessage<(u8, u8), u8>;

/// Messages of three users, of whom 0 is nobody, and questions.
fn mail() -> Vec<Mail> {
    let updates = [(0, 0), (1, 0), (1, 1), (2, 0)].map(StreamMessage::Update);
    let questions = [0, 1].map(StreamMessage::Question);
    updates.into_iter().chain(questions).collect()
}

fn owner((user, _): &(u8, u8)) -> Option<u8> {
    (*user != 0).then_some(*user)
}

#[test]
fn the_functions_have_their_properties() {
    let near = Static::new(|a: &u8, b: &u8| a + 1 == *b); // one way round: taken both ways
    assert_eq!(
        laws::first_pair_consistent(&near, &[0, 1, 2], 3),
        Ok(1 + 7 + 7 * 3 + 7 * 9)
    );
    assert_eq!(laws::swap_symmetric(&near, &[0, 1, 2], 3), Ok(92));
    // 3^t identical sequences, and t·6·3^(t−1) with one pair that differs.
    let event = laws::swap_symmetric(&EventLevel::new(), &[0, 1, 2], 3);
    assert_eq!(event, Ok(1 + (3 + 6) + (9 + 36) + (27 + 162)));
    let between = EventLevel::between(|a: &u8, b: &u8| a + 1 == *b).up_to(2);
    assert_eq!(
        laws::swap_symmetric(&between, &[0, 1, 2], 3),
        Ok(1 + (3 + 4) + (9 + 24))
    );
    let user = UserLevel::new(2, owner);
    let updates = [(0, 0), (1, 0), (1, 1), (2, 0)];
    assert!(laws::swap_symmetric(&user, &updates, 3).unwrap() > 500);
    let mixed = Mixed::<_, u8>::new(UserLevel::new(2, owner));
    assert!(laws::swap_symmetric(&mixed, &mail(), 3).unwrap() > 1000);
}

/// It says that it is swap-symmetric, and is not.
struct OneWay;

impl VerificationFunction for OneWay {
    type Message = bool;

    fn is_valid(&self, pairs: &[Pair<bool>]) -> bool {
        !pairs.contains(&Pair::new(true, false))
    }
}

impl SwapSymmetric for OneWay {}
impl continual::FirstPairConsistent for OneWay {}

#[test]
fn the_laws_find_who_does_not_keep_them() {
    let found = laws::swap_symmetric(&OneWay, &[false, true], 2).unwrap_err();
    assert!(found.contains(&Pair::new(false, true)));
    let found = laws::first_pair_consistent(&OneWay, &[false, true], 2).unwrap_err();
    assert!(found[0].is_identical() && !found[1].is_identical());
}

#[test]
fn users_and_questions_are_told_apart() {
    let update = StreamMessage::<(u8, u8), u8>::Update;
    let mixed = Mixed::<_, u8>::new(UserLevel::new(2, owner));
    let valid = |pairs: &[Pair<Mail>]| mixed.is_valid(pairs);
    let gone = Pair::new(update((1, 1)), update((0, 0)));
    let question = Pair::same(StreamMessage::Question(0));
    assert!(valid(&[question, gone, question, gone]));
    assert!(!valid(&[gone, gone, gone])); // more than two updates
    assert!(!valid(&[gone, Pair::new(update((2, 0)), update((0, 0)))])); // two users
    assert!(!valid(&[Pair::new(update((1, 0)), update((2, 0)))])); // two users in one pair
    assert!(!valid(&[Pair::new(
        StreamMessage::Question(0),
        StreamMessage::Question(1)
    )]));
    assert!(!valid(&[Pair::new(
        StreamMessage::Question(0),
        update((1, 0))
    )]));
    // Nobody's records may not differ, whatever is in them.
    assert!(!UserLevel::new(9, owner).is_valid(&[Pair::new((0, 0), (0, 1))]));
}

#[test]
fn the_verifier_halts_or_refuses() {
    let root = Root::seeded([0; 32]);
    let echo = || root.spawn(machine(|x: u8, _| Ok(x))).unwrap();
    let event = EventLevel::<u8>::new;
    let chain = |verifier| Chain::new(verifier, Identifier::new(true));
    let halting = root
        .postprocess(&echo(), chain(Verifier::new(event())))
        .unwrap();
    assert_eq!(halting.ask(Pair::new(1, 2)), Ok(2));
    assert!(matches!(
        halting.ask(Pair::new(1, 2)),
        Err(AskError::InvalidQuery(_))
    ));
    assert_eq!(halting.ask(Pair::same(1)), Err(AskError::Halted));
    let refusing = root
        .postprocess(&echo(), chain(Verifier::new(event()).refusing()))
        .unwrap();
    assert_eq!(refusing.ask(Pair::new(1, 2)), Ok(2));
    assert!(refusing.ask(Pair::new(1, 2)).is_err());
    assert_eq!(refusing.ask(Pair::same(1)), Ok(1));
}

#[test]
fn refusing_helps_no_adversary() {
    let build = |refusing: bool| {
        move |input: Input, root: &Root| {
            let lie = Bit::new(probability(1, 4));
            let response = machine(move |x: bool, scope: &mut Scope<'_>| Ok(scope.draw(&lie)? ^ x));
            let verifier = Verifier::new(EventLevel::new());
            let verifier = if refusing {
                verifier.refusing()
            } else {
                verifier
            };
            root.postprocess(
                &root.spawn(response)?,
                Chain::new(verifier, Identifier::new(input)),
            )
        }
    };
    let pairs = |_: &[_]| {
        vec![
            Pair::same(true),
            Pair::new(false, true),
            Pair::new(true, false),
        ]
    };
    for refusing in [false, true] {
        let report = audit(build(refusing)).asking(3, pairs).unwrap();
        assert_eq!(
            report.factor(&ratio(0, 1)),
            Some(Factor::new(3, 1).unwrap())
        );
    }
}

/// \[HSV25\] footnote 1: the first message is the data, and the answer is a random r; whoever then sends r gets the data.
#[test]
fn oblivious_adversaries_see_less_than_adaptive_ones() {
    let build = |input: Input, root: &Root| {
        let mut state = None;
        let gambler = machine(move |x: u64, scope: &mut Scope<'_>| match state {
            None => {
                let r = scope.draw(&Uniform::below(10).map_err(|_| AskError::failed("r"))?)?;
                state = Some((x, r));
                Ok(r)
            }
            Some((data, r)) => Ok(if x == r { 100 + data } else { 99 }),
        });
        let near = Static::new(|_: &u64, _: &u64| true);
        root.postprocess(
            &root.spawn(gambler)?,
            Chain::new(Verifier::new(near), Identifier::new(input)),
        )
    };
    type Seen = Exchange<Pair<u64>, u64>;
    let data = || vec![Pair::new(0, 1)];
    let adaptive = audit(build)
        .asking(2, |seen: &[Seen]| match seen {
            [] => data(),
            _ => (0..10).map(Pair::same).collect(),
        })
        .unwrap();
    assert_eq!(total_variation(&adaptive), ratio(1, 1));
    for guess in 0..10 {
        let oblivious = audit(build)
            .asking(2, move |seen: &[Seen]| match seen {
                [] => data(),
                _ => vec![Pair::same(guess)],
            })
            .unwrap();
        assert_eq!(total_variation(&oblivious), ratio(1, 10));
    }
}
