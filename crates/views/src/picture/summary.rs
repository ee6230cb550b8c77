//! What a box says of its stage: who works there, or on what, in a few short lines.

use engine::{AgentWork, CheckWork, Commands, FieldOf, ReviewWork, Run, Stage, Work, Worker};

use crate::diagram::{Chart, work};
use crate::limits;
use crate::safe::line;

/// Who works there, or on what, in a few short lines.
pub(super) fn summary(chart: &Chart<'_>, run: Option<&Run>, stage: &Stage) -> Vec<String> {
    match &stage.work {
        Work::Agent(agent) => vec![worker(agent)],
        Work::Check(check) => commands(check),
        Work::Review(review) => panel(chart, run, stage, review),
        Work::Ask(ask) => vec![format!("“{}”", line(&ask.question))],
        Work::End(_) => Vec::new(),
        Work::Open(_) | Work::Steps(_) | Work::Route(_) => work(chart, stage),
    }
}

fn worker(agent: &AgentWork) -> String {
    let name = match &agent.worker {
        Worker::Session => "the session itself".to_owned(),
        Worker::Agent(agent) => agent.to_string(),
    };
    let settings = &agent.settings;
    let mut parts = vec![name];
    parts.extend(settings.model.as_deref().map(line));
    parts.extend(
        settings
            .runner
            .as_ref()
            .map(|runner| format!("by {runner}")),
    );
    parts.join(" · ")
}

fn commands(check: &CheckWork) -> Vec<String> {
    match &check.commands {
        Commands::Fixed(commands) => {
            let shown = commands.iter().take(2);
            let shown = shown.map(|argv| format!("$ {}", line(&argv.join(" "))));
            let more = commands.len().saturating_sub(2);
            let more = (more > 0).then(|| format!("and {more} more"));
            shown.chain(more).collect()
        }
        Commands::Approved(fields) => {
            let mut names: Vec<String> = fields.iter().map(artifact_of).collect();
            names.dedup();
            vec![format!("the approved commands of {}", names.join(", "))]
        }
    }
}

fn artifact_of(field: &FieldOf) -> String {
    field.artifact.to_string()
}

fn panel(chart: &Chart<'_>, run: Option<&Run>, stage: &Stage, review: &ReviewWork) -> Vec<String> {
    let mut names: Vec<(String, usize)> = Vec::new();
    for reviewer in &review.panel {
        match names.last_mut() {
            Some((name, times)) if *name == reviewer.agent.as_str() => *times += 1,
            Some(_) | None => names.push((reviewer.agent.to_string(), 1)),
        }
    }
    let names = names.into_iter().map(|(name, times)| match times {
        1 => name,
        times => format!("{times}× {name}"),
    });
    let limit = limits::word(&review.rounds, chart.definition, run);
    let round = run.and_then(|run| run.panels.get(&stage.name));
    let rounds = match round {
        Some(panel) => format!("round {}/{limit}", panel.round),
        None => format!("≤ {limit} rounds"),
    };
    vec![
        names.collect::<Vec<_>>().join(", then "),
        format!("{} fixes · {rounds}", review.owner),
    ]
}
