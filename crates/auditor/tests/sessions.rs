//! What composes under a filter in ways that no other audit sees: unions of rules, sparse partitions, sessions in another
//! measure and on transformed data, approximate zCDP. Each filter keeps its budget, and a lie about a loss, a stability or
//! a conversion is found.

use auditor::{Audited, Claim, audit_measurement, player};
use exact::{Exact, Round};
use measures::adaptive::{Union, WhitehouseFilter};
use measures::convert::PureToApprox;
use measures::{
    ApproxDp, ApproxZcdp, Basic, Conversion, Epsilon, EpsilonDelta, FilterRule, Measure,
    PrivacyMap, PureDp, Rule, RuleError, SymmetricDistance, times,
};
use odometer::{Filter, LaunchError, Measurement, Odometer, Records, Session, Transformation};
use queryable::coins::{Bit, Categorical, Probability};

type People = Records<u8>;
type Told<A> = Result<A, LaunchError>;

const PEOPLE: People = Records::new();

fn probability(n: u64, d: u64) -> Probability {
    Probability::new(n, d).unwrap()
}

/// Is there nobody? Told as it is with probability `truth/20`, under this claim.
fn response(truth: u64, claim: &str) -> Measurement<People, PureDp, bool> {
    let lie = Bit::new(probability(20 - truth, 20));
    let map = PrivacyMap::per_record(PureDp, claim).unwrap();
    Measurement::new("response", PEOPLE, map, move |data, scope| {
        Ok(data.is_empty() ^ scope.draw(&lie)?)
    })
}

/// ln 3, right for a truth of 15 in 20.
const LN_3: &str = "1.0987";

fn filter<R: FilterRule>(rule: R, budget: &str) -> Filter<People, R>
where
    <R::Total as Measure>::Loss: std::str::FromStr<Err = measures::LossError>,
{
    Odometer::new(PEOPLE, rule).filter(1, budget).unwrap()
}

type Found<R, Q, A> = Audited<<<R as Rule>::Total as Measure>::Loss, Q, Told<A>>;

/// Everything that can be launched in a filter, on nobody and on one.
fn launched<R, Q, A, P>(
    filter: &Filter<People, R>,
    depth: usize,
    queries: &[Q],
    play: impl Fn(Session<People, R>) -> P + Sync,
) -> Found<R, Q, A>
where
    R: FilterRule,
    Q: Clone + PartialEq + Send + Sync,
    A: Clone + Ord + Send,
    P: FnMut(Q) -> Told<A>,
    <R::Total as Measure>::Loss: Claim<Q, Told<A>>,
{
    // A refusal has losses that its equality does not compare.
    let audit = audit_measurement(filter, vec![], vec![7]).trusting_equality();
    let seat = |session| {
        let mut launch = play(session);
        player(move |query| Ok(launch(query)))
    };
    audit.playing(depth, |_| queries.to_vec(), seat).unwrap()
}

fn assert_holds<L: std::fmt::Display, Q: std::fmt::Debug, A: std::fmt::Debug>(
    found: &Audited<L, Q, A>,
) {
    assert!(found.holds(), "{found}");
}

fn assert_refuted<L: std::fmt::Display, Q: std::fmt::Debug, A: std::fmt::Debug>(
    found: &Audited<L, Q, A>,
) {
    assert!(found.attack().is_some(), "{found}");
}

#[test]
fn a_union_of_rules() {
    // ln(11/9), right for a truth of 11 in 20.
    let response = |truth| response(truth, "0.2007").convert(PureToApprox);
    let share: Exact = "0.2".parse().unwrap();
    let whitehouse = || WhitehouseFilter::new("0.2").unwrap();
    let basic = Basic::new(ApproxDp);
    let union = Union::new((basic, Exact::ZERO), (whitehouse(), share));
    let budget = "(1.1, 0.2)";
    let both = filter(union, budget);

    // The second rule makes a difference: basic composition alone admits five.
    let admits = |session: Session<People, _>| {
        let response = response(11);
        (0..20)
            .take_while(|_| session.launch(&response).is_ok())
            .count()
    };
    let most = admits(both.invoke(vec![]).unwrap());
    let alone = filter(Basic::new(ApproxDp), budget).invoke(vec![]).unwrap();
    let five = (0..20).take_while(|_| alone.launch(&response(11)).is_ok());
    assert_eq!(five.count(), 5);
    assert!((6..=9).contains(&most), "{most}");

    let found = |truth| {
        let response = response(truth);
        launched(&both, most + 1, &[()], |session| {
            let response = response.clone();
            move |()| session.launch(&response)
        })
    };
    assert_holds(&found(11));
    assert_refuted(&found(15));
}

#[test]
fn a_sparse_partition() {
    // Everybody is in two parts: what is launched once in each of them costs twice.
    let found = |truth| {
        let response = response(truth, LN_3);
        launched(
            &filter(Basic::new(PureDp), "2.1975"),
            3,
            &[0, 1],
            |session| {
                let parts = session.partition_sparse(2, |_| vec![0, 1]).unwrap();
                let response = response.clone();
                move |key| parts.part(key)?.launch(&response)
            },
        )
    };
    let right = found(15);
    assert_holds(&right);
    // Both parts were launched in: one alone is ln 3.
    assert!(
        right
            .report
            .claims(&LN_3.parse::<Epsilon>().unwrap())
            .unwrap()
            .attack()
            .is_some()
    );
    assert_refuted(&found(16));
}

/// Pure to approximate privacy by half of ε: wrong.
#[derive(Clone, Debug)]
struct Half;

impl Conversion for Half {
    type From = PureDp;
    type To = ApproxDp;

    fn from(&self) -> PureDp {
        PureDp
    }

    fn to(&self) -> ApproxDp {
        ApproxDp
    }

    fn convert(&self, loss: &Epsilon) -> Result<EpsilonDelta, RuleError> {
        let half = loss.value().div(&Exact::from(2u32), Round::Up);
        Ok(EpsilonDelta::saturating(half, Exact::ZERO))
    }
}

#[test]
fn a_session_in_another_measure() {
    fn found<C>(conversion: C) -> Found<Basic<ApproxDp>, (), bool>
    where
        C: Conversion<From = PureDp, To = ApproxDp>,
    {
        let response = response(15, LN_3);
        launched(
            &filter(Basic::new(ApproxDp), "(2.1975, 0)"),
            3,
            &[()],
            |session| {
                let pure = session
                    .nest_in(Basic::new(PureDp), conversion.clone())
                    .unwrap();
                let response = response.clone();
                move |()| pure.launch(&response)
            },
        )
    }
    assert_holds(&found(PureToApprox));
    assert_refuted(&found(Half));
}

/// How many there are, up to two, with noise of ratio 1/2, also cut to these: ln 2 for one record, ln 4 for two.
fn up_to_two() -> Measurement<People, PureDp, u8> {
    let law = |weights: [u64; 3]| {
        let outcomes = (0..).zip(weights.map(|weight| probability(weight, 6)));
        Categorical::new(outcomes.collect()).unwrap()
    };
    let laws = [law([4, 1, 1]), law([2, 2, 2]), law([1, 1, 4])];
    let map = PrivacyMap::per_record(PureDp, "0.6932").unwrap();
    Measurement::new("up to two", PEOPLE, map, move |data, scope| {
        scope.draw(&laws[data.len().min(2)])
    })
}

#[test]
fn a_session_on_transformed_data() {
    // Everybody twice, which the stability map says or does not.
    let found = |factor| {
        let twice = |data: &Vec<u8>| Ok([&data[..], data].concat());
        let twice = Transformation::new(PEOPLE, PEOPLE, times(factor), twice);
        launched(&filter(Basic::new(PureDp), "1.3864"), 3, &[()], |session| {
            let doubled = session.nest_after(&twice).unwrap();
            let count = up_to_two();
            move |()| doubled.launch(&count)
        })
    };
    assert_holds(&found(2));
    assert_refuted(&found(1));
}

#[test]
fn approximate_zcdp() {
    // Tells the truth with probability `open/20`, and otherwise 11 times in 20: (ε, δ) = (0.2007, 1/20) if that is 1, which
    // is (ρ, δ) with ρ = ε·tanh(ε/2) < 0.0202.
    let found = |open| {
        let (open, lie) = (
            Bit::new(probability(open, 20)),
            Bit::new(probability(9, 20)),
        );
        let loss: measures::RhoDelta = "(0.0202, 0.05)".parse().unwrap();
        let map = PrivacyMap::<SymmetricDistance, _>::constant_up_to(ApproxZcdp, 1, loss);
        let response = Measurement::new("leaky", PEOPLE, map, move |data, scope| {
            let open = scope.draw(&open)?;
            Ok((open, data.is_empty() ^ (!open && scope.draw(&lie)?)))
        });
        // The δ is enough for two.
        launched(
            &filter(Basic::new(ApproxZcdp), "(0.09, 0.1)"),
            3,
            &[()],
            |session| {
                let response = response.clone();
                move |()| session.launch(&response)
            },
        )
    };
    assert_holds(&found(1));
    assert_refuted(&found(4));
}
