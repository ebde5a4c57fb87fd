//! Side-by-side measurements in one run: `bench <subcommand> [--quick] [--check]`, or `bench all`. With `--check`, a bar that misses
//! its goal is an error (`goals.rs`).
//! Each subcommand prints a table and, as its last line, `bar: name=value …`.

mod accountant;
mod accuracy;
mod ask;
mod audit;
mod bridge;
mod continual;
mod filter;
mod hostile;
mod ledger;
mod loss;
mod nested;
mod numbers;
mod ours;
mod partition;
mod postgres;
mod release;
mod rules;
mod samplers;
mod theirs;

use std::process::ExitCode;

use bench::goals::{self, ATTEMPTS};
use bench::measure::{self, Effort};
use bench::plan::{Plan, Subcommand, help, plan};

const fn subcommand(
    name: &'static str,
    about: &'static str,
    run: fn(Effort) -> String,
) -> Subcommand {
    Subcommand { name, about, run }
}

/// To add one: a module, a line here, and the goals of its bars in `goals.rs`.
const SUBCOMMANDS: &[Subcommand] = &[
    subcommand(
        "numbers",
        "exact numbers and OpenDP's directed floats",
        numbers::run,
    ),
    subcommand(
        "rules",
        "composition rules: a launch, a million children",
        rules::run,
    ),
    subcommand(
        "accountant",
        "certified ε of compositions fixed in advance",
        accountant::run,
    ),
    subcommand("ask", "what asking and spawning a machine costs", ask::run),
    subcommand(
        "filter",
        "launches under a filter, and OpenDP's filter and odometer",
        filter::run,
    ),
    subcommand(
        "loss",
        "asking for the privacy loss, and OpenDP's odometer",
        loss::run,
    ),
    subcommand(
        "nested",
        "nested sessions, two threads, memory",
        nested::run,
    ),
    subcommand(
        "partition",
        "many parts: first launches, a question about many records",
        partition::run,
    ),
    subcommand(
        "audit",
        "exact audits: growth with depth, three machines at once",
        audit::run,
    ),
    subcommand(
        "release",
        "whole noisy releases and constructors, and OpenDP's",
        release::run,
    ),
    subcommand("samplers", "exact noise, and OpenDP's", samplers::run),
    subcommand(
        "accuracy",
        "noise at the same loss, and the best known",
        accuracy::run,
    ),
    subcommand(
        "bridge",
        "OpenDP's Laplace bare, through our filter, and through OpenDP's",
        bridge::run,
    ),
    subcommand(
        "continual",
        "updates through a live group-by: speed, growth, memory, two threads",
        continual::run,
    ),
    subcommand(
        "ledger",
        "durable charges against raw syncs; replay of a million records",
        ledger::run,
    ),
    subcommand(
        "hostile",
        "what an analyst can do to others: slow down, leak, fill",
        hostile::run,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match plan(&words, SUBCOMMANDS) {
        Ok(Plan::Help) => print!("{}", help(SUBCOMMANDS)),
        Ok(Plan::Run {
            chosen,
            effort,
            check,
        }) => {
            let mut wrong = Vec::new();
            for Subcommand { name, about, run } in chosen {
                println!("# {name}: {about}");
                let measured = || {
                    let bars = run(effort);
                    println!("{bars}");
                    goals::check(name, effort, &bars)
                };
                let mut problems = measured();
                for _ in 1..ATTEMPTS {
                    if check && !problems.is_empty() {
                        println!("# {name}, again: {} missed", problems.len());
                        problems = goals::repeated(&problems, measured());
                    }
                }
                wrong.extend(problems);
            }
            if check && !wrong.is_empty() {
                eprintln!();
                for problem in wrong {
                    eprintln!("{}", problem.text);
                }
                return ExitCode::FAILURE;
            }
        }
        Err(message) => {
            eprintln!("{message}\n\n{}", help(SUBCOMMANDS));
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
