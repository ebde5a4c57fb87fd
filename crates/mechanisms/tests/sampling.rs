//! Measurements on Poisson samples, audited exactly: the claims hold and are tight, and what their hypotheses exclude is
//! refuted.

use std::sync::Arc;

use crate::common::*;
use accountant::{Accountant, AccountantError, Mechanism};
use exact::{Exact, Round};
use measures::convert::ZcdpToApprox;
use measures::{
    ApproxDp, ChangeOneDistance, EpsilonDelta, Measure, PrivacyMap, PureDp, SymmetricDistance, Zcdp,
};
use mechanisms::BuildError;
use mechanisms::additive::{Clamp, count, sum};
use mechanisms::samplers::DiscreteGaussian;
use mechanisms::sampling::{Amplified, PoissonSampled};
use odometer::{Measurement, Odometer, Records};
use queryable::coins::Bit;
use queryable::{Queryable, Scope, inside_step, machine};

const ALL: fn(&u8) -> bool = |_| true;

/// `ln(1 + q(e^ε − 1))` for odds `e^ε`, rounded up.
fn amplified(odds: &str, rate: &str) -> Exact {
    let more = exact(odds).checked_sub(&Exact::ONE).unwrap();
    more.mul(&exact(rate), Round::Up).ln_1p(Round::Up)
}

#[test]
fn a_sampled_count_is_as_private_as_claimed() {
    // Odds of 3 for a record.
    let counted = count(Records::<u8>::new(), geometric(1, 3, 40), ALL);
    for (rate, before, after) in [
        ("0.25", vec![], vec![7]),
        ("0.25", vec![7, 8], vec![7, 8, 9]),
        ("0.75", vec![7], vec![]),
        ("1", vec![7], vec![7, 7]),
    ] {
        let sampled = counted.poisson_sampled(rate).unwrap();
        let claimed = sampled.map().loss(&1).unwrap();
        let known = amplified("3", rate);
        let (claimed, known) = (claimed.value(), known.to_f64(Round::Up));
        assert!((claimed.to_f64(Round::Up) / known - 1.0).abs() < 1e-12);
        is_tight(&audit_answer(&sampled, before, after), claimed, 1e-15);
    }
}

/// Two records more: group privacy holds, and what one record costs does not.
#[test]
fn beyond_distance_one_groups_pay() {
    let sampled = count(Records::<u8>::new(), geometric(1, 3, 40), ALL)
        .poisson_sampled("0.25")
        .unwrap();
    let report = audit_answer(&sampled, vec![], vec![1, 2]);
    holds(&report, sampled.map().loss(&2).unwrap().value(), 1e-15);
    let one = sampled.map().loss(&1).unwrap();
    assert!(delta(&report, one.value()).0 > 0.0);
    assert_eq!(sampled.map().loss(&0).unwrap(), PureDp.zero());
}

/// A machine that keeps its data and tells, whenever it is asked, whether there are any, wrongly one time in four; every
/// tenth time it says so without noise.
fn teller(
    data: &Arc<Vec<u8>>,
    scope: &mut Scope<'_>,
) -> Result<Queryable<(), Option<bool>>, queryable::AskError> {
    let (lie, leak) = (Bit::new(probability(1, 4)), Bit::new(probability(1, 10)));
    let data = Arc::clone(data);
    let mut asked = 0;
    scope.spawn(machine(move |(), scope: &mut Scope<'_>| {
        asked += 1;
        if asked > 2 {
            return Ok(None);
        }
        match scope.draw(&leak)? {
            true => Ok(Some(!data.is_empty())),
            false => Ok(Some(data.is_empty() ^ !scope.draw(&lie)?)),
        }
    }))
}

/// Answers may be interactive: all of them are about one sample, and (ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ).
#[test]
fn interactive_answers_are_about_one_sample() {
    // Each answer: the truth with probability 31/40, odds 31/9.
    let odds = "3.4444444444444444444445";
    let twice = exact(odds).ln(Round::Up).unwrap().times(2);
    let loss = EpsilonDelta::new(twice.clone(), Exact::ZERO).unwrap();
    let map = PrivacyMap::<SymmetricDistance, _>::constant_up_to(ApproxDp, 1, loss);
    let told = Measurement::new("teller", Records::<u8>::new(), map, teller);
    let report = audit_queryable(&told, vec![], vec![1], 3, &[()]);
    is_tight(&report, &twice, 0.0);
    let sampled = told.poisson_sampled("0.25").unwrap();
    let report = audit_queryable(&sampled, vec![], vec![1], 3, &[()]);
    let claimed = sampled.map().loss(&1).unwrap();
    is_tight(&report, claimed.epsilon(), 0.0);
    // With δ: the same machine at the ε of one answer has some δ; sampling takes q of it.
    let once = exact(odds).ln(Round::Up).unwrap();
    let (_, full) = delta(&audit_queryable(&told, vec![], vec![1], 3, &[()]), &once);
    let full = EpsilonDelta::new(once, Exact::try_from(full).unwrap()).unwrap();
    let claimed = ApproxDp.amplified(&full, &exact("0.25"));
    let (least, most) = delta(&report, claimed.epsilon());
    assert!(
        most <= claimed.delta().to_f64(Round::Up) * (1.0 + 1e-9),
        "{most} {claimed}"
    );
    assert!(
        least > 0.9 * claimed.delta().to_f64(Round::Up),
        "{least} {claimed}"
    );
}

/// A sample drawn anew for every question is not one sample: refuted.
#[test]
fn a_sample_for_every_question_is_refuted() {
    let honest = count(Records::<u8>::new(), geometric(1, 3, 6), ALL);
    let claimed = amplified("3", "0.25");
    let map = PrivacyMap::<SymmetricDistance, _>::constant_up_to(
        PureDp,
        1,
        measures::Epsilon::new(claimed.clone()),
    );
    let inner = honest.poisson_sampled("0.25").unwrap();
    let again = Measurement::new("again", Records::<u8>::new(), map, move |data, scope| {
        let (inner, data) = (inner.clone(), Arc::clone(data));
        scope.spawn(machine(move |(), scope: &mut Scope<'_>| {
            inner.run(&data, scope)
        }))
    });
    let report = audit_queryable(&again, vec![], vec![1], 2, &[()]);
    assert!(delta(&report, &claimed).0 > 0.01);
}

/// A sample that is shown, even its size alone, amplifies nothing: refuted, though the noise is the same.
#[test]
fn a_sample_that_leaks_is_refuted() {
    let claimed = amplified("3", "0.25");
    let noise = geometric(1, 3, 6);
    let coin = Bit::new(probability(1, 4));
    let map = PrivacyMap::per_record(PureDp, measures::Epsilon::new(claimed.clone()));
    let leaking = Measurement::new("leaking", Records::<u8>::new(), map, move |data, scope| {
        let mut sampled = 0i64;
        for _ in data.iter() {
            sampled += i64::from(scope.draw(&coin)?);
        }
        let noisy = i64::try_from(scope.draw(&noise)?).unwrap_or(0) + sampled;
        Ok((sampled, noisy))
    });
    let report = audit_answer(&leaking, vec![], vec![1]);
    let (least, _) = delta(&report, &claimed);
    // With probability 1/4 there is a sample where there could be none.
    assert!(least > 0.24, "{least}");
}

/// Between lists with one record replaced, a mechanism may tell how many there are; then the sample's size says whether
/// the record is in it, and nothing is amplified: refuted. (`poisson_sampled` does not compile for such lists.)
#[test]
fn replaced_records_are_refuted() {
    let (truth, rate) = (Bit::new(probability(3, 4)), Bit::new(probability(1, 4)));
    // One bit of the first record, or that there is none: ε = ln 3 per replacement.
    let tell = move |data: &[bool], scope: &mut Scope<'_>| match data.first() {
        None => Ok::<_, queryable::AskError>(None),
        Some(bit) => Ok(Some(*bit == scope.draw(&truth)?)),
    };
    let full = {
        let tell = tell.clone();
        let map = PrivacyMap::per_replacement(PureDp, "1.0987").unwrap();
        let space = Records::<bool>::replaced();
        Measurement::<_, _, Option<bool>>::new("full", space, map, move |data, scope| {
            tell(data, scope)
        })
    };
    let report = audit_answer(&full, vec![false], vec![true]);
    holds(&report, &exact("1.0987"), 0.0);
    let claimed = amplified("3", "0.25");
    let map: PrivacyMap<ChangeOneDistance, _> =
        PrivacyMap::per_replacement(PureDp, measures::Epsilon::new(claimed.clone()));
    let sampled = Measurement::<_, _, Option<bool>>::new(
        "sampled",
        Records::<bool>::replaced(),
        map,
        move |data, scope| {
            let mut sample = Vec::new();
            for bit in data.iter() {
                if scope.draw(&rate)? {
                    sample.push(*bit);
                }
            }
            tell(&sample, scope)
        },
    );
    let report = audit_answer(&sampled, vec![false], vec![true]);
    assert!(delta(&report, &claimed).0 > 0.05);
    // Even just below the whole ε.
    assert!(delta(&report, &exact("1.09")).0 > 0.0);
}

/// What the accountant says of a sampled count or sum is above the audited truth in both directions, and near it.
#[test]
fn the_accountant_is_above_the_audit() {
    let people = Records::<u8>::new();
    let laplace = sum(
        people,
        geometric(1, 2, 60),
        Clamp::new(0, 3).unwrap(),
        |x| i64::from(*x),
    );
    let sampled = laplace.poisson_sampled("0.3").unwrap();
    let known = Accountant::new().add(&sampled, 1).unwrap();
    let report = audit_answer(&sampled, vec![], vec![3]);
    for epsilon in ["0.05", "0.2", "0.5", "0.9"].map(exact) {
        let (least, _) = delta(&report, &epsilon);
        let found = known.delta(&epsilon).unwrap().to_f64(Round::Up);
        assert!(found >= least, "{epsilon}: {found} {least}");
        assert!(found <= least * 1.01 + 1e-9, "{epsilon}: {found} {least}");
    }
    let gaussian = count(
        people,
        DiscreteGaussian::with_scale(2).unwrap().enumerating(40),
        ALL,
    );
    let gaussian = gaussian.convert(ZcdpToApprox::new(exact("1e-6")).unwrap());
    let sampled = gaussian.poisson_sampled("0.3").unwrap();
    let known = Accountant::new().add(&sampled, 1).unwrap();
    let report = audit_answer(&sampled, vec![1], vec![]);
    for epsilon in ["0.05", "0.1", "0.2"].map(exact) {
        let (least, most) = delta(&report, &epsilon);
        let found = known.delta(&epsilon).unwrap().to_f64(Round::Up);
        assert!(
            found >= least && found <= most * 1.05 + 1e-9,
            "{epsilon}: {found} {least}"
        );
    }
}

/// A measurement's own pair, without sampling: tighter than its loss, never below the audit.
#[test]
fn measurements_know_their_pairs() {
    let people = Records::<u8>::new();
    let noise = DiscreteGaussian::with_scale(3).unwrap().enumerating(60);
    let gaussian = count(people, noise, ALL);
    let known = Accountant::new().add(&gaussian, 1).unwrap();
    let report = audit_answer(&gaussian, vec![1], vec![]);
    for epsilon in ["0.1", "0.4", "1"].map(exact) {
        let (least, most) = delta(&report, &epsilon);
        let found = known.delta(&epsilon).unwrap().to_f64(Round::Up);
        assert!(
            found >= least && found <= most * 1.02 + 1e-9,
            "{epsilon}: {found} {least}"
        );
    }
    // Post-processed and converted it knows the same; behind a transformation it knows nothing of its pair.
    let same = gaussian.postprocess(|x| x / 2);
    assert_eq!(Mechanism::of(&same, &1), Mechanism::of(&gaussian, &1));
    let plain = Measurement::new(
        "plain",
        people,
        PrivacyMap::<SymmetricDistance, _>::quadratic(Zcdp, "0.5").unwrap(),
        |_, _| Ok(0),
    );
    assert!(matches!(
        Accountant::new().add(&plain, 1),
        Err(AccountantError::Unknown { .. })
    ));
    // A pure loss is a pair by itself.
    let pure = Measurement::new(
        "pure",
        people,
        PrivacyMap::per_record(PureDp, "0.1").unwrap(),
        |_, _| Ok(0),
    );
    let pure = Accountant::new().add(&pure, 1000).unwrap();
    assert!(pure.epsilon(&exact("1e-6")).unwrap() < exact("19.345"));
}

#[test]
fn rates_out_of_range_and_at_the_ends() {
    let counted = count(Records::<u8>::new(), geometric(1, 3, 40), ALL);
    for rate in ["1.0001", "7", "inf", "-0.1"] {
        assert!(matches!(
            counted.poisson_sampled(rate),
            Err(BuildError::OutOfRange { .. })
        ));
    }
    assert!(matches!(
        counted.poisson_sampled("a tenth"),
        Err(BuildError::NotANumber { .. })
    ));
    let none = counted.poisson_sampled("0").unwrap();
    assert_eq!(none.map().loss(&5).unwrap(), PureDp.zero());
    holds(&audit_answer(&none, vec![], vec![1]), &Exact::ZERO, 1e-15);
    let all = counted.poisson_sampled(1).unwrap();
    let (with, without) = (all.map().loss(&1).unwrap(), counted.map().loss(&1).unwrap());
    assert!(with.value() <= without.value());
    let description = all.description().to_string();
    assert!(description.contains("sampling rate = 1"), "{description}");
    // An infinite loss stays infinite, and is nothing where nobody is sampled.
    assert_eq!(
        PureDp.amplified(&PureDp.infinity(), &exact("0.5")),
        PureDp.infinity()
    );
    assert_eq!(
        PureDp.amplified(&PureDp.infinity(), &Exact::ZERO),
        PureDp.zero()
    );
    // A large loss is not made larger.
    let large: measures::Epsilon = "1e9".parse().unwrap();
    assert!(*PureDp.amplified(&large, &exact("0.5")).value() <= exact("1e9"));
}

/// Under a filter a sampled measurement is charged what it claims, and runs on the session's data.
#[test]
fn under_a_filter() {
    let counted = count(Records::<u8>::new(), geometric(1, 3, 40), ALL);
    let sampled = counted.poisson_sampled("0.25").unwrap();
    let session = Odometer::new(Records::new(), measures::Basic::new(PureDp))
        .filter(1, "0.41")
        .unwrap()
        .invoke(vec![1; 50])
        .unwrap();
    let _: i64 = session.launch(&sampled).unwrap();
    assert!(session.launch(&sampled).is_err());
}

/// Post-processing is no part of the step: it runs as the analyst's code, on the answer that is released.
#[test]
fn post_processing_of_a_sampled_measurement_runs_after_the_step() {
    let counted = count(Records::<u8>::new(), geometric(1, 3, 40), ALL);
    assert!(
        !counted
            .postprocess(|_| inside_step())
            .invoke(vec![7])
            .unwrap()
    );
    let sampled = counted
        .postprocess(|_| inside_step())
        .poisson_sampled("0.5")
        .unwrap();
    assert!(!sampled.invoke(vec![7]).unwrap());
    let twice = sampled.poisson_sampled("0.5").unwrap();
    assert!(!twice.invoke(vec![7]).unwrap());
}
