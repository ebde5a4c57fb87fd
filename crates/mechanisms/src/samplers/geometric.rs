//! Geometric and discrete Laplace (two-sided geometric) noise, exactly.
//!
//! Both are a number of equal steps down: `P(m) = (1−q)·q^m`. For large scales `m = width·w + r`: the bucket `w` comes
//! from a table, the remainder `r` is uniform and kept with probability `q^r`. The sign of discrete Laplace noise shares
//! the table: a biased sign, independent of `m`, where `−` stands for `−(m+1)`, makes zero come out right without redraws.

use std::fmt;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use queryable::coins::{Distribution, Probability};
use rand_core::Rng;

use super::{
    decay::Decay,
    enumeration::{Enumeration, Filled},
    fixed::Bounds,
    fraction::Fraction,
    real::UniformReal,
    table::{Boundary, Table},
    thinning::Thinning,
    width::{Width, below, below_big},
};
use crate::error::BuildError;

/// Buckets per scale: more make the table longer, fewer make more redraws (one in 32).
const BUCKETS: u64 = 16;
/// The table ends where less than `2^-TAIL` is left; there, big integers take over.
const TAIL: u32 = 18;

/// Draws `m` and, if asked, a sign.
#[derive(Clone)]
struct Steps {
    decay: Decay,
    /// Bounds on `−ln q`.
    rate: (RBig, RBig),
    width: Width,
    table: Table,
    thinning: Option<Thinning>,
    signed: bool,
}

impl Steps {
    fn new(decay: Decay, signed: bool) -> Self {
        let (rate_lo, rate_hi) = decay.rate();
        let width = (RBig::ONE / (&rate_hi * RBig::from(BUCKETS))).ceil();
        let width = Width::new(super::fixed::magnitude(&width).max(UBig::ONE));
        let thinning = match &width {
            Width::Small(_) => Thinning::new(&rate_lo, &rate_hi),
            Width::Big(_) => None,
        };
        let mut steps = Self {
            decay,
            rate: (rate_lo, rate_hi),
            width,
            table: Table::new([]),
            thinning,
            signed,
        };
        steps.table = Table::new(steps.machine_boundaries());
        steps
    }

    /// The probability of passing a bucket, `q^width`, and of passing its non-negative half.
    fn passing(&self, bits: usize) -> (Bounds, Bounds) {
        let one = Bounds::one(bits);
        let bucket = self.decay.power(&self.width.to_big(), bits);
        let plus = one.div(&one.add(&self.decay.power(&UBig::ONE, bits)), bits);
        let half = plus.mul(&bucket.complement(bits), bits).complement(bits);
        (bucket, half)
    }

    /// Cumulative probabilities of the cells, to 64 digits, until little is left.
    fn machine_boundaries(&self) -> Vec<Boundary> {
        let (bucket, half) = self.passing(64);
        let (Some(ratio), Some(half)) = (Fraction::new(&bucket), Fraction::new(&half)) else {
            return Vec::new();
        };
        let (mut all, mut left, mut left_half) = (Vec::new(), ratio, half);
        while left.hi >> (64 - TAIL) > 0 || all.is_empty() {
            if self.signed {
                all.push(left_half.complement());
            }
            all.push(left.complement());
            left_half = left_half.mul(ratio);
            left = left.mul(ratio);
        }
        all
    }

    /// Cumulative probabilities of the cells, at any precision.
    fn boundaries(&self, bits: usize) -> Vec<Bounds> {
        let work = bits + 32;
        let (bucket, half) = self.passing(work);
        let (mut all, mut left, mut left_half) = (Vec::new(), bucket.clone(), half);
        loop {
            if self.signed {
                all.push(left_half.complement(work).narrowed(work, bits));
            }
            all.push(left.complement(work).narrowed(work, bits));
            if left.lo < UBig::ONE << 32usize {
                return all;
            }
            left_half = left_half.mul(&bucket, work);
            left = left.mul(&bucket, work);
        }
    }

    /// The sign (true is minus) and `m`.
    fn draw(&self, bits: &mut dyn Rng) -> (bool, Magnitude) {
        loop {
            let word = bits.next_u64();
            let cell = self.table.locate(word as u32).unwrap_or_else(|| {
                UniformReal::started(UBig::from(word as u32), 32)
                    .locate(|precision| self.boundaries(precision), bits)
            });
            let (minus, bucket) = match self.signed {
                true => (cell & 1 == 1, cell >> 1),
                false => (false, cell),
            };
            match &self.width {
                Width::Small(1) => return (minus, Magnitude::Small(bucket as u128)),
                Width::Small(width) => {
                    let rest = below(*width, (word >> 32) as u32, bits);
                    if self.keep_small(rest, bits) {
                        let m = u128::from(*width) * bucket as u128 + u128::from(rest);
                        return (minus, Magnitude::Small(m));
                    }
                }
                Width::Big(width) => {
                    let rest = below_big(width, bits);
                    if self.keep(&rest, bits) {
                        let m = width * UBig::from(bucket) + rest;
                        return (minus, Magnitude::Big(m));
                    }
                }
            }
        }
    }

    /// True with probability `q^rest`.
    fn keep(&self, rest: &UBig, bits: &mut dyn Rng) -> bool {
        UniformReal::new().below(|precision| self.decay.power(rest, precision), bits)
    }

    fn keep_small(&self, rest: u64, bits: &mut dyn Rng) -> bool {
        match &self.thinning {
            Some(thinning) => thinning.accept(u128::from(rest), bits, |precision| {
                self.decay.power(&UBig::from(rest), precision)
            }),
            None => self.keep(&UBig::from(rest), bits),
        }
    }
}

/// How many steps were made: below 2^100 where buckets are small, since a table has far fewer than 2^48 cells.
enum Magnitude {
    Small(u128),
    Big(UBig),
}

/// The largest number of outcomes that are enumerated unless asked for.
const DEFAULT_RADIUS: u64 = 1024;

/// How far to enumerate unless told: to a tail of 2^-40, if that is not too far.
fn default_radius(decay: &Decay) -> u32 {
    let far = RBig::from(28u8) / decay.rate().1;
    let far = super::fixed::magnitude(&far.ceil());
    u64::try_from(far).map_or(DEFAULT_RADIUS, |far| far.clamp(1, DEFAULT_RADIUS)) as u32
}

fn positive(what: &'static str, value: RBig) -> Result<RBig, BuildError> {
    if value <= RBig::ZERO {
        return Err(BuildError::not_positive(what, value));
    }
    Ok(value)
}

fn proper(what: &'static str, value: RBig) -> Result<RBig, BuildError> {
    if value <= RBig::ZERO || value >= RBig::ONE {
        let expected = "strictly between 0 and 1";
        return Err(BuildError::out_of_range(what, expected, value));
    }
    Ok(value)
}

/// The number of failures before a success: `P(m) = (1−q)·q^m` for `m ≥ 0`.
///
/// ```
/// use dashu_ratio::RBig;
/// use mechanisms::samplers::Geometric;
/// use queryable::coins::Distribution;
/// let half = Geometric::with_ratio(RBig::from_parts(1.into(), 2u8.into()))?;
/// assert_eq!(half.outcome(2).1.to_string(), "1/8");
/// # Ok::<(), mechanisms::BuildError>(())
/// ```
#[derive(Clone)]
pub struct Geometric {
    steps: Steps,
    enumeration: Enumeration<UBig>,
}

impl Geometric {
    /// With `q = e^(−1/scale)`.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn new(scale: RBig) -> Result<Self, BuildError> {
        let rate = RBig::ONE / positive("the scale", scale)?;
        Ok(Self::from_decay(Decay::Exp { rate }))
    }

    /// With a rational `q`, strictly between zero and one.
    ///
    /// # Errors
    /// [`BuildError::OutOfRange`].
    pub fn with_ratio(ratio: RBig) -> Result<Self, BuildError> {
        Ok(Self::from_decay(Decay::Ratio(proper("the ratio", ratio)?)))
    }

    fn from_decay(decay: Decay) -> Self {
        let outcomes = default_radius(&decay) as usize + 1;
        Self {
            steps: Steps::new(decay, false),
            enumeration: Enumeration::new(outcomes),
        }
    }

    /// Enumerates this many outcomes, at least one; sampling is not affected.
    pub fn enumerating(mut self, outcomes: usize) -> Self {
        self.enumeration = Enumeration::new(outcomes.max(1));
        self
    }

    fn enumerated(&self) -> &Filled<UBig> {
        self.enumeration.get(|count| {
            let first = Start::new(&self.steps.decay, |one, q| one - q, Bounds::complement);
            let value = |m: usize| UBig::from(m);
            (0..count)
                .map(|m| (value(m), first.times_power(&self.steps.decay, m)))
                .collect()
        })
    }
}

impl Distribution for Geometric {
    type Outcome = UBig;

    fn sample(&self, bits: &mut dyn Rng) -> UBig {
        match self.steps.draw(bits).1 {
            Magnitude::Small(m) => UBig::from(m),
            Magnitude::Big(m) => m,
        }
    }

    fn arity(&self) -> usize {
        self.enumeration.len()
    }

    fn outcome(&self, index: usize) -> (UBig, Probability) {
        self.enumerated().outcome(index)
    }

    fn missing(&self) -> Probability {
        self.enumerated().missing()
    }
}

/// The probability of the first outcome: a rational for a rational ratio, otherwise a lower bound.
enum Start {
    Rational(RBig),
    Bound(Bounds),
}

/// Digits of an enumerated probability that is not rational.
const ENUMERATED_BITS: usize = 128;

impl Start {
    fn new(
        decay: &Decay,
        rational: impl Fn(RBig, &RBig) -> RBig,
        bound: impl Fn(&Bounds, usize) -> Bounds,
    ) -> Self {
        match decay {
            Decay::Ratio(q) => Self::Rational(rational(RBig::ONE, q)),
            Decay::Exp { .. } => {
                let q = decay.power(&UBig::ONE, ENUMERATED_BITS);
                Self::Bound(bound(&q, ENUMERATED_BITS))
            }
        }
    }

    /// This probability times `q^m`, or a lower bound of it.
    fn times_power(&self, decay: &Decay, m: usize) -> RBig {
        match (self, decay) {
            (Self::Rational(first), Decay::Ratio(q)) => first * q.pow(m as isize),
            (Self::Rational(first), _) => first.clone(),
            (Self::Bound(first), _) => {
                let power = decay.power(&UBig::from(m), ENUMERATED_BITS);
                first.mul(&power, ENUMERATED_BITS).lower(ENUMERATED_BITS)
            }
        }
    }
}

/// Discrete Laplace noise: `P(x) = (1−q)/(1+q)·q^|x|` on the integers, with `q = e^(−1/scale)` or rational.
///
/// Added to an integer of sensitivity `d` it has a loss of `d·(−ln q)`, which is `d/scale` (Ghosh, Roughgarden,
/// Sundararajan 2009; the sampler is ours, the law that of Canonne, Kamath, Steinke 2020). Sampling is exact, one or two
/// random words for most draws. It does not take constant time, and nothing is claimed about its timing.
///
/// ```
/// use dashu_ratio::RBig;
/// use mechanisms::samplers::DiscreteLaplace;
/// use queryable::{Root, machine};
/// let noise = DiscreteLaplace::new(RBig::from(10u8))?;
/// assert_eq!(noise.loss_per_unit().to_string(), "0.1");
/// let draws = Root::seeded([7; 32]).spawn(machine(move |(), scope| scope.draw(&noise)))?;
/// println!("{}", draws.ask(())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DiscreteLaplace {
    steps: Steps,
    enumeration: Enumeration<IBig>,
}

impl DiscreteLaplace {
    /// With `q = e^(−1/scale)`.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn new(scale: RBig) -> Result<Self, BuildError> {
        let rate = RBig::ONE / positive("the scale", scale)?;
        Ok(Self::from_decay(Decay::Exp { rate }))
    }

    /// With a rational `q`, strictly between zero and one: every probability is rational, and `e^ε = 1/q` per unit.
    ///
    /// # Errors
    /// [`BuildError::OutOfRange`].
    pub fn with_ratio(ratio: RBig) -> Result<Self, BuildError> {
        Ok(Self::from_decay(Decay::Ratio(proper("the ratio", ratio)?)))
    }

    fn from_decay(decay: Decay) -> Self {
        let radius = default_radius(&decay);
        Self {
            steps: Steps::new(decay, true),
            enumeration: Enumeration::new(2 * radius as usize + 1),
        }
    }

    /// Enumerates the outcomes from `−radius` to `radius`; sampling is not affected.
    pub fn enumerating(mut self, radius: u32) -> Self {
        self.enumeration = Enumeration::new(2 * radius as usize + 1);
        self
    }

    /// The pure loss per unit of sensitivity, `−ln q`, rounded up.
    pub fn loss_per_unit(&self) -> Exact {
        Exact::from_rational(self.rate(), Round::Up).unwrap_or(Exact::INFINITY)
    }

    /// An upper bound on `−ln q`; `1/scale` exactly where there is a scale.
    pub(crate) fn rate(&self) -> &RBig {
        &self.steps.rate.1
    }

    fn enumerated(&self) -> &Filled<IBig> {
        self.enumeration.get(|count| {
            let decay = &self.steps.decay;
            let first = Start::new(
                decay,
                |one, q| (&one - q) / (&one + q),
                |q, bits| {
                    let sum = Bounds::one(bits).add(q);
                    q.complement(bits).div(&sum, bits)
                },
            );
            let mut all = Vec::with_capacity(count);
            for index in 0..count {
                let m = index.div_ceil(2);
                let value = if index % 2 == 1 {
                    IBig::from(m)
                } else {
                    -IBig::from(m)
                };
                all.push((value, first.times_power(decay, m)));
            }
            all
        })
    }
}

impl Distribution for DiscreteLaplace {
    type Outcome = IBig;

    fn sample(&self, bits: &mut dyn Rng) -> IBig {
        match self.steps.draw(bits) {
            (false, Magnitude::Small(m)) => IBig::from(m),
            (true, Magnitude::Small(m)) => IBig::from(-1 - m as i128),
            (false, Magnitude::Big(m)) => m.into(),
            (true, Magnitude::Big(m)) => -IBig::from(m + UBig::ONE),
        }
    }

    fn arity(&self) -> usize {
        self.enumeration.len()
    }

    fn outcome(&self, index: usize) -> (IBig, Probability) {
        self.enumerated().outcome(index)
    }

    fn missing(&self) -> Probability {
        self.enumerated().missing()
    }
}

impl fmt::Debug for Geometric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Geometric({})", self.steps.decay)
    }
}

impl fmt::Debug for DiscreteLaplace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DiscreteLaplace({})", self.steps.decay)
    }
}
