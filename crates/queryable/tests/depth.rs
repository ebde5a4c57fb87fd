//! Deep trees, deep chains: a typed error, and never an overflowing stack. All on threads of 2 MB, in a debug build.

use crate::common::{adder, adding, root};
use queryable::{AskError, MAX_DEPTH, Machine, Queryable, Root, Scope, machine, once, translate};

fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(run).unwrap().join().unwrap();
}

const TOO_DEEP: AskError = AskError::TooDeep { limit: MAX_DEPTH };

/// Asked `n`, spawns a child and asks it `n - 1`, all inside the step; answers how deep it got.
fn recursive() -> impl Machine<Query = u64, Answer = u64> {
    machine(|n: u64, scope: &mut Scope<'_>| match n {
        0 => Ok(0),
        _ => {
            let child: Queryable<u64, u64> =
                scope.spawn(Box::new(recursive()) as Box<dyn Machine<Query = u64, Answer = u64>>)?;
            Ok(child.ask(n - 1)? + 1)
        }
    })
}

#[test]
fn steps_inside_steps() {
    on_a_small_stack(|| {
        let limit = u64::from(MAX_DEPTH);
        assert_eq!(root().spawn(recursive()).unwrap().ask(limit), Ok(limit));
        assert_eq!(
            root().spawn(recursive()).unwrap().ask(limit + 1),
            Err(TOO_DEEP)
        );
        // Refused at the bottom, alive at the top.
        let q = root().spawn(recursive()).unwrap();
        assert_eq!((q.ask(limit + 1), q.ask(3)), (Err(TOO_DEEP), Ok(3)));
    });
}

/// A machine that hands out a child of its own kind, or adds.
enum Reply {
    Sum(u64),
    Child(Link),
}
type Link = Queryable<u64, Reply>;

fn link() -> impl Machine<Query = u64, Answer = Reply> {
    // The parent keeps its child as well, so that the first drop starts the chain.
    let mut kept: Vec<Link> = Vec::new();
    machine(move |x: u64, scope: &mut Scope<'_>| {
        if x > 0 {
            return Ok(Reply::Sum(x));
        }
        let child =
            scope.spawn(Box::new(link()) as Box<dyn Machine<Query = u64, Answer = Reply>>)?;
        kept.push(child.clone());
        Ok(Reply::Child(child))
    })
}

#[test]
fn a_chain_of_spawns_by_the_analyst() {
    on_a_small_stack(|| {
        let first = root().spawn(link()).unwrap();
        let mut last = first.clone();
        for _ in 0..MAX_DEPTH {
            let Ok(Reply::Child(child)) = last.ask(0) else {
                panic!("no child")
            };
            last = child;
        }
        assert_eq!(last.ask(0).err(), Some(TOO_DEEP));
        assert!(matches!(last.ask(3), Ok(Reply::Sum(3))));
        drop(last);
        drop(first);
    });
}

#[test]
fn a_chain_of_post_processors() {
    on_a_small_stack(|| {
        let root = root();
        let next = || translate(|x: u64| x + 1, |x: u64| x);
        let mut outermost = adder(&root);
        for _ in 0..MAX_DEPTH {
            outermost = root.postprocess(&outermost, next()).unwrap();
        }
        assert_eq!(outermost.ask(1), Ok(1 + u64::from(MAX_DEPTH)));
        assert_eq!(root.postprocess(&outermost, next()).unwrap_err(), TOO_DEEP);
        drop(outermost);
    });
}

/// Asked `n`: puts a long chain of processors in front of a child of its own kind and asks through all of them.
fn towers(height: usize) -> impl Machine<Query = u64, Answer = u64> {
    let mut kept = Vec::new();
    machine(move |n: u64, scope: &mut Scope<'_>| {
        if n == 0 {
            return Ok(0);
        }
        let child = Box::new(towers(height)) as Box<dyn Machine<Query = u64, Answer = u64>>;
        let mut front: Queryable<u64, u64> = scope.spawn(child)?;
        for _ in 0..height {
            front = scope.postprocess(&front, translate(|x: u64| x, |x: u64| x))?;
        }
        kept.push(front.clone());
        Ok(front.ask(n - 1)? + 1)
    })
}

#[test]
fn towers_of_processors_at_every_level() {
    // Every place is within the limit, but the asks add up: 40 levels of 40 steps each.
    on_a_small_stack(|| {
        let q = root().spawn(towers(40)).unwrap();
        assert_eq!(q.ask(6), Ok(6));
        let q = root().spawn(towers(40)).unwrap();
        assert_eq!(q.ask(40), Err(TOO_DEEP));
        assert_eq!(q.ask(0), Ok(0), "alive");
        drop(q);
    });
}

#[test]
fn roots_below_roots() {
    on_a_small_stack(|| {
        let mut deepest = root();
        for _ in 0..MAX_DEPTH {
            deepest = deepest.run([], |scope| scope.root()).unwrap();
        }
        assert_eq!(adder(&deepest).ask(1), Ok(1));
        assert_eq!(deepest.run([], |scope| scope.root()).err(), Some(TOO_DEEP));
        assert_eq!(
            deepest.run([], |scope| scope.spawn(adding())).err(),
            Some(TOO_DEEP)
        );
        assert!(deepest.branch().is_ok());
    });
}

#[test]
fn functions_inside_functions() {
    fn nest(root: &Root, levels: u32) -> Result<u32, AskError> {
        root.run([], |scope| match levels {
            0 => Ok(0),
            _ => Ok(nest(&scope.root()?, levels - 1)? + 1),
        })
    }
    on_a_small_stack(|| {
        assert_eq!(nest(&root(), 256), Ok(256));
        assert_eq!(nest(&root(), 257), Err(TOO_DEEP));
    });
}

#[test]
fn a_composition_that_is_too_deep_says_so_every_time() {
    use queryable::compose::{BoxedMachine, ConComp, Routed, Unparsable};
    let mut deepest = root();
    for _ in 0..MAX_DEPTH {
        deepest = deepest.run([], |scope| scope.root()).unwrap();
    }
    let parts: Vec<BoxedMachine<u64, u64>> = vec![Box::new(adding()), Box::new(adding())];
    let q = deepest
        .spawn(ConComp::new(parts, Unparsable::Refuse))
        .unwrap();
    for _ in 0..3 {
        assert_eq!(q.ask(Routed { to: 0, query: 1 }), Err(TOO_DEEP));
    }
}

#[test]
fn a_long_list_of_handles_is_dropped() {
    // Machines that only hold the previous one's handle are not nested, so nothing bounds how many there are.
    on_a_small_stack(|| {
        let root = root();
        let mut last: Queryable<(), u64> = root.spawn(machine(|(), _| Ok(0))).unwrap();
        for _ in 0..100_000 {
            let previous = last;
            last = root
                .spawn(machine(move |(), _| previous.halt().map(|()| 1)))
                .unwrap();
        }
        assert_eq!(last.ask(()), Err(AskError::NotSpawnedHere));
        drop(last);
        // Inside a step, too.
        let dropper = root
            .spawn(once(|(), scope: &mut Scope<'_>| {
                let own = scope.root()?;
                let mut last: Queryable<(), u64> = own.spawn(machine(|(), _| Ok(0)))?;
                for _ in 0..100_000 {
                    let previous = last;
                    last = own.spawn(machine(move |(), _| previous.ask(())))?;
                }
                drop(last);
                adder(&own).ask(1)
            }))
            .unwrap();
        assert_eq!(dropper.ask(()), Ok(1));
    });
}
