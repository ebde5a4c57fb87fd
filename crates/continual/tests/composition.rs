//! Extended concurrent composition: creation, routing, halting, nesting, suitability and its variants.

use crate::common::{Ask, Bits, ask, create, game, loss, response, suitable, two_messages};
use auditor::{Input, audit, player};
use continual::{
    Anything, Catalogue, Certified, ConsistentParallel, ExtConComp, FixedMechanisms,
    FixedParameters, Identifier, Outcome, Pair, PureParallel, Request, Suitable, Unlimited,
    VerificationFunction, Verifier, coins,
};
use measures::{Basic, Epsilon, EpsilonDelta, PureDp};
use queryable::{AskError, Chain, Queryable, Root, coins::Bit, machine, once};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// Name `n` lies one time in `n`; 0 is nobody.
fn responses() -> Bits<Epsilon> {
    Catalogue::new(|name: &u8| {
        let name = u64::from(*name);
        let loss = match name {
            0 => return None,
            4 => epsilon("1.0987"), // ln 3
            _ => epsilon("2"),
        };
        Some(Certified::swap_symmetric(loss, two_messages(), move || {
            response(name)
        }))
    })
}

#[test]
fn a_mechanism_that_ends_ends_alone() {
    let catalogue = Catalogue::new(|name: &u8| {
        Some(match name {
            0 => Certified::new(Epsilon::INFINITY, Anything::new(), || {
                once(|x: u8, _| Ok(x))
            }),
            1 => Certified::new(Epsilon::INFINITY, Anything::new(), || {
                machine(|x: u8, _| match x {
                    0 => panic!("a panic of the test"),
                    x => Ok(2 * x),
                })
            }),
            _ => return None,
        })
    });
    let root = Root::seeded([0; 32]);
    let all = root.spawn(ExtConComp::new(catalogue)).unwrap();
    assert_eq!(all.ask(Request::Create(0)), Ok(Outcome::Created(0)));
    assert!(matches!(
        all.ask(Request::Create(7)),
        Err(AskError::InvalidQuery(_))
    ));
    assert!(all.ask(Request::ask(1, 1)).is_err());
    assert_eq!(all.ask(Request::Create(1)), Ok(Outcome::Created(1)));
    assert_eq!(all.ask(Request::ask(0, 5)), Ok(Outcome::Answer(5)));
    assert_eq!(all.ask(Request::ask(0, 5)), Err(AskError::Halted));
    assert_eq!(all.ask(Request::ask(1, 5)), Ok(Outcome::Answer(10)));
    assert_eq!(all.ask(Request::ask(1, 0)), Err(AskError::Panicked));
    assert_eq!(all.ask(Request::Create(1)), Ok(Outcome::Created(2)));
    assert_eq!(all.ask(Request::ask(2, 5)), Ok(Outcome::Answer(10)));
    assert_eq!(all.ask(Request::ask(1, 5)), Err(AskError::Panicked));
}

#[test]
fn communication_is_finite() {
    let root = Root::seeded([0; 32]);
    let all = root
        .spawn(ExtConComp::new(responses()).answering_at_most(2))
        .unwrap();
    for name in [3, 4] {
        all.ask(Request::Create(name)).unwrap();
    }
    for at in [0, 1] {
        assert!((0..2).all(|_| all.ask(Request::ask(at, true)).is_ok()));
        let over = Err(AskError::TooManyMessages { limit: 2 });
        assert_eq!(all.ask(Request::ask(at, true)), over);
    }
    assert_eq!(all.ask(Request::Create(3)), Ok(Outcome::Created(2)));
    assert!(all.ask(Request::ask(2, true)).is_ok());
}

#[test]
fn coins_are_a_mechanism_without_loss() {
    let heads = coins::<bool, u8, _, _>(&PureDp, Bit::fair(), u8::from);
    assert_eq!(*heads.certificate().loss(), Epsilon::ZERO);
    let catalogue = Catalogue::new(move |_: &u8| Some(heads.clone()));
    let none = PureParallel::new(vec![Epsilon::ZERO]);
    let build = |input: Input, root: &Root| {
        game(input, root, &catalogue, suitable(&catalogue, none.clone()))
    };
    let report = audit(build)
        .asking(3, crate::common::everything(0, 1))
        .unwrap();
    assert_eq!(
        crate::common::total_variation(&report),
        crate::common::ratio(0, 1)
    );
}

/// An inner composition for each of two groups, behind one identifier; and the same mechanisms side by side.
#[test]
fn nested_is_flat() {
    type Inner = Request<u8, bool>;
    let nested = |input: Input, root: &Root| {
        let outer = Catalogue::new(|_: &u8| {
            Some(Certified::new(Epsilon::INFINITY, Anything::new(), || {
                ExtConComp::new(responses())
            }))
        });
        let all = root.spawn(ExtConComp::<u8, Inner, Outcome<u8>, Epsilon>::new(outer))?;
        let identifier = Identifier::<Request<u8, Inner>, Outcome<Outcome<u8>>>::new(input);
        let all = root.postprocess(&all, identifier)?;
        for group in 0..2 {
            all.ask(Pair::same(Request::Create(0)))?;
            for name in [3, 4] {
                all.ask(Pair::same(Request::ask(group, Request::Create(name))))?;
            }
        }
        Ok(player(
            move |(group, at, bits): (usize, usize, Pair<bool>)| {
                all.ask(bits.map(|bit| Request::ask(group, Request::ask(at, bit))))
            },
        ))
    };
    let flat = |input: Input, root: &Root| {
        let all = root.spawn(ExtConComp::new(responses()))?;
        let all: Queryable<Ask, Outcome<u8>> = root.postprocess(&all, Identifier::new(input))?;
        for name in [3, 4, 3, 4] {
            all.ask(create(name))?;
        }
        Ok(player(
            move |(group, at, bits): (usize, usize, Pair<bool>)| {
                let answer = all.ask(bits.map(|bit| Request::ask(2 * group + at, bit)))?;
                Ok(Outcome::Answer(answer))
            },
        ))
    };
    let offer = |_: &[_]| {
        let pairs = [Pair::same(true), Pair::new(false, true)];
        let places = [(0, 0), (1, 1), (1, 0)];
        let to = |(group, at)| pairs.map(|pair| (group, at, pair));
        places.into_iter().flat_map(to).collect()
    };
    let (nested, flat) = (audit(nested).asking(3, offer), audit(flat).asking(3, offer));
    assert!(nested.unwrap().same_views(&flat.unwrap()));
}

/// \[HSV25\] Def 4.5, clause by clause.
#[test]
fn what_is_suitable() {
    let f: Suitable<u8, bool, u8, _> = suitable(&responses(), Unlimited::new());
    let valid = |pairs: &[Ask]| f.is_valid(pairs);
    assert!(valid(&[create(4), ask(0, true, false), ask(0, true, true)]));
    // Creations are identical; creations pair with creations; halves ask the same mechanism.
    assert!(!valid(&[Pair::new(Request::Create(3), Request::Create(4))]));
    assert!(!valid(&[
        create(4),
        Pair::new(Request::Create(4), Request::ask(0, true))
    ]));
    let crossed = Pair::new(Request::ask(0, true), Request::ask(1, true));
    assert!(!valid(&[create(4), create(4), crossed]));
    // It exists.
    assert!(!valid(&[create(4), ask(1, true, true)]));
    assert!(!valid(&[ask(0, true, true), create(4)]));
    // It is certified.
    assert!(!valid(&[create(0)]));
    // Its own function holds: two messages, of which one differs.
    assert!(!valid(&[
        create(4),
        ask(0, true, false),
        ask(0, true, false)
    ]));
    assert!(valid(&[
        create(4),
        create(4),
        ask(0, true, false),
        ask(1, true, false)
    ]));
    assert!(!valid(&[
        create(4),
        ask(0, true, true),
        ask(0, true, true),
        ask(0, true, true)
    ]));
}

#[test]
fn fixed_mechanisms_come_first_and_alone() {
    let f = FixedMechanisms::new(responses(), vec![4, 3]);
    let valid = |pairs: &[Ask]| f.is_valid(pairs);
    assert!(valid(&[create(4)]) && valid(&[create(4), create(3), ask(1, false, true)]));
    assert!(!valid(&[create(3)])); // order
    assert!(!valid(&[create(4), ask(0, true, true)])); // before all are there
    assert!(!valid(&[create(4), create(3), create(3)])); // one more
    assert!(!valid(&[create(4), create(4)])); // twice
}

#[test]
fn fixed_parameters_are_a_multiset() {
    let slots = FixedParameters::new(vec![epsilon("1.0987"), epsilon("2")]);
    let f = suitable(&responses(), slots.clone());
    let valid = |pairs: &[Ask]| f.is_valid(pairs);
    assert!(valid(&[create(4), create(3)]) && valid(&[create(3), create(4)])); // any order
    assert!(valid(&[create(4), create(4)])); // the second fits into the larger slot
    assert!(!valid(&[create(3), create(3)])); // duplicates
    assert!(!valid(&[create(3), create(4), create(4)])); // one more
    assert!(valid(&[
        create(3),
        ask(0, true, false),
        create(4),
        ask(1, true, false)
    ]));
    assert_eq!(
        slots.slots().total(&Basic::new(PureDp)).unwrap(),
        epsilon("3.0987")
    );
}

#[test]
fn sparse_parameters_are_those_of_mechanisms_that_differ() {
    let f = suitable(
        &responses(),
        PureParallel::new(vec![epsilon("1.0987"), epsilon("1.0987")]),
    );
    let valid = |pairs: &[Ask]| f.is_valid(pairs);
    let differ = |to| ask(to, false, true);
    // Any number of mechanisms, whatever their parameters; two of the cheaper ones may differ.
    let all = [3, 4, 4, 4].map(create);
    let after = |pairs: &[Ask]| valid(&[&all[..], pairs].concat());
    assert!(after(&[ask(0, true, true), differ(1), differ(2)]));
    assert!(!after(&[differ(0)])); // too large for the slots
    assert!(!after(&[differ(1), differ(2), differ(3)])); // a third one
}

#[test]
fn streams_have_no_parallel_theorem_in_other_measures() {
    let consistent = ConsistentParallel::new(vec![loss("(1, 0.1)")]);
    let streams: Bits<EpsilonDelta> = Catalogue::new(|_: &u8| {
        Some(Certified::swap_symmetric(
            loss("(0, 0)"),
            two_messages(),
            || response(4),
        ))
    });
    assert!(!suitable(&streams, consistent).is_valid(&[create(4)]));
}

#[test]
fn a_verifier_in_front_of_a_composition_is_a_referee() {
    let root = Root::seeded([0; 32]);
    let catalogue = responses();
    let all = root.spawn(ExtConComp::new(catalogue.clone())).unwrap();
    let function = suitable(&catalogue, PureParallel::new(vec![epsilon("1.0987")]));
    let chain = Chain::new(Verifier::new(function).refusing(), Identifier::new(false));
    let game = root.postprocess(&all, chain).unwrap();
    for at in 0..2 {
        assert_eq!(game.ask(create(4)), Ok(Outcome::Created(at)));
    }
    assert!(game.ask(ask(1, false, true)).is_ok());
    assert!(game.ask(ask(0, false, true)).is_err());
    assert!(game.ask(ask(0, false, false)).is_ok());
}
