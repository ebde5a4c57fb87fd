//! Another budget for an account: an operation of its own, with a reason, and never one of an analyst's.

use exact::excerpt;
use measures::{Adaptive, FilterRule, Loss as _, RuleError, TotalLoss, WithRule, with_rule};
use queryable::guarded;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::journal::{
    AccountTerms, BudgetDecision, Fields, Guarantee, Invalid, JournalError, NewBudget, Place,
    Relation, State, Terms, state::invalid,
};

/// How many characters the reason for a new budget has at the most.
pub const MAX_REASON: usize = 1024;

/// A budget that was proposed for an account, and is not decided yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetProposal {
    /// The change.
    pub change: NewBudget,
    /// The fields of its record: they state its author, if there is one.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub fields: Fields,
}

/// Why an account's budget was not changed. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// There is no such account.
    #[error("there is no account {path} in the ledger")]
    NoAccount {
        /// What was asked for.
        path: String,
    },
    /// It never had a budget.
    #[error("{path} has no budget: it was opened as an odometer, and stays one")]
    NoBudget {
        /// The account.
        path: String,
    },
    /// It is a filter's rule, whose gate is solved from the budget: its theorem is for a budget that is fixed in advance.
    #[error(
        "the budget of {path} cannot be raised from {old}: its rule {rule} holds for a budget that is fixed in advance. Open \
         a second account for what is to be spent besides"
    )]
    FilterOnly {
        /// The account.
        path: String,
        /// Its rule.
        rule: String,
        /// Its budget.
        old: String,
    },
    /// It is a filter that was launched: what is above was charged its budget in full, and would not be charged more.
    #[error(
        "the budget of {path} cannot be raised from {old}: it was charged above in full when the filter was launched. Launch \
         a second filter"
    )]
    Reserved {
        /// The account.
        path: String,
        /// Its budget.
        old: String,
    },
    /// The rule is somebody's own.
    #[error(
        "the rule {rule} of {path} is not known by its name: whoever has the rule changes the budget with it"
    )]
    OtherRule {
        /// The account.
        path: String,
        /// Its rule.
        rule: String,
    },
    /// The new budget is none, or not one of this rule.
    #[error("`{new}` is no budget for {path}: {why}")]
    NotABudget {
        /// The account.
        path: String,
        /// What was asked for.
        new: String,
        /// What is wrong with it.
        why: String,
    },
    /// It has this budget already.
    #[error("{path} has the budget {budget} already")]
    Same {
        /// The account.
        path: String,
        /// Its budget.
        budget: String,
    },
    /// A reason is missing, or is more than a line.
    #[error("{0}")]
    Reason(&'static str),
    /// It could not be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A reason as it is written down: one line that says something.
fn checked(reason: &str) -> Result<String, BudgetError> {
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(BudgetError::Reason("a new budget needs a reason: say why"));
    }
    if reason.chars().any(char::is_control) {
        let why = "the reason has control characters or several lines: write one plain line";
        return Err(BudgetError::Reason(why));
    }
    if reason.chars().count() > MAX_REASON {
        return Err(BudgetError::Reason(
            "the reason has more than 1024 characters: be brief",
        ));
    }
    Ok(reason.to_owned())
}

impl State {
    /// What is to be written down for an account to have another budget, for rules that [are known by name](with_rule).
    ///
    /// # Errors
    /// [`BudgetError`].
    pub fn new_budget(
        &self,
        place: Place,
        new: &str,
        reason: &str,
    ) -> Result<NewBudget, BudgetError> {
        let change = self.change(place, new, reason)?;
        let (path, rule) = (change.path.clone(), excerpt(&change.terms.rule));
        let unknown = BudgetError::OtherRule { path, rule };
        with_rule(&change.terms.rule, change).ok_or(unknown)?
    }

    /// The same for a rule of one's own, which must be that of the account.
    ///
    /// # Errors
    /// [`BudgetError`].
    pub fn new_budget_by<R: Adaptive>(
        &self,
        place: Place,
        rule: &R,
        new: &str,
        reason: &str,
    ) -> Result<NewBudget, BudgetError> {
        let change = self.change(place, new, reason)?;
        if rule.name().as_ref() != Some(&change.terms.rule) {
            let (path, rule) = (change.path, excerpt(&change.terms.rule));
            return Err(BudgetError::OtherRule { path, rule });
        }
        change.adaptive(rule.clone())
    }

    /// Was this proposed, and would it be made?
    pub(super) fn check_decision(
        &self,
        BudgetDecision { change, approved }: &BudgetDecision,
    ) -> Result<(), Invalid> {
        let place = change.account;
        self.account(place)?;
        if self.proposal(place).map(|proposal| &proposal.change) != Some(change) {
            let why = format!("another budget, or none, was proposed for place {place}");
            return Err(invalid(why));
        }
        match approved {
            true => self.check_budget(change),
            false => Ok(()),
        }
    }

    /// Would this change be made? Only for a rule of somebody's own they have to be believed.
    pub(super) fn check_budget(&self, asked: &NewBudget) -> Result<(), Invalid> {
        let terms = self.account(asked.account)?;
        if terms.budget.as_ref() != Some(&asked.old) {
            let (place, old) = (asked.account, excerpt(&asked.old));
            let was = terms.budget.as_deref().map_or("none".into(), excerpt);
            let why = format!("the budget of place {place} was {was} and not {old}");
            return Err(invalid(why));
        }
        match self.new_budget(asked.account, &asked.new, &asked.reason) {
            Ok(change) if change == *asked => Ok(()),
            Err(BudgetError::OtherRule { .. }) if terms.relation != Relation::Reserved => Ok(()),
            Ok(_) => Err(invalid("a new budget is not what it says")),
            Err(error) => Err(invalid(error.to_string())),
        }
    }

    fn change<'a>(
        &'a self,
        place: Place,
        new: &'a str,
        reason: &str,
    ) -> Result<Change<'a>, BudgetError> {
        let path = self.path(place).to_string();
        let reason = checked(reason)?;
        let Some(Terms::Account(terms)) = self.terms(place) else {
            return Err(BudgetError::NoAccount { path });
        };
        let Some(old) = &terms.budget else {
            return Err(BudgetError::NoBudget { path });
        };
        Ok(Change {
            place,
            path,
            terms,
            old,
            new,
            reason,
        })
    }
}

/// A change that was asked for.
struct Change<'a> {
    place: Place,
    path: String,
    terms: &'a AccountTerms,
    old: &'a String,
    new: &'a str,
    reason: String,
}

impl WithRule for Change<'_> {
    type Out = Result<NewBudget, BudgetError>;

    fn adaptive<R: Adaptive>(self, rule: R) -> Self::Out {
        self.checked(&rule, true)
    }

    fn filter_only<R: FilterRule>(self, rule: R) -> Self::Out {
        self.checked(&rule, false)
    }
}

impl Change<'_> {
    fn checked<R: FilterRule>(self, rule: &R, adaptive: bool) -> Result<NewBudget, BudgetError> {
        let no_budget = |why: String| BudgetError::NotABudget {
            path: self.path.clone(),
            new: excerpt(self.new),
            why,
        };
        let unreadable = || JournalError::Damaged(format!("`{}` is no budget", excerpt(self.old)));
        let old = TotalLoss::<R>::read(self.old).ok_or_else(unreadable)?;
        let new = TotalLoss::<R>::read(self.new.trim())
            .ok_or_else(|| no_budget("it is no loss of the rule's measure".into()))?;
        let opened = guarded(|| rule.open(&new).map(drop));
        let opened: Result<(), RuleError> = opened.map_err(|_| no_budget("panic".into()))?;
        opened.map_err(|error| no_budget(error.to_string()))?;
        let lowered = new.at_most(&old);
        let (path, budget) = (self.path.clone(), self.old.clone());
        if lowered && old.at_most(&new) {
            return Err(BudgetError::Same { path, budget });
        }
        if !lowered && self.terms.relation == Relation::Reserved {
            return Err(BudgetError::Reserved { path, old: budget });
        }
        if !lowered && !adaptive {
            let rule = self.terms.rule.to_string();
            return Err(BudgetError::FilterOnly {
                path,
                rule,
                old: budget,
            });
        }
        let written = new.written();
        Ok(NewBudget {
            account: self.place,
            old: budget,
            new: written.ok_or_else(|| no_budget("it cannot be written down".into()))?,
            reason: self.reason,
            guarantee: match lowered {
                true => Guarantee::Stands,
                false => Guarantee::Odometer,
            },
        })
    }
}
