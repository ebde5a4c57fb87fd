//! The scenarios of OpenDP's own tests for adaptive composition, fully adaptive composition and the privacy filter,
//! rewritten for OpenDP's measurements under our sessions. Where we differ, a comment says so.

use measures::{ApproxZcdp, Basic, Epsilon, PrivacyMap, PureDp};
use odometer::{LaunchError, Measurement, Odometer, Session};
use opendp::{
    domains::AtomDomain, measurements::make_randomized_response_bool, metrics::DiscreteDistance,
};
use opendp_bridge::{Imported, OpendpSpace, measurement, space};
use queryable::machine;

use crate::support::Any;

type Bit = AtomDomain<bool>;
type BitSession = Session<OpendpSpace<Bit, DiscreteDistance>, Basic<PureDp>>;
type Filter = Imported<Bit, DiscreteDistance, PureDp, BitSession>;

fn bit() -> Result<OpendpSpace<Bit, DiscreteDistance>, Any> {
    Ok(space(AtomDomain::default(), DiscreteDistance)?)
}

fn coin(truth: f64) -> Result<Imported<Bit, DiscreteDistance, PureDp, bool>, Any> {
    Ok(measurement("coin", move || {
        make_randomized_response_bool(truth, false)
    })?)
}

fn filter(name: &'static str, budget: &str) -> Result<Filter, Any> {
    let odometer = Odometer::new(bit()?, Basic::new(PureDp)).named(name);
    Ok(odometer.filter(1, budget)?)
}

/// OpenDP: `test_sequential_composition`. Theirs has fixed slots of 0.1, 0.1, 0.3 and 0.5; a filter of 1 has room for
/// the same, in any order. The answers need no `into_poly`: a session launches measurements of any answer type.
#[test]
fn children_that_are_compositors_themselves() -> Result<(), Any> {
    let root = filter("root", "1")?.invoke(true)?;
    let fair = coin(0.5)?;
    root.launch(&fair)?;
    root.launch(&fair)?;
    let third = root.launch(&filter("third", "0.3")?)?;
    third.launch(&fair)?;
    third.launch(&fair)?;
    let fourth = root.launch(&filter("fourth", "0.5")?)?;
    fourth.launch(&fair)?;
    // Theirs refuses the third child here because its two slots are used up. Pure privacy composes concurrently, so
    // nothing is locked, and a fair coin costs nothing: ours goes on.
    third.launch(&fair)?;
    // What costs more than is left in a child is refused there, and only there.
    let quarter = coin(0.6)?;
    assert!(matches!(
        third.launch(&quarter),
        Err(LaunchError::Refused(_))
    ));
    fourth.launch(&quarter)?;
    assert_eq!(root.remaining(&1)?, Some("0.2".parse()?));
    Ok(())
}

/// OpenDP: `test_adaptive_interactive_postprocessing` and `test_fully_adaptive_interactive_postprocessing`. An interactive
/// mechanism that is asked inside of the measurement, under a sequential rule. (OpenDP's sequential odometer cannot ask
/// its children later, see `defects.rs`; ours can.)
#[test]
fn interactive_post_processing_under_a_sequential_rule() -> Result<(), Any> {
    let map = PrivacyMap::constant_up_to(ApproxZcdp, 1, "(1, 1e-7)")?;
    let not = Measurement::new("not", bit()?, map.clone(), |data, scope| {
        let secret = **data;
        let inner = scope.spawn(machine(move |(), _| Ok(!secret)))?;
        inner.ask(())
    });
    let session = Odometer::new(bit()?, Basic::new(ApproxZcdp)).open(false)?;
    assert!(session.launch(&not)?);
    assert_eq!(session.privacy_loss(&1)?.bound(), &"(1, 1e-7)".parse()?);
    let filter = Odometer::new(bit()?, Basic::new(ApproxZcdp))
        .filter(1, "(1, 1e-7)")?
        .invoke(false)?;
    assert!(filter.launch(&not)?);

    let later = Measurement::new("later", bit()?, map, |data, scope| {
        let secret = **data;
        scope.spawn(machine(move |(), _| Ok(!secret)))
    });
    let child = session.launch(&later)?;
    assert_eq!(child.ask(()), Ok(true));
    session.launch(&not)?;
    assert!(child.ask(()).is_err());
    Ok(())
}

/// OpenDP: `test_privacy_odometer`, which prints the total instead of checking it.
#[test]
fn an_odometer_over_filters() -> Result<(), Any> {
    let odometer = Odometer::new(bit()?, Basic::new(PureDp)).open(true)?;
    let fair = coin(0.5)?;
    odometer.launch(&fair)?;
    odometer.launch(&fair)?;
    let third = odometer.launch(&filter("third", "0.2")?)?;
    third.launch(&fair)?;
    third.launch(&fair)?;
    let fourth = odometer.launch(&filter("fourth", "0.5")?)?;
    fourth.launch(&fair)?;
    fourth.launch(&fair)?;
    // Exactly: 0.2 + 0.5, whatever was used of it, and nothing for the coins.
    assert_eq!(odometer.privacy_loss(&1)?.to_string(), "0.7");
    Ok(())
}

/// OpenDP: `test_privacy_filter`. A refusal is not a death: theirs cannot even tell its loss afterwards. And what is
/// refused has not run: theirs runs it first.
#[test]
fn a_filter_refuses_and_lives() -> Result<(), Any> {
    let session = filter("filter", "1")?.invoke(true)?;
    let weak = coin(0.51)?;
    let cost = |n: u64| -> Result<String, Any> {
        let once = exact::Exact::try_from(0.040005334613699206)?;
        Ok(Epsilon::new(once.times(n)).to_string())
    };
    session.launch(&weak)?;
    assert_eq!(session.privacy_loss(&1)?.to_string(), cost(1)?);
    session.launch(&weak)?;
    assert_eq!(session.privacy_loss(&1)?.to_string(), cost(2)?);
    // ln 3 = 1.0986 is too much.
    let refused = session.launch(&coin(0.75)?).unwrap_err();
    assert!(matches!(refused, LaunchError::Refused(_)) && !refused.was_charged());
    assert_eq!(session.privacy_loss(&1)?.to_string(), cost(2)?);
    session.launch(&weak)?;
    assert_eq!(session.privacy_loss(&1)?.to_string(), cost(3)?);
    Ok(())
}
