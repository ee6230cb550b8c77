//! Questions: what a stage asks of a person, word for word.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::budget::is_capped;
use crate::cause::Happened;
use crate::outcome::Fault;
use crate::pipeline::Pipeline;
use crate::run::{Driver, Run};
use crate::shell_words::shell_words;
use crate::stage::{AskWork, Stage};

/// What the current stage asks of a person, word for word. If the answer approves commands, the
/// question lists them.
pub fn question_of(pipeline: &Pipeline, run: &Run) -> Option<String> {
    let stage = pipeline.stage(&run.position.stage)?;
    Some(question_text(run, stage, stage.work.as_ask()?))
}

/// Why a run waits whose budget, or a cap on all runs, is used up.
pub(crate) fn over_budget_text(pipeline: &Pipeline, run: &Run, what: &str) -> String {
    if is_capped(pipeline, run) {
        format!("{what}; `gatewright caps --machine AMOUNT` raises it")
    } else {
        format!("the budget is used up: {what}")
    }
}

/// What a person is asked about a fault: what failed, and what they may choose.
pub(crate) fn stuck_question(run: &Run, fault: Fault, reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    let shares_tree = run.place.is_none() && run.driver == Driver::Headless;
    if fault == Fault::Strayed && shares_tree {
        return format!(
            "{reason}. If it was you, `retry` keeps your edit, and the stage starts again with the files as they are. If it was \
             the agent, undo the change before you retry"
        );
    }
    let stage = &run.position.stage;
    let happened = run.position.happened.iter().rev();
    let failed = happened.filter_map(|it| match it {
        Happened::Failed { agent, .. } => agent.as_ref(),
        Happened::Worked { .. }
        | Happened::Checked { .. }
        | Happened::Routed(_)
        | Happened::Answered { .. }
        | Happened::Skipped { .. }
        | Happened::Continued { .. }
        | Happened::Reset { .. }
        | Happened::Restored { .. } => None,
    });
    let who = failed
        .map(|agent| format!("'{agent}' failed in {stage}"))
        .next();
    let who = who.unwrap_or_else(|| format!("{stage} failed"));
    format!(
        "{who}: {}: {reason}. Retry it, skip the stage, or cancel the run?",
        fault.word()
    )
}

/// The question with the commands that an answer approves.
pub(crate) fn question_text(run: &Run, stage: &Stage, ask: &AskWork) -> String {
    let commands = to_approve(run, stage);
    let shown = commands
        .iter()
        .map(|argv| format!("`{}`", shell_words(argv)));
    match shown.collect::<Vec<_>>().as_slice() {
        [] => ask.question.clone(),
        shown => format!("{} Commands to approve: {}", ask.question, shown.join(", ")),
    }
}

/// The commands that an answer here may approve, each once.
fn to_approve(run: &Run, stage: &Stage) -> Vec<Vec<String>> {
    let artifacts = stage.on.values().flat_map(|edge| &edge.approves);
    let mut commands: Vec<Vec<String>> = Vec::new();
    for command in artifacts.flat_map(|artifact| run.new_commands(artifact)) {
        if !commands.contains(command) {
            commands.push(command.clone());
        }
    }
    commands
}
