//! The parameters of an address that the client does not know: `sslmode` with its stricter values, and `sslrootcert`. They are
//! taken out of the text before the client reads it. Both forms of an address have them: `postgres://…?name=value&…` and
//! `name=value …`.

use std::{ops::Range, path::PathBuf};

use super::error::ConnectError;

/// What an address asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Nothing, or encryption that a machine in between could prevent.
    Unsaid,
    /// A connection that is not encrypted.
    Off,
    /// With a server that an authority in this file vouches for.
    Verified(PathBuf),
}

/// A parameter: its name, its value, and where both are in the text.
type Parameter = (String, String, Range<usize>);

/// The address without these parameters, and what they ask for.
pub(super) fn taken(text: &str) -> Result<(String, Encryption), ConnectError> {
    let parameters = match query(text) {
        Some(start) => in_query(text, start),
        None if is_url(text) => Some(Vec::new()),
        None => in_words(text),
    };
    let (mut mode, mut authorities) = (None, None);
    let mut rest = text.to_owned();
    // From the end, so that places further on are gone already.
    for (name, value, place) in parameters.ok_or(ConnectError::Address)?.into_iter().rev() {
        let asked = match &*name {
            "sslmode" => &mut mode,
            "sslrootcert" => &mut authorities,
            _ => continue,
        };
        if asked.replace(value).is_some() {
            // Twice: it is not clear which is meant.
            return Err(ConnectError::Address);
        }
        rest.replace_range(place, "");
    }
    let encryption = match mode.as_deref() {
        None | Some("allow" | "prefer") => Encryption::Unsaid,
        Some("disable") => Encryption::Off,
        Some("require" | "verify-full") => {
            let authorities = authorities.ok_or(ConnectError::NoAuthority)?;
            Encryption::Verified(authorities.into())
        }
        Some(_) => return Err(ConnectError::EncryptionMode),
    };
    Ok((rest, encryption))
}

fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Where the parameters of a URL begin, behind the question mark. (A user's name may have one, too.)
fn query(text: &str) -> Option<usize> {
    let host = text.find('@').unwrap_or(0);
    let mark = text[host..].find('?').filter(|_| is_url(text))?;
    Some(host + mark + 1)
}

fn in_query(text: &str, mut at: usize) -> Option<Vec<Parameter>> {
    let mut parameters = Vec::new();
    while at < text.len() {
        let end = text[at..].find('&').map_or(text.len(), |end| at + end + 1);
        let parameter = text[at..end].trim_end_matches('&');
        let (name, value) = parameter.split_once('=')?;
        parameters.push((decoded(name)?, decoded(value)?, at..end));
        at = end;
    }
    Some(parameters)
}

/// Two digits behind a percent sign stand for a byte.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    String::from_utf8(bytes).ok()
}

fn in_words(text: &str) -> Option<Vec<Parameter>> {
    let mut parameters = Vec::new();
    let mut characters = text.char_indices().peekable();
    loop {
        while characters.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let Some((start, _)) = characters.peek().copied() else {
            return Some(parameters);
        };
        let mut name = String::new();
        while let Some((_, c)) = characters.next_if(|(_, c)| !c.is_whitespace() && *c != '=') {
            name.push(c);
        }
        while characters.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        characters.next_if(|(_, c)| *c == '=')?;
        while characters.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let quoted = characters.next_if(|(_, c)| *c == '\'').is_some();
        let is_inside = |c: char| {
            if quoted {
                c != '\''
            } else {
                !c.is_whitespace()
            }
        };
        let mut value = String::new();
        while let Some((_, c)) = characters.next_if(|(_, c)| is_inside(*c)) {
            match c {
                '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
                c => value.push(c),
            }
        }
        if quoted {
            characters.next()?;
        }
        let end = characters.peek().map_or(text.len(), |(end, _)| *end);
        parameters.push((name, value, start..end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verified(file: &str) -> Encryption {
        Encryption::Verified(file.into())
    }

    #[test]
    fn parameters_are_taken_out_of_both_forms() {
        for (text, rest, encryption) in [
            (
                "postgres://u@h/l?sslmode=verify-full&sslrootcert=%2Fa%20b",
                "postgres://u@h/l?",
                verified("/a b"),
            ),
            (
                "postgresql://u@h/l?application_name=x%26y&sslrootcert=r?s&connect_timeout=3&sslmode=require",
                "postgresql://u@h/l?application_name=x%26y&connect_timeout=3&",
                verified("r?s"),
            ),
            (
                "postgres://what?sslmode=disable@h/l",
                "postgres://what?sslmode=disable@h/l",
                Encryption::Unsaid,
            ),
            (
                "postgres://h?sslmode=disable",
                "postgres://h?",
                Encryption::Off,
            ),
            ("postgres://u@h/l", "postgres://u@h/l", Encryption::Unsaid),
            (
                "host=h sslrootcert = '/a \\'b' user='sslmode=disable' sslmode=require dbname=l",
                "host=h  user='sslmode=disable'  dbname=l",
                verified("/a 'b"),
            ),
            ("sslmode=disable host=h", " host=h", Encryption::Off),
            ("host=h sslmode=prefer", "host=h ", Encryption::Unsaid),
        ] {
            assert_eq!(
                taken(text).unwrap(),
                (rest.to_owned(), encryption),
                "{text}"
            );
        }
    }

    #[test]
    fn a_parameter_that_is_not_clear_is_refused() {
        for text in [
            "postgres://u@h/l?sslmode",
            "postgres://u@h/l?sslmode=disable&sslmode=require",
            "host=h sslmode",
            "host=h sslmode='disable",
            "host=h sslmode=disable sslmode=disable",
        ] {
            assert_eq!(taken(text), Err(ConnectError::Address), "{text}");
        }
    }
}
