//! A report for a terminal: the story of the run.

use super::gather::{place, worked};
use super::reviews::GateReviews;
use super::{JournalIntegrity, PromiseState, ReportView, Tone};
use crate::facts::{Attempt, CommandEvidence, GateEvidence, GateState, Liveness, Remark, Visit};
use crate::layout::{TextBuilder, cut, pad, width};
use crate::paint::{Paint, Style};
use crate::time::{duration, span};
use crate::words::{self, short};

/// How many of the latest remarks of a section are shown.
const MOST_SHOWN: usize = 30;

/// How many of the latest stays in stages.
const MOST_VISITS: usize = 200;

/// A longer command is cut.
const COMMAND_COLUMNS: usize = 70;

/// Where no program told what it used.
const NO_USAGE: &str = "no usage reported";

/// On a page there is more room.
const PAGE_COMMAND_COLUMNS: usize = 300;

/// How many lines of the output of a command that failed.
const TAIL_LINES: usize = 12;

/// The end of the output of a command, for every form of the report.
pub(super) fn output_end(command: &CommandEvidence) -> String {
    let tail = command.tail.block();
    let tail = tail.trim_end();
    let first = tail.lines().count().saturating_sub(TAIL_LINES);
    let lines: Vec<&str> = tail.lines().skip(first).collect();
    lines.join("\n")
}

/// The command on one line, for a page.
pub(super) fn short_command(command: &CommandEvidence) -> String {
    cut(&command.command.line(), PAGE_COMMAND_COLUMNS)
}

/// `failed 4 times before; the latest 3:`.
pub(super) fn failed_words(gate: &GateEvidence) -> Option<String> {
    let shown = gate.failures.len() as u64;
    let times = match gate.failed_before {
        0 => return None,
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    };
    Some(if shown < gate.failed_before {
        format!("failed {times} before; the latest {shown}:")
    } else {
        format!("failed {times} before:")
    })
}

pub(super) fn render(view: &ReportView, paint: Paint) -> String {
    let mut builder = TextBuilder::new(paint);
    head(&mut builder, view);
    promises(&mut builder, view);
    gates(&mut builder, view);
    section(&mut builder, "people", view.acts(), Style::Normal);
    section(
        &mut builder,
        "not to be overlooked",
        view.marks(),
        Style::Bad,
    );
    stages(&mut builder, view);
    cost(&mut builder, view);
    chain(&mut builder, view);
    builder.finish()
}

/// The verdict and the evidence. A commit has the task, and its message no sign of good or bad news.
pub(super) fn commit(view: &ReportView) -> String {
    let mut builder = TextBuilder::new(Paint::Plain);
    let (status, verdict) = (&view.status, &view.verdict);
    let facts = verdict.facts.join(" · ");
    let title = format!("{} of {}: {}", status.run, status.pipeline, verdict.title);
    builder.line(Style::Normal, &title);
    builder.line(Style::Normal, &facts);
    promises(&mut builder, view);
    gates(&mut builder, view);
    section(&mut builder, "people", view.acts(), Style::Normal);
    let marks = view.marks();
    section(&mut builder, "not to be overlooked", marks, Style::Bad);
    cost(&mut builder, view);
    builder.finish()
}

fn tone_style(tone: Tone) -> Style {
    match tone {
        Tone::Good => Style::Good,
        Tone::Marked => Style::Wait,
        Tone::Bad => Style::Bad,
        Tone::Open => Style::Strong,
    }
}

fn head(builder: &mut TextBuilder, view: &ReportView) {
    let (status, verdict) = (&view.status, &view.verdict);
    let mark = verdict.tone.mark();
    let title = format!(
        "{mark} {} · {} · {}",
        status.run, status.pipeline, verdict.title
    );
    builder.line(tone_style(verdict.tone), &title);
    builder.line(Style::Normal, &format!("  {}", verdict.facts.join(" · ")));
    builder.field("task", Style::Normal, &status.task.line());
    builder.field("project", Style::Dim, &status.project.line());
    builder.field("driver", Style::Dim, status.driver_text());
    if let Some(liveness) = status.liveness.filter(|it| *it != Liveness::Over) {
        let text = format!("{} {}", liveness.mark(), liveness.text());
        builder.field("alive", liveness.style(), &text);
    }
}

fn heading(builder: &mut TextBuilder, title: &str) {
    builder.blank();
    builder.line(Style::Strong, title);
}

fn promises(builder: &mut TextBuilder, view: &ReportView) {
    if view.promises.is_empty() {
        return;
    }
    heading(builder, "proved");
    for promise in &view.promises {
        let (name, claim) = (promise.name.line(), promise.claim.line());
        match &promise.state {
            PromiseState::Kept => builder.line(Style::Good, &format!("  ✓ {name}")),
            PromiseState::Weakened { why } => {
                builder.line(Style::Wait, &format!("  ! {name}; {why}"));
            }
        }
        builder.line(Style::Dim, &format!("      {claim}"));
    }
}

fn gates(builder: &mut TextBuilder, view: &ReportView) {
    let reached = view.journal.gates.iter();
    let reached: Vec<_> = reached.filter(|it| it.state != GateState::Open).collect();
    if reached.is_empty() {
        return;
    }
    heading(builder, "gates");
    for gate in reached {
        gate_lines(builder, gate);
    }
}

pub(super) fn gate_words(state: GateState) -> (&'static str, &'static str) {
    match state {
        GateState::Open => ("○", "no verdict"),
        GateState::Failed => ("✗", "not passed"),
        GateState::Holds => ("✓", "passed"),
        GateState::Superseded => ("✓", "passed, and followed by more work"),
        GateState::Stale => ("!", "passed on other content"),
        GateState::Overridden => ("!", "skipped by a person"),
    }
}

fn gate_lines(builder: &mut TextBuilder, gate: &GateEvidence) {
    let (mark, state) = gate_words(gate.state);
    let style = match gate.state {
        GateState::Holds | GateState::Superseded => Style::Good,
        GateState::Failed | GateState::Overridden => Style::Bad,
        GateState::Stale => Style::Wait,
        GateState::Open => Style::Dim,
    };
    let subject = gate.subject.as_ref();
    let subject = subject.map_or_else(String::new, |hash| {
        format!(" · {} {}", gate.subject_name(), short(hash))
    });
    let entry = gate
        .entry
        .map_or_else(String::new, |it| format!(" · entry {it}"));
    let line = format!("  {mark} {} {state}{subject}{entry}", gate.stage);
    builder.line(style, &line);
    for command in &gate.commands {
        builder.line(Style::Normal, &format!("      {}", command_words(command)));
        if gate.state == GateState::Failed {
            builder.block(8, Style::Dim, &output_end(command));
        }
    }
    if let Some(words) = failed_words(gate) {
        builder.line(Style::Normal, &format!("      {words}"));
    }
    for failure in &gate.failures {
        for command in &failure.commands {
            let line = format!(
                "      ✗ {} · entry {}",
                command_words(command),
                failure.entry
            );
            builder.line(Style::Normal, &line);
            builder.block(8, Style::Dim, &output_end(command));
        }
    }
    let reviews = GateReviews::of(gate);
    if let Some(words) = reviews.earlier_words() {
        builder.line(Style::Dim, &format!("      {words}"));
    }
    for review in reviews.shown {
        let agent = review.agent.as_ref();
        let agent = agent.map_or_else(String::new, |agent| format!(" '{agent}'"));
        let said = match &review.approved {
            Some(subject) => format!("approved {}", short(subject)),
            None => "found problems".to_owned(),
        };
        let line = format!("      reviewer {}{agent} {said}", review.reviewer);
        builder.line(Style::Normal, &format!("{line} · entry {}", review.entry));
    }
}

fn command_words(command: &CommandEvidence) -> String {
    let text = cut(&command.command.line(), COMMAND_COLUMNS);
    let took = duration(command.duration_ms);
    format!("{text}: {}, {took}", command.ended.line())
}

fn section<'r>(
    builder: &mut TextBuilder,
    title: &str,
    remarks: impl Iterator<Item = &'r Remark>,
    style: Style,
) {
    let remarks: Vec<&Remark> = remarks.collect();
    if remarks.is_empty() {
        return;
    }
    heading(builder, title);
    let dropped = remarks.len().saturating_sub(MOST_SHOWN);
    if dropped > 0 {
        builder.line(
            Style::Dim,
            &format!("  ({dropped} earlier ones are in the history)"),
        );
    }
    for remark in remarks.into_iter().skip(dropped) {
        builder.line(style, &format!("  {}", remark.text.line()));
        builder.line(Style::Dim, &format!("      {}", place(remark)));
    }
}

fn stages(builder: &mut TextBuilder, view: &ReportView) {
    heading(builder, "stages");
    let visits = &view.journal.visits;
    let cut = visits.len().saturating_sub(MOST_VISITS);
    let dropped = view.journal.visits_dropped + cut as u64;
    if dropped > 0 {
        builder.line(
            Style::Dim,
            &format!("  ({dropped} earlier ones are in the history)"),
        );
    }
    let columns = visits.iter().map(|it| width(it.stage.as_str())).max();
    for visit in visits.iter().skip(cut) {
        let line = visit_line(view, visit, columns.unwrap_or(0));
        builder.line(Style::Normal, &line);
        for attempt in &visit.attempts {
            let change = view.changes.get(&attempt.dispatch);
            let change = change.map_or_else(String::new, |it| format!(" · {}", it.text()));
            let line = format!("      {}{change}", attempt_line(attempt));
            builder.line(Style::Dim, &line);
        }
    }
}

fn visit_line(view: &ReportView, visit: &Visit, columns: usize) -> String {
    let stage = pad(visit.stage.as_str(), columns);
    match &visit.left {
        Some(left) => {
            let took = span(left.at.since(visit.entered_at));
            let outcome = crate::safe::line(&left.outcome);
            format!("  {stage}  {took} · {outcome} → {}", left.to)
        }
        None if view.is_over() => format!("  {stage}  the end"),
        None => format!(
            "  {stage}  since {}",
            crate::time::rfc3339(visit.entered_at)
        ),
    }
}

/// `'writer' (d3), attempt 2: crashed after 2m, tokens 1200`.
fn attempt_line(attempt: &Attempt) -> String {
    let duty = words::duty(&attempt.duty);
    let end = match &attempt.end {
        Some(end) => format!("{} after {}", end.word(), span(worked(attempt))),
        None => "at work".to_owned(),
    };
    let used = words::usage(&attempt.usage);
    let used = if used.is_empty() {
        used
    } else {
        format!(", {used}")
    };
    let again = match attempt.number {
        1 => String::new(),
        number => format!(", attempt {number}"),
    };
    format!(
        "'{}'{duty} ({}){again}: {end}{used}",
        attempt.agent, attempt.dispatch
    )
}

fn cost(builder: &mut TextBuilder, view: &ReportView) {
    if view.agents.is_empty() {
        return;
    }
    heading(builder, "cost");
    let whole = words::usage(&view.status.used);
    let whole = if whole.is_empty() { NO_USAGE } else { &whole };
    builder.line(Style::Normal, &format!("  in all: {whole}"));
    for total in &view.agents {
        let used = words::usage(&total.usage);
        let used = if used.is_empty() { NO_USAGE } else { &used };
        let (attempts, time) = (words::count(total.attempts, "attempt"), span(total.time));
        builder.line(
            Style::Normal,
            &format!("  '{}': {attempts}, {time}, {used}", total.agent),
        );
    }
}

fn chain(builder: &mut TextBuilder, view: &ReportView) {
    heading(builder, "chain");
    let (entries, head) = (view.journal.entries, view.journal.head);
    let head = head.map_or_else(String::new, |head| format!(", head {head}"));
    builder.line(
        Style::Normal,
        &format!("  {}{head}", words::entries(entries)),
    );
    let verified_by = view.verified_by();
    match &view.integrity {
        JournalIntegrity::Intact => {
            let text = format!("  ✓ intact: `{verified_by}` checks it again");
            builder.line(Style::Good, &text);
        }
        JournalIntegrity::NotVerified => {
            builder.line(Style::Dim, &format!("  `{verified_by}` checks it"));
        }
        JournalIntegrity::Damaged(what) => {
            let text = format!("  ✗ DAMAGED: {}; type `{verified_by}`", what.line());
            builder.line(Style::Bad, &text);
        }
    }
}
