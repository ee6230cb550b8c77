//! The instructions for a worker that starts: where it works, what to read, and what to produce.

mod inputs;
mod quote;

use std::collections::BTreeMap;

use engine::{
    ArtifactName, Dispatch, Driver, Duty, Graph, Hash, Input, Pipeline, Run, Source, Stage, StepId,
    TreeAccess, Writes,
};

pub use inputs::quoted_contents;

use crate::cause::{self, Reader};
use crate::change::ChangeReport;
use crate::layout::cut;
use crate::requirement::requirements;
use crate::routed;
use crate::safe::{Untrusted, line};

/// How much of other texts fits into a briefing, in characters.
struct TextBudget {
    task: usize,
    /// The output of commands and the words of people in what led here.
    causes: usize,
    /// All quoted texts together.
    quotes: usize,
    /// The lines of files and of checks that a reviewer gets.
    listed: usize,
}

impl TextBudget {
    /// A host shows at most 10,000 characters at once, and its session has the rest. A worker that we
    /// start has only its input, so little is cut from it.
    fn of(run: &Run) -> Self {
        match run.driver {
            Driver::ByHand | Driver::Guarded => Self {
                task: 2_000,
                causes: 2_500,
                quotes: 3_500,
                listed: 6,
            },
            Driver::Headless => Self {
                task: usize::MAX,
                causes: 50_000,
                quotes: 200_000,
                listed: 200,
            },
        }
    }
}

/// How many characters of each text are quoted at least, when there are this many texts.
pub fn smallest_quote(run: &Run, texts: usize) -> usize {
    TextBudget::of(run).quotes / texts.max(1)
}

/// Titles, reasons and parameters are one line each.
const LINE_COLUMNS: usize = 400;

const LEAVE: &str = "Produce these artifacts. They are checked when you finish:";

/// What the caller has read for a briefing.
#[derive(Clone, Copy, Debug)]
pub struct BriefingInputs<'a> {
    /// The contents that `quoted_contents` names.
    pub contents: &'a BTreeMap<Hash, String>,
    /// Inputs whose file was changed after it was captured.
    pub altered: &'a [Input],
    /// The file with the complete content, where it may be too long to quote.
    pub copies: &'a BTreeMap<Hash, String>,
    /// What there is to review.
    pub change: Option<&'a ChangeReport>,
}

/// The text for the worker of this dispatch.
pub fn briefing(
    pipeline: &Pipeline,
    run: &Run,
    dispatch: &Dispatch,
    handed: &BriefingInputs<'_>,
) -> String {
    let Some(stage) = pipeline.stage(&dispatch.stage) else {
        return String::new();
    };
    let inputs = inputs::inputs(pipeline, run, dispatch);
    let requirements = owed(pipeline, run, dispatch);
    let budget = TextBudget::of(run);
    let led_here = cause::led_here(pipeline, run, Reader::Worker(dispatch), budget.causes);
    // Quoted texts may use what the causes leave.
    let left = budget.causes.saturating_sub(led_here.chars().count());
    let parts = [
        place(pipeline, run, stage, dispatch),
        task(run),
        led_here,
        handed.change.map_or_else(String::new, |change| {
            let copy = handed.copies.get(&change.hash);
            change.briefing(budget.listed, copy.map(String::as_str))
        }),
        listed(
            "Read first:",
            inputs::places(pipeline, run, &inputs, handed),
        ),
        listed(LEAVE, requirements.clone()),
        bounds(stage, dispatch),
        route_limits(pipeline, run, dispatch),
        ending(pipeline, dispatch),
        quote::quotes(
            &[
                inputs::texts(pipeline, run, &inputs, handed),
                inputs::to_review(handed),
            ]
            .concat(),
            budget.quotes + left,
        ),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// The artifacts that a worker must still produce when it tries to finish, as in its briefing.
pub fn reminder(pipeline: &Pipeline, run: &Run, dispatch: &Dispatch) -> String {
    listed(LEAVE, owed(pipeline, run, dispatch))
}

fn owed(pipeline: &Pipeline, run: &Run, dispatch: &Dispatch) -> Vec<String> {
    let leaves = engine::leaves_of(pipeline, dispatch);
    let agent = dispatch.agent.as_str();
    requirements(
        pipeline.definition(),
        run,
        &leaves,
        dispatch.duty.step(),
        agent,
    )
}

fn place(pipeline: &Pipeline, run: &Run, stage: &Stage, dispatch: &Dispatch) -> String {
    let (agent, name) = (&dispatch.agent, &pipeline.definition().name);
    let mut lines = vec![format!(
        "You are '{agent}' in run {} of the pipeline `{name}`, stage `{}`.",
        run.id, stage.name
    )];
    lines.extend(stage.about.as_deref().map(line));
    lines.extend(duty(run, stage, &dispatch.duty));
    let attempt = attempt(run, dispatch);
    if attempt > 1 {
        lines.push(format!("This is attempt {attempt}."));
    }
    lines.join("\n")
}

/// What the work is, where the stage alone does not say it.
fn duty(run: &Run, stage: &Stage, duty: &Duty) -> Option<String> {
    let review = stage.work.as_review();
    let panel = review.map_or(&[][..], |review| review.panel.as_slice());
    match duty {
        Duty::Work | Duty::Open => None,
        Duty::Review { reviewer } => {
            let round = run.panels.get(&stage.name).map_or(1, |panel| panel.round);
            let (number, all) = (reviewer + 1, panel.len());
            Some(format!(
                "You are reviewer {number} of {all}, in round {round}."
            ))
        }
        Duty::Fix { reviewer } => {
            let found = panel.get(*reviewer as usize)?;
            Some(format!(
                "Fix all that '{}' found, and nothing else.",
                found.agent
            ))
        }
        Duty::Step { step } => {
            let title = member(run, stage, step).map(|member| short_line(&member.step.title));
            Some(format!(
                "Your step is `{step}`: {}\nDo only this step of the task: the other steps are the work of others.",
                title.unwrap_or_default()
            ))
        }
    }
}

fn member<'a>(run: &'a Run, stage: &Stage, step: &StepId) -> Option<&'a engine::Member> {
    let Graph { members } = run.graphs.get(&stage.name)?;
    members.iter().find(|member| member.step.id == *step)
}

/// Steps are retried one by one, so each counts its own attempts.
pub fn attempt(run: &Run, dispatch: &Dispatch) -> u32 {
    let graph = run.graphs.get(&dispatch.stage);
    let own = dispatch.duty.step().and_then(|step| {
        let mut members = graph?.members.iter();
        members.find(|member| member.step.id == *step)
    });
    own.map_or(dispatch.attempt, |member| member.retries + 1)
}

fn task(run: &Run) -> String {
    let task = quote::shortened(&Untrusted::new(&run.task).block(), TextBudget::of(run).task);
    let quoted: Vec<String> = task.lines().map(|line| format!("> {line}")).collect();
    let params = run.params.iter();
    let params: Vec<String> = params
        .map(|(name, value)| format!("{name} = {}", short_line(value)))
        .collect();
    let params = if params.is_empty() {
        String::new()
    } else {
        format!("\nParameters: {}", params.join("; "))
    };
    format!("The task, word for word:\n{}{params}", quoted.join("\n"))
}

fn short_line(text: &str) -> String {
    cut(&line(text), LINE_COLUMNS)
}

fn listed(title: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        String::new()
    } else {
        format!("{title}\n- {}", lines.join("\n- "))
    }
}

/// What the worker may change, and which tools it may not use.
fn bounds(stage: &Stage, dispatch: &Dispatch) -> String {
    let changes = match (dispatch.reach, &stage.writes) {
        (TreeAccess::ReadsOnly, _) => Some("Change no files except your artifacts.".to_owned()),
        (TreeAccess::MayWrite, Writes::Anything) => None,
        (TreeAccess::MayWrite, Writes::Only(globs)) => {
            let globs: Vec<String> = globs.iter().map(|glob| line(glob.as_str())).collect();
            let globs = globs.join("`, `");
            Some(format!("Apart from your artifacts, change only `{globs}`."))
        }
    };
    let denied: Vec<String> = stage
        .tools_deny
        .iter()
        .map(|tool| line(tool.as_str()))
        .collect();
    let denied = (!denied.is_empty()).then(|| {
        format!(
            "Gatewright refuses these tools here: {}.",
            denied.join(", ")
        )
    });
    let lines: Vec<String> = changes.into_iter().chain(denied).collect();
    lines.join("\n")
}

/// How large the change may become before the run goes the longer way of a route.
fn route_limits(pipeline: &Pipeline, run: &Run, dispatch: &Dispatch) -> String {
    if dispatch.reach == TreeAccess::ReadsOnly {
        return String::new();
    }
    let rules = engine::limiting_rules(pipeline, run);
    let lines = rules.map(|(route, rule)| {
        let (way, limits) = (&rule.outcome, routed::change_limits(rule).join(", "));
        format!(
            "The route `{route}` chose the shorter way `{way}`, which allows this change since the run began: {}. \
             Artifacts do not count. If the task needs more, make the larger change: the run then goes \
             the longer way.",
            line(&limits)
        )
    });
    lines.collect::<Vec<String>>().join("\n")
}

fn ending(pipeline: &Pipeline, dispatch: &Dispatch) -> String {
    let leaves = engine::leaves_of(pipeline, dispatch);
    let by_outcome = leaves.by_outcome.values().flatten();
    let all: Vec<&ArtifactName> = leaves.always.iter().chain(by_outcome).collect();
    let declared = &pipeline.definition().artifacts;
    let is_said = |name: &&ArtifactName| {
        let artifact = declared.get(*name);
        artifact.is_some_and(|artifact| artifact.source == Source::Reply)
    };
    if all.is_empty() {
        "Finish when the work is done. If you finish without using a tool, the work does not count."
    } else if all.iter().all(is_said) {
        "Only your last message is handed on, so write all of it there."
    } else {
        "Write every artifact in this attempt, even if it already exists. If one is missing or \
             not as described, you will be asked again."
    }
    .to_owned()
}
