//! Seeded coins: a run reproduces bit for bit, and every machine has a stream of its own.

mod common;

use std::collections::BTreeSet;

use chacha20::ChaCha20Rng;
use common::bit;
use queryable::coins::{Categorical, Distribution, Probability, Uniform};
use queryable::{
    AnalystCoins, AskError, Heard, Machine, Move, Queryable, Root, Scope, Transcript, View,
    machine, translate,
};
use rand_core::{Rng, SeedableRng};

/// A raw word of a machine's stream. (Not enumerable, which seeded coins do not need.)
struct Word;

impl Distribution for Word {
    type Outcome = u64;
    fn sample(&self, bits: &mut dyn Rng) -> u64 {
        bits.next_u64()
    }
    fn arity(&self) -> usize {
        1
    }
    fn outcome(&self, _: usize) -> (u64, Probability) {
        (0, Probability::ONE)
    }
}

fn words() -> impl Machine<Query = (), Answer = u64> {
    machine(|(), scope: &mut Scope<'_>| scope.draw(&Word))
}

fn four(q: &Queryable<(), u64>) -> [u64; 4] {
    [(); 4].map(|()| q.ask(()).unwrap())
}

/// A machine that uses every kind of draw, spawns, errs and halts.
fn busy() -> impl Machine<Query = u64, Answer = u64> {
    let urn = Categorical::new(vec![(3, common::prob(1, 3)), (5, common::prob(2, 3))]).unwrap();
    let mut rounds = 0;
    machine(move |x: u64, scope: &mut Scope<'_>| {
        rounds += 1;
        if rounds == 20 {
            scope.halt();
        }
        if x % 5 == 4 {
            return Err(AskError::invalid("four"));
        }
        let child = scope.spawn(words())?;
        let uniform = Uniform::below(1 + x % 9).map_err(|e| AskError::failed(e.to_string()))?;
        let drawn = scope.draw(&uniform)? + scope.draw(&urn)? + u64::from(scope.draw(&bit(1, 7))?);
        Ok(child.ask(())?.wrapping_add(drawn))
    })
}

fn run(root: &Root) -> View<u64, u64> {
    let machine_under_test = root.spawn(busy()).unwrap();
    let front = root
        .postprocess(
            &machine_under_test,
            translate(|x: u64| x + 1, |x: u64| x ^ 1),
        )
        .unwrap();
    let analyst = machine(|heard: Heard<u64>, scope: &mut Scope<'_>| {
        let next = heard.and_then(Result::ok).unwrap_or(0) ^ scope.draw(&Word)?;
        Ok(Move::Ask(next % 1000))
    });
    root.interact(analyst, &front, 25).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_view() {
    let view = run(&Root::seeded([1; 32]));
    assert_eq!(view, run(&Root::seeded([1; 32])));
    assert_eq!(
        serde_json::to_string(&view).unwrap(),
        serde_json::to_string(&run(&Root::seeded([1; 32]))).unwrap()
    );
    let halts = view
        .transcript
        .rounds
        .iter()
        .filter(|r| r.answer == Err(AskError::Halted));
    assert_eq!(halts.count(), 5);
    let mut last_bit = [1; 32];
    last_bit[31] = 0;
    for other in [[2; 32], last_bit] {
        assert_ne!(view.transcript, run(&Root::seeded(other)).transcript);
    }
}

#[test]
fn operating_system_coins_do_not_repeat() {
    let first = |root: Root| root.spawn(words()).unwrap().ask(()).unwrap();
    let drawn: BTreeSet<u64> = (0..8).map(|_| first(Root::from_os().unwrap())).collect();
    assert_eq!(drawn.len(), 8);
}

#[test]
fn the_analysts_key_reproduces_its_draws() {
    let root = Root::seeded([1; 32]);
    let q = common::adder(&root);
    let analyst = machine(|_: Heard<u64>, scope: &mut Scope<'_>| scope.draw(&Word).map(Move::Ask));
    let asked = root.interact(analyst, &q, 3).unwrap();
    let AnalystCoins::Key(key) = asked.coins else {
        panic!("seeded")
    };
    let mut bits = ChaCha20Rng::from_seed(key);
    for round in asked.transcript.rounds {
        assert_eq!(round.query, bits.next_u64());
    }
}

/// The documented derivation, written again: the key of child `n` is the head of its parent's stream `n + 1`.
fn child_key(parent: [u8; 32], number: u64) -> [u8; 32] {
    let mut stream = ChaCha20Rng::from_seed(parent);
    stream.set_stream(number + 1);
    let mut key = [0; 32];
    stream.fill_bytes(&mut key);
    key
}

fn own(key: [u8; 32]) -> [u64; 4] {
    let mut stream = ChaCha20Rng::from_seed(key);
    [(); 4].map(|()| stream.next_u64())
}

#[test]
fn keys_are_derived_as_documented() {
    let seed = [9; 32];
    let root = Root::seeded(seed);
    // Children 0 and 1 of the root; child 2 is a branch; child 3 is a processor, child 4 a function under `run`.
    assert_eq!(four(&root.spawn(words()).unwrap()), own(child_key(seed, 0)));
    let second = root.spawn(words()).unwrap();
    assert_eq!(four(&second), own(child_key(seed, 1)));
    let branch = root.branch().unwrap();
    let branched = branch.spawn(words()).unwrap();
    assert_eq!(four(&branched), own(child_key(child_key(seed, 2), 0)));
    root.postprocess(&second, translate(|(): ()| (), |x: u64| x))
        .unwrap();
    let drawn = root.run([], |scope| {
        let grandchild = scope.spawn(words())?;
        let before = scope.draw(&Word)?;
        Ok((before, four(&grandchild)))
    });
    let function = child_key(seed, 4);
    assert_eq!(drawn, Ok((own(function)[0], own(child_key(function, 0)))));
}

#[test]
fn siblings_parents_and_children_have_streams_of_their_own() {
    // A tree of machines, every word of every stream; the parent draws before, between and after its spawns.
    let root = Root::seeded([4; 32]);
    let parent: Queryable<(), (u64, Queryable<(), u64>, Root)> = root
        .spawn(machine(|(), scope: &mut Scope<'_>| {
            let child = scope.spawn(words())?;
            Ok((scope.draw(&Word)?, child, scope.root()?))
        }))
        .unwrap();
    let mut all: Vec<u64> = Vec::new();
    for _ in 0..8 {
        let (drawn, child, below) = parent.ask(()).unwrap();
        all.push(drawn);
        all.extend(four(&child));
        all.extend(four(&below.spawn(words()).unwrap()));
        all.extend(four(&below.spawn(words()).unwrap()));
        all.extend(four(&root.spawn(words()).unwrap()));
    }
    // Nor is any key or seed, read as words, ever an output.
    all.extend(own([4; 32]));
    let keys = (0..40).map(|n| child_key([4; 32], n)).chain([[4; 32]]);
    all.extend(keys.map(|key| u64::from_le_bytes(key[..8].try_into().unwrap())));
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}

#[test]
fn a_machines_draws_do_not_depend_on_its_children_or_siblings() {
    let alone = four(&Root::seeded([5; 32]).spawn(words()).unwrap());
    let root = Root::seeded([5; 32]);
    let q = root
        .spawn(machine(|(), scope: &mut Scope<'_>| {
            scope.spawn(words())?.ask(())?;
            scope.draw(&Word)
        }))
        .unwrap();
    let sibling = root.spawn(words()).unwrap();
    let crowded = [(); 4].map(|()| {
        sibling.ask(()).unwrap();
        q.ask(()).unwrap()
    });
    assert_eq!(alone, crowded);
}

#[test]
fn transcripts_of_a_seeded_tree_are_equal() {
    let transcript = || Transcript::of(&Root::seeded([8; 32]).spawn(busy()).unwrap(), 0..30);
    assert_eq!(transcript(), transcript());
}
