//! The page on dependencies lists exactly what the manifests do. Everything in the lock is from the public registry, under a licence
//! of `deny.toml`, and nothing in it is banned there.

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

// The bans of `deny.toml`, for machines without cargo-deny. `the_bans_are_those_that_are_checked` fails if that page asks for more than this.

/// A crate that only some others may bring.
struct Ban {
    name: String,
    /// Versions from this one on are allowed.
    below: Option<(u64, u64)>,
    wrappers: Vec<String>,
}

/// The lines of a table of `deny.toml`, without comments.
fn section<'a>(deny: &'a str, name: &str) -> Vec<&'a str> {
    let (_, rest) = deny.split_once(&format!("\n[{name}]\n")).unwrap();
    let end = rest.find("\n[").unwrap_or(rest.len());
    let lines = rest[..end].lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

fn bans(deny: &str) -> Vec<Ban> {
    let lines = section(deny, "bans").into_iter();
    let rows = lines.filter(|line| line.starts_with("{ crate = "));
    let ban = |line: &str| {
        let mut words = line.split('"').skip(1).step_by(2).map(str::to_owned);
        let banned = words.next().unwrap();
        let (name, below) = match banned.split_once(":<") {
            Some((name, below)) => (name.to_owned(), Some(release(below))),
            None => (banned, None),
        };
        Ban {
            name,
            below,
            wrappers: words.collect(),
        }
    };
    rows.map(ban).collect()
}

/// The first two numbers of a version.
fn release(version: &str) -> (u64, u64) {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap_or(0))
}

impl Ban {
    fn is_of(&self, name: &str, version: &str) -> bool {
        self.name == name && self.below.is_none_or(|below| release(version) < below)
    }
}

/// A package of a lock: its name, its version, and what it depends on (`name`, or `name version` where there are several).
struct Locked<'a> {
    name: &'a str,
    version: &'a str,
    dependencies: Vec<&'a str>,
}

fn locked(lock: &str) -> Vec<Locked<'_>> {
    let of_package = |text| {
        let value = |key: &str| -> &str {
            let text: &str = text;
            let (_, rest) = text.split_once(&format!("{key} = \"")).unwrap();
            rest.split_once('"').unwrap().0
        };
        let dependencies = text.split_once("\ndependencies = [");
        let dependencies = dependencies.map_or("", |(_, rest)| rest.split_once(']').unwrap().0);
        Locked {
            name: value("name"),
            version: value("version"),
            dependencies: dependencies.split('"').skip(1).step_by(2).collect(),
        }
    };
    lock.split("[[package]]").skip(1).map(of_package).collect()
}

/// Who brings a banned crate, and may not.
fn unwrapped(bans: &[Ban], packages: &[Locked<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for ban in bans {
        for package in packages {
            if !ban.is_of(package.name, package.version) {
                continue;
            }
            let exact = format!("{} {}", package.name, package.version);
            for parent in packages {
                let brings = parent
                    .dependencies
                    .iter()
                    .any(|named| *named == package.name || *named == exact);
                if brings && !ban.wrappers.iter().any(|wrapper| wrapper == parent.name) {
                    found.push(format!("{} brings {exact}", parent.name));
                }
            }
        }
    }
    found
}

#[test]
fn nobody_else_brings_what_is_banned() {
    let bans = bans(&read("deny.toml"));
    let names: Vec<&str> = bans.iter().map(|ban| ban.name.as_str()).collect();
    assert_eq!(names, ["rand", "nalgebra", "openssl"]);
    assert_eq!(bans[0].below, Some((0, 10)));
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let lock = read(lock);
        let packages = locked(&lock);
        assert!(packages.len() > 30, "{} packages", packages.len());
        assert_eq!(unwrapped(&bans, &packages), [""; 0]);
    }
    // Every ban is needed today, and a mistake would be found: without its wrappers, each is.
    let lock = read("Cargo.lock");
    for mut ban in bans {
        ban.wrappers.pop();
        assert!(!unwrapped(&[ban], &locked(&lock)).is_empty());
    }
}

#[test]
fn planted_violations_are_found() {
    let lock = "[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\ndependencies = [\n \"rand 0.9.2\",\n \"openssl\",\n]\n\
                [[package]]\nname = \"opendp\"\nversion = \"0.16.0\"\ndependencies = [\n \"openssl\",\n \"rand 0.10.1\",\n]\n\
                [[package]]\nname = \"openssl\"\nversion = \"0.10.7\"\n\
                [[package]]\nname = \"rand\"\nversion = \"0.9.2\"\n\
                [[package]]\nname = \"rand\"\nversion = \"0.10.1\"\n";
    let found = unwrapped(&bans(&read("deny.toml")), &locked(lock));
    assert_eq!(
        found,
        ["ours brings rand 0.9.2", "ours brings openssl 0.10.7"]
    );
    let manifest = "[dependencies]\nserde = \"1\"\nrand = \"*\"\n[dev-dependencies]\nlibc = { version = \"*\" }\n\
                    old = { git = \"https://example.org/old\" }\nours = { path = \"../ours\" }\n[features]\nall = [\"*\"]\n";
    let found = wildcards(manifest);
    assert_eq!(found.len(), 3, "{found:?}");
}

/// Dependencies without a version: any may come. Those that are paths are ours.
fn wildcards(manifest: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.trim_end_matches(']').ends_with("dependencies");
        } else if inside && line.contains('=') && !line.starts_with('#') {
            let free = line.contains("\"*\"");
            let versioned = line.contains("version =") || line.contains("= \"");
            let git = line.contains("git =") && !line.contains("version =");
            let known = line.contains("path =") || line.contains("workspace = true");
            if free || git || !(versioned || known) {
                found.push(line);
            }
        }
    }
    found
}

#[test]
fn every_dependency_has_a_version() {
    for path in manifests() {
        let manifest = read(&path);
        assert_eq!(wildcards(&manifest), [""; 0], "{}", path.display());
    }
}

/// `multiple-versions` is allowed there, so there is nothing to check; another entry would need a check here.
#[test]
fn the_bans_are_those_that_are_checked() {
    let deny = read("deny.toml");
    let lines = section(&deny, "bans").into_iter();
    let others: Vec<&str> = lines
        .filter(|line| !line.starts_with("{ crate = "))
        .collect();
    let checked = [
        "multiple-versions = \"allow\"",
        "wildcards = \"deny\"",
        "allow-wildcard-paths = true",
        "deny = [",
        "]",
    ];
    assert_eq!(others, checked);
}
