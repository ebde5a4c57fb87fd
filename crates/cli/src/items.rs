//! What is composed: losses and mechanisms with counts, as arguments, CSV or JSON.

mod argument;
mod file;

pub(crate) use argument::parse;
pub(crate) use file::read;

use std::collections::BTreeMap;

use accountant::Mechanism;
use exact::{Exact, Round, excerpt};
use measures::convert::{pure_to_gaussian, pure_to_zcdp};
use measures::{Epsilon, EpsilonDelta, Mu, Rho};

use crate::error::CommandError;

/// One line of a list.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// What somebody called it.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) count: u64,
}

/// A mechanism with its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Approximate(EpsilonDelta),
    Laplace {
        scale: Exact,
        sensitivity: Exact,
    },
    DiscreteLaplace {
        scale: Exact,
        sensitivity: u64,
    },
    Gaussian {
        sigma: Exact,
        sensitivity: Exact,
    },
    DiscreteGaussian {
        sigma: Exact,
        sensitivity: u64,
    },
    SampledGaussian {
        rate: Exact,
        sigma: Exact,
        sensitivity: Exact,
    },
    SampledLaplace {
        rate: Exact,
        scale: Exact,
        sensitivity: Exact,
    },
}

/// The fields of a line, by name.
pub(crate) type Fields = BTreeMap<String, String>;

/// The names of mechanisms, with the fields that they take; those in the second list may be left out (1).
const KINDS: [(&str, &[&str], &[&str]); 8] = [
    ("pure", &["epsilon"], &[]),
    ("approx", &["epsilon", "delta"], &[]),
    ("laplace", &["scale"], &["sensitivity"]),
    ("discrete-laplace", &["scale"], &["sensitivity"]),
    ("gaussian", &["sigma"], &["sensitivity"]),
    ("discrete-gaussian", &["sigma"], &["sensitivity"]),
    ("sampled-gaussian", &["rate", "sigma"], &["sensitivity"]),
    ("sampled-laplace", &["rate", "scale"], &["sensitivity"]),
];

impl Kind {
    /// From the name of a mechanism and its fields. `place` is where they stand.
    pub(crate) fn new(name: &str, fields: &Fields, place: &str) -> Result<Kind, CommandError> {
        // Randomized response is what a pure loss looks like at worst.
        let name = if name == "rr" { "pure" } else { name };
        let known = KINDS.iter().find(|(known, ..)| *known == name);
        let Some((_, needed, optional)) = known else {
            let names: Vec<&str> = KINDS.iter().map(|(name, ..)| *name).collect();
            let reason = format!(
                "there is no mechanism {:?}: write one of {}",
                excerpt(name),
                names.join(", ")
            );
            return Err(CommandError::input(place, reason));
        };
        if let Some(other) = fields
            .keys()
            .find(|field| !needed.contains(&field.as_str()) && !optional.contains(&field.as_str()))
        {
            let takes: Vec<&str> = needed.iter().chain(*optional).copied().collect();
            let (other, takes) = (excerpt(other), takes.join(", "));
            let reason = format!("{name} has no {other:?}: it takes {takes}");
            return Err(CommandError::input(place, reason));
        }
        let field = |key: &str| match fields.get(key) {
            Some(text) => number(text)
                .map_err(|reason| CommandError::input(format!("{place}, {key}"), reason)),
            None if optional.contains(&key) => Ok(Exact::ONE),
            None => Err(CommandError::input(
                place,
                format!("{name} needs {key}: write {key}=…"),
            )),
        };
        let whole = || {
            let text = fields.get("sensitivity").map_or("1", String::as_str);
            let wrong = |_| {
                CommandError::input(
                    format!("{place}, sensitivity"),
                    format!("{:?} is not a whole number", excerpt(text)),
                )
            };
            text.parse::<u64>().map_err(wrong)
        };
        let kind = match name {
            "pure" => Kind::Approximate(EpsilonDelta::from(Epsilon::new(field("epsilon")?))),
            "approx" => {
                let loss = EpsilonDelta::new(field("epsilon")?, field("delta")?);
                Kind::Approximate(loss.map_err(|error| CommandError::input(place, error))?)
            }
            "laplace" => Kind::Laplace {
                scale: field("scale")?,
                sensitivity: field("sensitivity")?,
            },
            "discrete-laplace" => Kind::DiscreteLaplace {
                scale: field("scale")?,
                sensitivity: whole()?,
            },
            "gaussian" => Kind::Gaussian {
                sigma: field("sigma")?,
                sensitivity: field("sensitivity")?,
            },
            "discrete-gaussian" => Kind::DiscreteGaussian {
                sigma: field("sigma")?,
                sensitivity: whole()?,
            },
            "sampled-gaussian" => Kind::SampledGaussian {
                rate: field("rate")?,
                sigma: field("sigma")?,
                sensitivity: field("sensitivity")?,
            },
            _ => Kind::SampledLaplace {
                rate: field("rate")?,
                scale: field("scale")?,
                sensitivity: field("sensitivity")?,
            },
        };
        // Wrong parameters are found where they stand.
        kind.mechanism()
            .map_err(|error| CommandError::input(place, error))?;
        Ok(kind)
    }

    /// Its pair, for the accountant.
    pub(crate) fn mechanism(&self) -> Result<Mechanism, accountant::AccountantError> {
        match self.clone() {
            Kind::Approximate(loss) => Ok(Mechanism::from(loss)),
            Kind::Laplace { scale, sensitivity } => Mechanism::laplace(sensitivity, scale),
            Kind::DiscreteLaplace { scale, sensitivity } => {
                Mechanism::discrete_laplace(sensitivity, scale)
            }
            Kind::Gaussian { sigma, sensitivity } => Mechanism::gaussian(sensitivity, sigma),
            Kind::DiscreteGaussian { sigma, sensitivity } => {
                Mechanism::discrete_gaussian(sensitivity, sigma)
            }
            Kind::SampledGaussian {
                rate,
                sigma,
                sensitivity,
            } => Mechanism::gaussian(sensitivity, sigma)?.poisson_sampled(rate),
            Kind::SampledLaplace {
                rate,
                scale,
                sensitivity,
            } => Mechanism::laplace(sensitivity, scale)?.poisson_sampled(rate),
        }
    }

    /// Its own loss where that is pure or (ε, δ), rounded up.
    pub(crate) fn loss(&self) -> Option<EpsilonDelta> {
        let pure = |epsilon| Some(EpsilonDelta::from(Epsilon::new(epsilon)));
        match self {
            Kind::Approximate(loss) => Some(loss.clone()),
            Kind::Laplace { scale, sensitivity } => pure(sensitivity.div(scale, Round::Up)),
            Kind::DiscreteLaplace { scale, sensitivity } => {
                pure(Exact::from(*sensitivity).div(scale, Round::Up))
            }
            Kind::SampledLaplace {
                rate,
                scale,
                sensitivity,
            } => {
                let more = sensitivity.div(scale, Round::Up).exp_m1(Round::Up);
                pure(more.mul(rate, Round::Up).ln_1p(Round::Up))
            }
            _ => None,
        }
    }

    /// Its loss in zCDP, if it has one.
    pub(crate) fn rho(&self) -> Option<Rho> {
        let noise = |sensitivity: &Exact, sigma: &Exact| {
            let mu = sensitivity.div(sigma, Round::Up);
            Some(Rho::new(
                mu.mul(&mu, Round::Up).div(&Exact::from(2u8), Round::Up),
            ))
        };
        match self {
            Kind::Gaussian { sigma, sensitivity } => noise(sensitivity, sigma),
            Kind::DiscreteGaussian { sigma, sensitivity } => {
                noise(&Exact::from(*sensitivity), sigma)
            }
            _ => self.pure().map(|epsilon| pure_to_zcdp(&epsilon)),
        }
    }

    /// Its loss in Gaussian privacy, if it has one. (Discrete Gaussian noise has none.)
    pub(crate) fn mu(&self) -> Option<Mu> {
        match self {
            Kind::Gaussian { sigma, sensitivity } => {
                Some(Mu::new(sensitivity.div(sigma, Round::Up)))
            }
            _ => self.pure().map(|epsilon| pure_to_gaussian(&epsilon)),
        }
    }

    fn pure(&self) -> Option<Epsilon> {
        let loss = self.loss().filter(|loss| loss.delta().is_zero())?;
        Some(Epsilon::new(loss.epsilon().clone()))
    }
}

/// A number as it is written, exactly.
pub(crate) fn number(text: &str) -> Result<Exact, String> {
    text.trim()
        .parse::<Exact>()
        .map_err(|error| error.to_string())
}

/// How often, between 1 and 2^40.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let plain: String = text
        .trim()
        .chars()
        .filter(|c| !matches!(c, ',' | '_'))
        .collect();
    match plain.parse::<u64>() {
        Ok(count) if (1..=1 << 40).contains(&count) => Ok(count),
        _ => Err(format!(
            "{:?} is no count: write a whole number from 1 to 2^40",
            excerpt(text)
        )),
    }
}
