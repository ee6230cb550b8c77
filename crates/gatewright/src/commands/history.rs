//! `gatewright history`: prints a run's journal, one line per entry.

use runtime::context::Context;
use runtime::explain;
use runtime::failure::Failure;
use runtime::find_run;
use serde_json::json;

use crate::arguments::OfRun;
use crate::exit::Exit;
use crate::output::Output;

/// Show a run's journal
#[derive(Debug, clap::Args)]
pub(crate) struct History {
    #[command(flatten)]
    of: OfRun,
    /// Start at this entry
    #[arg(long, value_name = "ENTRY", default_value_t = 1)]
    from: u64,
    /// Show only the last COUNT entries
    #[arg(long, value_name = "COUNT")]
    last: Option<u64>,
}

impl History {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = find_run::workspace(context)?;
        let stored = find_run::find_to_show(&workspace, self.of.run.as_deref())?;
        let last = self.last.unwrap_or(u64::MAX);
        let first = self
            .from
            .max((stored.version + 1).saturating_sub(last))
            .max(1);
        let limit = (stored.version + 1).saturating_sub(first);
        let view = explain::history(&workspace, &stored.run.id, first, limit)?;
        let json = || json!({ "run": stored.run.id.as_str(), "entries": view.json() });
        output.facts(|paint| view.text(paint), json)?;
        Ok(Exit::Success)
    }
}
