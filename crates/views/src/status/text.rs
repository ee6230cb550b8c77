//! A status as text.

use engine::{Driver, MemberState, Mode, Seconds, Status, Turn};

use super::{
    Approval, ArtifactLine, BudgetLine, DispatchLine, Freshness, ReviewLine, StageLine, StatusView,
    StepLine, outside_words, unjudged_words,
};
use crate::fact::place_lines;
use crate::facts::{GateEvidence, GateState, Liveness, Undelivered, WorkerSign};
use crate::layout::{TextBuilder, cut, pad, width};
use crate::paint::{Paint, Style};
use crate::safe::line;
use crate::time::{rfc3339, span};
use crate::words;

/// A longer command is cut; JSON has all of it.
const COMMAND_COLUMNS: usize = 60;

/// The same for a task: some lines of it.
const TASK_COLUMNS: usize = 400;

pub(super) fn render(view: &StatusView, paint: Paint) -> String {
    let mut builder = TextBuilder::new(paint);
    let (style, status) = status_words(&view.status);
    builder.line(
        style,
        &format!("{} · {} · {status}", view.run, view.pipeline),
    );
    liveness(&mut builder, view);
    for taken in &view.overrides {
        builder.line(Style::Bad, &taken.text());
    }
    if let Some(bypass) = &view.bypass {
        builder.line(Style::Bad, &bypass.text());
    }
    if view.unjudged > 0 {
        let (marks, run) = (unjudged_words(view.unjudged), &view.run);
        builder.line(Style::Bad, &format!("{marks}: gatewright history {run}"));
    }
    if view.outside > 0 {
        let (marks, run) = (outside_words(view.outside), &view.run);
        builder.line(Style::Wait, &format!("{marks}: gatewright history {run}"));
    }
    for work in &view.unguarded {
        let hint = format!(
            ": a person accepts it with `gatewright answer {} continue`",
            view.run
        );
        let hint = if work.settled { String::new() } else { hint };
        builder.line(Style::Bad, &format!("{}{hint}", work.text()));
    }
    if view.freshness == Freshness::Stale {
        let (idle, run) = (span(view.idle), &view.run);
        let text =
            format!("STALE: nothing happened for {idle}; a person decides: gatewright next {run}");
        builder.line(Style::Wait, &text);
    }
    for limit in &view.limits {
        let text = format!("LIMITED {}", words::limit(limit));
        builder.line(Style::Wait, &line(&text));
    }
    origin(&mut builder, view);
    progress(&mut builder, view);
    view.causes.show(&mut builder);
    proof(&mut builder, view);
    times(&mut builder, view);
    builder.finish()
}

/// Is anybody at work on it, and what does it wait for?
fn liveness(builder: &mut TextBuilder, view: &StatusView) {
    let Some(liveness) = view.liveness else {
        return;
    };
    let rest = view.rest.as_ref().map(|rest| rest.text(&view.run));
    let text = match (liveness, rest) {
        (Liveness::Rests { .. }, Some(rest)) => rest,
        (
            Liveness::Rests { .. }
            | Liveness::Live { .. }
            | Liveness::Quiet { .. }
            | Liveness::OwnerLost { .. }
            | Liveness::WaitsForYou { .. }
            | Liveness::Queued
            | Liveness::Over,
            rest,
        ) => {
            let reason = rest.or_else(|| liveness.reason().map(str::to_owned));
            let reason = reason.map(|reason| format!(": {reason}"));
            format!("{}{}", liveness.text(), reason.unwrap_or_default())
        }
    };
    builder.line(liveness.style(), &format!("{} {text}", liveness.mark()));
}

/// The status in a colour and in words, with its reason.
pub(crate) fn status_words(status: &Status) -> (Style, String) {
    let word = status.word();
    match status {
        Status::Waiting(reason) => (Style::Wait, format!("{word}: {}", line(reason))),
        Status::Queued => (Style::Dim, word.to_owned()),
        Status::Running => (Style::Strong, word.to_owned()),
        Status::Completed => (Style::Good, word.to_owned()),
        Status::Failed | Status::Cancelled => (Style::Bad, word.to_owned()),
    }
}

fn origin(builder: &mut TextBuilder, view: &StatusView) {
    let task = view.task.line();
    let shown = cut(&task, TASK_COLUMNS);
    builder.field("task", Style::Normal, &shown);
    if shown != task {
        let text = format!("`gatewright status {} --json` has all of it", view.run);
        builder.field("", Style::Dim, &text);
    }
    let param = |(name, value): &(engine::ParamName, crate::safe::Untrusted)| {
        (Style::Normal, format!("{name} = {}", value.line()))
    };
    builder.fields("params", view.params.iter().map(param));
    builder.field("project", Style::Normal, &view.project.line());
    let style = match view.driver {
        Driver::ByHand => Style::Wait,
        Driver::Headless if view.rehearsal => Style::Wait,
        Driver::Guarded | Driver::Headless => Style::Normal,
    };
    builder.field("driver", style, view.driver_text());
    match view.mode {
        Mode::Enforced => builder.field("mode", Style::Normal, "enforced"),
        Mode::Advisory => {
            let text = "advisory, not enforced: refusals are shown, but nothing is blocked";
            builder.field("mode", Style::Wait, text);
        }
    }
    if let Some(place) = &view.place {
        for (name, text) in place_lines(&view.run, place) {
            builder.field(name, Style::Normal, &text);
        }
    }
    if let Some(Undelivered { reason: None }) = &view.undelivered {
        let text = format!(
            "open: `{}` delivers its work",
            Undelivered::command(&view.run)
        );
        builder.field("delivery", Style::Wait, &text);
    }
    if let Some(binding) = &view.session {
        builder.field("session", Style::Normal, &binding.text());
    }
}

fn progress(builder: &mut TextBuilder, view: &StatusView) {
    builder.field("stage", Style::Strong, &stage(&view.stage));
    let counter = |counter: &super::CounterLine| match counter.max {
        Some(max) => format!("{} {}/{max}", counter.name, counter.used),
        None => format!("{} {}", counter.name, counter.used),
    };
    let counters: Vec<_> = view.counters.iter().map(counter).collect();
    if !counters.is_empty() {
        builder.field("counters", Style::Normal, &counters.join(", "));
    }
    if let Some(review) = &view.review {
        builder.field("review", Style::Normal, &review_text(review));
    }
    if !view.steps.is_empty() {
        builder.fields("steps", steps(&view.steps));
    }
    builder.fields(
        "working",
        view.dispatches
            .iter()
            .map(|line| (Style::Normal, dispatch(line))),
    );
}

fn proof(builder: &mut TextBuilder, view: &StatusView) {
    builder.fields(
        "artifacts",
        view.artifacts
            .iter()
            .map(|line| (Style::Normal, artifact(line))),
    );
    builder.fields("gates", gates(view));
    if let Some(journal) = &view.journal
        && journal.refused > 0
    {
        let (refused, run) = (words::count(journal.refused, "refusal"), &view.run);
        let text = format!("{refused}: gatewright history {run}");
        builder.field("refused", Style::Normal, &text);
    }
    let budget: Vec<_> = view.budget.iter().map(BudgetLine::text).collect();
    if !budget.is_empty() {
        builder.field("budget", Style::Normal, &budget.join(", "));
    }
}

/// Every gate with its evidence, where the journal was read; otherwise those that passed.
fn gates(view: &StatusView) -> Vec<(Style, String)> {
    let passed = |stage: &engine::StageName| {
        let mut gates = view.gates.iter();
        let found = gates.find(|(name, _)| name == stage);
        found.map(|(stage, gate)| format!("{stage} passed on {}", words::gate(gate)))
    };
    let Some(journal) = &view.journal else {
        let names = view.gates.iter().map(|(stage, _)| stage);
        return names
            .filter_map(passed)
            .map(|text| (Style::Good, text))
            .collect();
    };
    let reached = journal
        .gates
        .iter()
        .filter(|gate| gate.state != GateState::Open);
    let line = |gate: &GateEvidence| {
        let text =
            passed(&gate.stage).unwrap_or_else(|| format!("{} {}", gate.stage, not_passed(gate)));
        let commands = gate.commands.iter().map(|it| {
            let (command, ended) = (it.command.line(), it.ended.line());
            format!("; {}: {ended}", cut(&command, COMMAND_COLUMNS))
        });
        (gate_style(gate.state), text + &commands.collect::<String>())
    };
    reached.map(line).collect()
}

fn not_passed(gate: &GateEvidence) -> &'static str {
    match gate.state {
        GateState::Overridden => "was skipped by a person",
        GateState::Open
        | GateState::Failed
        | GateState::Holds
        | GateState::Superseded
        | GateState::Stale => "has not passed",
    }
}

fn gate_style(state: GateState) -> Style {
    match state {
        GateState::Open => Style::Dim,
        GateState::Failed | GateState::Overridden => Style::Bad,
        GateState::Holds => Style::Good,
        GateState::Superseded | GateState::Stale => Style::Wait,
    }
}

fn times(builder: &mut TextBuilder, view: &StatusView) {
    let ago = |time, span_text: Seconds| format!("{}, {} ago", rfc3339(time), span(span_text));
    builder.field("started", Style::Dim, &ago(view.started_at, view.age));
    builder.field("updated", Style::Dim, &ago(view.touched_at, view.idle));
}

fn stage(stage: &StageLine) -> String {
    let shown = stage
        .shown
        .as_ref()
        .map(|shown| format!(", shown as {}", shown.line()));
    let retries = stage.retry_limit.map(|limit| {
        format!(
            " · attempt {}, retries {}/{limit}",
            stage.attempt, stage.retries
        )
    });
    let StageLine { name, kind, .. } = stage;
    format!(
        "{name} ({kind}{}){}",
        shown.unwrap_or_default(),
        retries.unwrap_or_default()
    )
}

fn review_text(review: &ReviewLine) -> String {
    let rounds = review
        .rounds
        .map(|rounds| format!("/{rounds}"))
        .unwrap_or_default();
    let agent = review
        .agent
        .as_ref()
        .map_or("nobody", engine::AgentName::as_str);
    let turn = match review.turn {
        Turn::Reviewing { .. } => format!("'{agent}' reviews"),
        Turn::Fixing { reviewer } => {
            format!("'{agent}' fixes what reviewer {} found", reviewer + 1)
        }
        Turn::Spent => "all rounds are used up".to_owned(),
    };
    let approved: Vec<_> = review
        .approved_by
        .iter()
        .map(|agent| format!("'{agent}'"))
        .collect();
    let approved = if approved.is_empty() {
        String::new()
    } else {
        format!("; approved by {}", approved.join(", "))
    };
    format!("round {}{rounds}, {turn}{approved}", review.round)
}

fn steps(steps: &[StepLine]) -> Vec<(Style, String)> {
    let done = steps
        .iter()
        .filter(|step| step.state == MemberState::Done)
        .count();
    let columns = steps
        .iter()
        .map(|step| width(step.step.id.as_str()))
        .max()
        .unwrap_or(0);
    let mut lines = vec![(Style::Normal, format!("{done} of {} done", steps.len()))];
    lines.extend(steps.iter().map(|step| step_line(step, columns)));
    lines
}

fn step_line(line: &StepLine, columns: usize) -> (Style, String) {
    let took = line
        .took
        .map(|took| format!(" {}", span(took)))
        .unwrap_or_default();
    let waits: Vec<_> = line.waits_for.iter().map(engine::StepId::as_str).collect();
    let (style, mark, state) = match &line.state {
        MemberState::Pending if waits.is_empty() => (Style::Wait, "○", "ready".to_owned()),
        MemberState::Pending => (Style::Dim, "·", format!("waits for {}", waits.join(", "))),
        MemberState::Working { dispatch } => {
            (Style::Strong, "●", format!("working{took} ({dispatch})"))
        }
        MemberState::Done => (Style::Good, "✓", format!("done{took}")),
        MemberState::Failed { fault, reason } => (
            Style::Bad,
            "✗",
            format!("{}: {}", fault.word(), crate::safe::line(reason)),
        ),
    };
    let id = pad(line.step.id.as_str(), columns);
    let retries = if line.retries > 0 {
        format!(", retries {}", line.retries)
    } else {
        String::new()
    };
    let title = line.title.line();
    (
        style,
        format!(
            "{mark} {id}  {title} · {} · {state}{retries}",
            line.step.agent
        ),
    )
}

fn dispatch(line: &DispatchLine) -> String {
    let DispatchLine {
        id,
        agent,
        stage,
        attempt,
        ..
    } = line;
    let (duty, running) = (words::duty(&line.duty), span(line.running_for));
    let service = line.service.as_ref().map(ToString::to_string);
    let service = service.map_or_else(String::new, |it| format!(" by {}", crate::safe::line(&it)));
    let rests = if line.rests { ", rests" } else { "" };
    let last = line.sign.as_ref().zip(line.silent_for);
    let last = last.map_or_else(String::new, |(sign, ago)| last_sign(sign, ago));
    format!(
        "{id} '{agent}'{duty} in {stage}{service}, attempt {attempt}, for {running}{rests}{last}"
    )
}

/// What a worker did last, and how long ago.
fn last_sign(sign: &WorkerSign, ago: Seconds) -> String {
    let did = sign.tool.as_ref().or(sign.words.as_ref());
    match did {
        Some(did) => format!("; {} ago: {}", span(ago), cut(&did.line(), COMMAND_COLUMNS)),
        None => format!("; silent for {}", span(ago)),
    }
}

fn artifact(line: &ArtifactLine) -> String {
    let by = line
        .dispatch
        .map(|id| format!(" by {id}"))
        .unwrap_or_default();
    let approval = match line.approval {
        Approval::None => "",
        Approval::Approved => ", approved",
        Approval::Stale => ", approved with other content",
    };
    format!(
        "{} {}{by}{approval}",
        line.name,
        words::short(&line.content)
    )
}
