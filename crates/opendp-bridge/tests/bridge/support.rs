//! What the tests share.

use measures::{Additive, Basic};
use odometer::{Odometer, Space};
use opendp::{
    core::Measurement, domains::AtomDomain, measurements::make_randomized_response_bool,
    metrics::DiscreteDistance,
};
use opendp_bridge::{
    Build, Constructor, Correspondence, Counterpart, OpendpDistance, SharedDomain, SharedMetric,
    measurement, theirs,
};

pub type Any = Box<dyn std::error::Error + Send + Sync>;

pub type Coin = Measurement<AtomDomain<bool>, DiscreteDistance, theirs::Pure, bool>;

/// Randomized response with this probability of the truth.
pub fn coin(truth: f64) -> Constructor<Coin> {
    Constructor::new(move || make_randomized_response_bool(truth, false))
}

/// Launches an OpenDP measurement in a session of ours, here and on another thread, and checks that the account says
/// exactly what OpenDP's own map says.
pub fn through<DI, MI, MO, TO>(
    name: &'static str,
    constructor: impl Build<Measurement<DI, MI, MO, TO>> + Clone,
    data: DI::Carrier,
    d_in: MI::Distance,
) -> Result<TO, Any>
where
    DI: SharedDomain,
    MI: SharedMetric,
    MO: Counterpart<Ours: Additive> + 'static,
    TO: Send + 'static,
{
    let theirs = constructor().map_err(|error| format!("{error:?}"))?;
    let measure = theirs.output_measure.ours();
    let d_out = theirs.map(&d_in).map_err(|error| format!("{error:?}"))?;
    let expected = measure.loss(&d_out)?;

    let ours = measurement(name, constructor)?;
    assert_eq!(*ours.space().domain(), theirs.input_domain);
    assert_eq!(ours.space().metric().0, theirs.input_metric);
    let session = Odometer::new(ours.space().clone(), Basic::new(measure)).open(data)?;
    let answer = session.launch(&ours)?;
    let exact = d_in.exact()?;
    assert_eq!(session.privacy_loss(&exact)?.bound(), &expected, "{name}");
    std::thread::scope(|scope| {
        scope
            .spawn(|| session.launch(&ours).map(drop))
            .join()
            .unwrap()
    })?;
    assert_eq!(session.launches()?[0].1, 2);
    Ok(answer)
}
