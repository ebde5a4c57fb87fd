//! Scripted coins: what they replay, what they report, and what they refuse.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{bit, prob, ratio};
use dashu_ratio::RBig;
use queryable::coins::{
    Bit, Branch, Categorical, Distribution, EnumerateError, Probability, Script, Uniform, enumerate,
};
use queryable::{AskError, Machine, Root, Scope, machine};
use rand_core::Rng;

/// A distribution that is only a list of probabilities, right or wrong.
#[derive(Clone)]
struct Listed {
    probabilities: Vec<Probability>,
    missing: Probability,
}

impl Distribution for Listed {
    type Outcome = usize;
    fn sample(&self, _: &mut dyn Rng) -> usize {
        unreachable!("only scripted")
    }
    fn arity(&self) -> usize {
        self.probabilities.len()
    }
    fn outcome(&self, index: usize) -> (usize, Probability) {
        (index, self.probabilities[index].clone())
    }
    fn missing(&self) -> Probability {
        self.missing.clone()
    }
}

fn listed<const N: usize>(probabilities: [(u64, u64); N], missing: (u64, u64)) -> Listed {
    Listed {
        probabilities: probabilities.map(|(n, d)| prob(n, d)).to_vec(),
        missing: prob(missing.0, missing.1),
    }
}

fn draws<D>(distribution: D) -> impl Machine<Query = (), Answer = D::Outcome>
where
    D: Distribution + Send,
{
    machine(move |(), scope: &mut Scope<'_>| scope.draw(&distribution))
}

/// Enumerates two draws.
fn twice(
    distribution: &Listed,
) -> Result<queryable::coins::Enumeration<[usize; 2]>, EnumerateError> {
    enumerate(100, |script| {
        let q = Root::scripted(script)
            .spawn(draws(distribution.clone()))
            .unwrap();
        [q.ask(()).unwrap_or(99), q.ask(()).unwrap_or(99)]
    })
}

#[test]
fn a_script_is_replayed_and_reported() {
    let script = Script::new(vec![2, 0]);
    let q = Root::scripted(&script)
        .spawn(draws(Uniform::below(3).unwrap()))
        .unwrap();
    assert_eq!([q.ask(()), q.ask(()), q.ask(())], [Ok(2), Ok(0), Ok(0)]);
    assert_eq!(script.fault(), None);
    let branch = |choice, next| Branch {
        choice,
        probability: prob(1, 3),
        arity: 3,
        missing: Probability::ZERO,
        next,
    };
    let branches = vec![branch(2, None), branch(0, Some(1)), branch(0, Some(1))];
    assert_eq!(script.branches(), branches);
    assert_eq!(script.drawn(), 3);

    let again = Script::replay(branches.clone());
    let q = Root::scripted(&again)
        .spawn(draws(Uniform::below(3).unwrap()))
        .unwrap();
    assert_eq!([q.ask(()), q.ask(()), q.ask(())], [Ok(2), Ok(0), Ok(0)]);
    assert_eq!((again.fault(), again.branches()), (None, branches.clone()));

    let other = Script::divert(branches.clone()).unwrap();
    let q = Root::scripted(&other)
        .spawn(draws(Uniform::below(3).unwrap()))
        .unwrap();
    assert_eq!([q.ask(()), q.ask(()), q.ask(())], [Ok(2), Ok(0), Ok(1)]);
    assert!(
        Script::divert(branches[..1].to_vec()).is_none(),
        "two was the last outcome"
    );
    assert!(Script::divert(vec![]).is_none());
}

#[test]
fn a_run_that_ends_hands_on_its_draws_whoever_is_left() {
    let run = |script: &Script| {
        let q = Root::scripted(script).spawn(draws(Uniform::below(3).unwrap()));
        let q = q.unwrap();
        assert!([q.ask(()), q.ask(()), q.ask(())].iter().all(Result::is_ok));
        q
    };
    let first = Script::new(vec![2, 0]);
    drop(run(&first));
    let branches = first.branches();
    for mut script in [
        Script::replay(branches.clone()),
        Script::replay(branches[..2].to_vec()),
        Script::divert(branches.clone()).unwrap(),
        Script::divert(branches[..2].to_vec()).unwrap(),
    ] {
        let left = run(&script);
        let (mut other, drawn) = (script.clone(), script.branches());
        assert_eq!((drawn.len(), script.fault()), (3, None));
        assert_eq!(script.end(), Ok(drawn));
        assert!(left.ask(()).is_err(), "the run is over");
        drop(left);
        assert_eq!(other.end(), Err("the run is over".into()));
    }
}

#[test]
fn a_script_that_is_rewound_is_another_run_within_the_same_limits() {
    for leave_something in [false, true] {
        let mut script = Script::new(vec![1]).at_most(2).cut_to(2);
        let spawn = |script: &Script| {
            Root::scripted(script)
                .spawn(draws(Uniform::below(3).unwrap()))
                .unwrap()
        };
        let q = spawn(&script);
        assert_eq!([q.ask(()), q.ask(())], [Ok(1), Ok(0)]);
        let left = leave_something.then_some(q);
        let drawn = script.end().unwrap();
        assert_eq!(drawn.len(), 2);
        assert_eq!((drawn[0].arity, &drawn[0].missing), (2, &prob(1, 3)));
        assert_eq!(script.fault().as_deref(), Some("the run is over"));

        script.rewind(drawn[..1].to_vec(), 0);
        assert_eq!(script.drawn(), 0);
        let q = spawn(&script);
        assert_eq!([q.ask(()), q.ask(())], [Ok(0), Ok(0)]);
        assert!(
            left.is_none_or(|left| left.ask(()).is_err()),
            "its run is over"
        );
        assert_eq!((script.fault(), script.branches().len()), (None, 2));
        assert!(q.ask(()).is_err());
        assert_eq!(script.overdrawn(), Some(2));
        drop(q);

        // A fault is forgotten; a replay that differs is found.
        script.rewind(drawn, 0);
        assert_eq!(
            (script.fault().as_deref(), script.overdrawn()),
            (Some("the run ended before the script did"), None)
        );
        let other = Root::scripted(&script).spawn(draws(Bit::fair())).unwrap();
        assert!(other.ask(()).is_err());
        let why = script.fault().unwrap();
        assert!(why.starts_with("a replay branched differently"), "{why}");
    }
}

#[test]
fn replayed_draws_count_and_are_compared() {
    let first = Script::new(vec![]);
    let q = Root::scripted(&first).spawn(draws(bit(1, 3))).unwrap();
    assert_eq!([q.ask(()), q.ask(())], [Ok(false), Ok(false)]);
    let branches = first.branches();

    let script = Script::replay(branches.clone()).at_most(1);
    let q = Root::scripted(&script).spawn(draws(bit(1, 3))).unwrap();
    assert!(q.ask(()).is_ok() && q.ask(()).is_err());
    assert_eq!((script.overdrawn(), script.drawn()), (Some(1), 1));

    // Another probability, another number of outcomes, another possible one.
    let replay = || Script::replay(branches.clone());
    let others = [
        ask_once(&replay(), draws(bit(1, 4))),
        ask_once(&replay(), draws(Uniform::below(3).unwrap())),
        ask_once(&replay().cut_to(1), draws(bit(1, 3))),
    ];
    for fault in others {
        assert!(fault.is_some_and(|why| why.starts_with("a replay branched differently")));
    }
    let mut out_of_range = branches.clone();
    out_of_range[0].choice = 7;
    let fault = ask_once(&Script::replay(out_of_range), draws(bit(1, 3)));
    assert_eq!(fault.unwrap(), "a scripted outcome is out of range");
}

/// Why the first draw did not fit, if it did not.
fn ask_once<M>(script: &Script, machine: M) -> Option<String>
where
    M: Machine<Query = ()> + 'static,
    M::Answer: 'static,
{
    let q = Root::scripted(script).spawn(machine).unwrap();
    q.ask(()).err().and_then(|_| script.fault())
}

#[test]
fn a_choice_out_of_range_is_a_fault() {
    let script = Script::new(vec![2]);
    let q = Root::scripted(&script).spawn(draws(Bit::fair())).unwrap();
    let error = q.ask(()).unwrap_err();
    assert_eq!(
        error,
        AskError::Script("a scripted outcome is out of range".into())
    );
    assert_eq!(q.ask(()), Err(error), "the fault stays");
    assert_eq!(
        script.fault().unwrap(),
        "a scripted outcome is out of range"
    );
}

#[test]
fn an_impossible_choice_is_a_fault() {
    let never = bit(0, 1);
    let script = Script::new(vec![1]);
    let q = Root::scripted(&script).spawn(draws(never.clone())).unwrap();
    assert!(matches!(q.ask(()), Err(AskError::Script(_))));
    assert!(script.fault().is_some());
    // Left alone, the script takes what is possible.
    let q = Root::scripted(&Script::new(vec![]))
        .spawn(draws(never))
        .unwrap();
    assert_eq!(q.ask(()), Ok(false));
}

#[test]
fn a_script_that_is_longer_than_the_run_is_a_fault() {
    let script = Script::new(vec![0, 0]);
    let q = Root::scripted(&script).spawn(draws(Bit::fair())).unwrap();
    q.ask(()).unwrap();
    assert_eq!(
        script.fault().unwrap(),
        "the run ended before the script did"
    );
    q.ask(()).unwrap();
    assert_eq!(script.fault(), None);
}

#[test]
fn impossible_outcomes_are_not_run() {
    let gaps = listed([(0, 1), (1, 3), (0, 1), (2, 3), (0, 1)], (0, 1));
    let law = twice(&gaps).unwrap().law();
    assert_eq!(law.len(), 4);
    assert_eq!(law[&[1, 3]], ratio(2, 9));
    assert_eq!(law[&[3, 3]], ratio(4, 9));
}

#[test]
fn missing_mass_is_accounted_for() {
    // One eighth is missing at each draw: of the second draw, an eighth of the seven eighths that got there.
    let truncated = listed([(1, 2), (1, 4), (1, 8)], (1, 8));
    let all = twice(&truncated).unwrap();
    assert_eq!(all.missing, prob(15, 64));
    let known = all.law().into_values().fold(RBig::ZERO, |sum, p| sum + p);
    assert_eq!(known, ratio(49, 64));
}

#[test]
fn a_distribution_that_does_not_add_up_is_found() {
    for (wrong, sum) in [
        (listed([(1, 2), (1, 4)], (0, 1)), ratio(3, 4)),
        (listed([(1, 2), (1, 4)], (1, 8)), ratio(7, 8)),
        (listed([(1, 2), (1, 2), (1, 2)], (0, 1)), ratio(3, 2)),
        (listed([(1, 1)], (1, 2)), ratio(3, 2)),
    ] {
        // The last draw of a run is completed first.
        let error = twice(&wrong).unwrap_err();
        assert_eq!(error, EnumerateError::NotNormalized { draw: 1, sum });
    }
}

#[test]
fn a_distribution_without_outcomes_is_a_fault() {
    for empty in [listed([], (1, 1)), listed([(0, 1), (0, 1)], (1, 1))] {
        assert!(matches!(twice(&empty), Err(EnumerateError::Script(_))));
    }
}

/// Counts runs outside of the coins: what a machine must not do.
fn with_hidden_state(
    program: impl Fn(usize, &mut Scope<'_>) -> Result<u64, AskError> + Send + Sync + Clone + 'static,
) -> Result<usize, EnumerateError> {
    let runs = AtomicUsize::new(0);
    let all = enumerate(100, |script| {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        let program = program.clone();
        let q = Root::scripted(script)
            .spawn(machine(move |(), scope: &mut Scope<'_>| {
                program(run, scope)
            }))
            .unwrap();
        q.ask(())
    });
    all.map(|all| all.runs.len())
}

#[test]
fn hidden_randomness_is_found() {
    fn uniform(n: u64, scope: &mut Scope<'_>) -> Result<u64, AskError> {
        scope.draw(&Uniform::below(n).map_err(|e| AskError::failed(e.to_string()))?)
    }
    let found = |outcome| {
        assert!(
            matches!(outcome, Err(EnumerateError::Script(_))),
            "{outcome:?}"
        )
    };
    assert_eq!(
        with_hidden_state(|_, scope| uniform(3, scope)),
        Ok(3),
        "the control"
    );
    // Another number of outcomes at the draw that is diverted, and at one before it.
    found(with_hidden_state(|run, scope| {
        uniform(2 + run as u64 % 2, scope)
    }));
    found(with_hidden_state(|run, scope| {
        Ok(uniform(2 + run as u64, scope)? + uniform(2, scope)?)
    }));
    // Other probabilities at a draw that is replayed.
    found(with_hidden_state(|run, scope| {
        let first = scope.draw(&bit(1, 2 + run as u64))?;
        Ok(u64::from(first) + uniform(2, scope)?)
    }));
    // Fewer draws than before.
    found(with_hidden_state(|run, scope| {
        uniform(2, scope)?;
        if run == 0 { uniform(2, scope) } else { Ok(0) }
    }));
    // The machine swallows the error, or turns it into an answer.
    found(with_hidden_state(|run, scope| {
        Ok(uniform(2 + run as u64 % 2, scope).unwrap_or(7))
    }));
}

#[test]
fn other_probabilities_at_the_diverted_draw_do_not_add_up() {
    let outcome =
        with_hidden_state(|run, scope| scope.draw(&bit(1, 2 + run as u64)).map(u64::from));
    // 1/2 in the first run, then 1/3 for the other outcome.
    let sum = ratio(5, 6);
    assert_eq!(outcome, Err(EnumerateError::NotNormalized { draw: 0, sum }));
}

#[test]
fn distributions_check_what_they_are_given() {
    assert!(Uniform::below(0).is_err());
    assert!(Categorical::<u8>::new(vec![]).is_err());
    let error = Categorical::new(vec![(0, prob(1, 3)), (1, prob(1, 3))]).unwrap_err();
    assert_eq!(error.to_string(), "the probabilities sum to 2/3, not to 1");
    assert_eq!(
        Probability::new(1, 0).unwrap_err().to_string(),
        "1/0 is not a probability: it must be between 0 and 1"
    );
    assert_eq!(
        Probability::new(3, 2).unwrap_err().to_string(),
        "3/2 is not a probability: it must be between 0 and 1"
    );
    assert!(Probability::try_from(RBig::from(-1)).is_err());
    assert_eq!(prob(2, 6), prob(1, 3));
}

/// A fair bit; whoever asks for an outcome first says so, and waits until it may go on.
struct Waiting {
    asked: AtomicUsize,
    begun: std::sync::Mutex<std::sync::mpsc::Sender<()>>,
    go_on: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
}

impl Distribution for Waiting {
    type Outcome = bool;
    fn sample(&self, _: &mut dyn Rng) -> bool {
        unreachable!("only scripted")
    }
    fn arity(&self) -> usize {
        2
    }
    fn outcome(&self, index: usize) -> (bool, Probability) {
        if self.asked.fetch_add(1, Ordering::SeqCst) == 0 {
            self.begun.lock().unwrap().send(()).unwrap();
            self.go_on.lock().unwrap().recv().unwrap();
        }
        Bit::fair().outcome(index)
    }
}

/// A thread that draws while another one ends the run gets no outcome: the draw is in no list.
#[test]
fn a_draw_of_a_run_that_has_ended_meanwhile_is_refused() {
    let mut script = Script::new(vec![]);
    let drawn = Root::scripted(&script).run([], |scope| scope.draw(&Bit::fair()));
    assert_eq!(drawn, Ok(false));
    let seen = script.end().unwrap();
    let unused = || Err("the run ended before the script did".into());
    for (mut script, ended) in [
        (Script::new(vec![]), Ok(vec![])),
        (Script::replay(seen), unused()),
    ] {
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (go, go_on) = std::sync::mpsc::channel();
        let bit = Waiting {
            asked: AtomicUsize::new(0),
            begun: begun.into(),
            go_on: go_on.into(),
        };
        let root = Root::scripted(&script);
        std::thread::scope(|scope| {
            let late = scope.spawn(|| root.run([], |scope| scope.draw(&bit)));
            has_begun.recv().unwrap();
            assert_eq!(script.end(), ended);
            go.send(()).unwrap();
            let late = late.join().unwrap();
            assert!(matches!(late, Err(AskError::Script(_))), "{late:?}");
        });
    }
}

/// What goes wrong on another thread after somebody looked is said by the end of the run.
#[test]
fn the_end_of_a_run_says_what_went_wrong_until_then() {
    let mut script = Script::new(vec![]);
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (go, go_on) = std::sync::mpsc::channel();
    let bit = Waiting {
        asked: AtomicUsize::new(0),
        begun: begun.into(),
        go_on: go_on.into(),
    };
    let root = Root::scripted(&script);
    std::thread::scope(|scope| {
        let late = scope.spawn(|| root.run([], |scope| scope.draw(&bit)));
        has_begun.recv().unwrap();
        let first = root.run([], |scope| scope.draw(&Bit::fair()));
        assert_eq!((first, script.fault()), (Ok(false), None));
        go.send(()).unwrap();
        assert!(late.join().unwrap().is_err());
    });
    let why = script.end().unwrap_err();
    assert_eq!(why, "two threads drew from one script at the same time");
}
