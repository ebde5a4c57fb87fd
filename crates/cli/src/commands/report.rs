//! `odometry report`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::export::create;
use super::follow;
use crate::error::CommandError;
use crate::ledgers::{Event, StoreArguments, Tree};
use crate::report::{Page, curves};
use crate::text::plain;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct WriteReport {
    /// Where to write the page, which must not be there yet
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
    #[command(flatten)]
    store: StoreArguments,
}

impl WriteReport {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, CommandError> {
        let viewed = self.store.view()?;
        // A page that is kept says that the books were intact when it was made.
        let (state, head) = viewed.ledger.verified()?;
        let tree = Tree::of(&state)?;
        let mut events = Vec::new();
        follow::entries(&viewed, 0, |entry| {
            // Others may be writing: this is the page up to here.
            if entry.receipt.seq <= head.seq {
                events.push(Event::of(&entry, &state));
            }
            Ok(())
        })?;
        let curves = curves(&viewed, &tree, head.seq)?;
        let page = Page {
            store: &viewed.place,
            head,
            anchor: viewed.anchor.as_ref().map(|(_, anchor)| *anchor),
            tree: &tree,
            events: &events,
            curves: &curves,
        };
        let failed = |source| CommandError::File {
            path: self.html.display().to_string(),
            source,
        };
        let mut file = create(&self.html)?;
        file.write_all(page.html().as_bytes()).map_err(failed)?;
        writeln!(
            out,
            "{}: {} accounts, {} records, intact.",
            plain(&self.html.display().to_string()),
            tree.accounts.len(),
            head.seq + 1
        )?;
        Ok(ExitCode::SUCCESS)
    }
}
