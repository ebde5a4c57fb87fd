//! Items as arguments: `0.1`, `(0.5, 1e-6)`, `laplace:scale=10`, each with a count if need be: `0.1 x100`.

use exact::excerpt;

use super::{Fields, Item, Kind, count};
use crate::error::CommandError;

/// One argument.
pub(crate) fn parse(text: &str) -> Result<Item, CommandError> {
    let (what, times) = split_count(text);
    let count = times
        .map_or(Ok(1), count)
        .map_err(|reason| CommandError::input(place(text), reason))?;
    let (name, fields) = fields(what.trim(), text)?;
    Ok(Item {
        name: what.trim().to_owned(),
        kind: Kind::new(&name, &fields, &place(text))?,
        count,
    })
}

fn place(text: &str) -> String {
    format!("`{}`", excerpt(text))
}

/// `what x100`, or `what*100`.
fn split_count(text: &str) -> (&str, Option<&str>) {
    let Some((what, times)) = text.rsplit_once(['x', '×', '*']) else {
        return (text, None);
    };
    let counts = !times.trim().is_empty()
        && times
            .trim()
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ',' | '_'));
    if counts {
        (what, Some(times))
    } else {
        (text, None)
    }
}

/// The name of a mechanism and its fields; a number alone is a pure loss, two in parentheses are (ε, δ).
fn fields(what: &str, whole: &str) -> Result<(String, Fields), CommandError> {
    let field = |key: &str, value: &str| (key.to_owned(), value.trim().to_owned());
    if let Some(pair) = what
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        let Some((epsilon, delta)) = pair.split_once(',') else {
            return Err(CommandError::input(
                place(whole),
                "write (ε, δ), such as (0.5, 1e-6)",
            ));
        };
        let fields = [field("epsilon", epsilon), field("delta", delta)];
        return Ok(("approx".into(), fields.into()));
    }
    let Some((name, rest)) = what.split_once(':') else {
        return Ok(("pure".into(), [field("epsilon", what)].into()));
    };
    let mut fields = Fields::new();
    for part in rest.split(',').filter(|part| !part.trim().is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(CommandError::input(
                place(whole),
                format!("{:?} is no parameter: write name=number", excerpt(part)),
            ));
        };
        let (key, value) = field(key.trim(), value);
        if fields.insert(key.clone(), value).is_some() {
            return Err(CommandError::input(
                place(whole),
                format!("{:?} stands there twice", excerpt(&key)),
            ));
        }
    }
    Ok((name.trim().to_owned(), fields))
}
