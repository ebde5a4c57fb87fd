//! Small mutations of seeds, the same ones for the same number: enough to keep the targets alive between long runs.

/// The longest input that is made. Longer ones are the long fuzzers' business.
const LONGEST: usize = 512;

/// Pieces that matter to the readers.
const WORDS: [&str; 24] = [
    "inf",
    "*2^",
    "*5^",
    "e-",
    "e",
    "0.1",
    "1",
    "-",
    ",",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    ":",
    "\n",
    "null",
    "16384",
    "-4096",
    "18446744073709551615",
    "at order",
    "true",
];

/// An endless supply of inputs near the seeds.
pub struct Mutations<'a> {
    seeds: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutations<'a> {
    /// From these seeds (at least one), by this number.
    pub fn new(seeds: &'a [Vec<u8>], number: u64) -> Self {
        assert!(!seeds.is_empty(), "there is nothing to mutate");
        Mutations {
            seeds,
            state: number,
        }
    }

    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.random() % n.max(1) as u64) as usize
    }

    fn seed(&mut self) -> &'a [u8] {
        let at = self.below(self.seeds.len());
        &self.seeds[at]
    }

    /// A stretch of this many bytes at the most.
    fn stretch(&mut self, length: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..(start + self.below(most + 1)).min(length)
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let place = self.stretch(input.len(), 8);
        match self.random() % 6 {
            0 => {
                let word = WORDS[self.below(WORDS.len())];
                input.splice(place, word.bytes());
            }
            1 => drop(input.drain(place)),
            2 => {
                let copy = input[place.clone()].to_vec();
                input.splice(place.start..place.start, copy);
            }
            3 => {
                let other = self.seed();
                let from = self.stretch(other.len(), 64);
                input.splice(place, other[from].iter().copied());
            }
            4 => {
                // Another digit where there is one.
                let digit = b'0' + (self.random() % 10) as u8;
                let found = input[place.start..]
                    .iter_mut()
                    .find(|byte| byte.is_ascii_digit());
                found.into_iter().for_each(|byte| *byte = digit);
            }
            _ => {
                let bit = 1 << (self.random() % 8);
                input[place]
                    .iter_mut()
                    .take(1)
                    .for_each(|byte| *byte ^= bit);
            }
        }
    }
}

impl Iterator for Mutations<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut input = self.seed().to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        Some(input)
    }
}
