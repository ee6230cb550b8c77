//! The picture of a run in progress, cut to the size of the terminal.

use engine::{MemberState, Seconds, StageName, Status};

use super::{AtWork, ProgressView, TerminalSize};
use crate::layout::{cut, width};
use crate::paint::{Paint, Style};
use crate::status::{BudgetLine, Resource, ReviewLine};
use crate::time::span;
use crate::words;

/// How important a line is: the least important ones are dropped first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    Always,
    Worker,
    Limits,
    Route,
    Action,
    Task,
    Blank,
}

struct ScreenLine {
    priority: Priority,
    style: Style,
    text: String,
}

pub(super) fn draw(view: &ProgressView, room: TerminalSize, paint: Paint) -> Vec<String> {
    let columns = room.columns.max(2);
    let rows = fitting(rows(view, columns), room.rows.saturating_sub(1).max(1));
    let drawn = rows.into_iter().map(|row| {
        let text = cut(&row.text, columns);
        paint.on(row.style, text.trim_end())
    });
    drawn.collect()
}

fn rows(view: &ProgressView, columns: usize) -> Vec<ScreenLine> {
    let mut rows = vec![head(view)];
    let mut add = |priority, style, text| {
        rows.push(ScreenLine {
            priority,
            style,
            text,
        })
    };
    add(
        Priority::Task,
        Style::Dim,
        format!("  {}", view.status.task.line()),
    );
    add(Priority::Blank, Style::Normal, String::new());
    if !view.passed.is_empty() {
        let passed = list(&view.passed, ", ");
        let text = format!("  ✓ {}", cut_left(&passed, columns.saturating_sub(4)));
        add(Priority::Route, Style::Good, text);
    }
    let (style, mark) = here(view);
    add(Priority::Always, style, format!("  {mark} {}", stage(view)));
    if !view.to_come.is_empty() {
        let text = format!("  ○ {}", list(&view.to_come, " → "));
        add(Priority::Route, Style::Dim, text);
    }
    if !view.at_work.is_empty() {
        add(Priority::Blank, Style::Normal, String::new());
    }
    for at_work in &view.at_work {
        add(Priority::Worker, Style::Normal, worker(at_work));
        if let Some(action) = &at_work.action {
            let text = format!("      {}", action.line());
            add(Priority::Action, Style::Dim, text);
        }
    }
    add(Priority::Blank, Style::Normal, String::new());
    for (label, text) in [("budget", budget(view)), ("loops ", loops(view))] {
        if !text.is_empty() {
            add(
                Priority::Limits,
                Style::Normal,
                format!("  {label}  {text}"),
            );
        }
    }
    if let Some(text) = waits(view) {
        add(Priority::Always, Style::Wait, format!("  waits   {text}"));
    }
    // A blank line stands between two others.
    while rows
        .last()
        .is_some_and(|row| row.priority == Priority::Blank)
    {
        rows.pop();
    }
    rows
}

/// Drops the least important lines, and the last ones of many workers.
fn fitting(mut rows: Vec<ScreenLine>, most: usize) -> Vec<ScreenLine> {
    for priority in [
        Priority::Blank,
        Priority::Task,
        Priority::Action,
        Priority::Route,
        Priority::Limits,
    ] {
        while rows.len() > most
            && let Some(place) = rows.iter().rposition(|row| row.priority == priority)
        {
            rows.remove(place);
        }
    }
    let over = rows.len().saturating_sub(most);
    if over == 0 {
        return rows;
    }
    // The line that says how many are left out takes the place of one of them.
    let workers = rows
        .iter()
        .filter(|row| row.priority == Priority::Worker)
        .count();
    let left_out = (over + 1).min(workers);
    for _ in 0..left_out {
        if let Some(place) = rows
            .iter()
            .rposition(|row| row.priority == Priority::Worker)
        {
            rows.remove(place);
        }
    }
    if left_out > 0 && rows.len() < most {
        let after = rows
            .iter()
            .rposition(|row| row.priority == Priority::Worker);
        let place = after.map_or(rows.len().min(2), |after| after + 1);
        let text = match after {
            Some(_) => format!("    … and {left_out} more at work"),
            None => format!("    {left_out} at work"),
        };
        let (priority, style) = (Priority::Worker, Style::Dim);
        rows.insert(
            place,
            ScreenLine {
                priority,
                style,
                text,
            },
        );
    }
    rows.truncate(most);
    rows
}

fn head(view: &ProgressView) -> ScreenLine {
    let status = &view.status;
    let style = match status.status {
        Status::Completed => Style::Good,
        Status::Failed | Status::Cancelled => Style::Bad,
        Status::Waiting(_) => Style::Wait,
        Status::Queued | Status::Running => Style::Strong,
    };
    let text = format!(
        "{} {} · {} · {}",
        status.run,
        status.pipeline,
        status.status.word(),
        span(status.age)
    );
    let priority = Priority::Always;
    ScreenLine {
        priority,
        style,
        text,
    }
}

/// The mark and colour of the current stage.
fn here(view: &ProgressView) -> (Style, char) {
    match view.status.status {
        Status::Completed => (Style::Good, '✓'),
        Status::Failed | Status::Cancelled => (Style::Bad, '✗'),
        Status::Queued | Status::Running | Status::Waiting(_) => (Style::Strong, '●'),
    }
}

fn list(stages: &[StageName], between: &str) -> String {
    let names: Vec<&str> = stages.iter().map(StageName::as_str).collect();
    names.join(between)
}

/// The end of a text that is too wide: the latest part is there.
fn cut_left(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut rest = text;
    while width(rest) + 1 > columns {
        let mut letters = rest.chars();
        if letters.next().is_none() {
            break;
        }
        rest = letters.as_str();
    }
    format!("…{rest}")
}

fn stage(view: &ProgressView) -> String {
    let stage = &view.status.stage;
    let mut text = format!("{} ({})", stage.name, stage.kind);
    if let Some(limit) = stage.retry_limit.filter(|_| stage.retries > 0) {
        text.push_str(&format!(" · retry {} of {limit}", stage.retries));
    }
    let steps = &view.status.steps;
    if !steps.is_empty() {
        let done = steps.iter().filter(|step| step.state == MemberState::Done);
        let failed =
            |step: &&crate::status::StepLine| matches!(step.state, MemberState::Failed { .. });
        text.push_str(&format!(
            " · {} of {} steps done",
            done.count(),
            steps.len()
        ));
        match steps.iter().filter(failed).count() {
            0 => {}
            failed => text.push_str(&format!(", {failed} failed")),
        }
    }
    format!("{text} · {}", span(view.now.since(stage.since)))
}

fn worker(at_work: &AtWork) -> String {
    let AtWork {
        dispatch,
        agent,
        runner,
        attempt,
        ..
    } = at_work;
    let step = at_work
        .step
        .as_ref()
        .map(|step| format!(" for step {step}"));
    let model = at_work
        .model
        .as_ref()
        .map(|model| format!(", {}", model.line()));
    let attempt = match attempt {
        0 | 1 => String::new(),
        attempt => format!(" · attempt {attempt}"),
    };
    let usage = match words::usage(&at_work.usage) {
        usage if usage.is_empty() => usage,
        usage => format!(" · {usage}"),
    };
    format!(
        "    {dispatch} '{agent}'{} · {runner}{} · {}{attempt}{usage}",
        step.unwrap_or_default(),
        model.unwrap_or_default(),
        span(at_work.elapsed)
    )
}

fn budget(view: &ProgressView) -> String {
    let lines = view.status.budget.iter().map(budget_line);
    lines.collect::<Vec<_>>().join(" · ")
}

fn budget_line(line: &BudgetLine) -> String {
    let amount = |value: u64| match line.what {
        Resource::Turns | Resource::Tokens => value.to_string(),
        Resource::CostCents => words::cents(value),
        Resource::Time => span(Seconds(value)),
    };
    let what = match line.what {
        Resource::Turns => "turns",
        Resource::Tokens => "tokens",
        Resource::CostCents => "cost",
        Resource::Time => "time",
    };
    let used = amount(line.used);
    match line.limit {
        Some(limit) => format!("{what} {used} of {}", amount(limit)),
        None => format!("{what} {used}"),
    }
}

/// Counters that were used, and the round of a review.
fn loops(view: &ProgressView) -> String {
    let status = &view.status;
    let used = status.counters.iter().filter(|counter| counter.used > 0);
    let counters = used.map(|counter| match counter.max {
        Some(max) => format!("{} {} of {max}", counter.name, counter.used),
        None => format!("{} {}", counter.name, counter.used),
    });
    let round = status.review.as_ref().map(round);
    counters.chain(round).collect::<Vec<_>>().join(" · ")
}

fn round(review: &ReviewLine) -> String {
    match review.rounds {
        Some(rounds) => format!("round {} of {rounds}", review.round),
        None => format!("round {}", review.round),
    }
}

fn waits(view: &ProgressView) -> Option<String> {
    match (&view.status.status, &view.pause) {
        (Status::Waiting(why), _) => Some(format!("for a person: {}", crate::safe::line(why))),
        (_, Some(pause)) => Some(pause.line()),
        (Status::Queued, None) => Some("queued".to_owned()),
        (_, None) => None,
    }
}
