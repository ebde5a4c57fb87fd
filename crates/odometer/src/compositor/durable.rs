//! Compositions on a ledger: every slot that is taken is written down before what takes it runs, and after a restart the rest
//! is left.

use std::sync::Arc;

use measures::{
    ChildLoss, Distance as _, FixedRule, Interleaving, Loss, Measure as _, Metric as _, Name,
};
use queryable::{AskError, Scope, guarded};

use super::{Composition, Parts, Shared};
use crate::{
    account::admission::Admitted,
    account::durable::not_on_a_ledger,
    account::opening::stored,
    error::{LaunchError, OpenError},
    journal::{
        Books, ChargeRecord, CompositorTerms, Drafted, Informed, JournalError, Opening, Past,
        Place, Posted, Posting, Segment, Terms,
    },
    measurement::{Above, Head, Measurement},
    space::Space,
    sync::{Mutex, lock},
};

/// What a composition on a ledger has besides.
pub(super) struct Journaled {
    pub(super) books: Books,
    pub(super) place: Place,
    /// Under a sequential rule, held from before a slot is taken until its function runs: as accounts do.
    pub(super) gate: Mutex<()>,
}

impl<S: Space, R: FixedRule> Parts<S, R> {
    /// How it is opened below an account.
    pub(super) fn opening(&self, books: &Books, above: Place) -> Result<Opening, OpenError> {
        let what = "a compositor".into();
        let name = self.name.as_ref().filter(|name| !name.is_empty());
        let name = name.ok_or(JournalError::Unnamed { what })?;
        let sequential = matches!(R::INTERLEAVING, Interleaving::Sequential);
        books.check_turns(sequential, name)?;
        let terms = guarded(|| self.terms()).map_err(|_| OpenError::RulePanicked {
            account: name.to_string(),
        })?;
        Ok(Opening {
            parent: Some(above),
            segment: Segment::name(&**name),
            terms: Terms::Compositor(terms?),
        })
    }

    fn terms(&self) -> Result<CompositorTerms, JournalError> {
        let (rule, measure, metric) = (&self.rule, self.rule.child(), self.space.metric());
        let slot = |loss: &ChildLoss<R>| {
            let what = || format!("the loss {loss}");
            stored(what, loss.written(), "`Loss::written`")
        };
        let d_in = || format!("the distance {}", self.d_in);
        Ok(CompositorTerms {
            rule: stored::<Name>(|| format!("the rule {rule:?}"), rule.name(), "`Rule::name`")?,
            measure: stored(
                || format!("the measure {measure:?}"),
                measure.name(),
                "`Measure::name`",
            )?,
            metric: stored(
                || format!("the metric {metric:?}"),
                metric.name(),
                "`Metric::name`",
            )?,
            d_in: stored(d_in, self.d_in.written(), "`Distance::written`")?,
            slots: self.losses.iter().map(slot).collect::<Result<_, _>>()?,
            in_any_order: self.in_any_order(),
            messages: self.messages,
        })
    }

    /// The composition at its place: the one that is open, or one with the slots that are left.
    pub(super) fn open_on(
        &self,
        data: &Arc<S::Data>,
        scope: &mut Scope<'_>,
        (books, above): (&Books, Place),
    ) -> Result<Composition<S, R>, AskError> {
        let place = self.data_root(scope)?;
        let failed = |error: OpenError| AskError::failed(error.to_string());
        let opening = self.opening(books, above).map_err(failed)?;
        let opened = books.open(&opening, |at, past| {
            let mut shared = self.shared(data, place);
            shared.journaled = Some(Journaled {
                books: books.clone(),
                place: at,
                gate: Mutex::new(()),
            });
            shared.told(&past)?;
            Ok(shared)
        });
        opened.map(Composition).map_err(failed)
    }
}

impl<S: Space, R: FixedRule> Informed for Shared<S, R> {
    /// Slots that were taken.
    fn told(&self, news: &Past) -> Result<(), OpenError> {
        let mut left = lock(&self.left);
        for run in &news.runs {
            let taken = match &run.launch.1 {
                Posted::Slot { slot } if run.count == 1 => {
                    left.iter().position(|(number, _)| number == slot)
                }
                _ => None,
            };
            let twice = || JournalError::Damaged("a slot was taken twice".into());
            left.remove(taken.ok_or_else(twice)?);
        }
        Ok(())
    }
}

impl<S: Space, R: FixedRule> Composition<S, R> {
    /// Launches into a slot, and writes it down before it runs.
    #[cold]
    pub(super) fn launch_durably<A>(
        &self,
        on: &Journaled,
        head: &Head<S, R::Child>,
        run: impl FnOnce(&Arc<S::Data>, &mut Scope<'_>, Above<'_>) -> Result<A, AskError>,
    ) -> Result<A, LaunchError> {
        let shared = &*self.0;
        let above = Some((&on.books, on.place));
        let loss = head.loss(&shared.d_in)?;
        let opens = head.opened_below(above)?;
        let gate = shared.sequence.is_some().then(|| lock(&on.gate));
        let (terms, draft) = loop {
            if let Some(staged) = shared.try_staging(on, head, &loss, &opens)? {
                break staged;
            }
        };
        draft.wait().map_err(LaunchError::in_doubt)?;
        self.run_taken(terms, |scope| {
            drop(gate);
            run(&shared.data, scope, above)
        })
    }

    /// What a filter or a compositor that was launched into one of its slots before answered, after a restart: where it was. See
    /// [`Session::resume`](crate::Session::resume). Only on a ledger.
    ///
    /// # Errors
    /// As there.
    pub fn resume<A: 'static>(
        &self,
        filter: &Measurement<S, R::Child, A>,
    ) -> Result<A, LaunchError> {
        let shared = &*self.0;
        self.check(filter.head())?;
        let on = shared.journaled.as_ref().ok_or_else(not_on_a_ledger)?;
        let unsupported = |why: &str| JournalError::Unsupported(why.into());
        if shared.sequence.is_some() {
            let why = "in a sequential composition, the turn of a filter ends with the process";
            return Err(unsupported(why).into());
        }
        let above = Some((&on.books, on.place));
        let opening = filter.head().opened_below(above)?;
        let opening =
            opening.ok_or_else(|| unsupported("only filters and compositors are resumed"))?;
        on.books.launched(&opening)?;
        let answer = self.run_taken(shared.terms(), |scope| {
            filter.run_at(&shared.data, scope, above)
        })?;
        answer.processed().map_err(LaunchError::Failed)
    }
}

impl<S: Space, R: FixedRule> Shared<S, R> {
    /// Takes a slot, and stages that; `None` if somebody else has taken it meanwhile.
    fn try_staging(
        &self,
        on: &Journaled,
        head: &Head<S, R::Child>,
        loss: &ChildLoss<R>,
        opens: &Option<Opening>,
    ) -> Result<Option<(Admitted, Drafted)>, LaunchError> {
        let slot = {
            let left = lock(&self.left);
            self.choose(&left, loss).map(|at| left[at].0)
        };
        let slot = slot.ok_or_else(|| self.no_slot(head, loss))?;
        let mut draft = on.books.draft(
            ChargeRecord {
                description: (**head.description()).clone(),
                key: None,
                postings: vec![Posting {
                    account: on.place,
                    price: Posted::Slot { slot },
                }],
                opens: opens.clone(),
            }
            .into(),
        )?;
        let _sitting = on.books.enter()?;
        let mut left = lock(&self.left);
        match self.choose(&left, loss) {
            Some(at) if left[at].0 == slot => {
                // The last step that can fail.
                draft.stage()?;
                left.remove(at);
                Ok(Some((self.terms(), draft)))
            }
            _ => Ok(None),
        }
    }
}
