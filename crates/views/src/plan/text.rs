//! A plan as people read it.

use engine::{Budget, Conversation, Edge, Stage, Target, Work};

use super::{NeededProgram, Plan, PlannedWorker, ProgramState, Trust};
use crate::diagram::{Chart, artifact_specs, edge};
use crate::layout::TextBuilder;
use crate::limits;
use crate::paint::{Paint, Style};
use crate::routed;
use crate::safe::line;
use crate::time::span;
use crate::words;

pub(super) fn render(plan: &Plan<'_>, paint: Paint) -> String {
    let mut builder = TextBuilder::new(paint);
    head(&mut builder, plan);
    builder.blank();
    builder.line(Style::Dim, "stages, in the order of the file");
    let definition = plan.pipeline.definition();
    for stage in &definition.stages {
        planned(&mut builder, plan, stage);
    }
    builder.blank();
    builder.line(Style::Dim, "limits");
    limited(&mut builder, plan);
    builder.blank();
    builder.line(Style::Dim, "programs");
    for needed in &plan.programs {
        let (style, text) = program(needed);
        builder.line(style, &format!("  {text}"));
    }
    if plan.programs.is_empty() {
        builder.line(Style::Normal, "  none");
    }
    builder.blank();
    verdict(&mut builder, plan);
    builder.finish()
}

fn head(builder: &mut TextBuilder, plan: &Plan<'_>) {
    let definition = plan.pipeline.definition();
    let about = line(&definition.about);
    builder.line(Style::Strong, &format!("{}: {about}", definition.name));
    builder.field("from", Style::Normal, &plan.origin.line());
    let (style, trust) = match &plan.trust {
        Trust::Shipped => (Style::Normal, "trusted as shipped".to_owned()),
        Trust::Trusted => (Style::Normal, "trusted by a person".to_owned()),
        Trust::Untrusted(reason) => (Style::Bad, reason.line()),
    };
    builder.field("trust", style, &trust);
    builder.field("mode", Style::Normal, words::mode(definition.mode));
    if let Some(task) = &plan.task {
        builder.field("task", Style::Normal, &task.line());
    }
    let Some(run) = plan.run else {
        return;
    };
    let params = run.params.iter();
    let params = params.map(|(name, value)| (Style::Normal, format!("{name} = {}", line(value))));
    builder.fields("params", params);
}

fn planned(builder: &mut TextBuilder, plan: &Plan<'_>, stage: &Stage) {
    let definition = plan.pipeline.definition();
    let chart = Chart::new(definition, plan.run);
    // Steps that a person gives lead past the stages that would plan them.
    let is_start = match plan.run {
        Some(run) => run.position.stage == stage.name,
        None => chart.is_start(stage),
    };
    let start = if is_start { ", the start" } else { "" };
    let head = format!("  {} ({}){start}", stage.name, words::stage_kind(stage));
    builder.line(Style::Strong, &head);
    let mut lines = work(plan, stage);
    lines.extend(artifact_specs(stage));
    lines.extend(stage_limits(plan, stage));
    let ways = stage.edges().into_iter();
    lines.extend(
        ways.map(|(way, out)| format!("{} → {}", edge(&chart, &way.to_string(), out), target(out))),
    );
    for text in lines {
        builder.line(Style::Normal, &format!("      {text}"));
    }
}

/// Who works there, or what is run or asked.
fn work(plan: &Plan<'_>, stage: &Stage) -> Vec<String> {
    let workers = plan.workers.iter();
    let here = workers.filter(|worker| worker.stage == stage.name);
    let mut lines: Vec<String> = here.map(worker).collect();
    match &stage.work {
        Work::Check(check) => match &check.commands {
            engine::Commands::Fixed(commands) => {
                let commands = commands.iter().map(|argv| line(&engine::shell_words(argv)));
                lines.extend(commands.map(|command| format!("$ {command}")));
            }
            engine::Commands::Approved(fields) => {
                let each = fields.iter().map(|field| {
                    let (artifact, field) = (&field.artifact, line(&field.field));
                    format!("the commands of {artifact}.{field}, after a person approves them")
                });
                lines.extend(each);
            }
        },
        Work::Ask(ask) => lines.push(format!("asks a person: {}", line(&ask.question))),
        Work::Route(route) => {
            let rules = route.rules.iter().map(routed::rule_words);
            lines.extend(rules.map(|rule| line(&rule)));
        }
        Work::Agent(_) | Work::Open(_) | Work::Review(_) | Work::Steps(_) | Work::End(_) => {}
    }
    lines
}

fn worker(worker: &PlannedWorker) -> String {
    let model = worker.model.as_ref();
    let model = model.map(|model| format!(", {}", model.line()));
    let conversation = match worker.conversation {
        Conversation::Same => ", same conversation",
        Conversation::Fresh => "",
    };
    format!(
        "{} by {}{}{conversation}",
        worker.who.line(),
        worker.runner.line(),
        model.unwrap_or_default()
    )
}

fn stage_limits(plan: &Plan<'_>, stage: &Stage) -> Vec<String> {
    let definition = plan.pipeline.definition();
    let number = |amount: &engine::Amount| limits::word(amount, definition, plan.run);
    let mut parts = Vec::new();
    match &stage.work {
        Work::Review(review) => parts.push(format!("at most {} rounds", number(&review.rounds))),
        Work::Steps(steps) => {
            let most = steps.max_parallel.as_ref();
            parts.extend(most.map(|most| format!("at most {} at once", number(most))));
        }
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Route(_)
        | Work::End(_) => {}
    }
    let retry = stage.retry.as_ref();
    parts.extend(retry.map(|retry| format!("at most {} retries", number(&retry.max))));
    let timeout = stage.timeout.map(|time| format!("at most {}", span(time)));
    let heartbeat = stage.heartbeat;
    let heartbeat = heartbeat.map(|time| format!("silent for at most {}", span(time)));
    parts.extend(timeout);
    parts.extend(heartbeat);
    if parts.is_empty() {
        Vec::new()
    } else {
        vec![parts.join(", ")]
    }
}

fn target(edge: &Edge) -> String {
    match &edge.to {
        Target::Stage(stage) => stage.to_string(),
        Target::Interrupted => "where it was interrupted".to_owned(),
        Target::Param(name) => format!("{{{name}}}"),
    }
}

fn limited(builder: &mut TextBuilder, plan: &Plan<'_>) {
    let definition = plan.pipeline.definition();
    let counters = definition.counters.iter().map(|(name, counter)| {
        let most = limits::word(&counter.max, definition, plan.run);
        (
            Style::Normal,
            format!("{name} {most}, then {}", counter.then),
        )
    });
    builder.fields("loops", counters);
    let budget = budget(plan, &definition.budget);
    if budget.is_empty() {
        builder.field("budget", Style::Normal, "none")
    } else {
        builder.field("budget", Style::Normal, &budget.join(", "))
    }
}

fn budget(plan: &Plan<'_>, budget: &Budget) -> Vec<String> {
    let definition = plan.pipeline.definition();
    let number = |amount: &engine::Amount| limits::word(amount, definition, plan.run);
    let cost = |amount: &engine::Amount| match limits::value(amount, definition, plan.run) {
        Some(cents) => words::cents(u64::from(cents)),
        None => number(amount),
    };
    let parts = [
        budget
            .turns
            .as_ref()
            .map(|most| format!("turns {}", number(most))),
        budget
            .tokens
            .as_ref()
            .map(|most| format!("tokens {}", number(most))),
        budget
            .cost_cents
            .as_ref()
            .map(|most| format!("cost {}", cost(most))),
        budget.time.map(|most| format!("time {}", span(most))),
    ];
    parts.into_iter().flatten().collect()
}

fn program(needed: &NeededProgram) -> (Style, String) {
    let (name, needed_for) = (needed.name.line(), few(&needed.needed_for));
    match &needed.state {
        ProgramState::Found {
            path,
            version,
            caution,
        } => {
            let version = version
                .as_ref()
                .map(|version| format!(", {}", version.line()));
            let (path, version) = (path.line(), version.unwrap_or_default());
            let found = format!("✓ {name} ({needed_for}): {path}{version}");
            match caution {
                None => (Style::Good, found),
                Some(caution) => (Style::Wait, format!("{found}; {}", caution.line())),
            }
        }
        ProgramState::Unfit { reason, remedy, .. } => {
            let (reason, remedy) = (reason.line(), remedy.line());
            (
                Style::Bad,
                format!("✗ {name} ({needed_for}): {reason}; {remedy}"),
            )
        }
        ProgramState::Missing { install } => {
            let install = install.line();
            (
                Style::Bad,
                format!("✗ {name} ({needed_for}): missing; {install}"),
            )
        }
    }
}

/// The first few, and how many more there are.
fn few(names: &[String]) -> String {
    const MOST: usize = 3;
    match names.get(..MOST) {
        Some(first) if names.len() > MOST + 1 => {
            format!("{} and {} more", first.join(", "), names.len() - MOST)
        }
        Some(_) | None => names.join(", "),
    }
}

fn verdict(builder: &mut TextBuilder, plan: &Plan<'_>) {
    for remark in &plan.remarks {
        builder.line(Style::Wait, &format!("note: {}", remark.line()));
    }
    if plan.is_ready() {
        builder.line(Style::Good, "ready; nothing was started")
    } else {
        builder.line(Style::Bad, "not ready; nothing was started")
    }
    for missing in &plan.missing {
        builder.line(Style::Bad, &format!("  - {}", missing.line()));
    }
}
