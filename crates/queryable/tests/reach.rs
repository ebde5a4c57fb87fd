//! Who may ask whom: a step asks only what is below its machine. Every way around it that we could think of.

use std::sync::{Arc, Mutex};

use crate::common::{adder, adding, echo, root};
use queryable::{
    AskError, Machine, PostProcessor, Queryable, Received, Root, Scope, Sent, Side, inside_step,
    machine, once, translate,
};

const SECRET: u64 = 42;

type Echo = Queryable<Option<u64>, u64>;
type Refusal = Result<u64, AskError>;

/// Refused, and the echo has heard nothing.
fn assert_refused(outcome: Refusal, echo: &Echo) {
    assert_eq!(outcome, Err(AskError::NotSpawnedHere));
    assert_eq!(echo.ask(None), Ok(0), "the secret got out");
}

#[test]
fn a_machine_cannot_tell_a_sibling() {
    let root = root();
    let echo = echo(&root);
    let friend = echo.clone();
    let teller = root
        .spawn(machine(move |(), _| friend.ask(Some(SECRET))))
        .unwrap();
    assert_refused(teller.ask(()), &echo);
}

#[test]
fn not_through_a_handle_in_the_query() {
    let root = root();
    let echo = echo(&root);
    let teller = root
        .spawn(machine(|friend: Echo, _| friend.ask(Some(SECRET))))
        .unwrap();
    assert_refused(teller.ask(echo.clone()), &echo);
    // Nor may it end the other's conversation: that is a message, too.
    let killer = root
        .spawn(machine(|friend: Echo, _| friend.halt().map(|()| 0)))
        .unwrap();
    assert_refused(killer.ask(echo.clone()), &echo);
}

#[test]
fn not_through_a_post_processor() {
    let root = root();
    let echo = echo(&root);
    let proxy = root
        .postprocess(&echo, translate(|x: u64| Some(x), |x: u64| x))
        .unwrap();
    let captured = proxy.clone();
    let teller = root
        .spawn(machine(move |(), _| captured.ask(SECRET)))
        .unwrap();
    assert_refused(teller.ask(()), &echo);
    // A processor built inside the step, in the step's own scope, on a stranger.
    let teller = root
        .spawn(machine(|friend: Echo, scope: &mut Scope<'_>| {
            scope
                .postprocess(&friend, translate(|x: u64| Some(x), |x: u64| x))?
                .ask(SECRET)
        }))
        .unwrap();
    assert_refused(teller.ask(echo.clone()), &echo);
}

#[test]
fn a_post_processor_asks_only_its_inner_machine() {
    struct Tells(Echo);
    impl PostProcessor for Tells {
        type Query = u64;
        type Answer = u64;
        type InnerQuery = u64;
        type InnerAnswer = u64;
        fn step(
            &mut self,
            message: Received<Self>,
            _: &mut Scope<'_>,
        ) -> Result<Sent<Self>, AskError> {
            match message {
                Side::Left(query) => Ok(Side::Right(query)),
                Side::Right(answer) => self.0.ask(Some(answer?)).map(Side::Left),
            }
        }
    }
    let root = root();
    let echo = echo(&root);
    let p = root
        .postprocess(&adder(&root), Tells(echo.clone()))
        .unwrap();
    assert_refused(p.ask(SECRET), &echo);
}

#[test]
fn not_through_a_captured_root() {
    let root = root();
    let echo = echo(&root);
    type Attack = fn(&Root, &Echo) -> Refusal;
    let attacks: [Attack; 6] = [
        |root, echo| {
            let echo = echo.clone();
            root.spawn(once(move |(), _| echo.ask(Some(SECRET))))?
                .ask(())
        },
        |root, echo| {
            let echo = echo.clone();
            root.spawn_in_turn(once(move |(), _| echo.ask(Some(SECRET))))?
                .ask(())
        },
        |root, echo| root.run([], |_| echo.ask(Some(SECRET))),
        |root, echo| root.branch()?.run([], |_| echo.ask(Some(SECRET))),
        |root, echo| {
            root.postprocess(echo, translate(|x: u64| Some(x), |x: u64| x))?
                .ask(SECRET)
        },
        |root, echo| {
            let teller = machine(|_, _: &mut Scope<'_>| Ok(queryable::Move::Ask(Some(SECRET))));
            root.interact(teller, echo, 1).map(|_| 0)
        },
    ];
    for attack in attacks {
        let (captured, friend) = (root.clone(), echo.clone());
        let teller = root
            .spawn(machine(move |(), _| attack(&captured, &friend)))
            .unwrap();
        assert_refused(teller.ask(()), &echo);
        // A root that the step makes for itself is nobody's, and no better.
        let friend = echo.clone();
        let teller = root
            .spawn(machine(move |(), _| {
                attack(&Root::seeded([0; 32]), &friend)
            }))
            .unwrap();
        assert_refused(teller.ask(()), &echo);
    }
    let maker = root
        .spawn(machine(|(), _| Root::from_os().map(|_| 0)))
        .unwrap();
    assert_refused(maker.ask(()), &echo);
}

#[test]
fn not_from_a_function_under_run() {
    let root = root();
    let echo = echo(&root);
    assert_refused(root.run([], |_| echo.ask(Some(SECRET))), &echo);
    let captured = root.clone();
    assert_refused(
        root.run([], |_| captured.run([], |_| echo.ask(Some(SECRET)))),
        &echo,
    );
    // A machine that the function spawns is no better off.
    let teller = root
        .run([], |scope| {
            let friend = echo.clone();
            scope.spawn(machine(move |(), _| friend.ask(Some(SECRET))))
        })
        .unwrap();
    assert_refused(teller.ask(()), &echo);
}

#[test]
fn not_from_a_root_of_its_own() {
    let root = root();
    let echo = echo(&root);
    let friend = echo.clone();
    let teller = root
        .spawn(machine(move |(), scope: &mut Scope<'_>| {
            let own = scope.root()?;
            let asked = friend.clone();
            let child = own.spawn(machine(move |(), _| asked.ask(Some(SECRET))))?;
            let refused = [
                own.run([], |_| friend.ask(Some(SECRET))),
                own.postprocess(&friend, translate(|x: u64| Some(x), |x: u64| x))
                    .and_then(|proxy| proxy.ask(SECRET)),
                child.ask(()),
            ];
            assert!(refused.iter().all(|r| *r == Err(AskError::NotSpawnedHere)));
            refused[0].clone()
        }))
        .unwrap();
    assert_refused(teller.ask(()), &echo);
}

/// Gives its root away, then asks whatever it is handed.
enum Said {
    Open,
    Tell(Queryable<u64, u64>),
}
enum Reply {
    Root(Root),
    Heard(Refusal),
}

fn generous() -> impl Machine<Query = Said, Answer = Reply> {
    machine(|said: Said, scope: &mut Scope<'_>| match said {
        Said::Open => scope.root().map(Reply::Root),
        Said::Tell(friend) => Ok(Reply::Heard(friend.ask(SECRET))),
    })
}

fn open(machine: &Queryable<Said, Reply>) -> Root {
    let Ok(Reply::Root(root)) = machine.ask(Said::Open) else {
        panic!("no root");
    };
    root
}

#[test]
fn a_root_given_away_does_not_reach_strangers() {
    // The analyst puts a post-processor below the machine, on a stranger; the machine may ask what is below it.
    let root = root();
    let echo = echo(&root);
    let teller = root.spawn(generous()).unwrap();
    let below = open(&teller);
    let proxy = below.postprocess(&echo, translate(|x: u64| Some(x), |x: u64| x));
    assert_refused(proxy.map(|_| 0), &echo);
    // On a stranger's machine two levels down, too.
    let other = open(&root.spawn(generous()).unwrap());
    let proxy = below.postprocess(&adder(&other), translate(|x: u64| x, |x: u64| x));
    assert_refused(proxy.map(|_| 0), &echo);
    // On what is below the machine it may stand.
    let child = adder(&below);
    let proxy = below
        .postprocess(&child, translate(|x: u64| x, |x: u64| x))
        .unwrap();
    let Ok(Reply::Heard(heard)) = teller.ask(Said::Tell(proxy)) else {
        panic!("not answered");
    };
    assert_eq!(heard, Ok(SECRET));
}

#[test]
fn a_root_given_away_makes_no_circle_of_locks() {
    // The processor would stand below the machine and in front of it: the machine asks itself and waits for ever.
    let root = root();
    let teller: Queryable<Said, Reply> = root.spawn(generous()).unwrap();
    let below = open(&teller);
    let swap = translate(
        |x: u64| Said::Tell(adder(&Root::seeded([x as u8; 32]))),
        |_: Reply| 0,
    );
    let circle = below.postprocess(&teller, swap);
    assert_eq!(circle.unwrap_err(), AskError::NotSpawnedHere);
}

#[test]
fn destructors_ask_nobody() {
    struct Tells {
        friend: Echo,
        root: Root,
        heard: Arc<Mutex<Vec<Refusal>>>,
    }
    impl Drop for Tells {
        fn drop(&mut self) {
            let inside = u64::from(inside_step());
            let told = [
                self.friend.ask(Some(SECRET)),
                self.root.run([], |_| Ok(SECRET)),
                self.root.spawn(adding()).map(|_| 0),
                Root::from_os().map(|_| 0),
                Ok(inside),
            ];
            self.heard.lock().unwrap().extend(told);
        }
    }
    impl Machine for Tells {
        type Query = ();
        type Answer = u64;
        fn step(&mut self, (): (), _: &mut Scope<'_>) -> Refusal {
            Ok(0)
        }
    }
    let root = root();
    let echo = echo(&root);
    let heard = Arc::default();
    let tells = |heard: &Arc<_>| Tells {
        friend: echo.clone(),
        root: root.clone(),
        heard: Arc::clone(heard),
    };
    let refused = || Err(AskError::NotSpawnedHere);
    let expected = [refused(), refused(), refused(), refused(), Ok(1)];

    // The analyst drops the last handle.
    drop(root.spawn(tells(&heard)).unwrap());
    assert_eq!(*heard.lock().unwrap(), expected);
    // A machine's state holds it, and a state in turn that one.
    heard.lock().unwrap().clear();
    let inner = root.spawn(tells(&heard)).unwrap();
    let middle = root
        .spawn(machine(move |(), _: &mut Scope<'_>| inner.ask(())))
        .unwrap();
    drop(
        root.spawn(machine(move |(), _: &mut Scope<'_>| middle.ask(())))
            .unwrap(),
    );
    assert_eq!(*heard.lock().unwrap(), expected);
    assert_eq!(echo.ask(None), Ok(0), "the secret got out");
    assert!(!inside_step(), "the analyst is the analyst again");
    assert_eq!(echo.ask(Some(1)), Ok(1));
}

#[test]
fn a_machine_cannot_ask_itself_or_its_ancestors() {
    type Own = Queryable<u64, u64>;
    let root = root();
    // Directly, by a handle that it is given of itself.
    let slot: Arc<Mutex<Option<Own>>> = Arc::default();
    let own = Arc::clone(&slot);
    let narcissus = root
        .spawn(machine(move |x: u64, _| {
            let own = own.lock().unwrap().clone();
            own.map_or(Ok(x), |own| own.ask(x))
        }))
        .unwrap();
    assert_eq!(narcissus.ask(1), Ok(1));
    *slot.lock().unwrap() = Some(narcissus.clone());
    assert_eq!(narcissus.ask(1), Err(AskError::NotSpawnedHere));
    assert_eq!(
        narcissus.ask(1),
        Err(AskError::NotSpawnedHere),
        "and it lives"
    );
    *slot.lock().unwrap() = None;
    assert_eq!(narcissus.ask(1), Ok(1));

    // Through its child, and through a processor on its child; the error comes back as an answer, nobody is stuck.
    let slot: Arc<Mutex<Option<Own>>> = Arc::default();
    let own = Arc::clone(&slot);
    let parent = root
        .spawn(machine(
            move |through_processor: u64, scope: &mut Scope<'_>| {
                let up = own.lock().unwrap().clone();
                let child = scope.spawn(machine(move |x: u64, _| {
                    up.as_ref().map_or(Ok(x), |up| up.ask(x))
                }))?;
                if through_processor == 0 {
                    return child.ask(7);
                }
                scope
                    .postprocess(&child, translate(|x: u64| x, |x: u64| x))?
                    .ask(7)
            },
        ))
        .unwrap();
    assert_eq!((parent.ask(0), parent.ask(1)), (Ok(7), Ok(7)));
    *slot.lock().unwrap() = Some(parent.clone());
    for through_processor in [0, 1] {
        assert_eq!(parent.ask(through_processor), Err(AskError::NotSpawnedHere));
    }
    *slot.lock().unwrap() = None;
}

#[test]
fn a_child_cannot_ask_its_sibling_or_niece() {
    let root = root();
    let parent: Queryable<(), (Echo, Queryable<Echo, u64>)> = root
        .spawn(machine(|(), scope: &mut Scope<'_>| {
            let mut heard = 0;
            let echo = scope.spawn(machine(move |said: Option<u64>, _| {
                heard = said.unwrap_or(heard);
                Ok(heard)
            }))?;
            let teller = scope.spawn(machine(|friend: Echo, _| friend.ask(Some(SECRET))))?;
            Ok((echo, teller))
        }))
        .unwrap();
    let (echo, teller) = parent.ask(()).unwrap();
    assert_refused(teller.ask(echo.clone()), &echo);
    // The same machine's children of two steps are siblings, too.
    let (younger, _) = parent.ask(()).unwrap();
    assert_refused(teller.ask(younger.clone()), &younger);
}

#[test]
fn a_step_asks_what_is_below_it_at_any_depth_and_in_later_steps() {
    let root = root();
    let mut kept: Option<Queryable<u64, u64>> = None;
    let mut nursery: Option<Root> = None;
    let parent = root
        .spawn(machine(move |x: u64, scope: &mut Scope<'_>| {
            if let Some(grandchild) = &kept {
                let sum = grandchild.ask(x)?;
                let own = nursery.as_ref().ok_or(AskError::Halted)?;
                return Ok(sum
                    + own.run([], |scope| scope.spawn(adding())?.ask(x))?
                    + adder(own).ask(x)?);
            }
            let child: Queryable<(), Queryable<u64, u64>> =
                scope.spawn(once(|(), scope: &mut Scope<'_>| scope.spawn(adding())))?;
            kept = Some(child.ask(())?);
            nursery = Some(scope.root()?);
            Ok(0)
        }))
        .unwrap();
    assert_eq!(
        (parent.ask(1), parent.ask(1), parent.ask(5)),
        (Ok(0), Ok(3), Ok(16))
    );
}

#[test]
fn inside_step_says_which_side_is_running() {
    let root = root();
    assert!(!inside_step());
    let q = root.spawn(machine(|(), _| Ok(inside_step()))).unwrap();
    assert_eq!(q.ask(()), Ok(true));
    assert_eq!(root.run([], |_| Ok(inside_step())), Ok(true));
    assert_eq!(
        root.run([], |_| -> Result<(), _> { panic!("oh") }),
        Err(AskError::Panicked)
    );
    assert!(!inside_step());
}
