//! Every function against intervals of 192 bits: within the units that its documentation states.

use exact::interval::{Interval, pi};

use super::constants::{
    HALF_PI, HALF_PI_END, INVERSE_FACTORIALS, INVERSE_ROOT_TWO_PI, LN_2, LN_2_TWO,
};
use super::*;
use crate::reference::{BITS, Cases, Known, Wide, distance, of};

fn sum(parts: &[f64]) -> Interval {
    parts.iter().fold(of(0.0), |sum, part| &sum + &of(*part))
}

#[test]
fn constants_are_what_they_say() {
    let half_pi = pi(BITS).shifted(-1);
    assert!(distance(&sum(&HALF_PI), &half_pi) < 2f64.powi(-137));
    let two = [HALF_PI[0], HALF_PI[1], HALF_PI_END];
    assert!(distance(&sum(&two), &half_pi) < 2f64.powi(-109));
    for part in &HALF_PI[..3] {
        assert_eq!(part.to_bits() & ((1 << 25) - 1), 0, "at most 28 bits");
    }
    let ln_2 = Interval::int(2u8, BITS).ln().unwrap();
    assert!(distance(&sum(&LN_2), &ln_2) < 2f64.powi(-85));
    assert!(distance(&sum(&LN_2_TWO), &ln_2) < 2f64.powi(-106));
    assert_eq!(LN_2[0].to_bits() & ((1 << 21) - 1), 0, "at most 32 bits");
    let mut inverse = of(1.0);
    for (n, parts) in INVERSE_FACTORIALS.iter().enumerate() {
        inverse = inverse.div_int(n as u64);
        let off = distance(&sum(parts), &inverse) / parts[0];
        assert!(off < 2f64.powi(-105), "{n}: {off}");
    }
    let root = pi(BITS).shifted(1).sqrt().unwrap();
    let inverse = of(1.0).div(&root).unwrap();
    assert!(distance(&sum(&INVERSE_ROOT_TWO_PI), &inverse) < 2f64.powi(-106));
}

fn number<N: Known>(cases: &mut Cases, x: f64) -> N {
    N::of(x) + N::of(x * cases.unit() * 2f64.powi(-54))
}

fn operations<N: Known>() {
    let mut cases = Cases::new(1);
    for _ in 0..300 {
        let (a, b) = (cases.between(-2.0, 2.0), cases.spread(1e-5, 1e5));
        let (a, b): (N, N) = (number(&mut cases, a), number(&mut cases, b));
        let (x, y) = (a.known(), b.known());
        let results = [
            (a + b, &x + &y),
            (a - b, &x - &y),
            (a * b, &x * &y),
            (a / b, x.div(&y).unwrap()),
        ];
        for (found, exactly) in results {
            let off = distance(&found.known(), &exactly);
            assert!(off <= found.near().abs() * N::UNIT, "{a:?} {b:?} {found:?}");
        }
    }
}

fn elementary<N: Known>() {
    let mut cases = Cases::new(2);
    for _ in 0..60 {
        let size = cases.spread(1e-8, 600.0);
        for x in [size, -size] {
            let x: N = number(&mut cases, x);
            let e = x.known().exp().unwrap();
            let value = e.hi.approximate();
            let off = distance(&exp(x).known(), &e) / value / N::UNIT;
            assert!(off <= 4.0 + size, "exp {x:?}: {off}");
            let less = &e - &of(1.0);
            let off = distance(&exp_m1(x).known(), &less) / less.hi.approximate().abs() / N::UNIT;
            assert!(off <= 16.0 + 4.0 * size, "exp_m1 {x:?}: {off}");
        }
        let size = cases.spread(1e-12, 1e200);
        let y: N = number(&mut cases, size);
        let log = (&y.known() + &of(1.0)).ln().unwrap();
        let value = log.hi.approximate();
        let off = distance(&ln_1p(y).known(), &log) / value / N::UNIT;
        assert!(off <= 32.0 + 8.0 * value, "ln_1p {y:?}: {off}");
        let (x, y): (f64, N) = (cases.between(-0.5, 0.0), N::of(size));
        let y_log = y.known().ln().unwrap();
        let off = distance(&ln(y).known(), &y_log) / N::UNIT;
        assert!(
            off <= 16.0 + 4.0 * y_log.hi.approximate().abs(),
            "ln {y:?}: {off}"
        );
        let x = N::of(x);
        let log = (&x.known() + &of(1.0)).ln().unwrap();
        let value = log.hi.approximate().abs();
        let off = distance(&ln_1p(x).known(), &log) / value / N::UNIT;
        assert!(off <= 32.0 + 8.0 * value, "ln_1p {x:?}: {off}");
    }
    assert_eq!(exp(N::of(-701.0)).near(), 0.0);
}

fn turns<N: Known>() {
    let mut cases = Cases::new(3);
    for _ in 0..150 {
        let x = cases.spread(1e-9, 1e3);
        let t = cases.node(1e-6, LARGEST_ANGLE / x * 0.99);
        let sign = if cases.below(2) == 0 { 1.0 } else { -1.0 };
        let x: N = number(&mut cases, sign * x);
        let angle = &of(t) * &x.known();
        let off = crate::reference::cis(&angle).distance(cis(t, x)) / N::UNIT;
        assert!(off <= 8.0, "{t} {x:?}: {off}");
    }
    // Multiples of quarter turns, where sines and cosines vanish.
    for k in [1.0, 2.0, 3.0, 1000.0, 12_345_678.0] {
        let x = N::of(std::f64::consts::FRAC_PI_2 * k);
        let off = crate::reference::cis(&x.known()).distance(cis(1.0, x)) / N::UNIT;
        assert!(off <= 8.0, "{k}: {off}");
    }
}

#[test]
fn many_turns_at_once() {
    let mut cases = Cases::new(5);
    for _ in 0..400 {
        let x = cases.spread(1e-9, 1e3);
        let t = cases.node(1e-6, LARGEST_ANGLE / x * 0.99);
        let (high, low) = halves(x);
        let (cos, sin) = cos_sin(t, high, low);
        let exactly = crate::reference::cis(&(&of(t) * &of(x)));
        let off = distance(&exactly.re, &of(cos)).max(distance(&exactly.im, &of(sin)));
        assert!(off <= 8.0 * f64::UNIT, "{t} {x}: {off}");
    }
    assert_eq!(cos_sin(3.0, 0.0, 0.0), (1.0, 0.0));
}

#[test]
fn plain_numbers_keep_their_word() {
    operations::<f64>();
    elementary::<f64>();
    turns::<f64>();
}

#[test]
fn sums_of_two_keep_their_word() {
    operations::<Double>();
    elementary::<Double>();
    turns::<Double>();
}

#[test]
fn complex_products_and_powers() {
    let mut cases = Cases::new(4);
    for _ in 0..100 {
        let mut unit = || Complex::new(cases.between(-0.7, 0.7), cases.between(-0.7, 0.7));
        let (a, b) = (unit(), unit());
        let exactly = Wide::at(a.re, a.im).times(&Wide::at(b.re, b.im));
        assert!(exactly.distance(a * b) <= 4.0 * f64::UNIT * 1.4);
        let n = 1 + cases.below(40);
        let mut power = Wide::at(1.0, 0.0);
        for _ in 0..n {
            power = power.times(&Wide::at(a.re, a.im));
        }
        assert!(power.distance(a.power(n)) <= 8.0 * n as f64 * f64::UNIT);
    }
}

#[test]
fn a_bad_guess_is_not_a_number() {
    assert!(ln(f64::NAN).is_nan());
    assert!(ln_1p(f64::NAN).is_nan());
    assert!(ln(-1.0f64).is_nan());
}
