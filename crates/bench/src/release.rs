//! `bench release`: a whole release of an integer with noise (checked, charged, run) against OpenDP's `invoke` of the same
//! law, and what a noise mechanism costs before its first draw and with it.

use std::{error::Error, hint::black_box, sync::Arc};

use exact::Exact;
use measures::{AbsoluteDistance, Additive, Basic};
use mechanisms::{
    additive::add_noise,
    decimal::{Grid, add_noise_on_grid},
    samplers::{DiscreteGaussian, DiscreteLaplace},
};
use odometer::{Any, Measurement, Odometer, Session};
use opendp::{
    domains::AtomDomain,
    measurements::{make_gaussian, make_laplace},
    measures::{MaxDivergence, ZeroConcentratedDivergence},
    metrics::AbsoluteDistance as TheirDistance,
};
use queryable::Root;

use crate::{
    measure::{AtScale, Contestant, Effort, Timing, compare, over_scales, print_table},
    ours::{PLENTY, expect},
};

/// Measures, and prints the table and the bars: over the scales, the least ratios of releases and the slowest constructor.
pub fn run(effort: Effort) -> String {
    let ([laplace, gaussian, laplace_invoke, gaussian_invoke], [constructor, first_draw]) =
        over_scales(|scale| at_scale(effort, scale));
    format!(
        "bar: laplace_release_ratio={laplace:.1} gaussian_release_ratio={gaussian:.1} \
         laplace_invoke_ratio={laplace_invoke:.1} gaussian_invoke_ratio={gaussian_invoke:.1} \
         constructor_us={:.2} first_draw_us={:.2}",
        constructor / 1e3,
        first_draw / 1e3
    )
}

type Release<M> = Measurement<Any<i64, AbsoluteDistance>, M, i64>;

/// A session with plenty of budget for releases of this kind.
fn filter<M: Additive>(release: &Release<M>) -> Session<Any<i64, AbsoluteDistance>, Basic<M>>
where
    &'static str: measures::IntoLoss<M::Loss>,
{
    let rule = Basic::new(release.map().measure().clone());
    let filter = Odometer::new(*release.space(), rule).filter(Exact::ONE, PLENTY);
    expect(expect(filter).invoke(42))
}

/// How many times faster we are: Laplace and Gaussian noise under a filter, then by `invoke`. And nanoseconds: the slower
/// of the constructors, without and with a first release.
fn at_scale(effort: Effort, scale: u16) -> Result<AtScale<4, 2>, Box<dyn Error>> {
    let laplace = add_noise(DiscreteLaplace::new(scale)?);
    let gaussian = add_noise(DiscreteGaussian::with_scale(scale)?);
    let (laplace_session, gaussian_session) = (filter(&laplace), filter(&gaussian));
    let integers = || {
        let domain = AtomDomain::<i64>::default();
        (domain, TheirDistance::<i64>::default())
    };
    let (domain, metric) = integers();
    let their_laplace = make_laplace::<_, _, MaxDivergence>(domain, metric, scale.into(), None)
        .map_err(|error| format!("{error:?}"))?;
    let (domain, metric) = integers();
    let their_gaussian =
        make_gaussian::<_, _, ZeroConcentratedDivergence>(domain, metric, scale.into(), None)
            .map_err(|error| format!("{error:?}"))?;
    // Floats on a grid of about a millionth: ours of decimals, theirs of halves.
    let steps = DiscreteLaplace::new(u64::from(scale) * 1_000_000)?;
    let (floats, float) = (add_noise_on_grid(Grid::new(6)?, steps), Arc::new(42.5));
    let (domain, metric) = (
        AtomDomain::<f64>::new_non_nan(),
        TheirDistance::<f64>::default(),
    );
    let their_floats = make_laplace::<_, _, MaxDivergence>(domain, metric, scale.into(), Some(-20))
        .map_err(|error| format!("{error:?}"))?;
    let (root, data) = (Root::from_os()?, Arc::new(42));
    let timings = compare(
        effort,
        [
            Contestant::new("laplace, under a filter", 1, || {
                black_box(laplace_session.launch(black_box(&laplace)).is_ok());
            }),
            Contestant::new("laplace, invoke", 1, || {
                black_box(laplace.invoke_in(&root, &data).is_ok());
            }),
            Contestant::new("laplace, OpenDP's invoke", 1, || {
                black_box(their_laplace.invoke(black_box(&42)).is_ok());
            }),
            Contestant::new("gaussian, under a filter", 1, || {
                black_box(gaussian_session.launch(black_box(&gaussian)).is_ok());
            }),
            Contestant::new("gaussian, invoke", 1, || {
                black_box(gaussian.invoke_in(&root, &data).is_ok());
            }),
            Contestant::new("gaussian, OpenDP's invoke", 1, || {
                black_box(their_gaussian.invoke(black_box(&42)).is_ok());
            }),
            Contestant::new("laplace on f64, invoke", 1, || {
                black_box(floats.invoke_in(&root, &float).is_ok());
            }),
            Contestant::new("laplace on f64, OpenDP's invoke", 1, || {
                black_box(their_floats.invoke(black_box(&42.5)).is_ok());
            }),
            Contestant::new("laplace, constructor", 1, || {
                black_box(DiscreteLaplace::new(black_box(scale)).is_ok());
            }),
            Contestant::new("gaussian, constructor", 1, || {
                black_box(DiscreteGaussian::with_scale(black_box(scale)).is_ok());
            }),
            Contestant::new("laplace, first release", 1, || {
                let fresh = DiscreteLaplace::new(black_box(scale)).map(add_noise);
                black_box(fresh.is_ok_and(|m| m.invoke_in(&root, &data).is_ok()));
            }),
            Contestant::new("gaussian, first release", 1, || {
                let fresh = DiscreteGaussian::with_scale(black_box(scale)).map(add_noise);
                black_box(fresh.is_ok_and(|m| m.invoke_in(&root, &data).is_ok()));
            }),
        ],
    );
    print_table(&timings);
    let best = timings.map(|timing: Timing| timing.best);
    let ratios = [(2, 0), (5, 3), (2, 1), (5, 4)].map(|(theirs, ours)| best[theirs] / best[ours]);
    Ok((ratios, [best[8].max(best[9]), best[10].max(best[11])]))
}
