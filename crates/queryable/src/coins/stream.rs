//! One machine's randomness: the block that its parent's stream holds for it.
//!
//! A block is 16 words: 8 words of key, 8 words of first coins. Most functions need no more than the first coins. Past
//! them a machine draws from ChaCha20's stream 1 under its key; stream 0 under its key holds its children's blocks.
//!
//! Words, not bytes, because they are wiped four times as fast. Whatever holds a key or coins wipes them when it is
//! dropped. Copies that the compiler leaves on the stack or in registers when a value moves cannot be wiped.

use std::{convert::Infallible, mem};

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng, TryRng};
use zeroize::{Zeroize, Zeroizing};

/// Words of a block.
pub(super) const BLOCK: usize = 16;
/// Words of a key; what is left of a block are coins.
const KEY: usize = 8;
/// Which of a key's streams its owner draws from.
const OWN: u64 = 1;

/// The key of a machine's or a root's streams.
pub(crate) struct Key(pub(super) Zeroizing<[u32; KEY]>);

impl Key {
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Self {
        let mut words = Zeroizing::new([0; KEY]);
        for (word, four) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*four);
        }
        Self(words)
    }

    /// As ChaCha20 takes it: on a little-endian processor, the same bytes.
    pub(super) fn bytes(&self) -> [u8; 32] {
        bytes(&self.0)
    }
}

fn bytes(words: &[u32; KEY]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (four, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *four = word.to_le_bytes();
    }
    bytes
}

/// What a parent's stream holds for one child.
pub(crate) struct Block {
    pub(super) key: Key,
    pub(super) coins: Zeroizing<[u32; BLOCK - KEY]>,
}

impl Block {
    /// Takes a block out of a buffer, where it is wiped.
    pub(super) fn take(words: &mut [u32; BLOCK]) -> Self {
        let mut block = Self {
            key: Key(Zeroizing::new([0; KEY])),
            coins: Zeroizing::new([0; BLOCK - KEY]),
        };
        let (key, coins) = words.split_at(KEY);
        block.key.0.copy_from_slice(key);
        block.coins.copy_from_slice(coins);
        words.zeroize();
        block
    }

    /// For a child that draws nothing itself: a root.
    pub(super) fn into_key(self) -> Key {
        self.key
    }
}

/// One machine's own random bits.
pub(crate) enum Stream {
    /// The coins from this word on are unused; the others are wiped.
    First(Block, usize),
    Flowing(Box<ChaCha20Rng>),
}

impl Stream {
    pub(super) fn new(block: Block) -> Self {
        Self::First(block, 0)
    }

    /// The key and the first coins, from which all draws follow, if nothing has been drawn yet.
    pub(super) fn untouched(&self) -> Option<([u8; 32], [u8; 32])> {
        match self {
            Self::First(block, 0) => Some((block.key.bytes(), bytes(&block.coins))),
            _ => None,
        }
    }

    /// The machine's own key, for its children's blocks.
    pub(super) fn key(&self) -> Key {
        match self {
            Self::First(block, _) => Key(block.key.0.clone()),
            Self::Flowing(stream) => Key::from_bytes(&Zeroizing::new(stream.get_seed())),
        }
    }

    pub(super) fn bits(&mut self) -> &mut dyn Rng {
        match self {
            Self::Flowing(stream) => stream,
            first => first,
        }
    }

    fn word(&mut self) -> u32 {
        loop {
            match self {
                Self::Flowing(stream) => return stream.next_u32(),
                Self::First(block, used) => {
                    if let Some(word) = block.coins.get_mut(*used) {
                        *used += 1;
                        return mem::take(word);
                    }
                    let mut stream = Box::new(ChaCha20Rng::from_seed(block.key.bytes()));
                    stream.set_stream(OWN);
                    *self = Self::Flowing(stream);
                }
            }
        }
    }
}

/// The first coins, then the stream: one sequence of words, whatever sizes they are drawn in.
impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.word())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let low = u64::from(self.word());
        Ok(u64::from(self.word()) << 32 | low)
    }

    fn try_fill_bytes(&mut self, target: &mut [u8]) -> Result<(), Infallible> {
        for part in target.chunks_mut(4) {
            part.copy_from_slice(&self.word().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}
