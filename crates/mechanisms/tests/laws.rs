//! What the samplers draw is what they enumerate for the auditor: exactly where few bits decide, by statistics elsewhere;
//! and mistakes in either are found.

use std::fmt::Debug;

use crate::common::*;
use dashu_int::IBig;
use dashu_ratio::RBig;
use mechanisms::{
    noise::ApproxGaussian,
    samplers::{
        BernoulliExp, DiscreteGaussian, DiscreteLaplace, ExponentialChoice, Geometric,
        PermuteAndFlip,
    },
};
use queryable::coins::{
    Distribution, Probability, Rng,
    laws::{Mistake, check_by_drawing, check_exactly},
};

/// `2^-bits`.
fn tiny(bits: u32) -> Probability {
    (0..bits).fold(Probability::ONE, |all, _| all.and(&probability(1, 2)))
}

/// All but `2^-bits` of the law is decided, and as enumerated.
fn exactly<D: Distribution<Outcome: Ord + Clone + Debug>>(name: &str, law: &D, bits: u32) {
    let left = check_exactly(law, 500_000, &tiny(bits));
    assert!(left.is_ok(), "{name}: {left:?}");
}

fn by_drawing<D: Distribution<Outcome: Ord + Debug>>(name: &str, law: &D, draws: u32) {
    let found = check_by_drawing(law, draws, [8; 32]);
    assert!(found.is_ok(), "{name}: {found:?}");
}

#[test]
fn bits_are_exact_past_the_first_word() {
    for (n, d) in [(0, 1), (1, 1), (1, 3), (40, 3), (1, 1 << 40)] {
        let law = BernoulliExp::new(ratio(n, d)).unwrap();
        exactly("bit", &law, 68);
        by_drawing("bit", &law, 20_000);
    }
}

#[test]
fn narrow_laws_are_exact_past_the_table() {
    // The table has 32 digits, and ends where 2^-18 is left.
    for scale in [ratio(1, 3), ratio(1, 1), ratio(7, 2)] {
        exactly("laplace", &DiscreteLaplace::new(scale.clone()).unwrap(), 14);
        exactly("geometric", &Geometric::new(scale.clone()).unwrap(), 14);
        exactly(
            "gaussian",
            &DiscreteGaussian::with_scale(scale).unwrap(),
            14,
        );
    }
    // Every boundary to the last digit of the table, and beyond.
    exactly("laplace", &DiscreteLaplace::new(ratio(1, 20)).unwrap(), 36);
    exactly("laplace by ratio", &geometric(1, 1 << 20, 3), 36);
    exactly(
        "gaussian",
        &DiscreteGaussian::new(ratio(1, 30)).unwrap(),
        36,
    );
}

#[test]
fn laws_by_ratio_are_exact() {
    exactly("laplace", &geometric(2, 7, 30), 14);
    let half = Geometric::with_ratio(ratio(1, 2)).unwrap();
    exactly("geometric", &half, 14);
}

#[test]
fn buckets_and_thinning_have_the_law_that_is_enumerated() {
    // Wide buckets: rejection after a uniform remainder takes too many bits to decide them all.
    exactly("laplace", &DiscreteLaplace::new(ratio(17, 1)).unwrap(), 3);
    let gaussian = DiscreteGaussian::with_scale(ratio(32, 1)).unwrap();
    exactly("gaussian", &gaussian, 3);
    for scale in [20, 100, 333] {
        let laplace = DiscreteLaplace::new(ratio(scale, 1)).unwrap();
        by_drawing("laplace", &laplace.enumerating(1000), 50_000);
        let gaussian = DiscreteGaussian::with_scale(ratio(scale, 1)).unwrap();
        by_drawing("gaussian", &gaussian, 50_000);
    }
    let geometric = Geometric::new(ratio(50, 1)).unwrap();
    by_drawing("geometric", &geometric, 50_000);
    by_drawing("ratio", &crate::common::geometric(99, 100, 600), 50_000);
    let approx = DiscreteGaussian::with_scale(ratio(3, 1)).unwrap();
    let approx = ApproxGaussian::new(approx, exact("1")).unwrap();
    by_drawing("approximate gaussian", &approx, 50_000);
}

#[test]
fn choices_have_the_law_that_is_enumerated() {
    for penalties in [
        vec![ratio(1, 2), ratio(0, 1)],
        vec![ratio(0, 1), ratio(3, 1)],
    ] {
        exactly(
            "choice",
            &ExponentialChoice::new(penalties.clone()).unwrap(),
            5,
        );
        exactly("flip", &PermuteAndFlip::new(penalties).unwrap(), 5);
    }
    let penalties = || [1, 0, 6, 2, 1].map(|halves| ratio(halves, 2)).to_vec();
    by_drawing(
        "choice",
        &ExponentialChoice::new(penalties()).unwrap(),
        10_000,
    );
    by_drawing("flip", &PermuteAndFlip::new(penalties()).unwrap(), 10_000);
    let one = ExponentialChoice::new(vec![ratio(5, 1)]).unwrap();
    exactly("only choice", &one, 30);
}

/// Samples one law and enumerates another.
struct Confused<A, B>(A, B);

impl<O, A: Distribution<Outcome = O>, B: Distribution<Outcome = O>> Distribution
    for Confused<A, B>
{
    type Outcome = O;
    fn sample(&self, bits: &mut dyn Rng) -> O {
        self.0.sample(bits)
    }
    fn arity(&self) -> usize {
        self.1.arity()
    }
    fn outcome(&self, index: usize) -> (O, Probability) {
        self.1.outcome(index)
    }
    fn missing(&self) -> Probability {
        self.1.missing()
    }
}

/// A law changed after it was drawn.
struct Changed<D>(D, fn(IBig, u32) -> IBig);

impl<D: Distribution<Outcome = IBig>> Distribution for Changed<D> {
    type Outcome = IBig;
    fn sample(&self, bits: &mut dyn Rng) -> IBig {
        let x = self.0.sample(bits);
        let more = if x == IBig::ZERO { bits.next_u32() } else { 0 };
        (self.1)(x, more)
    }
    fn arity(&self) -> usize {
        self.0.arity()
    }
    fn outcome(&self, index: usize) -> (IBig, Probability) {
        self.0.outcome(index)
    }
    fn missing(&self) -> Probability {
        self.0.missing()
    }
}

fn is_another_law<T: Debug>(found: Result<T, Mistake>) {
    assert!(
        matches!(found, Err(Mistake::AnotherLaw { .. })),
        "{found:?}"
    );
}

#[test]
fn planted_mistakes_are_found() {
    let laplace = |scale: RBig| DiscreteLaplace::new(scale).unwrap();
    let gaussian = |variance: RBig| DiscreteGaussian::new(variance).unwrap();
    let almost = tiny(14);
    // A scale that is off by one in ten thousand, a law in place of another, one penalty too few.
    let off = Confused(laplace(ratio(10_001, 10_000)), laplace(ratio(1, 1)));
    is_another_law(check_exactly(&off, 2_000_000, &almost));
    let off = Confused(gaussian(ratio(10_001, 10_000)), gaussian(ratio(1, 1)));
    is_another_law(check_exactly(&off, 2_000_000, &almost));
    let off = Confused(gaussian(ratio(1, 1)), laplace(ratio(1, 1)));
    is_another_law(check_exactly(&off, 2_000_000, &almost));
    is_another_law(check_by_drawing(&off, 20_000, [1; 32]));
    let choices = |last| vec![ratio(0, 1), ratio(1, 1), ratio(last, 1)];
    let off = Confused(
        PermuteAndFlip::new(choices(1)).unwrap(),
        ExponentialChoice::new(choices(1)).unwrap(),
    );
    is_another_law(check_by_drawing(&off, 20_000, [1; 32]));
    // A zero that counts once too rarely, a sign that is lost, and a shift.
    let zeros = |x: IBig, more: u32| if more >> 27 == 31 { IBig::ONE } else { x };
    let changes: [fn(IBig, u32) -> IBig; 3] =
        [zeros, |x, _| x.into_parts().1.into(), |x, _| x + IBig::ONE];
    for change in changes {
        is_another_law(check_exactly(
            &Changed(laplace(ratio(1, 1)), change),
            2_000_000,
            &almost,
        ));
        is_another_law(check_exactly(
            &Changed(gaussian(ratio(1, 1)), change),
            2_000_000,
            &almost,
        ));
        is_another_law(check_by_drawing(
            &Changed(gaussian(ratio(1, 1)), change),
            200_000,
            [1; 32],
        ));
    }
    // In the big buckets, too.
    let off = Confused(
        laplace(ratio(110, 1)),
        laplace(ratio(100, 1)).enumerating(1000),
    );
    is_another_law(check_by_drawing(&off, 100_000, [1; 32]));
}
