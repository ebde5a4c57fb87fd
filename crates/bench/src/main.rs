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
mod measure;
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

use measure::Effort;

/// A subcommand: its name, what it measures, and how.
struct Subcommand {
    name: &'static str,
    about: &'static str,
    run: fn(Effort),
}

const fn subcommand(name: &'static str, about: &'static str, run: fn(Effort)) -> Subcommand {
    Subcommand { name, about, run }
}

/// To add one: a module, and a line here.
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
    match plan(&words) {
        Ok(Plan::Help) => print!("{}", help()),
        Ok(Plan::Run(chosen, effort)) => {
            for subcommand in chosen {
                println!("# {}: {}", subcommand.name, subcommand.about);
                (subcommand.run)(effort);
            }
        }
        Err(message) => {
            eprintln!("{message}\n\n{}", help());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// What the arguments ask for.
enum Plan {
    Help,
    Run(Vec<&'static Subcommand>, Effort),
}

fn plan(words: &[&str]) -> Result<Plan, String> {
    let (options, names): (Vec<&str>, Vec<&str>) = words.iter().partition(|w| w.starts_with('-'));
    if names.contains(&"help") || options.contains(&"--help") || options.contains(&"-h") {
        return Ok(Plan::Help);
    }
    if let Some(unknown) = options.iter().find(|option| **option != "--quick") {
        return Err(format!("unknown option {unknown:?}"));
    }
    let effort = match options.is_empty() {
        true => Effort::Full,
        false => Effort::Quick,
    };
    match names[..] {
        [] => Err("which subcommand?".to_owned()),
        ["all"] => Ok(Plan::Run(SUBCOMMANDS.iter().collect(), effort)),
        [name] => match SUBCOMMANDS
            .iter()
            .find(|subcommand| subcommand.name == name)
        {
            Some(subcommand) => Ok(Plan::Run(vec![subcommand], effort)),
            None => Err(format!("unknown subcommand {name:?}")),
        },
        [_, extra, ..] => Err(format!("one subcommand at a time; what is {extra:?}?")),
    }
}

fn help() -> String {
    let mut text = String::from("usage: bench <subcommand> [--quick]\n\n");
    for Subcommand { name, about, .. } in SUBCOMMANDS {
        text += &format!("  {name:<12}{about}\n");
    }
    text + "  all         every subcommand in turn\n  help        this text\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans() {
        assert!(matches!(plan(&["help"]), Ok(Plan::Help)));
        assert!(matches!(plan(&["numbers", "--help"]), Ok(Plan::Help)));
        let Ok(Plan::Run(chosen, Effort::Quick)) = plan(&["--quick", "all"]) else {
            panic!("all, quickly");
        };
        assert_eq!(chosen.len(), SUBCOMMANDS.len());
        let Ok(Plan::Run(chosen, Effort::Full)) = plan(&["numbers"]) else {
            panic!("numbers, in full");
        };
        assert_eq!(chosen[0].name, "numbers");
        for wrong in [
            &["nothing"][..],
            &[],
            &["all", "numbers"],
            &["all", "--fast"],
        ] {
            assert!(plan(wrong).is_err());
        }
    }
}
