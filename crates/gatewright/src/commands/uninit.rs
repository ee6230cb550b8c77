//! `gatewright uninit`: undoes `init`.

use engine::{Held, Who};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::file_lock::FileLock;
use runtime::workspace::Workspace;
use runtime::{left_by_runs, person_only};
use serde_json::json;

use crate::confirm::{self, Question};
use crate::exit::Exit;
use crate::output::{Format, Output};
use install::hooks::HooksTarget;
use install::{PreparedRemoval, perform};

/// Remove what `init` installed in this project, and restore every file
///
/// Keeps changes that you made to a file since, and removes only Gatewright's part of it. Keeps and
/// names files of Gatewright that you changed. Runs and their history stay.
#[derive(Debug, clap::Args)]
pub(crate) struct Uninit {
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Remove the hooks from your user settings instead
    #[arg(long)]
    user: bool,
}

impl Uninit {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let (target, held) = if self.user {
            (HooksTarget::User, Held::Nobody)
        } else {
            (
                HooksTarget::Local,
                person_only::session_holds_a_run(context)?,
            )
        };
        person_only::require_person(context, "uninit", held)?;
        let state = context.state()?;
        let shown = install::prepare_removal(context, target)?;
        if shown.is_done() {
            return nothing_to_do(output, &shown);
        }
        self.agreed(context, output, &shown)?;
        perform::prepare(&state)?;
        let _turn = FileLock::wait(&state.folder().join("installing.lock"))?;
        let now = install::prepare_removal(context, target)?;
        if now.plan.changes != shown.plan.changes && !self.yes {
            let failure = Failure::refused("the files changed while you were reading");
            return Err(failure.hint("retry: `gatewright uninit`"));
        }
        now.perform()?;
        if held == Held::Session {
            output.say("note: a running session stays guarded until it ends");
        }
        tell_left(context, output);
        let text = match (now.is_recorded(), now.plan.edited.as_slice()) {
            (false, _) => "removed: the hooks\n".to_owned(),
            (true, []) => "removed: all files that `init` wrote are as they were\n".to_owned(),
            (true, edited) => format!(
                "removed: all files that `init` wrote are as they were, but for {}\n",
                edited.join(", ")
            ),
        };
        output.facts(
            |_| text.clone(),
            || json!({ "done": true, "plan": now.plan.json() }),
        )?;
        Ok(Exit::Success)
    }

    fn agreed(
        &self,
        context: &Context,
        output: &mut Output,
        removal: &PreparedRemoval,
    ) -> Result<(), Failure> {
        if output.format() == Format::Text {
            output.text(&removal.plan.text(output.paint()))?;
        }
        tell_notes(output, removal);
        match (self.yes, context.who()) {
            (true, _) => Ok(()),
            (false, Who::Person(_)) => confirm::ask(&Question {
                lost: "Gatewright will no longer guard this project.",
                word: "uninit",
                action: "remove it",
            }),
            (false, _) => Err(Failure::refused(
                "nothing was written, because there is no terminal to confirm at",
            )
            .hint("type `gatewright uninit --yes`")),
        }
    }
}

fn tell_notes(output: &mut Output, removal: &PreparedRemoval) {
    for note in &removal.plan.notes {
        output.say(&format!("note: {note}"));
    }
}

/// What runs left in the project stays: it may be somebody's work.
fn tell_left(context: &Context, output: &mut Output) {
    let Ok(Some(mut workspace)) = Workspace::if_exists(context) else {
        return;
    };
    let left = left_by_runs::paths(&mut workspace).unwrap_or_default();
    if !left.is_empty() {
        let named = left.join(", ");
        output.say(&format!(
            "note: runs left {named}; delete what you do not need"
        ));
    }
}

fn nothing_to_do(output: &mut Output, removal: &PreparedRemoval) -> Result<Exit, Failure> {
    tell_notes(output, removal);
    output.facts(
        |_| "nothing to do: Gatewright is not installed here\n".to_owned(),
        || json!({ "done": false, "plan": removal.plan.json() }),
    )?;
    Ok(Exit::Success)
}
