//! OpenDP's measures and metrics on a ledger: launched, reopened, and where they were.

use dashu_ratio::RBig;
use exact::Exact;
use measures::{Adaptive, Basic, FilterRule, Measure, Metric, Name, PureDp, Rule, Zcdp};
use odometer::{
    LaunchError, Measurement, Odometer, OpenError, Space,
    journal::{Books, Event, JournalError, Memory, Posted},
};
use odometry::{
    ledger::Ledger,
    mechanisms::{
        additive::{Vectors, add_noise_to_vector},
        samplers::DiscreteLaplace,
    },
};
use opendp::{
    combinators::{Adaptivity, Composability, CompositionMeasure},
    core::{Function, Measure as TheirMeasure, Measurement as TheirMeasurement, PrivacyMap},
    domains::{AtomDomain, VectorDomain},
    error::Fallible,
    measurements::{make_gaussian, make_laplace, make_randomized_response_bool},
    metrics::{
        AbsoluteDistance, ChangeOneDistance, DiscreteDistance, HammingDistance,
        InsertDeleteDistance, L0InfDistance, L0PInfDistance, L1Distance, L2Distance, LInfDistance,
        LpDistance,
    },
    traits::InfAdd,
};
use opendp_bridge::{
    Composed, GroupsChangedTogether, OpendpLoss, OpendpMeasure, OpendpMetric, SharedMetric,
    WrittenLoss, measurement, measurement_in, same_data_in, space,
    theirs::{Approximate, Concentrated, Pure},
};

use crate::support::Any;

/// Somebody's own measure, with two numbers and a parameter: the largest first ones, and the sum of the second.
#[derive(Clone, Debug, Default, PartialEq)]
struct LargestAndSum {
    each: u32,
}

impl TheirMeasure for LargestAndSum {
    type Distance = (f64, f64);
}

impl CompositionMeasure for LargestAndSum {
    fn composability(&self, _: Adaptivity) -> Fallible<Composability> {
        Ok(Composability::Concurrent)
    }

    fn compose(&self, losses: Vec<(f64, f64)>) -> Fallible<(f64, f64)> {
        let each = f64::from(self.each) / 64.0;
        losses.iter().try_fold((0.0, 0.0), |sum: (f64, f64), loss| {
            let second = sum.1.inf_add(&loss.1)?.inf_add(&each)?;
            Ok((sum.0.max(loss.0), second))
        })
    }
}

fn mine(each: u32) -> OpendpMeasure<LargestAndSum> {
    let measure = OpendpMeasure::new(LargestAndSum { each }).unwrap();
    measure.named(&Name::new("largest-and-sum").with("each", each))
}

type Coin<MO> = TheirMeasurement<AtomDomain<bool>, DiscreteDistance, MO, bool>;

fn noop<MO>(
    measure: MO,
    loss: MO::Distance,
) -> impl Fn() -> Fallible<Coin<MO>> + Send + Sync + 'static
where
    MO: TheirMeasure<Distance: Clone + Send + Sync + 'static> + Send + Sync + 'static,
{
    move || {
        let loss = loss.clone();
        TheirMeasurement::new(
            AtomDomain::default(),
            DiscreteDistance,
            measure.clone(),
            Function::new(|x: &bool| *x),
            PrivacyMap::new(move |_: &u32| loss.clone()),
        )
    }
}

/// A new process with what was written down.
fn restarted(journal: &Memory) -> Memory {
    Memory::replaying(&journal.records()).unwrap()
}

fn opening<X>(opened: Result<X, OpenError>) -> JournalError {
    match opened {
        Err(OpenError::Journal(error)) => *error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was opened"),
    }
}

/// Launched twice, reopened, and the same.
#[track_caller]
fn survives<S, R, A>(
    rule: R,
    launched: &Measurement<S, R::Child, A>,
    data: S::Data,
    d_in: S::Distance,
) -> Memory
where
    S: Space<Data: Clone>,
    R: Adaptive + FilterRule,
    A: 'static,
{
    let zero = rule.total().zero();
    let odometer = Odometer::new(launched.space().clone(), rule).named("all");
    let open = |journal: Memory| {
        let books = Books::new(journal);
        odometer
            .open_on(&books, d_in.clone(), data.clone())
            .unwrap()
    };
    let journal = Memory::new();
    let session = open(journal.clone());
    session.launch(launched).unwrap();
    session.launch(launched).unwrap();
    let spent = session.privacy_loss(&d_in).unwrap();
    assert_ne!(*spent.bound(), zero);
    let reopened = open(restarted(&journal));
    assert_eq!(reopened.privacy_loss(&d_in).unwrap(), spent);
    reopened.launch(launched).unwrap();
    journal
}

#[test]
fn a_measure_of_somebody_is_kept_under_its_name() -> Result<(), Any> {
    let rule = |each| Composed::concurrent(mine(each)).unwrap();
    let half = measurement_in("half", mine(3), noop(LargestAndSum { each: 3 }, (0.5, 0.1)))?;
    let journal = survives(rule(3), &half, true, 1);
    let name = rule(3).name().unwrap();
    let text = "opendp-composed{opendp{largest-and-sum{each=3}}, turns=concurrent}";
    assert_eq!(name.as_str(), text);

    // With another parameter, or in turns, it is another account: both are named.
    let space = half.space().clone();
    let books = Books::new(restarted(&journal));
    let other = Odometer::new(space.clone(), rule(4)).named("all");
    let error = opening(other.open_on(&books, 1, true));
    assert!(matches!(error, JournalError::OtherTerms { .. }), "{error}");
    assert!(error.to_string().contains("each=3") && error.to_string().contains("each=4"));
    let in_turns = Odometer::new(space, Composed::sequential(mine(3))?).named("all");
    let error = opening(in_turns.open_on(&books, 1, true));
    assert!(error.to_string().contains("turns=sequential"), "{error}");
    Ok(())
}

#[test]
fn without_a_name_it_is_refused_and_nothing_is_written() -> Result<(), Any> {
    let measure = OpendpMeasure::new(LargestAndSum::default())?;
    let space = space(AtomDomain::<bool>::default(), DiscreteDistance)?;
    let odometer = Odometer::new(space, Composed::concurrent(measure)?).named("all");
    let journal = Memory::new();
    let error = opening(odometer.open_on(&Books::new(journal.clone()), 1, true));
    assert!(matches!(error, JournalError::NotStorable { .. }), "{error}");
    let remedy = "give a name to it, or to its measure, if that takes one (`.named(…)`)";
    assert!(error.to_string().contains(remedy), "{error}");
    assert!(journal.records().is_empty());
    Ok(())
}

/// A forged text is no loss, and a loss that the measure does not have is not put back.
#[test]
fn forged_losses_are_refused() -> Result<(), Any> {
    let measure = LargestAndSum::default();
    let half = measurement_in("half", mine(0), noop(measure, (0.5, 0.25)))?;
    let rule = || Composed::concurrent(mine(0)).unwrap();
    let journal = survives(rule(), &half, true, 1);
    let opened = |loss: &str| {
        let mut records = journal.records();
        for record in &mut records {
            if let Event::Charge(charge) = &mut record.event
                && let Posted::Direct { losses, .. } = &mut charge.postings[0].price
            {
                *losses = vec![loss.to_owned()];
            }
        }
        let books = Books::new(Memory::replaying(&records).unwrap());
        let odometer = Odometer::new(half.space().clone(), rule()).named("all");
        odometer.open_on(&books, 1, true)
    };
    for forged in [
        "",
        "0.5",
        "(0.5, -0.25)",
        "(NaN, 0)",
        "(0.1, 0)",
        "(0.5, 0), 0",
    ] {
        let error = opening(opened(forged));
        assert!(
            matches!(error, JournalError::Damaged(_)),
            "{forged}: {error}"
        );
    }
    let larger = opened("(0.75, 0.5)").unwrap().privacy_loss(1)?;
    assert_eq!(*larger.bound(), OpendpLoss::Value((0.75, 1.0)));
    let infinite = opened("no guarantee").unwrap().privacy_loss(1)?;
    assert_eq!(*infinite.bound(), OpendpLoss::Infinity);
    Ok(())
}

/// A loss whose text is another's is refused before anything is charged.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
struct Ambiguous(f64);

impl opendp::traits::ProductOrd for Ambiguous {
    fn total_cmp(&self, other: &Self) -> Fallible<std::cmp::Ordering> {
        Ok(self.0.total_cmp(&other.0))
    }
}

impl WrittenLoss for Ambiguous {
    fn written(&self) -> Option<String> {
        Some(match self.0 < 1.0 {
            true => "small".into(),
            false => "no guarantee".into(),
        })
    }

    fn read(_: &str) -> Option<Self> {
        Some(Self(0.0))
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Careless;

impl TheirMeasure for Careless {
    type Distance = Ambiguous;
}

impl CompositionMeasure for Careless {
    fn composability(&self, _: Adaptivity) -> Fallible<Composability> {
        Ok(Composability::Concurrent)
    }

    fn compose(&self, losses: Vec<Ambiguous>) -> Fallible<Ambiguous> {
        Ok(Ambiguous(losses.iter().map(|loss| loss.0).sum()))
    }
}

#[test]
fn losses_that_would_be_read_as_others_are_not_written() -> Result<(), Any> {
    let measure = OpendpMeasure::new(Careless)?.named(&Name::new("careless"));
    for loss in [0.5, 2.0] {
        let launched = measurement_in("one", measure.clone(), noop(Careless, Ambiguous(loss)))?;
        let rule = Composed::concurrent(measure.clone())?;
        let odometer = Odometer::new(launched.space().clone(), rule).named("all");
        let journal = Memory::new();
        let session = odometer.open_on(&Books::new(journal.clone()), 1, true)?;
        let Err(LaunchError::Journal(error)) = session.launch(&launched) else {
            panic!("it was launched");
        };
        assert!(
            matches!(*error, JournalError::NotStorable { .. }),
            "{error}"
        );
        assert_eq!(journal.records().len(), 1);
        assert_eq!(
            *session.privacy_loss(1)?.bound(),
            OpendpLoss::Value(Ambiguous(0.0))
        );
    }
    Ok(())
}

#[test]
fn opendp_s_own_measures_have_names() -> Result<(), Any> {
    fn named<MO: opendp_bridge::Composable>(theirs: MO, text: &str) {
        let measure = OpendpMeasure::new(theirs).unwrap();
        assert_eq!(measure.name().unwrap().as_str(), text);
    }
    named(Pure, "opendp-pure");
    named(Concentrated, "opendp-zcdp");
    named(Approximate(Pure), "opendp-approximate");
    named(Approximate(Concentrated), "opendp-approximate-zcdp");
    assert_eq!(OpendpMeasure::new(LargestAndSum::default())?.name(), None);

    let measure = OpendpMeasure::new(Pure)?;
    let coin = measurement_in("coin", measure.clone(), || {
        make_randomized_response_bool(0.75, false)
    })?;
    survives(Composed::concurrent(measure)?, &coin, true, 1);
    let measure = OpendpMeasure::new(Approximate(Pure))?;
    let coin = measurement_in(
        "noop",
        measure.clone(),
        noop(Approximate(Pure), (0.1, 1e-9)),
    )?;
    survives(Composed::sequential(measure)?, &coin, true, 1);
    Ok(())
}

#[test]
fn metrics_keep_their_names() {
    #[track_caller]
    fn named<MI: SharedMetric>(metric: MI, text: &str) {
        assert_eq!(OpendpMetric(metric).name().unwrap().as_str(), text);
    }
    named(opendp::metrics::SymmetricDistance, "opendp-symmetric");
    named(InsertDeleteDistance, "opendp-insert-delete");
    named(ChangeOneDistance, "opendp-change-one");
    named(HammingDistance, "opendp-hamming");
    named(DiscreteDistance, "opendp-discrete");
    named(AbsoluteDistance::<f64>::default(), "opendp-absolute");
    named(AbsoluteDistance::<i64>::default(), "opendp-absolute");
    // Whole distances are other distances: maps may rely on it.
    named(
        AbsoluteDistance::<u32>::default(),
        "opendp-absolute{distances=whole}",
    );
    named(
        LInfDistance::<u32>::new(false),
        "opendp-l-infinity{monotonic=false, distances=whole}",
    );
    named(L1Distance::<i32>::default(), "opendp-l1");
    named(L1Distance::<RBig>::default(), "opendp-l1");
    named(L2Distance::<f64>::default(), "opendp-l2");
    named(
        LInfDistance::<f64>::new(true),
        "opendp-l-infinity{monotonic=true}",
    );
    named(
        LInfDistance::<i64>::new(false),
        "opendp-l-infinity{monotonic=false}",
    );
    let symmetric = opendp::metrics::SymmetricDistance;
    named(
        L0InfDistance(symmetric.clone()),
        "opendp-l0-infinity{opendp-symmetric}",
    );
    named(
        L0PInfDistance::<1, AbsoluteDistance<f64>>::default(),
        "opendp-l0-p-infinity{opendp-absolute, p=1}",
    );
    named(
        L0PInfDistance::<2, _>(symmetric),
        "opendp-l0-p-infinity{opendp-symmetric, p=2}",
    );
    // What is not listed has none, and is refused.
    assert_eq!(OpendpMetric(LpDistance::<3, f64>::default()).name(), None);
}

#[test]
fn noise_on_vectors_is_launched_on_a_ledger() -> Result<(), Any> {
    let laplace = measurement("laplace", || {
        let domain = VectorDomain::new(AtomDomain::<i32>::default());
        make_laplace::<_, _, Pure>(domain, L1Distance::<i32>::default(), 3.0, None)
    })?;
    survives(
        Basic::new(PureDp),
        &laplace,
        vec![1, 2],
        "2".parse::<Exact>()?,
    );
    let gaussian = measurement("gaussian", || {
        let domain = VectorDomain::new(AtomDomain::<f64>::new_non_nan());
        make_gaussian::<_, _, Concentrated>(domain, L2Distance::<f64>::default(), 3.0, None)
    })?;
    survives(
        Basic::new(Zcdp),
        &gaussian,
        vec![1.0, 2.0],
        "0.5".parse::<Exact>()?,
    );
    let one = measurement("one number", || {
        let domain = AtomDomain::<i32>::default();
        make_laplace::<_, _, Pure>(domain, AbsoluteDistance::<i32>::default(), 3.0, None)
    })?;
    survives(Basic::new(PureDp), &one, 7, "1".parse::<Exact>()?);
    let norms = measurement("norms", || {
        let domain = VectorDomain::new(AtomDomain::<f64>::new_non_nan());
        TheirMeasurement::new(
            domain,
            L0PInfDistance::<1, AbsoluteDistance<f64>>::default(),
            Pure,
            Function::new(|x: &Vec<f64>| x.len()),
            PrivacyMap::new(|(_, together, _): &(u32, f64, f64)| *together),
        )
    })?;
    let d_in = GroupsChangedTogether {
        groups: 2,
        together: "0.75".parse::<Exact>()?,
        largest: "0.5".parse::<Exact>()?,
    };
    survives(Basic::new(PureDp), &norms, vec![0.5], d_in);
    Ok(())
}

/// Ours on OpenDP's data keep their form: they are known at every distance.
#[test]
fn ours_on_opendp_s_vectors_are_known_everywhere() -> Result<(), Any> {
    let vectors = VectorDomain::new(AtomDomain::<i64>::default()).with_size(3);
    let vectors = space(vectors, L1Distance::<i64>::default())?;
    let ours = Vectors::of_length(3, measures::L1Distance)?;
    let noisy = add_noise_to_vector(ours.clone(), DiscreteLaplace::new(3)?);
    let noisy = (&same_data_in(&vectors, ours) >> &noisy)?;
    let journal = survives(
        Basic::new(PureDp),
        &noisy,
        vec![1; 3],
        "1".parse::<Exact>()?,
    );
    let odometer = Odometer::new(vectors, Basic::new(PureDp)).named("all");
    let books = Books::new(restarted(&journal));
    let session = odometer.open_on(&books, "1".parse::<Exact>()?, vec![1; 3])?;
    let far: Exact = "6".parse()?;
    assert_eq!(session.privacy_loss(&far)?.to_string(), "4");
    Ok(())
}

/// The same in a file.
#[test]
fn a_file_keeps_it() -> Result<(), Any> {
    let path = std::env::temp_dir().join(format!("odometry-bridge-{}.redb", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let measure = LargestAndSum { each: 1 };
    let half = measurement_in("half", mine(1), noop(measure, (0.5, 0.1)))?;
    let odometer = Odometer::new(half.space().clone(), Composed::concurrent(mine(1))?).named("all");
    let mut spent = Vec::new();
    for _ in 0..3 {
        let ledger = Ledger::open(&path)?;
        let budget = OpendpLoss::Value((1.0, 0.5));
        let session = odometer.filter_on(ledger.books(), 1, budget, true)?;
        spent.push(session.spent()?);
        session.launch(&half)?;
        spent.push(session.spent()?);
        drop(session);
        ledger.close()?;
    }
    assert!(spent[0] != spent[1] && spent[1] == spent[2]);
    assert!(spent[2] != spent[3] && spent[3] == spent[4]);
    std::fs::remove_file(&path)?;
    Ok(())
}
