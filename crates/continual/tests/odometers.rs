//! Odometers over continual mechanisms: what is shown up to a threshold has at most its loss, whichever mechanisms the
//! adversary launches after which answers; and rules that report too little are refuted.

use std::sync::Arc;

use crate::common::{
    loss, m_delta, ratio, response,
    sessions::{Bits, Do, LAUNCHED, continual, running, streams, truncated},
    total_variation,
};
use auditor::{Factor, Input, Report, Shown, Tail, audit, player};
use continual::Pair;
use exact::Exact;
use measures::{
    Adaptive, ApproxDp, ApproxGaussianDp, Basic, Epsilon, GaussianDp, Interleaving, Mu, MuDelta,
    PureDp, Rho, Rule, Tallied, Tally, Total, Zcdp,
    adaptive::{ApproxGaussianComposition, GaussianComposition, ImprovedBasic, TimeUniformBasic},
    convert::{pure_to_gaussian, pure_to_zcdp},
};
use measures::{Measure, TimeUniform};
use odometer::TimeUniformOdometer;
use queryable::{AskError, Exchange, Root};

type Shows = Exchange<Do, Shown<u8>>;

fn ln(n: u64) -> Epsilon {
    Epsilon::new(Factor::new(n, 1).unwrap().epsilon().most)
}

/// Lies one time in four (ln 3) and one time in ten (ln 9), each with a loss made of that.
fn responses<M: Measure>(measure: M, make: impl Fn(&Epsilon) -> M::Loss) -> Vec<Bits<M>> {
    vec![
        continual(measure.clone(), make(&ln(3)), || response(4)),
        continual(measure, make(&ln(9)), || response(10)),
    ]
}

/// The first answer decides what is launched next; everything may be sent to everybody at any time.
fn by_answers(history: &[Shows]) -> Vec<Do> {
    let launched = running(history, &Shown::Answer(LAUNCHED));
    let next = match history.get(1).map(|seen| seen.answer.clone()) {
        None if history.is_empty() => vec![Do::Launch(0)],
        Some(Ok(Shown::Answer(answer))) => vec![Do::Launch(usize::from(answer == 1))],
        _ => vec![],
    };
    let pairs = [Pair::new(false, true), Pair::same(true)];
    let sends = (0..launched).flat_map(|to| pairs.map(|pair| Do::Send(to, pair)));
    next.into_iter().chain(sends).collect()
}

fn verdicts<L: auditor::Claim<Do, Shown<u8>>>(
    report: &Report<Do, Shown<u8>>,
    losses: [&L; 2],
) -> [(bool, bool); 2] {
    losses.map(|loss| {
        let verdict = report.claims(loss).unwrap();
        (verdict.holds(), verdict.attack().is_some())
    })
}

const HOLDS: (bool, bool) = (true, false);
const REFUTED: (bool, bool) = (false, true);

/// At every total that can be reached, and at one in between: the view is within, and reaches it.
#[test]
fn pure_losses_add_up() {
    let rule = Basic::new(PureDp);
    let shelf = || responses(PureDp, Epsilon::clone);
    let sum = |losses: &[u64]| {
        let losses: Vec<Epsilon> = losses.iter().map(|n| ln(*n)).collect();
        rule.total_of(&losses).bound().clone()
    };
    // A threshold, and what is reached below it.
    let half: Epsilon = "1.5".parse().unwrap();
    for (threshold, reached) in [
        (sum(&[3]), 3),
        (half, 3),
        (sum(&[3, 3]), 9),
        (sum(&[3, 9]), 27),
    ] {
        let report = truncated(rule, threshold.clone(), shelf(), 5, by_answers);
        assert!(report.claims(&threshold).unwrap().holds());
        let factor = Factor::new(reached, 1).unwrap();
        assert_eq!(report.factor(&ratio(0, 1)), Some(factor));
        let less: Epsilon = threshold.value().div(&2u8.into(), exact::Round::Up).into();
        assert_eq!(verdicts(&report, [&threshold, &less]), [HOLDS, REFUTED]);
    }
}

#[test]
fn concentrated_and_gaussian_losses() {
    // Two launches of ln 3 fit: in truth 0.867 and 1.691.
    let rho: Rho = "1.1".parse().unwrap();
    let shelf = responses(Zcdp, pure_to_zcdp);
    let report = truncated(Basic::new(Zcdp), rho.clone(), shelf, 5, by_answers);
    let less: Rho = "0.7".parse().unwrap();
    assert_eq!(verdicts(&report, [&rho, &less]), [HOLDS, REFUTED]);
    let mu: Mu = "1.908".parse().unwrap();
    let shelf = responses(GaussianDp, pure_to_gaussian);
    let report = truncated(GaussianComposition, mu.clone(), shelf, 5, by_answers);
    let less: Mu = "1.68".parse().unwrap();
    assert_eq!(verdicts(&report, [&mu, &less]), [HOLDS, REFUTED]);
    let both: MuDelta = "(1.908, 0.1)".parse().unwrap();
    let shelf = responses(ApproxGaussianDp, |epsilon| pure_to_gaussian(epsilon).into());
    let rule = ApproxGaussianComposition;
    let report = truncated(rule, both.clone(), shelf, 5, by_answers);
    let less: MuDelta = "(1.4, 0.1)".parse().unwrap();
    assert_eq!(verdicts(&report, [&both, &less]), [HOLDS, REFUTED]);
}

/// Launch, send the same to both, wait for a failure, and only then send what differs.
fn first_bad_answer(history: &[Shows]) -> Vec<Do> {
    let launched = running(history, &Shown::Answer(LAUNCHED));
    match history.last().map(|seen| (seen.answer.clone(), seen.query)) {
        None | Some((Ok(Shown::Answer(2)), _)) => vec![Do::Launch(0)],
        Some((Ok(Shown::Answer(LAUNCHED)), _)) => {
            vec![Do::Send(launched - 1, Pair::same(false))]
        }
        Some((Ok(Shown::Answer(3)), Do::Send(to, _))) => {
            vec![Do::Send(to, Pair::new(false, true))]
        }
        _ => vec![],
    }
}

/// A failure of a mechanism that got nothing yet counts: 0.1, 0.19, 0.271 for one, two, three copies.
#[test]
fn approximate_losses_count_for_every_copy() {
    for (threshold, reached, less) in [
        ("(0, 0.1)", ratio(1, 10), "(0, 0.09)"),
        ("(0, 0.15)", ratio(1, 10), "(0, 0.09)"),
        ("(0, 0.1900001)", ratio(19, 100), "(0, 0.18)"),
        ("(0, 0.2710001)", ratio(271, 1000), "(0, 0.27)"),
    ] {
        let shelf = vec![continual(ApproxDp, loss("(0, 0.1)"), || m_delta(1, 10))];
        let report = truncated(ImprovedBasic, loss(threshold), shelf, 10, first_bad_answer);
        assert_eq!(total_variation(&report), reached);
        let losses = [&loss(threshold), &loss(less)];
        assert_eq!(verdicts(&report, losses), [HOLDS, REFUTED]);
    }
}

/// A rule that reports the largest loss instead of the sum: what a static partition would.
#[derive(Clone, Copy, Debug)]
struct Largest;

#[derive(Clone, Debug, Default, PartialEq)]
struct LargestTally(Exact);

impl Tally for LargestTally {
    type Loss = Epsilon;
    fn absorb(&mut self, loss: &Epsilon, _: u64) {
        self.0 = self.0.clone().max(loss.value().clone());
    }
    fn merge(&mut self, other: &Self) {
        self.join(other);
    }
    fn join(&mut self, other: &Self) {
        self.0 = self.0.clone().max(other.0.clone());
    }
}

impl Rule for Largest {
    type Child = PureDp;
    type Total = PureDp;
    const INTERLEAVING: Interleaving = Interleaving::Concurrent;
    fn child(&self) -> PureDp {
        PureDp
    }
    fn total(&self) -> PureDp {
        PureDp
    }
}

impl Tallied for Largest {
    type Tally = LargestTally;
    fn start(&self) -> LargestTally {
        LargestTally::default()
    }
}

impl Adaptive for Largest {
    fn loss(&self, tally: &LargestTally) -> Total<Epsilon> {
        Total::new(Epsilon::new(tally.0.clone()))
    }
}

#[test]
fn an_odometer_that_reports_the_largest_loss_is_refuted() {
    let shelf = responses(PureDp, Epsilon::clone);
    let report = truncated(Largest, ln(3), shelf, 5, by_answers);
    assert_eq!(verdicts(&report, [&ln(9), &ln(3)]), [HOLDS, REFUTED]);
}

/// The other notion: with certainty, the realized loss never passes the sum; it passes anything less. Its rules are for
/// one mechanism after the other: a launch ends the turn of those before it.
#[test]
fn time_uniform_odometers() {
    let build = |input: Input, root: &Root| {
        let session = TimeUniformOdometer::new(streams(), TimeUniformBasic);
        let session = session.open_in(root, Arc::new(()));
        let session = session.map_err(|_| AskError::failed("session"))?;
        let shelf = responses(PureDp, Epsilon::clone);
        let mut launched = vec![];
        Ok(player(move |what: Do| match what {
            Do::Launch(which) => {
                let machine = session.launch(&shelf[which]);
                launched.push(machine.map_err(|_| AskError::failed("launch"))?);
                Ok(LAUNCHED)
            }
            Do::Send(to, pair) => launched[to].ask(input.pick(pair.zero, pair.one)),
        }))
    };
    let differs = Pair::new(false, true);
    // Launch; send what differs, once; what was heard decides what is launched next. Then try the first again.
    let offer = |history: &[Exchange<Do, u8>]| match history {
        [] => vec![Do::Launch(0)],
        [_] => vec![Do::Send(0, differs)],
        [_, first] => vec![Do::Launch(usize::from(first.answer == Ok(1)))],
        [_, _, _] => vec![Do::Send(1, differs), Do::Send(0, differs)],
        _ => vec![],
    };
    let report = audit(build).asking(4, offer).unwrap();
    let reported = |history: &[Exchange<Do, u8>]| {
        let launches = history.iter().filter_map(|seen| match seen.query {
            Do::Launch(which) => Some(ln([3, 9][which])),
            Do::Send(..) => None,
        });
        let tally = launches.fold(TimeUniformBasic.start(), |tally, loss| {
            tally.after(&loss, 1)
        });
        TimeUniformBasic.bound(&tally).bound().value().clone()
    };
    for input in Input::BOTH {
        let (passed, _) = report.ever_passes(input, Tail::Both, reported).unwrap();
        assert_eq!(passed.most, ratio(0, 1));
        let less = |history: &[Exchange<Do, u8>]| {
            reported(history).mul(&"0.99".parse().unwrap(), exact::Round::Up)
        };
        let (passed, _) = report.ever_passes(input, Tail::Both, less).unwrap();
        assert!(passed.least > ratio(1, 2));
        let again = |history: &[Exchange<Do, u8>], _: &_, _: &_| matches!(history, [_, _, _, last] if last.query == Do::Send(0, differs) && last.answer.is_ok());
        assert_eq!(report.ever(input, again).unwrap().0, ratio(0, 1));
    }
}
