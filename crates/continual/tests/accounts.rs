//! Continual mechanisms under accounts: charged when launched, whatever arrives; audited with pairs, and with losses that
//! the adversary chooses by the answers.

use crate::common::{
    loss, m_delta, probability, ratio, response,
    sessions::{Do, LAUNCHED, Seen, audited, continual, running, streams},
    total_variation,
};
use auditor::{Factor, Input, Report, audit, player};
use continual::{
    Catalogue, ExtConComp, Identifier, Outcome, Pair, PureParallel, Request, StreamMessage,
    Suitable, VerificationFunction, Verifier, laws,
    streams::{Arriving, Streams, SumLevel, certified},
};
use exact::Exact;
use measures::{ApproxDp, Basic, Epsilon, L1Distance, PrivacyMap, PureDp, adaptive::ImprovedBasic};
use odometer::{Measurement, Odometer, Records};
use queryable::{AskError, Chain, Root, Scope, coins::Bit};

/// The attack on parts: launch, send the same to both, wait for a failure, and only then send what differs.
fn first_bad_answer(history: &[Seen]) -> Vec<Do> {
    let launched = running(history, &LAUNCHED);
    match history.last().map(|seen| (seen.answer.clone(), seen.query)) {
        None | Some((Ok(2), _)) => vec![Do::Launch(0)],
        Some((Ok(LAUNCHED), _)) => vec![Do::Send(launched - 1, Pair::same(false))],
        Some((Ok(3), Do::Send(to, _))) => vec![Do::Send(to, Pair::new(false, true))],
        _ => vec![],
    }
}

#[test]
fn two_copies_are_charged_as_two() {
    let leaky = || vec![continual(ApproxDp, loss("(0, 0.1)"), || m_delta(1, 10))];
    for (budget, copies) in [("(0, 0.15)", ratio(1, 10)), ("(0, 0.2)", ratio(19, 100))] {
        let report = audited(ImprovedBasic, loss(budget), leaky(), 8, first_bad_answer);
        assert_eq!(total_variation(&report), copies);
        assert!(report.claims(&loss(budget)).unwrap().holds());
    }
}

/// A filter over continual mechanisms whose losses are chosen by the answers: what it admits is within its budget, and
/// the budget is reached.
#[test]
fn a_filter_holds_for_losses_chosen_by_answers() {
    let ln = |text: &str| text.parse::<Epsilon>().unwrap();
    // Lies one time in four (ln 3) and one time in ten (ln 9).
    let shelf = || {
        vec![
            continual(PureDp, ln("1.0987"), || response(4)),
            continual(PureDp, ln("2.1973"), || response(10)),
        ]
    };
    // The first answer decides what is launched next; everything may be sent to everybody at any time.
    let offer = |history: &[Seen]| {
        let launched = running(history, &LAUNCHED);
        let first = history.get(1).and_then(|seen| seen.answer.clone().ok());
        let next = match first {
            None if history.is_empty() => vec![Do::Launch(0)],
            None => vec![],
            Some(answer) => vec![Do::Launch(usize::from(answer == 1))],
        };
        let pairs = [Pair::new(false, true), Pair::same(true)];
        let sends = (0..launched).flat_map(|to| pairs.map(|pair| Do::Send(to, pair)));
        next.into_iter().chain(sends).collect()
    };
    let report = audited(Basic::new(PureDp), ln("2.1974"), shelf(), 5, offer);
    assert!(report.claims(&ln("2.1974")).unwrap().holds());
    assert_eq!(
        report.factor(&ratio(0, 1)),
        Some(Factor::new(9, 1).unwrap())
    );
}

#[test]
fn it_is_charged_when_launched_and_never_again() {
    let response = continual(PureDp, "0.5".parse().unwrap(), || response(4));
    let session = Odometer::new(streams(), Basic::new(PureDp))
        .open(())
        .unwrap();
    let running = session.launch(&response).unwrap();
    for _ in 0..100 {
        running.ask(true).unwrap();
    }
    assert_eq!(session.privacy_loss(&1).unwrap().to_string(), "0.5");
}

/// Under a rule for finite communication, every message of a stream counts, whatever it is.
#[test]
fn messages_of_a_stream_are_counted() {
    let leaky = continual(ApproxDp, loss("(1, 0.1)"), || response(4));
    let odometer = Odometer::new(streams(), ImprovedBasic);
    let session = odometer.clone().answering_at_most(3).open(()).unwrap();
    let two = [0, 1].map(|_| session.launch(&leaky).unwrap());
    for running in &two {
        assert!((0..3).all(|_| running.ask(true).is_ok()));
        let over = AskError::TooManyMessages { limit: 3 };
        assert_eq!(running.ask(true), Err(over));
    }
    let session = odometer.open(()).unwrap();
    let far = session.launch(&leaky).unwrap();
    assert!((0..100).all(|_| far.ask(true).is_ok()));
}

/// A data set that arrives late, and the same data set at the start: the same views.
#[test]
fn arriving_late_changes_nothing() {
    let people = Records::<bool>::new();
    let lie = Bit::new(probability(1, 4));
    let map = || PrivacyMap::per_record(PureDp, "1.0987").unwrap();
    let anybody = Measurement::new(
        "anybody",
        people,
        map(),
        move |data, scope: &mut Scope<'_>| Ok(scope.draw(&lie)? ^ data.contains(&true)),
    );
    let data = |input: Input| input.pick(vec![false, true], vec![false]);
    let early = |input: Input, root: &Root| {
        let anybody = anybody.clone();
        let root = root.clone();
        Ok(player(move |()| {
            let data = std::sync::Arc::new(data(input));
            anybody
                .invoke_in(&root, &data)
                .map_err(|_| AskError::failed("x"))
        }))
    };
    let late = |input: Input, root: &Root| {
        let waiting = Arriving::of(people).once(&anybody);
        let waiting = waiting.invoke_in(root, &std::sync::Arc::new(()));
        let waiting = waiting.map_err(|_| AskError::failed("x"))?;
        Ok(player(move |()| waiting.ask(data(input))))
    };
    let early = audit(early).asking(1, |_: &[_]| vec![()]).unwrap();
    let late = audit(late).asking(1, |_: &[_]| vec![()]).unwrap();
    assert!(early.same_views(&late));
    assert_eq!(late.factor(&ratio(0, 1)), Some(Factor::new(3, 1).unwrap()));
}

#[test]
fn interactive_data_arrive_once() {
    #[derive(Clone, Debug, PartialEq)]
    struct Short;
    impl odometer::Space for Short {
        type Data = Vec<i64>;
        type Distance = u32;
        type Metric = measures::SymmetricDistance;

        fn metric(&self) -> &measures::SymmetricDistance {
            &measures::SymmetricDistance
        }

        fn contains(&self, data: &Vec<i64>) -> bool {
            data.len() <= 2
        }
    }
    let map = PrivacyMap::constant_up_to(PureDp, 1, Epsilon::INFINITY);
    let sums = Measurement::new("sums", Short, map, |data, scope: &mut Scope<'_>| {
        let data = data.clone();
        if data.is_empty() {
            return Err(AskError::failed("nothing"));
        }
        scope.spawn(queryable::machine(move |k: i64, _: &mut Scope<'_>| {
            Ok(data.iter().map(|x| k * x).sum::<i64>())
        }))
    })
    .with_parameter("rows", 2);
    let later = Arriving::of(Short).interactive(&sums);
    assert_eq!(later.description(), sums.description());
    let start = || later.invoke(()).unwrap();
    let running = start();
    let invalid = |answer| matches!(answer, Err(AskError::InvalidQuery(_)));
    assert!(invalid(running.ask(StreamMessage::Question(2))));
    assert!(invalid(running.ask(StreamMessage::Update(vec![1; 3])))); // not in the space
    assert_eq!(running.ask(StreamMessage::Update(vec![3, 4])), Ok(None));
    assert!(invalid(running.ask(StreamMessage::Update(vec![3, 4]))));
    assert_eq!(running.ask(StreamMessage::Question(2)), Ok(Some(14)));
    let failing = start();
    assert!(failing.ask(StreamMessage::Update(vec![])).is_err());
    assert!(failing.ask(StreamMessage::Update(vec![1])).is_err()); // the data were seen: no second try
    assert_eq!(
        failing.ask(StreamMessage::Question(1)),
        Err(AskError::Halted)
    );
}

#[test]
fn distances_between_streams() {
    let two: SumLevel<i64> = Streams::with(L1Distance).function(&Exact::from(2u32));
    assert!(laws::swap_symmetric(&two, &[0, 1, 3], 3).unwrap() > 100);
    assert!(two.is_valid(&[Pair::new(0, 1), Pair::new(1, 0)]));
    assert!(!two.is_valid(&[Pair::new(0, 3)]));
    let rows: SumLevel<Vec<i64>> = Streams::with(L1Distance).function(&Exact::from(2u32));
    assert!(rows.is_valid(&[Pair::new(vec![0, 0], vec![1, -1])]));
    assert!(!rows.is_valid(&[Pair::new(vec![0], vec![0, 0])]));
    assert!(!rows.is_valid(&[Pair::new(vec![0, 0], vec![2, 1])]));
    let events = streams().function::<u8>(&2);
    assert!(events.is_valid(&[Pair::new(0, 9), Pair::same(1), Pair::new(7, 0)]));
    assert!(!events.is_valid(&[Pair::new(0, 9); 3]));
}

/// A measurement of an account, as a mechanism of the privacy game.
#[test]
fn a_continual_measurement_composes() {
    let ln_3: Epsilon = "1.0987".parse().unwrap();
    let response = continual(PureDp, ln_3.clone(), || response(4));
    let catalogue = Catalogue::new(move |_: &u8| certified(&response, &1).ok());
    let build = |input: Input, root: &Root| {
        let all = root.spawn(ExtConComp::new(catalogue.clone()))?;
        let function = Suitable::new(catalogue.clone(), PureParallel::new(vec![ln_3.clone()]));
        root.postprocess(
            &all,
            Chain::new(Verifier::new(function), Identifier::new(input)),
        )
    };
    let report: Report<Pair<Request<u8, bool>>, Outcome<u8>> = audit(build)
        .asking(4, crate::common::everything(0, 2))
        .unwrap();
    assert_eq!(
        report.factor(&ratio(0, 1)),
        Some(Factor::new(3, 1).unwrap())
    );
}
