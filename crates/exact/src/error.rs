//! What can be wrong with a number where it enters.

use std::fmt::{self, Write};

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
    #[error(
        "{input} is out of range: values are below 2^16384 and multiples of 2^-16384*5^-4096 (decimals have at most 4096 places)"
    )]
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

/// An input as an error shows it: its first 40 characters, so that no error is as long as what somebody sent. What comes
/// after them is not even written.
///
/// ```
/// let long = "9".repeat(1_000_000);
/// assert_eq!(odometry::exact::excerpt(&long).chars().count(), 41); // 40 digits and "…"
/// assert_eq!(odometry::exact::excerpt("0.5"), "0.5");
/// ```
pub fn excerpt(input: &(impl fmt::Display + ?Sized)) -> String {
    let mut shown = Excerpt {
        text: String::new(),
        left: SHOWN,
    };
    match write!(shown, "{input}") {
        Ok(()) => shown.text,
        Err(_) => shown.text + "…",
    }
}

/// Takes in so many characters, and then no more.
struct Excerpt {
    text: String,
    left: usize,
}

impl fmt::Write for Excerpt {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let end = piece.char_indices().nth(self.left).map(|(at, _)| at);
        self.text.push_str(&piece[..end.unwrap_or(piece.len())]);
        match end {
            Some(_) => Err(fmt::Error),
            None => {
                self.left -= piece.chars().count();
                Ok(())
            }
        }
    }
}
