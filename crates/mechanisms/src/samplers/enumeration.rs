//! The enumerated part of a distribution: computed when first asked for, and kept.

use std::sync::{Arc, OnceLock};

use dashu_int::IBig;
use dashu_ratio::RBig;
use queryable::coins::Probability;

/// Outcomes with lower bounds of their probabilities, and what is missing to one.
#[derive(Clone, Debug)]
pub(crate) struct Enumeration<T> {
    count: usize,
    filled: Arc<OnceLock<Filled<T>>>,
}

/// What was computed.
#[derive(Debug)]
pub(crate) struct Filled<T> {
    outcomes: Vec<(T, Probability)>,
    missing: Probability,
}

impl<T: Clone> Enumeration<T> {
    /// To be filled with this many outcomes, at least one.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            count,
            filled: Arc::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The outcomes, from `outcomes` when they are asked for the first time. Probabilities past a sum of one, or
    /// negative, would be a mistake of ours: they count as zero, so that what is missing stays an upper bound.
    pub(crate) fn get(&self, outcomes: impl FnOnce(usize) -> Vec<(T, RBig)>) -> &Filled<T> {
        self.filled.get_or_init(|| {
            let mut missing = Probability::ONE;
            let mut kept = Vec::with_capacity(self.count);
            for (outcome, mass) in outcomes(self.count) {
                let after = Probability::try_from(missing.to_rational() - &mass);
                match (Probability::try_from(mass), after) {
                    (Ok(mass), Ok(after)) => {
                        kept.push((outcome, mass));
                        missing = after;
                    }
                    _ => kept.push((outcome, Probability::ZERO)),
                }
            }
            Filled {
                outcomes: kept,
                missing,
            }
        })
    }
}

impl<T: Clone> Filled<T> {
    pub(crate) fn outcome(&self, index: usize) -> (T, Probability) {
        self.outcomes[index].clone()
    }

    pub(crate) fn missing(&self) -> Probability {
        self.missing.clone()
    }
}

/// What every law here says of its enumeration, inside of its `impl Distribution`: it has a field `enumeration`, and a method
/// `enumerated` that fills it. (A blanket implementation cannot be written: the trait is another crate's.)
macro_rules! delegates_to_enumeration {
    ($outcome:ty) => {
        fn arity(&self) -> usize {
            self.enumeration.len()
        }

        fn outcome(&self, index: usize) -> ($outcome, queryable::coins::Probability) {
            self.enumerated().outcome(index)
        }

        fn missing(&self) -> queryable::coins::Probability {
            self.enumerated().missing()
        }
    };
}
pub(super) use delegates_to_enumeration;

/// The integers in the order in which symmetric laws are enumerated: 0, 1, −1, 2, −2, …, and how far each is from zero.
pub(super) fn outwards(index: usize) -> (IBig, usize) {
    let m = index.div_ceil(2);
    let value = IBig::from(m);
    (if index % 2 == 1 { value } else { -value }, m)
}
