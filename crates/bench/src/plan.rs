//! Subcommands, and the words that choose them.

use crate::measure::Effort;

/// What can be measured.
pub struct Subcommand {
    /// The word that chooses it.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    /// Measures it; returns the line with its bars.
    pub run: fn(Effort) -> String,
}

/// What the arguments ask for.
pub enum Plan<'a> {
    /// How it is used.
    Help,
    /// These, one after the other.
    Run {
        /// In this order.
        chosen: &'a [Subcommand],
        /// How long to measure.
        effort: Effort,
        /// Whether a bar that is missed is an error.
        check: bool,
    },
}

/// Reads the arguments; an error says what is wrong with them.
pub fn plan<'a>(words: &[&str], subcommands: &'a [Subcommand]) -> Result<Plan<'a>, String> {
    let (options, names): (Vec<&str>, Vec<&str>) = words.iter().partition(|w| w.starts_with('-'));
    if names.contains(&"help") || options.contains(&"--help") || options.contains(&"-h") {
        return Ok(Plan::Help);
    }
    let known = ["--quick", "--check"];
    if let Some(unknown) = options.iter().find(|option| !known.contains(option)) {
        return Err(format!("unknown option {unknown:?}"));
    }
    let effort = match options.contains(&"--quick") {
        true => Effort::Quick,
        false => Effort::Full,
    };
    let check = options.contains(&"--check");
    let run = |chosen| {
        Ok(Plan::Run {
            chosen,
            effort,
            check,
        })
    };
    match names[..] {
        [] => Err("which subcommand?".to_owned()),
        ["all"] => run(subcommands),
        [name] => match subcommands.iter().position(|known| known.name == name) {
            Some(at) => run(&subcommands[at..=at]),
            None => Err(format!("unknown subcommand {name:?}")),
        },
        [_, extra, ..] => Err(format!("one subcommand at a time; what is {extra:?}?")),
    }
}

/// How it is used.
pub fn help(subcommands: &[Subcommand]) -> String {
    let mut text = String::from("usage: bench <subcommand> [--quick] [--check]\n\n");
    for Subcommand { name, about, .. } in subcommands {
        text += &format!("  {name:<12}{about}\n");
    }
    text + "  all         every subcommand in turn\n  help        this text\n\n  --quick     less, and less exactly\n  --check     a bar that misses its goal is an error\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans() {
        let known = ["numbers", "rules"].map(|name| Subcommand {
            name,
            about: "",
            run: |_| String::new(),
        });
        let plan = |words: &[&str]| plan(words, &known);
        assert!(matches!(plan(&["help"]), Ok(Plan::Help)));
        assert!(matches!(plan(&["numbers", "--help"]), Ok(Plan::Help)));
        let run = |words: &[&str]| match plan(words) {
            Ok(Plan::Run {
                chosen,
                effort,
                check,
            }) => (chosen.iter().map(|one| one.name).collect(), effort, check),
            _ => panic!("{words:?}"),
        };
        let all = vec!["numbers", "rules"];
        assert_eq!(
            run(&["--quick", "all"]),
            (all.clone(), Effort::Quick, false)
        );
        let checked = ["all", "--check", "--quick"];
        assert_eq!(run(&checked), (all, Effort::Quick, true));
        assert_eq!(
            run(&["rules", "--check"]),
            (vec!["rules"], Effort::Full, true)
        );
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
