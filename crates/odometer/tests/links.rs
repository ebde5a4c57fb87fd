//! Accounts that count differently from the sessions below them: other measures, other data.

mod common;

use common::*;
use measures::convert::{PureToApprox, PureToRenyi, PureToZcdp, ZcdpToApprox};
use measures::{ApproxDp, Basic, Metric, PrivacyMap, PureDp, RenyiDp, SymmetricDistance, Zcdp};
use odometer::{LaunchError, Measurement, Odometer, Space, Transformation};

fn twice() -> Transformation<Records, SymmetricDistance, Records, SymmetricDistance> {
    Transformation::new(
        records(),
        records(),
        |d| Ok(2 * d),
        |data: &Vec<i64>| Ok([data.clone(), data.clone()].concat()),
    )
}

#[test]
fn a_leaf_is_converted_once_per_account_and_stays_one_run() {
    let approx = filtered_with(Basic::new(ApproxDp), "(2, 1e-5)");
    let zcdp = approx
        .nest_in(
            Basic::new(Zcdp),
            ZcdpToApprox::new("1e-6".parse().unwrap()).unwrap(),
        )
        .unwrap();
    let pure_session = zcdp.nest_in(BASIC, PureToZcdp).unwrap();
    let query = pure("0.1");
    (0..3).for_each(|_| pure_session.launch(&query).unwrap());
    let rho = measures::convert::pure_to_zcdp(&loss("0.1"));
    assert_eq!(
        zcdp.privacy_loss(&1).unwrap().bound().value(),
        &rho.value().times(3)
    );
    let leaf = query
        .map()
        .convert(PureToZcdp)
        .convert(ZcdpToApprox::new("1e-6".parse().unwrap()).unwrap());
    let leaf = leaf.loss(&1).unwrap();
    assert_eq!(
        approx.privacy_loss(&1).unwrap().bound().epsilon(),
        &leaf.epsilon().times(3)
    );
    for runs in [approx.launches(), zcdp.launches(), pure_session.launches()] {
        assert_eq!(runs.unwrap(), [(query.description().clone(), 3)]);
    }
    // The refusing ancestor counts in its own measure, and says so.
    let said = refusal(pure_session.launch(&pure("5")).unwrap_err());
    assert_eq!(said.measure, "ApproxDp");
    assert_eq!(pure_session.launches().unwrap()[0].1, 3, "all or none");
    assert_eq!(zcdp.launches().unwrap()[0].1, 3);
}

#[test]
fn many_different_measurements_through_a_link() {
    let parent = open_with(Basic::new(ApproxDp));
    let child = parent.nest_in(BASIC, PureToApprox).unwrap();
    let kept: Vec<_> = (0..5000).map(|_| pure("0.001")).collect();
    for query in &kept {
        child.launch(query).unwrap();
    }
    // Fresh ones, each dropped at once, so that addresses come back.
    for i in 0..5000u32 {
        child
            .launch(&pure(if i % 2 == 0 { "0.001" } else { "0.003" }))
            .unwrap();
    }
    assert_eq!(parent.privacy_loss(&1).unwrap().bound(), &loss("(15, 0)"));
    assert_eq!(child.privacy_loss(&1).unwrap().bound(), &loss("15"));
}

#[test]
fn a_conversion_for_other_parameters_is_refused() {
    let order = |text: &str| RenyiDp::new(text.parse().unwrap()).unwrap();
    let parent = open_with(Basic::new(order("2")));
    assert!(
        parent
            .nest_in(BASIC, PureToRenyi { order: order("2") })
            .is_ok()
    );
    let wrong = parent.nest_in(BASIC, PureToRenyi { order: order("3") });
    assert!(matches!(wrong, Err(LaunchError::Measure { .. })));
}

#[test]
fn stability_maps_pull_distances_back() {
    let session = filtered("1");
    let after = session.nest_after(&twice()).unwrap();
    let deeper = after.nest_after(&twice()).unwrap();
    let count = Measurement::new("count", records(), pure("0.1").map().clone(), |data, _| {
        Ok(data.len())
    });
    assert_eq!(after.launch(&count), Ok(6));
    assert_eq!(deeper.launch(&count), Ok(12));
    assert_eq!(spent(&deeper, 1), loss("0.1"));
    assert_eq!(spent(&after, 1), loss("0.3"));
    assert_eq!(spent(&session, 1), loss("0.6"));
    assert_eq!(spent(&session, 2), loss("1.2"));
    let said = refusal(deeper.launch(&pure("0.2")).unwrap_err());
    assert_eq!(
        (said.asked.as_str(), said.remaining.as_deref()),
        ("0.8", Some("0.4"))
    );
    assert_eq!(
        deeper.remaining(&1).unwrap(),
        None,
        "what is left above is counted differently"
    );
    refusal(
        deeper
            .nest_capped(1, loss("1"))
            .unwrap()
            .spend_rest(&1, |_| pure("0.2"))
            .unwrap_err(),
    );
}

#[test]
fn a_refused_transformation_changes_nothing() {
    // Tumult's defect: later charges were a thousand times too small.
    let session = filtered("1");
    let other = Space::any::<Vec<u8>>(SymmetricDistance);
    let elsewhere = Transformation::new(
        records(),
        other,
        |d| Ok(1000 * d),
        |data: &Vec<i64>| Ok(data.iter().map(|record| *record as u8).collect()),
    );
    let space = odometer::Space::new(odometer::AnyOf::<Vec<i64>>::new(), Scaled(1));
    let scaled = Odometer::new(space, BASIC).open(vec![1, 2, 3]).unwrap();
    let wrong = odometer::Space::new(odometer::AnyOf::<Vec<i64>>::new(), Scaled(2));
    let to_wrong =
        Transformation::new(wrong, wrong, |d| Ok(*d), |data: &Vec<i64>| Ok(data.clone()));
    assert!(matches!(
        scaled.nest_after(&to_wrong),
        Err(LaunchError::Space { .. })
    ));

    let (before, failing) = (
        session.launches().unwrap(),
        Transformation::new(
            records(),
            records(),
            |d| Err(measures::MapError::failed(d, "not stable")),
            |data: &Vec<i64>| Ok(data.clone()),
        ),
    );
    let refused = session
        .nest_after(&failing)
        .unwrap()
        .launch(&pure("0.1"))
        .unwrap_err();
    assert!(matches!(refused, LaunchError::Map { .. }));
    assert_eq!(session.launches().unwrap(), before);
    let count = Measurement::new("count", records(), pure("0.25").map().clone(), |data, _| {
        Ok(data.len())
    });
    assert_eq!(session.launch(&count), Ok(3), "the data are what they were");
    assert_eq!(spent(&session, 1), loss("0.25"), "and so are the charges");
    session.nest_after(&elsewhere).unwrap();
}

/// A metric with a parameter.
#[derive(Clone, Debug, PartialEq)]
struct Scaled(u32);

impl Copy for Scaled {}

impl Metric for Scaled {
    type Distance = u32;
}

#[test]
fn a_map_for_another_metric_than_the_measurements_is_refused() {
    let space = |scale| odometer::Space::new(odometer::AnyOf::<Vec<i64>>::new(), Scaled(scale));
    let session = Odometer::new(space(10), BASIC).open(vec![]).unwrap();
    let map = |scale| PrivacyMap::linear(Scaled(scale), PureDp, loss("0.1"));
    let fits = Measurement::new("fits", space(10), map(10), |_, _| Ok(()));
    let lies = Measurement::new("lies", space(10), map(1), |_, _| Ok(()));
    session.launch(&fits).unwrap();
    let refused = session.launch(&lies).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("its map takes distances in Scaled(1)"),
        "{refused}"
    );
    let into = Transformation::new(
        space(5),
        space(10),
        |d| Ok(2 * d),
        |data: &Vec<i64>| Ok(data.clone()),
    );
    assert!((&into >> &fits).is_ok());
    assert!(
        (&into >> &lies)
            .unwrap_err()
            .to_string()
            .contains("Scaled(1)")
    );
}

#[test]
fn transformations_chain_with_everything() {
    let four = twice().then(&twice()).unwrap();
    assert_eq!(four.stability(&3), Ok(12));
    let query = (&four >> &pure("0.1")).unwrap();
    assert_eq!(query.map().loss(&1), Ok(loss("0.4")));
    let pipeline = (&four >> &Odometer::new(records(), BASIC).named("transformed")).unwrap();
    let session = pipeline.open(vec![1, 2]).unwrap();
    session.after.launch(&pure("0.1")).unwrap();
    session.before.launch(&pure("0.1")).unwrap();
    assert_eq!(spent(&session.before, 1), loss("0.5"));
    let filter = pipeline.filter(1, loss("0.5")).unwrap();
    // A filter of transformed data is a measurement of the data before, and is reserved like any other.
    let outer = filtered("1");
    let inner = outer.launch(&filter).unwrap();
    inner.launch(&pure("0.1")).unwrap();
    let said = refusal(inner.launch(&pure("0.1")).unwrap_err());
    assert_eq!(
        (said.account.as_str(), said.remaining.as_deref()),
        ("transformed", Some("0.1"))
    );
    assert_eq!(spent(&outer, 1), loss("0.5"));
}

#[test]
fn measurements_are_postprocessed_and_converted() {
    let session = open_with(Basic::new(Zcdp));
    let map = PrivacyMap::linear(SymmetricDistance, PureDp, loss("0.5"));
    let length = Measurement::new("length", records(), map, |data, _| Ok(data.len()))
        .with_parameter("epsilon", "0.5");
    let even = length
        .postprocess(|length| length % 2 == 0)
        .convert(PureToZcdp);
    assert_eq!(session.launch(&even), Ok(false));
    assert_eq!(even.description().to_string(), "`length`(epsilon = 0.5)");
    assert_eq!(
        session.privacy_loss(&1).unwrap().bound(),
        &measures::convert::pure_to_zcdp(&loss("0.5"))
    );
}
