//! Finite communication: a launch, with everything it spawns, answers at most as many messages as it may.

use std::thread;

use crate::common::{adding, root};
use proptest::prelude::*;
use queryable::{
    AskError, PostProcessor, Queryable, Received, Root, Scope, Sent, Side, machine, translate,
};

const fn over(limit: u64) -> AskError {
    AskError::TooManyMessages { limit }
}

/// A machine that spawns others like it, hands out roots, fails and halts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Ping,
    Fail,
    Spawn,
    SpawnInTurn,
    SpawnFew,
    Root,
    /// One message for this machine; a child is asked within the step for free.
    Inside,
}

const OPS: [Op; 7] = [
    Op::Ping,
    Op::Fail,
    Op::Spawn,
    Op::SpawnInTurn,
    Op::SpawnFew,
    Op::Root,
    Op::Inside,
];

enum Reply {
    Pong,
    Child(Node),
    Root(Root),
}

type Node = Queryable<Op, Reply>;

/// How many messages a child answers that is spawned with a limit of its own.
const FEW: u64 = 3;

fn node() -> impl queryable::Machine<Query = Op, Answer = Reply> {
    machine(|op: Op, scope: &mut Scope<'_>| match op {
        Op::Ping => Ok(Reply::Pong),
        Op::Fail => Err(AskError::failed("as told")),
        Op::Spawn => scope.spawn(node()).map(Reply::Child),
        Op::SpawnInTurn => scope.spawn_in_turn(node()).map(Reply::Child),
        Op::SpawnFew => scope.spawn_answering_at_most(FEW, node()).map(Reply::Child),
        Op::Root => scope.root().map(Reply::Root),
        Op::Inside => {
            let child = scope.spawn(node())?;
            (0..5).try_for_each(|_| child.ask(Op::Ping).map(drop))?;
            child.ask(Op::Ping)
        }
    })
}

#[test]
fn one_machine_answers_exactly_so_often() {
    for limit in 0..40 {
        let q = root()
            .run_answering_at_most(limit, [], |scope| scope.spawn(adding()))
            .unwrap();
        for answered in 1..=limit {
            assert_eq!(q.ask(1), Ok(answered));
        }
        for _ in 0..3 {
            assert_eq!(q.ask(1), Err(over(limit)));
        }
    }
}

#[test]
fn without_a_limit_there_is_none() {
    let q = root().run([], |scope| scope.spawn(adding())).unwrap();
    assert!((0..5000).all(|_| q.ask(1).is_ok()));
}

#[test]
fn all_that_a_launch_spawns_shares_its_messages_and_another_launch_has_its_own() {
    let root = root();
    let launch = || {
        root.run_answering_at_most(4, [], |scope| {
            Ok([scope.spawn(adding())?, scope.spawn(adding())?])
        })
    };
    let ([a, b], [other, _]) = (launch().unwrap(), launch().unwrap());
    assert_eq!((a.ask(1), b.ask(1)), (Ok(1), Ok(1)));
    assert_eq!((b.ask(1), b.ask(1)), (Ok(2), Ok(3)));
    assert_eq!((a.ask(1), b.ask(1)), (Err(over(4)), Err(over(4))));
    assert_eq!(other.ask(1), Ok(1));
}

#[test]
fn errors_and_panics_are_answers_and_refusals_are_not() {
    let root = root();
    let [failing, panicking, halted, last] = root
        .run_answering_at_most(3, [], |scope| {
            Ok([
                scope.spawn(machine(|_: u64, _| {
                    Err::<u64, _>(AskError::failed("as told"))
                }))?,
                scope.spawn(machine(|_: u64, _: &mut Scope<'_>| {
                    std::panic::panic_any(())
                }))?,
                scope.spawn(adding())?,
                scope.spawn(adding())?,
            ])
        })
        .unwrap();
    halted.halt().unwrap();
    for _ in 0..10 {
        assert_eq!(halted.ask(1), Err(AskError::Halted));
    }
    assert_eq!(failing.ask(1), Err(AskError::failed("as told")));
    assert_eq!(panicking.ask(1), Err(AskError::Panicked));
    assert_eq!(panicking.ask(1), Err(AskError::Panicked)); // it has halted: no message
    assert_eq!(last.ask(1), Ok(1));
    assert_eq!(last.ask(1), Err(over(3)));
}

#[test]
fn what_is_out_of_turn_is_not_counted() {
    let root = root();
    let parent = root
        .run_answering_at_most(4, [], |scope| scope.spawn(node()))
        .unwrap();
    let Ok(Reply::Child(older)) = parent.ask(Op::SpawnInTurn) else {
        panic!("a child")
    };
    let Ok(Reply::Child(newer)) = parent.ask(Op::SpawnInTurn) else {
        panic!("a child")
    };
    for _ in 0..10 {
        assert_eq!(older.ask(Op::Ping).err(), Some(AskError::OutOfTurn));
    }
    assert!(newer.ask(Op::Ping).is_ok() && newer.ask(Op::Ping).is_ok());
    assert_eq!(newer.ask(Op::Ping).err(), Some(over(4)));
}

#[test]
fn a_root_that_is_handed_out_brings_no_new_messages() {
    let inner = root()
        .run_answering_at_most(3, [], |scope| scope.root())
        .unwrap();
    let q = inner.spawn(adding()).unwrap();
    let front = inner
        .postprocess(&q, translate(|x: u64| x, |x: u64| x))
        .unwrap();
    // The post-processor stands inside as well: two messages.
    assert_eq!(front.ask(1), Ok(1));
    inner.check_runs().unwrap();
    assert_eq!(inner.run([], |_| Ok(1)), Ok(1));
    assert_eq!(inner.check_runs(), Err(over(3)));
    inner.check().unwrap();
    assert_eq!(inner.run([], |_| Ok(1)), Err(over(3)));
    let fresh = inner.branch().unwrap().spawn(adding()).unwrap();
    assert_eq!(fresh.ask(1), Err(over(3)));
    // Outside of the launch, who post-processes pays nothing.
    assert_eq!(q.ask(1), Err(over(3)));
}

/// What a step of the launch asks is free, whatever stands in between; what the analyst asks there is not.
#[test]
fn what_a_launch_asks_inside_is_free() {
    fn deep(depth: u32, scope: &mut Scope<'_>) -> Result<u64, AskError> {
        let own = scope.spawn(adding())?;
        let front = scope.postprocess(&own, translate(|x: u64| x, |x: u64| x))?;
        let root = scope.root()?.branch()?;
        let in_root = root.spawn(adding())?;
        let behind = root.postprocess(&in_root, translate(|x: u64| x, |x: u64| x))?;
        for asked in [&own, &front, &in_root, &behind] {
            (0..50).try_for_each(|_| asked.ask(1).map(drop))?;
        }
        root.check_runs()?;
        root.run([], |_| Ok(()))?;
        if depth == 0 {
            return Ok(0);
        }
        let below = machine(move |depth, scope: &mut Scope<'_>| deep(depth, scope));
        scope.spawn(below)?.ask(depth - 1)
    }
    let (root, other) = root()
        .run_answering_at_most(3, [], |scope| {
            deep(3, scope)?;
            let machine = machine(|depth, scope: &mut Scope<'_>| deep(depth, scope));
            Ok((scope.root()?, scope.spawn(machine)?))
        })
        .unwrap();
    let spawned = root.spawn(machine(|depth, scope: &mut Scope<'_>| deep(depth, scope)));
    let spawned = spawned.unwrap();
    assert_eq!(other.ask(3), Ok(0));
    assert_eq!(spawned.ask(3), Ok(0));
    assert_eq!(root.run([], |scope| deep(3, scope)), Ok(0));
    assert_eq!(other.ask(3), Err(over(3)));
    assert_eq!(spawned.ask(3), Err(over(3)));
    assert_eq!(root.run([], |_| Ok(())), Err(over(3)));
}

/// A launch within a launch: the outer one's code asks the inner one as its analyst.
#[test]
fn an_outer_launch_that_asks_is_counted_by_the_inner_one() {
    let asks = |scope: &mut Scope<'_>| {
        let root = scope.root()?;
        let inner =
            root.run_answering_at_most(4, [], |scope| Ok((scope.root()?, scope.spawn(adding())?)));
        let (inner, adder) = inner?;
        let front = inner.postprocess(&adder, translate(|x: u64| x, |x: u64| x))?;
        assert_eq!(adder.ask(1), Ok(1));
        // In front of the adder, and for the outer launch: two messages.
        assert_eq!(front.ask(1), Ok(2));
        inner.check_runs()?;
        assert_eq!(adder.ask(1), Ok(3));
        assert_eq!(inner.check_runs(), Err(over(4)));
        assert_eq!(front.ask(1), Err(over(4)));
        assert_eq!(adder.ask(1), Err(over(4)));
        let child = scope.spawn_answering_at_most(2, adding())?;
        assert_eq!((child.ask(1), child.ask(1)), (Ok(1), Ok(2)));
        assert_eq!(child.ask(1), Err(over(2)));
        Ok(())
    };
    let outer = root().run_answering_at_most(2, [], |scope| {
        asks(scope)?;
        scope.spawn(machine(move |(), scope: &mut Scope<'_>| asks(scope)))
    });
    let outer = outer.unwrap();
    assert_eq!((outer.ask(()), outer.ask(())), (Ok(()), Ok(())));
    assert_eq!(outer.ask(()), Err(over(2)));
}

/// Asks again and again in one step, until it is refused.
struct Greedy(u64);

impl PostProcessor for Greedy {
    type Query = ();
    type Answer = (u64, AskError);
    type InnerQuery = u64;
    type InnerAnswer = u64;

    fn step(&mut self, message: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        match message {
            Side::Right(Err(error)) => Ok(Side::Left((self.0, error))),
            Side::Right(Ok(answered)) => {
                self.0 = answered;
                Ok(Side::Right(1))
            }
            Side::Left(()) => Ok(Side::Right(1)),
        }
    }
}

#[test]
fn a_post_processor_that_asks_a_thousand_times_ends_at_the_limit() {
    for limit in [1, 7, 900] {
        let root = root();
        let launch = || {
            root.run_answering_at_most(limit, [], |scope| {
                Ok((scope.root()?, scope.spawn(adding())?))
            })
        };
        let (_, adder) = launch().unwrap();
        let front = root.postprocess(&adder, Greedy(0)).unwrap();
        assert_eq!(front.ask(()), Ok((limit, over(limit))));
        // In the root that was handed out, a message to the post-processor itself is one, too.
        let (inside, adder) = launch().unwrap();
        let front = inside.postprocess(&adder, Greedy(0)).unwrap();
        assert_eq!(front.ask(()), Ok((limit - 1, over(limit))));
    }
}

proptest! {
    /// Whatever the analyst asks of whom, the steps that run are counted, and as many run as may, no more: the model counts
    /// them for every limit above the machine.
    #[test]
    fn exactly_as_many_steps_as_may(limit in 0u64..30, asks in prop::collection::vec((any::<prop::sample::Index>(), 0..OPS.len()), 0..60)) {
        let root = root();
        let first = root.run_answering_at_most(limit, [], |scope| scope.spawn(node())).unwrap();
        // What may be asked, with the meters above it, by number.
        let mut nodes: Vec<(Node, Vec<usize>)> = vec![(first, vec![0])];
        let mut left = vec![(limit, limit)];
        let spend = |left: &mut Vec<(u64, u64)>, meters: &[usize]| {
            // The innermost meter is asked first.
            if let Some(meter) = meters.iter().rev().find(|meter| left[**meter].0 == 0) {
                return Err(over(left[*meter].1));
            }
            meters.iter().for_each(|meter| left[*meter].0 -= 1);
            Ok(())
        };
        for (who, op) in asks {
            let (asked, meters) = nodes[who.index(nodes.len())].clone();
            let op = OPS[op];
            let expected = spend(&mut left, &meters);
            let answer = asked.ask(op);
            match (expected, answer) {
                (Err(expected), Err(error)) => prop_assert_eq!(expected, error),
                (Ok(()), Err(error)) => prop_assert_eq!((op, error), (Op::Fail, AskError::failed("as told"))),
                (Ok(()), Ok(reply)) => match reply {
                    Reply::Pong => prop_assert!(matches!(op, Op::Ping | Op::Inside)),
                    Reply::Root(root) => nodes.push((root.spawn(node()).unwrap(), meters)),
                    Reply::Child(child) => {
                        let mut meters = meters;
                        if op == Op::SpawnFew {
                            meters.push(left.len());
                            left.push((FEW, FEW));
                        }
                        // Children in turn end one another: they have tests of their own.
                        if op != Op::SpawnInTurn {
                            nodes.push((child, meters));
                        }
                    }
                },
                (Err(_), Ok(_)) => prop_assert!(false, "answered beyond its limit"),
            }
        }
    }
}

/// Messages are taken in advance, and still there are never more than the limit, whoever asks.
#[test]
fn what_is_taken_in_advance_is_never_too_much_and_little_is_lost() {
    let limit = 100_000;
    let machines = root()
        .run_answering_at_most(limit, [], |scope| {
            (0..8)
                .map(|_| scope.spawn(adding()))
                .collect::<Result<Vec<_>, _>>()
        })
        .unwrap();
    let mut answered = 0;
    // One is asked more often than the others, so that they have taken different amounts.
    let mut open = true;
    while open {
        open = false;
        for (at, machine) in machines.iter().enumerate() {
            for _ in 0..=(at * at * 10) {
                if machine.ask(1).is_ok() {
                    answered += 1;
                    open = true;
                }
            }
        }
    }
    assert_eq!(answered, limit);
}

#[test]
fn threads_share_the_messages_of_a_launch() {
    for limit in [10, 1_000, 50_000] {
        let machines = root()
            .run_answering_at_most(limit, [], |scope| {
                (0..4)
                    .map(|_| scope.spawn(adding()))
                    .collect::<Result<Vec<_>, _>>()
            })
            .unwrap();
        let answered: u64 = thread::scope(|threads| {
            let asking = |machine: &Queryable<u64, u64>| {
                let machine = machine.clone();
                threads.spawn(move || (0..).take_while(|_| machine.ask(1).is_ok()).count() as u64)
            };
            let asking: Vec<_> = machines.iter().map(asking).collect();
            asking
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(answered, limit);
    }
}
