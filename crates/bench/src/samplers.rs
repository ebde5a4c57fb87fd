//! `bench samplers`: exact discrete Laplace and Gaussian noise against OpenDP's samplers of the same laws, and releases of an
//! integer with that noise against OpenDP's `make_laplace` and `make_gaussian`.

use std::{hint::black_box, sync::Arc};

use chacha20::ChaCha20Rng;
use dashu_ratio::RBig;
use exact::Exact;
use mechanisms::{
    additive::add_noise,
    decimal::{Grid, add_noise_on_grid},
    samplers::{DiscreteGaussian, DiscreteLaplace},
};
use opendp::{
    domains::AtomDomain,
    measurements::{make_gaussian, make_laplace},
    measures::{MaxDivergence, ZeroConcentratedDivergence},
    metrics::AbsoluteDistance,
    traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace},
};
use queryable::{Root, coins::Distribution};
use rand_core::SeedableRng;

use crate::measure::{Contestant, Effort, Timing, compare, print_table};

/// The scales at which everything is measured.
const SCALES: [u16; 3] = [1, 10, 1000];

/// Measures, and prints the table and the bars: the least ratio over the scales, for the noise alone and for releases; and
/// the most that a constructor from a loss costs over one from a scale.
pub fn run(effort: Effort) {
    let (mut least, mut most) = ([f64::INFINITY; 4], [0.0f64; 2]);
    for scale in SCALES {
        println!("## scale {scale}");
        match at_scale(effort, scale) {
            Ok((ratios, constructors)) => {
                least = std::array::from_fn(|i| least[i].min(ratios[i]));
                most = std::array::from_fn(|i| most[i].max(constructors[i]));
            }
            Err(error) => println!("not measured: {error}"),
        }
    }
    let [laplace, gaussian, laplace_release, gaussian_release] = least;
    println!(
        "bar: laplace_ratio={laplace:.1} gaussian_ratio={gaussian:.1} \
         laplace_release_ratio={laplace_release:.1} gaussian_release_ratio={gaussian_release:.1}"
    );
    let [for_epsilon, for_rho] = most;
    println!("bar: for_epsilon_over_new={for_epsilon:.2} for_rho_over_new={for_rho:.2}");
}

/// How many times faster we are: Laplace and Gaussian noise, then releases with them. And how many times as long the
/// constructors from a loss take.
fn at_scale(
    effort: Effort,
    scale: u16,
) -> Result<([f64; 4], [f64; 2]), Box<dyn std::error::Error>> {
    let rational = RBig::from(scale);
    let laplace = DiscreteLaplace::new(rational.clone())?;
    let gaussian = DiscreteGaussian::with_scale(rational.clone())?;
    let (laplace_release, gaussian_release) =
        (add_noise(laplace.clone()), add_noise(gaussian.clone()));
    let integers = || {
        (
            AtomDomain::<i64>::default(),
            AbsoluteDistance::<i64>::default(),
        )
    };
    let (domain, metric) = integers();
    let their_laplace = make_laplace::<_, _, MaxDivergence>(domain, metric, scale.into(), None)
        .map_err(|error| format!("{error:?}"))?;
    let (domain, metric) = integers();
    let their_gaussian =
        make_gaussian::<_, _, ZeroConcentratedDivergence>(domain, metric, scale.into(), None)
            .map_err(|error| format!("{error:?}"))?;
    // Floats on a grid of about a millionth: ours of decimals, theirs of halves.
    let steps = DiscreteLaplace::new(&rational * RBig::from(1_000_000u32))?;
    let (floats, float) = (add_noise_on_grid(Grid::new(6)?, steps), Arc::new(42.5));
    let (domain, metric) = (
        AtomDomain::<f64>::new_non_nan(),
        AbsoluteDistance::<f64>::default(),
    );
    let their_floats = make_laplace::<_, _, MaxDivergence>(domain, metric, scale.into(), Some(-20))
        .map_err(|error| format!("{error:?}"))?;
    // The losses at which noise for a sensitivity of `scale` has about this scale, as a user writes them.
    let (exact_scale, epsilon, rho) = (Exact::from(scale), "0.99", "0.49");
    let mut bits = ChaCha20Rng::from_seed([1; 32]);
    let mut more_bits = ChaCha20Rng::from_seed([2; 32]);
    let (root, data) = (Root::from_os()?, Arc::new(42));
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
            Contestant::new("release, laplace: ours", 1, || {
                black_box(laplace_release.invoke_in(&root, Arc::clone(&data)).is_ok());
            }),
            Contestant::new("release, laplace: OpenDP", 1, || {
                black_box(their_laplace.invoke(black_box(&42)).is_ok());
            }),
            Contestant::new("gaussian: ours", 64, || {
                for _ in 0..64 {
                    black_box(black_box(&gaussian).sample(&mut more_bits));
                }
            }),
            Contestant::new("gaussian: OpenDP", 1, || {
                black_box(sample_discrete_gaussian(black_box(&rational).clone()).is_ok());
            }),
            Contestant::new("release, gaussian: ours", 1, || {
                black_box(gaussian_release.invoke_in(&root, Arc::clone(&data)).is_ok());
            }),
            Contestant::new("release, gaussian: OpenDP", 1, || {
                black_box(their_gaussian.invoke(black_box(&42)).is_ok());
            }),
            Contestant::new("release, laplace, f64: ours", 1, || {
                black_box(floats.invoke_in(&root, Arc::clone(&float)).is_ok());
            }),
            Contestant::new("release, laplace, f64: OpenDP", 1, || {
                black_box(their_floats.invoke(black_box(&42.5)).is_ok());
            }),
            Contestant::new("laplace: our constructor", 1, || {
                black_box(DiscreteLaplace::new(black_box(&exact_scale)).is_ok());
            }),
            Contestant::new("laplace: for_epsilon", 1, || {
                let noise = DiscreteLaplace::for_epsilon(black_box(&exact_scale), epsilon);
                black_box(noise.is_ok());
            }),
            Contestant::new("gaussian: our constructor", 1, || {
                black_box(DiscreteGaussian::with_scale(black_box(&exact_scale)).is_ok());
            }),
            Contestant::new("gaussian: for_rho", 1, || {
                let noise = DiscreteGaussian::for_rho(black_box(&exact_scale), rho);
                black_box(noise.is_ok());
            }),
        ],
    );
    print_table(&timings);
    let ratio = |ours: usize| times(&timings[ours + 1], &timings[ours]);
    Ok(([0, 4, 2, 6].map(ratio), [10, 12].map(ratio)))
}

fn times(theirs: &Timing, ours: &Timing) -> f64 {
    theirs.best / ours.best
}
