//! Numbers as they are written where something is built from them: text, integers and exact numbers.

use crate::{Exact, ExactError, Round};
use dashu_ratio::RBig;

/// A parameter of a mechanism or of a rule: a scale, a sensitivity, an ε, a δ. Decimal text such as `"0.1"` or `"1e-6"`, an
/// integer, or an [`Exact`]; who has a dashu rational may pass that.
///
/// Floats are not taken, because what they hold is not what was written:
///
/// ```compile_fail,E0277
/// odometry::mechanisms::samplers::DiscreteLaplace::new(0.1).unwrap();
/// ```
///
/// ```
/// use odometry::measures::adaptive::WhitehouseFilter;
/// use odometry::mechanisms::samplers::DiscreteLaplace;
/// assert_eq!(DiscreteLaplace::new("2.5")?.loss_per_unit().to_string(), "0.4");
/// assert_eq!(DiscreteLaplace::new(4)?.loss_per_unit().to_string(), "0.25");
/// let error = DiscreteLaplace::new("2,5").unwrap_err();
/// assert_eq!(error.to_string(), "the scale: \"2,5\" is not a number; write decimals such as 0.1, 1e-6 or inf");
/// let error = WhitehouseFilter::new("5e-7 or so").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "δ′ = \"5e-7 or so\" is out of range: it is not a number; write decimals such as 0.1, 1e-6 or inf"
/// );
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

    /// The number, rounded if it is a rational that is no decimal.
    #[doc(hidden)]
    fn exact(self, round: Round) -> Result<Exact, ExactError>
    where
        Self: Sized,
    {
        match self.number()? {
            Given::Exact(exact) => Ok(exact),
            Given::Rational(rational) => Exact::from_rational(&rational, round),
        }
    }
}

/// A number as it was given.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Given {
    /// A decimal, a binary fraction or infinity.
    Exact(Exact),
    /// Any other.
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
