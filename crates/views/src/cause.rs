//! What led a run to where it is: the same facts for workers, sessions and people.

mod json;
mod quoted;

use std::collections::BTreeMap;

use engine::{
    ArtifactName, CheckEnd, CommandEnd, Dispatch, Duty, Fault, Happened, Hash, MoveReason, Passage,
    Pipeline, Run, Source, StepId, Work,
};

use quoted::{Keep, Quoted};
use serde_json::Value;

use crate::layout::{TextBuilder, cut};
use crate::paint::Style;
use crate::placeholder::filled;
use crate::routed;
use crate::safe::line;

/// Reasons and commands are one line each.
const LINE_COLUMNS: usize = 400;

/// The sentence about a route contains its evidence.
const ROUTE_COLUMNS: usize = 800;

const TITLE: &str = "What led here, the latest last:";

/// How much of the output of commands a person sees without asking; `gatewright why` has the rest.
const PERSON_CHARACTERS: usize = 3_000;

/// What led here, for people and as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Causes {
    lines: Vec<String>,
    json: Value,
}

impl Causes {
    pub(crate) fn of(pipeline: &Pipeline, run: &Run) -> Self {
        let told = told(pipeline, run, Reader::Anybody);
        Self {
            lines: quoted::fit(told, PERSON_CHARACTERS),
            json: json::causes(run),
        }
    }

    pub(crate) fn show(&self, builder: &mut TextBuilder) {
        if self.lines.is_empty() {
            return;
        }
        builder.line(Style::Normal, &format!("  {TITLE}"));
        for line in &self.lines {
            builder.block(2, Style::Normal, line);
        }
    }

    pub(crate) fn json(&self) -> Value {
        self.json.clone()
    }
}

/// Who is about to read it.
#[derive(Clone, Copy)]
pub(crate) enum Reader<'a> {
    /// The worker of this dispatch. What other workers of the stage did is not its business.
    Worker(&'a Dispatch),
    Anybody,
}

/// What led here, with the output of commands and the words of people in so many characters. Empty
/// where a run has just started.
pub(crate) fn led_here(
    pipeline: &Pipeline,
    run: &Run,
    reader: Reader<'_>,
    characters: usize,
) -> String {
    let told = told(pipeline, run, reader);
    if told.is_empty() {
        return String::new();
    }
    let lines = quoted::fit(told, characters);
    format!("{TITLE}\n{}", lines.join("\n"))
}

/// The same in a few lines, without the output of commands.
pub(crate) fn in_short(pipeline: &Pipeline, run: &Run, columns: usize) -> Vec<String> {
    let trail = run.trail.last().into_iter();
    let left = trail.flat_map(|passage| passage_lines(pipeline, run, passage));
    let here = here(pipeline, run, Reader::Anybody);
    let told: Vec<CauseLine> = left.chain(here).collect();
    let first = told.len().saturating_sub(SHORT_LINES);
    let short = told.iter().skip(first).map(|it| it.short(columns));
    short.collect()
}

/// More than this a session finds in `gatewright next`.
const SHORT_LINES: usize = 4;

/// One fact, and the text that belongs to it.
struct CauseLine {
    line: String,
    texts: Vec<Quoted>,
}

impl CauseLine {
    fn plain(line: String) -> Self {
        Self {
            line,
            texts: Vec::new(),
        }
    }

    /// The same behind these words.
    fn after(self, words: &str) -> Self {
        Self {
            line: format!("{words}{}", self.line),
            ..self
        }
    }

    /// On one line: of a command what it was and how it ended, of a person's words their beginning.
    fn short(&self, columns: usize) -> String {
        let texts = self.texts.iter().map(Quoted::short);
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        let separator = if texts.is_empty() { "" } else { " " };
        cut(
            &format!("- {}{separator}{}", self.line, texts.join("; ")),
            columns,
        )
    }
}

fn told(pipeline: &Pipeline, run: &Run, reader: Reader<'_>) -> Vec<CauseLine> {
    let left = run.trail.iter();
    let left = left.flat_map(|passage| match reader {
        Reader::Worker(_) => passage_lines(pipeline, run, &unsettled_in(passage)),
        Reader::Anybody => passage_lines(pipeline, run, passage),
    });
    left.chain(here(pipeline, run, reader)).collect()
}

/// A stage that was left: what happened there, and how it ended.
fn passage_lines(pipeline: &Pipeline, run: &Run, passage: &Passage) -> Vec<CauseLine> {
    let Passage {
        stage,
        outcome,
        happened,
        ..
    } = passage;
    let (last, earlier) = match happened.split_last() {
        Some((last, earlier)) => (Some(last), earlier),
        None => (None, &[] as &[Happened]),
    };
    let earlier = earlier.iter().map(|it| {
        let fact = fact(pipeline, run, it);
        fact.after(&format!("`{stage}`: "))
    });
    let end = format!("`{stage}` ended with `{}`{}.", line(outcome), why(passage));
    let end = match last.map(|last| exit(pipeline, run, last)) {
        Some(fact) => fact.after(&format!("{end} ")),
        None => CauseLine::plain(end),
    };
    earlier.chain([end]).collect()
}

/// Why it led to where it led, where that is not the edge of the outcome.
fn why(passage: &Passage) -> String {
    match &passage.along {
        MoveReason::Edge => String::new(),
        MoveReason::Full(counter) => format!(". The limit of `{counter}` is reached"),
        MoveReason::Unapproved(artifact) => {
            format!(". The artifact `{artifact}` adds commands that no person has approved")
        }
        MoveReason::Interrupted => ". The run went back to where it was interrupted".to_owned(),
        MoveReason::StaleGate => {
            ". Files changed after a gate had passed, so it must pass again".to_owned()
        }
        MoveReason::Outgrown(route) => {
            format!(". The change no longer meets the rule of the route `{route}`")
        }
    }
}

/// What happened since the run came here.
fn here(pipeline: &Pipeline, run: &Run, reader: Reader<'_>) -> Vec<CauseLine> {
    let happened = match reader {
        Reader::Worker(_) => unsettled(&run.position.happened),
        Reader::Anybody => run.position.happened.iter().collect(),
    };
    let own = happened.into_iter();
    let own = own.filter(|it| concerns(pipeline, reader, it));
    own.map(|it| fact(pipeline, run, it).after("In this stage: "))
        .collect()
}

/// A worker that had to undo a change, and whose work counted afterwards, has undone it: who comes later would
/// look for what is no longer there.
fn unsettled(happened: &[Happened]) -> Vec<&Happened> {
    let is_settled = |at: usize, it: &Happened| {
        let Happened::Failed {
            agent: Some(failed),
            step: of,
            fault: Fault::Strayed,
            ..
        } = it
        else {
            return false;
        };
        let later = happened.get(at..).unwrap_or_default();
        later.iter().any(|it| {
            matches!(it, Happened::Worked { agent, step, .. } if agent == failed && step == of)
        })
    };
    let all = happened.iter().enumerate();
    all.filter(|(at, it)| !is_settled(*at, it))
        .map(|(_, it)| it)
        .collect()
}

fn unsettled_in(passage: &Passage) -> Passage {
    let happened = unsettled(&passage.happened).into_iter().cloned().collect();
    Passage {
        happened,
        ..passage.clone()
    }
}

/// Steps work side by side, and reviewers form their own opinions.
fn concerns(pipeline: &Pipeline, reader: Reader<'_>, happened: &Happened) -> bool {
    let Reader::Worker(dispatch) = reader else {
        return true;
    };
    match (happened, &dispatch.duty) {
        (
            Happened::Worked { step, .. } | Happened::Failed { step, .. },
            Duty::Step { step: own },
        ) => step.as_ref() == Some(own),
        (Happened::Worked { agent, left, .. }, Duty::Review { reviewer }) => {
            let stage = pipeline.stage(&dispatch.stage).map(|stage| &stage.work);
            let Some(Work::Review(work)) = stage else {
                return true;
            };
            let own = work.panel.get(*reviewer as usize).map(|it| &it.leaves);
            *agent == work.owner || own.is_some_and(|own| left.contains_key(own))
        }
        (Happened::Worked { .. } | Happened::Failed { .. }, _) => true,
        (
            Happened::Checked { .. }
            | Happened::Routed(_)
            | Happened::Answered { .. }
            | Happened::Skipped { .. }
            | Happened::Continued { .. }
            | Happened::Reset { .. }
            | Happened::Restored { .. },
            _,
        ) => true,
    }
}

/// The last thing in a stage, behind its outcome, which need not be repeated.
fn exit(pipeline: &Pipeline, run: &Run, happened: &Happened) -> CauseLine {
    match happened {
        Happened::Worked {
            agent, step, left, ..
        } => {
            let left = left_words(pipeline, run, step.as_ref(), left);
            let step = of_step(step.as_ref());
            CauseLine::plain(format!("'{agent}'{step} worked there{left}."))
        }
        Happened::Answered { by, words, .. } => {
            said(format!("{} answered", line(by)), words.as_deref())
        }
        Happened::Checked { commands, .. } => CauseLine {
            line: "Gatewright ran its commands:".to_owned(),
            texts: commands.iter().map(command).collect(),
        },
        Happened::Failed { .. }
        | Happened::Routed(_)
        | Happened::Skipped { .. }
        | Happened::Continued { .. }
        | Happened::Reset { .. }
        | Happened::Restored { .. } => fact(pipeline, run, happened),
    }
}

/// One thing that happened, as a sentence of its own.
fn fact(pipeline: &Pipeline, run: &Run, happened: &Happened) -> CauseLine {
    match happened {
        Happened::Worked {
            agent,
            step,
            outcome,
            left,
        } => {
            let left = left_words(pipeline, run, step.as_ref(), left);
            let step = of_step(step.as_ref());
            CauseLine::plain(format!("'{agent}'{step} ended with `{outcome}`{left}."))
        }
        Happened::Failed {
            agent,
            step,
            fault,
            reason,
        } => {
            let who = agent.as_ref().map(|agent| format!("'{agent}'"));
            let who = who.unwrap_or_else(|| "the run".to_owned());
            let (step, reason) = (of_step(step.as_ref()), short(reason));
            CauseLine::plain(format!("{who}{step} failed: {}: {reason}", fault.word()))
        }
        Happened::Checked { verdict, commands } => CauseLine {
            line: format!(
                "Gatewright ran the check, which {}:",
                verdict_words(*verdict)
            ),
            texts: commands.iter().map(command).collect(),
        },
        Happened::Routed(routed) => CauseLine::plain(format!(
            "Gatewright decided: {}.",
            cut(&line(&routed::decided(routed)), ROUTE_COLUMNS)
        )),
        Happened::Answered { by, choice, words } => said(
            format!("{} answered `{choice}`", line(by)),
            words.as_deref(),
        ),
        Happened::Skipped {
            by,
            outcome,
            reason,
        } => said(
            format!("{} skipped it as `{outcome}`", line(by)),
            Some(reason),
        ),
        Happened::Continued { by, words } => said(
            format!("{} let the run continue", line(by)),
            words.as_deref(),
        ),
        Happened::Reset { by, reason } => said(
            format!("{} sent the run back to its start", line(by)),
            Some(reason),
        ),
        Happened::Restored { by, reason } => said(
            format!("{} took the run back to an earlier point", line(by)),
            Some(reason),
        ),
    }
}

fn left_words(
    pipeline: &Pipeline,
    run: &Run,
    step: Option<&StepId>,
    left: &BTreeMap<ArtifactName, Hash>,
) -> String {
    let left: Vec<String> = left
        .keys()
        .map(|name| artifact(pipeline, run, name, step))
        .collect();
    match left.as_slice() {
        [] => String::new(),
        left => format!(" and left {}", left.join(", ")),
    }
}

fn said(line: String, words: Option<&str>) -> CauseLine {
    match words {
        Some(words) => CauseLine {
            line: format!("{line}, in these words:"),
            texts: vec![Quoted::words(words)],
        },
        None => CauseLine::plain(format!("{line}.")),
    }
}

fn of_step(step: Option<&StepId>) -> String {
    step.map_or_else(String::new, |step| format!(" (step {step})"))
}

fn short(text: &str) -> String {
    cut(&line(text), LINE_COLUMNS)
}

fn verdict_words(verdict: engine::CheckVerdict) -> &'static str {
    match verdict {
        engine::CheckVerdict::Passed => "passed",
        engine::CheckVerdict::Failed => "failed",
        engine::CheckVerdict::Void => "gave no verdict",
    }
}

/// The artifact, and the file where it is.
fn artifact(pipeline: &Pipeline, run: &Run, name: &ArtifactName, step: Option<&StepId>) -> String {
    let declared = pipeline.definition().artifacts.get(name);
    match declared.map(|artifact| &artifact.source) {
        Some(Source::File(path)) => format!("{name} (`{}`)", line(&filled(run, path, step))),
        Some(Source::Reply | Source::Answers) | None => name.to_string(),
    }
}

fn command(command: &CommandEnd) -> Quoted {
    let argv = short(&engine::shell_words(&command.argv));
    let ended = match &command.ended {
        CheckEnd::Exit(0) if command.matched_failure => {
            "exited with code 0, but its output has the text that fails the check".to_owned()
        }
        CheckEnd::Exit(code) => match &command.lacks {
            Some(text) => format!(
                "exited with code {code}, but no command printed “{}”, which the check expects",
                short(text)
            ),
            None => format!("exited with code {code}"),
        },
        CheckEnd::Signal(signal) => format!("was ended by signal {signal}"),
        CheckEnd::TimedOut => "ran out of time".to_owned(),
        CheckEnd::CouldNotStart(reason) => format!("could not start: {}", short(reason)),
        CheckEnd::EnvironmentLost(reason) | CheckEnd::ProgramUnaccepted(reason) => {
            format!("did not run: {}", short(reason))
        }
    };
    Quoted {
        title: format!("`{argv}` {ended}"),
        text: command.tail.clone(),
        keep: Keep::End,
    }
}
