//! Sampling is exact: the boundary branches with scripted words, against exact rationals; then a sanity check of
//! frequencies on a fixed stream.

use std::convert::Infallible;

use crate::common::{bit, prob};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use proptest::prelude::*;
use queryable::coins::{Bit, Categorical, Distribution, Probability, Uniform};
use queryable::{Root, Scope, machine};
use rand_core::TryRng;

/// Gives these words and counts them; panics when they run out.
struct Words<'a> {
    words: &'a [u64],
    used: usize,
}

impl TryRng for Words<'_> {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("the samplers use whole words")
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.used += 1;
        Ok(self.words[self.used - 1])
    }
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("the samplers use whole words")
    }
}

/// The outcome, and how many words it took.
fn sample<D: Distribution>(distribution: &D, words: &[u64]) -> (D::Outcome, usize) {
    let mut bits = Words { words, used: 0 };
    let outcome = distribution.sample(&mut bits);
    (outcome, bits.used)
}

fn one_over_two_to(power: usize) -> Probability {
    Probability::try_from(RBig::from_parts(IBig::ONE, UBig::ONE << power)).unwrap()
}

#[test]
fn a_third_is_a_third() {
    // 1/3 = 0.0101…: every word of it is 0x5555….
    const THIRD: u64 = u64::MAX / 3;
    let third = bit(1, 3);
    assert_eq!(sample(&third, &[THIRD - 1]), (true, 1));
    assert_eq!(sample(&third, &[THIRD + 1]), (false, 1));
    for length in 1..6 {
        let mut words = vec![THIRD; length];
        words.push(THIRD - 1);
        assert_eq!(sample(&third, &words), (true, length + 1));
        words[length] = THIRD + 1;
        assert_eq!(sample(&third, &words), (false, length + 1));
    }
    assert_eq!(
        (sample(&third, &[0]), sample(&third, &[u64::MAX])),
        ((true, 1), (false, 1))
    );
}

#[test]
fn dyadic_boundaries_need_one_word() {
    let fair = Bit::fair();
    assert_eq!(sample(&fair, &[(1 << 63) - 1]), (true, 1));
    assert_eq!(sample(&fair, &[1 << 63]), (false, 1));
    let rare = Bit::new(one_over_two_to(64));
    assert_eq!(
        (sample(&rare, &[0]), sample(&rare, &[1])),
        ((true, 1), (false, 1))
    );
    let rarer = Bit::new(one_over_two_to(65));
    assert_eq!(sample(&rarer, &[1]), (false, 1));
    assert_eq!(sample(&rarer, &[0, (1 << 63) - 1]), (true, 2));
    assert_eq!(sample(&rarer, &[0, 1 << 63]), (false, 2));
    let almost = Bit::new(one_over_two_to(65).complement());
    assert_eq!(sample(&almost, &[u64::MAX, (1 << 63) - 1]), (true, 2));
    assert_eq!(sample(&almost, &[u64::MAX, 1 << 63]), (false, 2));
    assert_eq!(sample(&almost, &[u64::MAX - 1]), (true, 1));
}

#[test]
fn never_is_never_and_always_is_always() {
    let (never, always) = (bit(0, 1), bit(1, 1));
    for word in [0, 1, 1 << 63, u64::MAX] {
        assert_eq!(sample(&never, &[word]), (false, 1));
        assert_eq!(sample(&always, &[word]), (true, 1));
    }
}

#[test]
fn several_boundaries_within_one_word() {
    let quarter = one_over_two_to(66);
    let rest =
        Probability::try_from(RBig::ONE - RBig::from_parts(IBig::ONE, UBig::ONE << 65)).unwrap();
    let impossible = || ('x', Probability::ZERO);
    let outcomes = vec![
        impossible(),
        ('a', quarter.clone()),
        impossible(),
        ('b', quarter),
        ('c', rest),
        impossible(),
    ];
    let distribution = Categorical::new(outcomes).unwrap();
    assert_eq!(sample(&distribution, &[1]), ('c', 1));
    for (second, outcome) in [
        (0, 'a'),
        ((1 << 62) - 1, 'a'),
        (1 << 62, 'b'),
        ((1 << 63) - 1, 'b'),
        (1 << 63, 'c'),
        (u64::MAX, 'c'),
    ] {
        assert_eq!(sample(&distribution, &[0, second]), (outcome, 2));
    }
}

#[test]
fn uniform_gives_every_number_equally_many_words() {
    // The words that give k are an interval, less its first word if that is redrawn: all as long as 2^64 / n, floored.
    let below = |n: u64| Uniform::below(n).unwrap();
    let ends = |n: u64, k: u64| (u128::from(k) << 64).div_ceil(u128::from(n));
    for n in [
        1,
        2,
        3,
        5,
        7,
        10,
        1000,
        (1 << 32) - 1,
        1 << 32,
        (1 << 63) + 1,
        u64::MAX,
    ] {
        // The greatest word is never redrawn.
        let redrawn = |word: u64| sample(&below(n), &[word, u64::MAX]).1 > 1;
        for k in [0, 1, n / 2, n.saturating_sub(2), n - 1]
            .into_iter()
            .filter(|&k| k < n)
        {
            let (first, end) = (ends(n, k), ends(n, k + 1));
            let last = (end - 1) as u64;
            let first_word = first as u64;
            let lost = u128::from(redrawn(first_word));
            assert_eq!(end - first - lost, (1 << 64) / u128::from(n), "{k} of {n}");
            for word in [first_word, first_word.saturating_add(1), last] {
                if !redrawn(word) && (first..end).contains(&u128::from(word)) {
                    assert_eq!(sample(&below(n), &[word]), (k, 1));
                }
            }
            let second = first + 1;
            assert!(
                second >= end || !redrawn(second as u64),
                "only the first word is redrawn"
            );
        }
    }
    assert_eq!(
        sample(&below(3), &[0, u64::MAX]),
        (2, 2),
        "zero would favour 0"
    );
}

/// The index of the cell in which `[word, word + 1) / 2^(64 * words)` lies; none if a boundary is strictly inside.
fn cell(probabilities: &[Probability], words: &[u64]) -> Option<usize> {
    let scale = UBig::ONE << (64 * words.len());
    let drawn = words
        .iter()
        .fold(UBig::ZERO, |drawn, &word| (drawn << 64) + UBig::from(word));
    let low = RBig::from_parts(drawn.clone().into(), scale.clone());
    let high = RBig::from_parts((drawn + UBig::ONE).into(), scale);
    let mut start = RBig::ZERO;
    for (index, probability) in probabilities.iter().enumerate() {
        let end = &start + probability.to_rational();
        if start <= low && high <= end && start < end {
            return Some(index);
        }
        start = end;
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Against plain rational arithmetic, with words that often hit a boundary's own.
    #[test]
    fn categorical_agrees_with_rationals(
        weights in prop::collection::vec(prop_oneof![0u64..4, any::<u64>().prop_map(|w| w >> 3)], 1..6),
        words in prop::collection::vec(any::<u64>(), 6),
        hit in 0usize..6, nudge in -1i64..2, length in 0usize..4,
    ) {
        let total = weights.iter().fold(UBig::ZERO, |sum, &w| sum + UBig::from(w));
        prop_assume!(total > UBig::ZERO);
        let share = |w: UBig| RBig::from_parts(w.into(), total.clone());
        let probabilities: Vec<Probability> =
            weights.iter().map(|&w| Probability::try_from(share(UBig::from(w))).unwrap()).collect();
        // The first `length` words of a boundary, the last of them nudged, then random ones.
        let boundary = weights.iter().take(hit).fold(UBig::ZERO, |sum, &w| sum + UBig::from(w));
        let mut bits = words.clone();
        let mut rest = boundary;
        for (at, word) in bits.iter_mut().take(length).enumerate() {
            rest <<= 64;
            let head = &rest / &total;
            rest %= &total;
            let nudge = if at + 1 == length { nudge } else { 0 };
            *word = u64::try_from(head).unwrap_or(u64::MAX).wrapping_add_signed(nudge);
        }
        let outcomes = probabilities.iter().cloned().enumerate().collect();
        let (outcome, used) = sample(&Categorical::new(outcomes).unwrap(), &bits);
        prop_assert_eq!(cell(&probabilities, &bits[..used]), Some(outcome));
        for fewer in 1..used {
            prop_assert_eq!(cell(&probabilities, &bits[..fewer]), None, "it could have stopped earlier");
        }
    }
}

/// Counts of a hundred thousand draws from a fixed stream.
fn counts<D>(distribution: D, number: impl Fn(D::Outcome) -> usize) -> Vec<f64>
where
    D: Distribution<Outcome: 'static> + Send + 'static,
{
    let arity = distribution.arity();
    let q = Root::seeded([11; 32])
        .spawn(machine(move |(), scope: &mut Scope<'_>| {
            scope.draw(&distribution)
        }))
        .unwrap();
    let mut counts = vec![0.0; arity];
    for _ in 0..100_000 {
        counts[number(q.ask(()).unwrap())] += 1.0;
    }
    counts
}

fn chi_square(counts: &[f64], probabilities: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let term = |(count, p): (&f64, &f64)| (count - total * p).powi(2) / (total * p);
    counts.iter().zip(probabilities).map(term).sum()
}

#[test]
fn frequencies_on_a_fixed_stream() {
    // Quantiles of chi-square at an error of less than 1e-9, for 1, 3 and 6 degrees of freedom: 37.4, 45.1, 53.2.
    let ones = counts(bit(1, 3), usize::from);
    assert!(chi_square(&ones, &[2.0 / 3.0, 1.0 / 3.0]) < 37.4);
    let shares = [(1, 10), (2, 10), (3, 10), (4, 10)];
    let outcomes = shares
        .iter()
        .enumerate()
        .map(|(i, &(n, d))| (i, prob(n, d)))
        .collect();
    let drawn = counts(Categorical::new(outcomes).unwrap(), |i| i);
    assert!(chi_square(&drawn, &[0.1, 0.2, 0.3, 0.4]) < 45.1);
    let drawn = counts(Uniform::below(7).unwrap(), |i| i as usize);
    assert!(chi_square(&drawn, &[1.0 / 7.0; 7]) < 53.2);
}
