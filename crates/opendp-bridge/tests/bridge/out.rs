//! Ours in OpenDP: pipelines, compositions, conversions, and the turns of OpenDP's sequential compositors.

use std::any::Any as Whatever;

use measures::{ApproxDp, ApproxZcdp, Basic, PrivacyMap, PureDp, Zcdp, fixed::Optimal};
use odometer::{Compositor, LaunchError, Measurement, Odometer, OpenError, Session};
use opendp::{
    combinators::{
        make_adaptive_composition, make_composition, make_fix_delta,
        make_fully_adaptive_composition, make_privacy_filter, make_zCDP_to_approxDP,
    },
    core::{Function, Measurement as TheirMeasurement, PrivacyMap as TheirMap},
    domains::{AtomDomain, VectorDomain},
    error::Fallible,
    measurements::make_gaussian,
    metrics::{AbsoluteDistance, DiscreteDistance, SymmetricDistance},
    transformations::{make_clamp, make_sum},
};
use opendp_bridge::{
    Imported, OpendpSpace, TheirsIn, export, measurement, space,
    theirs::{Approximate, Concentrated, Pure},
};
use queryable::{
    AskError, Queryable,
    coins::{Bit, Probability},
    machine,
};

use crate::support::Any;

type Numbers = VectorDomain<AtomDomain<i32>>;

fn numbers() -> Fallible<Numbers> {
    Ok(VectorDomain::new(AtomDomain::new_closed((0, 10))?))
}

type Counter = Imported<Numbers, SymmetricDistance, ApproxZcdp, Queryable<(), u32>>;

/// A machine of ours that counts how often it was asked.
fn counter(loss: &str) -> Result<Counter, Any> {
    let space = space(numbers()?, SymmetricDistance)?;
    let map = PrivacyMap::constant_up_to(ApproxZcdp, 1, loss)?;
    Ok(Measurement::new("counter", space, map, |_, scope| {
        let mut asked = 0;
        scope.spawn(machine(move |(), _| {
            asked += 1;
            Ok(asked)
        }))
    }))
}

#[test]
fn a_filter_of_ours_at_the_end_of_their_pipeline() -> Result<(), Any> {
    let space = space(numbers()?, SymmetricDistance)?;
    let filter = Odometer::new(space, Basic::new(Zcdp)).filter(2, "1")?;
    let clamp = make_clamp(
        VectorDomain::new(AtomDomain::<i32>::default()),
        SymmetricDistance,
        (0, 10),
    )?;
    let pipeline = (clamp >> export(&filter)?)?;
    assert_eq!(pipeline.map(&2)?, 1.0);
    assert_eq!(pipeline.map(&3)?, f64::INFINITY);
    assert_eq!(pipeline.output_measure, Concentrated);

    // Its loss converts with OpenDP's own combinators.
    let approximate = make_fix_delta(&make_zCDP_to_approxDP(pipeline.clone())?, 1e-6)?;
    let (epsilon, delta) = approximate.map(&1)?;
    assert!(epsilon > 1.0 && epsilon < 10.0 && delta == 1e-6);

    let noisy_sum = measurement("noisy sum", || {
        let (number, metric) = (
            AtomDomain::<i32>::default(),
            AbsoluteDistance::<i32>::default(),
        );
        make_sum(numbers()?, SymmetricDistance)?
            >> make_gaussian::<_, _, Concentrated>(number, metric, 20.0, None)?
    })?;
    let session = approximate.invoke(&vec![3, 300])??;
    // d_in 2, sensitivity 20, scale 20: ρ = 1/2.
    session.launch(&noisy_sum)?;
    session.launch(&noisy_sum)?;
    assert!(matches!(
        session.launch(&noisy_sum),
        Err(LaunchError::Refused(_))
    ));
    assert_eq!(
        session.spent()?.map(|spent| spent.to_string()),
        Some("1".into())
    );
    Ok(())
}

#[test]
fn losses_go_out_rounded_up() -> Result<(), Any> {
    let space = space(numbers()?, SymmetricDistance)?;
    let filter = Odometer::new(space.clone(), Basic::new(PureDp)).filter(1, "0.3")?;
    let d_out = export(&filter)?.map(&1)?;
    assert!(exact::Exact::try_from(d_out)? >= "0.3".parse()? && d_out <= 0.3f64.next_up());
    let filter = Odometer::new(space, Basic::new(ApproxDp)).filter(1, "(0.3, 1e-7)")?;
    let (epsilon, delta) = export(&filter)?.map(&1)?;
    assert!(exact::Exact::try_from(epsilon)? >= "0.3".parse()?);
    assert!(exact::Exact::try_from(delta)? >= "1e-7".parse()?);
    Ok(())
}

#[test]
fn values_are_values() -> Result<(), Any> {
    let space = space(numbers()?, SymmetricDistance)?;
    let map = PrivacyMap::linear(PureDp, "0.5")?;
    let size = Measurement::new("size", space, map, |data, _| Ok(data.len()));
    let three = make_composition(vec![export(&size)?, export(&size)?, export(&size)?])?;
    assert_eq!(three.invoke(&vec![1, 2])?, [Ok(2), Ok(2), Ok(2)]);
    assert_eq!(three.map(&2)?, 3.0);
    assert_eq!(
        export(&size)?.invoke(&vec![11])?,
        Err(AskError::failed("the data are not in the domain"))
    );
    Ok(())
}

/// Ours as an OpenDP measurement by hand, without the probe.
fn unguarded(
    ours: &Counter,
) -> Fallible<TheirsIn<Numbers, SymmetricDistance, ApproxZcdp, Queryable<(), u32>>> {
    let ours = ours.clone();
    TheirMeasurement::new(
        numbers()?,
        SymmetricDistance,
        Approximate(Concentrated),
        Function::new_fallible(move |data: &Vec<i32>| Ok(ours.invoke(data.clone()).unwrap())),
        TheirMap::new(|_: &u32| (0.5, 0.0)),
    )
}

#[test]
fn without_the_probe_a_child_answers_out_of_turn() -> Result<(), Any> {
    let child = unguarded(&counter("(0.5, 0)")?)?;
    let losses = vec![(0.5, 0.0); 2];
    let mut parent = make_adaptive_composition(
        numbers()?,
        SymmetricDistance,
        Approximate(Concentrated),
        1,
        losses,
    )?
    .invoke(&vec![])?;
    let first = parent.eval(&child)?;
    let second = parent.eval(&child)?;
    second.ask(())?;
    // This is what must not be: approximate zCDP composes sequentially, and the parent has moved on.
    assert_eq!(first.ask(()), Ok(1));
    Ok(())
}

#[test]
fn with_the_probe_it_does_not() -> Result<(), Any> {
    let child = export(&counter("(0.5, 0)")?)?;
    let losses = vec![(0.5, 0.0); 2];
    let mut parent = make_adaptive_composition(
        numbers()?,
        SymmetricDistance,
        Approximate(Concentrated),
        1,
        losses,
    )?
    .invoke(&vec![])?;
    let first: Queryable<(), u32> = parent.eval(&child)??;
    assert_eq!(first.ask(()), Ok(1));
    assert_eq!(first.ask(()), Ok(2));
    let second = parent.eval(&child)??;
    assert_eq!(first.ask(()), Err(AskError::OutOfTurn));
    assert_eq!(second.ask(()), Ok(1));
    assert_eq!(first.clone().ask(()), Err(AskError::OutOfTurn));
    // Composed all at once, only the last may be asked.
    let both = make_composition(vec![child.clone(), child])?.invoke(&vec![])?;
    let both = both.into_iter().collect::<Result<Vec<_>, _>>()?;
    assert_eq!(both[0].ask(()), Err(AskError::OutOfTurn));
    assert_eq!(both[1].ask(()), Ok(1));
    Ok(())
}

#[test]
fn under_their_concurrent_compositors_all_children_answer() -> Result<(), Any> {
    let space = space(numbers()?, SymmetricDistance)?;
    let filter = export(&Odometer::new(space.clone(), Basic::new(PureDp)).filter(1, "1")?)?;
    let mut odometer = make_fully_adaptive_composition(numbers()?, SymmetricDistance, Pure)?
        .invoke(&vec![1, 2])?;
    let (one, two) = (odometer.invoke(filter.clone())??, odometer.invoke(filter)??);
    assert_eq!(odometer.privacy_loss(1)?, 2.0);
    let map = PrivacyMap::linear(PureDp, "0.5")?;
    let size = Measurement::new("size", space, map, |data, _| Ok(data.len()));
    for session in [&one, &two, &one, &two] {
        assert_eq!(session.launch(&size)?, 2);
    }
    assert!(one.launch(&size).is_err() && two.launch(&size).is_err());
    Ok(())
}

/// What their compositors' children look like from outside.
type Poly = Box<dyn Whatever>;

type ExportedSession = Session<OpendpSpace<Numbers, SymmetricDistance>, Basic<ApproxZcdp>>;

#[test]
fn what_our_children_spawn_inherits_the_turns() -> Result<(), Any> {
    // A session of ours under a sequential compositor of theirs, and a machine launched in that session.
    let space = space(numbers()?, SymmetricDistance)?;
    let filter = Odometer::new(space, Basic::new(ApproxZcdp)).filter(1, "(1, 0)")?;
    let child = export(&filter)?.into_poly();
    let mut parent = make_adaptive_composition::<_, _, _, Poly>(
        numbers()?,
        SymmetricDistance,
        Approximate(Concentrated),
        1,
        vec![(1.0, 0.0); 2],
    )?
    .invoke(&vec![])?;
    let session: Result<ExportedSession, AskError> = parent.eval_poly(&child)?;
    let session = session?;
    let nested = session.nested("inner").capped(1, "(0.5, 0)").open()?;
    let grandchild = nested.launch(&counter("(0.25, 0)")?)?;
    assert_eq!(grandchild.ask(()), Ok(1));
    assert_eq!(nested.remaining(&1)?.text(), Some("(0.25, 0)".into()));

    parent.eval(&child)?;
    assert_eq!(grandchild.ask(()), Err(AskError::OutOfTurn));
    let refused = LaunchError::Unusable(AskError::OutOfTurn);
    assert_eq!(
        session.launch(&counter("(0.1, 0)")?).map(drop),
        Err(refused.clone())
    );
    assert_eq!(
        session
            .nested("inner")
            .capped(1, "(0.1, 0)")
            .open()
            .map(drop)
            .map_err(LaunchError::from),
        Err(OpenError::Unusable(AskError::OutOfTurn).into())
    );
    assert_eq!(
        nested.launch(&counter("(0.1, 0)")?).map(drop),
        Err(refused.clone())
    );
    assert_eq!(session.privacy_loss(&1).map(drop), Err(refused));
    Ok(())
}

#[test]
fn what_their_code_spawns_inside_of_ours_inherits_the_turns() -> Result<(), Any> {
    // A machine of ours whose answers are OpenDP compositors, made on the spot by exported measurements of ours.
    type Inner = opendp::interactive::Queryable<
        TheirMeasurement<Numbers, SymmetricDistance, Approximate<Concentrated>, bool>,
        bool,
    >;
    let space = space(numbers()?, SymmetricDistance)?;
    let map = PrivacyMap::constant_up_to(ApproxZcdp, 1, "(0.5, 0)")?;
    let maker: Imported<_, _, _, Queryable<(), Inner>> =
        Measurement::new("maker", space, map, |data, scope| {
            let data = data.clone();
            scope.spawn(machine(move |(), _| {
                let domain = numbers().unwrap();
                let losses = vec![(0.5, 0.0)];
                let measure = Approximate(Concentrated);
                make_adaptive_composition(domain, SymmetricDistance, measure, 1, losses)
                    .and_then(|inner| inner.invoke(&data))
                    .map_err(|_| AskError::failed("no"))
            }))
        });
    let truth = TheirMeasurement::new(
        numbers()?,
        SymmetricDistance,
        Approximate(Concentrated),
        Function::new(|_: &Vec<i32>| true),
        TheirMap::new(|_: &u32| (0.1, 0.0)),
    )?;
    let child = export(&maker)?;
    let losses = vec![(0.5, 0.0); 2];
    let mut parent = make_adaptive_composition(
        numbers()?,
        SymmetricDistance,
        Approximate(Concentrated),
        1,
        losses,
    )?
    .invoke(&vec![])?;
    let mut fresh = parent.eval(&child)??.ask(())?;
    parent.eval(&child)??;
    let refused = fresh.eval(&truth).unwrap_err();
    assert!(
        refused
            .message
            .is_some_and(|text| text.contains("new query"))
    );
    Ok(())
}

#[test]
fn what_went_out_does_not_come_back_in() -> Result<(), Any> {
    let space = space(numbers()?, SymmetricDistance)?;
    let map = PrivacyMap::linear(PureDp, "0.5")?;
    let size = Measurement::new("size", space, map, |data, _| Ok(data.len()));
    let back = measurement("back", move || export(&size))?;
    let session = Odometer::new(back.space().clone(), Basic::new(PureDp)).open(vec![1])?;
    // To us, OpenDP's code has failed on data.
    let stopped = LaunchError::Stopped { charged: true };
    assert_eq!(session.launch(&back), Err(stopped));
    Ok(())
}

#[test]
fn their_filter_over_ours() -> Result<(), Any> {
    let space = space(numbers()?, SymmetricDistance)?;
    let half = export(&Odometer::new(space, Basic::new(PureDp)).filter(1, "0.5")?)?;
    let odometer = make_fully_adaptive_composition(numbers()?, SymmetricDistance, Pure)?;
    let mut filter = make_privacy_filter(odometer, 1, 1.0)?.invoke(&vec![1])?;
    filter.invoke(half.clone())??;
    filter.invoke(half.clone())??;
    assert!(filter.invoke(half).is_err());
    Ok(())
}

#[test]
fn a_compositor_of_ours_with_a_rule_that_opendp_does_not_have() -> Result<(), Any> {
    // Thirty children of loss 0.1, composed optimally for losses fixed in advance.
    let space = space(numbers()?, SymmetricDistance)?;
    let rule = Optimal::new("1e-6")?;
    let losses = vec!["(0.1, 0)"; 30];
    let thirty = Compositor::new(space.clone(), rule, 1, losses).measurement()?;
    let out = export(&thirty)?;
    let (epsilon, delta) = out.map(&1)?;
    assert!(epsilon < 2.6 && delta <= 1.1e-6, "{epsilon} {delta}");

    let mut parent = make_adaptive_composition(
        numbers()?,
        SymmetricDistance,
        Approximate(Pure),
        1,
        vec![(3.0, 1e-5)],
    )?
    .invoke(&vec![1, 2])?;
    let composition = parent.eval(&out)??;
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(0.1, 0)")?;
    let size = Measurement::new("size", space, map, |data, _| Ok(data.len()));
    for left in (0..30).rev() {
        assert_eq!(composition.launch(&size)?, 2);
        assert_eq!(composition.left().len(), left);
    }
    assert!(matches!(
        composition.launch(&size),
        Err(LaunchError::NoSlot { .. })
    ));
    Ok(())
}

/// How a function on a bit can go wrong.
type Way = fn(bool) -> Result<(), AskError>;

/// Randomized response, ε = ln 3, that answers, or fails in some way.
fn failing(way: Way) -> Result<Imported<AtomDomain<bool>, DiscreteDistance, PureDp, ()>, Any> {
    let space = space(AtomDomain::<bool>::default(), DiscreteDistance)?;
    let map = PrivacyMap::constant_up_to(PureDp, 1, "1.1")?;
    let lie = Bit::new(Probability::new(1, 4)?);
    Ok(Measurement::new(
        "failing",
        space,
        map,
        move |bit, scope| way(**bit ^ scope.draw(&lie)?),
    ))
}

const WAYS: [Way; 2] = [
    |bit| {
        if bit {
            Err(AskError::failed("no"))
        } else {
            Ok(())
        }
    },
    |bit| {
        assert!(!bit, "no");
        Ok(())
    },
];

#[test]
fn a_failure_is_an_answer_and_opendp_charges_it() -> Result<(), Any> {
    let bit = AtomDomain::<bool>::default;
    for way in WAYS {
        let child = export(&failing(way)?)?;
        let mut seen = [false; 2];
        // Each of both happens with a chance of at least one quarter.
        while seen != [true; 2] {
            let mut one = make_adaptive_composition(bit(), DiscreteDistance, Pure, 1, vec![1.1])?
                .invoke(&true)?;
            let answer = one.eval(&child)?;
            seen[usize::from(answer.is_ok())] = true;
            // Whatever it was, the slot is gone.
            let refused = one.eval(&child).unwrap_err();
            assert_eq!(refused.message.as_deref(), Some("out of queries"));
        }

        let mut odometer =
            make_fully_adaptive_composition(bit(), DiscreteDistance, Pure)?.invoke(&true)?;
        for launches in 1..=20 {
            let _either = odometer.invoke(child.clone())?;
            assert!(odometer.privacy_loss(1)? >= f64::from(launches) * 1.1);
        }
        let odometer = make_fully_adaptive_composition(bit(), DiscreteDistance, Pure)?;
        let mut filter = make_privacy_filter(odometer, 1, 2.5)?.invoke(&true)?;
        let _either = (filter.invoke(child.clone())?, filter.invoke(child.clone())?);
        assert!(filter.invoke(child).is_err());
    }
    Ok(())
}
