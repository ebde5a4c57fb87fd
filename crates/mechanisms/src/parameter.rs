//! The numbers that mechanisms are built from, checked.

use dashu_ratio::RBig;
pub use exact::Parameter;
use exact::{Exact, ExactError, Given, Round, excerpt};

use crate::{
    error::BuildError,
    samplers::{PARAMETER_BITS, shorter_than},
};

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
    Ok(positive_rounded(what, value, round)?.0)
}

/// The same in both forms.
pub(crate) fn positive_rounded(
    what: &'static str,
    value: impl Parameter,
    round: Round,
) -> Result<(Exact, RBig), BuildError> {
    let unread = |source| BuildError::NotANumber { what, source };
    let exact = match value.number() {
        Ok(Given::Exact(exact)) => exact,
        Ok(Given::Rational(rational)) => {
            let rational = positive(what, rational)?;
            Exact::from_rational(&rational, round).map_err(unread)?
        }
        Err(ExactError::Negative { input }) => return Err(BuildError::not_positive(what, input)),
        Err(source) => return Err(unread(source)),
    };
    let rational = positive(what, &exact)?;
    Ok((exact, rational))
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
