//! `bench samplers`: exact discrete Laplace and Gaussian noise against OpenDP's samplers of the same laws, and constructors from
//! a loss against those from a scale. Whole releases are `bench release`.

use std::hint::black_box;

use chacha20::ChaCha20Rng;
use dashu_ratio::RBig;
use mechanisms::samplers::{DiscreteGaussian, DiscreteLaplace};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use queryable::coins::Distribution;
use rand_core::SeedableRng;

use crate::measure::{AtScale, Contestant, Effort, compare, over_scales, print_table};

/// Measures, and prints the table and the bars: the least ratio over the scales; and the most that a constructor from a
/// loss costs over one from a scale.
pub fn run(effort: Effort) -> String {
    let ([laplace, gaussian], [for_epsilon, for_rho]) =
        over_scales(|scale| at_scale(effort, scale));
    format!(
        "bar: laplace_ratio={laplace:.1} gaussian_ratio={gaussian:.1} \
         for_epsilon_over_new={for_epsilon:.2} for_rho_over_new={for_rho:.2}"
    )
}

/// How many times faster our Laplace and Gaussian noise is, and how many times as long the constructors from a loss take.
fn at_scale(effort: Effort, scale: u16) -> Result<AtScale<2, 2>, Box<dyn std::error::Error>> {
    let rational = RBig::from(scale);
    let laplace = DiscreteLaplace::new(scale)?;
    let gaussian = DiscreteGaussian::with_scale(scale)?;
    // The losses at which noise for a sensitivity of `scale` has about this scale, as a user writes them.
    let (written, epsilon, rho) = (scale.to_string(), "0.99", "0.49");
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
                black_box(sample_discrete_laplace(black_box(&rational).clone()).is_ok());
            }),
            Contestant::new("gaussian: ours", 64, || {
                for _ in 0..64 {
                    black_box(black_box(&gaussian).sample(&mut more_bits));
                }
            }),
            Contestant::new("gaussian: OpenDP", 1, || {
                black_box(sample_discrete_gaussian(black_box(&rational).clone()).is_ok());
            }),
            Contestant::new("laplace: our constructor", 1, || {
                black_box(DiscreteLaplace::new(black_box(&written)).is_ok());
            }),
            Contestant::new("laplace: for_epsilon", 1, || {
                let noise = DiscreteLaplace::for_epsilon(black_box(&written), epsilon);
                black_box(noise.is_ok());
            }),
            Contestant::new("gaussian: our constructor", 1, || {
                black_box(DiscreteGaussian::with_scale(black_box(&written)).is_ok());
            }),
            Contestant::new("gaussian: for_rho", 1, || {
                let noise = DiscreteGaussian::for_rho(black_box(&written), rho);
                black_box(noise.is_ok());
            }),
        ],
    );
    print_table(&timings);
    let ratio = |ours: usize| timings[ours + 1].best / timings[ours].best;
    Ok(([0, 2].map(ratio), [4, 6].map(ratio)))
}
