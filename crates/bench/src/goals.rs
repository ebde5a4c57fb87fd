//! The goal of every bar, in one table, and the check that a run reaches them.
//!
//! Most bars compare two contestants in one run, so a loaded machine slows both: half of such a goal is enough, or twice
//! where less is better. Times by themselves depend on the machine: a check fails only beyond five times the goal.

use std::collections::BTreeMap;

use crate::measure::Effort;

/// What a bar is, which decides how far it may be from its goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Two contestants in one run, or bytes.
    Ratio,
    /// Seeded, or computed: it does not depend on the machine.
    Computed,
    /// A time or a rate by itself.
    Time,
}

impl Kind {
    fn slack(self) -> f64 {
        match self {
            Kind::Computed => 1.0,
            Kind::Ratio => 2.0,
            Kind::Time => 5.0,
        }
    }
}

/// What a bar should be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    AtLeast(f64),
    AtMost(f64),
    /// Printed for comparison with other bars.
    Any,
    /// Not printed in this form.
    Absent,
}

use Bound::{Absent, Any, AtLeast, AtMost};
use Kind::{Computed, Ratio, Time};

impl Bound {
    /// With this slack.
    fn relaxed(self, slack: f64) -> Self {
        match self {
            AtLeast(goal) => AtLeast(goal / slack),
            AtMost(goal) => AtMost(goal * slack),
            other => other,
        }
    }

    fn holds(self, value: f64) -> bool {
        match self {
            AtLeast(bound) => value >= bound,
            AtMost(bound) => value <= bound,
            Any | Absent => true,
        }
    }

    fn text(self) -> String {
        match self {
            AtLeast(bound) => format!("≥ {bound}"),
            AtMost(bound) => format!("≤ {bound}"),
            Any => "for comparison".to_owned(),
            Absent => "not printed".to_owned(),
        }
    }
}

/// A bar with its goals.
struct Goal {
    subcommand: &'static str,
    bar: &'static str,
    kind: Kind,
    full: Bound,
    /// In the quick form, which does less of what the ratio grows with.
    quick: Bound,
}

const fn goal(subcommand: &'static str, bar: &'static str, kind: Kind, full: Bound) -> Goal {
    Goal {
        subcommand,
        bar,
        kind,
        full,
        quick: full,
    }
}

impl Goal {
    const fn quick(self, quick: Bound) -> Self {
        Self { quick, ..self }
    }

    fn at(&self, effort: Effort) -> Bound {
        match effort {
            Effort::Full => self.full,
            Effort::Quick => self.quick,
        }
    }
}

/// Every bar of every subcommand, in the order in which they are printed.
const GOALS: &[Goal] = &[
    goal("numbers", "add_ratio", Ratio, AtLeast(30.0)),
    goal("numbers", "exp_ratio", Ratio, AtLeast(100.0)),
    goal("numbers", "ln_ratio", Ratio, AtLeast(100.0)),
    goal("rules", "absorb_ns", Time, AtMost(30.0)),
    goal("rules", "whitehouse_ns", Time, AtMost(500.0)),
    goal("rules", "kov_million_ms", Time, AtMost(100.0)),
    goal("accountant", "w1_ms", Time, AtMost(15.0)),
    goal("accountant", "laplace_ms", Time, AtMost(1.0)),
    goal("accountant", "mix_ms", Time, AtMost(5.0)),
    goal("accountant", "hundred_thousand_ms", Time, AtMost(200.0)),
    goal("accountant", "subsampled_ms", Time, AtMost(60.0)),
    goal("ask", "ask_ns", Time, AtMost(35.0)),
    goal("ask", "spawn_ns", Time, AtMost(80.0)),
    goal("ask", "threads2", Ratio, AtLeast(1.8)),
    goal("filter", "filter_ratio", Ratio, AtLeast(20_000.0)).quick(AtLeast(1_500.0)),
    goal("filter", "launch_ns", Time, AtMost(110.0)),
    goal("filter", "in_turns_ns", Time, AtMost(110.0)),
    goal("filter", "fresh_ns", Time, AtMost(350.0)),
    goal("filter", "growth", Ratio, AtMost(1.3)),
    goal("loss", "loss_ns", Time, AtMost(60.0)),
    goal("loss", "loss_ratio", Ratio, AtLeast(400_000.0)).quick(AtLeast(40_000.0)),
    goal("loss", "new_d_in_ratio", Ratio, AtLeast(28.0)),
    goal("loss", "new_d_in_different_ratio", Ratio, AtLeast(3.0)),
    goal("nested", "threads2", Ratio, AtLeast(1.5)),
    goal("nested", "null_threads2", Ratio, Any),
    goal("nested", "lock_threads2", Ratio, Any),
    goal("nested", "three_ns", Time, AtMost(250.0)),
    goal("nested", "bytes_per_child", Ratio, AtMost(24.0)),
    goal("partition", "first_launch_us", Time, AtMost(20.0)),
    goal("partition", "new_distance_s", Time, AtMost(1.0)),
    goal("audit", "depth5_ms", Time, Absent).quick(AtMost(15.0)),
    goal("audit", "depth8_ms", Time, AtMost(250.0)).quick(Absent),
    goal("audit", "three_plain_ms", Time, AtMost(150.0)),
    goal("audit", "three_hidden_ms", Time, AtMost(500.0)),
    goal("release", "laplace_release_ratio", Ratio, AtLeast(7.0)),
    goal("release", "gaussian_release_ratio", Ratio, AtLeast(12.0)),
    goal("release", "laplace_invoke_ratio", Ratio, AtLeast(14.0)),
    goal("release", "gaussian_invoke_ratio", Ratio, AtLeast(26.0)),
    goal("release", "constructor_us", Time, AtMost(1.0)),
    goal("release", "first_draw_us", Time, AtMost(8.0)),
    goal("samplers", "laplace_ratio", Ratio, AtLeast(40.0)),
    goal("samplers", "gaussian_ratio", Ratio, AtLeast(80.0)),
    goal("samplers", "for_epsilon_over_new", Ratio, AtMost(2.0)),
    goal("samplers", "for_rho_over_new", Ratio, AtMost(3.0)),
    goal("accuracy", "select", Computed, AtMost(1.02)),
    goal("accuracy", "counter_pure", Computed, AtMost(1.02)),
    goal("accuracy", "counter_zcdp", Computed, AtMost(1.02)),
    goal("accuracy", "threshold", Computed, AtMost(1.02)),
    goal("accuracy", "gaussian", Computed, AtMost(1.02)),
    goal("accuracy", "staircase", Computed, AtMost(1.02)),
    goal("accuracy", "monitor", Computed, AtMost(1.02)),
    goal("accuracy", "l2", Computed, AtMost(1.02)),
    goal("accuracy", "weights", Computed, AtMost(1.02)),
    goal("bridge", "bridge_ratio", Ratio, AtLeast(100.0)).quick(AtLeast(20.0)),
    goal("bridge", "overhead", Ratio, AtMost(5.0)),
    goal("continual", "updates_per_s", Time, AtLeast(1_000_000.0)),
    // A small table against a large one: it depends on how much of the caches other programs leave.
    goal("continual", "growth", Time, AtMost(1.5)),
    goal("continual", "bytes_per_unit", Ratio, AtMost(64.0)),
    goal("continual", "threads2", Ratio, Any),
    goal("ledger", "unattached_ratio", Ratio, AtMost(1.6)),
    goal("ledger", "durable_over_raw", Ratio, AtMost(4.0)),
    goal("ledger", "durable_on_large", Ratio, AtMost(4.0)),
    goal("ledger", "fan_in", Ratio, AtLeast(0.5)),
    goal("ledger", "launch_all", Ratio, AtLeast(0.4)),
    goal("ledger", "replay_million_s", Time, AtMost(3.0)),
    goal("ledger", "replay_different_s", Time, AtMost(5.0)),
    goal("ledger", "checkpoint_ms", Time, AtMost(10.0)),
    goal("ledger", "postgres_batch_gain", Ratio, AtLeast(20.0)),
    goal("hostile", "tiny_loss_slowdown", Ratio, AtMost(2.0)),
    // A leak is a message of a megabyte; the allocator keeps a page now and then.
    goal("hostile", "leak_bytes_per_panic", Ratio, AtMost(500.0)),
    goal("hostile", "question_64_s", Time, AtMost(2.0)),
    goal("hostile", "thread_panic_slowdown", Ratio, AtMost(2.0)),
    goal("hostile", "free_launch_bytes", Ratio, AtMost(300.0)),
    goal("hostile", "free_launches", Computed, AtMost(1_048_576.0)).quick(Any),
];

/// How often a subcommand is measured before a bar counts as missed.
pub const ATTEMPTS: usize = 3;

/// What is wrong with a bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    bar: String,
    /// In words.
    pub text: String,
}

/// Compares a line `bar: name=value …` with the goals of its subcommand. Returns what is wrong: bars that are missed, not
/// printed, printed twice or not numbers, and bars without a goal.
pub fn check(subcommand: &str, effort: Effort, line: &str) -> Vec<Problem> {
    compare(GOALS, subcommand, effort, line)
}

/// The problems of the last run with bars that had a problem in the runs before, too.
pub fn repeated(before: &[Problem], last: Vec<Problem>) -> Vec<Problem> {
    let known = |problem: &Problem| before.iter().any(|known| known.bar == problem.bar);
    last.into_iter().filter(known).collect()
}

fn compare(goals: &[Goal], subcommand: &str, effort: Effort, line: &str) -> Vec<Problem> {
    let mut wrong = Vec::new();
    let problem = |bar: &str, text: &str| Problem {
        bar: bar.to_owned(),
        text: format!("{subcommand}: {bar}{text}"),
    };
    let mut values = BTreeMap::new();
    for word in line.trim_start_matches("bar:").split_whitespace() {
        let (name, text) = word.split_once('=').unwrap_or((word, ""));
        if values.insert(name, text).is_some() {
            wrong.push(problem(name, " is printed twice"));
        }
    }
    for goal in goals.iter().filter(|goal| goal.subcommand == subcommand) {
        let (bar, bound) = (goal.bar, goal.at(effort));
        let Some(text) = values.remove(bar) else {
            if bound != Absent {
                wrong.push(problem(bar, " is not printed"));
            }
            continue;
        };
        // Percent, and "as many and more".
        let number = text.trim_end_matches(['%', '+']).parse::<f64>();
        let Some(value) = number.ok().filter(|value| value.is_finite()) else {
            wrong.push(problem(bar, &format!("={text} is not a number")));
            continue;
        };
        let limit = bound.relaxed(goal.kind.slack());
        if !limit.holds(value) {
            let (limit, goal) = (limit.text(), bound.text());
            let text = format!("={text}; the limit is {limit}, the goal {goal}");
            wrong.push(problem(bar, &text));
        }
    }
    let unknown = values.into_keys();
    wrong.extend(unknown.map(|name| problem(name, " has no goal")));
    wrong
}

/// The goals as a table for the documentation.
#[cfg(test)]
fn table() -> String {
    let mut table = String::from(
        "| `bench` | bar | goal | in the quick form | `--check` fails beyond |\n|---|---|---|---|---|\n",
    );
    for goal in GOALS {
        let quick = match goal.quick == goal.full {
            true => "the same".to_owned(),
            false => goal.quick.text(),
        };
        let limit = match (goal.full, goal.kind) {
            (Any, _) => "never".to_owned(),
            (_, Computed) => "the goal".to_owned(),
            (_, kind) => format!("{} times", kind.slack()),
        };
        table += &format!(
            "| `{}` | `{}` | {} | {quick} | {limit} |\n",
            goal.subcommand,
            goal.bar,
            goal.full.text()
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: &[Goal] = &[
        goal("one", "ratio", Ratio, AtLeast(30.0)).quick(AtLeast(10.0)),
        goal("one", "time_ns", Time, AtMost(10.0)),
        goal("one", "exact", Computed, AtMost(1.02)),
        goal("one", "lock", Ratio, Any),
        goal("one", "deep_ms", Time, AtMost(1.0)).quick(Absent),
        goal("other", "ratio", Ratio, AtMost(1.0)),
    ];

    fn wrong(effort: Effort, line: &str) -> Vec<String> {
        let problems = compare(FEW, "one", effort, line);
        problems.into_iter().map(|problem| problem.text).collect()
    }

    #[test]
    fn a_run_that_reaches_its_goals_passes() {
        let line = "bar: ratio=15.0 time_ns=50 exact=1.020 lock=0.1 deep_ms=5";
        assert_eq!(wrong(Effort::Full, line), [""; 0]);
        let line = "bar: ratio=5+ time_ns=-3% exact=1 lock=0";
        assert_eq!(wrong(Effort::Quick, line), [""; 0]);
        assert_eq!(compare(FEW, "other", Effort::Full, "bar: ratio=2"), []);
    }

    #[test]
    fn every_missed_bar_is_found() {
        let line = "bar: ratio=14.9 time_ns=50.1 exact=1.021 lock=0.1 deep_ms=5.1";
        assert_eq!(
            wrong(Effort::Full, line),
            [
                "one: ratio=14.9; the limit is ≥ 15, the goal ≥ 30",
                "one: time_ns=50.1; the limit is ≤ 50, the goal ≤ 10",
                "one: exact=1.021; the limit is ≤ 1.02, the goal ≤ 1.02",
                "one: deep_ms=5.1; the limit is ≤ 5, the goal ≤ 1",
            ]
        );
    }

    #[test]
    fn bars_and_goals_are_the_same() {
        let line = "bar: ratio=NaN time_ns=fast exact=1 exact=1 new=7";
        assert_eq!(
            wrong(Effort::Quick, line),
            [
                "one: exact is printed twice",
                "one: ratio=NaN is not a number",
                "one: time_ns=fast is not a number",
                "one: lock is not printed",
                "one: new has no goal",
            ]
        );
        assert_eq!(wrong(Effort::Full, "bar:").len(), 5);
        assert_eq!(check("no such", Effort::Full, "bar: x=1").len(), 1);
    }

    /// A bar is missed if every run misses it.
    #[test]
    fn only_repeated_problems_count() {
        let run = |line| compare(FEW, "one", Effort::Quick, line);
        let slow = run("bar: ratio=1 time_ns=99 exact=1 lock=1");
        let other = run("bar: ratio=2 time_ns=1 exact=2 lock=1");
        let both = repeated(&slow, other);
        assert_eq!(both.len(), 1);
        assert!(both[0].text.contains("ratio=2"));
        assert_eq!(
            repeated(&both, run("bar: ratio=10 time_ns=1 exact=1 lock=1")),
            []
        );
    }

    /// `docs/testing.md` has this table.
    #[test]
    fn the_documentation_lists_every_goal() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/testing.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (table, begins) = (table(), "| `bench` | bar |");
        let rows: Vec<&str> = page
            .lines()
            .skip_while(|line| !line.starts_with(begins))
            .collect();
        let rows = rows.split(|line| !line.starts_with('|')).next().unwrap();
        assert_eq!(rows.join("\n"), table.trim_end(), "right: the goals");
    }
}
