//! Seeded coins: a run reproduces bit for bit, and every machine has a stream of its own.

use std::collections::BTreeSet;

use crate::common::bit;
use chacha20::ChaCha20Rng;
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
    let urn = Categorical::new(vec![
        (3, crate::common::prob(1, 3)),
        (5, crate::common::prob(2, 3)),
    ])
    .unwrap();
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

/// The documented derivation, written again: block `n` of the parent's stream 0 holds a child's key and first coins.
#[derive(Clone, Copy)]
struct Block {
    key: [u8; 32],
    first: [u8; 32],
}

fn block(parent: [u8; 32], number: u64) -> Block {
    let mut stream = ChaCha20Rng::from_seed(parent);
    stream.set_block_pos(number);
    let (mut key, mut first) = ([0; 32], [0; 32]);
    stream.fill_bytes(&mut key);
    stream.fill_bytes(&mut first);
    Block { key, first }
}

/// The block of the spawned child with this number.
fn spawned(parent: [u8; 32], number: u64) -> Block {
    block(parent, (1 << 63) + number)
}

impl Block {
    /// What its owner draws: the first coins, then stream 1 under its key.
    fn bytes(&self, count: usize) -> Vec<u8> {
        let mut stream = ChaCha20Rng::from_seed(self.key);
        stream.set_stream(1);
        let mut bytes = self.first.to_vec();
        bytes.resize(count.max(32), 0);
        stream.fill_bytes(&mut bytes[32..]);
        bytes.truncate(count);
        bytes
    }

    fn words(&self, count: usize) -> Vec<u64> {
        let words = self.bytes(8 * count);
        let words = words.as_chunks().0.iter();
        words.map(|word| u64::from_le_bytes(*word)).collect()
    }
}

/// More than the first coins.
const MANY: usize = 11;

fn many(q: &Queryable<(), u64>) -> Vec<u64> {
    (0..MANY).map(|_| q.ask(()).unwrap()).collect()
}

#[test]
fn the_analysts_key_and_first_coins_reproduce_its_draws() {
    let root = Root::seeded([1; 32]);
    let q = crate::common::adder(&root);
    let analyst = machine(|_: Heard<u64>, scope: &mut Scope<'_>| scope.draw(&Word).map(Move::Ask));
    let asked = root.interact(analyst, &q, MANY).unwrap();
    let AnalystCoins::Stream { key, first } = asked.coins else {
        panic!("seeded")
    };
    let rounds = asked.transcript.rounds.iter();
    let drawn: Vec<u64> = rounds.map(|round| round.query).collect();
    assert_eq!(drawn, Block { key, first }.words(MANY));
}

#[test]
fn coins_are_derived_as_documented() {
    let seed = [9; 32];
    let root = Root::seeded(seed);
    // Numbers 0 and 1 are machines, 2 is a branch, 3 a processor.
    let first = root.spawn(words()).unwrap();
    let second = root.spawn(words()).unwrap();
    assert_eq!(many(&second), spawned(seed, 1).words(MANY));
    assert_eq!(many(&first), spawned(seed, 0).words(MANY));
    let branch = root.branch().unwrap();
    let branched = branch.spawn(words()).unwrap();
    let below = spawned(seed, 2).key;
    assert_eq!(many(&branched), spawned(below, 0).words(MANY));
    assert_eq!(
        branch.run([], |scope| scope.draw(&Word)),
        Ok(block(below, 0).words(1)[0])
    );
    root.postprocess(&second, translate(|(): ()| (), |x: u64| x))
        .unwrap();
    let last = root.spawn(words()).unwrap();
    assert_eq!(many(&last), spawned(seed, 4).words(MANY));
}

#[test]
fn a_function_gets_the_next_block_when_it_first_draws_or_spawns() {
    let seed = [9; 32];
    let root = Root::seeded(seed);
    let drawn = |root: &Root| root.run([], |scope| scope.draw(&Word)).unwrap();
    assert_eq!(drawn(&root), block(seed, 0).words(1)[0]);
    // Neither does anything to the numbers: a function without coins, a machine.
    root.run([], |_| Ok(())).unwrap();
    let spawn = root.spawn(words()).unwrap();
    assert_eq!(drawn(&root), block(seed, 1).words(1)[0]);
    let (child, own) = root
        .run([], |scope| {
            let child = scope.spawn(words())?;
            let within = drawn(&scope.root()?);
            Ok((child, (scope.draw(&Word)?, within)))
        })
        .unwrap();
    let function = block(seed, 2);
    assert_eq!(many(&child), spawned(function.key, 0).words(MANY));
    let within = block(spawned(function.key, 1).key, 0).words(1)[0];
    assert_eq!(own, (function.words(1)[0], within));
    // From one batch of blocks to the next.
    for n in 3..14 {
        assert_eq!(drawn(&root), block(seed, n).words(1)[0]);
    }
    assert_eq!(many(&spawn), spawned(seed, 0).words(MANY));
    // A function that spawns after it has drawn more than the first coins.
    let late = |scope: &mut Scope<'_>| {
        for word in block(seed, 14).words(MANY) {
            assert_eq!(scope.draw(&Word)?, word);
        }
        scope.spawn(words())
    };
    let late = root.run([], late).unwrap();
    assert_eq!(many(&late), spawned(block(seed, 14).key, 0).words(MANY));
}

#[test]
fn draws_of_all_sizes_come_from_one_sequence_of_words() {
    /// That many bytes, or a word of 32 or 64 bits.
    enum Draw {
        Bytes(usize),
        Half,
        Word,
    }
    impl Distribution for Draw {
        type Outcome = Vec<u8>;
        fn sample(&self, bits: &mut dyn Rng) -> Vec<u8> {
            match self {
                Draw::Half => bits.next_u32().to_le_bytes().to_vec(),
                Draw::Word => bits.next_u64().to_le_bytes().to_vec(),
                Draw::Bytes(count) => {
                    let mut bytes = vec![0; *count];
                    bits.fill_bytes(&mut bytes);
                    bytes
                }
            }
        }
        fn arity(&self) -> usize {
            1
        }
        fn outcome(&self, _: usize) -> (Vec<u8>, Probability) {
            (Vec::new(), Probability::ONE)
        }
    }
    // 28 bytes, so that the next 8 are half first coins, half stream.
    for draws in [
        vec![Draw::Half, Draw::Word, Draw::Word, Draw::Word, Draw::Word],
        vec![Draw::Half, Draw::Bytes(24), Draw::Bytes(8), Draw::Word],
        vec![Draw::Bytes(100), Draw::Half, Draw::Word],
        vec![Draw::Bytes(32), Draw::Bytes(4), Draw::Half],
    ] {
        let drawn = Root::seeded([3; 32]).run([], |scope| {
            let mut all = Vec::new();
            for draw in &draws {
                all.extend(scope.draw(draw)?);
            }
            Ok(all)
        });
        let drawn = drawn.unwrap();
        assert_eq!(drawn, block([3; 32], 0).bytes(drawn.len()));
    }
}

/// All first words of functions that run on several threads at once.
fn raced(root: &Root, threads: usize, each: usize) -> Vec<u64> {
    let draw = || root.run([], |scope| scope.draw(&Word)).unwrap();
    let run = || (0..each).map(|_| draw()).collect::<Vec<u64>>();
    std::thread::scope(|s| {
        let threads: Vec<_> = (0..threads).map(|_| s.spawn(run)).collect();
        let joined = threads.into_iter().flat_map(|t| t.join().unwrap());
        joined.collect()
    })
}

#[test]
fn threads_that_run_functions_share_no_block_and_waste_few() {
    const THREADS: usize = 4;
    const EACH: usize = 20_000;
    let seed = [6; 32];
    let seen: BTreeSet<u64> = raced(&Root::seeded(seed), THREADS, EACH)
        .into_iter()
        .collect();
    assert_eq!(seen.len(), THREADS * EACH);
    // All of them, and none left out: blocks that were made are given out before others are.
    let mut stream = ChaCha20Rng::from_seed(seed);
    let blocks = (0..(THREADS * EACH + 4) as u64).map(|n| {
        stream.set_word_pos(u128::from(n) * 16 + 8);
        stream.next_u64()
    });
    let blocks: BTreeSet<u64> = blocks.collect();
    assert!(seen.is_subset(&blocks));
    // Without an order to keep, from several batches at a time.
    let seen: BTreeSet<u64> = raced(&Root::from_os().unwrap(), THREADS, EACH)
        .into_iter()
        .collect();
    assert_eq!(seen.len(), THREADS * EACH);
}

#[test]
fn the_order_of_draws_reproduces_whatever_threads_they_are_on() {
    let seed = [7; 32];
    let root = Root::seeded(seed);
    for n in 0..12 {
        let draw = || root.run([], |scope| scope.draw(&Word)).unwrap();
        let drawn = std::thread::scope(|s| s.spawn(draw).join().unwrap());
        assert_eq!(drawn, block(seed, n).words(1)[0]);
    }
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
        all.extend(many(&child));
        all.extend(many(&below.spawn(words()).unwrap()));
        all.extend(many(&below.spawn(words()).unwrap()));
        all.extend(many(&root.spawn(words()).unwrap()));
        all.push(below.run([], |scope| scope.draw(&Word)).unwrap());
        all.push(root.run([], |scope| scope.draw(&Word)).unwrap());
    }
    // Nor is any key or seed, read as words, ever an output.
    let keys = (0..40).flat_map(|n| [block([4; 32], n).key, spawned([4; 32], n).key]);
    let keys = keys.chain([[4; 32]]);
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
