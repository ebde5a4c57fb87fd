//! `odometry doctor`.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use ledger::frame::VERSION;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::ledgers::{StoreArguments, Viewed, Whereabouts};
use crate::output::{self, BOLD};
use crate::text::plain;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    #[command(flatten)]
    store: StoreArguments,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// A sync that is faster than this has hardly reached a disk.
const TOO_FAST: Duration = Duration::from_micros(20);

/// An anchor that is older than this is told of.
const OLD: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Replaying more than this takes a while.
const MANY: u64 = 100_000;

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    good: bool,
    words: String,
}

impl Doctor {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let viewed = self.store.view()?;
        let disk = match self.store.whereabouts()? {
            Whereabouts::File(path) => sync(&path),
            Whereabouts::Server(_) => server(&viewed),
        };
        let findings = [versions(), records(&viewed)?, anchor(&viewed)?, disk];
        if self.json {
            let each = |finding: &Finding| json!({"what": finding.what, "good": finding.good, "words": finding.words});
            let all: Vec<Value> = findings.iter().map(each).collect();
            output::json(&json!({"store": viewed.place, "findings": all}), out)?;
            return Ok(ExitCode::SUCCESS);
        }
        for finding in &findings {
            let mark = if finding.good { "good" } else { "look" };
            writeln!(
                out,
                "{BOLD}{mark}{BOLD:#}  {}: {}",
                finding.what,
                plain(&finding.words)
            )?;
        }
        writeln!(out, "`odometry verify` reads every record; this did not.")?;
        Ok(ExitCode::SUCCESS)
    }
}

fn versions() -> Finding {
    Finding {
        what: "versions",
        good: true,
        words: format!(
            "odometry {}, which reads and writes version {VERSION} of the format",
            env!("CARGO_PKG_VERSION")
        ),
    }
}

fn records(viewed: &Viewed) -> Result<Finding, CommandError> {
    let (state, head) = viewed.state()?;
    let checkpoint = viewed.ledger.store().checkpoint()?;
    let since = head.seq.saturating_sub(checkpoint.unwrap_or(0));
    let after = match checkpoint {
        Some(checkpoint) => format!("{since} after the last checkpoint, record {checkpoint}"),
        None => "no checkpoint yet".into(),
    };
    let advice = match since > MANY {
        true => "; a program that closes its ledger writes one, and opening it is faster then",
        false => "",
    };
    Ok(Finding {
        what: "records",
        good: since <= MANY,
        words: format!(
            "{} records, {} accounts and partitions, {after}{advice}",
            head.seq + 1,
            state.len()
        ),
    })
}

fn anchor(viewed: &Viewed) -> Result<Finding, CommandError> {
    let Some((file, anchor)) = &viewed.anchor else {
        let words = "none was given: write one with `odometry anchor write`, keep it on another machine, and give it with --anchor";
        return Ok(Finding {
            what: "anchor",
            good: false,
            words: words.into(),
        });
    };
    let (_, head) = viewed.state()?;
    let written = file.metadata().and_then(|about| about.modified()).ok();
    let age = written.and_then(|written| SystemTime::now().duration_since(written).ok());
    let behind = head.seq - anchor.seq;
    Ok(Finding {
        what: "anchor",
        good: age.is_none_or(|age| age < OLD),
        words: format!(
            "{}, {behind} records behind{}",
            age.map_or_else(|| "of unknown age".into(), in_words),
            if age.is_some_and(|age| age >= OLD) {
                "; write a new one"
            } else {
                ""
            }
        ),
    })
}

fn in_words(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    let (number, unit) = match minutes {
        0 => return "less than a minute old".into(),
        1 => (1, "minute"),
        2..120 => (minutes, "minutes"),
        120..2880 => (minutes / 60, "hours"),
        _ => (minutes / 1440, "days"),
    };
    format!("{number} {unit} old")
}

/// A server that would lose charges is not even connected to.
fn server(viewed: &Viewed) -> Finding {
    let shared = viewed.ledger.store().shared();
    let hazards = shared.map_or(&[][..], |shared| shared.hazards());
    let words: Vec<String> = hazards.iter().map(ToString::to_string).collect();
    Finding {
        what: "server",
        good: hazards.is_empty(),
        words: match hazards {
            [] => {
                "fsync and full_page_writes are on; nothing waits for a standby or passes a network"
                    .into()
            }
            _ => words.join("; "),
        },
    }
}

/// Syncs a file of its own beside the ledger, which is removed again.
fn sync(ledger: &Path) -> Finding {
    let what = "sync";
    match measured(ledger) {
        Ok(took) if took < TOO_FAST => Finding {
            what,
            good: false,
            words: format!(
                "a sync beside the ledger takes {} ms: hardly anything reaches a disk in that time; what is charged may not \
                 survive a loss of power",
                milliseconds(took)
            ),
        },
        Ok(took) => Finding {
            what,
            good: true,
            words: format!(
                "a sync beside the ledger takes {} ms; a durable launch takes two or three",
                milliseconds(took)
            ),
        },
        Err(error) => Finding {
            what,
            good: false,
            words: format!("no file can be written beside the ledger: {error}"),
        },
    }
}

fn milliseconds(took: Duration) -> String {
    format!("{:.2}", took.as_secs_f64() * 1e3)
}

/// The middle one of several syncs.
fn measured(ledger: &Path) -> std::io::Result<Duration> {
    let mut name = ledger.as_os_str().to_owned();
    name.push(format!(".{}.sync", std::process::id()));
    let mut file = File::create_new(&name)?;
    let mut sync = || {
        file.rewind()?;
        file.write_all(&[0x5a; 4096])?;
        let before = Instant::now();
        file.sync_data()?;
        Ok(before.elapsed())
    };
    let times: std::io::Result<Vec<Duration>> = (0..9).map(|_| sync()).collect();
    std::fs::remove_file(&name)?;
    let mut times = times?;
    times.sort();
    Ok(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        for (seconds, words) in [
            (3, "less than a minute old"),
            (119, "1 minute old"),
            (7_199, "119 minutes old"),
            (7_200, "2 hours old"),
            (864_000, "10 days old"),
        ] {
            assert_eq!(in_words(Duration::from_secs(seconds)), words);
        }
    }
}
