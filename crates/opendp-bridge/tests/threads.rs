//! The threads of interactive OpenDP objects. One test, alone in its process: it counts threads.

use std::{thread, time::Duration};

use measures::{Basic, PureDp};
use odometer::{LaunchError, Odometer};
use opendp::{
    combinators::make_adaptive_composition, core::Measurement, domains::AtomDomain,
    metrics::DiscreteDistance,
};
use opendp_bridge::{MAX_INTERACTIVE, compositor, theirs::Pure};

type Coin = Measurement<AtomDomain<bool>, DiscreteDistance, Pure, bool>;

#[test]
fn interactive_objects_are_limited_and_a_refusal_is_not_charged()
-> Result<(), Box<dyn std::error::Error>> {
    let one = compositor("one", || {
        make_adaptive_composition::<_, _, _, bool>(
            AtomDomain::<bool>::default(),
            DiscreteDistance,
            Pure,
            1,
            vec![0.5],
        )
    })?;
    let session = Odometer::new(one.space().clone(), Basic::new(PureDp)).open(true)?;
    let mut kept = Vec::new();
    let refused = loop {
        match session.launch(&one) {
            Ok(handle) => kept.push(handle),
            Err(refused) => break refused,
        }
        assert!(kept.len() <= MAX_INTERACTIVE);
    };
    assert_eq!(kept.len(), MAX_INTERACTIVE);
    assert!(matches!(refused, LaunchError::NotReady { .. }), "{refused}");
    let spent = (MAX_INTERACTIVE / 2).to_string();
    assert_eq!(session.privacy_loss(&1)?.to_string(), spent);
    // Whatever is made from it is refused, too, and its cost can still be asked.
    let more = one.postprocess(|handle| handle);
    assert!(matches!(
        session.launch(&more),
        Err(LaunchError::NotReady { .. })
    ));
    assert_eq!(session.privacy_loss(&1)?.to_string(), spent);

    // Those that are kept answer, and a thread that ends makes room.
    let coin = opendp_bridge::Constructor::<Coin>::new(|| {
        opendp::measurements::make_randomized_response_bool(0.6, false)
    });
    kept.pop();
    for handle in &kept {
        handle.ask(coin.clone())?;
    }
    for _ in 0..1000 {
        match session.launch(&one) {
            Ok(_) => return Ok(()),
            Err(refused) => assert!(!refused.was_charged()),
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("there is no room");
}
