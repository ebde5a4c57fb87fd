//! Subcommands, and the words that choose them.

use crate::measure::Effort;

/// What can be measured.
pub struct Subcommand {
    /// The word that chooses it.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    /// Measures it.
    pub run: fn(Effort),
}

/// What the arguments ask for.
pub enum Plan<'a> {
    /// How it is used.
    Help,
    /// These, one after the other.
    Run(&'a [Subcommand], Effort),
}

/// Reads the arguments; an error says what is wrong with them.
pub fn plan<'a>(words: &[&str], subcommands: &'a [Subcommand]) -> Result<Plan<'a>, String> {
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
        ["all"] => Ok(Plan::Run(subcommands, effort)),
        [name] => match subcommands.iter().position(|known| known.name == name) {
            Some(at) => Ok(Plan::Run(&subcommands[at..=at], effort)),
            None => Err(format!("unknown subcommand {name:?}")),
        },
        [_, extra, ..] => Err(format!("one subcommand at a time; what is {extra:?}?")),
    }
}

/// How it is used.
pub fn help(subcommands: &[Subcommand]) -> String {
    let mut text = String::from("usage: bench <subcommand> [--quick]\n\n");
    for Subcommand { name, about, .. } in subcommands {
        text += &format!("  {name:<12}{about}\n");
    }
    text + "  all         every subcommand in turn\n  help        this text\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans() {
        let known = ["numbers", "rules"].map(|name| Subcommand {
            name,
            about: "",
            run: |_| (),
        });
        let plan = |words: &[&str]| plan(words, &known);
        assert!(matches!(plan(&["help"]), Ok(Plan::Help)));
        assert!(matches!(plan(&["numbers", "--help"]), Ok(Plan::Help)));
        let Ok(Plan::Run(chosen, Effort::Quick)) = plan(&["--quick", "all"]) else {
            panic!("all, quickly");
        };
        assert_eq!(chosen.len(), 2);
        let Ok(Plan::Run([chosen], Effort::Full)) = plan(&["rules"]) else {
            panic!("rules, in full");
        };
        assert_eq!(chosen.name, "rules");
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
