//! How budgets were spent, record by record: a chart without a script.

use std::ops::ControlFlow;

use ledger::{LedgerError, WrittenDown};
use odometer::journal::{JournalError, Place, State, Terms};

use crate::error::CommandError;
use crate::ledgers::{Tree, Viewed, reckon, share};
use crate::text::escaped;

/// So many accounts are told apart by colours.
const MOST: usize = 6;

/// So many points are enough for a page.
const POINTS: u64 = 200;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 30.0;

/// One account's way to its budget.
pub(crate) struct Curve {
    pub(crate) path: String,
    place: Place,
    /// Up to which record, and which part of the budget was spent then.
    points: Vec<(u64, f64)>,
}

/// The ways of the accounts with budgets, those that have spent most first.
pub(crate) fn curves(viewed: &Viewed, tree: &Tree, last: u64) -> Result<Vec<Curve>, CommandError> {
    let mut spenders: Vec<(f64, &crate::ledgers::Account)> = tree
        .accounts
        .iter()
        .filter_map(|account| Some((account.share()?, account)))
        .filter(|(share, _)| *share > 0.0)
        .collect();
    spenders.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let curve = |(_, account): &(f64, &crate::ledgers::Account)| Curve {
        path: account.path.clone(),
        place: account.place,
        points: Vec::new(),
    };
    let mut curves: Vec<Curve> = spenders.iter().take(MOST).map(curve).collect();
    let step = last.div_ceil(POINTS).max(1);
    let (mut state, mut wrong) = (State::new(), None);
    viewed.ledger.entries(0, |entry| {
        let seq = entry.receipt.seq;
        if seq > last {
            return ControlFlow::Break(());
        }
        let mut look = || -> Result<(), CommandError> {
            if let WrittenDown::Event(record) = &entry.written {
                let invalid = |reason| LedgerError::Invalid { seq, reason };
                let applied = state.apply(record);
                applied.map_err(|error| invalid(error.to_string()))?;
            }
            if seq % step == 0 || seq == last {
                for curve in &mut curves {
                    curve.look(&state, seq)?;
                }
            }
            Ok(())
        };
        match look() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                wrong = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    wrong.map_or(Ok(curves), Err)
}

impl Curve {
    fn look(&mut self, state: &State, seq: u64) -> Result<(), CommandError> {
        let Some(Terms::Account(terms)) = state.opening(self.place).map(|open| &open.terms) else {
            return Ok(());
        };
        let failed = |error: JournalError| CommandError::Ledger(error.into());
        let reckoning = reckon(state, self.place, terms, None).map_err(failed)?;
        let part = reckoning.spent.zip(terms.budget.as_ref());
        if let Some(part) = part.and_then(|(spent, budget)| share(&spent.exact, budget)) {
            self.points.push((seq, part));
        }
        Ok(())
    }

    /// Steps: between two records nothing happens.
    fn line(&self, number: usize, last: u64, most: f64) -> String {
        // A little beyond the last record, so that its step is to be seen.
        let x = |seq: f64| LEFT + (WIDTH - LEFT - 8.0) * seq / (last as f64 * 1.02 + 0.5);
        let y = |part: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - part.min(most) / most);
        let mut text = String::new();
        for (at, (seq, part)) in self.points.iter().enumerate() {
            match at {
                0 => text += &format!("M{:.1} {:.1}", x(*seq as f64), y(*part)),
                _ => text += &format!("H{:.1}V{:.1}", x(*seq as f64), y(*part)),
            }
        }
        text += &format!("H{:.1}", WIDTH - 8.0);
        format!("<path class=\"l l{number}\" d=\"{text}\"/>\n")
    }
}

/// The chart with its legend.
pub(super) fn section(curves: &[Curve]) -> String {
    let last = curves
        .iter()
        .filter_map(|curve| curve.points.last())
        .map(|(seq, _)| *seq)
        .max();
    let Some(last) = last else {
        return String::new();
    };
    let finite = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .map(|(_, part)| *part);
    // Somebody may be beyond: of a budget that was lowered, for one.
    let most = finite
        .filter(|part| part.is_finite())
        .fold(1.0, f64::max)
        .min(3.0);
    let mut text = format!(
        "<section>\n<h2>Over time</h2>\n<div class=\"sheet chart\">\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"How much of their budgets accounts had spent, by record\">\n"
    );
    for quarter in 0..=4 {
        let part = most * f64::from(quarter) / 4.0;
        let y = TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - part / most);
        text += &format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{:.0} %</text>\n",
            WIDTH - 8.0,
            LEFT - 6.0,
            y + 4.0,
            part * 100.0,
        );
    }
    let full = TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - 1.0 / most);
    text += &format!(
        "<line class=\"limit\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{full:.1}\" y2=\"{full:.1}\"/>\n",
        WIDTH - 8.0
    );
    for (number, curve) in curves.iter().enumerate().rev() {
        text += &curve.line(number, last, most);
    }
    text += &format!(
        "<text x=\"{LEFT}\" y=\"{}\">record 0</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">record {last}</text>\n</svg>\n\
         <ul class=\"legend\">\n",
        HEIGHT - 6.0,
        WIDTH - 8.0,
        HEIGHT - 6.0,
    );
    for (number, curve) in curves.iter().enumerate() {
        let part = curve.points.last().map_or(0.0, |(_, part)| *part);
        text += &format!(
            "<li><svg viewBox=\"0 0 28 12\" aria-hidden=\"true\"><path class=\"l l{number}\" d=\"M0 6H28\"/></svg>{} <span \
             class=\"soft\">{:.0} %</span></li>\n",
            escaped(&curve.path),
            part * 100.0,
        );
    }
    text += "</ul>\n</div>\n<p class=\"soft small\">Which part of its own budget each account had spent. Order is the order of \
             records: a ledger has no clock.</p>\n</section>\n";
    text
}
