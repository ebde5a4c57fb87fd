//! A measure of your own, in one file: total variation. A mechanism has loss δ if no event's probability changes by
//! more than δ between neighbouring inputs. Children chosen adaptively compose to `1 − Π(1−δ_j)` (\[HSV25\] Lemma 5.9).
//!
//! What a measure needs: a loss with its order, the measure, a tally (what is remembered of the launches), and a rule
//! that is valid for adaptively chosen losses. The `odometer` crate makes odometers and filters of the last. If the
//! losses of your measure simply add up, implement `odometry::measures::Additive` instead and use the rule `odometry::measures::Basic`.

use odometry::exact::{Exact, Round};
use odometry::measures::{
    Adaptive, Loss, LossError, MapError, Measure, PrivacyMap, Rule, SymmetricDistance, Tallied,
    Tally, Total, laws,
};
use odometry::odometer::{Measurement, Odometer, Records};
use odometry::queryable::coins::{Bit, Probability};
use std::fmt;

/// The largest change of an event's probability, in `[0, 1]`; 1 is no guarantee.
#[derive(Clone, Debug, PartialEq)]
struct Change(Exact);

impl Change {
    fn new(delta: Exact) -> Result<Self, LossError> {
        if delta > Exact::ONE {
            return Err(LossError::Delta {
                delta: delta.to_string(),
            });
        }
        Ok(Change(delta))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Loss for Change {
    fn at_most(&self, other: &Self) -> bool {
        self.0 <= other.0
    }
}

#[derive(Clone, Debug, PartialEq)]
struct TotalVariation;

impl Measure for TotalVariation {
    type Loss = Change;

    fn zero(&self) -> Change {
        Change(Exact::ZERO)
    }

    fn infinity(&self) -> Change {
        Change(Exact::ONE)
    }
}

/// `Σ −ln(1−δ)`. A logarithm is rounded up once, when it enters; the sum itself is exact, so that neither the order nor
/// the grouping of launches matters. (A careless author would round the sum: the test kit will not have it.)
#[derive(Clone, Debug, Default, PartialEq)]
struct LogSurvival<const CARELESS: bool>(Exact);

impl<const CARELESS: bool> Tally for LogSurvival<CARELESS> {
    type Loss = Change;

    fn absorb(&mut self, loss: &Change, n: u64) {
        let log = loss.0.neg_ln_1m(Round::Up).unwrap_or(Exact::INFINITY);
        self.0 += log.times(n);
        if CARELESS {
            self.0 = Exact::try_from(self.0.to_f64(Round::Up)).unwrap_or(Exact::INFINITY);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.0 += &other.0;
    }

    fn join(&mut self, other: &Self) {
        self.0 = self.0.clone().max(other.0.clone());
    }
}

/// `1 − Π(1−δ_j)`, for adaptively chosen δ_j (\[HSV25\] Lemma 5.9), rounded up. Sequential, which is the default: to
/// allow more, name a theorem.
#[derive(Clone, Debug)]
struct Failures<const CARELESS: bool>;

impl<const CARELESS: bool> Rule for Failures<CARELESS> {
    type Child = TotalVariation;
    type Total = TotalVariation;

    fn child(&self) -> TotalVariation {
        TotalVariation
    }

    fn total(&self) -> TotalVariation {
        TotalVariation
    }
}

impl<const CARELESS: bool> Tallied for Failures<CARELESS> {
    type Tally = LogSurvival<CARELESS>;

    fn start(&self) -> Self::Tally {
        LogSurvival::default()
    }
}

impl<const CARELESS: bool> Adaptive for Failures<CARELESS> {
    fn loss(&self, tally: &Self::Tally) -> Total<Change> {
        Total::new(Change(tally.0.one_minus_exp_neg(Round::Up)))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let losses = ["0", "1e-9", "0.05", "0.3", "0.123456789123456789"]
        .map(|text| Change::new(text.parse().expect("a number")).expect("at most 1"));

    println!("checking the laws of the measure, the rule and its filter");
    laws::check_measure(&TotalVariation, &losses)?;
    let rule = Failures::<false>;
    laws::check_adaptive(&rule, &losses, &losses)?;
    laws::check_filter(&rule, &losses, &losses)?;

    let careless = laws::check_adaptive(&Failures::<true>, &losses, &losses);
    let careless = careless.expect_err("rounding inside of a sum");
    println!("a careless tally is found out: {careless}");

    println!("a map, at distances 1 and 3:");
    let map = PrivacyMap::<SymmetricDistance, _>::new(TotalVariation, |&n| {
        let delta = Exact::ratio(1, 20).map_err(|error| MapError::failed(&n, error.to_string()))?;
        Ok(Change(delta.times(n.into()).min(Exact::ONE)))
    });
    laws::check_map(&map, &[0, 1, 3, 30])?;
    println!("  {} and {}", map.loss(&1)?, map.loss(&3)?);

    println!("an odometer and a filter of 0.5, with questions of 0.05 each:");
    let records = Records::<i64>::new();
    // Tells the truth one time in twenty, and tosses a coin otherwise.
    let tossed = Bit::new(Probability::new(19, 20)?);
    let anybody = Measurement::new("anybody", records, map, move |data, scope| {
        let truth = !data.is_empty();
        Ok(if scope.draw(&tossed)? {
            scope.draw(&Bit::fair())?
        } else {
            truth
        })
    });
    let odometer = Odometer::new(records, rule.clone());
    let session = odometer.open(vec![1, 2, 3])?;
    for _ in 0..3 {
        session.launch(&anybody)?;
    }
    let spent = session.privacy_loss(&1)?;
    println!("  the odometer says {spent} after 3"); // 1 − 0.95³ = 0.142625
    assert!(spent.bound().at_most(&Change::new("0.142626".parse()?)?));

    let filter = odometer.filter(1, Change::new("0.5".parse()?)?)?;
    let session = filter.invoke(vec![1, 2, 3])?;
    let mut admitted = 0;
    let refusal = loop {
        match session.launch(&anybody) {
            Ok(_) => admitted += 1,
            Err(refusal) => break refusal,
        }
    };
    println!("  the filter admits {admitted}, where a sum would admit 10; then: {refusal}");
    assert_eq!(admitted, 13); // 0.95^13 = 0.513, 0.95^14 = 0.488
    Ok(())
}
