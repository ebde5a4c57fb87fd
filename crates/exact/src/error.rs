//! What can be wrong with a number where it enters.

/// Why a value is not an [`Exact`](crate::Exact). The messages show the input, cut when it is long.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ExactError {
    /// The text is not a number, or the float is NaN.
    #[error("{input:?} is not a number; write decimals such as 0.1, 1e-6 or inf")]
    NotANumber {
        /// What was given.
        input: String,
    },
    /// Losses and budgets are never negative.
    #[error("{input} is negative")]
    Negative {
        /// What was given.
        input: String,
    },
    /// The number is finite, but too large or too finely divided to be held exactly.
    #[error("{input} is out of range: values are below 2^16384, with at most 4096 decimal places")]
    OutOfRange {
        /// What was given.
        input: String,
    },
    /// The text is longer than any number in range needs.
    #[error("a number of {length} bytes is too long (at most {limit}); it begins with {start:?}")]
    TooLong {
        /// How the text begins.
        start: String,
        /// Its length in bytes.
        length: usize,
        /// The longest text that is read.
        limit: usize,
    },
    /// A ratio over zero.
    #[error("{numerator}/0 is not a number")]
    ZeroDenominator {
        /// The numerator that was given.
        numerator: u128,
    },
}

/// The longest piece of an input that an error repeats, in characters.
const SHOWN: usize = 40;

/// An input as an error shows it.
pub(crate) fn shown(input: &str) -> String {
    let mut characters = input.chars();
    let mut start: String = characters.by_ref().take(SHOWN).collect();
    if characters.next().is_some() {
        start.push('…');
    }
    start
}
