//! Measurements audited in one call: the claim of their own map holds or is refuted, errors are answers, noise is cut, and
//! attacks fit on a screen.

use auditor::{AuditError, Finding, audit_measurement, audit_measurement_at, player};
use measures::fixed::OptimalPure;
use measures::{
    Epsilon, EpsilonDelta, MapError, Neighbouring, Neighbours, PrivacyMap, PureDp, Zcdp,
};
use odometer::{Any, Compositor, LaunchError, Measurement, Records, Space};
use queryable::AskError;
use queryable::coins::{Bit, Categorical, Distribution, Probability, Rng};

/// Noise around zero with ratio 1/2, `P(m) = 2^−|m|/3`, enumerated up to ±60.
struct Halving;

impl Distribution for Halving {
    type Outcome = i64;

    fn sample(&self, bits: &mut dyn Rng) -> i64 {
        loop {
            let word = bits.next_u64();
            let magnitude = i64::from((word >> 1).trailing_zeros());
            // One zero of two is drawn again, so that it is as likely as it should be.
            match word % 2 {
                0 => return magnitude,
                _ if magnitude > 0 => return -magnitude,
                _ => {}
            }
        }
    }

    fn arity(&self) -> usize {
        121
    }

    fn outcome(&self, index: usize) -> (i64, Probability) {
        let magnitude = index.div_ceil(2) as i64;
        let value = if index % 2 == 1 {
            magnitude
        } else {
            -magnitude
        };
        (value, Probability::new(1, 3 << magnitude).unwrap())
    }

    fn missing(&self) -> Probability {
        Probability::new(1, 3 << 59).unwrap()
    }
}

fn per_record(epsilon: &str) -> PrivacyMap<measures::SymmetricDistance, PureDp> {
    PrivacyMap::per_record(PureDp, epsilon).unwrap()
}

fn count(epsilon: &str) -> Measurement<Records<u8>, PureDp, i64> {
    let map = per_record(epsilon);
    Measurement::new("count", Records::new(), map, |data, scope| {
        Ok(data.len() as i64 + scope.draw(&Halving)?)
    })
}

#[test]
fn noise_is_cut_without_being_passed_in() {
    let audit = |epsilon| audit_measurement(&count(epsilon), vec![1], vec![1, 2]);
    let wrong = audit("0.5").enumerating(8).answer().unwrap();
    assert!(wrong.attack().is_some(), "{wrong}");
    let missing = Probability::new(1, 384).unwrap();
    assert_eq!(wrong.report.missing(), [&missing.to_rational(); 2]);
    // 17 answers on each input, 18 in all, in two groups.
    let text = wrong.to_string();
    assert!(
        text.starts_with("`count` claims 0.5 at distance 1: refuted: "),
        "{text}"
    );
    assert!(text.contains("\n  -7 … 1 (9 answers) → accept: "), "{text}");
    assert!(text.contains("\n  2 … 10 (9 answers) → stop: "), "{text}");

    // ln 2 is right: no attack, and no certainty about what was cut; but for a δ there is.
    let right = audit("0.6932").enumerating(8).answer().unwrap();
    assert!(
        matches!(&right.verdict.finding, Finding::Undecided { evidence } if evidence.contains("no attack")),
        "{right}"
    );
    let with_delta: EpsilonDelta = "(0.6932, 0.01)".parse().unwrap();
    assert!(right.report.claims(&with_delta).unwrap().holds());
    // A narrower cut finds less, and says nothing false.
    assert!(!audit("0.6").enumerating(1).answer().unwrap().holds());
    assert!(
        audit("0.6932")
            .enumerating(1)
            .answer()
            .unwrap()
            .attack()
            .is_none()
    );
}

#[test]
fn errors_and_panics_are_answers() {
    let failing = |how: fn() -> Result<bool, AskError>| {
        Measurement::new(
            "failing",
            Records::<u8>::new(),
            per_record("9"),
            move |data, _| {
                if data.is_empty() { Ok(true) } else { how() }
            },
        )
    };
    let hows: [fn() -> Result<bool, AskError>; 2] =
        [|| Err(AskError::failed("too many")), || panic!("too many")];
    for how in hows {
        let audited = audit_measurement(&failing(how), vec![], vec![1]);
        let audited = audited.answer().unwrap();
        let text = audited.to_string();
        assert!(text.contains("δ ≥ 1 at every ε"), "{text}");
        assert!(text.contains("error: "), "{text}");
        assert!(!audited.holds());
    }
    // The same failure on both says nothing about privacy.
    let audited = audit_measurement(&failing(|| Err(AskError::failed("no"))), vec![1], vec![2]);
    assert_eq!(
        audited.answer().unwrap_err(),
        AuditError::OnlyErrors(AskError::failed("no"))
    );
}

#[derive(Clone, Debug, PartialEq)]
struct Short;

impl Space for Short {
    type Data = Vec<u8>;
    type Distance = Neighbouring;
    type Metric = Neighbours;

    fn metric(&self) -> &Neighbours {
        &Neighbours
    }

    fn contains(&self, data: &Vec<u8>) -> bool {
        data.len() < 2
    }
}

#[test]
fn what_cannot_be_run_is_an_error() {
    let map = Short.map(PureDp, |_| Ok("1".parse().unwrap()));
    let length = Measurement::new("length", Short, map, |data, _| Ok(data.len()));
    let audit = audit_measurement_at(&length, Neighbouring, vec![], vec![1, 2]);
    let error = audit.answer().unwrap_err();
    assert!(
        matches!(error, AuditError::NotRun { input: 1, .. }),
        "{error}"
    );

    let unknown = Short.map(PureDp, |d| Err(MapError::failed(d, "not calibrated")));
    let unknown = Measurement::new("unknown", Short, unknown, |_, _| Ok(0));
    let panicking = Short.map(PureDp, |_| panic!("not calibrated"));
    let panicking = Measurement::new("panicking", Short, panicking, |_, _| Ok(0));
    for measurement in [unknown, panicking] {
        let audit = audit_measurement_at(&measurement, Neighbouring, vec![], vec![1]);
        assert!(matches!(audit.answer().unwrap_err(), AuditError::Map(_)));
    }
}

#[test]
fn an_attack_is_at_most_a_screen() {
    // A hundred answers, each with odds of its own: nothing can be grouped in a Rényi divergence.
    let law = |weight: fn(u64) -> u64| {
        let sum: u64 = (0..100).map(weight).sum();
        let outcomes = (0..100).map(|i| (i, Probability::new(weight(i), sum).unwrap()));
        Categorical::new(outcomes.collect()).unwrap()
    };
    let (even, rising) = (law(|_| 1), law(|i| i + 1));
    let map = PrivacyMap::<Neighbours, _>::constant_up_to(Zcdp, Neighbouring, "0.001").unwrap();
    let space = Any::<bool, _>::with(Neighbours);
    let rising = Measurement::new("rising", space, map, move |data, scope| {
        scope.draw(if **data { &rising } else { &even })
    });
    let audited = audit_measurement_at(&rising, Neighbouring, false, true)
        .answer()
        .unwrap();
    let attack = audited.attack().expect("refuted");
    let text = attack.to_string();
    assert_eq!(text.lines().count(), 42, "{text}");
    let [zero, one] = ["0 → accept: p0 = 0.01 (1/100), p1 = ", "… (1/5050)"];
    assert!(text.contains(zero) && text.contains(one), "{text}");
    assert!(
        text.ends_with("  … 61 more lines; all of it is in `Attack::play`\n"),
        "{text}"
    );
}

/// Randomized response that tells the truth with probability `truth/20`, and claims ln 3, which is right for 15.
fn response(truth: u64) -> Measurement<Records<u8>, PureDp, bool> {
    let truth = Bit::new(Probability::new(truth, 20).unwrap());
    Measurement::new(
        "response",
        Records::new(),
        per_record("1.0987"),
        move |data, scope| Ok(data.is_empty() ^ !scope.draw(&truth)?),
    )
}

#[test]
fn a_compositor_with_fixed_losses() {
    let audit = |truth| {
        let rule = OptimalPure::new("0.1").unwrap();
        let losses = vec!["1.0987".parse::<Epsilon>().unwrap(); 2];
        let compositor = Compositor::new(Records::<u8>::new(), rule, 1, losses);
        let compositor = compositor.measurement().unwrap();
        let response = response(truth);
        // Three are asked for, where there are two slots.
        let audit = audit_measurement(&compositor, vec![], vec![1]).trusting_equality();
        let three = audit.playing(
            3,
            |_| vec![()],
            |composition| {
                let response = response.clone();
                player(move |()| Ok::<Result<bool, LaunchError>, _>(composition.launch(&response)))
            },
        );
        three.unwrap()
    };
    assert!(audit(15).holds(), "{}", audit(15));
    let lied = audit(16);
    assert!(lied.attack().is_some(), "{lied}");
}
