//! `bench samplers`: exact discrete Laplace and Gaussian noise against OpenDP's samplers of the same laws.

use std::hint::black_box;

use chacha20::ChaCha20Rng;
use dashu_ratio::RBig;
use mechanisms::samplers::{DiscreteGaussian, DiscreteLaplace};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use queryable::coins::Distribution;
use rand_core::SeedableRng;

use crate::measure::{Contestant, Effort, compare, print_table};

/// The scales at which everything is measured.
const SCALES: [u32; 3] = [1, 10, 1000];

/// Measures, and prints the table and the bar: the least ratio over the scales.
pub fn run(effort: Effort) {
    let (mut laplace_ratio, mut gaussian_ratio) = (f64::INFINITY, f64::INFINITY);
    for scale in SCALES {
        println!("## scale {scale}");
        let scale = RBig::from(scale);
        let (Ok(laplace), Ok(gaussian)) = (
            DiscreteLaplace::new(scale.clone()),
            DiscreteGaussian::with_scale(scale.clone()),
        ) else {
            return println!("the scale was refused");
        };
        let mut bits = ChaCha20Rng::from_seed([1; 32]);
        let mut more_bits = ChaCha20Rng::from_seed([2; 32]);
        let timings = compare(
            effort,
            [
                Contestant::new("laplace: ours", 64, || {
                    for _ in 0..64 {
                        black_box(black_box(&laplace).sample(&mut bits));
                    }
                }),
                Contestant::new("laplace: OpenDP", 1, || {
                    let drawn = sample_discrete_laplace(black_box(&scale).clone());
                    black_box(drawn.is_ok());
                }),
                Contestant::new("gaussian: ours", 64, || {
                    for _ in 0..64 {
                        black_box(black_box(&gaussian).sample(&mut more_bits));
                    }
                }),
                Contestant::new("gaussian: OpenDP", 1, || {
                    let drawn = sample_discrete_gaussian(black_box(&scale).clone());
                    black_box(drawn.is_ok());
                }),
                Contestant::new("laplace: our constructor", 1, || {
                    black_box(DiscreteLaplace::new(black_box(&scale).clone()).is_ok());
                }),
                Contestant::new("gaussian: our constructor", 1, || {
                    black_box(DiscreteGaussian::with_scale(black_box(&scale).clone()).is_ok());
                }),
            ],
        );
        print_table(&timings);
        laplace_ratio = laplace_ratio.min(timings[1].best / timings[0].best);
        gaussian_ratio = gaussian_ratio.min(timings[3].best / timings[2].best);
    }
    println!("bar: laplace_ratio={laplace_ratio:.1} gaussian_ratio={gaussian_ratio:.1}");
}
