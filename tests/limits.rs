//! `docs/limits.md` states each limit as it is in the source, and lists all that are public.

use std::collections::BTreeSet;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A row of the page that names a constant.
struct Row {
    value: String,
    name: String,
    /// As it is written in the source.
    expression: String,
    /// Under `crates/`.
    place: String,
}

fn rows() -> Vec<Row> {
    let page = read("docs/limits.md");
    let named = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (constant, place) = cells.get(3)?.split_once(" in ")?;
        let (name, expression) = constant.trim_matches('`').split_once(" = ")?;
        assert_eq!(cells.len(), 8, "six columns: {line}");
        assert!(cells[1..7].iter().all(|cell| !cell.is_empty()), "{line}");
        Some(Row {
            value: cells[2].to_owned(),
            name: name.to_owned(),
            expression: expression.to_owned(),
            place: place.trim_matches('`').to_owned(),
        })
    });
    named.collect()
}

/// The constant's definition in a source, without its type.
fn definition<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = source.split_once(&format!("const {name}: "))?;
    let (_, rest) = rest.split_once(" = ")?;
    rest.split_once(';').map(|(expression, _)| expression)
}

/// What an expression amounts to: a number, a shifted one, or seconds. `None` for others.
fn amount(expression: &str) -> Option<u64> {
    let number = |text: &str| text.replace('_', "").parse::<u64>().ok();
    match expression.split_once(" << ") {
        Some((base, by)) => Some(number(base)? << number(by)?),
        None => number(expression),
    }
}

/// In groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> = groups
        .map(|group| std::str::from_utf8(group).unwrap())
        .collect();
    groups.join(",")
}

fn superscript(number: u32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| digits[c.to_digit(10).unwrap() as usize];
    number.to_string().chars().map(digit).collect()
}

#[test]
fn every_limit_is_stated_as_it_is() {
    let rows = rows();
    assert!(rows.len() > 40, "{} rows with a constant", rows.len());
    for Row {
        value,
        name,
        expression,
        place,
    } in rows
    {
        let source = read(&format!("crates/{place}"));
        let found = definition(&source, &name);
        assert_eq!(found, Some(expression.as_str()), "{name} in {place}");
        let seconds = expression.strip_prefix("Duration::from_secs(");
        let seconds = seconds.and_then(|rest| rest.strip_suffix(')'));
        if let Some(seconds) = seconds {
            assert_eq!(value, format!("{seconds} s"), "{name}");
        } else if let Some(amount) = amount(&expression) {
            let power = format!("2{}", superscript(amount.ilog2()));
            let as_power = amount.is_power_of_two() && value == power;
            assert!(
                as_power || value == grouped(amount),
                "{name}: {value} and {amount}"
            );
        }
    }
}

/// A new limit has to be put on the page.
#[test]
fn every_public_limit_is_listed() {
    fn visit(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                for line in source.lines() {
                    let constant = line.trim_start().strip_prefix("pub const ");
                    let name = constant
                        .and_then(|rest| rest.split(':').next())
                        .unwrap_or_default();
                    if ["MAX_", "MOST_", "DEFAULT_"]
                        .iter()
                        .any(|start| name.starts_with(start))
                    {
                        found.insert(name.to_owned());
                    }
                }
            }
        }
    }
    let listed: BTreeSet<String> = rows().into_iter().map(|row| row.name).collect();
    let mut found = BTreeSet::new();
    for folder in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap() {
        let source = folder.unwrap().path().join("src");
        if source.is_dir() {
            visit(&source, &mut found);
        }
    }
    assert!(found.len() > 15, "{found:?}");
    let missing: Vec<_> = found.difference(&listed).collect();
    assert!(missing.is_empty(), "not in docs/limits.md: {missing:?}");
}
