//! The forms of an answer: a table, JSON, CSV.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use clap::Args;
use exact::{Exact, Round};

use crate::error::CommandError;
use crate::text::{defused, json_escaped, plain};

/// How an answer is written.
#[derive(Clone, Copy, Debug, Args)]
pub struct AnswerForm {
    /// Answer in JSON; numbers are text
    #[arg(long)]
    pub(crate) json: bool,
    /// Answer in CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

/// A number for people: seven digits, rounded up.
pub(crate) fn shown(number: &Exact) -> String {
    match number.is_infinite() {
        true => "∞".into(),
        false => number.decimal(7, Round::Up),
    }
}

/// For headings and warnings. A pipe gets none of it.
pub(crate) const BOLD: Style = Style::new().bold();

/// How wide a bar is.
const BAR: usize = 20;

/// A part of a budget as a bar: full only if all of it is spent, empty only if nothing is.
pub(crate) fn bar(share: f64) -> String {
    let full = match share {
        share if share <= 0.0 => 0,
        share if share >= 1.0 => BAR,
        share => ((share * BAR as f64) as usize).clamp(1, BAR - 1),
    };
    let colour = match share {
        share if share >= 1.0 => AnsiColor::Red,
        share if share >= 0.8 => AnsiColor::Yellow,
        _ => AnsiColor::Green,
    };
    let style = Style::new().fg_color(Some(colour.into()));
    let (spent, left) = ("█".repeat(full), "░".repeat(BAR - full));
    format!("{style}{spent}{left}{style:#}")
}

/// Columns side by side, with a heading. Cells may have colours: foreign names in them were made [harmless](plain) before.
pub(crate) fn columns(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths = Vec::new();
    widen(&mut widths, header.iter().copied());
    for row in rows {
        widen(&mut widths, row.iter().map(String::as_str));
    }
    let mut text = line(header.iter().copied(), &widths, Some(BOLD));
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str), &widths, None));
    }
    text
}

/// How wide a cell is, without its colours.
fn width(cell: &str) -> usize {
    anstream::adapter::strip_str(cell)
        .map(|piece| piece.chars().count())
        .sum()
}

fn widen<'a>(widths: &mut Vec<usize>, cells: impl Iterator<Item = &'a str>) {
    for (at, cell) in cells.enumerate() {
        widths.resize(widths.len().max(at + 1), 0);
        widths[at] = widths[at].max(width(cell));
    }
}

fn line<'a>(
    cells: impl Iterator<Item = &'a str>,
    widths: &[usize],
    style: Option<Style>,
) -> String {
    let style = style.unwrap_or_default();
    let mut text = String::new();
    let mut gap = 0;
    for (cell, wide) in cells.zip(widths) {
        let own = width(cell);
        if own > 0 {
            text.push_str(&" ".repeat(gap));
            text.push_str(&format!("{style}{cell}{style:#}"));
            gap = 0;
        }
        gap += wide - own + 2;
    }
    text.push('\n');
    text
}

/// How many lines are laid out together.
const TOGETHER: usize = 512;

/// Columns of a list that may be long: laid out piece by piece. Names are made harmless.
pub(crate) struct Lines<'a> {
    header: Vec<String>,
    widths: Vec<usize>,
    waiting: Vec<Vec<String>>,
    none: bool,
    out: &'a mut dyn Write,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(header: &[&str], out: &'a mut dyn Write) -> Self {
        Self {
            header: header.iter().map(|cell| (*cell).to_owned()).collect(),
            widths: Vec::new(),
            waiting: Vec::new(),
            none: true,
            out,
        }
    }

    pub(crate) fn row(&mut self, row: Vec<String>) -> Result<(), CommandError> {
        self.waiting
            .push(row.iter().map(|cell| plain(cell)).collect());
        match self.waiting.len() >= TOGETHER {
            true => self.write(),
            false => Ok(()),
        }
    }

    fn write(&mut self) -> Result<(), CommandError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let first = std::mem::take(&mut self.none);
        if first {
            widen(&mut self.widths, self.header.iter().map(String::as_str));
        }
        for row in &self.waiting {
            widen(&mut self.widths, row.iter().map(String::as_str));
        }
        if first {
            let header = self.header.iter().map(String::as_str);
            self.out
                .write_all(line(header, &self.widths, Some(BOLD)).as_bytes())?;
        }
        for row in self.waiting.drain(..) {
            let cells = row.iter().map(String::as_str);
            self.out
                .write_all(line(cells, &self.widths, None).as_bytes())?;
        }
        Ok(())
    }

    /// Whoever reads sees everything up to here.
    pub(crate) fn flush(&mut self) -> Result<(), CommandError> {
        self.write()?;
        self.out.flush()?;
        Ok(())
    }

    /// The rest; where it was written to, and whether there was nothing at all.
    pub(crate) fn end(mut self) -> Result<(&'a mut dyn Write, bool), CommandError> {
        self.write()?;
        Ok((self.out, self.none))
    }
}

/// Columns side by side, for people. Names are made harmless.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(&header)
        .chain(rows)
        .map(|row| row.iter().map(|cell| plain(cell)).collect())
        .collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|row| row.get(column));
        // A reason in the place of a number does not make its column wide.
        cells
            .map(|cell| cell.chars().count())
            .filter(|width| *width <= 24)
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for row in lines {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A value as JSON, on several lines.
pub(crate) fn json(value: &serde_json::Value, out: &mut dyn Write) -> Result<(), CommandError> {
    writeln!(out, "{}", json_escaped(&format!("{value:#}")))?;
    Ok(())
}

/// Lines for spreadsheets. What would be a formula is text.
pub(crate) fn csv(
    header: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    out: &mut dyn Write,
) -> Result<(), CommandError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| CommandError::Io(std::io::Error::other(error));
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer
            .write_record(row.iter().map(|cell| defused(cell)))
            .map_err(failed)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| CommandError::Io(std::io::Error::other(error.to_string())))?;
    out.write_all(&bytes)?;
    Ok(())
}

/// One more line of such a table.
pub(crate) fn csv_row(row: &[&str], out: &mut dyn Write) -> Result<(), CommandError> {
    let failed = |error: csv::Error| CommandError::Io(std::io::Error::other(error));
    let mut writer = csv::Writer::from_writer(out);
    writer
        .write_record(row.iter().map(|cell| defused(cell)))
        .map_err(failed)?;
    writer.flush()?;
    Ok(())
}
