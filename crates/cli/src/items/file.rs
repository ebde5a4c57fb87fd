//! Items from a file: CSV with a header, or JSON, a list of objects. Both have the same fields: `mechanism`, its parameters,
//! and perhaps `count` and `name`.

use std::io::Read;
use std::path::Path;

use exact::excerpt;
use serde_json::Value;

use super::{Fields, Item, Kind, count};
use crate::error::CommandError;

/// Files may be this large.
const LARGEST: u64 = 64 << 20;

/// Reads a list; `-` is the standard input. JSON starts with a bracket.
pub(crate) fn read(path: &Path) -> Result<Vec<Item>, CommandError> {
    let shown = path.display().to_string();
    let failed = |source| CommandError::File {
        path: shown.clone(),
        source,
    };
    let mut text = String::new();
    let taken = match shown == "-" {
        true => std::io::stdin()
            .lock()
            .take(LARGEST + 1)
            .read_to_string(&mut text),
        false => {
            let file = std::fs::File::open(path).map_err(failed)?;
            file.take(LARGEST + 1).read_to_string(&mut text)
        }
    };
    if taken.map_err(failed)? as u64 > LARGEST {
        return Err(CommandError::input(
            shown,
            "the list is longer than 64 MB: count equal lines",
        ));
    }
    let text = text.trim_start_matches('\u{feff}');
    let lines = match text.trim_start().starts_with(['[', '{']) {
        true => json(text, &shown)?,
        false => csv(text, &shown)?,
    };
    lines
        .into_iter()
        .map(|(place, fields)| item(fields, &place))
        .collect()
}

type Line = (String, Fields);

fn item(mut fields: Fields, place: &str) -> Result<Item, CommandError> {
    let times = fields.remove("count");
    let times = times
        .as_deref()
        .map_or(Ok(1), count)
        .map_err(|reason| CommandError::input(place, reason))?;
    let name = fields.remove("name");
    let mechanism =
        fields
            .remove("mechanism")
            .unwrap_or_else(|| match fields.contains_key("delta") {
                true => "approx".into(),
                false => "pure".into(),
            });
    Ok(Item {
        name: name.unwrap_or_else(|| mechanism.clone()),
        kind: Kind::new(&mechanism, &fields, place)?,
        count: times,
    })
}

fn csv(text: &str, path: &str) -> Result<Vec<Line>, CommandError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let wrong = |error: csv::Error| CommandError::input(path, error);
    let header = reader.headers().map_err(wrong)?.clone();
    let mut seen = std::collections::BTreeSet::new();
    if let Some(twice) = header
        .iter()
        .find(|column| !seen.insert(column.to_lowercase()))
    {
        return Err(CommandError::input(
            path,
            format!("the column {:?} stands there twice", excerpt(twice)),
        ));
    }
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        let line = record.position().map_or(0, csv::Position::line);
        // A cell that is empty is one that is not there.
        let fields = header
            .iter()
            .zip(record.iter())
            .filter(|(_, cell)| !cell.is_empty());
        let fields = fields
            .map(|(key, cell)| (key.to_lowercase(), cell.to_owned()))
            .collect();
        lines.push((format!("{path}, line {line}"), fields));
    }
    Ok(lines)
}

fn json(text: &str, path: &str) -> Result<Vec<Line>, CommandError> {
    let whole: Value =
        serde_json::from_str(text).map_err(|error| CommandError::input(path, error))?;
    let Value::Array(entries) = whole else {
        return Err(CommandError::input(
            path,
            "write a list of objects: [{\"mechanism\": …}, …]",
        ));
    };
    let line = |(at, entry): (usize, Value)| {
        let place = format!("{path}, entry {}", at + 1);
        let Value::Object(entry) = entry else {
            return Err(CommandError::input(
                place,
                "write an object: {\"mechanism\": …}",
            ));
        };
        let field = |(key, value): (String, Value)| match value {
            Value::String(text) => Ok((key, text)),
            Value::Number(number) if number.is_u64() => Ok((key, number.to_string())),
            other => {
                let (key, other) = (excerpt(&key), excerpt(&other));
                let reason =
                    format!("{key} = {other} is not exact: write it as text, such as \"0.1\"");
                Err(CommandError::input(place.clone(), reason))
            }
        };
        let fields = entry
            .into_iter()
            .map(field)
            .collect::<Result<Fields, CommandError>>()?;
        Ok((place, fields))
    };
    entries.into_iter().enumerate().map(line).collect()
}
