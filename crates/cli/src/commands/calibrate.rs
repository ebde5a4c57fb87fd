//! `odometry calibrate`.

use std::io::Write;
use std::process::ExitCode;

use accountant::{Accountant, AccountantError, Mechanism};
use clap::{Args, ValueEnum};
use exact::{Exact, Round};
use measures::EpsilonDelta;
use serde_json::json;

use super::compose::number;
use super::rules;
use crate::error::{CommandError, REFUSED};
use crate::items;
use crate::output::{self, AnswerForm, shown};

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// The budget, such as "(1, 1e-6)"
    #[arg(long, short, value_name = "(ε, δ)")]
    budget: String,
    /// Which noise is looked for
    #[arg(long, short, required_unless_present = "runs_of")]
    mechanism: Option<NoiseKind>,
    /// How often it is used
    #[arg(long, short, default_value = "1")]
    count: String,
    /// How much one record changes the answer
    #[arg(long, short, default_value = "1")]
    sensitivity: String,
    /// The sampling rate, for noise on Poisson samples
    #[arg(long, short)]
    rate: Option<String>,
    /// Ask how many runs of this ITEM fit instead
    #[arg(long, value_name = "ITEM", conflicts_with_all = ["mechanism", "count", "sensitivity", "rate"])]
    runs_of: Option<String>,
    /// What is spent beside it, as ITEMs (see `odometry compose --help`)
    #[arg(long, value_name = "ITEM")]
    beside: Vec<String>,
    #[command(flatten)]
    form: AnswerForm,
}

/// Noise whose scale is looked for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum NoiseKind {
    /// Laplace noise: its scale
    Laplace,
    /// Gaussian noise: its σ
    Gaussian,
    /// Discrete Laplace noise: its scale
    DiscreteLaplace,
    /// Discrete Gaussian noise: its σ
    DiscreteGaussian,
}

impl Calibrate {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let budget: EpsilonDelta = self
            .budget
            .parse()
            .map_err(|error| CommandError::input("--budget", error))?;
        let beside = self
            .beside
            .iter()
            .map(|item| items::parse(item))
            .collect::<Result<Vec<_>, _>>()?;
        let spent = rules::accountant(&beside)?;
        match (&self.runs_of, self.mechanism) {
            (Some(item), _) => self.runs(&spent, &budget, item, out),
            (None, Some(noise)) => self.noise(&spent, &budget, noise, out),
            (None, None) => Err(CommandError::input(
                "calibrate",
                "write --mechanism, or --runs-of",
            )),
        }
    }

    fn runs(
        &self,
        spent: &Accountant,
        budget: &EpsilonDelta,
        item: &str,
        out: &mut dyn Write,
    ) -> Result<ExitCode, CommandError> {
        let item = items::parse(item)?;
        let runs = spent.runs(&item.kind.mechanism()?, budget)?;
        let answer = json!({"budget": budget.to_string(), "item": item.name, "runs": runs});
        let rows = vec![vec![item.name.clone(), runs.to_string()]];
        let sentence = format!(
            "{runs} runs of {} fit into {budget}, all fixed before the first answer (certified)",
            item.name
        );
        self.form
            .write(&answer, &["item", "runs"], rows, &sentence, out)?;
        Ok(if runs == 0 {
            ExitCode::from(REFUSED)
        } else {
            ExitCode::SUCCESS
        })
    }

    fn noise(
        &self,
        spent: &Accountant,
        budget: &EpsilonDelta,
        noise: NoiseKind,
        out: &mut dyn Write,
    ) -> Result<ExitCode, CommandError> {
        let count =
            items::count(&self.count).map_err(|reason| CommandError::input("--count", reason))?;
        let sensitivity = number("--sensitivity", &self.sensitivity)?;
        let rate = self
            .rate
            .as_deref()
            .map(|rate| number("--rate", rate))
            .transpose()?;
        if sensitivity.is_zero() {
            return Err(CommandError::input(
                "--sensitivity",
                "without a change there is nothing to hide: write a number above 0",
            ));
        }
        let build = |scale: Exact| {
            let full = noise.mechanism(&sensitivity, scale)?;
            match &rate {
                Some(rate) => full.poisson_sampled(rate.clone()),
                None => Ok(full),
            }
        };
        // What is wrong with the parameters themselves is said at a scale that is in range for all.
        match build(sensitivity.clone()) {
            Err(error @ AccountantError::Parameter { name, .. })
                if name != "σ" && name != "scale" =>
            {
                return Err(CommandError::input("calibrate", error));
            }
            _ => {}
        }
        let scale = match spent.calibrate(count, budget, build) {
            Err(error @ AccountantError::OutOfReach { .. }) => {
                writeln!(out, "Refused: {error}.")?;
                return Ok(ExitCode::from(REFUSED));
            }
            found => found?,
        };
        // Nobody types seventeen digits: up to the next of six, and that is what is checked.
        let scale: Exact = scale.decimal(6, Round::Up).parse().unwrap_or(scale);
        let total = spent
            .clone()
            .add(build(scale.clone())?, count)
            .epsilon(budget.delta())?;
        let (name, words) = noise.words();
        let answer = json!({
            "budget": budget.to_string(),
            "mechanism": name,
            "count": count,
            words: scale.to_string(),
            "epsilon": total.decimal(17, Round::Up),
        });
        let rows = vec![vec![
            name.to_owned(),
            count.to_string(),
            scale.to_string(),
            total.to_string(),
        ]];
        let sentence = format!(
            "{name} noise with {words} = {scale}: {count} of them cost ε = {} at δ = {}, all fixed before the first answer (certified)",
            shown(&total),
            budget.delta(),
        );
        self.form.write(
            &answer,
            &["mechanism", "count", words, "epsilon"],
            rows,
            &sentence,
            out,
        )?;
        Ok(ExitCode::SUCCESS)
    }
}

impl NoiseKind {
    fn mechanism(self, sensitivity: &Exact, scale: Exact) -> Result<Mechanism, AccountantError> {
        let whole = || {
            // A change of a whole number is whole.
            let up = sensitivity.ceil().to_f64(Round::Up);
            if up < 9e15 { up as u64 } else { u64::MAX }
        };
        match self {
            NoiseKind::Laplace => Mechanism::laplace(sensitivity.clone(), scale),
            NoiseKind::Gaussian => Mechanism::gaussian(sensitivity.clone(), scale),
            NoiseKind::DiscreteLaplace => Mechanism::discrete_laplace(whole(), scale),
            NoiseKind::DiscreteGaussian => Mechanism::discrete_gaussian(whole(), scale),
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            NoiseKind::Laplace => ("laplace", "scale"),
            NoiseKind::Gaussian => ("gaussian", "sigma"),
            NoiseKind::DiscreteLaplace => ("discrete-laplace", "scale"),
            NoiseKind::DiscreteGaussian => ("discrete-gaussian", "sigma"),
        }
    }
}

impl AnswerForm {
    /// The same answer in the form that was asked for.
    fn write(
        &self,
        answer: &serde_json::Value,
        header: &[&str],
        rows: Vec<Vec<String>>,
        sentence: &str,
        out: &mut dyn Write,
    ) -> Result<(), CommandError> {
        match (self.json, self.csv) {
            (true, _) => output::json(answer, out)?,
            (_, true) => output::csv(header, rows.into_iter(), out)?,
            _ => writeln!(out, "{}", crate::text::plain(sentence))?,
        }
        Ok(())
    }
}
