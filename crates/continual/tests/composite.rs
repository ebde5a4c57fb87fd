//! Mechanisms built from mechanisms: they cost what their parts cost, exactly; and who cheats where types cannot see it is
//! found in lock step.

use std::{
    mem,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::common::{probability, ratio, response};
use auditor::{Factor, Input, audit};
use continual::{
    Catalogue, Certified, EventLevel, ExtConComp, FixedParameters, Identifier, Mixed, Outcome,
    Pair, PureParallel, Request, StreamMessage, Suitable, Verifier, coins,
    composite::{Composite, CompositeMechanism, Fault, Found, LockStep, Parts, Tainted, hunt},
};
use measures::{Epsilon, PureDp};
use queryable::{AskError, Chain, Root, coins::Bit};

fn ln_3() -> Epsilon {
    "1.0987".parse().unwrap()
}

type Shelf = Catalogue<&'static str, bool, u8, Epsilon>;

/// Randomized responses that lie one time in four, and a coin.
fn shelf() -> Shelf {
    Catalogue::new(|name: &&'static str| match *name {
        "response" => Some(Certified::swap_symmetric(
            ln_3(),
            EventLevel::new().up_to(1),
            || response(4),
        )),
        "coin" => Some(coins(&PureDp, Bit::new(probability(1, 2)), u8::from)),
        _ => None,
    })
}

type Left = StreamMessage<bool, ()>;
type Right = Request<&'static str, bool>;

fn slots(count: usize) -> PureParallel {
    PureParallel::new(vec![ln_3(); count])
}

/// Pairs that are valid for the parts, if `count` of them may differ.
fn parts(count: usize) -> Suitable<&'static str, bool, u8, PureParallel> {
    Suitable::new(shelf(), slots(count))
}

fn event() -> Mixed<EventLevel<bool>, ()> {
    Mixed::new(EventLevel::new())
}

fn pairs() -> Vec<Pair<Left>> {
    let bits = [(false, false), (true, true), (false, true), (true, false)];
    let updates = bits.map(|(zero, one)| Pair::new(zero, one).map(StreamMessage::Update));
    let questions = [Pair::same(StreamMessage::Question(()))];
    updates.into_iter().chain(questions).collect()
}

/// Implements the types that all composites here share.
macro_rules! over_bits {
    () => {
        type Update = bool;
        type Question = ();
        type Answer = u8;
        type Name = &'static str;
        type PartQuery = bool;
        type PartAnswer = u8;
    };
}

/// After every second update, a new response says whether there was a one among the two; a coin decides whether the
/// answer is counted once or twice. A question is the count.
#[derive(Clone)]
struct Batches {
    seen: Tainted<bool>,
    time: u32,
    count: u8,
    /// Whether the next batch begins afresh; if not, an update reaches all later responses.
    resets: bool,
}

impl Batches {
    fn new(resets: bool) -> Self {
        Self {
            seen: Tainted::of(false),
            time: 0,
            count: 0,
            resets,
        }
    }
}

impl Composite for Batches {
    over_bits!();

    fn update(
        &mut self,
        update: Tainted<bool>,
        parts: &mut Parts<'_, Self>,
    ) -> Result<u8, AskError> {
        self.seen.absorb(update, |seen, bit| *seen |= bit);
        self.time += 1;
        if self.time % 2 == 1 {
            return Ok(self.count);
        }
        let response = parts.create("response")?;
        let seen = match self.resets {
            true => mem::replace(&mut self.seen, Tainted::of(false)),
            false => self.seen.clone(),
        };
        let yes = parts.ask(response, seen)?;
        if yes == 1 {
            let coin = parts.create("coin")?;
            self.count += 1 + parts.ask(coin, Tainted::of(false))?;
        }
        Ok(self.count)
    }

    fn question(&mut self, (): (), _: &mut Parts<'_, Self>) -> Result<u8, AskError> {
        Ok(self.count)
    }
}

/// What parts could answer.
fn forced(_: &bool) -> Vec<Result<u8, AskError>> {
    vec![Ok(0), Ok(1), Err(AskError::Halted)]
}

#[test]
fn a_composite_costs_what_its_parts_cost() {
    let build = |input: Input, root: &Root| {
        let batches = root.spawn(CompositeMechanism::new(
            Batches::new(true),
            shelf(),
            slots(1),
        ))?;
        root.postprocess(
            &batches,
            Chain::new(Verifier::new(event()), Identifier::new(input)),
        )
    };
    let offer = |_: &[_]| pairs()[..4].to_vec();
    let report = audit(build).asking(4, offer).unwrap();
    // Two batches, one response that differs: ln 3, not 2 ln 3.
    assert_eq!(
        report.factor(&ratio(0, 1)),
        Some(Factor::new(3, 1).unwrap())
    );
    assert!(report.claims(&ln_3()).unwrap().holds());
}

/// \[HSV25\] Claim 6.3: an identifier in front of the composite is as good as one in front of its parts.
#[test]
fn lock_step_is_the_composite() {
    let composite = |input: Input, root: &Root| {
        let batches = root.spawn(CompositeMechanism::new(
            Batches::new(true),
            shelf(),
            slots(1),
        ))?;
        root.postprocess(
            &batches,
            Chain::new(Verifier::new(event()), Identifier::new(input)),
        )
    };
    let lock_step = |input: Input, root: &Root| {
        let parts_side = root.spawn(ExtConComp::new(shelf()))?;
        let identifier = Identifier::<Right, Outcome<u8>>::new(input);
        let copies = LockStep::new(&Batches::new(true), parts(1));
        let copies = root.postprocess(&root.postprocess(&parts_side, identifier)?, copies)?;
        root.postprocess(&copies, Verifier::new(event()))
    };
    let offer = |_: &[_]| pairs();
    let composite = audit(composite).asking(3, offer).unwrap();
    let lock_step = audit(lock_step).asking(3, offer).unwrap();
    assert!(composite.same_views(&lock_step));
    assert!(composite.stats().histories > 100);
}

fn hunted<C>(composite: &C, count: usize, length: usize) -> Result<u64, Fault>
where
    C: Composite<
            Update = bool,
            Question = (),
            Answer = u8,
            Name = &'static str,
            PartQuery = bool,
            PartAnswer = u8,
        > + Clone,
{
    hunt(composite, &event(), parts(count), &pairs(), forced, length)
        .map_err(|Found { fault, .. }| fault)
}

#[test]
fn an_honest_composite_is_not_found() {
    assert!(hunted(&Batches::new(true), 1, 4).unwrap() > 1000);
}

/// The types cannot see how often an update is used: the claim of one slot is wrong.
#[test]
fn an_update_that_reaches_two_parts_is_found() {
    assert_eq!(hunted(&Batches::new(false), 1, 4), Err(Fault::Invalid));
    // With two slots it is right, for so long a stream.
    assert!(hunted(&Batches::new(false), 2, 4).is_ok());
    // And the difference is real.
    let build = |input: Input, root: &Root| {
        let batches = root.spawn(CompositeMechanism::new(
            Batches::new(false),
            shelf(),
            slots(1),
        ))?;
        root.postprocess(
            &batches,
            Chain::new(Verifier::new(event()), Identifier::new(input)),
        )
    };
    let report = audit(build)
        .asking(4, |_: &[_]| pairs()[..4].to_vec())
        .unwrap();
    assert!(!report.claims(&ln_3()).unwrap().holds());
    assert!(
        report
            .claims(&"2.1974".parse::<Epsilon>().unwrap())
            .unwrap()
            .holds()
    );
}

/// A composite that does one thing with each update.
#[derive(Clone)]
struct Cheat(fn(Tainted<bool>, &mut Parts<'_, Cheat>) -> Result<u8, AskError>);

impl Composite for Cheat {
    over_bits!();

    fn update(
        &mut self,
        update: Tainted<bool>,
        parts: &mut Parts<'_, Self>,
    ) -> Result<u8, AskError> {
        (self.0)(update, parts)
    }

    fn question(&mut self, (): (), _: &mut Parts<'_, Self>) -> Result<u8, AskError> {
        Ok(0)
    }
}

#[test]
fn a_panic_on_data_is_found() {
    let cheat = Cheat(|update, parts| {
        let part = parts.create("response")?;
        let divided = update.map(|bit| 1 / u8::from(bit) == 1); // not total
        parts.ask(part, divided)
    });
    assert_eq!(hunted(&cheat, 1, 1), Err(Fault::Panicked));
}

#[test]
fn a_static_that_carries_the_answer_is_found() {
    static SEEN: AtomicBool = AtomicBool::new(false);
    let cheat = Cheat(|update, _| {
        let _ = update.map(|bit| SEEN.store(bit, Ordering::SeqCst));
        Ok(u8::from(SEEN.load(Ordering::SeqCst)))
    });
    assert_eq!(hunted(&cheat, 1, 1), Err(Fault::Response));
}

#[test]
fn a_static_that_carries_the_destination_is_found() {
    static SEEN: AtomicBool = AtomicBool::new(false);
    let cheat = Cheat(|update, parts| {
        let _ = update.clone().map(|bit| SEEN.store(bit, Ordering::SeqCst));
        let name = if SEEN.load(Ordering::SeqCst) {
            "coin"
        } else {
            "response"
        };
        let part = parts.create(name)?;
        parts.ask(part, update)
    });
    assert_eq!(hunted(&cheat, 1, 1), Err(Fault::Destination));
}

#[test]
fn randomness_of_ones_own_is_found() {
    static STEPS: AtomicU64 = AtomicU64::new(0);
    let cheat = Cheat(|update, parts| {
        let names = ["coin", "response"];
        let part = parts.create(names[STEPS.fetch_add(1, Ordering::SeqCst) as usize / 2 % 2])?;
        parts.ask(part, update)
    });
    assert_eq!(hunted(&cheat, 1, 1), Err(Fault::NotDeterministic));
}

/// A tainted value of one mechanism does not flow into the parts of another one.
#[test]
fn tainted_values_do_not_travel() {
    #[derive(Clone)]
    struct Thief(Option<Tainted<bool>>);
    static STOLEN: std::sync::Mutex<Option<Tainted<bool>>> = std::sync::Mutex::new(None);
    impl Composite for Thief {
        over_bits!();

        fn update(
            &mut self,
            update: Tainted<bool>,
            parts: &mut Parts<'_, Self>,
        ) -> Result<u8, AskError> {
            let part = parts.create("response")?;
            let mut kept = STOLEN.lock().unwrap();
            match kept.take() {
                None => *kept = Some(update),
                Some(theirs) => {
                    let both = update
                        .zip(theirs.clone())
                        .map(|(mine, theirs)| mine | theirs);
                    assert!(matches!(parts.ask(part, theirs), Err(AskError::Failed(_))));
                    assert!(matches!(parts.ask(part, both), Err(AskError::Failed(_))));
                }
            }
            parts.ask(part, Tainted::of(true))
        }

        fn question(&mut self, (): (), _: &mut Parts<'_, Self>) -> Result<u8, AskError> {
            Ok(u8::from(self.0.is_some()))
        }
    }
    let root = Root::seeded([1; 32]);
    for _ in 0..2 {
        let thief = root
            .spawn(CompositeMechanism::new(Thief(None), shelf(), slots(1)))
            .unwrap();
        thief.ask(StreamMessage::Update(true)).unwrap();
    }
    assert!(STOLEN.lock().unwrap().is_none());
}

/// Creations beyond what was claimed are refused at run time, too.
#[test]
fn a_composite_keeps_its_allowance() {
    let root = Root::seeded([1; 32]);
    let two = FixedParameters::new(vec![ln_3(), ln_3()]);
    let cheat = Cheat(|update, parts| {
        let part = parts.create("response")?;
        parts.ask(part, update)
    });
    let composed = root
        .spawn(CompositeMechanism::new(cheat, shelf(), two))
        .unwrap();
    for _ in 0..2 {
        assert!(composed.ask(StreamMessage::Update(true)).is_ok());
    }
    let refused = composed.ask(StreamMessage::Update(true)).unwrap_err();
    let text = "the machine failed: no slot has room for 1.0987: left are none";
    assert_eq!(refused.to_string(), text);
    assert_eq!(composed.ask(StreamMessage::Question(())), Ok(0));
}
