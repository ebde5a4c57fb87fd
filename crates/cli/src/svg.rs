//! A chart of what the rules say: one bar for each, without scripts or anything from elsewhere, in light and dark.

use exact::Round;

use crate::commands::rules::Row;
use crate::output::shown;
use crate::text::escaped;

const WIDTH: f64 = 640.0;
const LABEL: f64 = 150.0;
const LINE: f64 = 26.0;

const STYLE: &str = "text{font:14px system-ui,sans-serif;fill:#222}.title{font-weight:600}.adaptive{fill:#2a7ab8}.fixed{fill:#b8662a}\
@media(prefers-color-scheme:dark){svg{background:#161616}text{fill:#ddd}.adaptive{fill:#5aa9e6}.fixed{fill:#e6985a}}";

/// The chart of these rows.
pub(crate) fn chart(title: &str, rows: &[Row]) -> String {
    let bars: Vec<(&Row, f64)> = rows
        .iter()
        .filter_map(|row| {
            let epsilon = row.total.as_ref().ok()?.epsilon();
            epsilon
                .is_finite()
                .then(|| (row, epsilon.to_f64(Round::Up)))
        })
        .collect();
    let longest = bars
        .iter()
        .map(|(_, epsilon)| *epsilon)
        .fold(f64::MIN_POSITIVE, f64::max);
    let height = LINE * (bars.len() as f64 + 3.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <text class=\"title\" x=\"8\" y=\"20\">ε of {title}</text>\n",
        title = escaped(title),
    );
    for (at, (row, epsilon)) in bars.iter().enumerate() {
        let y = LINE * (at as f64 + 1.6);
        let class = if row.adaptive { "adaptive" } else { "fixed" };
        let width = (epsilon / longest * (WIDTH - LABEL - 120.0)).max(1.0);
        let value = row
            .total
            .as_ref()
            .map_or(String::new(), |total| shown(total.epsilon()));
        text.push_str(&format!(
            "<text x=\"8\" y=\"{:.0}\">{}</text><rect class=\"{class}\" x=\"{LABEL}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"18\" rx=\"3\"/>\
             <text x=\"{:.1}\" y=\"{:.0}\">{}</text>\n",
            y + 14.0,
            escaped(row.rule),
            LABEL + width + 6.0,
            y + 14.0,
            escaped(&value),
        ));
    }
    let y = LINE * (bars.len() as f64 + 2.3);
    text.push_str(&format!(
        "<rect class=\"adaptive\" x=\"8\" y=\"{:.1}\" width=\"12\" height=\"12\"/><text x=\"26\" y=\"{y:.0}\">may be chosen by looking at answers</text>\
         <rect class=\"fixed\" x=\"300\" y=\"{:.1}\" width=\"12\" height=\"12\"/><text x=\"318\" y=\"{y:.0}\">all fixed before the first answer</text>\n</svg>\n",
        y - 11.0,
        y - 11.0,
    ));
    text
}
