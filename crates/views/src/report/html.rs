//! A report as one HTML page: no script, nothing from elsewhere, to attach to a pull request.
//!
//! Invariant: every text of a definition, a run or an agent passes `escaped` or `escaped_block`.

use std::fmt::Write as _;

use super::html_parts::{gates, moment, remarks, stages};
use super::{JournalIntegrity, Promise, PromiseState, ReportView};
use crate::html::{escaped, escaped_block};
use crate::status::{BypassLine, OverrideLine, UnguardedLine, outside_words, unjudged_words};
use crate::time::span;
use crate::words;

const STYLE: &str = include_str!("style.css");

pub(super) fn render(view: &ReportView) -> String {
    let title = format!(
        "{} · {} · {}",
        escaped(view.status.run.as_str()),
        escaped(view.status.pipeline.as_str()),
        escaped(&view.verdict.title)
    );
    let parts = [
        verdict(view),
        alarm(view),
        section("proved", "Proved", &promises(view)),
        section("gates", "Gates", &gates(&view.journal.gates)),
        section("people", "People", &remarks(view.acts())),
        section("marks", "Needs attention", &remarks(view.marks())),
        figures(view),
        section("stages", "Stages", &stages(view)),
        section("cost", "Cost", &cost(view)),
        section("chain", "Chain", &chain(view)),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{}\
         <footer>Written by Gatewright from the journal of the run. Texts of agents are shown as text.</footer>\n\
         </main>\n</body>\n</html>\n",
        parts.concat()
    )
}

fn section(id: &str, title: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{body}</section>\n")
}

/// The answer first: how it ended, for which task, and what it took.
fn verdict(view: &ReportView) -> String {
    let (status, verdict) = (&view.status, &view.verdict);
    let (tone, mark) = (verdict.tone.word(), verdict.tone.mark());
    let facts = verdict
        .facts
        .iter()
        .map(|fact| format!("<li>{}</li>", escaped(fact)));
    let facts: String = facts.collect();
    let task = status.task.raw().trim();
    let (first, rest) = task.split_once('\n').unwrap_or((task, ""));
    let rest = match rest.trim() {
        "" => String::new(),
        rest => format!("<p class=\"task\">{}</p>\n", escaped_block(rest)),
    };
    format!(
        "<header class=\"card verdict {tone}\">\n<p class=\"top\"><span class=\"badge\">{mark} {}</span>\
         <span class=\"soft\"><span class=\"mono\">{}</span> · {}</span></p>\n\
         <h1>{}</h1>\n{rest}<ul class=\"facts soft\">{facts}</ul>\n<dl class=\"meta\">{}</dl>\n</header>\n",
        escaped(&verdict.title),
        escaped(status.run.as_str()),
        escaped(status.pipeline.as_str()),
        escaped(first),
        meta(view)
    )
}

fn meta(view: &ReportView) -> String {
    let status = &view.status;
    let rows = [
        ("project", status.project.line()),
        ("driver", status.driver_text().to_owned()),
        ("started", moment(status.started_at)),
        ("last event", moment(status.touched_at)),
        ("stage", status.stage.name.to_string()),
        ("definition", words::short(&status.definition)),
    ];
    let params = status.params.iter();
    let params = params.map(|(name, value)| (name.as_str(), value.line()));
    let rows = rows.into_iter().chain(params).map(|(name, value)| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>",
            escaped(name),
            escaped(&value)
        )
    });
    rows.collect()
}

/// What was promised and not kept or not seen, in front of all else.
fn alarm(view: &ReportView) -> String {
    let status = &view.status;
    let damage = match &view.integrity {
        JournalIntegrity::Damaged(what) => Some(format!("DAMAGED: {}", what.line())),
        JournalIntegrity::NotVerified | JournalIntegrity::Intact => None,
    };
    let lines = damage
        .into_iter()
        .chain(status.overrides.iter().map(OverrideLine::text))
        .chain(status.bypass.iter().map(BypassLine::text))
        .chain((status.unjudged > 0).then(|| unjudged_words(status.unjudged)))
        .chain(status.unguarded.iter().map(UnguardedLine::text))
        .chain((status.outside > 0).then(|| outside_words(status.outside)));
    let lines: String = lines
        .map(|line| format!("<li>{}</li>", escaped(&line)))
        .collect();
    if lines.is_empty() {
        return lines;
    }
    format!("<div class=\"alarm\" role=\"note\"><ul>{lines}</ul></div>\n")
}

fn promises(view: &ReportView) -> String {
    let row = |promise: &Promise| {
        let (tone, sign, why) = match &promise.state {
            PromiseState::Kept => ("good", "✓", None),
            PromiseState::Weakened { why } => ("marked", "!", Some(*why)),
        };
        let why = why.map_or_else(String::new, |why| {
            format!("<div class=\"more marked\">{}</div>", escaped(why))
        });
        format!(
            "<li><div class=\"row\"><span class=\"sign {tone}\">{sign}</span>\
             <span class=\"name\">{}</span><span></span>\
             <div class=\"more soft\">{}</div>{why}</div></li>\n",
            escaped(promise.name.raw()),
            escaped(promise.claim.raw())
        )
    };
    let rows: String = view.promises.iter().map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("<ul class=\"card rows\">\n{rows}</ul>\n")
}

/// The pictures, in the order in which they were added.
fn figures(view: &ReportView) -> String {
    let figure = |figure: &super::Figure| {
        let body = format!("<figure class=\"card\">{}</figure>\n", figure.svg);
        section("picture", figure.title, &body)
    };
    view.figures.iter().map(figure).collect()
}

fn cost(view: &ReportView) -> String {
    if view.agents.is_empty() {
        return String::new();
    }
    let cell = |value: u64| match value {
        0 => "–".to_owned(),
        value => value.to_string(),
    };
    let mut rows = String::new();
    for total in &view.agents {
        let cost = match total.usage.cost_cents {
            0 => "–".to_owned(),
            _ => engine::cost_text(&total.usage),
        };
        let _ = writeln!(
            rows,
            "<tr><td class=\"name\">{}</td><td class=\"num\" data-name=\"attempts\">{}</td>\
             <td class=\"num\" data-name=\"time\">{}</td><td class=\"num\" data-name=\"turns\">{}</td>\
             <td class=\"num\" data-name=\"tokens\">{}</td><td class=\"num\" data-name=\"cost\">{cost}</td></tr>",
            escaped(total.agent.as_str()),
            total.attempts,
            span(total.time),
            cell(total.usage.turns),
            cell(total.usage.tokens),
        );
    }
    format!(
        "<div class=\"card table\"><table><thead><tr><th>agent</th><th class=\"num\">attempts</th><th class=\"num\">time</th>\
         <th class=\"num\">turns</th><th class=\"num\">tokens</th><th class=\"num\">cost</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn chain(view: &ReportView) -> String {
    let journal = &view.journal;
    let (tone, state) = match &view.integrity {
        JournalIntegrity::Intact => ("good", "✓ intact when this page was written"),
        JournalIntegrity::NotVerified => ("soft", "not verified when this page was written"),
        JournalIntegrity::Damaged(_) => ("bad", "✗ DAMAGED"),
    };
    let head = journal.head.map_or_else(String::new, |head| {
        format!("<p class=\"soft\">head of the hash chain</p><pre>{head}</pre>\n")
    });
    format!(
        "<div class=\"card chain\">\n<p>{} · <span class=\"{tone}\">{state}</span></p>\n{head}\
         <p class=\"soft\">check it yourself</p><pre>{}</pre>\n</div>\n",
        words::entries(journal.entries),
        escaped(&view.verified_by())
    )
}
