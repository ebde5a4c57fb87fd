//! The shape of the library: files that hold one idea, signatures that can be read, one thing per public name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The programs in a folder, by their places from another one.
fn visit(folder: &Path, from: &Path, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            visit(&path, from, files);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let place = path.strip_prefix(from).unwrap().display().to_string();
            files.push((place, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The library's own files: no tests, no benchmarks, nothing that only compiles other crates again.
fn library() -> Vec<(String, String)> {
    let root = repository().join("crates");
    let mut files = Vec::new();
    for crate_ in std::fs::read_dir(&root).unwrap() {
        let folder = crate_.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if name != "bench" && name != "fuzzed" && !name.ends_with("-model") {
            visit(&folder.join("src"), &root, &mut files);
        }
    }
    files.sort();
    assert!(files.len() > 100, "the library was found");
    files
}

#[test]
fn no_file_is_longer_than_400_lines() {
    let lines = |(place, text): (String, String)| (text.lines().count(), place);
    let long: Vec<_> = library().into_iter().map(lines).collect();
    let long: Vec<_> = long.into_iter().filter(|(lines, _)| *lines > 400).collect();
    assert!(long.is_empty(), "two ideas each: {long:?}");
}

/// What follows `fn`, in one line, up to its body, with the bounds in its `where`.
fn signatures(text: &str) -> impl Iterator<Item = String> {
    let code: Vec<&str> = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let starts: Vec<usize> = code.match_indices("fn ").map(|(at, _)| at).collect();
    starts.into_iter().filter_map(move |at| {
        let before = code[..at].chars().last();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let mut open = 0i32;
        let end = code[at..].find(|c| {
            open += match c {
                '(' | '[' => 1,
                ')' | ']' => -1,
                _ => 0,
            };
            open == 0 && matches!(c, '{' | ';')
        })?;
        let words: Vec<&str> = code[at..at + end].split_whitespace().collect();
        Some(words.join(" "))
    })
}

/// A signature without the bounds in its `where`.
fn without_bounds(signature: &str) -> &str {
    signature.split(" where ").next().unwrap_or_default()
}

/// Bounds may make a signature twice as long: 450 characters are what the longest one has today.
#[test]
fn no_signature_is_longer_than_200_characters_and_450_with_its_bounds() {
    let mut seen = 0;
    for (place, text) in library() {
        for signature in signatures(&text) {
            seen += 1;
            let short = without_bounds(&signature);
            assert!(short.chars().count() <= 200, "{place}: {short}");
            assert!(signature.chars().count() <= 450, "{place}: {signature}");
        }
    }
    assert!(seen > 2000, "signatures were found: {seen}");
}

#[test]
fn signatures_are_read_with_their_bounds() {
    let text = "fn one(x: [u8; 2]) -> u8 { x }\n    fn two<T>(\n        x: T, // in fn three()\n    )\n    where\n        T: Copy;";
    let found: Vec<String> = signatures(text).collect();
    let two = "fn two<T>( x: T, ) where T: Copy";
    assert_eq!(found, ["fn one(x: [u8; 2]) -> u8", two]);
    assert_eq!(without_bounds(two), "fn two<T>( x: T, )");
}

/// Types and traits that are public, at least within their crate's modules.
fn public_names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let (kind, rest) = rest.split_once(' ')?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let named = end > 0; // what a macro names has no name here
        (named && matches!(kind, "struct" | "enum" | "trait" | "type")).then(|| &rest[..end])
    })
}

#[test]
fn no_public_name_means_two_things() {
    let files = library();
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (place, text) in &files {
        for name in public_names(text) {
            places.entry(name).or_default().push(place);
        }
    }
    assert!(places.len() > 300, "names were found: {}", places.len());
    // Sealed traits are named by their idiom, and cannot be named from outside.
    places.remove("Sealed");
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "{places:#?}");
}

const CRATES: [&str; 11] = [
    "accountant",
    "auditor",
    "continual",
    "exact",
    "fork_count",
    "ledger",
    "measures",
    "mechanisms",
    "odometer",
    "opendp_bridge",
    "queryable",
];

/// Is one of our crates named by itself, and not as a module of the facade?
fn names_a_crate(line: &str) -> bool {
    let alone =
        |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
    let of_facade = |at: usize| line[..at].contains("odometry::{");
    let used = |name: &&str| {
        let path = format!("{name}::");
        line.match_indices(&path)
            .any(|(at, _)| alone(at) && !of_facade(at))
    };
    CRATES.iter().any(used)
}

/// The code in documentation comments.
fn documented(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        let Some(comment) = comment.map(str::trim_start) else {
            fenced = false;
            return None;
        };
        if comment.starts_with("```") {
            fenced = !fenced;
            return None;
        }
        fenced.then_some(comment)
    })
}

#[test]
fn crates_that_are_named_by_themselves_are_found() {
    for name in CRATES {
        assert!(names_a_crate(&format!("use {name}::Thing;")), "{name}");
        for facade in [
            format!("use odometry::{name}::Thing;"),
            format!("use odometry::{{{name}::Thing}};"),
        ] {
            assert!(!names_a_crate(&facade), "{facade}");
        }
    }
    // The list is of all crates of the library.
    let listed = |place: &str| CRATES.contains(&place.replace('-', "_").as_str());
    let crates = library().into_iter().map(|(place, _)| place);
    let missing = crates.filter(|place| {
        let name = place.split('/').next().unwrap();
        name != "cli" && !listed(name)
    });
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn examples_are_written_as_a_user_of_the_facade_writes_them() {
    let mut seen = 0;
    // `fork-count` is no module of the facade: its users name it by itself.
    let of_facade = |(place, _): &(String, String)| !place.starts_with("fork-count/");
    for (place, text) in library().into_iter().filter(of_facade) {
        for line in documented(&text) {
            seen += 1;
            assert!(
                !names_a_crate(line),
                "{place}: write `odometry::…` in {line}"
            );
        }
    }
    assert!(seen > 1000, "examples were found: {seen}");
    let mut examples = Vec::new();
    visit(&repository().join("examples"), &repository(), &mut examples);
    assert!(examples.len() > 7, "{}", examples.len());
    for (place, text) in examples {
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            assert!(
                !names_a_crate(line),
                "{place}: write `odometry::…` in {line}"
            );
        }
    }
}

/// The tests of a crate are one program: a file that nobody lists would never run.
#[test]
fn every_file_of_tests_is_run() {
    let mut found = 0;
    let crates = std::fs::read_dir(repository().join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    for folder in crates.chain([repository()]) {
        let Ok(main) = std::fs::read_to_string(folder.join("tests/main.rs")) else {
            continue;
        };
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for entry in std::fs::read_dir(folder.join("tests")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if path.is_dir() || name == "main" || path.extension().is_none_or(|ext| ext != "rs") {
                continue;
            }
            let listed = main.contains(&format!("mod {name};\n"))
                || manifest.contains(&format!("path = \"tests/{name}.rs\""));
            assert!(listed, "{} is in no list", path.display());
            found += 1;
        }
    }
    assert!(found > 80, "{found} files of tests");
}

/// A table of a manifest; empty if there is none.
fn table<'a>(manifest: &'a str, name: &str) -> &'a str {
    let start = manifest.find(&format!("\n{name}\n"));
    let rest = start.map_or("", |start| &manifest[start + 1..]);
    rest.find("\n[").map_or(rest, |end| &rest[..end])
}

/// The files of a target: its own, and those of the modules it lists.
fn of_target<'a>(
    main: &str,
    files: &'a [(String, String)],
) -> impl Iterator<Item = &'a (String, String)> {
    let main = files.iter().find(|(place, _)| place == main);
    let (main, listed) = main.expect("a target has a file");
    files.iter().filter(move |(place, _)| {
        let module = place.trim_start_matches("src/");
        let module = module.split(['/', '.']).next().unwrap();
        place == main || listed.contains(&format!("mod {module};"))
    })
}

/// Some targets are not built for tests, or their documentation is not, because they have none: what is written there would never run.
#[test]
fn targets_without_tests_have_none() {
    let crates = std::fs::read_dir(repository().join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    let mut found = BTreeMap::new();
    for folder in crates.chain([repository()]) {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(manifest.matches("[[bin]]").count() < 2, "{folder:?}");
        // What only compiles another crate again has no sources.
        if !folder.join("src").is_dir() {
            continue;
        }
        let mut files = Vec::new();
        visit(&folder.join("src"), &folder, &mut files);
        for (name, main) in [("[lib]", "src/lib.rs"), ("[[bin]]", "src/main.rs")] {
            let table = table(&manifest, name);
            let off = [
                ("\ntest = false", "#[test]"),
                ("\ntest = false", "cfg(test)"),
                ("\ndoctest = false", "/ ```"),
                ("\ndoctest = false", "! ```"),
            ];
            for (_, what) in off.iter().filter(|(off, _)| table.contains(off)) {
                for (place, text) in of_target(main, &files) {
                    assert!(!text.contains(what), "{folder:?}, {place}: {what}");
                    *found.entry(*what).or_insert(0) += 1;
                }
            }
        }
    }
    let found: Vec<_> = found.into_values().collect();
    assert!(
        found.len() == 4 && found.iter().all(|files| *files > 20),
        "{found:?}"
    );
}
