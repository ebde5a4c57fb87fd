//! The loss at a distance that is new to an account is the sum of what the maps say there.

use exact::{Exact, Round};
use measures::{Adaptive, Basic, PrivacyMap, PureDp, SymmetricDistance, Zcdp};
use odometer::{Measurement, Odometer, Records};
use proptest::prelude::*;

type Map<M> = PrivacyMap<SymmetricDistance, M>;

/// Losses on the grid and off it, whose multiples are exact; maps with a form and without one.
fn pure() -> Vec<Map<PureDp>> {
    let linear = |loss: &str| PrivacyMap::per_record(PureDp, loss).unwrap();
    vec![
        linear("0.1"),
        linear("7"),
        linear("1e-100"),
        linear("1e70"),
        linear("0.3").group(),
        PrivacyMap::constant_up_to(PureDp, 3, "0.5").unwrap(),
        PrivacyMap::new(PureDp, |d_in: &u32| {
            Ok(measures::Epsilon::new(Exact::from(*d_in).pow(3, Round::Up)))
        }),
    ]
}

fn concentrated() -> Vec<Map<Zcdp>> {
    vec![
        PrivacyMap::quadratic(Zcdp, "0.005").unwrap(),
        PrivacyMap::quadratic(Zcdp, "3").unwrap(),
        PrivacyMap::constant_up_to(Zcdp, 5, "0.5").unwrap(),
    ]
}

/// Launches some, asks, launches more, asks again, each time at distances that may be new.
fn check<M>(measure: M, maps: &[Map<M>], steps: &[(Vec<usize>, u32)]) -> Result<(), TestCaseError>
where
    M: measures::Additive,
    Basic<M>: Adaptive<Child = M>,
{
    let space = Records::<u8>::new();
    let launches: Vec<_> = maps
        .iter()
        .map(|map| Measurement::new("null", space, map.clone(), |_, _| Ok(())))
        .collect();
    let session = Odometer::new(space, Basic::new(measure.clone()))
        .open(Vec::new())
        .unwrap();
    let mut charged = Vec::new();
    for (chosen, d_in) in steps {
        for choice in chosen {
            session.launch(&launches[*choice]).unwrap();
            charged.push(choice);
        }
        let losses: Vec<_> = charged
            .iter()
            .map(|choice| maps[**choice].loss(d_in).unwrap())
            .collect();
        let expected = Basic::new(measure.clone()).total_of(&losses);
        prop_assert_eq!(session.privacy_loss(d_in).unwrap(), expected);
    }
    Ok(())
}

fn steps(maps: usize) -> impl Strategy<Value = Vec<(Vec<usize>, u32)>> {
    let distance = prop_oneof![0u32..6, any::<u32>()];
    let chosen = prop::collection::vec(0..maps, 0..6);
    prop::collection::vec((chosen, distance), 1..8)
}

proptest! {
    #[test]
    fn pure_losses(steps in steps(7)) {
        check(PureDp, &pure(), &steps)?;
    }

    #[test]
    fn concentrated_losses(steps in steps(3)) {
        check(Zcdp, &concentrated(), &steps)?;
    }
}

/// With too many maps that have no form the sums are of no use, and with few they are: the loss is the same.
#[test]
fn many_maps_without_a_form() {
    for (every, launches) in [(1, 3000u32), (20, 30_000)] {
        let space = Records::<u8>::new();
        let session = Odometer::new(space, Basic::new(PureDp))
            .open(Vec::new())
            .unwrap();
        let mut per_record = 0;
        for number in 0..launches {
            let map: Map<PureDp> = match number % every {
                0 => PrivacyMap::new(PureDp, |d_in: &u32| {
                    Ok(measures::Epsilon::new(Exact::from(*d_in)))
                }),
                _ => PrivacyMap::per_record(PureDp, "1").unwrap(),
            };
            per_record += 1;
            let null = Measurement::new("null", space, map, |_, _| Ok(()));
            session.launch(&null).unwrap();
            if number % 7919 == 7918 {
                let d_in = number;
                let expected = Exact::from(u64::from(d_in) * per_record);
                assert_eq!(
                    session.privacy_loss(&d_in).unwrap().bound().value(),
                    &expected
                );
            }
        }
        for d_in in [2, 3, 1 << 20] {
            let expected = Exact::from(u64::from(d_in) * per_record);
            assert_eq!(
                session.privacy_loss(&d_in).unwrap().bound().value(),
                &expected
            );
        }
    }
}
