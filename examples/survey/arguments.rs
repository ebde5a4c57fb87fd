//! What was typed.

use odometry::measures::Epsilon;

/// How to call it.
pub const USAGE: &str = "usage: survey [--fresh]
       survey --csv FILE --column NAME --budget EPSILON

  without arguments   analyses 100,000 made-up people; what is charged is kept in target/survey/ledger.redb, so that a
                      second run has what the first has left
  --fresh             forgets that ledger, and begins anew
  --csv FILE          a file of your own: comma-separated, with a header line
  --column NAME       the column to analyse; it must hold numbers
  --budget EPSILON    the privacy budget, for instance 1 or 0.5 (pure differential privacy per record)";

/// What is wanted.
pub enum Arguments {
    /// The usage.
    Help,
    /// The made-up people.
    People {
        /// With a new ledger?
        fresh: bool,
    },
    /// Somebody's own file.
    OwnFile {
        /// Its name.
        file: String,
        /// The column.
        column: String,
        /// The budget.
        budget: Epsilon,
    },
}

impl Arguments {
    /// Reads the words after the program's name.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let (mut file, mut column, mut budget) = (None, None, None);
        let mut fresh = false;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let slot = match word.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--fresh" => {
                    fresh = true;
                    continue;
                }
                "--csv" => &mut file,
                "--column" => &mut column,
                "--budget" => &mut budget,
                unknown => return Err(format!("what is {unknown:?}?")),
            };
            let value = words
                .next()
                .ok_or_else(|| format!("{word} needs a value"))?;
            *slot = Some(value.clone());
        }
        match (file, column, budget) {
            (None, None, None) => Ok(Self::People { fresh }),
            _ if fresh => Err("--fresh is for the made-up people".into()),
            (Some(file), Some(column), Some(budget)) => Ok(Self::OwnFile {
                file,
                column,
                budget: epsilon(&budget)?,
            }),
            _ => Err("--csv, --column and --budget go together".into()),
        }
    }
}

/// A budget: a number above zero, and not infinite.
fn epsilon(text: &str) -> Result<Epsilon, String> {
    let bad = || format!("the budget {text:?} is no positive number; write for instance 1 or 0.5");
    let epsilon: Epsilon = text.parse().map_err(|_| bad())?;
    if epsilon.value().is_zero() || epsilon.value().is_infinite() {
        return Err(bad());
    }
    Ok(epsilon)
}
