//! Numbers that go in and come out: `e^ε` as an exact rational, and bounds from both sides.

use std::fmt;

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, Round};

use crate::{
    error::AuditError,
    shown::{digits, fits, places, shown},
};

/// `e^ε`, exactly: a rational that is not negative. Below one it stands for a negative ε.
///
/// ```
/// use odometry::auditor::Factor;
/// let three = Factor::new(3, 1)?; // ε = ln 3
/// assert!(Factor::new(1, 0).is_err());
/// # Ok::<(), odometry::auditor::AuditError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor(RBig);

impl Factor {
    /// `e^0`.
    pub const ONE: Self = Self(RBig::ONE);

    /// `numerator / denominator`.
    ///
    /// # Errors
    /// [`AuditError::Parameter`] if the denominator is zero.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, AuditError> {
        if denominator == 0 {
            return Err(AuditError::Parameter {
                name: "e^ε",
                value: format!("{numerator}/0"),
                expected: "a denominator above 0",
            });
        }
        let (numerator, denominator) = (IBig::from(numerator), UBig::from(denominator));
        Ok(Self(RBig::from_parts(numerator, denominator)))
    }

    /// `e^ε` for an ε, rounded in the stated direction by at most 1e-15 of itself. As δ falls with ε, the factor rounded
    /// down gives an upper bound on δ.
    ///
    /// `None` for an infinite ε; and rounded *up*, from about ε = 11356 on, where `e^ε` is past the largest number (rounded
    /// down, it is that number). That says nothing about ε: see [`DirectedProfile::delta_at_infinity`](crate::DirectedProfile::delta_at_infinity)
    /// for what holds at every ε.
    pub fn of_epsilon(epsilon: &Exact, round: Round) -> Option<Self> {
        epsilon.exp(round).to_rational().map(Self)
    }

    /// The rational itself.
    pub fn as_rational(&self) -> &RBig {
        &self.0
    }

    /// `ln` of the factor, from both sides; zero for a factor below one.
    ///
    /// ```
    /// use odometry::auditor::Factor;
    /// assert_eq!(Factor::new(3, 1)?.epsilon().to_string(), "1.098612288668…");
    /// # Ok::<(), odometry::auditor::AuditError>(())
    /// ```
    pub fn epsilon(&self) -> Enclosure<Exact> {
        Enclosure {
            least: ln(&self.0, Round::Down),
            most: ln(&self.0, Round::Up),
        }
    }
}

impl TryFrom<RBig> for Factor {
    type Error = AuditError;

    fn try_from(value: RBig) -> Result<Self, AuditError> {
        if value < RBig::ZERO {
            return Err(AuditError::Parameter {
                name: "e^ε",
                value: value.to_string(),
                expected: "a number that is not negative",
            });
        }
        Ok(Self(value))
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The logarithm of a number, zero below one.
pub(crate) fn ln(value: &RBig, round: Round) -> Exact {
    if *value <= RBig::ONE {
        return Exact::ZERO;
    }
    // A rational is rounded before the logarithm, in the same direction; 128 bits, so the loss is far below 1e-15.
    match Exact::from_rational(value, round) {
        Ok(value) => value.ln(round).unwrap_or(Exact::ZERO),
        Err(_) if round == Round::Up => Exact::INFINITY,
        Err(_) => Exact::ZERO,
    }
}

/// A value known from both sides. Where nothing had to be rounded or left out, both are the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Enclosure<T> {
    /// The value is not below this.
    pub least: T,
    /// The value is not above this.
    pub most: T,
}

impl<T: Clone + PartialOrd> Enclosure<T> {
    /// A value that is known exactly.
    pub fn exactly(value: T) -> Self {
        Self {
            least: value.clone(),
            most: value,
        }
    }

    /// The value, if it is known exactly.
    pub fn value(&self) -> Option<&T> {
        (self.least == self.most).then_some(&self.least)
    }

    /// Enclosure on the larger of two values.
    pub fn max(self, other: Self) -> Self {
        let larger = |a: T, b: T| if a < b { b } else { a };
        Self {
            least: larger(self.least, other.least),
            most: larger(self.most, other.most),
        }
    }
}

impl fmt::Display for Enclosure<RBig> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Some(value) if value.denominator().bit_len() <= 40 => {
                write!(f, "{value} = {}", places(value))
            }
            Some(value) => f.write_str(&digits(value)),
            None => {
                let least = shown(&self.least, Round::Down);
                let most = shown(&self.most, Round::Up);
                write!(f, "between {least} and {most}")
            }
        }
    }
}

impl fmt::Display for Enclosure<Exact> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = self.value().is_some();
        if exact && fits(&self.least, 17) {
            return f.write_str(&self.least.decimal(17, Round::Down));
        }
        let (least, most) = (self.least.to_f64(Round::Down), self.most.to_f64(Round::Up));
        if exact || (most - least).abs() <= 1e-11 * most {
            return write!(f, "{}…", self.least.decimal(13, Round::Down));
        }
        let (least, most) = (&self.least, &self.most);
        let (least, most) = (least.decimal(13, Round::Down), most.decimal(13, Round::Up));
        write!(f, "between {least} and {most}")
    }
}
