//! `odometry export`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::charges::Form;
use super::follow;
use crate::error::CommandError;
use crate::ledgers::{Event, StoreArguments};
use crate::output::AnswerForm;

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("form").required(true))]
pub struct Export {
    /// All records as JSON; losses are exact text
    #[arg(long, group = "form")]
    json: bool,
    /// All records as CSV, for spreadsheets: what would be a formula is text
    #[arg(long, group = "form")]
    csv: bool,
    /// A whole copy of the records with their hashes, which another program can check
    #[arg(long, group = "form", requires = "to")]
    records: bool,
    /// Into this file, which must not be there yet
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

impl Export {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let Some(path) = &self.to else {
            self.write(out)?;
            return Ok(ExitCode::SUCCESS);
        };
        let mut file = BufWriter::new(create(path)?);
        self.write(&mut file)?;
        file.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn write(&self, out: &mut dyn Write) -> Result<(), CommandError> {
        let viewed = self.store.view()?;
        if self.records {
            viewed.ledger.export(out)?;
            return Ok(());
        }
        let (state, head) = viewed.state()?;
        let form = AnswerForm {
            json: self.json,
            csv: self.csv,
        };
        let mut written = Form::begin(form, false, out)?;
        follow::entries(&viewed, 0, |entry| match entry.receipt.seq <= head.seq {
            true => written.event(&Event::of(&entry, &state)),
            false => Ok(()),
        })?;
        written.end()
    }
}

/// A new file: nothing is overwritten.
pub(super) fn create(path: &Path) -> Result<File, CommandError> {
    File::create_new(path).map_err(|source| CommandError::File {
        path: path.display().to_string(),
        source,
    })
}
