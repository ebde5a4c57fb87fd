//! The test kit finds deliberately broken measures, maps and rules: one for each law.

use exact::Exact;
use measures::laws::{
    Law, Violation, check_adaptive, check_conversion, check_filter, check_map, check_measure,
    check_tally, check_time_uniform,
};
use measures::{
    Adaptive, Conversion, Epsilon, FilterRule, Loss, LossError, Measure, Neighbouring, Neighbours,
    PrivacyMap, PureDp, Rho, Rule, RuleError, SymmetricDistance, Tallied, Tally, TimeUniform,
    Total, Zcdp,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn law(result: Result<(), Violation>) -> Option<Law> {
    result.err().map(|violation| {
        assert!(!violation.witness.is_empty(), "{violation}");
        violation.law
    })
}

/// A loss whose order is that of small numbers, with one fault.
#[derive(Clone, Debug, PartialEq)]
struct Entry<const BROKEN: u8>(u8);

impl<const BROKEN: u8> fmt::Display for Entry<BROKEN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {}", self.0)
    }
}

impl<const BROKEN: u8> Loss for Entry<BROKEN> {
    fn at_most(&self, other: &Self) -> bool {
        match (BROKEN, self.0, other.0) {
            (1, 2, 2) => false,        // not reflexive
            (2, 1, 4) => false,        // not transitive: 1 ≤ 2 ≤ 4
            (3, 2, 1) => true,         // not antisymmetric: 1 ≤ 2 ≤ 1
            (4, 0, 2) => false,        // zero is not least
            (5, 2, INFINITY) => false, // infinity is not greatest
            (6, INFINITY, 0) => true,  // infinity is at most zero
            (_, a, b) => a <= b,
        }
    }

    fn on_grid(self) -> Self {
        Entry(match (BROKEN, self.0) {
            (7, 2) => 1,  // rounds down
            (8, 0) => 1,  // what is free would cost something
            (10, 1) => 2, // rounds again the second time
            (10, 2) => 4,
            (11, 1) => 9, // 1 ≤ 2, but not any more
            (_, x) => x,
        })
    }
}

const INFINITY: u8 = 9;

#[derive(Clone, Debug, PartialEq)]
struct Ranked<const BROKEN: u8> {
    accepts: bool,
}

impl<const BROKEN: u8> Measure for Ranked<BROKEN> {
    type Loss = Entry<BROKEN>;

    fn zero(&self) -> Self::Loss {
        Entry(0)
    }

    fn infinity(&self) -> Self::Loss {
        Entry(INFINITY)
    }

    fn check(&self, loss: &Self::Loss) -> Result<(), LossError> {
        if self.accepts {
            return Ok(());
        }
        Err(LossError::Foreign {
            loss: loss.to_string(),
            measure: "Ranked".into(),
        })
    }
}

fn order_law<const BROKEN: u8>() -> Option<Law> {
    law(check_measure(
        &Ranked::<BROKEN> { accepts: true },
        &[Entry(1), Entry(2), Entry(4)],
    ))
}

#[test]
fn broken_orders() {
    assert_eq!(order_law::<0>(), None);
    assert_eq!(order_law::<1>(), Some(Law::Reflexive));
    assert_eq!(order_law::<2>(), Some(Law::Transitive));
    assert_eq!(order_law::<3>(), Some(Law::Antisymmetric));
    assert_eq!(order_law::<4>(), Some(Law::ZeroIsLeast));
    assert_eq!(order_law::<5>(), Some(Law::InfinityIsGreatest));
    assert_eq!(order_law::<6>(), Some(Law::InfinityIsGreatest));
    assert_eq!(order_law::<7>(), Some(Law::OnGrid));
    assert_eq!(order_law::<8>(), Some(Law::OnGrid));
    assert_eq!(order_law::<10>(), Some(Law::OnGrid));
    assert_eq!(order_law::<11>(), Some(Law::OnGrid));
    let strict = Ranked::<0> { accepts: false };
    assert_eq!(
        law(check_measure(&strict, &[Entry(1)])),
        Some(Law::LossesBelong)
    );
}

#[test]
fn broken_maps() {
    let decreasing = PrivacyMap::<SymmetricDistance, _>::new(PureDp, |&d| {
        Ok(Epsilon::new(Exact::from(10u32.saturating_sub(d))))
    });
    assert_eq!(
        law(check_map(&decreasing, &[1, 2])),
        Some(Law::MapIsMonotone)
    );

    let calls = AtomicU32::new(0);
    let counting = PrivacyMap::<Neighbours, _>::new(PureDp, move |_| {
        Ok(Epsilon::new(Exact::from(
            calls.fetch_add(1, Ordering::Relaxed),
        )))
    });
    assert_eq!(
        law(check_map(&counting, &[Neighbouring])),
        Some(Law::MapIsAFunction)
    );

    let strict = Ranked::<0> { accepts: false };
    let foreign = PrivacyMap::<SymmetricDistance, _>::new(strict, |_| Ok(Entry(1)));
    assert_eq!(law(check_map(&foreign, &[1])), Some(Law::MapIsAFunction));

    let right = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    assert_eq!(law(check_map(&right, &[3, 0, 2])), None);
}

/// Pure privacy as zCDP by `ε²/2`, with one fault.
#[derive(Clone, Debug)]
struct Halved(Slip);

#[derive(Clone, Debug)]
enum Slip {
    None,
    /// Refuses what it should convert.
    Refuses,
    /// Forgets the square beyond one.
    Shrinks,
    /// Saturates at some finite number.
    Saturates,
    /// Counts how often it is asked.
    Counts(Arc<AtomicU32>),
}

impl Conversion for Halved {
    type From = PureDp;
    type To = Zcdp;

    fn from(&self) -> PureDp {
        PureDp
    }

    fn to(&self) -> Zcdp {
        Zcdp
    }

    fn convert(&self, loss: &Epsilon) -> Result<Rho, RuleError> {
        let up = exact::Round::Up;
        let epsilon = loss.value();
        let half = |x: &Exact| x.div(&Exact::from(2u32), up);
        let rho = half(&epsilon.mul(epsilon, up));
        Ok(Rho::new(match &self.0 {
            Slip::None => rho,
            Slip::Refuses => return Err(RuleError::parameter("ε", epsilon, "smaller")),
            Slip::Shrinks if *epsilon > Exact::ONE => Exact::ratio(1, 8).unwrap(),
            Slip::Saturates if rho > Exact::from(10u32) => Exact::from(10u32),
            Slip::Counts(calls) => rho + Exact::from(calls.fetch_add(1, Ordering::Relaxed)),
            _ => rho,
        }))
    }
}

#[test]
fn broken_conversions() {
    let check = |slip| law(check_conversion(&Halved(slip), &samples()));
    assert_eq!(check(Slip::None), None);
    assert_eq!(check(Slip::Refuses), Some(Law::ConversionIsAFunction));
    assert_eq!(check(Slip::Shrinks), Some(Law::ConversionIsMonotone));
    assert_eq!(
        check(Slip::Saturates),
        Some(Law::ConversionGuaranteesNothing)
    );
    let counting = Slip::Counts(Arc::default());
    assert_eq!(check(counting), Some(Law::ConversionIsAFunction));
}

/// What is broken about [`Summing`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    AbsorbsOnce,
    CountsNothing,
    RoundsInside,
    AfterForgets,
    MergeForgets,
    JoinTakesTheFirst,
    JoinTakesTheSmaller,
    ConstantAtTheStart,
    TotalWraps,
    InfinityIsFinite,
    WithinAlways,
    WithinNever,
    RemainingTooLarge,
    RemainingTooSmall,
    InfiniteBudget,
    FitsOnlyExactly,
    RefusesTheStart,
    AdmitsInfinity,
    SpentTooMuch,
    SpentAtTheStart,
}

/// A pure sum, with one fault.
#[derive(Clone, Debug, PartialEq)]
struct Summing(Fault);

#[derive(Clone, Debug, PartialEq)]
struct Faulty {
    fault: Fault,
    sum: Exact,
}

impl Tally for Faulty {
    type Loss = Epsilon;

    fn absorb(&mut self, loss: &Epsilon, n: u64) {
        match self.fault {
            Fault::AbsorbsOnce => self.sum += loss.value(),
            Fault::CountsNothing if n == 0 => self.sum += Exact::ONE,
            Fault::RoundsInside => {
                let sum = (&self.sum + &loss.value().times(n)).to_f64(exact::Round::Up) as f32;
                self.sum = Exact::try_from(f64::from(sum)).unwrap();
            }
            _ => self.sum += loss.value().times(n),
        }
    }

    fn merge(&mut self, other: &Self) {
        if self.fault != Fault::MergeForgets {
            self.sum += &other.sum;
        }
    }

    fn join(&mut self, other: &Self) {
        let keep = match self.fault {
            Fault::JoinTakesTheFirst => true,
            Fault::JoinTakesTheSmaller => self.sum <= other.sum,
            _ => self.sum >= other.sum,
        };
        if !keep {
            self.sum = other.sum.clone();
        }
    }

    fn after(&self, loss: &Epsilon, n: u64) -> Self {
        let mut next = self.clone();
        if self.fault != Fault::AfterForgets || self.sum.is_zero() {
            next.absorb(loss, n);
        }
        next
    }
}

/// Both kinds of rules with the same measure and tally.
macro_rules! pure_rule {
    ($rule:ty) => {
        impl Rule for $rule {
            type Child = PureDp;
            type Total = PureDp;

            fn child(&self) -> PureDp {
                PureDp
            }

            fn total(&self) -> PureDp {
                PureDp
            }
        }

        impl Tallied for $rule {
            type Tally = Faulty;

            fn start(&self) -> Faulty {
                Faulty {
                    fault: self.0,
                    sum: Exact::ZERO,
                }
            }
        }
    };
}

pure_rule!(Summing);

impl Adaptive for Summing {
    fn loss(&self, tally: &Faulty) -> Total<Epsilon> {
        let sum = tally.sum.clone();
        Total::new(Epsilon::new(match self.0 {
            Fault::ConstantAtTheStart => sum + Exact::ONE,
            Fault::TotalWraps if sum > Exact::ONE && sum.is_finite() => Exact::ZERO,
            Fault::InfinityIsFinite if sum.is_infinite() => Exact::from(1000u32),
            _ => sum,
        }))
    }

    fn within(&self, tally: &Faulty, budget: &Epsilon) -> bool {
        match self.0 {
            Fault::WithinAlways => tally.sum.is_finite(),
            Fault::WithinNever => false,
            Fault::AdmitsInfinity if tally.sum.is_infinite() => true,
            _ => self.loss(tally).at_most(budget),
        }
    }

    fn remaining_within(&self, tally: &Faulty, budget: &Epsilon) -> Option<Epsilon> {
        let rest = budget.value().checked_sub(&tally.sum)?;
        Some(Epsilon::new(match self.0 {
            Fault::RemainingTooLarge => rest + Exact::ONE,
            Fault::RemainingTooSmall => Exact::ZERO,
            _ => rest,
        }))
    }
}

fn samples() -> Vec<Epsilon> {
    ["0", "0.1", "0.7", "1e-12", "2"]
        .map(|text| text.parse().unwrap())
        .to_vec()
}

#[test]
fn broken_accumulators() {
    let check = |fault| law(check_adaptive(&Summing(fault), &samples(), &samples()));
    assert_eq!(check(Fault::None), None);
    assert_eq!(check(Fault::AbsorbsOnce), Some(Law::AbsorbMany));
    assert_eq!(check(Fault::CountsNothing), Some(Law::AbsorbMany));
    assert_eq!(check(Fault::AfterForgets), Some(Law::After));
    assert_eq!(check(Fault::MergeForgets), Some(Law::Merge));
    assert_eq!(check(Fault::JoinTakesTheFirst), Some(Law::Join));
    assert_eq!(check(Fault::JoinTakesTheSmaller), Some(Law::Join));
    assert_eq!(check(Fault::ConstantAtTheStart), Some(Law::NoLaunchIsZero));
    assert_eq!(check(Fault::TotalWraps), Some(Law::TotalIsMonotone));
    assert_eq!(
        check(Fault::InfinityIsFinite),
        Some(Law::InfinityIsAbsorbed)
    );
    assert_eq!(check(Fault::WithinAlways), Some(Law::Within));
    assert_eq!(check(Fault::WithinNever), Some(Law::Within));
    assert_eq!(check(Fault::AdmitsInfinity), Some(Law::InfinityIsAbsorbed));
    assert_eq!(check(Fault::RemainingTooLarge), Some(Law::Remaining));
    assert_eq!(check(Fault::RemainingTooSmall), Some(Law::Remaining));
}

/// Remembers the launches in order, or merges to something else: the faults that a number cannot have.
#[derive(Clone, Debug, PartialEq)]
struct Listing {
    merge: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct List {
    merge: bool,
    last: Exact,
    sum: Exact,
}

impl Tally for List {
    type Loss = Epsilon;

    fn absorb(&mut self, loss: &Epsilon, n: u64) {
        if n > 0 && !self.merge {
            self.last = loss.value().clone();
        }
        self.sum += loss.value().times(n);
    }

    fn merge(&mut self, other: &Self) {
        let equal = self.sum == other.sum;
        self.sum += &other.sum;
        match self.merge {
            true if !equal => self.last = Exact::ONE,
            true => {}
            false => self.last = other.last.clone(),
        }
    }

    fn join(&mut self, other: &Self) {
        if self.sum < other.sum {
            *self = other.clone();
        }
    }
}

impl Rule for Listing {
    type Child = PureDp;
    type Total = PureDp;

    fn child(&self) -> PureDp {
        PureDp
    }

    fn total(&self) -> PureDp {
        PureDp
    }
}

impl Tallied for Listing {
    type Tally = List;

    fn start(&self) -> List {
        List {
            merge: self.merge,
            last: Exact::ZERO,
            sum: Exact::ZERO,
        }
    }
}

#[test]
fn broken_tallies() {
    let samples = samples();
    let last = Listing { merge: false };
    assert_eq!(
        law(check_tally(&last, &samples)),
        Some(Law::OrderIsIrrelevant)
    );
    let merge = Listing { merge: true };
    assert_eq!(law(check_tally(&merge, &samples)), Some(Law::Merge));
    // Rounding inside of a sum is found by its dependence on the order or the grouping.
    let rounding = law(check_tally(&Summing(Fault::RoundsInside), &samples));
    assert!(matches!(
        rounding,
        Some(Law::AbsorbMany | Law::OrderIsIrrelevant | Law::Merge)
    ));
}

/// A filter by a pure sum, with one fault.
#[derive(Clone, Debug, PartialEq)]
struct Gating(Fault);

pure_rule!(Gating);

impl FilterRule for Gating {
    type Gate = Epsilon;

    fn open(&self, budget: &Epsilon) -> Result<Epsilon, RuleError> {
        if budget.value().is_infinite() && self.0 != Fault::InfiniteBudget {
            return Err(RuleError::budget(budget, "infinite"));
        }
        Ok(budget.clone())
    }

    fn fits(&self, gate: &Epsilon, tally: &Faulty) -> bool {
        match self.0 {
            Fault::FitsOnlyExactly => tally.sum.is_zero() || tally.sum == *gate.value(),
            Fault::RefusesTheStart => !tally.sum.is_zero() && tally.sum <= *gate.value(),
            Fault::AdmitsInfinity => tally.sum <= *gate.value() || tally.sum.is_infinite(),
            _ => tally.sum <= *gate.value(),
        }
    }

    fn remaining(&self, gate: &Epsilon, tally: &Faulty) -> Option<Epsilon> {
        let rest = gate.value().checked_sub(&tally.sum)?;
        Some(Epsilon::new(match self.0 {
            Fault::RemainingTooLarge => rest + Exact::ONE,
            Fault::RemainingTooSmall => Exact::ZERO,
            _ => rest,
        }))
    }

    fn spent(&self, _: &Epsilon, tally: &Faulty) -> Total<Epsilon> {
        Total::new(Epsilon::new(match self.0 {
            Fault::SpentTooMuch => tally.sum.times(3),
            Fault::SpentAtTheStart => &tally.sum + &Exact::ONE,
            _ => tally.sum.clone(),
        }))
    }
}

#[test]
fn broken_filters() {
    let check = |fault| law(check_filter(&Gating(fault), &samples(), &samples()));
    assert_eq!(check(Fault::None), None);
    assert_eq!(check(Fault::InfiniteBudget), Some(Law::InfiniteBudget));
    assert_eq!(check(Fault::FitsOnlyExactly), Some(Law::FitsDownwards));
    assert_eq!(check(Fault::RefusesTheStart), Some(Law::FitsDownwards));
    assert_eq!(check(Fault::AdmitsInfinity), Some(Law::InfinityIsAbsorbed));
    assert_eq!(check(Fault::SpentTooMuch), Some(Law::Spent));
    assert_eq!(check(Fault::SpentAtTheStart), Some(Law::Spent));
    assert_eq!(check(Fault::RemainingTooLarge), Some(Law::Remaining));
    assert_eq!(check(Fault::RemainingTooSmall), Some(Law::Remaining));
    assert_eq!(check(Fault::AbsorbsOnce), Some(Law::AbsorbMany));
}

/// A time-uniform bound by a pure sum, with one fault.
#[derive(Clone, Debug, PartialEq)]
struct Timing(Fault);

pure_rule!(Timing);

impl TimeUniform for Timing {
    fn bound(&self, tally: &Faulty) -> Total<Epsilon> {
        Summing(self.0).loss(tally)
    }
}

#[test]
fn broken_time_uniform_rules() {
    let check = |fault| law(check_time_uniform(&Timing(fault), &samples()));
    assert_eq!(check(Fault::None), None);
    assert_eq!(check(Fault::ConstantAtTheStart), Some(Law::NoLaunchIsZero));
    assert_eq!(check(Fault::TotalWraps), Some(Law::TotalIsMonotone));
    assert_eq!(
        check(Fault::InfinityIsFinite),
        Some(Law::InfinityIsAbsorbed)
    );
}
