//! The people: made up, the same ones every time, written to a file on first use and read back.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use crate::Problem;

/// How many people there are.
pub const PEOPLE: usize = 100_000;

/// What is known about each.
pub const COLUMNS: [&str; 6] = ["age", "region", "education", "household", "hours", "income"];

/// Where they live, in no particular order.
pub const REGIONS: [&str; 6] = ["coast", "plains", "hills", "valley", "islands", "capital"];

/// Which school they finished last.
pub const SCHOOLS: [&str; 4] = ["none", "primary", "secondary", "university"];

/// Where everything is written: `target/survey`, or the folder that `SURVEY_DIRECTORY` names.
pub fn directory() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/survey");
    std::env::var_os("SURVEY_DIRECTORY").map_or_else(usual, PathBuf::from)
}

/// The records as text, one person per line, without the header.
pub fn load() -> Result<String, Problem> {
    let file = directory().join("people.csv");
    if !file.exists() {
        write(&file).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        println!("wrote {PEOPLE} people to {}", file.display());
    }
    let text = fs::read_to_string(&file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    match text.split_once('\n') {
        Some((header, records)) if header == COLUMNS.join(",") => Ok(records.trim_end().to_owned()),
        _ => Err(format!("{} is not the survey; delete it", file.display()).into()),
    }
}

/// Writes beside and renames, so that nobody reads half a file.
fn write(file: &Path) -> io::Result<()> {
    fs::create_dir_all(directory())?;
    let unfinished = file.with_extension("unfinished");
    fs::write(&unfinished, made_up())?;
    fs::rename(unfinished, file)
}

/// The whole file.
fn made_up() -> String {
    let mut dice = Dice(2024);
    let mut text = COLUMNS.join(",") + "\n";
    for _ in 0..PEOPLE {
        let age = 18 + dice.below(30) + dice.below(30) + dice.below(20);
        let region = REGIONS[dice.below(6).min(dice.below(6)) as usize];
        let school = dice
            .below(4)
            .max(dice.below(4))
            .min(if age < 22 { 2 } else { 3 });
        let household = 1 + dice.below(3) + dice.below(3);
        let hours = if age > 66 {
            dice.below(10)
        } else {
            20 + dice.below(16) + dice.below(16)
        };
        let hourly = 9
            + 7 * school
            + dice.below(20)
            + if dice.below(50) == 0 {
                dice.below(90)
            } else {
                0
            };
        let income = if age > 66 {
            14_000 + dice.below(12_000)
        } else {
            50 * hours * hourly
        };
        let school = SCHOOLS[school as usize];
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{age},{region},{school},{household},{hours},{income}");
    }
    text
}

/// A small generator (SplitMix64): made-up people need no secrecy.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % n
    }
}
