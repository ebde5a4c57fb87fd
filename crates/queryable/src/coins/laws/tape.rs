//! Random bits of which some are given and the others are made up, in a known way.

use rand_core::{Infallible, TryRng};

/// What becomes of the bits that are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filling {
    /// All are random.
    Random,
    /// All are this in the first requests, so many of them, and random after that.
    First(usize, bool),
    /// All are this in one request, and random elsewhere.
    Only(usize, bool),
}

/// An endless string of bits that a sampler reads from its beginning. The bits of a request are consecutive, the most
/// significant one first.
pub(super) struct Tape<'a> {
    /// The given bits, `None` where they are not; nothing is given past the end.
    given: &'a [Option<bool>],
    filling: Filling,
    /// The state of what makes up bits: nothing secret, so SplitMix64 does.
    random: u64,
    /// What was read.
    read: Vec<bool>,
    requests: usize,
}

impl<'a> Tape<'a> {
    /// What is random is a function of the seed.
    pub(super) fn new(given: &'a [Option<bool>], filling: Filling, seed: u64) -> Self {
        Self {
            given,
            filling,
            random: seed,
            read: Vec::new(),
            requests: 0,
        }
    }

    /// All bits that were read, and how many requests there were.
    pub(super) fn into_read(self) -> (Vec<bool>, usize) {
        (self.read, self.requests)
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// The next bits, 64 at the most, as a number.
    fn take(&mut self, count: usize) -> u64 {
        let random = self.random();
        let filled = match self.filling {
            Filling::First(requests, bit) if self.requests < requests => Some(bit),
            Filling::Only(request, bit) if self.requests == request => Some(bit),
            _ => None,
        };
        let mut value = 0;
        for i in 0..count {
            let given = self.given.get(self.read.len()).copied().flatten();
            let bit = given.or(filled).unwrap_or(random >> i & 1 == 1);
            self.read.push(bit);
            value = value << 1 | u64::from(bit);
        }
        value
    }
}

impl TryRng for Tape<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let word = self.take(32) as u32;
        self.requests += 1;
        Ok(word)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let word = self.take(64);
        self.requests += 1;
        Ok(word)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for byte in bytes {
            *byte = self.take(8) as u8;
        }
        self.requests += 1;
        Ok(())
    }
}
