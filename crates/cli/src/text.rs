//! Texts of others, made harmless for where they are shown: names are chosen by analysts, and files by anybody.

/// For terminals: no control characters, and none that turn the direction of writing around.
pub(crate) fn plain(text: &str) -> String {
    let shown = |c: char| if harmful(c) { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

fn harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// For JSON that may end up on a terminal: the same value, with escapes for whatever is not harmless. Line feeds between values
/// stay.
pub(crate) fn json_escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match harmful(c) && c != '\n' {
            // All of them have four digits.
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => escaped.push(c),
        }
    }
    escaped
}

/// For spreadsheets: what would be a formula is text. The quotation is left to whoever writes the file.
pub(crate) fn defused(text: &str) -> String {
    let text = plain(text);
    let formula = text.trim_start().starts_with([
        '=', '+', '-', '@', '|', '%', '＝', '＋', '－', '＠', '\u{fffd}',
    ]);
    match formula && text.parse::<f64>().is_err() {
        true => format!("'{text}"),
        false => text,
    }
}

/// For XML and HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in plain(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_a_terminal_but_letters() {
        assert_eq!(
            plain("a\u{1b}[31mred\r\n\u{202e}b"),
            "a\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd}b"
        );
        assert_eq!(plain("ε of Ünal, 東京"), "ε of Ünal, 東京");
    }

    #[test]
    fn json_is_the_same_value_without_signs_that_turn_text_around() {
        let text = serde_json::json!(["a\u{202e}b\u{7f}", "\u{1b}ε\n"]).to_string();
        let escaped = json_escaped(&text);
        assert!(!escaped.contains(harmful), "{escaped}");
        let (before, after): (serde_json::Value, serde_json::Value) = (
            serde_json::from_str(&text).unwrap(),
            serde_json::from_str(&escaped).unwrap(),
        );
        assert_eq!(before, after);
    }

    #[test]
    fn nothing_is_a_formula() {
        for text in [
            "=1+1",
            "@SUM(A1)",
            "+cmd|' /C calc'!A0",
            "-2+3",
            "\t=1",
            " =1",
        ] {
            let defused = defused(text);
            assert!(defused.starts_with('\''), "{defused}");
        }
        for text in ["ages", "1e-6", "-3", "(1, 1e-6)"] {
            assert_eq!(defused(text), text);
        }
    }

    #[test]
    fn nothing_is_markup() {
        assert_eq!(
            escaped("<a href='x'>&\"</a>"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;"
        );
    }
}
