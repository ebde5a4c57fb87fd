//! Side-by-side measurements in one run: `bench <subcommand> [--quick]`, or `bench all [--quick]`.
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

use bench::measure::{self, Effort};
use bench::plan::{Measured, Plan, help, plan};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match plan(&words) {
        Ok(Plan::Help) => print!("{}", help()),
        Ok(Plan::Run(chosen, effort)) => {
            for subcommand in chosen {
                println!("# {}: {}", subcommand.name, subcommand.about);
                run(subcommand.measured)(effort);
            }
        }
        Err(message) => {
            eprintln!("{message}\n\n{}", help());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(measured: Measured) -> fn(Effort) {
    match measured {
        Measured::Numbers => numbers::run,
        Measured::Rules => rules::run,
        Measured::Accountant => accountant::run,
        Measured::Ask => ask::run,
        Measured::Filter => filter::run,
        Measured::Loss => loss::run,
        Measured::Nested => nested::run,
        Measured::Partition => partition::run,
        Measured::Audit => audit::run,
        Measured::Release => release::run,
        Measured::Samplers => samplers::run,
        Measured::Accuracy => accuracy::run,
        Measured::Bridge => bridge::run,
        Measured::Continual => continual::run,
        Measured::Ledger => ledger::run,
        Measured::Hostile => hostile::run,
    }
}
