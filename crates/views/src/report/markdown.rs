//! A report as Markdown, for a comment or the file that a run leaves.

use super::gather::{place, worked};
use super::reviews::GateReviews;
use super::text::{failed_words, gate_words, output_end, short_command};
use super::{JournalIntegrity, PromiseState, ReportView};
use crate::facts::{Attempt, CommandEvidence, GateEvidence, GateState, Remark, Visit};
use crate::markdown::{escaped, fenced, quoted};
use crate::time::{duration, span};
use crate::words::{self, short};

/// How many of the latest remarks of a section are shown.
const MOST_SHOWN: usize = 50;

/// How many of the latest stays in stages.
const MOST_VISITS: usize = 200;

pub(super) fn render(view: &ReportView) -> String {
    let sections = [
        head(view),
        section("Task", vec![quoted(view.status.task.raw())]),
        section("Proved", promises(view)),
        section("Gates", gates(view)),
        section("People", remarks(view.acts())),
        section("Needs attention", remarks(view.marks())),
        section("Stages", stages(view)),
        section("Cost", cost(view)),
        section("Artifacts", left(view)),
        section("Chain", chain(view)),
    ];
    let sections = sections.into_iter().filter(|section| !section.is_empty());
    sections.collect::<Vec<_>>().join("\n")
}

fn section(title: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        String::new()
    } else {
        format!("## {title}\n\n{}\n", lines.join("\n"))
    }
}

fn head(view: &ReportView) -> String {
    let (status, verdict) = (&view.status, &view.verdict);
    let title = format!(
        "# {} {} of {} is {}\n",
        verdict.tone.mark(),
        escaped(status.run.as_str()),
        escaped(status.pipeline.as_str()),
        escaped(&verdict.title)
    );
    let facts = escaped(&verdict.facts.join(" · "));
    let loud = crate::summary::warnings(status);
    format!("{title}\n{facts}\n\n{loud}")
}

fn promises(view: &ReportView) -> Vec<String> {
    let line = |promise: &super::Promise| {
        let (name, claim) = (escaped(promise.name.raw()), escaped(promise.claim.raw()));
        match &promise.state {
            PromiseState::Kept => format!("- ✓ **{name}**: {claim}"),
            PromiseState::Weakened { why } => format!("- ! **{name}**: {claim}; **{why}**"),
        }
    };
    view.promises.iter().map(line).collect()
}

fn gates(view: &ReportView) -> Vec<String> {
    let reached = view.journal.gates.iter();
    let reached = reached.filter(|gate| gate.state != GateState::Open);
    reached.flat_map(gate).collect()
}

fn gate(gate: &GateEvidence) -> Vec<String> {
    let (mark, state) = gate_words(gate.state);
    let subject = gate.subject.as_ref();
    let subject = subject.map_or_else(String::new, |hash| {
        format!(", {} `{}`", escaped(gate.subject_name()), short(hash))
    });
    let entry = gate
        .entry
        .map_or_else(String::new, |it| format!(", entry {it}"));
    let name = escaped(gate.stage.as_str());
    let mut lines = vec![format!("- {mark} **{name}** {state}{subject}{entry}")];
    for command in &gate.commands {
        lines.push(format!("  - {}", command_words(command)));
        if gate.state == GateState::Failed {
            lines.extend(output(command));
        }
    }
    lines.extend(failed_words(gate).map(|words| format!("  - {words}")));
    for failure in &gate.failures {
        for command in &failure.commands {
            let words = command_words(command);
            lines.push(format!("  - ✗ {words}, entry {}", failure.entry));
            lines.extend(output(command));
        }
    }
    let reviews = GateReviews::of(gate);
    let earlier = reviews.earlier_words();
    lines.extend(earlier.map(|words| format!("  - {words}")));
    lines.extend(reviews.shown.iter().map(|review| {
        let agent = review.agent.as_ref();
        let agent = agent.map_or_else(String::new, |agent| {
            format!(" '{}'", escaped(agent.as_str()))
        });
        let said = match &review.approved {
            Some(subject) => format!("approved `{}`", short(subject)),
            None => "found problems".to_owned(),
        };
        format!(
            "  - reviewer {}{agent} {said}, entry {}",
            review.reviewer, review.entry
        )
    }));
    lines
}

fn command_words(command: &CommandEvidence) -> String {
    let (text, ended) = (
        escaped(&short_command(command)),
        escaped(command.ended.raw()),
    );
    format!("{text}: {ended}, {}", duration(command.duration_ms))
}

fn output(command: &CommandEvidence) -> Option<String> {
    let end = output_end(command);
    (!end.trim().is_empty()).then(|| fenced(&end, 4))
}

fn remarks<'r>(remarks: impl Iterator<Item = &'r Remark>) -> Vec<String> {
    let remarks: Vec<&Remark> = remarks.collect();
    let dropped = remarks.len().saturating_sub(MOST_SHOWN);
    let earlier = (dropped > 0).then(|| format!("- ({dropped} earlier ones are in the history)"));
    let lines = remarks.into_iter().skip(dropped).map(|remark| {
        let (text, place) = (escaped(remark.text.raw()), escaped(&place(remark)));
        format!("- {text} — {place}")
    });
    earlier.into_iter().chain(lines).collect()
}

fn stages(view: &ReportView) -> Vec<String> {
    let visits = &view.journal.visits;
    let cut = visits.len().saturating_sub(MOST_VISITS);
    let dropped = view.journal.visits_dropped + cut as u64;
    let mut lines = vec![
        "| stage | took | outcome | work |".to_owned(),
        "| --- | --- | --- | --- |".to_owned(),
    ];
    if dropped > 0 {
        lines.push(format!(
            "| ({dropped} earlier ones are in the history) | | | |"
        ));
    }
    lines.extend(visits.iter().skip(cut).map(|it| visit(view, it)));
    lines
}

fn visit(view: &ReportView, visit: &Visit) -> String {
    let (took, outcome) = match &visit.left {
        Some(left) => (
            span(left.at.since(visit.entered_at)),
            format!("{} → {}", escaped(&left.outcome), escaped(left.to.as_str())),
        ),
        None if view.is_over() => ("–".to_owned(), "the end".to_owned()),
        None => ("–".to_owned(), "here".to_owned()),
    };
    let checks = visit.checks.iter().map(|check| {
        let (verdict, took) = (check.verdict.word(), duration(check.duration_ms));
        format!("commands {verdict} in {took}")
    });
    let attempts = visit.attempts.iter().map(|it| attempt(view, it));
    let work: Vec<String> = attempts.chain(checks).collect();
    let stage = escaped(visit.stage.as_str());
    format!("| {stage} | {took} | {outcome} | {} |", work.join("<br>"))
}

fn attempt(view: &ReportView, attempt: &Attempt) -> String {
    let end = match &attempt.end {
        Some(end) => format!("{} after {}", escaped(end.word()), span(worked(attempt))),
        None => "at work".to_owned(),
    };
    let duty = escaped(&words::duty(&attempt.duty));
    let duty = if duty.is_empty() {
        duty
    } else {
        format!(" {duty}")
    };
    let change = view.changes.get(&attempt.dispatch);
    let change = change.map_or_else(String::new, |it| format!(" ({})", it.text()));
    format!("'{}'{duty}: {end}{change}", escaped(attempt.agent.as_str()))
}

fn cost(view: &ReportView) -> Vec<String> {
    let status = &view.status;
    let took = span(status.took());
    let used = words::usage(&status.used);
    let used = if used.is_empty() {
        used
    } else {
        format!(", {used}")
    };
    let whole = format!("- in all {took}{used}");
    let each = view.agents.iter().map(|total| {
        let (attempts, time) = (words::count(total.attempts, "attempt"), span(total.time));
        let used = words::usage(&total.usage);
        let used = if used.is_empty() {
            used
        } else {
            format!(", {used}")
        };
        let agent = escaped(total.agent.as_str());
        format!("- '{agent}': {attempts}, {time}{used}")
    });
    [whole].into_iter().chain(each).collect()
}

fn left(view: &ReportView) -> Vec<String> {
    let artifacts = view.status.artifacts.iter();
    artifacts
        .map(|it| format!("- {} `{}`", escaped(it.name.as_str()), it.content))
        .collect()
}

fn chain(view: &ReportView) -> Vec<String> {
    let (run, journal) = (&view.status.run, &view.journal);
    let head = journal.head.map(|head| format!("- head `{head}`"));
    let state = match &view.integrity {
        JournalIntegrity::NotVerified => "not verified here".to_owned(),
        JournalIntegrity::Intact => "✓ intact".to_owned(),
        JournalIntegrity::Damaged(what) => format!("**✗ DAMAGED: {}**", escaped(what.raw())),
    };
    let entries = format!("- {}, {state}", words::entries(journal.entries));
    let places = [
        ("verify", "checks that nobody has changed the history"),
        ("history", "shows every step, and `why` explains it"),
        ("export", "writes the whole run with its artifacts"),
    ]
    .map(|(command, shows)| format!("- `gatewright {command} {run}` {shows}"));
    [entries].into_iter().chain(head).chain(places).collect()
}
