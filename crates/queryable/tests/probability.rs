//! Probabilities are rationals, whether words hold them or not.

use std::hash::{BuildHasher, RandomState};

use dashu_int::UBig;
use dashu_ratio::RBig;
use proptest::prelude::*;
use queryable::coins::Probability;

/// Numerators and denominators: small ones, ones at and past the end of a word, long ones.
fn part() -> impl Strategy<Value = u128> {
    let word = u128::from(u64::MAX);
    prop_oneof![0u128..60, (word - 60)..(word + 60), any::<u128>()]
}

fn probability() -> impl Strategy<Value = (Probability, RBig)> {
    (part(), part()).prop_map(|(a, b)| {
        let (n, d) = (a.min(b), a.max(b).max(1));
        let value = RBig::from_parts(n.into(), UBig::from(d));
        (Probability::try_from(value.clone()).unwrap(), value)
    })
}

/// Two that may well be equal.
fn pair() -> impl Strategy<Value = [(Probability, RBig); 2]> {
    (probability(), probability(), any::<bool>())
        .prop_map(|(one, other, same)| [one.clone(), if same { one } else { other }])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn probabilities_are_rationals([(p, value), (q, other)] in pair()) {
        prop_assert_eq!(&p.to_rational(), &value);
        prop_assert_eq!(p.is_zero(), value.is_zero());
        prop_assert_eq!(p.to_string(), value.to_string());
        prop_assert_eq!(p.complement().to_rational(), RBig::ONE - &value);
        prop_assert_eq!(&p.complement().complement(), &p);
        prop_assert_eq!(p.and(&q).to_rational(), &value * &other);
        prop_assert_eq!(p.cmp(&q), value.cmp(&other));
        prop_assert_eq!(p == q, value == other);
        let words = u64::try_from(value.numerator()).ok().zip(u64::try_from(value.denominator()).ok());
        prop_assert_eq!(p.words(), words);
    }

    /// However they came about, equal ones are equal and have one hash: a replay compares them.
    #[test]
    fn equal_probabilities_look_alike([(p, value), (q, other)] in pair()) {
        let hasher = RandomState::new();
        let made = [p.and(&q), q.and(&p), Probability::try_from(value * other).unwrap()];
        for one in &made {
            prop_assert_eq!(one, &made[0]);
            prop_assert_eq!(hasher.hash_one(one), hasher.hash_one(&made[0]));
            prop_assert_eq!(&one.complement().complement(), &made[0]);
        }
    }

    #[test]
    fn fractions_are_reduced(n in any::<u64>(), d in 1..=u64::MAX) {
        let (n, d) = (n.min(d), n.max(d));
        let value = RBig::from_parts(n.into(), UBig::from(d));
        let p = Probability::new(n, d).unwrap();
        prop_assert_eq!(p.to_rational(), value.clone());
        prop_assert_eq!(p, Probability::try_from(value).unwrap());
    }
}

#[test]
fn zero_and_one_have_one_form() {
    for d in [1, 2, 3, u64::MAX] {
        assert_eq!(Probability::new(0, d).unwrap(), Probability::ZERO);
        assert_eq!(Probability::new(d, d).unwrap(), Probability::ONE);
        let p = Probability::new(1, d).unwrap();
        assert_eq!(p.and(&Probability::ZERO), Probability::ZERO);
        assert_eq!(p.and(&Probability::ONE), p);
        assert!(p.complement().is_zero() == (d == 1));
    }
}
