//! OpenDP is about to rename its measures: their names are in one file.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn rust_files(below: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn opendp_s_names_of_measures_are_in_one_file() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(here, &mut files);
    let examples = here.join("../../examples");
    if examples.is_dir() {
        rust_files(&examples, &mut files);
    }
    // In two pieces, so that this file does not name them either.
    let names = ["Max", "Smoothed", "ZeroConcentrated", "Renyi"]
        .map(|name| format!("{name}{}", "Divergence"));
    let naming: Vec<_> = files
        .iter()
        .filter(|file| {
            let text = fs::read_to_string(file).unwrap();
            names.iter().any(|name| text.contains(name.as_str()))
        })
        .map(|file| file.file_name().unwrap().to_owned())
        .collect();
    assert_eq!(naming, ["measures.rs"]);
}
