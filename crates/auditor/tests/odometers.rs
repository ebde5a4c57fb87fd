//! Every filter and odometer with every adaptive rule passes, with interactive children and losses chosen from answers;
//! broken rules are refuted, and the attack is printed.

use crate::common::lab::{
    Ask, Kind, Seen, Shelf, audit_filter, audit_filter_by, audit_truncated, epsilon, least_claim,
};
use crate::common::{Table, ratio};
use auditor::{Claim, Factor, Report};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{
    Adaptive, ApproxDp, Basic, Epsilon, EpsilonDelta, FilterRule, GaussianDp, Mu, Orders, PureDp,
    RenyiCurve, RenyiCurveDp, RenyiDp, RenyiEpsilon, Rho, Rule, RuleError, Tallied, Tally, Total,
    Zcdp,
    adaptive::{
        ConcentratedFilter, ConcentratedOdometer, GaussianComposition, ImprovedBasic,
        RogersLeastBudget, RogersOdometer, WhitehouseFilter, WhitehouseOdometer,
    },
    fixed::optimal_delta,
};

/// Two rounds, two answers, a hidden coin.
fn interactive() -> Kind {
    Kind::Interactive(Table {
        rounds: 2,
        answers: 2,
        hidden: true,
        weights: vec![5, 7, 6, 8, 7, 5, 9, 6, 8, 7, 5],
    })
}

fn pure_shelf() -> Shelf<PureDp> {
    let with = |kind: Kind| {
        let factor = kind.alone().factor(&RBig::ZERO).unwrap();
        (kind, Epsilon::from(epsilon(&factor)))
    };
    Shelf {
        measure: PureDp,
        entries: vec![
            with(Kind::response(3, 2)),
            with(Kind::response(3, 1)),
            with(interactive()),
        ],
    }
}

fn approx_shelf() -> Shelf<ApproxDp> {
    let with = |kind: Kind, delta: RBig| {
        let factor = kind.alone().factor(&delta).unwrap();
        let delta = Exact::from_rational(&delta, Round::Up).unwrap();
        (kind, EpsilonDelta::new(epsilon(&factor), delta).unwrap())
    };
    let leaky = Kind::Response(Factor::new(3, 2).unwrap(), ratio(1, 50));
    Shelf {
        measure: ApproxDp,
        entries: vec![
            with(leaky, ratio(1, 50)),
            with(Kind::response(2, 1), RBig::ZERO),
            with(interactive(), ratio(1, 40)),
        ],
    }
}

/// Sums of the losses of up to `most` launches, in all ways.
fn tallies<R: Tallied>(rule: &R, losses: &[measures::ChildLoss<R>], most: usize) -> Vec<R::Tally> {
    let mut level = vec![rule.start()];
    let mut all = level.clone();
    for _ in 0..most {
        level = level
            .iter()
            .flat_map(|tally| losses.iter().map(move |loss| tally.after(loss, 1)))
            .collect();
        for tally in &level {
            if !all.contains(tally) {
                all.push(tally.clone());
            }
        }
    }
    all
}

fn passes<L: Claim<Ask, Seen> + std::fmt::Display>(
    what: &str,
    report: &Report<Ask, Seen>,
    loss: &L,
) {
    let verdict = report.claims(loss).unwrap();
    assert!(verdict.holds(), "{what} within {loss}: {verdict}");
}

fn refuted<L: Claim<Ask, Seen>>(what: &str, report: &Report<Ask, Seen>, loss: &L) {
    let verdict = report.claims(loss).unwrap();
    match verdict.attack() {
        Some(attack) => println!("{what}:\n{attack}"),
        None => panic!("{what} was not refuted: {verdict}"),
    }
}

#[test]
fn basic_filters_and_odometers_of_pure_losses() {
    let shelf = pure_shelf();
    let rule = Basic::new(PureDp);
    let losses: Vec<Epsilon> = shelf.entries.iter().map(|entry| entry.1.clone()).collect();
    for tally in tallies(&rule, &losses, 2) {
        let budget = rule.loss(&tally).bound().clone();
        passes(
            "a filter",
            &audit_filter(&rule, &budget, &shelf, 3),
            &budget,
        );
        passes(
            "a truncated view",
            &audit_truncated(&rule, &budget, &shelf, 3),
            &budget,
        );
    }
}

#[test]
fn basic_and_improved_odometers_of_approximate_losses() {
    let shelf = approx_shelf();
    let losses: Vec<EpsilonDelta> = shelf.entries.iter().map(|entry| entry.1.clone()).collect();
    fn check<R: Adaptive<Child = ApproxDp, Total = ApproxDp>>(
        rule: &R,
        shelf: &Shelf<ApproxDp>,
        losses: &[EpsilonDelta],
    ) {
        let totals: Vec<EpsilonDelta> = tallies(rule, losses, 2)
            .iter()
            .map(|tally| rule.loss(tally).bound().clone())
            .collect();
        // Attained totals, and joins of two of them.
        let mut limits = totals.clone();
        for a in &totals {
            let b = &totals[totals.len() - 1];
            let join = EpsilonDelta::saturating(
                a.epsilon().max(b.epsilon()).clone(),
                a.delta().max(b.delta()).clone(),
            );
            if !limits.contains(&join) {
                limits.push(join);
            }
        }
        for limit in &limits {
            passes(
                "a truncated view",
                &audit_truncated(rule, limit, shelf, 3),
                limit,
            );
        }
        passes(
            "a filter",
            &audit_filter(rule, &totals[4], shelf, 3),
            &totals[4],
        );
    }
    check(&Basic::new(ApproxDp), &shelf, &losses);
    check(&ImprovedBasic, &shelf, &losses);
}

#[test]
fn filters_with_slack() {
    let mut shelf = approx_shelf();
    shelf.entries.truncate(2);
    let budget: EpsilonDelta = "(2.2, 0.2)".parse().unwrap();
    let slack: Exact = "0.15".parse().unwrap();
    let check = |what: &str, report: Report<Ask, Seen>| {
        passes(what, &report, &budget);
        // It admits something.
        assert!(report.total_variation().least > ratio(1, 10));
    };
    check(
        "Whitehouse",
        audit_filter(
            &WhitehouseFilter::new(slack.clone()).unwrap(),
            &budget,
            &shelf,
            4,
        ),
    );
    check(
        "zCDP",
        audit_filter(
            &ConcentratedFilter::new(slack.clone()).unwrap(),
            &budget,
            &shelf,
            4,
        ),
    );
    let rogers = RogersLeastBudget::new("0.2").unwrap();
    passes(
        "Rogers",
        &audit_filter(&rogers, &budget, &shelf, 4),
        &budget,
    );
    let delta: Exact = "0.2".parse().unwrap();
    let odometers = (
        WhitehouseOdometer::new(slack.clone(), delta.clone()).unwrap(),
        ConcentratedOdometer::new(slack, delta).unwrap(),
        RogersOdometer::new("0.2", 16).unwrap(),
    );
    for limit in ["(1.5, 0.2)", "(2.2, 0.2)", "(3, 0.2)"] {
        let limit = limit.parse().unwrap();
        passes(
            "Whitehouse",
            &audit_truncated(&odometers.0, &limit, &shelf, 3),
            &limit,
        );
        passes(
            "zCDP",
            &audit_truncated(&odometers.1, &limit, &shelf, 3),
            &limit,
        );
        passes(
            "Rogers",
            &audit_truncated(&odometers.2, &limit, &shelf, 3),
            &limit,
        );
    }
}

#[test]
fn concentrated_renyi_and_gaussian_filters() {
    let kinds = [Kind::response(3, 2), Kind::response(2, 1), interactive()];
    let reports: Vec<_> = kinds.iter().map(Kind::alone).collect();
    let shelf = |measure| Shelf {
        measure,
        entries: kinds
            .iter()
            .cloned()
            .zip(reports.iter().map(|r| least_claim(r, Rho::from)))
            .collect(),
    };
    let rule = Basic::new(Zcdp);
    let budget: Rho = "0.33".parse().unwrap();
    passes(
        "zCDP",
        &audit_filter(&rule, &budget, &shelf(Zcdp), 3),
        &budget,
    );

    let order: Exact = 3u32.into();
    let renyi = RenyiDp::new(order.clone()).unwrap();
    let shelf = Shelf {
        measure: renyi.clone(),
        entries: kinds
            .iter()
            .cloned()
            .zip(
                reports
                    .iter()
                    .map(|r| least_claim(r, |e| RenyiEpsilon::new(order.clone(), e).unwrap())),
            )
            .collect(),
    };
    let budget = RenyiEpsilon::new(order, "0.85".parse().unwrap()).unwrap();
    passes(
        "Rényi",
        &audit_filter(&Basic::new(renyi), &budget, &shelf, 3),
        &budget,
    );

    let shelf = Shelf {
        measure: GaussianDp,
        entries: kinds
            .iter()
            .cloned()
            .zip(reports.iter().map(|r| least_claim(r, Mu::from)))
            .collect(),
    };
    let budget: Mu = "1.1".parse().unwrap();
    passes(
        "Gaussian",
        &audit_filter(&GaussianComposition, &budget, &shelf, 3),
        &budget,
    );

    let orders = Orders::new([2, 4]).unwrap();
    let curve = |report: &Report<usize, usize>| {
        let at = |order: u32| {
            let bound = |direction| report.renyi(&order.into(), direction).unwrap().most;
            let [zero, one] = auditor::Direction::BOTH;
            bound(zero).max(bound(one))
        };
        RenyiCurve::new(&orders, [at(2), at(4)]).unwrap()
    };
    let measure = RenyiCurveDp::new(orders.clone());
    let shelf = Shelf {
        measure: measure.clone(),
        entries: kinds
            .iter()
            .cloned()
            .zip(reports.iter().map(curve))
            .collect(),
    };
    let budget =
        RenyiCurve::new(&orders, ["0.6".parse().unwrap(), "1.1".parse().unwrap()]).unwrap();
    passes(
        "a curve",
        &audit_filter(&Basic::new(measure), &budget, &shelf, 3),
        &budget,
    );
}

/// A wrong rule: what it remembers is given by a function of what it knew and the next loss.
#[derive(Clone, Debug)]
struct Wrong(fn(&Exact, &Exact) -> Exact);

#[derive(Clone, Debug)]
struct WrongTally {
    total: Exact,
    absorb: fn(&Exact, &Exact) -> Exact,
}

impl PartialEq for WrongTally {
    fn eq(&self, other: &Self) -> bool {
        self.total == other.total
    }
}

impl Tally for WrongTally {
    type Loss = Epsilon;
    fn absorb(&mut self, loss: &Epsilon, n: u64) {
        for _ in 0..n {
            self.total = (self.absorb)(&self.total, loss.value());
        }
    }
    fn merge(&mut self, other: &Self) {
        self.total += &other.total;
    }
    fn join(&mut self, other: &Self) {
        self.total = self.total.clone().max(other.total.clone());
    }
}

impl Rule for Wrong {
    type Child = PureDp;
    type Total = PureDp;
    fn child(&self) -> PureDp {
        PureDp
    }
    fn total(&self) -> PureDp {
        PureDp
    }
}

impl Tallied for Wrong {
    type Tally = WrongTally;
    fn start(&self) -> WrongTally {
        WrongTally {
            total: Exact::ZERO,
            absorb: self.0,
        }
    }
}

impl Adaptive for Wrong {
    fn loss(&self, tally: &WrongTally) -> Total<Epsilon> {
        Total::new(tally.total.clone().into())
    }
}

#[test]
fn an_accumulator_that_takes_the_maximum_is_refuted() {
    let shelf = pure_shelf();
    let rule = Wrong(|total, loss| total.clone().max(loss.clone()));
    let budget = shelf.entries[1].1.clone();
    refuted(
        "the maximum instead of the sum",
        &audit_filter(&rule, &budget, &shelf, 3),
        &budget,
    );
    refuted(
        "the same, truncated view",
        &audit_truncated(&rule, &budget, &shelf, 3),
        &budget,
    );
}

#[test]
fn a_filter_that_forgets_to_charge_is_refuted() {
    let shelf = pure_shelf();
    let rule = Wrong(|total, loss| {
        if total.is_zero() {
            loss.clone()
        } else {
            total.clone()
        }
    });
    let budget = shelf.entries[0].1.clone();
    refuted(
        "only the first launch is charged",
        &audit_filter(&rule, &budget, &shelf, 3),
        &budget,
    );
}

/// Optimal composition used as a filter: wrong, because it is valid for losses fixed in advance only.
#[derive(Clone, Debug)]
struct OptimalAsFilter;

#[derive(Clone, Debug, PartialEq)]
struct List(Vec<EpsilonDelta>);

impl Tally for List {
    type Loss = EpsilonDelta;
    fn absorb(&mut self, loss: &EpsilonDelta, n: u64) {
        self.0.extend(std::iter::repeat_n(loss.clone(), n as usize));
    }
    fn merge(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }
    fn join(&mut self, other: &Self) {
        self.merge(other);
    }
}

impl Rule for OptimalAsFilter {
    type Child = ApproxDp;
    type Total = ApproxDp;
    fn child(&self) -> ApproxDp {
        ApproxDp
    }
    fn total(&self) -> ApproxDp {
        ApproxDp
    }
}

impl Tallied for OptimalAsFilter {
    type Tally = List;
    fn start(&self) -> List {
        List(vec![])
    }
}

impl FilterRule for OptimalAsFilter {
    type Gate = EpsilonDelta;
    fn open(&self, budget: &EpsilonDelta) -> Result<EpsilonDelta, RuleError> {
        Ok(budget.clone())
    }
    fn fits(&self, gate: &EpsilonDelta, tally: &List) -> bool {
        tally.0.is_empty()
            || optimal_delta(&tally.0, gate.epsilon()).is_some_and(|delta| delta <= *gate.delta())
    }
    fn remaining(&self, _: &EpsilonDelta, _: &List) -> Option<EpsilonDelta> {
        None
    }
    fn spent(&self, gate: &EpsilonDelta, _: &List) -> Total<EpsilonDelta> {
        Total::new(gate.clone())
    }
}

/// RR_ε for a decimal ε, with `e^ε` rounded down to a rational.
fn response(text: &str) -> (Kind, EpsilonDelta) {
    let loss: EpsilonDelta = format!("({text}, 0)").parse().unwrap();
    let t = loss.epsilon().exp(Round::Down).to_f64(Round::Down);
    let factor = Factor::new((t * 1e9) as u64, 1_000_000_000).unwrap();
    (Kind::Response(factor, RBig::ZERO), loss)
}

#[test]
fn optimal_composition_used_as_a_filter_is_refuted() {
    let budget: EpsilonDelta = "(1.5, 0.1)".parse().unwrap();
    let shelf = Shelf {
        measure: ApproxDp,
        entries: vec![response("0.25"), response("1.49557"), response("0.592719")],
    };
    // The first answer decides between one large launch and four small ones.
    let offer = |history: &[queryable::Exchange<Ask, Seen>]| match history {
        [] => vec![Ask::Launch(0)],
        [_] => vec![Ask::Launch(1), Ask::Launch(2)],
        [_, second, ..] if second.query == Ask::Launch(2) => vec![Ask::Launch(2)],
        _ => vec![],
    };
    let report = audit_filter_by(&OptimalAsFilter, &budget, &shelf, 5, offer);
    refuted("optimal composition as a filter", &report, &budget);
    let high = Factor::of_epsilon(budget.epsilon(), Round::Up).unwrap();
    let delta = report.delta(&high).least.to_f64().value();
    assert!((delta - 0.13483).abs() < 5e-6, "{delta}");
    // The basic rule on the same shelf passes.
    passes(
        "basic",
        &audit_filter_by(&Basic::new(ApproxDp), &budget, &shelf, 5, offer),
        &budget,
    );
}
