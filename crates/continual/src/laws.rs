//! The test kit for verification functions of your own: the properties that they are trusted to have, checked by
//! enumeration.

use crate::{
    pair::Pair,
    verification::{FirstPairConsistent, SwapSymmetric, VerificationFunction},
};

/// Checks [`FirstPairConsistent`] on all sequences of at most `length` pairs of these messages. Says how many were valid.
///
/// # Errors
/// A valid sequence with an identical first pair and a later one that differs.
///
/// ```
/// use odometry::continual::{Static, laws};
/// let near = Static::new(|a: &u8, b: &u8| a.abs_diff(*b) == 1);
/// assert!(laws::first_pair_consistent(&near, &[0, 1, 2], 3).unwrap() > 50);
/// ```
pub fn first_pair_consistent<F>(
    function: &F,
    messages: &[F::Message],
    length: usize,
) -> Result<u64, Vec<Pair<F::Message>>>
where
    F: FirstPairConsistent<Message: Clone + PartialEq>,
{
    every_valid(function, messages, length, |pairs| {
        !pairs.first().is_some_and(Pair::is_identical) || pairs.iter().all(Pair::is_identical)
    })
}

/// Checks [`SwapSymmetric`] on all sequences of at most `length` pairs of these messages. Says how many were valid.
///
/// # Errors
/// A valid sequence that is not valid when its pairs are swapped.
///
/// ```
/// use odometry::continual::{EventLevel, laws};
/// assert!(laws::swap_symmetric(&EventLevel::new(), &[0, 1, 2], 3).unwrap() > 50);
/// ```
pub fn swap_symmetric<F>(
    function: &F,
    messages: &[F::Message],
    length: usize,
) -> Result<u64, Vec<Pair<F::Message>>>
where
    F: SwapSymmetric<Message: Clone + PartialEq>,
{
    every_valid(function, messages, length, |pairs| {
        let swapped: Vec<_> = pairs.iter().cloned().map(Pair::swapped).collect();
        function.is_valid(&swapped)
    })
}

/// Whether `holds` is true of every sequence all of whose beginnings are valid; if so, how many there are.
fn every_valid<F>(
    function: &F,
    messages: &[F::Message],
    length: usize,
    holds: impl Fn(&[Pair<F::Message>]) -> bool,
) -> Result<u64, Vec<Pair<F::Message>>>
where
    F: VerificationFunction<Message: Clone>,
{
    let mut count = 0;
    let mut waiting = vec![vec![]];
    while let Some(pairs) = waiting.pop() {
        if !function.is_valid(&pairs) {
            continue;
        }
        if !holds(&pairs) {
            return Err(pairs);
        }
        count += 1;
        if pairs.len() == length {
            continue;
        }
        for zero in messages {
            for one in messages {
                let mut longer = pairs.clone();
                longer.push(Pair::new(zero.clone(), one.clone()));
                waiting.push(longer);
            }
        }
    }
    Ok(count)
}
