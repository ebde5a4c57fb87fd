//! What an account's charges amount to: recomputed with the built-in rules, from what was written down.

use exact::{Exact, Round, excerpt};
use measures::{Adaptive, ChildLoss, FilterRule, Loss, Measure as _, Tally as _, TotalLoss};
use measures::{WithRule, with_rule};
use odometer::journal::{AccountTerms, JournalError, Place, State};
use serde_json::{Value, json};

/// A loss: exactly, and for people.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Amount {
    pub(crate) exact: String,
    pub(crate) shown: String,
}

/// What an account amounts to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reckoning {
    /// Everything that was charged, rounded up.
    pub(crate) spent: Option<Amount>,
    /// What one more launch may cost, rounded down.
    pub(crate) left: Option<Amount>,
    /// Is all of it within the budget?
    pub(crate) fits: bool,
    /// Why there is no total.
    pub(crate) unknown: Option<String>,
}

impl Amount {
    fn up<L: Loss>(loss: &L) -> Self {
        let shown = loss.to_string();
        let exact = loss.written().unwrap_or_else(|| shown.clone());
        Self { exact, shown }
    }

    fn down<L: Loss>(loss: &L) -> Self {
        let shown = loss.shown_down();
        let exact = loss.written().unwrap_or_else(|| shown.clone());
        Self { exact, shown }
    }

    pub(crate) fn json(amount: Option<&Self>) -> Value {
        amount.map_or(Value::Null, |amount| json!(amount.exact))
    }

    pub(crate) fn or_dash(amount: Option<&Self>) -> String {
        amount.map_or_else(|| "–".into(), |amount| amount.shown.clone())
    }
}

/// What an account amounts to, with so many launches more of this loss if that is asked.
pub(crate) fn reckon(
    state: &State,
    place: Place,
    terms: &AccountTerms,
    more: Option<(&str, u64)>,
) -> Result<Reckoning, JournalError> {
    let question = Question {
        state,
        place,
        terms,
        more,
    };
    with_rule(&terms.rule, question).unwrap_or_else(|| {
        Ok(unknown(format!(
            "{} is no built-in rule: what was recorded is shown, and no total",
            excerpt(&terms.rule)
        )))
    })
}

fn unknown(why: impl Into<String>) -> Reckoning {
    Reckoning {
        unknown: Some(why.into()),
        fits: true,
        ..Reckoning::default()
    }
}

struct Question<'a> {
    state: &'a State,
    place: Place,
    terms: &'a AccountTerms,
    more: Option<(&'a str, u64)>,
}

impl Question<'_> {
    /// What was charged, and what would be.
    fn tally<R: measures::Tallied>(&self, rule: &R) -> Result<R::Tally, JournalError> {
        if rule.child().name().as_ref() != Some(&self.terms.measure) {
            let why = "its rule is one of another measure than its charges are";
            return Err(JournalError::Damaged(why.into()));
        }
        let mut tally = self.state.tally(self.place, 0, rule)?;
        if let Some((loss, times)) = self.more {
            let loss = read::<ChildLoss<R>>(loss)?;
            let checked = rule.child().check(&loss);
            checked.map_err(|error| JournalError::Unsupported(error.to_string()))?;
            tally.absorb(&loss.on_grid(), times);
        }
        Ok(tally)
    }

    fn within<R: FilterRule>(&self, rule: &R, budget: &str) -> Result<Reckoning, JournalError> {
        let tally = self.tally(rule)?;
        let no_budget = || JournalError::Damaged(format!("`{}` is no budget", excerpt(budget)));
        let budget = TotalLoss::<R>::read(budget).ok_or_else(no_budget)?;
        let gate = match rule.open(&budget) {
            Ok(gate) => gate,
            Err(error) => return Err(JournalError::Damaged(error.to_string())),
        };
        let left = rule.remaining(&gate, &tally);
        Ok(Reckoning {
            spent: Some(Amount::up(rule.spent(&gate, &tally).bound())),
            left: left.as_ref().map(Amount::down),
            fits: rule.fits(&gate, &tally),
            unknown: None,
        })
    }
}

fn read<L: Loss>(text: &str) -> Result<L, JournalError> {
    let unread = || JournalError::Unsupported(format!("`{}` is no loss here", excerpt(text)));
    L::read(text).ok_or_else(unread)
}

fn total<L: Loss>(loss: &L) -> Reckoning {
    Reckoning {
        spent: Some(Amount::up(loss)),
        fits: true,
        ..Reckoning::default()
    }
}

impl WithRule for Question<'_> {
    type Out = Result<Reckoning, JournalError>;

    fn adaptive<R: Adaptive>(self, rule: R) -> Self::Out {
        match &self.terms.budget {
            Some(budget) => self.within(&rule, budget),
            None => Ok(total(rule.loss(&self.tally(&rule)?).bound())),
        }
    }

    fn filter_only<R: FilterRule>(self, rule: R) -> Self::Out {
        match &self.terms.budget {
            Some(budget) => self.within(&rule, budget),
            None => Ok(unknown("its rule is a filter's, and it has no budget")),
        }
    }
}

/// How much of a budget is spent, between 0 and 1 and beyond: the largest part of a coordinate. For bars, not for decisions.
/// Texts that are no plain numbers, or pairs of them, have none.
pub(crate) fn share(spent: &str, budget: &str) -> Option<f64> {
    let (spent, budget) = (coordinates(spent)?, coordinates(budget)?);
    if spent.len() != budget.len() {
        return None;
    }
    let part = |(spent, budget): (&Exact, &Exact)| match (spent.is_zero(), budget.is_zero()) {
        (true, _) => 0.0,
        (false, true) => f64::INFINITY,
        // Whole only if it is: a bar must not say so too early.
        _ if spent == budget => 1.0,
        _ => spent.to_f64(Round::Down) / budget.to_f64(Round::Up),
    };
    Some(spent.iter().zip(&budget).map(part).fold(0.0, f64::max))
}

fn coordinates(text: &str) -> Option<Vec<Exact>> {
    let inner = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    match inner {
        Some(inner) => inner.split(", ").map(|text| text.parse().ok()).collect(),
        None => Some(vec![text.parse().ok()?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_budgets() {
        assert_eq!(share("0.5", "2"), Some(0.25));
        assert_eq!(share("(0.5, 0)", "(2, 0)"), Some(0.25));
        assert_eq!(share("(0.5, 0.25)", "(2, 0.5)"), Some(0.5));
        assert_eq!(share("(0.5, 1e-7)", "(2, 1e-7)"), Some(1.0));
        assert!(share("0.99999999999999999999", "1") < Some(1.0));
        assert_eq!(share("(0, 0.1)", "(2, 0)"), Some(f64::INFINITY));
        assert_eq!(share("0", "0"), Some(0.0));
        assert_eq!(share("0.5", "(2, 0)"), None);
        assert_eq!(share("2 4: 0.1 0.2", "2 4: 1 1"), None);
    }
}
