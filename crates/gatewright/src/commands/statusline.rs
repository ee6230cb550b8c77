//! `gatewright statusline`: one line for Claude Code's status line.

use std::io::Read as _;

use engine::{Mode, Next};
use hosts::claude::statusline;
use hosts::hook::LARGEST_INPUT;
use runtime::clock;
use runtime::context::Context;
use runtime::enrolment;
use runtime::facts;
use runtime::failure::{Failure, FailureKind};
use runtime::workspace::{OpenRun, Workspace, as_of};

use crate::exit::Exit;
use crate::output::Output;

/// Print Claude Code's status line: run, stage, liveness and next step
///
/// Shows the liveness as `gatewright status` does: live, quiet, rests, owner lost, waits for you, queued, over. Reads Claude Code's status line input from stdin. Prints nothing in a session without a run, and
/// never fails.
#[derive(Debug, clap::Args)]
pub(crate) struct Statusline {}

impl Statusline {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut input = Vec::new();
        let most = LARGEST_INPUT as u64;
        // An unreadable input counts as a session without a run.
        let _ = std::io::stdin().lock().take(most).read_to_end(&mut input);
        match line(context, &input) {
            Ok(Some(line)) => output.text(&format!("{line}\n"))?,
            Ok(None) => {}
            // A status line has one line, so it shows the error there.
            Err(_) => output.text("gatewright cannot read the run: type `gatewright doctor`\n")?,
        }
        Ok(Exit::Success)
    }
}

fn line(context: &Context, input: &[u8]) -> Result<Option<String>, Failure> {
    let Some(session) = statusline::read(input).ok().and_then(|read| read.session) else {
        return Ok(None);
    };
    let state = context.state()?;
    let enrolled = enrolment::of_session(&state, &session)
        .map_err(Failure::file("read from", state.folder()))?;
    let (Some(enrolled), Some(mut workspace)) = (enrolled, Workspace::if_exists(context)?) else {
        return Ok(None);
    };
    match workspace.read(&enrolled.run) {
        Ok(opened) => Ok(Some(told(&workspace, &opened)?)),
        // The file of a session may outlive its run.
        Err(failure) if failure.kind == FailureKind::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn told(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<String, Failure> {
    let now = clock::now();
    let run = as_of(&opened.pipeline, opened.run(), now);
    let view = facts::present(opened, now);
    let definition = opened.pipeline.definition();
    let status = engine::status(&opened.pipeline, &run);
    let liveness = facts::liveness(workspace, opened, now)?;
    let next = engine::next(&opened.pipeline, &run);
    let parts = [
        view.bypass.as_ref().map(|bypass| bypass.text()),
        run.open_unguarded().next().map(|_| "UNGUARDED".to_owned()),
        (definition.mode == Mode::Advisory).then(|| "NOT ENFORCED".to_owned()),
        Some(format!("{} {}", definition.name, run.id)),
        Some(format!("{} ({})", run.position.stage, status.word())),
        Some(format!("{} {}", liveness.mark(), liveness.text())),
        next.first().and_then(next_words),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Ok(views::line(&parts.join(" · ")))
}

/// What comes next, in a few words.
fn next_words(next: &Next) -> Option<String> {
    Some(match next {
        Next::Agent { agent, .. } => format!("next: {agent}"),
        Next::Session { .. } => "next: the session itself".to_owned(),
        Next::AnyOf { agents } => {
            let names: Vec<&str> = agents.iter().map(|agent| agent.as_str()).collect();
            format!("next: {}", names.join(", "))
        }
        Next::Under { agent, .. } => format!("{agent} is at work"),
        Next::Check { .. } => "next: gatewright check".to_owned(),
        Next::Plan { .. } => "next: the steps are planned".to_owned(),
        Next::Route { .. } => "next: the route is decided".to_owned(),
        Next::Answer { .. } | Next::Answers { .. } => "a person answers".to_owned(),
        Next::Finish => "a person finishes it".to_owned(),
        Next::Decide { .. } => "a person decides".to_owned(),
        Next::TakeUp => "queued".to_owned(),
        Next::Nothing => return None,
    })
}
