//! Stable names with parameters: what is written down of rules, measures, metrics and conversions. Never a `Debug` text or
//! the name of a type: those change when code does.

use exact::Exact;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A stable name with parameters. What has the same name counts in the same way; what counts differently has another.
///
/// ```
/// use odometry::measures::Name;
/// let order = Name::new("renyi").with("order", 2);
/// assert_eq!(Name::new("basic").of(&order).to_string(), "basic{renyi{order=2}}");
/// assert_eq!(Name::new("mine").with("unit", "a=b").to_string(), r"mine{unit=a\=b}");
/// assert_eq!(Name::new("mine").with("end", "\\").with("n", 1).to_string(), r"mine{end=\\, n=1}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name(String);

impl Name {
    /// A name without parameters. Signs that have a meaning in names are escaped.
    pub fn new(name: &str) -> Self {
        Self(escaped(name))
    }

    /// This name with a parameter more, such as a δ. What it is written as must tell all its values apart.
    #[must_use]
    pub fn with(self, parameter: &str, value: impl fmt::Display) -> Self {
        let value = escaped(&value.to_string());
        self.and(&format!("{}={value}", escaped(parameter)))
    }

    /// This name with another name as a parameter: that of a measure, for a rule.
    #[must_use]
    pub fn of(self, inner: &Name) -> Self {
        self.and(&inner.0)
    }

    fn and(self, parameter: &str) -> Self {
        let Self(mut text) = self;
        match has_parameters(&text) {
            true => text.insert_str(text.len() - 1, &format!(", {parameter}")),
            false => text.push_str(&format!("{{{parameter}}}")),
        }
        Self(text)
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it is called, and its parameters.
    pub(crate) fn split(&self) -> Option<(&str, &str)> {
        match self.0.split_once('{') {
            Some((head, inside)) => Some((head, inside.strip_suffix('}')?)),
            None => Some((&self.0, "")),
        }
    }
}

/// Does it end in the brace that closes its parameters? One behind an odd number of backslashes is a sign of its own.
fn has_parameters(text: &str) -> bool {
    let before = text.strip_suffix('}');
    before.is_some_and(|before| (before.len() - before.trim_end_matches('\\').len()) % 2 == 0)
}

/// The value of a parameter that is no name.
pub(crate) fn parameter<'a>(inside: &'a str, name: &str) -> Option<&'a str> {
    let mut parameters = inside.split(", ");
    parameters.find_map(|parameter| parameter.strip_prefix(name)?.strip_prefix('='))
}

pub(crate) fn number(inside: &str, name: &str) -> Option<Exact> {
    parameter(inside, name)?.parse().ok()
}

pub(crate) fn numbers(text: &str) -> Option<Vec<Exact>> {
    text.split(' ').map(|number| number.parse().ok()).collect()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        if r"\{}=,".contains(sign) {
            escaped.push('\\');
        }
        escaped.push(sign);
    }
    escaped
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
