//! The numbers that mechanisms are built from, as they are written: text, integers and exact numbers.

use dashu_ratio::RBig;
use exact::{Exact, ExactError, Round, excerpt};

use crate::{
    error::BuildError,
    samplers::{PARAMETER_BITS, shorter_than},
};

/// A parameter of a mechanism: a scale, a sensitivity, an ε. Decimal text such as `"0.1"` or `"1e-6"`, an integer, or an
/// [`Exact`]; who has a dashu rational may pass that.
///
/// Floats are not taken, because what they hold is not what was written:
///
/// ```compile_fail,E0277
/// odometry::mechanisms::samplers::DiscreteLaplace::new(0.1).unwrap();
/// ```
///
/// ```
/// use odometry::mechanisms::samplers::DiscreteLaplace;
/// assert_eq!(DiscreteLaplace::new("2.5")?.loss_per_unit().to_string(), "0.4");
/// assert_eq!(DiscreteLaplace::new(4)?.loss_per_unit().to_string(), "0.25");
/// let error = DiscreteLaplace::new("2,5").unwrap_err();
/// assert_eq!(error.to_string(), "the scale: \"2,5\" is not a number; write decimals such as 0.1, 1e-6 or inf");
/// # Ok::<(), odometry::mechanisms::BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an exact number",
    label = "write it as text, such as \"0.1\"",
    note = "a float is a binary fraction: `0.1_f64` is more than one tenth; write \"0.1\", an integer, or an `exact::Exact`"
)]
pub trait Parameter {
    /// The number, or infinity.
    #[doc(hidden)]
    fn number(self) -> Result<Given, ExactError>;
}

/// A number as it was given.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Given {
    Exact(Exact),
    Rational(RBig),
}

impl Parameter for Exact {
    fn number(self) -> Result<Given, ExactError> {
        Ok(Given::Exact(self))
    }
}

impl Parameter for &Exact {
    fn number(self) -> Result<Given, ExactError> {
        self.clone().number()
    }
}

impl Parameter for &str {
    fn number(self) -> Result<Given, ExactError> {
        self.parse().map(Given::Exact)
    }
}

impl Parameter for String {
    fn number(self) -> Result<Given, ExactError> {
        self.as_str().number()
    }
}

impl Parameter for &String {
    fn number(self) -> Result<Given, ExactError> {
        self.as_str().number()
    }
}

impl Parameter for RBig {
    fn number(self) -> Result<Given, ExactError> {
        Ok(Given::Rational(self))
    }
}

macro_rules! integers {
    ($($integer:ty),*; $($signed:ty),*) => {
        $(impl Parameter for $integer {
            fn number(self) -> Result<Given, ExactError> {
                Ok(Given::Exact(Exact::from(self as u128)))
            }
        })*
        $(impl Parameter for $signed {
            fn number(self) -> Result<Given, ExactError> {
                Exact::try_from(i64::from(self)).map(Given::Exact)
            }
        })*
    };
}
integers!(u8, u16, u32, u64, u128, usize; i8, i16, i32, i64);

/// The parameter, above zero and short enough.
pub(crate) fn positive(what: &'static str, value: impl Parameter) -> Result<RBig, BuildError> {
    positive_up_to(PARAMETER_BITS, what, value)
}

/// The parameter, above zero and of at most so many bits.
pub(crate) fn positive_up_to(
    bits: usize,
    what: &'static str,
    value: impl Parameter,
) -> Result<RBig, BuildError> {
    match finite(what, value, BuildError::not_positive)? {
        zero if zero.is_zero() => Err(BuildError::not_positive(what, zero)),
        rational => shorter_than(bits, what, rational),
    }
}

/// The parameter, at least zero and short enough.
pub(crate) fn at_least_zero(what: &'static str, value: impl Parameter) -> Result<RBig, BuildError> {
    let refused = |what, value| BuildError::out_of_range(what, "at least zero and finite", value);
    shorter_than(PARAMETER_BITS, what, finite(what, value, refused)?)
}

/// The parameter, at least zero; what is negative or infinite is refused in the caller's words.
fn finite(
    what: &'static str,
    value: impl Parameter,
    refused: impl Fn(&'static str, String) -> BuildError,
) -> Result<RBig, BuildError> {
    match value.number() {
        Err(ExactError::Negative { input }) => Err(refused(what, input)),
        Err(source) => Err(BuildError::NotANumber { what, source }),
        Ok(Given::Rational(negative)) if negative < RBig::ZERO => {
            Err(refused(what, excerpt(&negative)))
        }
        Ok(Given::Rational(rational)) => Ok(rational),
        Ok(Given::Exact(exact)) => {
            let rational = exact.to_rational();
            rational.ok_or_else(|| refused(what, exact.to_string()))
        }
    }
}

/// The same as an exact number. Nothing is rounded but rationals that are no decimals.
pub(crate) fn positive_exact(
    what: &'static str,
    value: impl Parameter,
    round: Round,
) -> Result<Exact, BuildError> {
    let rational = positive(what, value)?;
    Exact::from_rational(&rational, round).map_err(|source| BuildError::NotANumber { what, source })
}

/// A sensitivity: not below what was given.
pub(crate) fn sensitivity(value: impl Parameter) -> Result<Exact, BuildError> {
    positive_exact("the sensitivity", value, Round::Up)
}

/// A loss to spend: not above what was given.
pub(crate) fn loss(what: &'static str, value: impl Parameter) -> Result<Exact, BuildError> {
    positive_exact(what, value, Round::Down)
}

/// A failure probability to spend: strictly between zero and one.
pub(crate) fn delta(value: impl Parameter) -> Result<Exact, BuildError> {
    let delta = loss("δ", value)?;
    match delta < Exact::ONE {
        true => Ok(delta),
        false => Err(BuildError::out_of_range("δ", "below 1", delta)),
    }
}

/// Text for descriptions: all digits or the fraction where that is short, otherwise rounded down.
pub(crate) fn shown(value: &RBig) -> String {
    const LONGEST: usize = 40;
    let down = Exact::from_rational(value, Round::Down).unwrap_or(Exact::INFINITY);
    let (decimal, fraction) = (format!("{down:?}"), value.to_string());
    match down.to_rational() {
        Some(same) if same == *value && !decimal.contains('*') => decimal,
        _ if fraction.len() <= LONGEST => fraction,
        _ => down.decimal(17, Round::Down),
    }
}
