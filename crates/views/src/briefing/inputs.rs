//! What a worker is given to read: files by their path; replies and changed files by their text.

use engine::{
    CheckVerdict, Dispatch, DispatchId, Driver, Duty, Hash, Input, Pipeline, Run, Source, StepId,
    Work,
};
use serde_json::Value;

use super::BriefingInputs;
use super::quote::Quote;
use crate::placeholder::filled;
use crate::safe::{line, safe};

/// The captured contents that a briefing for this dispatch quotes.
pub fn quoted_contents(
    pipeline: &Pipeline,
    run: &Run,
    dispatch: &Dispatch,
    altered: &[Input],
) -> Vec<Hash> {
    let inputs = inputs(pipeline, run, dispatch);
    let quoted = inputs
        .iter()
        .filter(|input| is_quoted(pipeline, run, input, altered));
    quoted.map(|input| input.content).collect()
}

/// Quotes replies, artifacts of steps, and files that were changed since. A worker that we start
/// ourselves has room for all inputs, so it gets the captured text even if the file changes.
fn is_quoted(pipeline: &Pipeline, run: &Run, input: &Input, altered: &[Input]) -> bool {
    run.driver == Driver::Headless
        || input.step.is_some()
        || path(pipeline, run, input).is_none()
        || altered.contains(input)
}

/// An open stage has no `reads`: its workers get all replies so far.
pub(super) fn inputs(pipeline: &Pipeline, run: &Run, dispatch: &Dispatch) -> Vec<Input> {
    let ends = pipeline
        .stage(&dispatch.stage)
        .is_none_or(|stage| matches!(stage.work, Work::End(_)));
    match dispatch.duty {
        Duty::Open if ends => Vec::new(),
        Duty::Open => said_so_far(pipeline, run),
        Duty::Work | Duty::Review { .. } | Duty::Fix { .. } | Duty::Step { .. } => {
            engine::inputs(pipeline, run, &dispatch.duty)
        }
    }
}

fn said_so_far(pipeline: &Pipeline, run: &Run) -> Vec<Input> {
    let begun = begun_anew(pipeline, run);
    let artifacts = &pipeline.definition().artifacts;
    let said = run.artifacts.iter().filter(|(name, captured)| {
        let spoken = artifacts
            .get(name)
            .is_some_and(|it| it.source == Source::Reply);
        spoken && captured.dispatch >= begun
    });
    said.map(|(name, captured)| Input {
        artifact: name.clone(),
        step: None,
        content: captured.content,
    })
    .collect()
}

/// The work with which a finished run last restarted: older replies belong to another task.
fn begun_anew(pipeline: &Pipeline, run: &Run) -> Option<DispatchId> {
    let stages = pipeline.definition().stages.iter();
    let ends = stages.filter_map(|stage| stage.work.as_end());
    let first = ends.map(|end| &end.leaves);
    let names = first.flatten().flat_map(|(_, names)| names);
    names
        .filter_map(|name| run.artifacts.get(name)?.dispatch)
        .max()
}

/// The place of each input, one line each.
pub(super) fn places(
    pipeline: &Pipeline,
    run: &Run,
    inputs: &[Input],
    handed: &BriefingInputs<'_>,
) -> Vec<String> {
    let place = |input: &Input| {
        let (title, quoted) = (title(input), quoted(input, handed));
        match path(pipeline, run, input).map(|path| line(&path)) {
            Some(path) if handed.altered.contains(input) => format!(
                "{title}: {quoted}, as it was captured. The file `{path}` was changed later: \
                 do not use it"
            ),
            Some(path) if run.driver == Driver::Headless || input.step.is_some() => {
                format!("{title}: the file `{path}`, {quoted}")
            }
            Some(path) => format!("{title}: the file `{path}`"),
            None => format!("{title}: {quoted}"),
        }
    };
    inputs.iter().map(place).collect()
}

fn quoted(input: &Input, handed: &BriefingInputs<'_>) -> String {
    match handed.copies.get(&input.content) {
        Some(copy) => format!("quoted below, complete in `{}`", line(copy)),
        None => "quoted below".to_owned(),
    }
}

fn title(input: &Input) -> String {
    let step = input.step.as_ref();
    let step = step.map(|step: &StepId| format!(" of step {step}"));
    format!("{}{}", input.artifact, step.unwrap_or_default())
}

fn path(pipeline: &Pipeline, run: &Run, input: &Input) -> Option<String> {
    let artifact = pipeline.definition().artifacts.get(&input.artifact)?;
    match &artifact.source {
        Source::File(path) => Some(filled(run, path, input.step.as_ref())),
        Source::Reply | Source::Answers => None,
    }
}

/// The quoted texts.
pub(super) fn texts(
    pipeline: &Pipeline,
    run: &Run,
    inputs: &[Input],
    handed: &BriefingInputs<'_>,
) -> Vec<Quote> {
    let text = |input: &Input| {
        let text = handed.contents.get(&input.content)?;
        Some(match path(pipeline, run, input) {
            Some(_) => safe(text.trim()),
            None => words(text),
        })
    };
    let quote = |input: &Input| Quote {
        title: format!("{}{}", title(input), origin(run, input)),
        content: input.content,
        text: text(input).unwrap_or_else(|| "(not available)".to_owned()),
    };
    let quoted = inputs
        .iter()
        .filter(|input| is_quoted(pipeline, run, input, handed.altered));
    quoted.map(quote).collect()
}

/// The diff, and what failed checks printed, for a reviewer. That a check passed is in the list of checks.
pub(super) fn to_review(handed: &BriefingInputs<'_>) -> Vec<Quote> {
    let Some(change) = handed.change else {
        return Vec::new();
    };
    let diff = (change.all > 0).then(|| Quote {
        title: "diff".to_owned(),
        content: change.hash,
        text: change.diff.block().trim_end().to_owned(),
    });
    // The mark of a quotation is a hash; the text of a check has none of its own.
    let failed = change.checks.iter().filter(|check| match check.verdict {
        CheckVerdict::Failed | CheckVerdict::Void => true,
        CheckVerdict::Passed => false,
    });
    let checks = failed.map(|check| Quote {
        title: format!("output of the check {}", check.stage),
        content: change.hash,
        text: check.output(),
    });
    diff.into_iter().chain(checks).collect()
}

/// Who wrote the text, as far as the run remembers.
fn origin(run: &Run, input: &Input) -> String {
    if let Some(step) = &input.step {
        let members = run.graphs.values().flat_map(|graph| &graph.members);
        let mut authors = members.filter(|member| member.step.id == *step);
        return authors.next().map_or(String::new(), |member| {
            format!(", from '{}'", member.step.agent)
        });
    }
    let captured = run.artifacts.get(&input.artifact);
    if captured.is_none_or(|captured| captured.content != input.content) {
        return String::new();
    }
    let Some(dispatch) = captured.and_then(|captured| captured.dispatch) else {
        return ", from a person".to_owned();
    };
    let known = run.workers.values();
    let known = known.filter(|known| known.dispatch == dispatch);
    let agent = known.map(|known| &known.agent).next();
    match agent {
        Some(agent) => format!(", from '{agent}' ({dispatch})"),
        None => format!(", from work {dispatch}"),
    }
}

/// A reply that was not JSON is stored inside JSON; people and agents read the reply itself.
fn words(content: &str) -> String {
    let wrapped: Option<Value> = serde_json::from_str(content).ok();
    let wrapped = wrapped.as_ref().and_then(Value::as_object);
    let alone = wrapped.filter(|object| object.len() == 1);
    let text = alone.and_then(|object| object.get("text")?.as_str());
    safe(text.unwrap_or(content).trim())
}
