//! Group privacy: the loss at distance `n` from the loss at distance 1, for measures that have such a rule. Rényi
//! privacy at one order has none (the order would have to change), nor has approximate zCDP here.

use crate::{Form, Measure};

/// A measure in which the loss between inputs `n` steps apart follows from the loss of one step.
pub trait GroupPrivacy: Measure {
    /// The loss at distance `n`, rounded up, given the loss at distance 1.
    fn group(&self, one: &Self::Loss, n: u32) -> Self::Loss;

    /// The [form](Form) of what [`group`](Self::group) gives at every `n`. The default is always right; where that is a multiple
    /// of `n` or of its square, accounts find sums at new distances at once.
    fn group_form(&self, one: Self::Loss) -> Form<u32, Self::Loss> {
        Form::Group(one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GaussianDp, PureDp, Zcdp};

    #[test]
    fn scalar_groups_are_exact() {
        assert_eq!(
            PureDp.group(&"0.1".parse().unwrap(), 10),
            "1".parse().unwrap()
        );
        assert_eq!(
            Zcdp.group(&"0.1".parse().unwrap(), 10),
            "10".parse().unwrap()
        );
        assert_eq!(
            GaussianDp.group(&"0.1".parse().unwrap(), 10),
            "1".parse().unwrap()
        );
    }
}
