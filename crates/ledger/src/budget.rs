//! Another budget for an account: by whoever answers for it, with a reason.

use measures::Adaptive;
use odometer::journal::{BudgetError, NewBudget, Place, Receipt, State, Terms};

use crate::opened::Ledger;

impl Ledger {
    /// The budget of the account at the path with this text, as it is now: what the account is opened with.
    pub fn budget(&self, path: &str) -> Option<String> {
        let state = self.state();
        match state.terms(state.named(path)?)? {
            Terms::Account(terms) => terms.budget.clone(),
            _ => None,
        }
    }

    /// Gives the account at this path another budget from now on, and writes it down with a reason. The account, and all below,
    /// must be closed; then it is opened with the new budget, and with no other.
    ///
    /// Lowering only stops earlier. Raising is possible where the rule has a running loss, and makes the guarantee an
    /// odometer's: the record says so. A rule that is only a filter's is never raised, nor is a filter that was launched:
    /// open another one.
    ///
    /// ```
    /// use odometry::{ledger::Ledger, prelude::*};
    /// # let path = std::env::temp_dir().join(format!("odometry-budget-{}.redb", std::process::id()));
    /// # let _ = std::fs::remove_file(&path);
    /// # let people = Records::<bool>::new();
    /// let ledger = Ledger::open(&path)?;
    /// let organisation = Odometer::new(people, Basic::new(PureDp)).named("all");
    /// let session = organisation.filter_on(ledger.books(), 1, "3", vec![true])?;
    /// assert!(ledger.change_budget("all", "4", "the second wave of the survey").is_err()); // it is open
    /// drop(session);
    /// ledger.change_budget("all", "4", "the second wave of the survey")?;
    /// assert!(organisation.filter_on(ledger.books(), 1, "3", vec![true]).is_err());
    /// organisation.filter_on(ledger.books(), 1, ledger.budget("all").unwrap(), vec![true])?;
    /// # drop(ledger);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BudgetError`]: nothing was changed, unless it is [in doubt](odometer::journal::JournalError::InDoubt).
    pub fn change_budget(
        &self,
        path: &str,
        new: &str,
        reason: &str,
    ) -> Result<Receipt, BudgetError> {
        self.rebudget(path, |state, place| state.new_budget(place, new, reason))
    }

    /// The same for an account with a rule of one's own.
    ///
    /// # Errors
    /// As there.
    pub fn change_budget_by<R: Adaptive>(
        &self,
        path: &str,
        rule: &R,
        new: &str,
        reason: &str,
    ) -> Result<Receipt, BudgetError> {
        let by = |state: &State, place| state.new_budget_by(place, rule, new, reason);
        self.rebudget(path, by)
    }

    fn rebudget(
        &self,
        path: &str,
        new: impl FnOnce(&State, Place) -> Result<NewBudget, BudgetError>,
    ) -> Result<Receipt, BudgetError> {
        // On the grounds of what other processes have written, too.
        self.books().sitting(|| ())?;
        let state = self.state();
        let missing = || BudgetError::NoAccount { path: path.into() };
        let place = state.named(path).ok_or_else(missing)?;
        let new = new(&state, place)?;
        Ok(self.books().change_budget(&state.path(place), new)?)
    }
}
