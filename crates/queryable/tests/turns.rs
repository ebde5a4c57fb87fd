//! Turns: under sequential composition only the newest child and its descendants answer, at every level. Checked
//! against a reference model that knows nothing of scopes and leases.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use crate::common::{adding, root};
use proptest::prelude::*;
use queryable::{
    AskError, Machine, Outside, Queryable, Root, Scope, Sequence, machine, once, translate,
};

/// Something to do at a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    SpawnInTurn,
    Spawn,
    /// Spawns in turn, then fails: the turn stays.
    SpawnAndFail,
    /// Spawns in turn and asks the child within the step, then fails: the turn has moved.
    SpawnAskFail,
}

const OPS: [Op; 4] = [
    Op::SpawnInTurn,
    Op::Spawn,
    Op::SpawnAndFail,
    Op::SpawnAskFail,
];

enum Query {
    Ping,
    Do(Op),
}

enum Reply {
    Pong,
    Child(Node),
}

type Node = Queryable<Query, Reply>;

fn node() -> impl Machine<Query = Query, Answer = Reply> {
    machine(|query: Query, scope: &mut Scope<'_>| match query {
        Query::Ping => Ok(Reply::Pong),
        Query::Do(Op::Spawn) => scope.spawn(node()).map(Reply::Child),
        Query::Do(Op::SpawnInTurn) => scope.spawn_in_turn(node()).map(Reply::Child),
        Query::Do(Op::SpawnAndFail) => {
            let child = scope.spawn_in_turn(node())?;
            // Asked directly it has no turn yet.
            assert_eq!(child.ask(Query::Ping).err(), Some(AskError::OutOfTurn));
            Err(AskError::failed("as told"))
        }
        Query::Do(Op::SpawnAskFail) => {
            let child = scope.spawn_in_turn(node())?;
            scope.ask(&child, Query::Ping)?;
            Err(AskError::failed("as told"))
        }
    })
}

/// The reference: each machine knows its parent and its number among the children in turn; each keeps whose turn it is.
#[derive(Default)]
struct Model {
    nodes: Vec<Known>,
    root_turn: u32,
}

#[derive(Clone)]
struct Known {
    parent: Option<usize>,
    level: u32,
    turn: Option<u32>,
    current: u32,
}

impl Model {
    fn answers(&self, at: usize) -> bool {
        let node = &self.nodes[at];
        let current = node
            .parent
            .map_or(self.root_turn, |parent| self.nodes[parent].current);
        node.turn.is_none_or(|turn| turn == current)
            && node.parent.is_none_or(|parent| self.answers(parent))
    }

    /// Does `op` below `parent`, if that answers; says whether a child is handed out.
    fn apply(&mut self, parent: Option<usize>, op: Op) -> bool {
        if parent.is_some_and(|parent| !self.answers(parent)) {
            return false;
        }
        let current = match parent {
            Some(parent) => &mut self.nodes[parent].current,
            None => &mut self.root_turn,
        };
        if matches!(op, Op::SpawnInTurn | Op::SpawnAskFail) {
            *current += 1;
        }
        let turn = (op == Op::SpawnInTurn).then_some(*current);
        let handed_out = matches!(op, Op::SpawnInTurn | Op::Spawn);
        if handed_out {
            let level = parent.map_or(1, |parent| self.nodes[parent].level + 1);
            self.nodes.push(Known {
                parent,
                level,
                turn,
                current: 0,
            });
        }
        handed_out
    }
}

/// The machines, and what should be true of them.
struct Pair {
    root: Root,
    nodes: Vec<Node>,
    model: Model,
}

impl Pair {
    fn new() -> Self {
        Self {
            root: root(),
            nodes: Vec::new(),
            model: Model::default(),
        }
    }

    /// Does `op` at a machine (or at the root) and compares. Everything is asked after every operation.
    fn apply(&mut self, at: usize, op: Op) {
        let (child, parent) = match at.checked_sub(1) {
            None if op == Op::Spawn => (Some(self.root.spawn(node()).unwrap()), None),
            None if op == Op::SpawnInTurn => (Some(self.root.spawn_in_turn(node()).unwrap()), None),
            None => return,
            Some(at) => match self.nodes[at].ask(Query::Do(op)) {
                Ok(Reply::Child(child)) => (Some(child), Some(at)),
                _ => (None, Some(at)),
            },
        };
        assert_eq!(
            child.is_some(),
            self.model.apply(parent, op),
            "{op:?} at {at}"
        );
        self.nodes.extend(child);
        for (at, node) in self.nodes.iter().enumerate() {
            let expected = if self.model.answers(at) {
                None
            } else {
                Some(AskError::OutOfTurn)
            };
            assert_eq!(node.ask(Query::Ping).err(), expected, "machine {at}");
        }
    }

    fn may_spawn(&self, at: usize) -> bool {
        at == 0 || self.model.nodes[at - 1].level < 3
    }
}

/// Every sequence of operations on every machine, root included, up to a length: replayed from the start.
fn all_sequences(length: usize, done: &mut Vec<(usize, Op)>, count: &mut usize) {
    let mut pair = Pair::new();
    for &(at, op) in done.iter() {
        pair.apply(at, op);
    }
    *count += 1;
    if done.len() == length {
        return;
    }
    for at in (0..=pair.nodes.len()).filter(|&at| pair.may_spawn(at)) {
        for op in OPS {
            let no_step = at == 0 && matches!(op, Op::SpawnAndFail | Op::SpawnAskFail);
            if !no_step {
                done.push((at, op));
                all_sequences(length, done, count);
                done.pop();
            }
        }
    }
}

#[test]
fn all_interleavings_of_five_operations() {
    let mut count = 0;
    all_sequences(5, &mut Vec::new(), &mut count);
    assert!(count > 10_000, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn long_sequences_three_levels_deep(ops in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4), 1..40)) {
        let mut pair = Pair::new();
        for (at, op) in ops {
            let at = at.index(pair.nodes.len() + 1);
            if pair.may_spawn(at) {
                pair.apply(at, OPS[op]);
            }
        }
    }
}

#[test]
fn an_ask_of_another_child_does_not_move_the_turn() {
    // The step spawns in turn, asks an unrelated child through the scope, and fails: nothing has changed.
    let mut helper: Option<Queryable<u64, u64>> = None;
    let parent = root()
        .spawn(machine(move |fail: bool, scope: &mut Scope<'_>| {
            let helper = match &helper {
                Some(helper) => helper,
                None => helper.insert(scope.spawn(adding())?),
            };
            let child = scope.spawn_in_turn(adding())?;
            scope.ask(helper, 1)?;
            if fail {
                Err(AskError::failed("as told"))
            } else {
                Ok(child)
            }
        }))
        .unwrap();
    let older = parent.ask(false).unwrap();
    assert_eq!(older.ask(1), Ok(1));
    assert!(parent.ask(true).is_err());
    assert_eq!(
        older.ask(1),
        Ok(2),
        "the failed step left the turn where it was"
    );
    let newer = parent.ask(false).unwrap();
    assert_eq!(older.ask(1), Err(AskError::OutOfTurn));
    assert_eq!(newer.ask(1), Ok(1));
}

#[test]
fn a_step_that_panics_leaves_the_turn() {
    let parent = root()
        .spawn(machine(|panics: bool, scope: &mut Scope<'_>| {
            let child = scope.spawn_in_turn(adding())?;
            assert!(!panics, "as told");
            Ok(child)
        }))
        .unwrap();
    let child = parent.ask(false).unwrap();
    assert_eq!(parent.ask(true).unwrap_err(), AskError::Panicked);
    assert_eq!(child.ask(1), Ok(1));
}

#[test]
fn concurrent_children_of_a_sequential_parent_keep_its_turn() {
    let root = root();
    let parents = [(); 2].map(|()| {
        root.spawn_in_turn(machine(|(), scope: &mut Scope<'_>| {
            let child = scope.spawn(adding())?;
            let front = scope.postprocess(&child, translate(|x: u64| x, |x: u64| x))?;
            Ok((child, front, scope.root()?))
        }))
        .unwrap()
    });
    assert_eq!(parents[0].ask(()).err(), Some(AskError::OutOfTurn));
    let (child, front, below) = parents[1].ask(()).unwrap();
    let late = below.spawn(adding()).unwrap();
    let branch = below.branch().unwrap();
    assert_eq!(
        (child.ask(1), front.ask(1), late.ask(1)),
        (Ok(1), Ok(2), Ok(1))
    );
    assert_eq!(below.run([], |_| Ok(1)), Ok(1));

    let _newest = root.spawn_in_turn(adding()).unwrap();
    let out = Err(AskError::OutOfTurn);
    for stale in [&child, &front, &late] {
        assert_eq!(stale.ask(1), out);
    }
    // Roots made below it are no way out.
    for below in [&below, &branch] {
        assert_eq!(
            below.run([], |_| Ok(1)),
            out,
            "a function would read the data out of turn"
        );
        assert_eq!(below.spawn(adding()).unwrap().ask(1), out);
        assert_eq!(below.spawn_in_turn(adding()).unwrap().ask(1), out);
        assert_eq!(below.branch().unwrap().spawn(adding()).unwrap().ask(1), out);
        let analyst =
            once(|_, scope: &mut Scope<'_>| Ok(queryable::Move::Ask(scope.spawn(adding())?)));
        let asks_it = root
            .postprocess(
                &adder_of_handles(&root),
                translate(|q: Queryable<u64, u64>| q, |x: u64| x),
            )
            .unwrap();
        let view = below.interact(analyst, &asks_it, 1).unwrap();
        assert_eq!(
            view.transcript.rounds[0].query.ask(1),
            out,
            "an analyst's children are below, too"
        );
    }
}

/// Takes a handle and answers without asking it.
fn adder_of_handles(root: &Root) -> Queryable<Queryable<u64, u64>, u64> {
    root.spawn(machine(|_: Queryable<u64, u64>, _| Ok(0)))
        .unwrap()
}

#[test]
fn run_lives_under_the_turns_it_is_given() {
    let root = root();
    let (accounts, other) = (Sequence::new(), Sequence::new());
    let turns = || [accounts.begin_next(), other.begin_next()];
    let first = turns();
    let child = root
        .run(first.clone(), |scope| scope.spawn(adding()))
        .unwrap();
    assert_eq!(child.ask(1), Ok(1));
    // Either sequence moving on ends it.
    let _ = other.begin_next();
    assert_eq!(child.ask(1), Err(AskError::OutOfTurn));
    assert_eq!(root.run(first, |_| Ok(1)), Err(AskError::OutOfTurn));
    let second = root.run(turns(), |scope| scope.spawn(adding())).unwrap();
    assert_eq!(second.ask(1), Ok(1));
}

#[test]
fn a_machine_under_very_many_turns_is_asked_and_dropped() {
    let sequences: Vec<Sequence> = (0..200_000).map(|_| Sequence::new()).collect();
    let small_stack = std::thread::Builder::new().stack_size(256 << 10);
    let run = move || {
        let turns = sequences.iter().map(Sequence::begin_next);
        let child = root().run(turns, |scope| scope.spawn(adding())).unwrap();
        assert_eq!(child.ask(1), Ok(1));
        let _ = sequences[77].begin_next();
        assert_eq!(child.ask(1), Err(AskError::OutOfTurn));
    };
    small_stack.spawn(run).unwrap().join().unwrap();
}

/// Somebody outside, who counts what was asked and done.
#[derive(Default)]
struct Gate {
    closed: AtomicBool,
    steps: AtomicUsize,
}

impl Outside for Gate {
    fn within(&self, step: &mut dyn FnMut()) -> Result<(), AskError> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(AskError::OutOfTurn);
        }
        self.steps.fetch_add(1, Ordering::SeqCst);
        step();
        // A second time does nothing.
        step();
        Ok(())
    }
}

#[test]
fn whoever_has_a_say_outside_is_asked_at_every_step_of_everything_below() -> Result<(), AskError> {
    let gate = Arc::new(Gate::default());
    let root = Root::seeded([7; 32]).under(gate.clone())?;
    let nested = machine(|depth: u8, scope: &mut Scope<'_>| {
        let mut count = 0;
        let child = scope.spawn(machine(move |(), _| {
            count += 1;
            Ok(count)
        }))?;
        scope.ask(&child, ())?;
        Ok((depth, child, scope.root()?))
    });
    let parent = root.spawn(nested)?;
    let (_, child, inner) = parent.ask(1)?;
    // The parent's step, and the child's inside of it.
    assert_eq!(gate.steps.load(Ordering::SeqCst), 2);
    let branch = inner.branch()?;
    let late = branch.spawn_in_turn(machine(|x: u8, _| Ok(x)))?;
    let front = branch.postprocess(&child, translate(|()| (), |n: i32| n))?;
    let sequence = Sequence::new();
    let run = || branch.run([sequence.begin_next()], |_| Ok(7));
    assert_eq!((child.ask(()), late.ask(3), run()), (Ok(2), Ok(3), Ok(7)));
    assert_eq!(front.ask(()), Ok(3));

    gate.closed.store(true, Ordering::SeqCst);
    let refused = AskError::OutOfTurn;
    assert_eq!(child.ask(()), Err(refused.clone()));
    assert_eq!(late.ask(3), Err(refused.clone()));
    assert_eq!(front.ask(()), Err(refused.clone()));
    assert_eq!(parent.ask(1).map(drop), Err(refused.clone()));
    assert_eq!(run(), Err(refused.clone()));
    assert_eq!(branch.check(), Err(refused.clone()));
    // In front of it from outside, too.
    let outside = Root::seeded([8; 32]).postprocess(&child, translate(|()| (), |n: i32| n))?;
    assert_eq!(outside.ask(()), Err(refused));
    gate.closed.store(false, Ordering::SeqCst);
    assert_eq!(child.ask(()), Ok(4));
    Ok(())
}

#[test]
fn whoever_has_a_say_outside_is_alone() -> Result<(), AskError> {
    let root = Root::seeded([7; 32]).under(Arc::new(Gate::default()))?;
    let again = root.branch()?.under(Arc::new(Gate::default()));
    assert_eq!(again.map(drop), Err(AskError::TooDeep { limit: 1 }));
    Ok(())
}

/// Says yes, and does nothing.
struct Lazy;

impl Outside for Lazy {
    fn within(&self, _: &mut dyn FnMut()) -> Result<(), AskError> {
        Ok(())
    }
}

#[test]
fn a_step_that_was_not_done_is_not_answered() -> Result<(), AskError> {
    let echo = Root::seeded([7; 32]).under(Arc::new(Lazy))?;
    assert_eq!(echo.check(), Err(AskError::OutOfTurn));
    Ok(())
}
