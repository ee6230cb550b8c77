//! Questions: what a stage asks of a person, word for word.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::pipeline::Pipeline;
use crate::run::Run;
use crate::shell_words::shell_words;
use crate::stage::{AskWork, Stage};

/// What the current stage asks of a person, word for word. If the answer approves commands, the
/// question lists them.
pub fn question_of(pipeline: &Pipeline, run: &Run) -> Option<String> {
    let stage = pipeline.stage(&run.position.stage)?;
    Some(question_text(run, stage, stage.work.as_ask()?))
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
