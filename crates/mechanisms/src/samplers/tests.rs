//! The laws of the samplers: exactly where machine integers decide, against big integers where they do not, and by
//! chi-square where the law has too many outcomes to enumerate. (`tests/laws.rs` compares all with what they enumerate.)

use std::collections::BTreeMap;

use chacha20::ChaCha20Rng;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use queryable::coins::Distribution;
use rand_core::{Infallible, Rng, SeedableRng, TryRng};

use super::*;
use crate::BuildError;

pub(super) fn ratio(n: u64, d: u64) -> RBig {
    RBig::from_parts(n.into(), d.into())
}

/// Hands out given words first, then those of a seeded stream, and remembers all.
pub(super) struct Tape {
    pub(super) given: Vec<u64>,
    pub(super) rest: ChaCha20Rng,
    pub(super) drawn: Vec<u64>,
}

impl Tape {
    pub(super) fn new(given: Vec<u64>, seed: u8) -> Self {
        Self {
            given,
            rest: ChaCha20Rng::from_seed([seed; 32]),
            drawn: vec![],
        }
    }
}

impl TryRng for Tape {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let at = self.drawn.len();
        let word = match self.given.get(at) {
            Some(&word) => word,
            None => self.rest.next_u64(),
        };
        self.drawn.push(word);
        Ok(word)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// For a law sampled by inverting one uniform real: every outcome's share of the 2^32 first half-words is its
/// probability, up to the few that need more digits. `cells` lists the outcomes in the order of the table.
fn inverts<D: Distribution>(law: &D, cells: usize, cell_of: impl Fn(&D::Outcome) -> usize) {
    let at = |word: u64| cell_of(&law.sample(&mut Tape::new(vec![word & 0xffff_ffff], 3)));
    let mass: BTreeMap<usize, RBig> = (0..law.arity())
        .map(|i| law.outcome(i))
        .map(|(outcome, mass)| (cell_of(&outcome), mass.to_rational()))
        .collect();
    let mut cumulative = RBig::ZERO;
    for (cell, mass) in mass.iter().take(cells) {
        cumulative += mass;
        // The first word at which a later cell comes out.
        let (mut low, mut high) = (0u64, 1 << 32);
        while low < high {
            let middle = (low + high) / 2;
            if at(middle) > *cell {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let expected = (&cumulative * RBig::from(1u64 << 32)).to_f64().value();
        assert!(
            (low as f64 - expected).abs() <= 2.5,
            "{cell}: {low} {expected}"
        );
    }
}

/// A first half-word that does not decide: the next digits do, on either side of the true boundary.
fn decides_with_more_digits<D: Distribution>(law: &D, cell_of: impl Fn(&D::Outcome) -> usize) {
    let outcomes = (0..law.arity()).map(|i| law.outcome(i));
    let mass: BTreeMap<usize, RBig> = outcomes
        .map(|(outcome, mass)| (cell_of(&outcome), mass.to_rational()))
        .collect();
    let mut cumulative = RBig::ZERO;
    for cell in 0..6 {
        cumulative += &mass[&cell];
        let scaled = &cumulative * RBig::from(UBig::ONE << 96usize);
        let digits = scaled.floor().into_parts().1;
        let word = u64::try_from(&digits >> 64usize).unwrap();
        let rest = u64::try_from(digits & UBig::from(u64::MAX)).unwrap();
        for (offset, expected) in [(-3i64, cell), (3, cell + 1)] {
            let mut tape = Tape::new(vec![word, rest.wrapping_add_signed(offset)], 1);
            assert_eq!(cell_of(&law.sample(&mut tape)), expected, "{cell} {offset}");
            assert_eq!(tape.drawn.len(), 2);
        }
    }
}

#[test]
fn undecided_words_are_decided_exactly() {
    for scale in [ratio(1, 1), ratio(10, 3)] {
        decides_with_more_digits(&DiscreteLaplace::new(scale.clone()).unwrap(), laplace_cell);
        let gaussian = DiscreteGaussian::with_scale(scale).unwrap();
        decides_with_more_digits(&Joined(&gaussian), |m| usize::try_from(m).unwrap());
    }
    decides_with_more_digits(
        &DiscreteLaplace::with_ratio(ratio(2, 7)).unwrap(),
        laplace_cell,
    );
}

fn laplace_cell(x: &IBig) -> usize {
    let x = i64::try_from(x).unwrap();
    if x >= 0 {
        2 * x as usize
    } else {
        2 * (-x - 1) as usize + 1
    }
}

#[test]
fn small_laplace_laws_are_exact() {
    for scale in [
        ratio(1, 1),
        ratio(1, 3),
        ratio(7, 2),
        ratio(10, 1),
        ratio(16, 1),
    ] {
        inverts(&DiscreteLaplace::new(scale).unwrap(), 40, laplace_cell);
    }
    inverts(
        &DiscreteLaplace::with_ratio(ratio(1, 3)).unwrap(),
        20,
        laplace_cell,
    );
    inverts(
        &DiscreteLaplace::with_ratio(ratio(9, 10)).unwrap(),
        40,
        laplace_cell,
    );
    let cell = |m: &UBig| usize::try_from(m).unwrap();
    inverts(&Geometric::new(ratio(5, 2)).unwrap(), 20, cell);
    inverts(&Geometric::with_ratio(ratio(1, 2)).unwrap(), 20, cell);
}

#[test]
fn small_gaussian_laws_are_exact() {
    for scale in [ratio(1, 1), ratio(1, 4), ratio(10, 1), ratio(31, 1)] {
        let law = DiscreteGaussian::with_scale(scale).unwrap();
        // The sign is the top bit, which is zero here, so only the magnitude's cells show: join the signs.
        let joined = Joined(&law);
        inverts(&joined, 12, |m| usize::try_from(m).unwrap());
    }
}

/// The magnitude of a symmetric law.
struct Joined<'a>(&'a DiscreteGaussian);

impl Distribution for Joined<'_> {
    type Outcome = UBig;
    fn sample(&self, bits: &mut dyn Rng) -> UBig {
        self.0.sample(bits).into_parts().1
    }
    fn arity(&self) -> usize {
        self.0.arity() / 2 + 1
    }
    fn outcome(&self, index: usize) -> (UBig, queryable::coins::Probability) {
        let (x, mass) = self.0.outcome(2 * index);
        let both = match index {
            0 => mass,
            _ => (mass.to_rational() * RBig::from(2u8)).try_into().unwrap(),
        };
        (x.into_parts().1, both)
    }
}

#[test]
fn enumerations_are_complete() {
    fn complete<D: Distribution>(law: &D, tail: f64) {
        let mut sum = law.missing().to_rational();
        for index in 0..law.arity() {
            sum += law.outcome(index).1.to_rational();
        }
        assert_eq!(sum, RBig::ONE);
        let missing = law.missing().to_rational().to_f64().value();
        assert!(missing <= tail && missing >= tail / 1e9, "{missing} {tail}");
    }
    complete(&DiscreteLaplace::new(ratio(1, 1)).unwrap(), 1e-12);
    complete(&DiscreteLaplace::new(ratio(1000, 1)).unwrap(), 0.36);
    complete(
        &DiscreteLaplace::with_ratio(ratio(1, 2))
            .unwrap()
            .enumerating(3),
        0.0834,
    );
    complete(&DiscreteGaussian::with_scale(ratio(3, 1)).unwrap(), 1e-26);
    // Past 4096 the normalizing sum is only bounded: 1024 of σ = 5000 are about 16 %.
    complete(&DiscreteGaussian::with_scale(ratio(5000, 1)).unwrap(), 0.9);
    complete(
        &DiscreteGaussian::new(RBig::from(UBig::ONE << 300usize)).unwrap(),
        1.0,
    );
    complete(&Geometric::new(ratio(1, 1)).unwrap(), 1e-12);
    complete(&BernoulliExp::new(ratio(1, 3)).unwrap(), 1e-37);
    complete(
        &ExponentialChoice::new(vec![ratio(1, 3), ratio(2, 1), ratio(7, 5)]).unwrap(),
        1e-37,
    );
    complete(
        &PermuteAndFlip::new(vec![ratio(1, 3), ratio(2, 1), ratio(7, 5)]).unwrap(),
        1e-36,
    );
}

/// Pearson's statistic over cells of at least 25 expected draws, against its 1 − 1e-9 quantile (Wilson–Hilferty).
fn chi_square(name: &str, expected: &[f64], got: &[u64]) {
    let (mut statistic, mut cells) = (0.0, 0);
    let (mut e, mut g) = (0.0, 0.0);
    for (&expected, &got) in expected.iter().zip(got) {
        e += expected;
        g += got as f64;
        if e >= 25.0 {
            statistic += (g - e) * (g - e) / e;
            cells += 1;
            (e, g) = (0.0, 0.0);
        }
    }
    let k = f64::from(cells - 1);
    let quantile = k * (1.0 - 2.0 / (9.0 * k) + 6.0 * (2.0 / (9.0 * k)).sqrt()).powi(3);
    assert!(
        statistic < quantile,
        "{name}: {statistic} ≥ {quantile} ({k} degrees)"
    );
}

/// Draws and compares with the density `weight` around zero, in cells of `cell` numbers.
fn fits(
    name: &str,
    law: &impl Distribution<Outcome = IBig>,
    cell: f64,
    weight: impl Fn(f64) -> f64,
) {
    const CELLS: usize = 161;
    let draws = 100_000;
    let mut bits = ChaCha20Rng::from_seed([9; 32]);
    let mut got = vec![0u64; CELLS];
    for _ in 0..draws {
        let x = law.sample(&mut bits).to_f64().value();
        // Cell c covers [c·cell, (c + 1)·cell) of the integers; floor is exact for these sizes.
        let at = (x / cell).floor() + (CELLS / 2) as f64;
        if (0.0..CELLS as f64).contains(&at) {
            got[at as usize] += 1;
        }
    }
    let steps = (cell as usize).min(400);
    let mass = |c: usize| -> f64 {
        let start = (c as f64 - (CELLS / 2) as f64) * cell;
        let points = (0..steps).map(|i| start + (i as f64) * cell / steps as f64);
        let shift = if steps as f64 == cell {
            0.0
        } else {
            cell / steps as f64 / 2.0
        };
        points.map(|x| weight(x + shift)).sum()
    };
    let masses: Vec<f64> = (0..CELLS).map(mass).collect();
    let sum: f64 = masses.iter().sum();
    let inside: u64 = got.iter().sum();
    assert!(inside as f64 > 0.99 * f64::from(draws));
    let expected: Vec<f64> = masses.iter().map(|m| m / sum * inside as f64).collect();
    chi_square(name, &expected, &got);
}

#[test]
fn large_laws_fit() {
    for (scale, cell) in [(17, 1.0), (1000, 80.0), (123_456_789, 1e7)] {
        let t = scale as f64;
        let law = DiscreteLaplace::new(ratio(scale, 1)).unwrap();
        fits("laplace", &law, cell, |x| (-x.abs() / t).exp());
        let law = DiscreteGaussian::with_scale(ratio(scale, 1)).unwrap();
        fits("gaussian", &law, cell, |x| (-x * x / (2.0 * t * t)).exp());
    }
    let law = DiscreteLaplace::with_ratio(ratio(999, 1000)).unwrap();
    let rate = -(0.999f64).ln();
    fits("ratio", &law, 80.0, |x| (-x.abs() * rate).exp());
}

#[test]
fn the_big_path_fits() {
    let scale = RBig::from(UBig::ONE << 80usize);
    let t = 2f64.powi(80);
    let cell = t / 13.0;
    let mut bits = ChaCha20Rng::from_seed([5; 32]);
    let laplace = DiscreteLaplace::new(scale.clone()).unwrap();
    let gaussian = DiscreteGaussian::with_scale(scale).unwrap();
    let mut got = [[0u64; 160]; 2];
    for _ in 0..4000 {
        for (got, x) in got
            .iter_mut()
            .zip([laplace.sample(&mut bits), gaussian.sample(&mut bits)])
        {
            let at = (x.to_f64().value() / cell).floor() + 80.0;
            got[at.clamp(0.0, 159.0) as usize] += 1;
        }
    }
    let cdf = |x: f64| {
        if x < 0.0 {
            0.5 * x.exp()
        } else {
            1.0 - 0.5 * (-x).exp()
        }
    };
    let edge = |c: usize| (c as f64 - 80.0) / 13.0;
    let expected: Vec<f64> = (0..160)
        .map(|c| 4000.0 * (cdf(edge(c + 1)) - cdf(edge(c))))
        .collect();
    chi_square("big laplace", &expected, &got[0]);
    let density: Vec<f64> = (0..160)
        .map(|c| edge(c) + 0.5 / 13.0)
        .map(|x| (-x * x / 2.0).exp())
        .collect();
    let sum: f64 = density.iter().sum();
    let expected: Vec<f64> = density.iter().map(|d| 4000.0 * d / sum).collect();
    chi_square("big gaussian", &expected, &got[1]);
}

/// Buckets of any width, in machine words or big integers, have the law that is enumerated.
#[test]
fn every_width_has_the_same_law() {
    fn check(name: &str, law: &impl Distribution<Outcome = IBig>, draws: u32) {
        let mut bits = ChaCha20Rng::from_seed([6; 32]);
        let mut got: BTreeMap<IBig, u64> = BTreeMap::new();
        (0..draws).for_each(|_| *got.entry(law.sample(&mut bits)).or_default() += 1);
        let outcomes = (0..law.arity()).map(|i| law.outcome(i));
        let (expected, got): (Vec<f64>, Vec<u64>) = outcomes
            .map(|(x, p)| {
                (
                    p.to_rational().to_f64().value() * f64::from(draws),
                    got.get(&x).copied().unwrap_or(0),
                )
            })
            .unzip();
        chi_square(name, &expected, &got);
    }
    let widths = [
        (width::Width::Small(2), 100_000),
        (width::Width::Small(7), 100_000),
        (width::Width::Big(UBig::from(1u8)), 3_000),
        (width::Width::Big(UBig::from(3u8)), 3_000),
    ];
    for (width, draws) in widths {
        let laplace = DiscreteLaplace::new(ratio(20, 1)).unwrap();
        check("laplace", &laplace.with_width(width.clone()), draws);
        let rational = DiscreteLaplace::with_ratio(ratio(11, 12)).unwrap();
        check("ratio", &rational.with_width(width.clone()), draws);
        let gaussian = DiscreteGaussian::new(ratio(99, 2)).unwrap();
        check("gaussian", &gaussian.with_width(width), draws);
    }
}

#[test]
fn senseless_parameters_are_refused() {
    for value in [RBig::ZERO, -RBig::ONE] {
        assert!(DiscreteLaplace::new(value.clone()).is_err());
        assert!(DiscreteLaplace::with_ratio(value.clone()).is_err());
        assert!(Geometric::new(value.clone()).is_err());
        assert!(DiscreteGaussian::new(value.clone()).is_err());
        assert!(DiscreteGaussian::with_scale(value).is_err());
    }
    assert!(DiscreteLaplace::with_ratio(RBig::ONE).is_err());
    assert!(ExponentialChoice::new(vec![]).is_err());
    assert!(PermuteAndFlip::new(vec![]).is_err());
    assert!(BernoulliExp::new(-RBig::ONE).is_err());
}

#[test]
fn extreme_scales_work() {
    let mut bits = ChaCha20Rng::from_seed([1; 32]);
    let tiny = RBig::from_parts(1.into(), UBig::ONE << 400usize);
    assert_eq!(
        DiscreteLaplace::new(tiny.clone())
            .unwrap()
            .sample(&mut bits),
        IBig::ZERO
    );
    assert_eq!(
        DiscreteGaussian::new(tiny.clone())
            .unwrap()
            .sample(&mut bits),
        IBig::ZERO
    );
    assert_eq!(
        DiscreteLaplace::with_ratio(tiny.clone())
            .unwrap()
            .sample(&mut bits),
        IBig::ZERO
    );
    // So close to one that its logarithm cannot be told from 0: a dyadic ratio, and one that is not.
    let third = RBig::from_parts(1.into(), UBig::from(3u8).pow(300));
    for rest in [tiny, third] {
        let huge = DiscreteLaplace::with_ratio(RBig::ONE - rest).unwrap();
        let x = huge.sample(&mut bits).into_parts().1;
        assert!(dashu_base::BitTest::bit_len(&x) > 300);
    }
}

/// At the longest parameters everything is drawn; one digit more is refused, and so is what would take for ever.
#[test]
fn parameters_are_as_long_as_is_said_and_no_longer() {
    let mut bits = ChaCha20Rng::from_seed([2; 32]);
    let power = |n: usize| RBig::from(UBig::ONE << n);
    let one_in = |n: usize| RBig::from_parts(1.into(), UBig::ONE << n);
    let most = PARAMETER_BITS - 1;
    for scale in [power(most), one_in(most), power(most) - RBig::ONE] {
        let laplace = DiscreteLaplace::new(scale.clone()).unwrap();
        let gaussian = DiscreteGaussian::with_scale(scale.clone()).unwrap();
        for x in [laplace.sample(&mut bits), gaussian.sample(&mut bits)] {
            let long = dashu_base::BitTest::bit_len(&x.into_parts().1) > 1000;
            assert_eq!(long, scale > RBig::ONE);
        }
        Geometric::new(scale.clone()).unwrap().sample(&mut bits);
        BernoulliExp::new(scale).unwrap().sample(&mut bits);
    }
    for ratio in [one_in(most), RBig::ONE - one_in(most)] {
        DiscreteLaplace::with_ratio(ratio.clone())
            .unwrap()
            .sample(&mut bits);
        Geometric::with_ratio(ratio).unwrap().sample(&mut bits);
    }
    let penalties = || vec![RBig::ZERO, power(8191), one_in(8191)];
    assert_ne!(
        ExponentialChoice::new(penalties())
            .unwrap()
            .sample(&mut bits),
        1
    );
    assert_ne!(
        PermuteAndFlip::new(penalties()).unwrap().sample(&mut bits),
        1
    );

    let hopeless = RBig::from(UBig::from(10u8).pow(30_000));
    for long in [
        power(PARAMETER_BITS),
        one_in(PARAMETER_BITS),
        hopeless.clone(),
        RBig::ONE / hopeless,
    ] {
        let refused = |result: Result<(), BuildError>| {
            assert!(
                matches!(result, Err(BuildError::TooLong { .. })),
                "{result:?}"
            );
        };
        refused(DiscreteLaplace::new(long.clone()).map(drop));
        refused(DiscreteGaussian::with_scale(long.clone()).map(drop));
        refused(DiscreteGaussian::new(&long * &long).map(drop));
        refused(Geometric::new(long.clone()).map(drop));
        refused(BernoulliExp::new(long.clone()).map(drop));
        let ratio = &long / (&long + RBig::ONE);
        refused(DiscreteLaplace::with_ratio(ratio.clone()).map(drop));
        refused(Geometric::with_ratio(ratio).map(drop));
    }
    refused_choices();
}

fn refused_choices() {
    let long = RBig::from(UBig::ONE << 8192usize);
    let penalties = || vec![RBig::ZERO, long.clone()];
    assert!(ExponentialChoice::new(penalties()).is_err());
    assert!(PermuteAndFlip::new(penalties()).is_err());
}
