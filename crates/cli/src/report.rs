//! One self-contained page of a ledger, to read, print and keep: nothing comes from elsewhere, and it can be read without its
//! script, which only searches. Every name in it was chosen by somebody else, and is [escaped].

mod curves;
mod digest;

pub(crate) use curves::{Curve, curves};

use odometer::journal::Receipt;

use crate::ledgers::{Account, Amount, Event, EventKind, Tree};
use crate::text::escaped;

const STYLE: &str = include_str!("report/page.css");
const SEARCH: &str = include_str!("report/search.js");

/// How deep a name is set in at the most.
const DEEPEST: usize = 6;

/// What is on the page.
pub(crate) struct Page<'a> {
    pub(crate) store: &'a str,
    /// The last record: everything up to it was verified.
    pub(crate) head: Receipt,
    /// What the ledger was compared with.
    pub(crate) anchor: Option<Receipt>,
    pub(crate) tree: &'a Tree,
    pub(crate) events: &'a [Event],
    pub(crate) curves: &'a [Curve],
}

impl Page<'_> {
    /// The page. All tags are closed, so that it is well-formed XML, too.
    pub(crate) fn html(&self) -> String {
        // Only this very style and this very script: whatever slips in beside them does nothing.
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            digest::base64_of_sha256(STYLE),
            digest::base64_of_sha256(SEARCH),
        );
        let title = format!("Privacy budget: {}", escaped(self.store));
        [
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
            &format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"/>\n"),
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
            &format!("<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"),
            &self.top(),
            &self.accounts(),
            &curves::section(self.curves),
            &self.charges(),
            &self.check(),
            &format!("<script>{SEARCH}</script>\n</body>\n</html>\n"),
        ]
        .concat()
    }

    fn count(&self, kind: EventKind) -> usize {
        self.events
            .iter()
            .filter(|event| event.kind == kind)
            .count()
    }

    fn top(&self) -> String {
        let accounts = &self.tree.accounts;
        let exhausted: Vec<&Account> = accounts
            .iter()
            .filter(|account| account.exhausted())
            .collect();
        let anchored = match &self.anchor {
            Some(anchor) => format!(
                "everything up to its anchor, record {}, is there",
                anchor.seq
            ),
            None => {
                "it was compared with no anchor, so nothing is said about missing newer records"
                    .into()
            }
        };
        let fact = |number: usize, words: &str, class: &str| {
            format!("<li><b class=\"{class}\">{number}</b>{words}</li>\n")
        };
        let mut text = format!(
            "<header>\n<h1>Privacy budget</h1>\n<p class=\"soft\"><code>{}</code></p>\n\
             <p><span class=\"good\">Intact</span> when this page was made: every hash up to record {} was checked; {anchored}.</p>\n",
            escaped(self.store),
            self.head.seq,
        );
        let bad = if exhausted.is_empty() { "" } else { "bad" };
        text += "<ul class=\"facts\">\n";
        let counting = accounts.iter().filter(|account| account.terms().is_some());
        text += &fact(counting.count(), "accounts", "");
        text += &fact(self.count(EventKind::Charge), "launches charged", "");
        text += &fact(exhausted.len(), "exhausted", bad);
        text += &fact(self.count(EventKind::Budget), "changes of budgets", "");
        text += "</ul>\n</header>\n";
        text
    }

    fn accounts(&self) -> String {
        let head = "<h2>Accounts</h2>\n<div class=\"sheet\"><table class=\"stack\">\n<thead><tr><th>account</th><th></th>\
                    <th class=\"n\">spent</th><th class=\"n\">budget</th><th class=\"n\">left</th><th class=\"n\">launches</th>\
                    <th>counted in</th></tr></thead>\n<tbody>\n";
        let rows: String = self.tree.accounts.iter().map(row).collect();
        let unknown: String = self
            .tree
            .accounts
            .iter()
            .filter_map(|account| {
                let why = account.terms()?.1.unknown.as_ref()?;
                let (path, why) = (escaped(&account.path), escaped(why));
                Some(format!("<p class=\"soft small\">{path}: {why}.</p>\n"))
            })
            .collect();
        format!(
            "<section>\n{head}{rows}</tbody>\n</table></div>\n<p class=\"soft small\">Totals are recomputed from the charges with \
             the built-in rules: spent is rounded up, left is rounded down.</p>\n{unknown}</section>\n"
        )
    }

    fn charges(&self) -> String {
        let head = "<h2>Charges</h2>\n<input class=\"search\" id=\"search\" type=\"search\" hidden=\"hidden\" \
                    placeholder=\"Search accounts, launches, keys\" aria-label=\"Search the charges\"/>\n\
                    <p class=\"soft small\" id=\"count\" aria-live=\"polite\"></p>\n<div class=\"sheet\"><table class=\"stack\" id=\"charges\">\n\
                    <thead><tr><th class=\"n\">record</th><th>account</th><th>what</th><th>key</th><th class=\"n\">loss</th></tr></thead>\n\
                    <tbody>\n";
        let told = self.events.iter().filter(|event| event.kind.is_listed());
        let rows: String = told.map(charge).collect();
        match rows.is_empty() {
            true => format!(
                "<section>\n{head}<tr><td class=\"wide\" colspan=\"5\">Nothing was charged.</td></tr>\n</tbody>\n</table></div>\n</section>\n"
            ),
            false => format!("<section>\n{head}{rows}</tbody>\n</table></div>\n</section>\n"),
        }
    }

    /// The page itself is an anchor: on paper, nobody rolls it back.
    fn check(&self) -> String {
        format!(
            "<section>\n<h2>Anchor</h2>\n<p>This is the receipt of the last record. Kept elsewhere (on paper, too), it shows whether \
             the ledger was rolled back behind this page.</p>\n<p><code>{}</code></p>\n<p class=\"soft small\">In a file of one line: \
             <code>odometry verify --store LEDGER --anchor FILE</code></p>\n</section>\n",
            self.head
        )
    }
}

fn row(account: &Account) -> String {
    let depth = account.depth.min(DEEPEST);
    let name = format!(
        "<th scope=\"row\" class=\"wide d{depth}\">{} <span class=\"kind\">{}</span></th>",
        escaped(&account.name),
        escaped(&account.kind()),
    );
    let number = |label: &str, text: &str| match text {
        "" => "<td class=\"n\"></td>".to_owned(),
        text => format!("<td class=\"n\" data-l=\"{label}\">{}</td>", escaped(text)),
    };
    let launches = number("launches", &account.launches.to_string());
    let Some((terms, reckoning)) = account.terms() else {
        let launches = match account.launches {
            0 => number("", ""),
            _ => launches,
        };
        let nothing = number("", "");
        return format!("<tr>{name}<td></td>{nothing}{nothing}{nothing}{launches}<td></td></tr>\n");
    };
    let left = match (&terms.budget, account.halted) {
        (_, true) => "halted".into(),
        (None, _) => account.without_budget().into(),
        (Some(_), _) if !reckoning.fits => "none: over".into(),
        (Some(_), _) => Amount::or_dash(reckoning.left.as_ref()),
    };
    format!(
        "<tr>{name}<td class=\"wide\">{}</td>{}{}{}{launches}<td class=\"soft\">{}</td></tr>\n",
        account.share().map(bar).unwrap_or_default(),
        number("spent", &Amount::or_dash(reckoning.spent.as_ref())),
        number("of", terms.budget.as_deref().unwrap_or("–")),
        number("left", &left),
        escaped(&account.measure()),
    )
}

fn bar(share: f64) -> String {
    let (class, percent) = match share {
        share if share >= 1.0 => ("full", 100.0),
        share if share >= 0.8 => ("near", share * 100.0),
        share => ("ok", share * 100.0),
    };
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{percent:.0} % spent\">\
         <rect class=\"e\" width=\"100\" height=\"8\"/><rect class=\"{class}\" width=\"{percent:.2}\" height=\"8\"/></svg>"
    )
}

fn charge(event: &Event) -> String {
    let what = event.line();
    let cell = |class: &str, label: &str, text: &str| match text {
        "" => format!("<td class=\"{class}\"></td>"),
        text if label.is_empty() => format!("<td class=\"{class}\">{}</td>", escaped(text)),
        text => format!(
            "<td class=\"{class}\" data-l=\"{label}\">{}</td>",
            escaped(text)
        ),
    };
    [
        "<tr>",
        &cell("n r", "record", &event.receipt.seq.to_string()),
        &cell("a", "", &event.path),
        &cell("wide w", "", &what),
        &cell("", "key", event.key.as_deref().unwrap_or_default()),
        &cell("n", "loss", event.loss.as_deref().unwrap_or_default()),
        "</tr>\n",
    ]
    .concat()
}
