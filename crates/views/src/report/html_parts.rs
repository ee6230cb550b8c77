//! The longer parts of a report's HTML page: gates with their evidence, remarks, and stages with their attempts.

use std::fmt::Write as _;

use engine::{CheckVerdict, Seconds, Status, Time};

use super::ReportView;
use super::gather::worked;
use super::reviews::GateReviews;
use super::text::{failed_words, gate_words, output_end, short_command};
use crate::facts::{
    Attempt, CommandEvidence, GateEvidence, GateState, Remark, RemarkKind, ReviewEvidence, Visit,
};
use crate::html::{escaped, escaped_block};
use crate::time::{duration, rfc3339, span};
use crate::words::{self, short};

/// How many of the latest remarks of a section are shown.
const MOST_SHOWN: usize = 100;

/// How many of the latest stays in stages.
const MOST_VISITS: usize = 300;

pub(super) fn gates(gates: &[GateEvidence]) -> String {
    let rows: String = gates.iter().map(gate).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("<ul class=\"card rows\">\n{rows}</ul>\n")
}

fn gate(gate: &GateEvidence) -> String {
    let (sign, state) = gate_words(gate.state);
    let tone = match gate.state {
        GateState::Holds | GateState::Superseded => "good",
        GateState::Failed => "bad",
        GateState::Stale | GateState::Overridden => "marked",
        GateState::Open => "soft",
    };
    let subject = gate.subject.as_ref().map(|hash| {
        let hash = short(hash);
        format!("{} <code>{hash}</code>", escaped(gate.subject_name()))
    });
    let entry = gate.entry.map(|entry| format!("entry {entry}"));
    let place: Vec<String> = subject.into_iter().chain(entry).collect();
    let name = escaped(gate.stage.as_str());
    let (kind, place) = (gate.kind, place.join(" · "));
    format!(
        "<li><div class=\"row\"><span class=\"sign {tone}\">{sign}</span>\
         <span><span class=\"name\">{name}</span> <span class=\"soft\">{kind} · {state}</span></span>\
         <span class=\"place\">{place}</span>{}</div></li>\n",
        evidence(gate)
    )
}

fn evidence(gate: &GateEvidence) -> String {
    let commands = gate.commands.iter();
    let commands = commands.map(|it| command(it, gate.state == GateState::Failed, None));
    let failed = failed_words(gate);
    let failed = failed.map(|words| format!("<li class=\"soft\">{words}</li>"));
    let failures = gate.failures.iter().flat_map(|failure| {
        let commands = failure.commands.iter();
        commands.map(|it| command(it, true, Some(failure.entry)))
    });
    let reviews = GateReviews::of(gate);
    let earlier = reviews.earlier_words();
    let earlier = earlier.map(|words| format!("<li class=\"soft\">{words}</li>"));
    let reviews = reviews.shown.into_iter().map(review);
    let lines = commands.chain(failed).chain(failures);
    let lines = lines.chain(earlier).chain(reviews);
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!("<ul class=\"commands more\">{lines}</ul>")
}

fn command(command: &CommandEvidence, with_output: bool, entry: Option<u64>) -> String {
    let tone = if command.exit == Some(0) {
        "good"
    } else {
        "bad"
    };
    let mut text = format!(
        "<li><code>{}</code> <span class=\"chip {tone}\">{}</span> <span class=\"soft\">{}</span>",
        escaped(&short_command(command)),
        escaped(command.ended.raw()),
        duration(command.duration_ms)
    );
    if let Some(entry) = entry {
        let _ = write!(text, " <span class=\"soft\">· entry {entry}</span>");
    }
    let output = output_end(command);
    if with_output && !output.trim().is_empty() {
        let _ = write!(text, "<pre>{}</pre>", escaped_block(&output));
    }
    text.push_str("</li>");
    text
}

fn review(review: &ReviewEvidence) -> String {
    let agent = review.agent.as_ref().map(|agent| escaped(agent.as_str()));
    let agent = agent.unwrap_or_else(|| format!("reviewer {}", review.reviewer));
    let (tone, said) = match &review.approved {
        Some(subject) => ("good", format!("approved {}", short(subject))),
        None => ("marked", "found problems".to_owned()),
    };
    format!(
        "<li>{agent} <span class=\"chip {tone}\">{said}</span> <span class=\"soft\">entry {}</span></li>",
        review.entry
    )
}

/// `2026-08-22 10:31:07 UTC`.
pub(super) fn moment(time: Time) -> String {
    rfc3339(time).replace('T', " ").replace('Z', " UTC")
}

pub(super) fn remarks<'r>(remarks: impl Iterator<Item = &'r Remark>) -> String {
    let remarks: Vec<&Remark> = remarks.collect();
    if remarks.is_empty() {
        return String::new();
    }
    let dropped = remarks.len().saturating_sub(MOST_SHOWN);
    let earlier = if dropped > 0 {
        format!("<li class=\"soft\">{dropped} earlier ones are in the history</li>\n")
    } else {
        String::new()
    };
    let rows: String = remarks.into_iter().skip(dropped).map(remark).collect();
    format!("<ul class=\"card rows\">\n{earlier}{rows}</ul>\n")
}

fn remark(remark: &Remark) -> String {
    let (tone, sign) = match remark.kind {
        RemarkKind::Person => ("soft", "→"),
        RemarkKind::Refused => ("bad", "✗"),
        RemarkKind::Overridden
        | RemarkKind::Bypassed
        | RemarkKind::Unjudged
        | RemarkKind::Unguarded
        | RemarkKind::Outside
        | RemarkKind::Warned => ("marked", "!"),
    };
    format!(
        "<li id=\"entry-{}\"><div class=\"row\"><span class=\"sign {tone}\">{sign}</span>\
         <span>{}</span><span class=\"place\">{}</span>\
         <div class=\"more soft\">{}</div></div></li>\n",
        remark.number,
        escaped(remark.text.raw()),
        escaped(remark.rule),
        escaped(&format!(
            "{} · {} · entry {}",
            remark.by.line(),
            moment(remark.at),
            remark.number
        ))
    )
}

pub(super) fn stages(view: &ReportView) -> String {
    let visits = &view.journal.visits;
    let cut = visits.len().saturating_sub(MOST_VISITS);
    let dropped = view.journal.visits_dropped + cut as u64;
    let earlier = if dropped > 0 {
        format!(
            "<tr><td class=\"soft\" colspan=\"4\">{dropped} earlier ones are in the history</td></tr>\n"
        )
    } else {
        String::new()
    };
    let visits = visits.iter().skip(cut);
    let from = visits
        .clone()
        .next()
        .map_or(view.status.started_at, |it| it.entered_at);
    let range = Range {
        from,
        length: view.status.until().since(from).0.max(1),
        now: view.status.until(),
        last: match view.status.status {
            Status::Completed | Status::Failed | Status::Cancelled => "the end",
            Status::Queued | Status::Running | Status::Waiting(_) => "here",
        },
    };
    let rows: String = visits.map(|it| visit(view, it, &range)).collect();
    format!(
        "<div class=\"card table\"><table><thead><tr><th>stage</th><th>work</th><th>outcome</th><th class=\"num\">took</th></tr></thead>\n\
         <tbody>\n{earlier}{rows}</tbody></table></div>\n"
    )
}

/// The time that the bars show.
struct Range {
    from: Time,
    /// In seconds.
    length: u64,
    now: Time,
    /// What the present stay is.
    last: &'static str,
}

impl Range {
    /// Where a bar begins, and how long it is, in thousandths.
    fn bar(&self, from: Time, to: Time) -> (u64, u64) {
        let part = |span: Seconds| (span.0 * 1_000 / self.length).min(1_000);
        (part(from.since(self.from)), part(to.since(from)))
    }
}

fn visit(view: &ReportView, visit: &Visit, range: &Range) -> String {
    let until = visit.left.as_ref().map_or(range.now, |left| left.at);
    let took = span(until.since(visit.entered_at));
    let outcome = match &visit.left {
        Some(left) => format!(
            "{} <span class=\"soft\">→ {}</span>",
            escaped(&left.outcome),
            escaped(left.to.as_str())
        ),
        None => format!("<span class=\"soft\">{}</span>", range.last),
    };
    let again = match visit.number {
        1 => String::new(),
        number => format!(" <span class=\"soft\">visit {number}</span>"),
    };
    let (at, size) = range.bar(visit.entered_at, until);
    format!(
        "<tr><td><span class=\"name\">{}</span>{again}<div class=\"track\" title=\"{}\">\
         <i style=\"--from:{};--size:{}\"></i></div></td>\
         <td>{}</td><td>{outcome}</td><td class=\"num\" data-name=\"took\">{took}</td></tr>\n",
        escaped(visit.stage.as_str()),
        rfc3339(visit.entered_at),
        percent(at),
        percent(size),
        work(view, visit)
    )
}

fn percent(thousandths: u64) -> String {
    format!("{}.{}%", thousandths / 10, thousandths % 10)
}

fn work(view: &ReportView, visit: &Visit) -> String {
    let checks = visit.checks.iter().map(|check| {
        let (verdict, took) = (check.verdict.word(), duration(check.duration_ms));
        let tone = match check.verdict {
            CheckVerdict::Passed => "good",
            CheckVerdict::Failed => "bad",
            CheckVerdict::Void => "marked",
        };
        format!("<li>commands <span class=\"chip {tone}\">{verdict}, {took}</span></li>")
    });
    let attempts = visit.attempts.iter().map(|it| attempt(view, it));
    let lines: String = attempts.chain(checks).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("<ul class=\"work\">{lines}</ul>")
}

fn attempt(view: &ReportView, attempt: &Attempt) -> String {
    let (tone, end) = match &attempt.end {
        Some(end) => {
            let tone = match end.result {
                engine::WorkResult::Outcome(_) => "",
                engine::WorkResult::Fault { .. } => "bad",
                engine::WorkResult::Late | engine::WorkResult::Dropped => "marked",
            };
            (tone, format!("{}, {}", end.word(), span(worked(attempt))))
        }
        None => ("open", "at work".to_owned()),
    };
    let change = view.changes.get(&attempt.dispatch);
    let change = change.map_or_else(String::new, |it| {
        format!(" <span class=\"mono\">{}</span>", it.text())
    });
    let duty = words::duty(&attempt.duty);
    let service = attempt.service.as_ref().map(ToString::to_string);
    let service = service.map_or_else(String::new, |it| format!(" · {}", escaped(&it)));
    format!(
        "<li>{}{}{service} <span class=\"chip {tone}\">{}</span>{change}</li>",
        escaped(attempt.agent.as_str()),
        if duty.is_empty() {
            String::new()
        } else {
            format!(" {}", escaped(&duty))
        },
        escaped(&end)
    )
}
