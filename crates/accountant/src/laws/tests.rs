//! Every law against its formula in intervals of 192 bits: masses and Φ within the errors that are stated.

use std::sync::Arc;

use exact::interval::Interval;

use super::*;
use crate::reference::{BITS, Cases, Known, Wide, cis, distance, of, of_double};

/// `M(z)` of a law, by its defining sum or closed form.
fn moment(law: &Law, z: &Wide) -> Wide {
    let one = Wide::at(1.0, 0.0);
    let up = |z: &Wide, x: &Interval| z.times(&Wide::real(x.clone())).exp();
    match law {
        Law::Response(law) => {
            let e = of(law.epsilon);
            let top = up(&z.plus(&one), &e).plus(&up(z, &-&e));
            top.over(&Wide::real(&of(1.0) + &e.exp().unwrap()))
        }
        Law::Laplace(law) => {
            let e = of(law.epsilon);
            let more = z.plus(&one);
            let top = more.times(&up(z, &e)).plus(&z.times(&up(&more, &-&e)));
            top.over(&more.plus(z))
        }
        Law::Gaussian(law) => {
            let square = z.times(z).plus(z);
            up(&square, &of(law.square).shifted(-1))
        }
        Law::DiscreteLaplace(law) => {
            let (a, n) = (of(law.rate), law.distance as i64);
            let q = (-&a).exp().unwrap();
            let normal = of(1.0).div(&(&of(1.0) + &q)).unwrap();
            let mut sum = Wide::at(0.0, 0.0);
            for x in 0..=n {
                let mass = (-&(&a * &of(x as f64))).exp().unwrap();
                let mass = match x > 0 && x < n {
                    true => &mass * &(&of(1.0) - &q),
                    false => mass,
                };
                let loss = &a * &of((n - 2 * x) as f64);
                sum = sum.plus(&up(z, &loss).times(&Wide::real(&mass * &normal)));
            }
            sum
        }
        Law::DiscreteGaussian(law) => {
            let square = of_double(law.square).shifted(1);
            let d = law.distance as f64;
            let reach = (law.square.high.sqrt() * 14.0 + z.re.hi.approximate() * d) as i64 + 10;
            let (mut sum, mut normal) = (Wide::at(0.0, 0.0), of(0.0));
            let mut factor = up(z, &of(d * (d + 2.0 * reach as f64)).div(&square).unwrap());
            let next = up(z, &of(-2.0 * d).div(&square).unwrap());
            for x in -reach..=reach {
                let mass = (-&of((x * x) as f64).div(&square).unwrap()).exp().unwrap();
                sum = sum.plus(&factor.times(&Wide::real(mass.clone())));
                normal = &normal + &mass;
                factor = factor.times(&next);
            }
            sum.over(&Wide::real(normal))
        }
        Law::Finite(law) => law.atoms.iter().fold(Wide::at(0.0, 0.0), |sum, (loss, p)| {
            sum.plus(&up(z, &of(*loss)).times(&Wide::real(of_double(*p))))
        }),
        Law::SubsampledGaussian(law) => subsampled(law, z),
        Law::Mixture(law) => law
            .parts
            .iter()
            .fold(Wide::at(0.0, 0.0), |sum, (weight, part)| {
                sum.plus(&moment(part, z).times(&Wide::real(of_double(*weight))))
            }),
    }
}

/// The integral by a finer rule over a longer range: its own error is far below what is tested.
fn subsampled(law: &SubsampledGaussian, z: &Wide) -> Wide {
    let tilt = z.re.hi.approximate();
    let (low, high) = match law.removed {
        true => (-13.0 * law.sigma, 1.0 + tilt + 13.0 * law.sigma),
        false => (-tilt - 13.0 * law.sigma, 13.0 * law.sigma),
    };
    let strip = 3.0 * law.sigma * law.sigma;
    let step = (6.0 * strip
        / (76.0
            + strip * strip / (2.0 * law.sigma.powi(2))
            + 3.0 * z.im.hi.approximate().abs()
            + 3.0 * tilt))
        .min(law.sigma / 4.0);
    // A power of two, so that the points are exact multiples.
    let step = step.log2().floor().exp2();
    let low = (low / step).floor() * step;
    let twice = &(&of(law.sigma) * &of(law.sigma)) * &of(2.0);
    let scale = of(step)
        .div(&(&exact::interval::pi(BITS) * &twice).sqrt().unwrap())
        .unwrap();
    let (q, rest) = (of(law.rate), &of(1.0) - &of(law.rate));
    let power = match law.removed {
        true => z.plus(&Wide::at(1.0, 0.0)),
        false => Wide::at(0.0, 0.0).plus(&z.times(&Wide::at(-1.0, 0.0))),
    };
    let mut sum = Wide::at(0.0, 0.0);
    for j in 0..=((high - low) / step) as i64 {
        let x = low + j as f64 * step;
        let odds = of(2.0 * x - 1.0).div(&twice).unwrap().exp().unwrap();
        let log = (&rest + &(&q * &odds)).ln().unwrap();
        let density = -&(&of(x) * &of(x)).div(&twice).unwrap();
        let term = power
            .times(&Wide::real(log))
            .plus(&Wide::real(density))
            .exp();
        sum = sum.plus(&term);
    }
    sum.times(&Wide::real(scale))
}

/// Masses and Φ at some tilts and nodes.
fn check<N: Known>(law: &Law, tilt: f64, nodes: &[f64]) {
    check_also::<N>(law, tilt, nodes, &[1.0, 1.3, 3.0]);
}

/// The same, with the bound for all later nodes at these multiples.
fn check_also<N: Known>(law: &Law, tilt: f64, nodes: &[f64], later: &[f64]) {
    let reach = nodes.iter().copied().fold(0.0, f64::max);
    let tilted: Tilted<N> = law
        .tilted(tilt, reach)
        .unwrap_or_else(|| panic!("{law:?} at {tilt}"));
    let mass = moment(law, &Wide::at(tilt, 0.0)).re;
    let found = &of_double(tilted.log).exp().unwrap() * &tilted.ratio.known();
    let off = distance(&found.div(&mass).unwrap(), &of(1.0));
    assert!(
        off <= tilted.mass_error,
        "{law:?} at {tilt}: mass off by {off}, allowed {}",
        tilted.mass_error
    );
    for t in nodes {
        let exactly = moment(law, &Wide::at(tilt, *t)).over(&Wide::real(mass.clone()));
        let off = exactly.distance(tilted.phi.at(*t));
        // The distance is in the sum norm: at most √2 times the modulus.
        assert!(
            off <= 1.5 * tilted.error,
            "{law:?} at {tilt}, {t}: off by {off}, allowed {}",
            tilted.error
        );
        let bound = law.decay(tilt, *t);
        // Where there is no bound there is nothing to compare.
        for later in later.iter().filter(|_| bound < 1.0).map(|times| times * t) {
            let later = moment(law, &Wide::at(tilt, later)).over(&Wide::real(mass.clone()));
            let modulus = (&(&later.re * &later.re) + &(&later.im * &later.im))
                .hi
                .approximate()
                .sqrt();
            assert!(
                modulus <= bound * (1.0 + 1e-12),
                "{law:?} at {tilt}, {t}: {modulus} above {bound}"
            );
        }
    }
}

fn both(law: Law, cases: &mut Cases, deviation: f64) {
    for _ in 0..2 {
        let tilt = cases.spread(0.01, 20.0);
        let nodes: Vec<f64> = (0..2)
            .map(|_| cases.node(0.1, 30.0) / 1024.0)
            .map(|t| f64::from_bits((t * 1024.0 / deviation).to_bits() & !((1u64 << 27) - 1)))
            .collect();
        check::<f64>(&law, tilt, &nodes);
        check::<Double>(&law, tilt, &nodes);
    }
}

#[test]
fn responses_and_laplace_noise() {
    let mut cases = Cases::new(11);
    for _ in 0..5 {
        let epsilon = cases.spread(1e-6, 20.0);
        both(Law::Response(Response { epsilon }), &mut cases, epsilon);
        both(Law::Laplace(Laplace { epsilon }), &mut cases, epsilon);
    }
}

#[test]
fn gaussian_noise() {
    let mut cases = Cases::new(12);
    for _ in 0..8 {
        let mu = cases.spread(1e-4, 3.0);
        both(Law::Gaussian(Gaussian { square: mu * mu }), &mut cases, mu);
    }
}

#[test]
fn noise_on_the_integers() {
    let mut cases = Cases::new(13);
    for distance in [1, 2, 7] {
        let rate = cases.spread(1e-3, 2.0);
        both(
            Law::DiscreteLaplace(DiscreteLaplace { rate, distance }),
            &mut cases,
            rate * distance as f64,
        );
        for sigma in [0.3, 1.1, 1.99, 2.0, 3.7f64] {
            let square = Double::of(sigma * sigma);
            let law = DiscreteGaussian { square, distance };
            both(
                Law::DiscreteGaussian(law),
                &mut cases,
                distance as f64 / sigma,
            );
        }
    }
}

#[test]
fn the_lattice_of_discrete_noise_comes_back() {
    // At t = 2πσ²/Δ the modulus of Φ is 1 again: where stopping at small terms would be unsound.
    let law = DiscreteGaussian {
        square: Double::of(4.0),
        distance: 1,
    };
    let period = 2.0 * std::f64::consts::PI * 4.0;
    let node = f64::from_bits(period.to_bits() & !((1u64 << 27) - 1));
    check::<f64>(&Law::DiscreteGaussian(law), 3.0, &[node, 2.0 * node]);
    let tilted: Tilted<f64> = Law::DiscreteGaussian(law).tilted(3.0, node).unwrap();
    assert!(tilted.phi.at(node).size() > 0.99);
}

#[test]
fn finite_laws_and_mixtures() {
    let mut cases = Cases::new(14);
    for n in [1, 2, 5, 40] {
        let mut atoms: Vec<(f64, Double)> = (0..n)
            .map(|_| {
                (
                    cases.between(-2.0, 3.0),
                    Double::of(cases.spread(1e-20, 1.0)),
                )
            })
            .collect();
        let total = atoms.iter().fold(Double::of(0.0), |sum, (_, p)| sum + *p);
        atoms.iter_mut().for_each(|(_, p)| *p = *p / total);
        let finite = Law::Finite(Arc::new(Finite { atoms }));
        both(finite.clone(), &mut cases, 1.0);
        let parts = vec![
            (Double::of(0.25), finite),
            (Double::of(0.25), Law::Gaussian(Gaussian { square: 0.3 })),
            (Double::of(0.5), Law::Laplace(Laplace { epsilon: 0.7 })),
        ];
        both(Law::Mixture(Arc::new(Mixture { parts })), &mut cases, 1.0);
    }
}

#[test]
fn sampled_gaussian_noise() {
    let mut cases = Cases::new(15);
    for (rate, sigma) in [(0.01, 1.0), (0.3, 0.7), (0.9, 2.0), (1e-5, 1.5)] {
        for removed in [true, false] {
            let law = Law::SubsampledGaussian(SubsampledGaussian {
                rate,
                sigma,
                removed,
            });
            let (tilt, node) = (cases.spread(0.3, 12.0), cases.node(0.5, 20.0));
            check_also::<f64>(&law, tilt, &[node], &[1.5]);
        }
    }
}

#[test]
fn sampled_gaussian_noise_in_sums_of_two() {
    for removed in [true, false] {
        let law = Law::SubsampledGaussian(SubsampledGaussian {
            rate: 0.01,
            sigma: 1.0,
            removed,
        });
        check_also::<Double>(&law, 1.521_638_733_087_711, &[3.0], &[]);
    }
}

#[test]
fn sampled_noise_decays() {
    // Without a bound below one no contour could end by it.
    for removed in [true, false] {
        let law = Law::SubsampledGaussian(SubsampledGaussian {
            rate: 0.01,
            sigma: 1.0,
            removed,
        });
        let bounds = [10.0, 20.0, 40.0, 80.0].map(|from| law.decay(5.0, from));
        assert!(
            bounds.windows(2).all(|pair| pair[1] < pair[0]) && bounds[3] < 0.99,
            "{bounds:?}"
        );
    }
}

#[test]
fn cumulants_are_near() {
    let laws = [
        Law::Response(Response { epsilon: 0.4 }),
        Law::Laplace(Laplace { epsilon: 0.4 }),
        Law::DiscreteLaplace(DiscreteLaplace {
            rate: 0.1,
            distance: 5,
        }),
        Law::DiscreteGaussian(DiscreteGaussian {
            square: Double::of(1.5),
            distance: 1,
        }),
        Law::SubsampledGaussian(SubsampledGaussian {
            rate: 0.1,
            sigma: 1.0,
            removed: true,
        }),
        Law::SubsampledGaussian(SubsampledGaussian {
            rate: 0.1,
            sigma: 1.0,
            removed: false,
        }),
    ];
    for law in laws {
        for tilt in [0.3, 2.0, 9.0] {
            let log = |tilt: f64| {
                moment(&law, &Wide::at(tilt, 0.0))
                    .re
                    .ln()
                    .unwrap()
                    .hi
                    .approximate()
            };
            let step = 1e-3;
            let (below, here, above) = (log(tilt - step), log(tilt), log(tilt + step));
            let found = law.cumulants(tilt);
            let mean = (above - below) / (2.0 * step);
            let variance = (above - 2.0 * here + below) / (step * step);
            assert!(
                (found.log - here).abs() < 1e-6 * (1.0 + here.abs()),
                "{law:?} {tilt}"
            );
            assert!(
                (found.mean - mean).abs() < 1e-4 * (1.0 + mean.abs()),
                "{law:?} {tilt}: {found:?} {mean}"
            );
            assert!(
                (found.variance - variance).abs() < 1e-2 * (1e-3 + variance),
                "{law:?} {tilt}: {found:?} {variance}"
            );
        }
    }
}

#[test]
fn the_reference_turns_right() {
    let sixth = exact::interval::pi(BITS).div_int(3);
    assert!(cis(&sixth).distance(Complex::new(0.5, 0.75f64.sqrt())) < 1e-15);
}
