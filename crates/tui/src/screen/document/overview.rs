//! The overview of a run: what it asks, what must not be overlooked, where it is, who works, what was refused.

use engine::{Seconds, Status};
use views::facts::{Liveness, SpineStage, StagePlace};
use views::status::{BudgetLine, DispatchLine, Freshness, OverrideLine};
use views::{Style, cut, pad, width};

use super::bars::{TimeScale, bar};
use super::{DocLine, Piece, heading, question, remark_lines, wrapped};
use crate::age::age;
use crate::event::RunFacts;
use crate::screen::Screen;

/// How many of the latest remarks are shown; the journal has all.
const MOST_REMARKS: usize = 12;

/// Bars with fewer columns say nothing.
const LEAST_BAR: usize = 12;

pub(super) fn lines(screen: &Screen, run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let mut lines = Vec::new();
    if let Some(asks) = &run.status.inbox {
        lines.extend(question::waiting_lines(run, asks, columns));
        lines.push(DocLine::blank());
    }
    let loud = loud(run, columns);
    if !loud.is_empty() {
        lines.extend(loud);
        lines.push(DocLine::blank());
    }
    lines.push(heading("stages"));
    lines.extend(stages(screen, run, columns));
    section(&mut lines, "workers", workers(screen, run, columns));
    section(&mut lines, "refusals and remarks", remarks(run, columns));
    section(&mut lines, "used", used(run, columns));
    lines
}

fn section(lines: &mut Vec<DocLine>, title: &str, content: Vec<DocLine>) {
    if !content.is_empty() {
        lines.push(DocLine::blank());
        lines.push(heading(title));
        lines.extend(content);
    }
}

/// What marks the run, and why nobody works.
fn loud(run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let status = &run.status;
    let mut texts: Vec<(Style, String)> = Vec::new();
    let mut bad = |text: String| texts.push((Style::Bad, format!("! {text}")));
    status
        .overrides
        .iter()
        .map(OverrideLine::text)
        .for_each(&mut bad);
    status.bypass.iter().map(|it| it.text()).for_each(&mut bad);
    if status.unjudged > 0 {
        bad(views::unjudged_words(status.unjudged));
    }
    status
        .unguarded
        .iter()
        .map(|it| it.text())
        .for_each(&mut bad);
    if status.outside > 0 {
        texts.push((Style::Wait, views::outside_words(status.outside)));
    }
    if status.freshness == Freshness::Stale {
        texts.push((
            Style::Wait,
            "STALE: nothing happened for too long".to_owned(),
        ));
    }
    for limit in &status.limits {
        texts.push((
            Style::Wait,
            format!("LIMITED {}", views::limit_words(limit)),
        ));
    }
    if let Some(rest) = &status.rest {
        let style = status.liveness.map_or(Style::Wait, Liveness::style);
        texts.push((style, rest.text(&status.run)));
    } else if let Some((liveness, reason)) = status.liveness.and_then(|it| Some((it, it.reason()?)))
    {
        texts.push((liveness.style(), format!("{reason}{}", help(run, liveness))));
    }
    let texts = texts.into_iter();
    texts
        .flat_map(|(style, text)| wrapped(style, &views::line(&text), columns, 2))
        .collect()
}

/// What to type where the owner is lost.
fn help(run: &RunFacts, liveness: Liveness) -> String {
    match liveness {
        Liveness::OwnerLost { .. } => format!("; type `gatewright resume {}`", run.status.run),
        Liveness::Live { .. }
        | Liveness::Quiet { .. }
        | Liveness::Rests { .. }
        | Liveness::WaitsForYou { .. }
        | Liveness::Queued
        | Liveness::Over => String::new(),
    }
}

fn stages(screen: &Screen, run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let names = run.spine.iter().map(|stage| width(stage.name.as_str()));
    let name_columns = names.max().unwrap_or(0).min(columns / 3);
    let notes = run.spine.iter().map(|stage| width(&note(run, stage)));
    let note_columns = notes.max().unwrap_or(0).min(columns * 2 / 5);
    // Mark, name, kind and note, each with what separates it.
    let used = 2 + name_columns + 1 + 6 + 1 + note_columns + 1;
    let bar_columns = columns.saturating_sub(used);
    let rows = run.spine.iter().map(|stage| {
        let mut pieces = vec![
            Piece::new(place_style(stage.place), format!("{} ", stage.place.mark())),
            Piece::new(
                name_style(stage.place),
                format!(
                    "{} ",
                    pad(&cut(stage.name.as_str(), name_columns), name_columns)
                ),
            ),
            Piece::new(Style::Dim, format!("{:<6} ", stage.kind)),
            Piece::new(
                Style::Normal,
                format!(
                    "{} ",
                    pad(&cut(&note(run, stage), note_columns), note_columns)
                ),
            ),
        ];
        if bar_columns >= LEAST_BAR {
            pieces.push(Piece::new(
                place_style(stage.place),
                stage_bar(screen, run, stage, bar_columns),
            ));
        }
        DocLine::of(pieces)
    });
    rows.collect()
}

fn stage_bar(screen: &Screen, run: &RunFacts, stage: &SpineStage, columns: usize) -> String {
    let Some(journal) = &run.status.journal else {
        return String::new();
    };
    let to = match run.status.status {
        Status::Completed | Status::Failed | Status::Cancelled => run.status.until(),
        // In whole minutes, so that an idle screen stays as it is.
        Status::Queued | Status::Running | Status::Waiting(_) => {
            let minute = engine::Time(screen.now.0 / 60_000 * 60_000);
            minute.max(run.status.touched_at)
        }
    };
    let scale = TimeScale::new(run.status.started_at, to, columns);
    bar(journal, &stage.name, stage.asks, &scale)
}

fn place_style(place: StagePlace) -> Style {
    match place {
        StagePlace::Passed | StagePlace::Completed => Style::Good,
        StagePlace::Here => Style::Strong,
        StagePlace::Ahead => Style::Dim,
        StagePlace::Ended => Style::Bad,
    }
}

fn name_style(place: StagePlace) -> Style {
    match place {
        StagePlace::Here => Style::Strong,
        StagePlace::Ahead => Style::Dim,
        StagePlace::Passed | StagePlace::Completed | StagePlace::Ended => Style::Normal,
    }
}

/// Loops used of allowed, how often the run was there, and how far the gate can be relied on.
fn note(run: &RunFacts, stage: &SpineStage) -> String {
    // A stage shares its counters with others: where the run has not been, they say nothing.
    let was_there = stage.visits > 0 || stage.place == StagePlace::Here;
    let loops = stage.loops.iter().filter(|_| was_there);
    let mut parts: Vec<String> = loops.map(|it| it.text()).collect();
    if stage.place == StagePlace::Here {
        let here = &run.status.stage;
        if let Some(limit) = here.retry_limit.filter(|_| here.retries > 0) {
            parts.push(format!("retry {}/{limit}", here.retries));
        }
        let steps = &run.status.steps;
        if !steps.is_empty() {
            let done = steps
                .iter()
                .filter(|it| it.state == engine::MemberState::Done);
            parts.push(format!("steps {}/{}", done.count(), steps.len()));
        }
    }
    if stage.visits > 1 {
        parts.push(format!("×{}", stage.visits));
    }
    if let Some(gate) = stage.gate
        && stage.visits > 0
    {
        parts.push(gate.word().to_owned());
    }
    parts.join(" ")
}

fn workers(screen: &Screen, run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let lines = run.status.dispatches.iter();
    lines
        .flat_map(|dispatch| worker(screen, dispatch, columns))
        .collect()
}

fn worker(screen: &Screen, dispatch: &DispatchLine, columns: usize) -> Vec<DocLine> {
    let DispatchLine {
        id,
        agent,
        stage,
        attempt,
        ..
    } = dispatch;
    let since = age(screen.now.since(dispatch.started_at));
    let rests = if dispatch.rests { " · rests" } else { "" };
    let text = format!("{id} '{agent}' in {stage} · attempt {attempt} · {since}{rests}");
    let mut lines = wrapped(Style::Normal, &text, columns, 4);
    if let Some(sign) = &dispatch.sign {
        let ago = age(Seconds(screen.now.since(sign.at).0));
        if let Some(tool) = &sign.tool {
            let text = format!("   → {} ({ago} ago)", cut(&tool.line(), columns));
            lines.extend(wrapped(Style::Normal, &text, columns, 5));
        }
        if let Some(words) = &sign.words {
            let text = format!("   “{}”", words.line());
            lines.push(DocLine::one(Style::Dim, cut(&text, columns)));
        }
    }
    lines
}

fn remarks(run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let Some(journal) = &run.status.journal else {
        return Vec::new();
    };
    let latest = journal.remarks.iter().rev().take(MOST_REMARKS);
    let mut lines: Vec<DocLine> = latest
        .flat_map(|remark| remark_lines(run, remark, columns))
        .collect();
    if !lines.is_empty() {
        lines.push(DocLine::one(Style::Dim, "Enter on one explains it"));
    }
    lines
}

fn used(run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let budget = run.status.budget.iter().map(BudgetLine::text);
    let entries = run.status.journal.as_ref();
    let entries = entries.map(|journal| format!("{} entries", journal.entries));
    let parts: Vec<String> = budget.chain(entries).collect();
    wrapped(Style::Normal, &parts.join(" · "), columns, 0)
}
