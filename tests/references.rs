//! Citations are keys of `docs/references.md`, and what the documents name exists: papers, files, functions, headings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A file of the repository: its path from the root, and its text.
struct File {
    path: String,
    text: String,
}

impl File {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// What people read: all of a document, the comments and texts of a program; without code in backticks or fences.
    fn prose(&self) -> Vec<(usize, String)> {
        let mut fenced = false;
        let mut prose = Vec::new();
        for (at, line) in self.text.lines().enumerate() {
            let (code, line) = match self.is_rust() {
                true => line.split_once("//").unwrap_or((line, "")),
                false => ("", line),
            };
            let quoted = code.split('"').skip(1).step_by(2);
            prose.extend(quoted.map(|text| (at + 1, text.to_owned())));
            let words = line.trim_start_matches(['/', '!', ' ']);
            if words.starts_with("```") {
                fenced = !fenced;
            } else if !fenced {
                let plain: String = line.split('`').step_by(2).collect();
                prose.push((at + 1, plain));
            } else if self.is_rust() && line.is_empty() {
                fenced = false; // a comment ended with its code
            }
        }
        prose
    }
}

/// All programs and documents, in the order of their paths.
fn files() -> Vec<File> {
    fn visit(folder: &Path, from: &Path, files: &mut Vec<File>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                visit(&path, from, files);
            } else if name.ends_with(".rs") || name.ends_with(".md") {
                files.push(File {
                    path: path.strip_prefix(from).unwrap().to_str().unwrap().into(),
                    text: std::fs::read_to_string(&path).unwrap(),
                });
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    visit(root, root, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(files.len() > 100, "the repository was found");
    files
}

fn documents(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.path.starts_with("docs/"))
}

fn references(files: &[File]) -> &File {
    documents(files)
        .find(|file| file.path == "docs/references.md")
        .unwrap()
}

/// `HST+23`, `BS16`, `vEH14`: two letters or more with a capital among them, perhaps a plus, two digits.
fn is_key(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = letters.strip_suffix('+').unwrap_or(letters);
    text.len() - letters.len() == 2
        && name.len() >= 2
        && name.chars().all(|c| c.is_ascii_alphabetic())
        && name.chars().any(|c| c.is_ascii_uppercase())
}

/// The keys in brackets, escaped or not.
fn keys(text: &str) -> BTreeSet<String> {
    let text = text.replace('\\', "");
    let inside = text
        .split('[')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(']')?.0));
    inside
        .filter(|word| is_key(word))
        .map(str::to_owned)
        .collect()
}

/// Where the references list a key: a heading or a row of a table.
fn listed(references: &str) -> Vec<String> {
    let entries = references.lines().filter_map(|line| {
        let entry = line
            .strip_prefix("### [")
            .or_else(|| line.strip_prefix("| <a id=")?.split_once("</a>[")?.1.into())?;
        Some(entry.split_once(']')?.0.to_owned())
    });
    entries.collect()
}

/// The anchor of a key in the references.
fn anchor(key: &str) -> String {
    key.to_lowercase().replace('+', "")
}

#[test]
fn every_key_is_listed_once_and_every_listed_key_is_used() {
    let files = files();
    let references = references(&files);
    let listed = listed(&references.text);
    let all: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), all.len(), "a paper is listed twice");
    assert!(all.len() > 30 && all.iter().all(|key| is_key(key)));
    let mut used = BTreeSet::new();
    for file in &files {
        for key in keys(&file.text) {
            assert!(all.contains(&key), "{}: [{key}] is not listed", file.path);
            if file.path != references.path {
                used.insert(key);
            }
        }
    }
    let unused: Vec<_> = all.difference(&used).collect();
    assert!(unused.is_empty(), "listed and cited nowhere: {unused:?}");
    for key in &all {
        let place = format!("<a id=\"{}\"></a>", anchor(key));
        assert!(references.text.contains(&place), "no anchor for [{key}]");
    }
}

#[test]
fn keys_in_documents_are_links_and_keys_in_documentation_comments_are_escaped() {
    let files = files();
    for file in documents(&files).filter(|file| file.path != "docs/references.md") {
        for key in keys(&file.text) {
            let link = format!("\n[{key}]: references.md#{}\n", anchor(&key));
            assert!(
                file.text.contains(&link),
                "{}: no link for [{key}]",
                file.path
            );
        }
    }
    for file in files.iter().filter(|file| file.is_rust()) {
        for (at, line) in file.text.lines().enumerate() {
            let comment = line.trim_start();
            let documents = comment.starts_with("///") || comment.starts_with("//!");
            for key in documents.then(|| keys(comment)).into_iter().flatten() {
                let (at, path) = (at + 1, &file.path);
                assert!(
                    !comment.contains(&format!("[{key}]")),
                    "{path}:{at}: rustdoc takes [{key}] for a link: write \\[{key}\\]"
                );
            }
        }
    }
}

/// What a citation must not look like: numbers of papers, letters of rules, documents that are not in the repository,
/// authors with a year.
fn forbidden(line: &str) -> Option<&'static str> {
    const PLACES: [&str; 9] = [
        "Thm", "Def", "Lemma", "Alg", "Prop", "Cor", "Fig", "footnote", "§",
    ];
    let words: Vec<&str> = line.split_whitespace().collect();
    let bare = |word: &str| {
        let ends = |c: char| !c.is_alphanumeric() && c != '§';
        word.trim_matches(ends).to_owned()
    };
    for (at, word) in words.iter().enumerate() {
        let (this, next) = (bare(word), words.get(at + 1).map(|next| bare(next)));
        let next = next.unwrap_or_default();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_place = |text: &str| PLACES.iter().any(|place| text.starts_with(place));
        let number = this.len() == 3 && this.starts_with("00") && digits(&this);
        if number && is_place(&next) || this.eq_ignore_ascii_case("seed") && next.starts_with("00")
        {
            return Some("the number of a paper");
        }
        let rule = this.trim_end_matches('′');
        let rule = rule.strip_prefix(['A', 'B', 'C', 'D', 'E']);
        if rule.is_some_and(|rule| digits(rule) && rule.len() <= 2) {
            return Some("the number of a rule");
        }
        if this.eq_ignore_ascii_case("spec") || word.contains("spec/") {
            return Some("a document that is not here");
        }
        let name = this.chars().next().is_some_and(char::is_uppercase) && this.len() > 2;
        let year =
            next.len() == 4 && digits(&next) && (next.starts_with("19") || next.starts_with("20"));
        if this == "et" && next == "al" || name && year && !digits(&this) {
            return Some("authors instead of a key");
        }
        if word.contains("arXiv:") {
            return Some("an address instead of a key");
        }
    }
    None
}

#[test]
fn no_citation_has_another_form() {
    let own = [
        ("a number", "see 004 Thm 3.6"),
        ("a number", "(seed 001)"),
        ("a rule", "as C2′ says"),
        ("a document", "as the spec says"),
        ("authors", "(Bun–Steinke 2016, Prop 1.4)"),
        ("authors", "Ding et al. show"),
    ];
    for (what, line) in own {
        assert!(forbidden(line).is_some(), "{what} is found: {line}");
    }
    let right = "[RRUV16] Thm 3.6 with e^ε = 1.001, 2000 rounds, L2 and E0277: 1,000 seeds";
    assert_eq!(forbidden(right), None);
    let mut found = Vec::new();
    for file in files() {
        // Pages about other things than papers have dates and versions; this file has what it looks for.
        let other = [
            "docs/references.md",
            "docs/dependencies.md",
            "docs/opendp.md",
            "tests/references.rs",
        ];
        if !other.contains(&file.path.as_str()) {
            for (at, line) in file.prose() {
                let why = forbidden(&line).map(|why| format!("{}:{at}: {why}: {line}", file.path));
                found.extend(why);
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The text between backticks, and what stands between it and the one before, paragraph by paragraph.
fn spans(text: &str) -> impl Iterator<Item = (String, String)> {
    let paragraphs = text
        .split("\n\n")
        .filter(|paragraph| !paragraph.contains("```"));
    paragraphs.flat_map(|paragraph| {
        let joined = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let parts: Vec<String> = joined.split('`').map(str::to_owned).collect();
        let pairs = parts.chunks_exact(2);
        pairs
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .collect::<Vec<_>>()
    })
}

/// Whether a name in a document is meant as a path: of a file, or of a folder inside of another one.
fn is_path(name: &str) -> bool {
    let file = [".rs", ".md", ".toml"]
        .iter()
        .any(|end| name.ends_with(end));
    let folder = name
        .strip_suffix('/')
        .is_some_and(|name| name.contains('/'));
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    (file || folder) && name.chars().all(plain)
}

/// Whether a file or folder of the repository has this path, or one that ends in it.
fn exists(paths: &BTreeSet<String>, name: &str) -> bool {
    let inner = format!("/{name}");
    let found = |path: &String| match name.ends_with('/') {
        true => path.starts_with(name) || path.contains(&inner),
        false => path == name || path.ends_with(&inner),
    };
    paths.iter().any(found) || Path::new(env!("CARGO_MANIFEST_DIR")).join(name).exists()
}

#[test]
fn every_path_in_a_document_exists() {
    let files = files();
    let paths: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
    assert!(!exists(&paths, "measures/src/nowhere.rs") && !exists(&paths, "odometer/src/nowhere/"));
    let (mut looked, mut missing) = (0, Vec::new());
    for file in documents(&files) {
        for (_, name) in spans(&file.text).filter(|(_, name)| is_path(name)) {
            looked += 1;
            if !exists(&paths, &name) {
                missing.push(format!("{}: `{name}`", file.path));
            }
        }
    }
    assert!(looked > 100);
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Functions that a document names right after a file: "`file.rs` `one`, `another`".
fn functions(text: &str) -> Vec<(String, String)> {
    let mut file = None;
    let mut functions = Vec::new();
    for (between, name) in spans(text) {
        let follows = [" ", ", ", " and "].contains(&between.as_str());
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.ends_with(".rs") {
            file = Some(name);
        } else if follows && name.chars().all(is_name) {
            functions.extend(file.clone().map(|file| (file, name)));
        } else {
            file = None;
        }
    }
    functions
}

#[test]
fn every_test_that_a_document_names_exists() {
    let files = files();
    let (mut looked, mut missing) = (0, Vec::new());
    for document in documents(&files) {
        for (path, name) in functions(&document.text) {
            looked += 1;
            let inner = format!("/{path}");
            let has = |file: &File| {
                (file.path == path || file.path.ends_with(&inner))
                    && file.text.contains(&format!("fn {name}("))
            };
            if !files.iter().any(has) {
                missing.push(format!("{}: `{path}` `{name}`", document.path));
            }
        }
    }
    assert!(looked > 150, "{looked}");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The name of a heading in a link, as it is shown on the web.
fn slug(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || "_- ".contains(*c))
        .collect::<String>();
    kept.trim().replace(' ', "-")
}

fn headings(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| slug(line.trim_start_matches('#')))
        .collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let files = files();
    let pages: BTreeMap<&str, &File> = documents(&files)
        .map(|file| (file.path.strip_prefix("docs/").unwrap(), file))
        .collect();
    let mut looked = 0;
    for (name, file) in &pages {
        let inline = file.text.split("](").skip(1);
        let definitions = file.text.lines().filter(|line| line.starts_with('['));
        let defined = definitions.filter_map(|line| Some(line.split_once("]: ")?.1));
        let inline = inline.filter_map(|rest| Some(rest.split_once(')')?.0));
        for link in inline
            .chain(defined)
            .filter(|link| !link.starts_with("http"))
        {
            let (page, place) = link.split_once('#').unwrap_or((link, ""));
            let page = if page.is_empty() { name } else { page };
            if let Some(outside) = page.strip_prefix("../") {
                assert!(
                    Path::new(env!("CARGO_MANIFEST_DIR")).join(outside).exists(),
                    "{name}: {link}"
                );
                continue;
            }
            let target = pages.get(page).map(|file| &file.text);
            let target = target.unwrap_or_else(|| panic!("{name}: no page {link}"));
            let id = format!("<a id=\"{place}\"></a>");
            let known = headings(target).iter().any(|heading| heading == place);
            assert!(
                place.is_empty() || known || target.contains(&id),
                "{name}: {link}"
            );
            looked += 1;
        }
    }
    assert!(looked > 100, "{looked}");
}

#[test]
fn every_section_of_the_theorems_has_the_same_fields() {
    const FIELDS: [&str; 7] = [
        "where",
        "theorem",
        "hypotheses",
        "notion and interleaving",
        "rounding",
        "trusted",
        "test",
    ];
    let files = files();
    let page = documents(&files)
        .find(|file| file.path == "docs/theorems.md")
        .unwrap();
    let sections: Vec<&str> = page.text.split("\n### ").skip(1).collect();
    assert!(sections.len() > 90);
    for section in sections {
        let section = section.split("\n## ").next().unwrap();
        let fields = section
            .lines()
            .filter_map(|line| Some(line.strip_prefix("- **")?.split_once(":**")?.0));
        assert_eq!(
            fields.collect::<Vec<_>>(),
            FIELDS,
            "{}",
            section.lines().next().unwrap()
        );
    }
    for (at, line) in page.text.lines().enumerate() {
        assert!(
            line.chars().count() <= 200,
            "line {} is too long to read",
            at + 1
        );
    }
}

#[test]
fn the_map_of_the_crates_is_complete() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap());
        let names = entries.map(|entry| {
            let end = if entry.path().is_dir() { "/" } else { "" };
            format!("{}{end}", entry.file_name().to_str().unwrap())
        });
        names.collect::<Vec<String>>()
    };
    let page = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    for name in names(&root.join("crates")) {
        let name = name.trim_end_matches('/');
        assert!(
            page.contains(&format!("`{name}`")),
            "the map has no `{name}`"
        );
    }
    let chapters: Vec<_> = page
        .split("\n## `")
        .skip(1)
        .filter_map(|text| text.split_once('`'))
        .collect();
    assert!(chapters.len() >= 7);
    for (name, text) in chapters {
        let source = root.join("crates").join(name).join("src");
        let rows = text.lines().filter(|line| line.starts_with("| `"));
        let cells = rows.filter_map(|row| row.split('|').nth(1));
        let listed: Vec<&str> = cells
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
            .collect();
        for entry in &listed {
            let exists = source.join(entry).exists() || root.join(entry).exists();
            assert!(exists, "{name}: there is no `{entry}`");
        }
        for entry in names(&source) {
            let is_listed = listed.iter().any(|listed| listed.starts_with(&entry));
            let plain = ["lib.rs", "error.rs"].contains(&entry.as_str());
            assert!(is_listed || plain, "{name}: `{entry}` is not in the map");
        }
    }
}
