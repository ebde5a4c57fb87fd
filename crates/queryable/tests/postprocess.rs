//! Post-processors: they may talk several times to either side, they chain, and they end.

use crate::common::{adder, bit, law, root};
use proptest::prelude::*;
use queryable::coins::enumerate;
use queryable::{
    AskError, Chain, PostProcessor, Received, Root, Scope, Sent, Side, machine, translate,
};

/// What a table-driven post-processor does with a message.
#[derive(Clone, Copy, Debug)]
enum Act {
    Answer,
    Ask,
    /// Flip a biased coin: ask or answer.
    Flip,
    Fail,
}

/// Acts by a table, indexed by how many messages it has had; everything it hears goes into what it says. Asks at most
/// `patience` times per query.
#[derive(Clone, Debug)]
struct Table {
    acts: Vec<Act>,
    patience: u32,
    state: u64,
    messages: usize,
    asked: u32,
}

impl Table {
    fn new(acts: Vec<Act>, patience: u32) -> Self {
        Self {
            acts,
            patience,
            state: 1,
            messages: 0,
            asked: 0,
        }
    }

    fn hear(&mut self, message: Received<Self>) {
        let heard = match message {
            Side::Left(query) => {
                self.asked = 0;
                query
            }
            Side::Right(Ok(answer)) => 10 + answer,
            Side::Right(Err(AskError::Halted)) => 3,
            Side::Right(Err(_)) => 4,
        };
        self.state = (self.state * 31 + heard) % 997;
        self.messages += 1;
    }
}

impl PostProcessor for Table {
    type Query = u64;
    type Answer = u64;
    type InnerQuery = u64;
    type InnerAnswer = u64;

    fn step(
        &mut self,
        message: Received<Self>,
        scope: &mut Scope<'_>,
    ) -> Result<Sent<Self>, AskError> {
        self.hear(message);
        let act = self.acts[self.messages % self.acts.len()];
        let ask = match act {
            Act::Answer => false,
            Act::Ask => true,
            Act::Flip => scope.draw(&bit(1, 3))?,
            Act::Fail => return Err(AskError::failed(self.state.to_string())),
        };
        if ask && self.asked < self.patience {
            self.asked += 1;
            return Ok(Side::Right(self.state));
        }
        Ok(Side::Left(self.state))
    }
}

/// Adds a coin to each query, and halts after its fifth answer.
fn noisy(root: &Root) -> queryable::Queryable<u64, u64> {
    let mut answers = 0;
    root.spawn(machine(move |x: u64, scope: &mut Scope<'_>| {
        answers += 1;
        if answers == 5 {
            scope.halt();
        }
        if x.is_multiple_of(7) {
            return Err(AskError::invalid("a multiple of seven"));
        }
        Ok(x + if answers % 2 == 0 {
            u64::from(scope.draw(&bit(1, 4))?)
        } else {
            0
        })
    }))
    .unwrap()
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => Just(Act::Answer),
        5 => Just(Act::Ask),
        2 => Just(Act::Flip),
        1 => Just(Act::Fail),
    ];
    prop::collection::vec(act, 1..5)
}

const QUERIES: [u64; 3] = [1, 2, 5];
type Answers = Vec<Result<u64, AskError>>;

fn ask_all(q: &queryable::Queryable<u64, u64>) -> Answers {
    QUERIES.map(|x| q.ask(x)).to_vec()
}

/// `(P1 ∘ P2) ∘ M`.
fn chained(root: &Root, p1: &Table, p2: &Table) -> Answers {
    let chain = Chain::new(p1.clone(), p2.clone());
    ask_all(&root.postprocess(&noisy(root), chain).unwrap())
}

/// `P1 ∘ (P2 ∘ M)`.
fn nested(root: &Root, p1: &Table, p2: &Table) -> Answers {
    let inner = root.postprocess(&noisy(root), p2.clone()).unwrap();
    ask_all(&root.postprocess(&inner, p1.clone()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// \[HSV25\] Def 2.17: the chain of two has the law of one after the other.
    #[test]
    fn chains_are_associative(a in acts(), b in acts(), patience in 1u32..3) {
        let (p1, p2) = (Table::new(a, patience), Table::new(b, patience));
        let limit = 3_000;
        let left = enumerate(limit, |s| chained(&Root::scripted(s), &p1, &p2));
        prop_assume!(left.is_ok());
        let right = enumerate(limit, |s| nested(&Root::scripted(s), &p1, &p2)).unwrap();
        prop_assert_eq!(left.unwrap().law(), right.law());
    }

    /// Three of them, bracketed both ways.
    #[test]
    fn chains_of_chains_are_associative(a in acts(), b in acts(), c in acts()) {
        let [p1, p2, p3] = [a, b, c].map(|acts| Table::new(acts, 1));
        let run = |root: &Root, left: bool| {
            let m = noisy(root);
            let [p1, p2, p3] = [&p1, &p2, &p3].map(Clone::clone);
            ask_all(&if left {
                root.postprocess(&m, Chain::new(Chain::new(p1, p2), p3)).unwrap()
            } else {
                root.postprocess(&m, Chain::new(p1, Chain::new(p2, p3))).unwrap()
            })
        };
        let left = enumerate(3_000, |s| run(&Root::scripted(s), true));
        prop_assume!(left.is_ok());
        let right = enumerate(3_000, |s| run(&Root::scripted(s), false)).unwrap();
        prop_assert_eq!(left.unwrap().law(), right.law());
    }
}

#[test]
fn a_known_law_through_two_processors_with_coins() {
    // P2 asks M once or twice (a fair coin), P1 asks P2 twice and answers what it heard in all.
    let p1 = Table::new(vec![Act::Ask, Act::Ask, Act::Answer], 2);
    let p2 = Table::new(vec![Act::Ask, Act::Flip], 2);
    let left = law(|root| chained(root, &p1, &p2));
    let right = law(|root| nested(root, &p1, &p2));
    assert!(left.len() > 4, "the coins must matter: {}", left.len());
    assert_eq!(left, right);
}

#[test]
fn an_answer_without_asking() {
    let root = root();
    let inner = adder(&root);
    let p = root
        .postprocess(&inner, Table::new(vec![Act::Answer], 0))
        .unwrap();
    assert!(p.ask(5).is_ok());
    assert_eq!(inner.ask(1), Ok(1), "the inner machine was not asked");
}

/// Asks for ever.
struct Stubborn;

impl PostProcessor for Stubborn {
    type Query = u64;
    type Answer = u64;
    type InnerQuery = u64;
    type InnerAnswer = u64;

    fn step(&mut self, _: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        Ok(Side::Right(1))
    }
}

#[test]
fn the_step_limit_is_exact_and_halts() {
    let root = root();
    let inner = adder(&root);
    let p = root.postprocess_within(10, &inner, Stubborn).unwrap();
    assert_eq!(p.ask(0), Err(AskError::Unanswered { limit: 10 }));
    assert_eq!(p.ask(0), Err(AskError::Halted));
    assert_eq!(
        inner.ask(1),
        Ok(11),
        "ten inner steps, and the inner machine lives"
    );

    // Exactly as many inner steps as allowed are fine, none too.
    let asks_twice = || Table::new(vec![Act::Answer, Act::Ask, Act::Ask], 9);
    assert!(
        root.postprocess_within(2, &inner, asks_twice())
            .unwrap()
            .ask(1)
            .is_ok()
    );
    let within_one = root.postprocess_within(1, &inner, asks_twice()).unwrap();
    assert_eq!(within_one.ask(1), Err(AskError::Unanswered { limit: 1 }));
    let none = root
        .postprocess_within(0, &inner, Table::new(vec![Act::Answer], 0))
        .unwrap();
    assert!(none.ask(1).is_ok());
}

/// Sends everything back: an answer without asking.
struct Mirror;

impl PostProcessor for Mirror {
    type Query = u64;
    type Answer = u64;
    type InnerQuery = u64;
    type InnerAnswer = u64;

    fn step(&mut self, message: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        match message {
            Side::Left(query) => Ok(Side::Left(query)),
            Side::Right(answer) => answer.map(Side::Left),
        }
    }
}

#[test]
fn a_chain_that_only_talks_to_itself_ends() {
    let root = root();
    let inner = adder(&root);
    let p = root
        .postprocess(&inner, Chain::new(Stubborn, Mirror))
        .unwrap();
    assert!(matches!(p.ask(1), Err(AskError::Unanswered { .. })));
    assert_eq!(p.ask(1), Err(AskError::Halted));
    assert_eq!(inner.ask(1), Ok(1));
}

#[test]
fn inner_errors_and_death_are_heard_not_inherited() {
    let root = root();
    let inner = adder(&root);
    let same = root
        .postprocess(&inner, translate(|x: u64| x, |x: u64| x))
        .unwrap();
    assert_eq!(same.ask(0), Err(AskError::invalid("zero")));
    assert_eq!(same.ask(4), Ok(4));
    inner.halt().unwrap();
    assert_eq!(same.ask(4), Err(AskError::Halted));
    // It has not halted itself: a processor that needs no inner machine still answers.
    let hears = root
        .postprocess(&inner, Table::new(vec![Act::Answer, Act::Ask], 1))
        .unwrap();
    assert!(hears.ask(1).is_ok());
    assert!(hears.ask(1).is_ok());
}

#[test]
fn a_panic_in_a_processor_spares_the_inner_machine() {
    let root = root();
    let inner = adder(&root);
    let p = root
        .postprocess(
            &inner,
            translate(
                |x: u64| x,
                |x: u64| if x > 3 { panic!("too many") } else { x },
            ),
        )
        .unwrap();
    assert_eq!(p.ask(3), Ok(3));
    assert_eq!(p.ask(3), Err(AskError::Panicked));
    assert_eq!(p.ask(3), Err(AskError::Panicked));
    assert_eq!(inner.ask(1), Ok(7), "asked twice through the processor");
}

#[test]
fn halting_a_processor_leaves_the_inner_machine() {
    let root = root();
    let inner = adder(&root);
    let p = root
        .postprocess(&inner, translate(|x: u64| x, |x: u64| x))
        .unwrap();
    p.halt().unwrap();
    assert_eq!(p.ask(1), Err(AskError::Halted));
    assert_eq!(inner.ask(1), Ok(1));
}

/// Everything below a root finds the values that it carries, but a post-processor in front of a root does not, nor does
/// anything that it spawns. A post-processor that a step builds for its own machine finds what that machine finds.
#[test]
fn what_a_root_carries_is_not_found_by_a_post_processor() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Mark(u8);
    fn look(scope: &mut Scope<'_>) -> Result<Vec<Option<Mark>>, AskError> {
        let found = |scope: &Scope<'_>| scope.carried::<Mark>().copied();
        let root = scope.root()?;
        let child = machine(move |(), scope: &mut Scope<'_>| Ok(found(scope)));
        Ok(vec![
            found(scope),
            scope.spawn(child)?.ask(())?,
            root.carried().copied(),
            root.branch()?.run([], |scope| Ok(found(scope)))?,
            root.branch_carrying("another")?.carried().copied(),
        ])
    }
    struct Looks;
    impl PostProcessor for Looks {
        type Query = ();
        type Answer = Vec<Option<Mark>>;
        type InnerQuery = ();
        type InnerAnswer = Vec<Option<Mark>>;

        fn step(
            &mut self,
            _: Received<Self>,
            scope: &mut Scope<'_>,
        ) -> Result<Sent<Self>, AskError> {
            look(scope).map(Side::Left)
        }
    }
    assert_eq!(root().carried::<Mark>(), None);
    let root = root().branch_carrying(Mark(1)).unwrap();
    let looks = machine(|(), scope: &mut Scope<'_>| look(scope));
    let inner = root.spawn(looks).unwrap();
    assert_eq!(inner.ask(()), Ok(vec![Some(Mark(1)); 5]));
    let front = root.postprocess(&inner, Looks).unwrap();
    assert_eq!(front.ask(()), Ok(vec![None; 5]));
    let inside = root.run([], |scope| {
        let inner = scope.spawn(machine(|(), scope: &mut Scope<'_>| look(scope)))?;
        let below = scope.root()?.postprocess(&inner, Looks)?;
        Ok([scope.postprocess(&inner, Looks)?.ask(())?, below.ask(())?])
    });
    assert_eq!(inside, Ok([vec![Some(Mark(1)); 5], vec![None; 5]]));
    // Below a post-processor, one that it builds finds nothing either.
    struct Builds;
    impl PostProcessor for Builds {
        type Query = ();
        type Answer = Vec<Option<Mark>>;
        type InnerQuery = ();
        type InnerAnswer = Vec<Option<Mark>>;

        fn step(
            &mut self,
            _: Received<Self>,
            scope: &mut Scope<'_>,
        ) -> Result<Sent<Self>, AskError> {
            let inner = scope.spawn(machine(|(), scope: &mut Scope<'_>| look(scope)))?;
            scope.postprocess(&inner, Looks)?.ask(()).map(Side::Left)
        }
    }
    let front = root.postprocess(&inner, Builds).unwrap();
    assert_eq!(front.ask(()), Ok(vec![None; 5]));
    // The nearest one is found.
    let nearer = root.branch_carrying(Mark(2)).unwrap();
    assert_eq!(nearer.branch().unwrap().carried(), Some(&Mark(2)));
    assert_eq!(root.carried(), Some(&Mark(1)));
}
