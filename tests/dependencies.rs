//! The page on dependencies lists exactly what the manifests do, and everything in the lock is from the public registry,
//! under a licence of `deny.toml`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn manifests() -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    crates
        .map(|entry| entry.unwrap().path().join("Cargo.toml"))
        .chain(["Cargo.toml", "fuzz/Cargo.toml"].map(|path| root().join(path)))
        .collect()
}

/// The names in the sections for dependencies of a manifest, but for those that are paths.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.trim_end_matches(']').ends_with("dependencies");
        } else if inside && !line.contains("path =") {
            let name = line.split(['=', '.', ' ']).next().unwrap();
            found.extend((!name.is_empty() && !name.starts_with('#')).then(|| name.to_owned()));
        }
    }
    found
}

/// Our own packages, as manifests call them: by their folders, and the facade by its name.
fn ours() -> BTreeSet<String> {
    let folder = |path: PathBuf| Some(path.parent()?.file_name()?.to_str()?.to_owned());
    let facade = [env!("CARGO_PKG_NAME").to_owned()];
    manifests()
        .into_iter()
        .filter_map(folder)
        .chain(facade)
        .collect()
}

#[test]
fn the_table_lists_exactly_the_direct_dependencies() {
    let page = read("docs/dependencies.md");
    let table = page.split("\n## ").find(|part| part.starts_with("Direct"));
    let rows = table.unwrap().lines().filter_map(|line| {
        let name = line.strip_prefix("| `")?.split('`').next()?;
        let cells = line.split(" | ").filter(|cell| !cell.trim().is_empty());
        assert_eq!(cells.count(), 5, "every column is filled in: {line}");
        Some(name.to_owned())
    });
    let listed: BTreeSet<String> = rows.collect();
    let all = manifests()
        .into_iter()
        .flat_map(|path| dependencies(&read(path)));
    let ours = ours();
    let used: BTreeSet<String> = all.filter(|name| !ours.contains(name)).collect();
    assert_eq!(
        listed, used,
        "left: docs/dependencies.md, right: the manifests"
    );
}

#[test]
fn everything_is_from_the_public_registry() {
    let allowed = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let lock = read(lock);
        let mut sources = lock.lines().filter(|line| line.starts_with("source = "));
        assert_eq!(sources.find(|line| *line != allowed), None);
    }
}

/// The strings in the list that this line of `deny.toml` begins.
fn list<'a>(deny: &'a str, begins: &str) -> Vec<&'a str> {
    let (_, rest) = deny.split_once(begins).unwrap();
    let (list, _) = rest.split_once(']').unwrap();
    list.split('"').skip(1).step_by(2).collect()
}

#[test]
fn every_licence_is_allowed() {
    let deny = read("deny.toml");
    let allowed = list(&deny, "\nallow = [");
    let clarified = deny.split("[[licenses.clarify]]").skip(1);
    let clarified: Vec<&str> = clarified
        .filter_map(|part| part.split('"').nth(1))
        .collect();
    let packages = packages();
    assert!(packages.len() > 50, "{} packages", packages.len());
    for package in &packages {
        let (name, licence) = (package["name"].as_str().unwrap(), &package["license"]);
        let fine = match licence.as_str() {
            Some(expression) => satisfied(expression, &allowed),
            None => clarified.contains(&name),
        };
        assert!(fine, "{name}: {licence}");
    }
}

/// All packages that are built for this machine.
fn packages() -> Vec<serde_json::Value> {
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        let output = command
            .args(arguments)
            .current_dir(root())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let platform = ["--filter-platform", host.unwrap()];
    let arguments = ["metadata", "--locked", "--format-version", "1"];
    let metadata = cargo(&[&arguments[..], &platform].concat());
    let mut metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

/// Does an SPDX expression hold with these licences? An older form writes `/` for `OR`.
fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.replace('/', " OR ");
    // The only parentheses that occur are around an `OR` beside an `AND`.
    let mut terms = expression
        .split(" AND ")
        .map(|term| term.trim_matches(['(', ')', ' ']));
    terms.all(|term| {
        term.split(" OR ")
            .any(|licence| allowed.contains(&licence.trim()))
    })
}

#[test]
fn licence_expressions_are_read() {
    let allowed = ["MIT", "Unicode-3.0"];
    for fine in [
        "MIT",
        "GPL-3.0 OR MIT",
        "Apache-2.0/MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(satisfied(fine, &allowed), "{fine}");
    }
    for wrong in ["GPL-3.0", "MIT AND GPL-3.0", "MIT WITH exception", ""] {
        assert!(!satisfied(wrong, &allowed), "{wrong}");
    }
}
