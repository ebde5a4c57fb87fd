//! Bills that are written down, and bills that were: at the distances of their account, and by the form of their map wherever
//! else.

use std::{any::Any, sync::Arc};

use exact::excerpt;
use measures::{
    Distance as _, Form, Loss, MapError, Measure, Metric, PrivacyMap, SymmetricDistance,
};
use queryable::guarded;

use crate::{
    account::bill::{Bill, GroupId, PartBill, PartQuote, Price, Quote, Step},
    account::curves::Curves,
    error::LaunchError,
    journal::{Books, JournalError, Place, Posted, Step as Stored},
    measurement::Description,
};

/// A launch that was written down.
pub(super) struct Recorded<MI: Metric, M: Measure> {
    quotes: Vec<(MI::Distance, Quote<M::Loss>)>,
    /// What it costs at other distances, if its map had a form.
    otherwise: Option<Bill<MI, M>>,
    measure: M,
}

impl<MI: Metric, M: Measure> Recorded<MI, M> {
    pub(super) fn measure(&self) -> &M {
        &self.measure
    }

    pub(super) fn price(
        &self,
        d_in: &MI::Distance,
        curves: &mut Curves<M>,
    ) -> Result<Quote<M::Loss>, MapError> {
        if let Some((_, quote)) = self.quotes.iter().find(|(at, _)| at == d_in) {
            return Ok(quote.clone());
        }
        if let Some(bill) = &self.otherwise {
            return bill.price(d_in, curves);
        }
        // Maps are monotone: what is known further away is enough.
        let bounds = |(at, quote): &&(MI::Distance, Quote<M::Loss>)| {
            matches!(quote, Quote::Direct(_)) && d_in.at_most(at)
        };
        let bound = self.quotes.iter().find(bounds);
        Ok(bound.map_or_else(
            || Quote::Direct(self.measure.infinity()),
            |(_, quote)| quote.clone(),
        ))
    }
}

fn written<L: Loss>(loss: &L) -> Result<String, LaunchError> {
    let not_storable = || JournalError::NotStorable {
        what: format!("the loss {loss}"),
        method: "`Loss::written`",
    };
    Ok(loss.written().ok_or_else(not_storable)?)
}

pub(super) fn read<L: Loss>(text: &str) -> Result<L, JournalError> {
    L::read(text).ok_or_else(|| damaged(format!("`{}` is no loss", excerpt(text))))
}

pub(super) fn damaged(why: impl Into<String>) -> JournalError {
    JournalError::Damaged(why.into())
}

impl<MI: Metric, M: Measure> Bill<MI, M> {
    /// What is written down of it, for an account with these distances.
    pub(super) fn posted(&self, distances: &[MI::Distance]) -> Result<Posted, LaunchError> {
        let (factors, form) = self.innermost();
        let quotes = distances.iter().map(|d_in| self.quoted(d_in));
        let quotes: Vec<Quote<M::Loss>> = quotes.collect::<Result<_, _>>()?;
        if factors.is_empty() {
            let losses = quotes.iter().map(|quote| match quote {
                Quote::Direct(loss) => written(loss),
                Quote::Part(_) => Err(LaunchError::Contradiction),
            });
            let losses = losses.collect::<Result<_, _>>()?;
            return Ok(Posted::Direct { form, losses });
        }
        let quotes = quotes.iter().map(|quote| match quote {
            Quote::Part(quote) => Ok(&**quote),
            Quote::Direct(_) => Err(LaunchError::Contradiction),
        });
        let quotes: Vec<&PartQuote<M::Loss>> = quotes.collect::<Result<_, _>>()?;
        let losses = quotes
            .iter()
            .map(|quote| quote.losses.iter().map(written).collect());
        Ok(Posted::Part {
            losses: losses.collect::<Result<_, _>>()?,
            path: steps(&quotes, &factors)?,
            form,
        })
    }

    /// The factors of the parts that it is in, the outermost first, and the form of its map in the innermost.
    fn innermost(&self) -> (Vec<Option<u32>>, Form<String, String>) {
        match self.price_of() {
            Price::Direct(map) => {
                // Losses, measures and conversions say what they are called: somebody's code.
                let form = guarded(|| map.form().written());
                (Vec::new(), form.unwrap_or(Form::Function))
            }
            Price::Part(part) => {
                let (mut factors, form) = part.inner.innermost();
                factors.insert(0, part.factor);
                (factors, form)
            }
            Price::Recorded(_) => (Vec::new(), Form::Function),
        }
    }

    /// The bill of which this was written down, by an account with these distances.
    pub(super) fn recorded(
        description: &Description,
        measure: &M,
        (distances, books): (&[MI::Distance], &Books),
        posted: &Posted,
    ) -> Result<Self, JournalError> {
        let description = Arc::new(description.clone());
        let (quotes, otherwise) = match posted {
            Posted::Direct { form, losses } => {
                let quotes = losses.iter().map(|loss| Ok(Quote::Direct(read(loss)?)));
                let map = map_of_form(measure, form)?;
                (
                    quotes.collect::<Result<Vec<_>, JournalError>>()?,
                    map.map(|map| Self::direct(Arc::clone(&description), map)),
                )
            }
            Posted::Part { path, form, losses } => (
                part_quotes(path, losses, &mut |place| books.group(place))?,
                part_bill(&description, measure, path, form, books)?,
            ),
            Posted::Slot { .. } => {
                return Err(damaged("a slot was taken of what is no compositor"));
            }
        };
        if quotes.len() != distances.len() {
            return Err(damaged("a charge is at other distances than its account"));
        }
        let checked = |quote: &Quote<M::Loss>| match quote {
            Quote::Direct(loss) => measure.check(loss),
            Quote::Part(part) => part.losses.iter().try_for_each(|loss| measure.check(loss)),
        };
        let checked = quotes.iter().try_for_each(checked);
        checked.map_err(|error| damaged(error.to_string()))?;
        let recorded = Recorded {
            quotes: distances.iter().cloned().zip(quotes).collect(),
            otherwise,
            measure: measure.clone(),
        };
        Ok(Self::new(description, Price::Recorded(recorded)))
    }
}

/// The map of a form that was written down, if it is known here. What is longer than anything that is written is not read.
fn map_of_form<MI: Metric, M: Measure>(
    measure: &M,
    form: &Form<String, String>,
) -> Result<Option<PrivacyMap<MI, M>>, JournalError> {
    if !form.is_within_limits() {
        return Err(damaged(
            "the form of a map is longer than any that is written",
        ));
    }
    let of_form = |form| PrivacyMap::of_form(measure.clone(), form);
    Ok(form.read().and_then(of_form))
}

fn steps<L>(quotes: &[&PartQuote<L>], factors: &[Option<u32>]) -> Result<Vec<Stored>, LaunchError> {
    let unnamed = || JournalError::Unnamed {
        what: "a partition".into(),
    };
    let step = |(at, factor): (usize, &Option<u32>)| {
        let steps: Option<Vec<&Step>> = quotes.iter().map(|quote| quote.path.get(at)).collect();
        let steps = steps.ok_or(LaunchError::Contradiction)?;
        let first = steps.first().ok_or(LaunchError::Contradiction)?;
        Ok(Stored {
            partition: first.group.place().ok_or_else(unnamed)?,
            part: Place(u32::try_from(first.part).map_err(|_| unnamed())?),
            units: steps.iter().map(|step| step.units.clone()).collect(),
            factor: *factor,
        })
    };
    factors.iter().enumerate().map(step).collect()
}

/// What was written down of a launch in a part, at each distance.
pub(super) fn part_quotes<L: Loss>(
    path: &[Stored],
    losses: &[Vec<String>],
    group: &mut dyn FnMut(Place) -> GroupId,
) -> Result<Vec<Quote<L>>, JournalError> {
    let mut at = |(number, losses): (usize, &Vec<String>)| {
        let step = |step: &Stored| {
            let units = step.units.get(number);
            Ok(Step {
                group: group(step.partition),
                part: u64::from(step.part.0),
                units: units.ok_or_else(|| damaged("a part has no units"))?.clone(),
            })
        };
        let path: Result<Vec<Step>, JournalError> = path.iter().map(step).collect();
        let losses: Result<Arc<[L]>, _> = losses.iter().map(|loss| read(loss)).collect();
        let (path, losses) = (path?, losses?);
        Ok(Quote::Part(Box::new(PartQuote { path, losses })))
    };
    losses.iter().enumerate().map(&mut at).collect()
}

/// The whole bill, if the numbers of units and the map all have a form.
fn part_bill<MI: Metric, M: Measure>(
    description: &Arc<Description>,
    measure: &M,
    path: &[Stored],
    form: &Form<String, String>,
    books: &Books,
) -> Result<Option<Bill<MI, M>>, JournalError> {
    let map = map_of_form::<SymmetricDistance, M>(measure, form)?;
    let bill = |map| {
        let innermost = Bill::direct(Arc::clone(description), map);
        let (outermost, inner) = path.split_first()?;
        let inner = inner.iter().rev().try_fold(innermost, |bill, step| {
            part_of::<SymmetricDistance, M>(step, bill, books)
        })?;
        part_of(outermost, inner, books)
    };
    Ok(map.and_then(bill))
}

fn part_of<MI: Metric, M: Measure>(
    step: &Stored,
    inner: Bill<SymmetricDistance, M>,
    books: &Books,
) -> Option<Bill<MI, M>> {
    let factor = step.factor?;
    let part = PartBill {
        group: books.group(step.partition),
        part: u64::from(step.part.0),
        units: Arc::new(move |d_in: &MI::Distance| {
            let records = (d_in as &dyn Any).downcast_ref::<u32>();
            let units = records.and_then(|records| records.checked_mul(factor));
            units.ok_or_else(|| MapError::failed(d_in, "too many changed records"))
        }),
        factor: Some(factor),
        inner,
    };
    Some(Bill::part(part, None))
}
