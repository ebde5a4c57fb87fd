//! For tests: complex intervals of any precision, and a seeded source of cases.

use exact::interval::{Float, Interval, pi};

use crate::directed::float;
use crate::numbers::{Complex, Double, Number};

/// The precision of all references.
pub(crate) const BITS: usize = 192;

pub(crate) fn of(x: f64) -> Interval {
    Interval::point(float(x), BITS)
}

pub(crate) fn of_double(x: Double) -> Interval {
    &of(x.high) + &of(x.low)
}

/// A number of either kind, exactly.
pub(crate) trait Known: Number {
    fn known(self) -> Interval;
}

impl Known for f64 {
    fn known(self) -> Interval {
        of(self)
    }
}

impl Known for Double {
    fn known(self) -> Interval {
        of_double(self)
    }
}

/// The largest absolute value of a difference, as a `f64`.
pub(crate) fn distance(a: &Interval, b: &Interval) -> f64 {
    let difference = a - b;
    let largest = difference.hi.max(difference.lo.neg());
    largest.approximate()
}

/// A complex interval.
#[derive(Clone, Debug)]
pub(crate) struct Wide {
    pub(crate) re: Interval,
    pub(crate) im: Interval,
}

impl Wide {
    pub(crate) fn real(re: Interval) -> Wide {
        Wide { re, im: of(0.0) }
    }

    pub(crate) fn at(re: f64, im: f64) -> Wide {
        Wide {
            re: of(re),
            im: of(im),
        }
    }

    pub(crate) fn plus(&self, other: &Wide) -> Wide {
        Wide {
            re: &self.re + &other.re,
            im: &self.im + &other.im,
        }
    }

    pub(crate) fn times(&self, other: &Wide) -> Wide {
        Wide {
            re: &(&self.re * &other.re) - &(&self.im * &other.im),
            im: &(&self.re * &other.im) + &(&self.im * &other.re),
        }
    }

    pub(crate) fn over(&self, other: &Wide) -> Wide {
        let conj = Wide {
            re: other.re.clone(),
            im: -&other.im,
        };
        let size = &(&other.re * &other.re) + &(&other.im * &other.im);
        let product = self.times(&conj);
        Wide {
            re: product.re.div(&size).unwrap(),
            im: product.im.div(&size).unwrap(),
        }
    }

    /// `e^self`.
    pub(crate) fn exp(&self) -> Wide {
        let size = self.re.exp().unwrap();
        cis(&self.im).times(&Wide::real(size))
    }

    /// How far a computed value is from this, at most.
    pub(crate) fn distance<N: Known>(&self, found: Complex<N>) -> f64 {
        distance(&self.re, &found.re.known()) + distance(&self.im, &found.im.known())
    }
}

/// `e^{ix}`, up to an absolute `2^-180`, by Taylor series after whole turns are taken off.
pub(crate) fn cis(x: &Interval) -> Wide {
    let turn = pi(BITS).shifted(1);
    let turns = (x.lo.approximate() / std::f64::consts::TAU).round();
    let rest = Wide {
        re: of(0.0),
        im: x - &(&of(turns) * &turn),
    };
    let (mut sum, mut term) = (Wide::at(1.0, 0.0), Wide::at(1.0, 0.0));
    // |rest| is below 4: after 72 terms the rest of the series is below 4^72/72! < 2^-200.
    for n in 1..72 {
        term = term.times(&rest);
        term = Wide {
            re: term.re.div_int(n),
            im: term.im.div_int(n),
        };
        sum = sum.plus(&term);
    }
    let slack = Float::power_of_two(-180);
    Wide {
        re: sum.re.widened(&slack),
        im: sum.im.widened(&slack),
    }
}

/// Numbers that look random, the same in every run (Marsaglia's xorshift).
pub(crate) struct Cases(u64);

impl Cases {
    pub(crate) fn new(seed: u64) -> Cases {
        Cases(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Between two positive numbers, evenly in the logarithm.
    pub(crate) fn spread(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// With at most 26 bits, like a node.
    pub(crate) fn node(&mut self, low: f64, high: f64) -> f64 {
        f64::from_bits(self.spread(low, high).to_bits() & !((1u64 << 27) - 1))
    }
}
