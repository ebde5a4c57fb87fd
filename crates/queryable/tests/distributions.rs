//! What is sampled is what is enumerated, for the distributions of this crate; and the kit that says so finds mistakes.

use queryable::coins::{
    Bit, Categorical, Distribution, Probability, Rng, Uniform,
    laws::{Mistake, check_by_drawing, check_exactly},
};
use std::sync::atomic::{AtomicU64, Ordering};

fn p(n: u64, d: u64) -> Probability {
    Probability::new(n, d).unwrap()
}

/// `2^-bits`.
fn tiny(bits: u32) -> Probability {
    (0..bits).fold(Probability::ONE, |all, _| all.and(&p(1, 2)))
}

/// Down to the second word: one word in 2^64 that goes elsewhere is found.
fn agrees<D: Distribution<Outcome: Ord + Clone + std::fmt::Debug>>(law: &D) {
    check_exactly(law, 400_000, &tiny(70)).unwrap();
    check_by_drawing(law, 20_000, [5; 32]).unwrap();
}

#[test]
fn bits_are_what_they_enumerate() {
    for one in [
        p(0, 1),
        p(1, 1),
        p(1, 2),
        p(1, 3),
        p(2, 7),
        tiny(64),
        tiny(65).complement(),
        p(3, 1 << 40),
    ] {
        agrees(&Bit::new(one));
    }
    agrees(&Bit::fair());
}

#[test]
fn uniforms_are_what_they_enumerate() {
    for n in [1, 2, 3, 7, 8, 10] {
        agrees(&Uniform::below(n).unwrap());
    }
}

#[test]
fn categoricals_are_what_they_enumerate() {
    let even = (0..5).map(|i| (i, p(1, 5))).collect();
    agrees(&Categorical::new(even).unwrap());
    let uneven = vec![
        ('a', p(1, 7)),
        ('b', p(0, 1)),
        ('c', p(2, 7)),
        ('a', p(4, 7)),
    ];
    agrees(&Categorical::new(uneven).unwrap());
    let sliver = vec![(0, tiny(66)), (1, tiny(66).complement())];
    agrees(&Categorical::new(sliver).unwrap());
}

/// A law over `0..n` by a function of the bits.
struct Sampled<F> {
    law: Vec<Probability>,
    missing: Probability,
    sample: F,
}

impl<F: Fn(&mut dyn Rng) -> u64> Sampled<F> {
    fn new(law: Vec<Probability>, sample: F) -> Self {
        let missing = Probability::ZERO;
        Self {
            law,
            missing,
            sample,
        }
    }
}

impl<F: Fn(&mut dyn Rng) -> u64> Distribution for Sampled<F> {
    type Outcome = u64;
    fn sample(&self, bits: &mut dyn Rng) -> u64 {
        (self.sample)(bits)
    }
    fn arity(&self) -> usize {
        self.law.len()
    }
    fn outcome(&self, index: usize) -> (u64, Probability) {
        (index as u64, self.law[index].clone())
    }
    fn missing(&self) -> Probability {
        self.missing.clone()
    }
}

fn is_another_law<T: std::fmt::Debug>(result: Result<T, Mistake>) {
    assert!(
        matches!(result, Err(Mistake::AnotherLaw { .. })),
        "{result:?}"
    );
}

#[test]
fn one_word_too_many_is_found() {
    // A third, by comparison with one word, which is below it or above.
    for boundary in [u64::MAX / 3, u64::MAX / 3 + 1] {
        let law = Sampled::new(vec![p(2, 3), p(1, 3)], move |bits| {
            u64::from(bits.next_u64() < boundary)
        });
        is_another_law(check_exactly(&law, 100_000, &tiny(68)));
        check_by_drawing(&law, 10_000, [1; 32]).unwrap();
    }
    // Multiplication without rejection, for numbers that do not divide 2^64.
    for n in [3u64, 6, 10] {
        let law = Sampled::new(vec![p(1, n); n as usize], move |bits| {
            ((u128::from(bits.next_u64()) * u128::from(n)) >> 64) as u64
        });
        is_another_law(check_exactly(&law, 200_000, &tiny(68)));
    }
}

#[test]
fn coarse_mistakes_are_found_both_ways() {
    let thirds = || vec![p(1, 3); 3];
    // Outcomes in another order than enumerated, a law that leans, and an outcome that is not enumerated.
    let swapped = Sampled::new(vec![p(1, 4), p(3, 4)], |bits| {
        u64::from(bits.next_u32() < 1 << 30)
    });
    is_another_law(check_exactly(&swapped, 10_000, &p(1, 1000)));
    is_another_law(check_by_drawing(&swapped, 10_000, [1; 32]));
    let leaning = Sampled::new(thirds(), |bits| u64::from(bits.next_u32() % 16) * 3 / 16);
    is_another_law(check_exactly(&leaning, 10_000, &p(1, 1 << 20)));
    is_another_law(check_by_drawing(&leaning, 50_000, [1; 32]));
    let mut unlisted = Sampled::new(vec![p(1, 2), p(1, 4)], |bits| {
        u64::from(bits.next_u32().leading_zeros())
    });
    unlisted.missing = p(1, 4);
    check_exactly(&unlisted, 10_000, &tiny(20)).unwrap();
    check_by_drawing(&unlisted, 10_000, [1; 32]).unwrap();
    unlisted.law[1] = p(3, 8);
    unlisted.missing = p(1, 8);
    is_another_law(check_exactly(&unlisted, 10_000, &tiny(20)));
    is_another_law(check_by_drawing(&unlisted, 10_000, [1; 32]));
    unlisted.missing = p(1, 4);
    assert!(matches!(
        check_exactly(&unlisted, 10, &p(1, 2)),
        Err(Mistake::NotNormalized { .. })
    ));
    assert!(matches!(
        check_by_drawing(&unlisted, 10, [1; 32]),
        Err(Mistake::NotNormalized { .. })
    ));
}

#[test]
fn a_quirk_deep_inside_is_found() {
    // Right in all but one in 256 words, by their last byte.
    let quirk = Sampled::new(vec![p(1, 2), p(1, 2)], |bits| {
        let word = bits.next_u64();
        u64::from(word >> 63 == 1 || word & 0xff == 0x55)
    });
    is_another_law(check_exactly(&quirk, 100_000, &tiny(20)));
}

#[test]
fn rejection_and_late_words_are_followed() {
    // Two bits at a time, three of four kept: the law is a third each, after any number of tries.
    let right = Sampled::new(vec![p(1, 3); 3], |bits| {
        loop {
            let pair = u64::from(bits.next_u32() >> 30);
            if pair < 3 {
                return pair;
            }
        }
    });
    check_exactly(&right, 100_000, &tiny(20)).unwrap();
    // The second try is biased: found although half of the draws never get there.
    let wrong = Sampled::new(vec![p(1, 3); 3], |bits| match bits.next_u32() >> 30 {
        3 => u64::from(bits.next_u32() >> 31),
        pair => pair.into(),
    });
    is_another_law(check_exactly(&wrong, 100_000, &tiny(20)));
}

#[test]
fn bytes_count_as_bits() {
    let law = Sampled::new(vec![p(1, 2), p(1, 4), p(1, 4)], |bits| {
        let mut bytes = [0; 3];
        bits.fill_bytes(&mut bytes);
        match bytes[1] {
            0..128 => 0,
            128..192 => 1,
            192.. => 2,
        }
    });
    check_exactly(&law, 10_000, &Probability::ZERO).unwrap();
}

#[test]
fn hidden_randomness_is_found() {
    let calls = AtomicU64::new(0);
    let law = Sampled::new(vec![p(1, 2), p(1, 2)], |_| {
        calls.fetch_add(1, Ordering::Relaxed) % 2
    });
    let found = check_exactly(&law, 1000, &p(1, 100));
    assert!(
        matches!(found, Err(Mistake::NotAFunction { .. })),
        "{found:?}"
    );
}

#[test]
fn what_cannot_be_decided_is_said() {
    // The remainder by three depends on every bit of a word.
    let law = Sampled::new(vec![p(1, 3); 3], |bits| bits.next_u64() % 3);
    let found = check_exactly(&law, 10_000, &p(1, 100));
    assert!(matches!(found, Err(Mistake::Undecided { .. })), "{found:?}");
    check_by_drawing(&law, 10_000, [1; 32]).unwrap();
}
