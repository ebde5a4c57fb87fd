//! What other processes have written, for what is open in this one.

use std::{any::Any, collections::HashMap, sync::Arc};

use crate::{
    error::OpenError,
    journal::{Books, ChargeRecord, Event, JournalError, Past, Place, Record, Run},
};

/// What is open at a place, and has to hear of what other processes charge to it.
pub(crate) trait Informed: Any + Send + Sync {
    /// Charges this, after all that was charged before. Nobody is asked: it has happened.
    fn told(&self, news: &Past) -> Result<(), OpenError>;
}

/// Tells what is open. Something that has not heard of a charge would admit too much, so if one cannot be told, nothing is
/// written any more.
pub(super) fn tell(books: &Books, records: &[Record]) -> Result<(), JournalError> {
    let mut news: HashMap<Place, Past> = HashMap::new();
    let mut budgets = Vec::new();
    for record in records {
        match &record.event {
            Event::Charge(charge) => charged(&mut news, charge),
            Event::Halt(halt) => news.entry(halt.account).or_default().halted = true,
            Event::Budget(new) => budgets.push(new.account),
            Event::DecidedBudget(decision) if decision.approved => {
                budgets.push(decision.change.account);
            }
            _ => {}
        }
    }
    if !books.open_at(budgets.into_iter()).is_empty() {
        return Err(books.close("another process has given an open account another budget"));
    }
    for (place, open) in books.open_at(news.keys().copied()) {
        if let Some(past) = news.get(&place)
            && open.told(past).is_err()
        {
            return Err(books.close("an account cannot be charged what another process wrote"));
        }
    }
    Ok(())
}

fn charged(news: &mut HashMap<Place, Past>, charge: &ChargeRecord) {
    for posting in &charge.postings {
        let runs = &mut news.entry(posting.account).or_default().runs;
        if let Some(run) = runs.last_mut()
            && run.launch.0 == charge.description
            && run.launch.1 == posting.price
        {
            run.count += 1;
            continue;
        }
        runs.push(Run {
            launch: Arc::new((charge.description.clone(), posting.price.clone())),
            count: 1,
        });
    }
}
