//! `odometry compose`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use exact::{Exact, Round};
use serde_json::{Value, json};

use super::rules::{self, Row};
use crate::error::{CommandError, REFUSED};
use crate::items::{self, Item};
use crate::output::{self, AnswerForm, shown};
use crate::svg;
use crate::text::plain;

/// What an item is, for the help text and the manual page.
const ITEMS: &str = "\
An ITEM is a loss or a mechanism, with a count if need be:
  0.1                                ε-private (randomized response is the worst case)
  \"(0.5, 1e-6)\"                      (ε, δ)-private
  laplace:scale=10                   Laplace noise; sensitivity=1 unless it is said
  gaussian:sigma=50,sensitivity=2    Gaussian noise
  discrete-laplace:scale=10          the same on whole numbers
  discrete-gaussian:sigma=50
  sampled-gaussian:rate=0.01,sigma=1 on a Poisson sample: a step of DP-SGD
  sampled-laplace:rate=0.01,scale=2
  \"laplace:scale=10 x1000\"           a thousand of them
All items must be about the same neighbouring data, such as one record added or removed; this is not checked.
A file has the same as columns (CSV) or keys (JSON): mechanism, epsilon, delta, scale, sigma, sensitivity, rate,
count, name. In JSON numbers are text, because 0.1 is not what a computer's 0.1 is.";

/// Arguments of `compose`.
#[derive(Debug, Args)]
#[command(after_help = ITEMS)]
pub struct Compose {
    /// Losses and mechanisms
    #[arg(value_name = "ITEM", required_unless_present = "file")]
    items: Vec<String>,
    /// A list of them, CSV or JSON; `-` is the standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The δ of the total
    #[arg(long, short, value_name = "δ", default_value = "1e-6")]
    delta: String,
    /// Ask for the δ at this ε instead (certified only)
    #[arg(long, short, value_name = "ε", conflicts_with_all = ["delta", "within", "svg"])]
    epsilon: Option<String>,
    /// Does it stay within this ε? If not, the exit code is 3
    #[arg(long, value_name = "ε")]
    within: Option<String>,
    #[command(flatten)]
    form: AnswerForm,
    /// Draw the table as a chart into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Compose {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let mut list = self
            .items
            .iter()
            .map(|item| items::parse(item))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(path) = &self.file {
            list.extend(items::read(path)?);
        }
        if let Some(epsilon) = &self.epsilon {
            return self.at_epsilon(&list, &number("--epsilon", epsilon)?, out);
        }
        let delta = number("--delta", &self.delta)?;
        let rows = rules::rules(&list, &delta)?;
        if let Some(path) = &self.svg {
            let failed = |source| CommandError::File {
                path: path.display().to_string(),
                source,
            };
            std::fs::write(path, svg::chart(&title(&list, &delta), &rows)).map_err(failed)?;
        }
        let within = self
            .within
            .as_deref()
            .map(|text| number("--within", text))
            .transpose()?;
        let fits = within.as_ref().map(|limit| Fits::of(&rows, limit, &delta));
        match (self.form.json, self.form.csv) {
            (true, _) => output::json(&as_json(&list, &delta, &rows, fits.as_ref()), out)?,
            (_, true) => as_csv(&rows, out)?,
            _ => as_table(&list, &delta, &rows, fits.as_ref(), out)?,
        }
        Ok(match fits {
            Some(fits) if !fits.fixed => ExitCode::from(REFUSED),
            _ => ExitCode::SUCCESS,
        })
    }

    fn at_epsilon(
        &self,
        list: &[Item],
        epsilon: &Exact,
        out: &mut dyn Write,
    ) -> Result<ExitCode, CommandError> {
        let delta = rules::accountant(list)?.delta(epsilon)?;
        match (self.form.json, self.form.csv) {
            (true, _) => {
                let answer = json!({"runs": rules::runs(list), "epsilon": epsilon.to_string(), "delta": delta.to_string()});
                output::json(&answer, out)?;
            }
            (_, true) => writeln!(out, "epsilon,delta\n{epsilon},{delta}")?,
            _ => writeln!(
                out,
                "δ = {} at ε = {epsilon}, for losses fixed in advance (certified)",
                shown(&delta)
            )?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

pub(super) fn number(option: &str, text: &str) -> Result<Exact, CommandError> {
    items::number(text).map_err(|reason| CommandError::input(option, reason))
}

/// Whether the least total stays within an ε.
struct Fits {
    limit: Exact,
    adaptive: bool,
    fixed: bool,
}

impl Fits {
    fn of(rows: &[Row], limit: &Exact, delta: &Exact) -> Fits {
        let fits = |row: &&Row| {
            row.total
                .as_ref()
                .is_ok_and(|total| total.epsilon() <= limit && total.delta() <= delta)
        };
        Fits {
            limit: limit.clone(),
            adaptive: rows.iter().filter(fits).any(|row| row.adaptive),
            // What holds for losses chosen adaptively holds for fixed ones.
            fixed: rows.iter().any(|row| fits(&row)),
        }
    }

    fn sentence(&self) -> String {
        let limit = &self.limit;
        match (self.adaptive, self.fixed) {
            (true, _) => {
                format!("Within ε = {limit}, also if the losses are chosen by looking at answers.")
            }
            (_, true) => format!(
                "Within ε = {limit}, but only if all of it is fixed before the first answer."
            ),
            _ => format!("Refused: no rule keeps it within ε = {limit}."),
        }
    }
}

fn title(list: &[Item], delta: &Exact) -> String {
    let runs = rules::runs(list);
    let mechanisms = if runs == 1 { "mechanism" } else { "mechanisms" };
    format!("{runs} {mechanisms} at δ = {delta}")
}

fn as_table(
    list: &[Item],
    delta: &Exact,
    rows: &[Row],
    fits: Option<&Fits>,
    out: &mut dyn Write,
) -> Result<(), CommandError> {
    writeln!(out, "{}", title(list, delta))?;
    let words = [
        (true, "Losses may be chosen by looking at answers:"),
        (false, "All fixed before the first answer:"),
    ];
    for (adaptive, words) in words {
        let cells: Vec<Vec<String>> = rows
            .iter()
            .filter(|row| row.adaptive == adaptive)
            .map(cells)
            .collect();
        if !cells.is_empty() {
            write!(
                out,
                "\n{words}\n{}",
                output::table(&["rule", "ε", "δ"], &cells)
            )?;
        }
    }
    if let Some(fits) = fits {
        writeln!(out, "\n{}", fits.sentence())?;
    }
    Ok(())
}

fn cells(row: &Row) -> Vec<String> {
    let (epsilon, delta) = match &row.total {
        Ok(total) => (shown(total.epsilon()), shown(total.delta())),
        Err(reason) => (format!("none: {}", plain(reason)), String::new()),
    };
    vec![row.rule.to_owned(), epsilon, delta]
}

fn as_csv(rows: &[Row], out: &mut dyn Write) -> Result<(), CommandError> {
    let lines = rows.iter().map(|row| {
        let kind = if row.adaptive { "adaptive" } else { "fixed" };
        let (epsilon, delta) = match &row.total {
            Ok(total) => (total.epsilon().to_string(), total.delta().to_string()),
            Err(_) => Default::default(),
        };
        vec![row.rule.to_owned(), kind.to_owned(), epsilon, delta]
    });
    output::csv(&["rule", "losses", "epsilon", "delta"], lines, out)
}

fn as_json(list: &[Item], delta: &Exact, rows: &[Row], fits: Option<&Fits>) -> Value {
    let item = |item: &Item| json!({"name": item.name, "count": item.count});
    let rule = |row: &Row| match &row.total {
        Ok(total) => json!({
            "rule": row.rule,
            "adaptive": row.adaptive,
            "epsilon": total.epsilon().decimal(17, Round::Up),
            "delta": total.delta().decimal(17, Round::Up),
        }),
        Err(reason) => json!({"rule": row.rule, "adaptive": row.adaptive, "none": reason}),
    };
    let mut answer = json!({
        "runs": rules::runs(list),
        "delta": delta.to_string(),
        "items": list.iter().map(item).collect::<Vec<_>>(),
        "rules": rows.iter().map(rule).collect::<Vec<_>>(),
    });
    if let Some(fits) = fits {
        answer["within"] = json!({"epsilon": fits.limit.to_string(), "adaptive": fits.adaptive, "fixed": fits.fixed});
    }
    answer
}
