//! Subcommands, and the words that choose them.

use crate::measure::Effort;

/// What is measured. To add one: a module and a line in `main.rs`, a name here, and a line in the list.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the list says what each is")]
pub enum Measured {
    Numbers,
    Rules,
    Accountant,
    Ask,
    Filter,
    Loss,
    Nested,
    Partition,
    Audit,
    Release,
    Samplers,
    Accuracy,
    Bridge,
    Continual,
    Ledger,
    Hostile,
}

/// A subcommand: its name, what it measures, and which it is.
pub struct Subcommand {
    /// The word that chooses it.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    /// Which it is.
    pub measured: Measured,
}

const fn subcommand(name: &'static str, about: &'static str, measured: Measured) -> Subcommand {
    Subcommand {
        name,
        about,
        measured,
    }
}

const SUBCOMMANDS: &[Subcommand] = &[
    subcommand(
        "numbers",
        "exact numbers and OpenDP's directed floats",
        Measured::Numbers,
    ),
    subcommand(
        "rules",
        "composition rules: a launch, a million children",
        Measured::Rules,
    ),
    subcommand(
        "accountant",
        "certified ε of compositions fixed in advance",
        Measured::Accountant,
    ),
    subcommand(
        "ask",
        "what asking and spawning a machine costs",
        Measured::Ask,
    ),
    subcommand(
        "filter",
        "launches under a filter, and OpenDP's filter and odometer",
        Measured::Filter,
    ),
    subcommand(
        "loss",
        "asking for the privacy loss, and OpenDP's odometer",
        Measured::Loss,
    ),
    subcommand(
        "nested",
        "nested sessions, two threads, memory",
        Measured::Nested,
    ),
    subcommand(
        "partition",
        "many parts: first launches, a question about many records",
        Measured::Partition,
    ),
    subcommand(
        "audit",
        "exact audits: growth with depth, three machines at once",
        Measured::Audit,
    ),
    subcommand(
        "release",
        "whole noisy releases and constructors, and OpenDP's",
        Measured::Release,
    ),
    subcommand("samplers", "exact noise, and OpenDP's", Measured::Samplers),
    subcommand(
        "accuracy",
        "noise at the same loss, and the best known",
        Measured::Accuracy,
    ),
    subcommand(
        "bridge",
        "OpenDP's Laplace bare, through our filter, and through OpenDP's",
        Measured::Bridge,
    ),
    subcommand(
        "continual",
        "updates through a live group-by: speed, growth, memory, two threads",
        Measured::Continual,
    ),
    subcommand(
        "ledger",
        "durable charges against raw syncs; replay of a million records",
        Measured::Ledger,
    ),
    subcommand(
        "hostile",
        "what an analyst can do to others: slow down, leak, fill",
        Measured::Hostile,
    ),
];

/// What the arguments ask for.
pub enum Plan {
    /// How it is used.
    Help,
    /// These, one after the other.
    Run(Vec<&'static Subcommand>, Effort),
}

/// Reads the arguments; an error says what is wrong with them.
pub fn plan(words: &[&str]) -> Result<Plan, String> {
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

/// How it is used.
pub fn help() -> String {
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
