//! Exact brackets, by driving `sample` with bit strings.
//!
//! A cell is a set of bit strings: some bits are given, the others are free; its probability is 2 to minus the number of
//! given bits. It is *decided* if `sample` gives one outcome from one number of bits, whatever the free bits are. That is
//! probed: at both ends of every word that is read, at both ends of all of them together, and at random. A cell that is
//! not decided is cut in two at a bit that matters, the most likely cells first.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    fmt::Debug,
};

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::{
    Distribution, Enumerated, Mistake, Probability, between, float, shown,
    tape::{Filling, Tape},
};

/// Of this many random probes, every decided cell gets its share.
const RANDOM_PROBES: f64 = 4096.0;
/// Every decided cell gets at least so many.
const LEAST_PROBES: usize = 2;
/// The ends of so many words are probed one by one.
const WORDS: usize = 8;

/// Checks that every outcome is sampled with the probability that is enumerated, up to an `undecided` probability, in at
/// most so many `runs` of `sample`. Returns what is left undecided.
///
/// The brackets are exact if `sample` is a function of its bits and, along every word that it reads, no outcome comes back
/// after another one took over in the cell at hand: so for inversion and comparison, with or without rejection. For any
/// other sampler, a set of bit strings of probability η that goes unlike its surroundings is overlooked with probability
/// `e^(−4096·η)` at the most (over the probes, which are the same every time). A sampler that never ends does not end here.
///
/// # Errors
/// The [`Mistake`] that was found; [`Mistake::Undecided`] if the runs did not suffice.
pub fn check_exactly<D: Distribution>(
    law: &D,
    runs: usize,
    undecided: &Probability,
) -> Result<Probability, Mistake>
where
    D::Outcome: Ord + Clone + Debug,
{
    let enumerated = Enumerated::of(law)?;
    let undecided = undecided.to_rational();
    let mut search = Search {
        law,
        runs: 0,
        decided: BTreeMap::new(),
        left: RBig::ONE,
    };
    let mut cells = BinaryHeap::from([Reverse((0, Cell::default()))]);
    while search.left > undecided
        && search.runs < runs
        && let Some(Reverse((depth, cell))) = cells.pop()
    {
        match search.probe(&cell, depth)? {
            Found::Decided(outcome) => {
                let mass = RBig::from_parts(1.into(), UBig::ONE << depth);
                search.left -= &mass;
                *search.decided.entry(outcome).or_insert(RBig::ZERO) += mass;
            }
            Found::Splits(place) => {
                for bit in [false, true] {
                    cells.push(Reverse((depth + 1, cell.with(place, bit))));
                }
            }
        }
    }
    enumerated.agrees(&search.decided, &search.left)?;
    if search.left > undecided {
        return Err(Mistake::Undecided {
            runs: search.runs,
            undecided: format!("{:e}", float(&search.left)),
        });
    }
    Ok(Probability::try_from(search.left).unwrap_or(Probability::ONE))
}

/// The bits that are given.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Cell(Vec<Option<bool>>);

impl Cell {
    fn with(&self, place: usize, bit: bool) -> Self {
        let mut given = self.0.clone();
        given.resize(given.len().max(place + 1), None);
        given[place] = Some(bit);
        Self(given)
    }
}

enum Found<O> {
    Decided(O),
    /// The bit at this place matters.
    Splits(usize),
}

/// One run of `sample`.
struct Run<O> {
    outcome: O,
    read: Vec<bool>,
    requests: usize,
}

impl<O: PartialEq> Run<O> {
    /// The same outcome, from as many bits.
    fn agrees(&self, other: &Self) -> bool {
        self.outcome == other.outcome && self.read.len() == other.read.len()
    }
}

struct Search<'a, D: Distribution> {
    law: &'a D,
    runs: usize,
    decided: BTreeMap<D::Outcome, RBig>,
    left: RBig,
}

impl<D: Distribution> Search<'_, D>
where
    D::Outcome: Ord + Clone + Debug,
{
    fn run(&mut self, given: &[Option<bool>], filling: Filling, seed: u64) -> Run<D::Outcome> {
        let mut tape = Tape::new(given, filling, seed);
        let outcome = self.law.sample(&mut tape);
        let (read, requests) = tape.into_read();
        self.runs += 1;
        Run {
            outcome,
            read,
            requests,
        }
    }

    fn probe(&mut self, cell: &Cell, depth: usize) -> Result<Found<D::Outcome>, Mistake> {
        // Other random bits in every cell.
        let seed = (self.runs as u64).wrapping_mul(0x2545_f491_4f6c_dd1d);
        let first = self.run(&cell.0, Filling::Random, seed);
        let again = self.run(&cell.0, Filling::Random, seed);
        if !first.agrees(&again) {
            return Err(Mistake::NotAFunction {
                first: shown(&first.outcome),
                second: shown(&again.outcome),
            });
        }
        let words = first.requests.min(WORDS);
        let share = RANDOM_PROBES * 2f64.powi(-i32::try_from(depth).unwrap_or(i32::MAX));
        let random = (share.ceil() as usize).max(LEAST_PROBES);
        let ends = [false, true].into_iter().flat_map(|bit| {
            let each = (0..words).map(move |word| Filling::Only(word, bit));
            each.chain([Filling::First(words, bit)])
        });
        let probes = ends.chain((0..random).map(|_| Filling::Random));
        for (filling, number) in probes.zip(1..) {
            let other = self.run(&cell.0, filling, seed ^ number << 40);
            if !first.agrees(&other) {
                return Ok(Found::Splits(self.pivot(&first, &other)));
            }
        }
        Ok(Found::Decided(first.outcome))
    }

    /// A place where the two runs read different bits, and which makes a difference: changing the bits of one into those
    /// of the other from the front, somewhere in between the result changes.
    fn pivot(&mut self, from: &Run<D::Outcome>, to: &Run<D::Outcome>) -> usize {
        let length = from.read.len().max(to.read.len());
        // What one of them did not read is as the other read it.
        let bit = |run: &Run<D::Outcome>, other: &Run<D::Outcome>, place: usize| {
            run.read.get(place).or(other.read.get(place)).copied()
        };
        let (mut low, mut high) = (0, length);
        while high - low > 1 {
            let middle = low.midpoint(high);
            let bits: Vec<Option<bool>> = (0..length)
                .map(|place| match place < middle {
                    true => bit(to, from, place),
                    false => bit(from, to, place),
                })
                .collect();
            // As the first run up to `low`, unlike it from `high` on.
            match self.run(&bits, Filling::Random, 0).agrees(from) {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }
}

impl<O: Ord + Debug> Enumerated<O> {
    /// Whether the enumerated law is possible, given what is decided and how much is not.
    fn agrees(&self, decided: &BTreeMap<O, RBig>, undecided: &RBig) -> Result<(), Mistake> {
        let (zero, mut unexplained) = (RBig::ZERO, RBig::ZERO);
        for outcome in self.outcomes.keys().chain(decided.keys()) {
            let listed = self.outcomes.get(outcome).unwrap_or(&zero);
            let least = decided.get(outcome).unwrap_or(&zero);
            let (most, enumerated) = (least + undecided, listed + &self.missing);
            if *least > enumerated || *listed > most {
                return Err(Mistake::AnotherLaw {
                    outcomes: shown(outcome),
                    enumerated: between(float(listed), float(&enumerated)),
                    sampled: between(float(least), float(&most)),
                });
            }
        }
        for (outcome, least) in decided {
            let listed = self.outcomes.get(outcome).unwrap_or(&zero);
            if least > listed {
                unexplained += least - listed;
            }
        }
        if unexplained > self.missing {
            return Err(Mistake::AnotherLaw {
                outcomes: "what is not enumerated".to_owned(),
                enumerated: between(float(&self.missing), 0.0),
                sampled: format!("of at least {:e}", float(&unexplained)),
            });
        }
        Ok(())
    }
}
