//! What the types of streams and blocks hold, and that they wipe it.

use rand_core::{Rng, SeedableRng};
use zeroize::ZeroizeOnDrop;

use super::blocks::{BATCH, Batch, Blocks};
use super::stream::{BLOCK, Block, Key, Stream};
use super::{Child, Coins, Source};

fn blocks(seed: u8) -> Blocks {
    Blocks::new(Key::from_bytes(&[seed; 32]), true)
}

/// Block `number` under a key, from ChaCha20 directly.
fn expected(seed: u8, number: u64) -> ([u8; 32], [u8; 32]) {
    let mut stream = chacha20::ChaCha20Rng::from_seed([seed; 32]);
    stream.set_block_pos(number);
    let (mut key, mut first) = ([0; 32], [0; 32]);
    stream.fill_bytes(&mut key);
    stream.fill_bytes(&mut first);
    (key, first)
}

fn opened(block: Block) -> ([u8; 32], [u8; 32]) {
    Stream::new(block).untouched().unwrap()
}

#[test]
fn a_child_that_needed_nothing_yet_has_no_room_for_a_key() {
    assert!(size_of::<Child>() < size_of::<Key>());
    // What it gets is its own block, and of that a root below it only the key.
    let source = Source::Blocks(blocks(1));
    let mut coins = Coins::Unborn(Child::Spawned(5));
    assert_eq!(coins.reveal(&source).unwrap(), expected(1, (1 << 63) + 5));
    let Source::Blocks(below) = source.below(6) else {
        panic!("keyed")
    };
    let key = opened(below.numbered(0)).0;
    assert_eq!(
        key,
        opened(Blocks::new(Key::from_bytes(&expected(1, (1 << 63) + 6).0), true).numbered(0)).0
    );
}

#[test]
fn what_is_taken_is_wiped_where_it_was() {
    let mut words = [7; BLOCK];
    opened(Block::take(&mut words));
    assert_eq!(words, [0; BLOCK]);

    let mut batch = Batch::empty();
    for round in 0..3 {
        for next in 0..BATCH {
            opened(batch.take(|words| {
                assert_eq!((next, **words), (0, [0; BATCH * BLOCK]));
                words.fill(round + 1);
            }));
            let (taken, left) = batch.words.split_at((next + 1) * BLOCK);
            assert!(taken.iter().all(|word| *word == 0));
            assert!(left.iter().all(|word| *word == round + 1));
        }
    }

    let mut stream = Stream::new(blocks(2).numbered(0));
    for drawn in 1..=8 {
        stream.bits().next_u32();
        let Stream::First(block, used) = &stream else {
            panic!("the first coins are eight words")
        };
        assert_eq!(*used, drawn);
        let (wiped, left) = block.coins.split_at(drawn);
        assert!(wiped.iter().all(|word| *word == 0));
        assert!(left.iter().all(|word| *word != 0));
        assert!(stream.untouched().is_none());
    }
    stream.bits().next_u32();
    assert!(matches!(stream, Stream::Flowing(_)));
}

#[test]
fn whatever_holds_keys_or_coins_wipes_them_when_dropped() {
    fn wiped<T: ZeroizeOnDrop>(_: &T) {}
    let Block { key, coins } = blocks(3).numbered(0);
    wiped(&key.0);
    wiped(&coins);
    wiped(&Batch::empty().words);
    wiped(&chacha20::ChaCha20Rng::from_seed([0; 32]));
    wiped(&chacha20::ChaChaCore::<
        chacha20::R20,
        chacha20::variants::Legacy,
    >::from_seed([0; 32]));
}

#[test]
fn who_finds_the_batch_in_use_makes_a_block_alone() {
    let blocks = blocks(4);
    assert_eq!(opened(blocks.next()), expected(4, 0));
    blocks.while_in_use(|| {
        assert_eq!(opened(blocks.next()), expected(4, 4));
        assert_eq!(opened(blocks.next()), expected(4, 5));
    });
    // The batch goes on where it was, and the next one begins after those that were made alone.
    for number in [1, 2, 3, 6, 7, 8, 9, 10] {
        assert_eq!(opened(blocks.next()), expected(4, number));
    }
}
