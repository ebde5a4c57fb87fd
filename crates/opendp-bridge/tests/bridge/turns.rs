//! Exported handles and the turns of OpenDP's sequential compositors: whoever holds a handle, and however it got out.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use measures::{ApproxZcdp, Basic, FixedRule, PrivacyMap, RhoDelta, Rule, RuleError};
use odometer::{Compositor, LaunchError, Measurement, Odometer, OpenError, Session};
use opendp::{
    combinators::{make_adaptive_composition, make_approximate, make_pureDP_to_zCDP},
    core::Measurement as TheirMeasurement,
    domains::AtomDomain,
    error::Fallible,
    interactive::Queryable as TheirQueryable,
    measurements::make_randomized_response_bool,
    metrics::DiscreteDistance,
};
use opendp_bridge::{
    Answered, Constructor, Imported, OpendpSpace, compositor, export, space,
    theirs::{Approximate, Concentrated},
};
use queryable::{AskError, Queryable, Root, Scope, machine, translate};

use crate::support::Any;

type Bit = AtomDomain<bool>;
type Ours<A> = Imported<Bit, DiscreteDistance, ApproxZcdp, A>;
type Exported = Session<OpendpSpace<Bit, DiscreteDistance>, Basic<ApproxZcdp>>;
type Counter = Queryable<(), u32>;

/// A machine of ours that counts how often it was asked.
fn counter() -> Result<Ours<Counter>, Any> {
    let space = space(Bit::default(), DiscreteDistance)?;
    let map = PrivacyMap::constant_up_to(ApproxZcdp, 1, "(0.1, 0)")?;
    Ok(Measurement::new("counter", space, map, |_, scope| {
        let mut asked = 0;
        scope.spawn(machine(move |(), _| {
            asked += 1;
            Ok(asked)
        }))
    }))
}

fn filter() -> Result<Ours<Exported>, Any> {
    let space = space(Bit::default(), DiscreteDistance)?;
    Ok(Odometer::new(space, Basic::new(ApproxZcdp)).filter(1, "(1, 0)")?)
}

type Child<A> = TheirMeasurement<Bit, DiscreteDistance, Approximate<Concentrated>, Answered<A>>;

/// A sequential compositor of theirs with two children.
fn pair<A: 'static>() -> Fallible<TheirQueryable<Child<A>, Answered<A>>> {
    let (measure, losses) = (Approximate(Concentrated), vec![(1.0, 0.0); 2]);
    make_adaptive_composition(Bit::default(), DiscreteDistance, measure, 1, losses)?.invoke(&true)
}

#[test]
fn a_handle_that_was_tapped_keeps_to_the_turns() -> Result<(), Any> {
    let (mut parent, child) = (pair()?, export(&filter()?)?);
    let session = parent.eval(&child)??;
    let tapped: Arc<Mutex<Vec<Counter>>> = Arc::default();
    let tap = {
        let tapped = Arc::clone(&tapped);
        move |handle: Counter| {
            tapped.lock().unwrap().push(handle.clone());
            handle
        }
    };
    let answered = session.launch(&counter()?.postprocess(tap))?;
    let tapped = tapped.lock().unwrap()[0].clone();
    assert_eq!((answered.ask(()), tapped.ask(())), (Ok(1), Ok(2)));

    let next = parent.eval(&child)??;
    assert_eq!(answered.ask(()), Err(AskError::OutOfTurn));
    assert_eq!(tapped.ask(()), Err(AskError::OutOfTurn));
    // In front of it, on the analyst's side.
    let front = Root::from_os()?.postprocess(&tapped, translate(|()| (), |n: u32| n))?;
    assert_eq!(front.ask(()), Err(AskError::OutOfTurn));
    assert_eq!(next.launch(&counter()?)?.ask(()), Ok(1));
    Ok(())
}

/// Sums of approximate zCDP, in turn.
#[derive(Clone, Debug)]
struct InTurn;

impl Rule for InTurn {
    type Child = ApproxZcdp;
    type Total = ApproxZcdp;
    fn child(&self) -> ApproxZcdp {
        ApproxZcdp
    }
    fn total(&self) -> ApproxZcdp {
        ApproxZcdp
    }
}

impl FixedRule for InTurn {
    fn compose(&self, losses: &[RhoDelta]) -> Result<RhoDelta, RuleError> {
        let rho = losses.iter().map(|loss| loss.rho().clone());
        let zero = exact::Exact::ZERO;
        let sum = rho.fold(zero.clone(), |sum, rho| sum + rho);
        Ok(RhoDelta::new(sum, zero)?)
    }
}

/// A use of something below an exported session.
type Use = Box<dyn Fn() -> Result<(), AskError>>;

fn launched<A>(launched: Result<A, impl Into<LaunchError>>) -> Result<(), AskError> {
    match launched.map_err(Into::into) {
        Ok(_) => Ok(()),
        Err(LaunchError::Unusable(error) | LaunchError::Open(OpenError::Unusable(error))) => {
            Err(error)
        }
        Err(other) => panic!("{other}"),
    }
}

fn launching(session: Exported) -> Result<Use, Any> {
    let counter = counter()?;
    Ok(Box::new(move || launched(session.launch(&counter))))
}

type Below = fn(&Exported) -> Result<Use, Any>;

/// Everything that can be made below a session.
const BELOW: [Below; 8] = [
    |session| launching(session.clone()),
    |session| {
        launching(
            session
                .nested("inner")
                .capped(1, "(0.5, 0)")
                .open()?
                .nested("inner")
                .open()?,
        )
    },
    |session| {
        let odometer = Odometer::new(session.space().clone(), Basic::new(ApproxZcdp));
        launching(session.launch(&odometer.filter(1, "(0.5, 0)")?)?)
    },
    |session| {
        let nested = session.nested("inner").open()?;
        Ok(Box::new(move || launched(nested.nested("inner").open())))
    },
    |session| {
        let slots = vec!["(0.1, 0)"; 2];
        let composed = Compositor::new(session.space().clone(), InTurn, 1, slots);
        let composition = session.launch(&composed.measurement()?)?;
        let counter = counter()?;
        Ok(Box::new(move || launched(composition.launch(&counter))))
    },
    |session| {
        // An interactive OpenDP object, on a thread of its own.
        let theirs = compositor("pair", || {
            let (measure, losses) = (Approximate(Concentrated), vec![(0.1, 0.0); 2]);
            make_adaptive_composition(Bit::default(), DiscreteDistance, measure, 1, losses)
        })?;
        let handle = session.launch(&theirs)?;
        Ok(Box::new(move || {
            let coin = Constructor::new(|| {
                make_approximate(make_pureDP_to_zCDP(make_randomized_response_bool(
                    0.55, false,
                )?)?)
            });
            handle.ask(coin).map(drop)
        }))
    },
    |session| {
        let handle = session.launch(&spawner()?)?.ask(())?;
        Ok(Box::new(move || handle.ask(()).map(drop)))
    },
    |session| {
        let handle = session.launch(&spawner()?)?;
        Ok(Box::new(move || handle.ask(()).map(drop)))
    },
];

/// A machine of ours that spawns machines.
fn spawner() -> Result<Ours<Queryable<(), Counter>>, Any> {
    let (space, map) = (counter()?.space().clone(), counter()?.map().clone());
    Ok(Measurement::new("spawner", space, map, |_, scope| {
        scope.spawn(machine(|(), scope: &mut Scope<'_>| {
            scope.spawn(machine(|(), _| Ok(1)))
        }))
    }))
}

#[test]
fn everything_below_keeps_to_the_turns() -> Result<(), Any> {
    for below in BELOW {
        let (mut parent, child) = (pair()?, export(&filter()?)?);
        let session = parent.eval(&child)??;
        let using = below(&session)?;
        assert_eq!(using(), Ok(()));
        parent.eval(&child)??;
        assert_eq!(using(), Err(AskError::OutOfTurn));
        assert_eq!(using(), Err(AskError::OutOfTurn));
    }
    Ok(())
}

#[test]
fn on_another_thread_there_is_a_refusal_and_no_answer() -> Result<(), Any> {
    let mut parent = pair()?;
    let session = parent.eval(&export(&filter()?)?)??;
    let handle = session.launch(&counter()?)?;
    let counting = counter()?;
    let (asked, launched) = thread::scope(|scope| {
        let there = || (handle.ask(()), session.launch(&counting).map(drop));
        scope.spawn(there).join().unwrap()
    });
    assert_eq!(asked, Err(AskError::WrongThread));
    assert_eq!(launched, Err(LaunchError::Unusable(AskError::WrongThread)));
    // Nothing has happened there.
    assert_eq!(handle.ask(()), Ok(1));
    assert_eq!(session.privacy_loss(&1)?.to_string(), "(0.1, 0)");
    Ok(())
}

#[test]
fn after_its_thread_has_ended_nobody_answers() -> Result<(), Any> {
    let open = || -> Result<(Counter, Exported), Any> {
        let session = pair()?.eval(&export(&filter()?)?)??;
        Ok((session.launch(&counter()?)?, session))
    };
    let (handle, session) = thread::spawn(open).join().unwrap()?;
    assert_eq!(handle.ask(()), Err(AskError::WrongThread));
    assert_eq!(
        session.launch(&counter()?).map(drop),
        Err(LaunchError::Unusable(AskError::WrongThread))
    );
    Ok(())
}

#[test]
fn what_the_compositors_above_hold_is_let_go_with_the_last_handle() -> Result<(), Any> {
    // The compositor's map of the data is as good as the data to see that it is gone.
    let held = Arc::new(());
    let open = |held: &Arc<()>| -> Result<Counter, Any> {
        let held = Arc::clone(held);
        let child = export(&counter()?.postprocess(move |handle| {
            let _held = &held;
            handle
        }))?;
        let (measure, losses) = (Approximate(Concentrated), vec![(1.0, 0.0); 2]);
        let parent: TheirMeasurement<_, _, _, TheirQueryable<Child<Counter>, _>> =
            make_adaptive_composition(Bit::default(), DiscreteDistance, measure, 1, losses)?;
        Ok(parent.invoke(&true)?.eval(&child)??)
    };
    let handle = open(&held)?;
    assert_eq!(handle.ask(()), Ok(1));
    drop(handle);
    assert_eq!(Arc::strong_count(&held), 1);
    // Dropped on another thread, it waits for this one to look.
    let handle = open(&held)?;
    thread::spawn(move || drop(handle)).join().unwrap();
    drop(open(&held)?);
    assert_eq!(Arc::strong_count(&held), 1);
    Ok(())
}

#[test]
fn steps_inside_steps_fit_the_stack() -> Result<(), Any> {
    // A machine that spawns one like itself and asks it, as deep as machines may be.
    fn deep(_: (), scope: &mut Scope<'_>) -> Result<u32, AskError> {
        match scope.spawn(machine(deep)) {
            Ok(child) => Ok(child.ask(())? + 1),
            Err(_) => Ok(0),
        }
    }
    let (space, map) = (counter()?.space().clone(), counter()?.map().clone());
    let deep = Measurement::new("deep", space, map, |_, scope| scope.spawn(machine(deep)));
    let handle = pair()?.eval(&export(&deep)?)??;
    assert_eq!(handle.ask(()), Ok(u32::from(queryable::MAX_DEPTH) - 1));
    Ok(())
}
