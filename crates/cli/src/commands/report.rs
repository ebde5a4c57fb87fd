//! `odometry report`.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::export::create;
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
        let head = viewed.ledger.verify()?;
        let (state, _) = viewed.state()?;
        let tree = Tree::of(&state)?;
        let mut events = Vec::new();
        viewed.ledger.entries(0, |entry| {
            events.push(Event::of(&entry, &state));
            ControlFlow::Continue(())
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
