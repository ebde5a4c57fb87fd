//! Accounts that count differently from the sessions below them: other measures, other data.

use crate::common::*;
use measures::convert::{PureToApprox, PureToRenyi, PureToZcdp, ZcdpToApprox};
use measures::{ApproxDp, Basic, Metric, PrivacyMap, PureDp, RenyiDp, Zcdp, times};
use odometer::{
    Any, LaunchError, Measurement, Odometer, OpenError, Records, Space, Transformation,
};

fn twice() -> Transformation<Numbers, Numbers> {
    Transformation::new(records(), records(), times(2), |data: &Vec<i64>| {
        Ok([data.clone(), data.clone()].concat())
    })
}

#[test]
fn a_leaf_is_converted_once_per_account_and_stays_one_run() {
    let approx = filtered_with(Basic::new(ApproxDp), "(2, 1e-5)");
    let zcdp = approx
        .nest_in(Basic::new(Zcdp), ZcdpToApprox::new("1e-6").unwrap())
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
        .convert(ZcdpToApprox::new("1e-6").unwrap());
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
    let order = |text: &str| RenyiDp::new(text).unwrap();
    let parent = open_with(Basic::new(order("2")));
    assert!(
        parent
            .nest_in(BASIC, PureToRenyi { order: order("2") })
            .is_ok()
    );
    let wrong = parent.nest_in(BASIC, PureToRenyi { order: order("3") });
    assert!(matches!(wrong, Err(OpenError::Measure { .. })));
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
            .nested("inner")
            .capped(1, "1")
            .open()
            .unwrap()
            .spend_rest(&1, |_| pure("0.2"))
            .unwrap_err(),
    );
}

#[test]
fn a_refused_transformation_changes_nothing() {
    // Tumult's defect: later charges were a thousand times too small.
    let session = filtered("1");
    let other = Records::<u8>::new();
    let elsewhere = Transformation::new(records(), other, times(1000), |data: &Vec<i64>| {
        Ok(data.iter().map(|record| *record as u8).collect())
    });
    let space = Any::<Vec<i64>, _>::with(Scaled(1));
    let scaled = Odometer::new(space, BASIC).open(vec![1, 2, 3]).unwrap();
    let wrong = Any::<Vec<i64>, _>::with(Scaled(2));
    let to_wrong = Transformation::new(wrong, wrong, times(1), |data: &Vec<i64>| Ok(data.clone()));
    assert!(matches!(
        scaled.nest_after(&to_wrong),
        Err(OpenError::Space { .. })
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
fn a_metric_with_another_parameter_is_refused() {
    is_compared(|scale| Any::<Vec<i64>, _>::with(Scaled(scale)));
    is_compared(|scale| Careless(Scaled(scale)));
}

/// A space that leaves its metric out of its comparison and of its form.
#[derive(Clone)]
struct Careless(Scaled);

impl PartialEq for Careless {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Careless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("careless")
    }
}

impl Space for Careless {
    type Data = Vec<i64>;
    type Distance = u32;
    type Metric = Scaled;

    fn metric(&self) -> &Scaled {
        &self.0
    }
}

/// Only what was made for the parameter of a session's metric is launched there.
fn is_compared<S>(space: impl Fn(u32) -> S)
where
    S: Space<Data = Vec<i64>, Distance = u32, Metric = Scaled>,
{
    let session = Odometer::new(space(10), BASIC).open(vec![]).unwrap();
    let query = |scale| {
        let map = PrivacyMap::linear(PureDp, "0.1").unwrap();
        Measurement::new("query", space(scale), map, |_, _| Ok(()))
    };
    let (fits, other) = (query(10), query(1));
    session.launch(&fits).unwrap();
    let refused = session.launch(&other).unwrap_err();
    assert!(matches!(refused, LaunchError::Space { .. }));
    for scale in ["Scaled(10)", "Scaled(1)"] {
        assert!(refused.to_string().contains(scale), "{refused}");
    }
    let into = Transformation::new(space(5), space(10), times(2), |data: &Vec<i64>| {
        Ok(data.clone())
    });
    assert!((&into >> &fits).is_ok());
    let mismatch = (&into >> &other).unwrap_err();
    assert!(mismatch.second.contains("Scaled(1)"), "{mismatch}");
    let elsewhere = (&into >> &Odometer::new(space(1), BASIC)).err().unwrap();
    assert_eq!(elsewhere, mismatch);
    assert!(matches!(
        session.nest_after(&into),
        Err(OpenError::Space { .. })
    ));
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
    let filter = pipeline.filter(1, "0.5").unwrap();
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
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
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
