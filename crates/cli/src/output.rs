//! The forms of an answer: a table, JSON, CSV.

use std::io::Write;

use clap::Args;
use exact::{Exact, Round};

use crate::error::CommandError;
use crate::text::{defused, plain};

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
