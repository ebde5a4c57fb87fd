//! After the first failure nothing runs: no function, no post-processing, no launch that was charged before.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use crate::common::*;
use crate::halting::{Change, REFUSED, STOPPED, fails_on, free, watched};
use measures::{ApproxDp, PrivacyMap, PureDp, convert::PureToApprox, times};
use odometer::journal::{Books, Memory};
use odometer::{
    Compositor, LaunchError, Launcher, Measurement, Odometer, Session, Transformation, Watch,
};
use queryable::{
    AskError, PostProcessor, Queryable, Received, Root, Scope, Sent, Side, inside_step, machine,
    translate,
};

/// How often something happened.
type Count = Arc<AtomicUsize>;

fn note(count: &Count) -> impl Fn(usize) -> usize + Send + Sync + 'static {
    let count = Arc::clone(count);
    move |answer| {
        count.fetch_add(1, Ordering::SeqCst);
        answer
    }
}

fn noted(count: &Count) -> usize {
    count.load(Ordering::SeqCst)
}

/// Waits until the first failure was reported to this watch.
#[derive(Clone)]
struct Until {
    begun: Arc<Barrier>,
    watch: Watch,
}

impl Until {
    fn failed(&self) {
        self.begun.wait();
        while self.watch.failures().is_empty() {
            thread::yield_now();
        }
    }

    /// A measurement of loss zero that ends after the first failure.
    fn slow(&self) -> On<PureDp, usize> {
        let until = self.clone();
        let map = PrivacyMap::per_record(PureDp, "0").unwrap();
        Measurement::new("slow", records(), map, move |data, _| {
            until.failed();
            Ok(data.len())
        })
    }

    /// A transformation that ends after the first failure.
    fn slow_change(&self) -> Change {
        let until = self.clone();
        Transformation::new(records(), records(), times(1), move |data: &Vec<i64>| {
            until.failed();
            Ok(data.clone())
        })
    }
}

/// Launches in this session while another launch on the same data fails.
fn during_a_failure(top: PureSession, watch: Watch, launch: impl FnOnce(&PureSession, &Until)) {
    let until = Until {
        begun: Arc::new(Barrier::new(2)),
        watch,
    };
    thread::scope(|threads| {
        threads.spawn(|| {
            until.begun.wait();
            let fails = (&fails_on(31) >> &free("fails")).unwrap();
            assert_eq!(top.launch(&fails), Err(STOPPED));
        });
        launch(&top, &until);
    });
}

type Attack = fn(&PureSession, &Until, &Count) -> Option<LaunchError>;

#[test]
fn post_processing_does_not_run_after_a_failure() {
    let attacks: [Attack; 9] = [
        |top, until, count| top.launch(&until.slow().postprocess(note(count))).err(),
        |top, until, count| {
            let twice = until
                .slow()
                .postprocess(note(count))
                .postprocess(note(count));
            top.launch(&twice.named("twice")).err()
        },
        |top, until, count| {
            let change = (&until.slow_change() >> &free("free")).unwrap();
            top.launch(&change.postprocess(note(count))).err()
        },
        |top, until, count| {
            let inner = free("free").postprocess(note(count));
            top.launch(&(&until.slow_change() >> &inner).unwrap()).err()
        },
        |top, until, count| {
            let after = top.nest_after(&until.slow_change()).unwrap();
            after.launch(&free("free").postprocess(note(count))).err()
        },
        |top, until, count| {
            let inner = until.slow().postprocess(note(count));
            let outer = inner.around(inner.map().clone(), |inner, data, scope| {
                inner.run(data, scope)
            });
            top.launch(&outer).err()
        },
        |top, until, count| {
            let launcher: &dyn Launcher<Numbers, PureDp> = top;
            launcher
                .launch(&until.slow().postprocess(note(count)))
                .err()
        },
        |top, until, count| {
            top.any()
                .launch(&until.slow().postprocess(note(count)))
                .err()
        },
        |top, until, count| {
            let part = top.partition(|_| 0).unwrap().part(0).unwrap();
            part.launch(&until.slow().postprocess(note(count))).err()
        },
    ];
    for (number, attack) in attacks.into_iter().enumerate() {
        let ((watch, top), count) = (watched(), Count::default());
        during_a_failure(top, watch, |top, until| {
            assert_eq!(attack(top, until, &count), Some(STOPPED), "{number}");
        });
        assert_eq!(noted(&count), 0, "attack {number}");
    }
}

#[test]
fn converted_and_composed_post_processing_does_not_run_after_a_failure() {
    let watch = Watch::new();
    let approx = Odometer::new(records(), measures::Basic::new(ApproxDp)).watched(&watch);
    let approx = approx
        .filter(1, "(0, 0)")
        .unwrap()
        .invoke(vec![31])
        .unwrap();
    let top = approx.nest_in(BASIC, PureToApprox).unwrap();
    let count = Count::default();
    during_a_failure(top, watch, |_, until| {
        let converted = until.slow().postprocess(note(&count)).convert(PureToApprox);
        assert_eq!(approx.launch(&converted), Err(STOPPED));
    });
    let (watch, top) = watched();
    let slots = Compositor::new(records(), crate::halting::Free, 1, vec!["0"]);
    let slots = top.launch(&slots.measurement().unwrap()).unwrap();
    during_a_failure(top, watch, |_, until| {
        let launched = slots.launch(&until.slow().postprocess(note(&count)));
        assert_eq!(launched, Err(STOPPED));
    });
    assert_eq!(noted(&count), 0);
}

#[test]
fn a_post_processor_is_not_made_after_a_failure() {
    let ((watch, top), count) = (watched(), Count::default());
    during_a_failure(top, watch, |top, until| {
        let (until, counted) = (until.clone(), Arc::clone(&count));
        let map = PrivacyMap::per_record(PureDp, "0").unwrap();
        let echo = Measurement::new("echo", records(), map, move |_, scope: &mut Scope<'_>| {
            until.failed();
            scope.spawn(machine(|x: u64, _: &mut Scope<'_>| Ok(x)))
        });
        let front = echo.postprocess_with(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            translate(|x: u64| x, |x: u64| x)
        });
        assert_eq!(top.launch(&front).err(), Some(STOPPED));
    });
    assert_eq!(noted(&count), 0);
}

#[test]
fn a_function_does_not_run_on_data_that_were_ready_after_a_failure() {
    let ((watch, top), runs) = (watched(), Count::default());
    during_a_failure(top, watch, |top, until| {
        let slow = (&until.slow_change() >> &counted("0", &runs)).unwrap();
        assert_eq!(top.launch(&slow), Err(STOPPED));
    });
    let (watch, top) = watched();
    during_a_failure(top, watch, |top, until| {
        let after = top.nest_after(&until.slow_change()).unwrap();
        assert_eq!(after.launch(&counted("0", &runs)), Err(STOPPED));
    });
    // Nor does the next link of a chain, nor the key function of a partition.
    let noting = |runs: &Count| {
        let runs = Arc::clone(runs);
        Transformation::new(records(), records(), times(1), move |data: &Vec<i64>| {
            runs.fetch_add(1, Ordering::SeqCst);
            Ok(data.clone())
        })
    };
    let (watch, top) = watched();
    during_a_failure(top, watch, |top, until| {
        let chain = until.slow_change().then(&noting(&runs)).unwrap();
        let launched = top.launch(&(&chain >> &free("free")).unwrap());
        assert_eq!(launched, Err(STOPPED));
    });
    let (watch, top) = watched();
    during_a_failure(top, watch, |top, until| {
        let keyed = Arc::clone(&runs);
        let after = top.nest_after(&until.slow_change()).unwrap();
        let parts = after.partition(move |_| keyed.fetch_add(1, Ordering::SeqCst));
        let part = parts.unwrap().part(0).unwrap();
        assert_eq!(part.launch(&free("free")), Err(STOPPED));
    });
    assert_eq!(noted(&runs), 0);
}

fn on_books(books: &Books, watch: &Watch) -> PureSession {
    let odometer = Odometer::new(records(), BASIC).named("top").watched(watch);
    odometer.filter_on(books, 1, "1", vec![31]).unwrap()
}

/// `launch_all` charges everything before the first runs.
#[test]
fn of_launches_that_are_charged_together_none_runs_after_the_first_failure() {
    let (watch, runs, count) = (Watch::new(), Count::default(), Count::default());
    let session = on_books(&Books::new(Memory::new()), &watch);
    let failing = (&fails_on(31) >> &counted("0.1", &runs)).unwrap();
    let all: Vec<On<PureDp, usize>> = [counted("0.1", &runs), failing, counted("0.1", &runs)]
        .iter()
        .map(|each| each.postprocess(|()| 1).postprocess(note(&count)))
        .collect();
    let answers = session.launch_all(&all);
    assert_eq!(answers, [Ok(1), Err(STOPPED), Err(STOPPED)]);
    assert_eq!((noted(&runs), noted(&count)), (1, 1), "before the failure");
    // All three were charged, and stay so.
    assert_eq!(session.spent().unwrap().unwrap().to_string(), "0.3");
    assert_eq!(watch.failures().len(), 1);
    // Without a ledger, the third is not charged.
    let (_, top) = watched();
    let answers = top.launch_all(&[
        free("one"),
        (&fails_on(31) >> &free("fails")).unwrap(),
        free("two"),
    ]);
    assert_eq!(answers, [Ok(3), Err(STOPPED), Err(REFUSED)]);
}

#[test]
fn post_processing_of_filters_on_a_ledger_does_not_run_after_a_failure() {
    let (watch, count) = (Watch::new(), Count::default());
    let top = on_books(&Books::new(Memory::new()), &watch);
    let filter = |name: &'static str| {
        let filter = Odometer::new(records(), BASIC).named(name).filter(1, "0.5");
        let counted = Arc::clone(&count);
        filter.unwrap().postprocess(move |_: PureSession| {
            counted.fetch_add(1, Ordering::SeqCst);
        })
    };
    let fails = (&fails_on(31) >> &free("fails")).unwrap();
    let all = [filter("one"), fails.postprocess(drop), filter("two")];
    let answers = top.launch_all(&all);
    assert_eq!(answers, [Ok(()), Err(STOPPED), Err(STOPPED)]);
    assert_eq!(noted(&count), 1, "before the failure");
}

/// Inside another measurement's function, the flag is read before every run and before every post-processing.
#[test]
fn inside_of_a_function_nothing_runs_after_a_failure() {
    let (_, top) = watched();
    let (runs, count) = (Count::default(), Count::default());
    let fails = (&fails_on(31) >> &free("fails")).unwrap();
    let later = counted("0", &runs)
        .postprocess(|()| 1)
        .postprocess(note(&count));
    let outer = fails.around(fails.map().clone(), move |fails, data, scope| {
        assert_eq!(fails.run(data, scope), Err(AskError::Halted));
        assert_eq!(later.run(data, scope), Err(AskError::Halted));
        Ok(())
    });
    assert_eq!(top.launch(&outer), Err(STOPPED));
    assert_eq!((noted(&runs), noted(&count)), (0, 0));
}

/// A machine that was handed out before runs nothing after a failure, and answers the same whether its own transformation fails
/// or not.
#[test]
fn machines_that_were_handed_out_run_nothing_after_a_failure() {
    let ((_, top), runs) = (watched(), Count::default());
    let asks = |measurement: On<PureDp, ()>| {
        measurement.around(measurement.map().clone(), |inner, data, scope| {
            let (inner, data) = (inner.clone(), Arc::clone(data));
            scope.spawn(machine(move |(), scope: &mut Scope<'_>| {
                inner.run(&data, scope)
            }))
        })
    };
    let machines: Vec<Queryable<(), ()>> = [31, 3, 7, 41]
        .map(|value| top.launch(&asks((&fails_on(value) >> &counted("0", &runs)).unwrap())))
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(machines[2].ask(()), Ok(()), "before the failure");
    for machine in &machines {
        assert_eq!(machine.ask(()), Err(AskError::Halted));
    }
    assert_eq!(noted(&runs), 1);
    // Nor does one that was under way.
    let (watch, top) = watched();
    during_a_failure(top, watch, |top, until| {
        let machine = top.launch(&asks(until.slow().postprocess(drop))).unwrap();
        assert_eq!(machine.ask(()), Err(AskError::Halted));
    });
}

#[test]
fn post_processing_runs_as_the_analysts_code() {
    let echo = Root::seeded([1; 32])
        .spawn(machine(|x: usize, _: &mut Scope<'_>| Ok(x)))
        .unwrap();
    let asks = free("free").postprocess(move |answer| (inside_step(), echo.ask(answer)));
    assert_eq!(asks.invoke(vec![1, 2]), Ok((false, Ok(2))));
    let session = open();
    assert_eq!(session.launch(&asks), Ok((false, Ok(3))));
    // Its panic is an answer of a launch that was charged; nothing stops.
    let panics = pure("0.1").postprocess(|()| -> () { panic!("an analyst was careless") });
    let panicked = Err(LaunchError::Failed(AskError::Panicked));
    assert_eq!(session.launch(&panics), panicked);
    assert_eq!(session.launch(&panics.postprocess(|()| ())), panicked);
    assert_eq!(panics.invoke(vec![]), panicked);
    assert_eq!(session.launch(&pure("0.1")), Ok(()));
    assert_eq!(spent(&session, 1).to_string(), "0.3");
    // What the panic carries asks nothing, and its own panic is caught.
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    let bomb = pure("0").postprocess(|()| -> () { std::panic::panic_any(Bomb) });
    assert_eq!(session.launch(&bomb), panicked);
}

/// A post-processor that tries to stop what it stands in front of.
struct Stopper {
    always_fails: On<PureDp, usize>,
    through_a_child: bool,
}

impl PostProcessor for Stopper {
    type Query = u64;
    type Answer = u64;
    type InnerQuery = u64;
    type InnerAnswer = u64;

    fn step(
        &mut self,
        message: Received<Self>,
        scope: &mut Scope<'_>,
    ) -> Result<Sent<Self>, AskError> {
        let query = match message {
            Side::Left(query) => query,
            Side::Right(answer) => return answer.map(Side::Left),
        };
        let fails = self.always_fails.clone();
        let (data, error) = (Arc::new(vec![]), AskError::failed("a text of its choice"));
        let failed = match self.through_a_child {
            false => fails.run(&data, scope),
            true => {
                let root = scope.root()?;
                let in_root = root.run([], |scope| fails.run(&Arc::new(vec![]), scope));
                assert_eq!(in_root, Err(error.clone()));
                let child =
                    machine(move |(), scope: &mut Scope<'_>| fails.run(&Arc::new(vec![]), scope));
                scope.spawn(child)?.ask(())
            }
        };
        assert_eq!(failed, Err(error), "its own failure is its own");
        Ok(Side::Right(query))
    }
}

fn always_fails() -> On<PureDp, usize> {
    let fails = Transformation::new(records(), records(), times(1), |_: &Vec<i64>| {
        Err(AskError::failed("a text of its choice"))
    });
    (&fails.named("a name of its choice") >> &free("free")).unwrap()
}

#[test]
fn a_post_processor_stops_nothing() {
    for through_a_child in [false, true] {
        let (watch, top) = watched();
        let stopper = move || Stopper {
            always_fails: always_fails(),
            through_a_child,
        };
        // By the measurement, in a root that a machine has handed out, and inside a function.
        let adder = interactive(&pure("0"));
        let front = top.launch(&adder.postprocess_with(stopper)).unwrap();
        assert_eq!(front.ask(5), Ok(5));
        let map = PrivacyMap::per_record(PureDp, "0").unwrap();
        let hands_out = Measurement::new("hands out", records(), map.clone(), {
            let adder = adder.clone();
            move |data, scope| Ok((scope.root()?, adder.run(data, scope)?))
        });
        let (root, inner) = top.launch(&hands_out).unwrap();
        assert_eq!(root.postprocess(&inner, stopper()).unwrap().ask(5), Ok(5));
        let inside = Measurement::new("inside", records(), map, move |data, scope| {
            adder.postprocess_with(stopper).run(data, scope)
        });
        assert_eq!(top.launch(&inside).unwrap().ask(5), Ok(5));
        assert!(watch.failures().is_empty());
        assert_eq!(top.launch(&free("later")), Ok(3));
    }
}

/// A launch that is stopped means that the operator can read why.
#[test]
fn a_stopped_launch_finds_the_failure_in_the_watch() {
    for _ in 0..2_000 {
        let (watch, top) = watched();
        let begun = Barrier::new(2);
        thread::scope(|threads| {
            threads.spawn(|| {
                let fails = (&fails_on(31) >> &free("fails")).unwrap();
                begun.wait();
                assert_eq!(top.launch(&fails), Err(STOPPED));
            });
            let launched = free("free");
            begun.wait();
            while top.launch(&launched).is_ok() {}
            assert_eq!(watch.failures().len(), 1);
        });
    }
}

/// A post-processor that a launch's own step builds may hold data, so its failures are recorded.
#[test]
fn a_post_processor_that_a_step_builds_hides_no_failure() {
    struct OnData(On<PureDp, usize>, Arc<Vec<i64>>);

    impl PostProcessor for OnData {
        type Query = ();
        type Answer = bool;
        type InnerQuery = u64;
        type InnerAnswer = u64;

        fn step(
            &mut self,
            _: Received<Self>,
            scope: &mut Scope<'_>,
        ) -> Result<Sent<Self>, AskError> {
            Ok(Side::Left(self.0.run(&self.1, scope).is_ok()))
        }
    }
    let on_data = |fails: On<PureDp, usize>| {
        let map = PrivacyMap::per_record(PureDp, "0").unwrap();
        Measurement::new("on data", records(), map, move |data, scope| {
            let inner = scope.spawn(machine(|x: u64, _: &mut Scope<'_>| Ok(x)))?;
            scope.postprocess(&inner, OnData(fails.clone(), Arc::clone(data)))
        })
    };
    let (watch, top) = watched();
    let works = top.launch(&on_data(free("works"))).unwrap();
    let fails = (&fails_on(31) >> &free("fails")).unwrap();
    let fails = top.launch(&on_data(fails)).unwrap();
    assert_eq!((works.ask(()), fails.ask(())), (Ok(true), Ok(false)));
    assert_eq!(watch.failures().len(), 1);
    assert_eq!(works.ask(()), Ok(false));
    assert_eq!(top.launch(&free("later")), Err(REFUSED));
}

/// A measurement's function stops things by a transformation that fails, and by nothing else: not by its own errors, nor by
/// a root that hides the record from the data that are opened below it.
#[test]
fn a_measurements_function_stops_things_only_by_a_transformation_that_fails() {
    let (watch, top) = watched();
    assert!(top.launch(&failing("0")).is_err());
    assert!(watch.failures().is_empty());
    let map = PrivacyMap::per_record(PureDp, "0").unwrap();
    let hides = Measurement::new("hides", records(), map, |data, scope| {
        let root = scope.root()?.branch_carrying("another value")?;
        let opened = Odometer::new(records(), BASIC).open_in(&root.branch()?, Arc::clone(data));
        opened.map_err(|error| AskError::failed(error.to_string()))
    });
    let opened: Session<_, _> = top.launch(&hides).unwrap();
    assert_eq!(opened.launch(&always_fails()), Err(STOPPED));
    assert_eq!(watch.failures()[0].by, "a name of its choice");
    assert_eq!(top.launch(&free("later")), Err(REFUSED));
}
