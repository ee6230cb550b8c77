//! The words beside a stage and on an arrow. All of them are safe to print, on one line.

use engine::{
    AgentPattern, AgentWork, ArtifactName, CheckText, CheckWork, Commands, Conversation, Edge,
    FieldOf, Leaves, Questions, Reads, ReviewWork, Stage, StepsSource, StepsWork, Work, Worker,
    WorkerSettings,
};

use super::chart::Chart;
use crate::layout::wrap;
use crate::limits;
use crate::routed;
use crate::safe::line;
use crate::words;

const LABEL_COLUMNS: usize = 36;

/// How many lines one command, question or panel may take in a picture.
const LABEL_LINES: usize = 3;

/// Who works there, or on what; one short line each.
pub(crate) fn work(chart: &Chart<'_>, stage: &Stage) -> Vec<String> {
    match &stage.work {
        Work::Agent(work) => vec![worker(work)],
        Work::Open(open) => vec![admitted(&open.allow)],
        Work::Check(check) => commands(check),
        Work::Ask(ask) => match &ask.questions {
            Questions::Choice { .. } => vec![format!("“{}”", line(&ask.question))],
            Questions::From { field, .. } => {
                vec![
                    format!("“{}”", line(&ask.question)),
                    format!("questions of {}", of(field)),
                ]
            }
        },
        Work::Review(review) => panel(chart, review),
        Work::Steps(steps) => graph(chart, steps),
        Work::Route(route) => {
            let rules = route.rules.iter().map(routed::rule_words);
            rules.map(|rule| line(&rule)).collect()
        }
        Work::End(end) => vec![words::end(end.end).to_owned()],
    }
}

/// The lines of a stage's label in a picture: narrow, and not more than a few.
pub(super) fn label(chart: &Chart<'_>, stage: &Stage) -> Vec<String> {
    let mut lines = vec![format!("{} · {}", stage.name, words::stage_kind(stage))];
    for text in work(chart, stage) {
        let mut parts = wrap(&text, LABEL_COLUMNS);
        if parts.len() > LABEL_LINES {
            parts.truncate(LABEL_LINES);
            parts.push("…".to_owned());
        }
        lines.extend(parts);
    }
    if chart.is_here(stage) {
        lines.push("◀ here".to_owned());
    }
    lines
}

/// What the stage reads and leaves, and its other settings; one line each.
pub(crate) fn artifact_specs(stage: &Stage) -> Vec<String> {
    let mut lines = match &stage.work {
        Work::Agent(work) => [reads(&work.reads), leaves(&work.leaves)].concat(),
        Work::Open(open) => open.leaves.iter().map(left_by).collect(),
        Work::Check(_) | Work::Route(_) => Vec::new(),
        Work::Ask(ask) => {
            let leaves = ask.leaves().into_iter();
            leaves.map(|leaves| format!("leaves {leaves}")).collect()
        }
        Work::Review(review) => {
            [reads(&review.reads), named("a fix leaves", &review.fixes)].concat()
        }
        Work::Steps(steps) => [reads(&steps.reads), named("each leaves", &steps.leaves)].concat(),
        Work::End(end) => end.leaves.iter().map(left_by).collect(),
    };
    lines.extend(
        stage
            .shown
            .as_ref()
            .map(|shown| format!("shown as {}", line(shown))),
    );
    lines
}

/// An outcome with what its edge counts, resets and approves: `failed · fixes ≤ 2`.
pub(crate) fn edge(chart: &Chart<'_>, way: &str, edge: &Edge) -> String {
    let counted = chart.counter(edge);
    let counted = counted.map(|(name, counter)| format!("{name} ≤ {}", chart.maximum(counter)));
    let mut parts = vec![line(way)];
    parts.extend(counted);
    parts.extend(effects(edge));
    parts.join(" · ")
}

/// What an edge resets and approves.
pub(crate) fn effects(edge: &Edge) -> Vec<String> {
    [
        named("resets", &edge.reset),
        named("approves", &edge.approves),
    ]
    .concat()
}

fn named<N: ToString>(verb: &str, names: &[N]) -> Vec<String> {
    let names: Vec<_> = names.iter().map(N::to_string).collect();
    if names.is_empty() {
        Vec::new()
    } else {
        vec![format!("{verb} {}", names.join(", "))]
    }
}

/// The names of patterns, safe to print.
pub(super) fn patterns(patterns: &[AgentPattern]) -> String {
    patterns
        .iter()
        .map(|pattern| line(pattern.as_str()))
        .collect::<Vec<_>>()
        .join(", ")
}

fn admitted(allow: &[AgentPattern]) -> String {
    match allow {
        [only] => line(only.as_str()),
        several => format!("any of {}", patterns(several)),
    }
}

fn of(field: &FieldOf) -> String {
    format!("{}.{}", field.artifact, line(&field.field))
}

fn worker(work: &AgentWork) -> String {
    let name = match &work.worker {
        Worker::Session => "the session itself".to_owned(),
        Worker::Agent(agent) => agent.to_string(),
    };
    format!("{name}{}", settings(&work.settings))
}

fn settings(settings: &WorkerSettings) -> String {
    settings_with(settings, None)
}

/// What is special about a worker, in brackets.
fn settings_with(settings: &WorkerSettings, further: Option<&str>) -> String {
    let mut parts: Vec<String> = further.map(str::to_owned).into_iter().collect();
    parts.extend(
        settings
            .runner
            .as_ref()
            .map(|runner| format!("by {runner}")),
    );
    parts.extend(settings.model.as_ref().map(|model| line(model)));
    match settings.conversation {
        Conversation::Same => parts.push("same conversation".to_owned()),
        Conversation::Fresh => {}
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join(", "))
    }
}

fn commands(check: &CheckWork) -> Vec<String> {
    let mut lines: Vec<String> = match &check.commands {
        Commands::Fixed(commands) => commands
            .iter()
            .map(|argv| format!("$ {}", line(&argv.join(" "))))
            .collect(),
        Commands::Approved(fields) => fields
            .iter()
            .map(|field| format!("the approved commands of {}", of(field)))
            .collect(),
    };
    for (text, word) in [(&check.fails_on, "fails on"), (&check.expects, "expects")] {
        match text {
            Some(CheckText::Text(text)) => lines.push(format!("{word} “{}”", line(text))),
            Some(CheckText::From(fields)) => {
                let each = fields.iter().map(|field| format!("{word} {}", of(field)));
                lines.extend(each);
            }
            None => {}
        }
    }
    lines
}

fn panel(chart: &Chart<'_>, review: &ReviewWork) -> Vec<String> {
    let rounds = limits::word(&review.rounds, chart.definition, chart.run);
    let subject = review
        .of
        .as_ref()
        .map_or("the tree".to_owned(), ArtifactName::to_string);
    let judge = match review.panel.len() {
        1 => "judges",
        _ => "judge",
    };
    let reviewers = review.panel.iter().map(|reviewer| {
        let last_word = reviewer.last_word.then_some("the last word");
        format!(
            "{}{}",
            reviewer.agent,
            settings_with(&reviewer.settings, last_word)
        )
    });
    vec![
        format!(
            "{} {judge} {subject}",
            reviewers.collect::<Vec<_>>().join(", then ")
        ),
        format!(
            "{} fixes{}, ≤ {rounds} rounds",
            review.owner,
            settings(&review.owner_settings)
        ),
    ]
}

fn graph(chart: &Chart<'_>, steps: &StepsWork) -> Vec<String> {
    let mut lines = match &steps.source {
        StepsSource::Fixed(steps) => steps
            .iter()
            .map(|step| {
                let needs = named("after", &step.needs).concat();
                let needs = if needs.is_empty() {
                    needs
                } else {
                    format!(" {needs}")
                };
                format!("{}: {}{needs}", step.id, step.agent)
            })
            .collect(),
        StepsSource::Start => vec!["steps given at start".to_owned()],
        StepsSource::Artifact(field) => vec![format!("steps of {}", of(field))],
        StepsSource::ArtifactOrStart(field) => {
            vec![format!("steps of {}, or given at start", of(field))]
        }
    };
    if !steps.agents.is_empty() {
        lines.push(format!("by {}", patterns(&steps.agents)));
    }
    let limit = steps.max_parallel.as_ref();
    let limit = limit.map(|limit| limits::word(limit, chart.definition, chart.run));
    lines.extend(limit.map(|limit| format!("≤ {limit} at once")));
    lines
}

fn reads(reads: &Reads) -> Vec<String> {
    let optional = reads.if_there.iter().map(|name| format!("{name}?"));
    let names: Vec<_> = reads
        .needed
        .iter()
        .map(ArtifactName::to_string)
        .chain(optional)
        .collect();
    named("reads", &names)
}

fn leaves(leaves: &Leaves) -> Vec<String> {
    let by_outcome = leaves.by_outcome.iter();
    let mut lines = named("leaves", &leaves.always);
    lines.extend(
        by_outcome.flat_map(|(outcome, names)| named(&format!("when {outcome} leaves"), names)),
    );
    lines
}

fn left_by((pattern, names): &(AgentPattern, Vec<ArtifactName>)) -> String {
    named(&format!("{} leaves", line(pattern.as_str())), names).concat()
}
