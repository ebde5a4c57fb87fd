//! Reading comma-separated files: a header line, then records; fields may be quoted.

use std::{fs, path::Path};

use super::Problem;

/// A column of numbers from a file. Says which line is wrong, and how.
pub fn numbers(file: &Path, column: &str) -> Result<Vec<f64>, Problem> {
    let text = fs::read_to_string(file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let mut lines = text.lines().enumerate();
    let (_, header) = lines
        .next()
        .ok_or_else(|| format!("{} is empty", file.display()))?;
    let header = fields(header);
    let at = header
        .iter()
        .position(|name| name.trim() == column)
        .ok_or_else(|| {
            let known = header.join(", ");
            format!(
                "{} has no column {column:?}; it has: {known}",
                file.display()
            )
        })?;
    let mut numbers = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = number + 1;
        let fields = fields(line);
        let field = fields
            .get(at)
            .ok_or_else(|| format!("line {line_number} of {} is too short", file.display()))?;
        match field.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => numbers.push(value),
            _ => {
                let shown: String = field.chars().take(20).collect();
                return Err(format!(
                    "line {line_number} of {}: {shown:?} in column {column:?} is not a number",
                    file.display()
                )
                .into());
            }
        }
    }
    Ok(numbers)
}

/// The fields of a line. A quoted field may hold commas, and two quotes for one; not a line break.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                fields[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => fields[last].push(other),
        }
    }
    fields
}
