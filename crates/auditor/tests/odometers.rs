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
    Adaptive, ApproxDp, Basic, ChildLoss, Epsilon, EpsilonDelta, FilterRule, GaussianDp,
    Interleaving, Measure, Mu, Orders, PureDp, RenyiCurve, RenyiCurveDp, RenyiDp, RenyiEpsilon,
    Rho, Rule, RuleError, Tallied, Tally, Total, TotalLoss, Zcdp,
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
fn tallies<R: Tallied>(rule: &R, losses: &[ChildLoss<R>], most: usize) -> Vec<R::Tally> {
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

/// A tally that counts its first launch only: the planted mistake for every rule below.
#[derive(Clone, Debug, PartialEq)]
struct FirstOnly<T>(T, bool);

impl<T: Tally> Tally for FirstOnly<T> {
    type Loss = T::Loss;
    fn absorb(&mut self, loss: &T::Loss, n: u64) {
        if !self.1 && n > 0 {
            self.0.absorb(loss, 1);
            self.1 = true;
        }
    }
    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
        self.1 |= other.1;
    }
    fn join(&mut self, other: &Self) {
        self.0.join(&other.0);
        self.1 |= other.1;
    }
}

/// A filter rule that charges its first launch only.
#[derive(Clone, Debug)]
struct ForgetfulFilter<R>(R);

impl<R: FilterRule> Rule for ForgetfulFilter<R> {
    type Child = R::Child;
    type Total = R::Total;
    const INTERLEAVING: Interleaving = R::INTERLEAVING;
    fn child(&self) -> R::Child {
        self.0.child()
    }
    fn total(&self) -> R::Total {
        Rule::total(&self.0)
    }
}

impl<R: FilterRule> Tallied for ForgetfulFilter<R> {
    type Tally = FirstOnly<R::Tally>;
    fn start(&self) -> Self::Tally {
        FirstOnly(self.0.start(), false)
    }
}

impl<R: FilterRule> FilterRule for ForgetfulFilter<R> {
    type Gate = R::Gate;
    fn open(&self, budget: &TotalLoss<R>) -> Result<R::Gate, RuleError> {
        self.0.open(budget)
    }
    fn fits(&self, gate: &R::Gate, tally: &Self::Tally) -> bool {
        self.0.fits(gate, &tally.0)
    }
    fn remaining(&self, gate: &R::Gate, tally: &Self::Tally) -> Option<ChildLoss<R>> {
        self.0.remaining(gate, &tally.0)
    }
    fn spent(&self, gate: &R::Gate, tally: &Self::Tally) -> Total<TotalLoss<R>> {
        self.0.spent(gate, &tally.0)
    }
}

/// An odometer rule that charges its first launch only.
#[derive(Clone, Debug)]
struct ForgetfulOdometer<R>(R);

impl<R: Adaptive> Rule for ForgetfulOdometer<R> {
    type Child = R::Child;
    type Total = R::Total;
    const INTERLEAVING: Interleaving = R::INTERLEAVING;
    fn child(&self) -> R::Child {
        self.0.child()
    }
    fn total(&self) -> R::Total {
        Rule::total(&self.0)
    }
}

impl<R: Adaptive> Tallied for ForgetfulOdometer<R> {
    type Tally = FirstOnly<R::Tally>;
    fn start(&self) -> Self::Tally {
        FirstOnly(self.0.start(), false)
    }
}

impl<R: Adaptive> Adaptive for ForgetfulOdometer<R> {
    fn loss(&self, tally: &Self::Tally) -> Total<TotalLoss<R>> {
        self.0.loss(&tally.0)
    }
}

/// The filter holds its budget and admits more than one launch, which `single` bounds. The same filter is refuted if it
/// charges its first launch only.
fn holds_and_bites<R, S>(
    what: &str,
    rule: &R,
    budget: &TotalLoss<R>,
    single: &S,
    shelf: &Shelf<R::Child>,
    depth: usize,
) where
    R: FilterRule,
    S: Claim<Ask, Seen>,
    TotalLoss<R>: Claim<Ask, Seen> + std::fmt::Display,
{
    let report = audit_filter(rule, budget, shelf, depth);
    passes(what, &report, budget);
    refuted(&format!("{what}: one launch"), &report, single);
    let forgetful = ForgetfulFilter(rule.clone());
    let report = audit_filter(&forgetful, budget, shelf, depth);
    refuted(&format!("{what}: a forgetful filter"), &report, budget);
}

/// The truncated view holds its limit. The same odometer is refuted if it charges its first launch only.
fn odometer_holds<R>(what: &str, rule: &R, limit: &EpsilonDelta, shelf: &Shelf<ApproxDp>)
where
    R: Adaptive<Child = ApproxDp, Total = ApproxDp>,
{
    passes(what, &audit_truncated(rule, limit, shelf, 3), limit);
    let forgetful = ForgetfulOdometer(rule.clone());
    let report = audit_truncated(&forgetful, limit, shelf, 3);
    refuted(&format!("{what}: a forgetful odometer"), &report, limit);
}

/// Small losses that fit several times, and one of ln 9 of which two are refuted at every budget below.
fn slack_shelf() -> Shelf<ApproxDp> {
    let mut shelf = approx_shelf();
    shelf.entries.truncate(2);
    let kind = Kind::response(9, 1);
    let epsilon = epsilon(&kind.alone().factor(&RBig::ZERO).unwrap());
    let loss = EpsilonDelta::new(epsilon, Exact::ZERO).unwrap();
    shelf.entries.push((kind, loss));
    shelf
}

#[test]
fn filters_with_slack() {
    let shelf = slack_shelf();
    let budget: EpsilonDelta = "(2.2, 0.2)".parse().unwrap();
    // One launch with a loss below ln 9 has no larger δ(1).
    let single: EpsilonDelta = "(1, 0.02)".parse().unwrap();
    let slack: Exact = "0.15".parse().unwrap();
    let whitehouse = WhitehouseFilter::new(slack.clone()).unwrap();
    holds_and_bites("Whitehouse", &whitehouse, &budget, &single, &shelf, 4);
    let concentrated = ConcentratedFilter::new(slack).unwrap();
    holds_and_bites("zCDP", &concentrated, &budget, &single, &shelf, 4);
    let rogers = RogersLeastBudget::new("0.2").unwrap();
    holds_and_bites("Rogers", &rogers, &budget, &single, &shelf, 4);
}

#[test]
fn odometers_with_slack() {
    let shelf = slack_shelf();
    let [slack, delta]: [Exact; 2] = ["0.15", "0.2"].map(|text| text.parse().unwrap());
    let whitehouse = WhitehouseOdometer::new(slack.clone(), delta.clone()).unwrap();
    let concentrated = ConcentratedOdometer::new(slack, delta).unwrap();
    let rogers = RogersOdometer::new("0.2", 16).unwrap();
    for limit in ["(2.2, 0.2)", "(3, 0.2)"] {
        let limit = limit.parse().unwrap();
        odometer_holds("Whitehouse", &whitehouse, &limit, &shelf);
        odometer_holds("zCDP", &concentrated, &limit, &shelf);
        odometer_holds("Rogers", &rogers, &limit, &shelf);
    }
    // Each admits at least two launches within the larger limit: one has no larger δ at this ε.
    let limit = "(3, 0.2)".parse().unwrap();
    let single: EpsilonDelta = "(2.2, 0.02)".parse().unwrap();
    let admitted = |what: &str, report: Report<Ask, Seen>| refuted(what, &report, &single);
    admitted(
        "Whitehouse",
        audit_truncated(&whitehouse, &limit, &shelf, 3),
    );
    admitted("zCDP", audit_truncated(&concentrated, &limit, &shelf, 3));
    admitted("Rogers", audit_truncated(&rogers, &limit, &shelf, 3));
}

/// Each kind with its loss.
fn entries<M: Measure>(
    measure: M,
    kinds: &[Kind],
    loss: impl Fn(&Report<usize, usize>) -> M::Loss,
) -> Shelf<M> {
    let entry = |kind: &Kind| (kind.clone(), loss(&kind.alone()));
    Shelf {
        measure,
        entries: kinds.iter().map(entry).collect(),
    }
}

#[test]
fn concentrated_renyi_and_gaussian_filters() {
    let kinds = [Kind::response(3, 2), Kind::response(2, 1), interactive()];
    // The second kind has the largest loss of a single launch.
    let shelf = entries(Zcdp, &kinds, |alone| least_claim(alone, Rho::from));
    let (budget, single) = ("0.33".parse().unwrap(), shelf.entries[1].1.clone());
    holds_and_bites("zCDP", &Basic::new(Zcdp), &budget, &single, &shelf, 3);

    let order: Exact = 3u32.into();
    let at = |epsilon: Exact| RenyiEpsilon::new(order.clone(), epsilon).unwrap();
    let renyi = RenyiDp::new(order.clone()).unwrap();
    let shelf = entries(renyi.clone(), &kinds, |alone| least_claim(alone, at));
    let (budget, single) = (at("0.85".parse().unwrap()), shelf.entries[1].1.clone());
    holds_and_bites("Rényi", &Basic::new(renyi), &budget, &single, &shelf, 3);

    let shelf = entries(GaussianDp, &kinds, |alone| least_claim(alone, Mu::from));
    // Two responses are within the loss of one, as Gaussian losses go: their pure losses differ.
    let budget: Mu = "1.1".parse().unwrap();
    let single: Epsilon = "0.694".parse().unwrap();
    let rule = GaussianComposition;
    holds_and_bites("Gaussian", &rule, &budget, &single, &shelf, 3);

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
    let shelf = entries(measure.clone(), &kinds, curve);
    let budget =
        RenyiCurve::new(&orders, ["0.6".parse().unwrap(), "1.1".parse().unwrap()]).unwrap();
    let single = shelf.entries[1].1.clone();
    holds_and_bites("a curve", &Basic::new(measure), &budget, &single, &shelf, 3);
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
