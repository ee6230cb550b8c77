//! The picture of a run in progress, cut to the size of the terminal.

use engine::{MemberState, StageName, Status, StepId};

use super::{AtWork, ProgressView, TerminalSize};
use crate::layout::{cut, width};
use crate::paint::{Paint, Style};
use crate::status::{BudgetLine, ReviewLine, StepLine};
use crate::time::span;
use crate::words;

/// How important a line is: the least important ones are dropped first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    Always,
    Worker,
    Limits,
    Keys,
    Route,
    Action,
    Step,
    Said,
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
        let passed = passed(view);
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
    for (priority, style, text) in worker_lines(view, columns).chain(step_lines(view)) {
        add(priority, style, text);
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
    if let Some(keys) = view.keys {
        add(Priority::Keys, Style::Dim, keys_line(keys, columns));
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
        Priority::Said,
        Priority::Step,
        Priority::Action,
        Priority::Route,
        Priority::Keys,
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

fn keys_line(keys: &str, columns: usize) -> String {
    let label = if columns < NARROW { "" } else { "keys    " };
    format!("  {label}{keys}")
}

fn worker_lines(
    view: &ProgressView,
    columns: usize,
) -> impl Iterator<Item = (Priority, Style, String)> {
    let workers = view.at_work.iter();
    workers.flat_map(move |it| lines_of_worker(view, it, columns))
}

fn step_lines(view: &ProgressView) -> impl Iterator<Item = (Priority, Style, String)> {
    let steps = steps(view).into_iter();
    steps.map(|(style, text)| (Priority::Step, style, text))
}

/// A worker, what it does, and what it said last.
fn lines_of_worker(
    view: &ProgressView,
    at_work: &AtWork,
    columns: usize,
) -> Vec<(Priority, Style, String)> {
    let action = at_work.action.as_ref();
    let action = action.map(|it| (Priority::Action, Style::Dim, format!("      {}", it.line())));
    let said = at_work.said.as_ref();
    let said = said.map(|it| {
        (
            Priority::Said,
            Style::Dim,
            format!("      says: {}", it.line()),
        )
    });
    let usage = Some(words::usage(&at_work.usage)).filter(|usage| !usage.is_empty());
    let of_usage = usage.as_ref().map_or(0, |usage| width(usage) + 3);
    let mut worker = worker(view, at_work, columns.saturating_sub(of_usage));
    // What it costs is not cut off: it has a line of its own if it does not fit.
    let fits = width(&worker) + of_usage <= columns;
    if !fits {
        worker = self::worker(view, at_work, columns);
    } else if let Some(usage) = &usage {
        worker.push_str(&format!(" · {usage}"));
    }
    let usage = usage.filter(|_| !fits);
    let usage = usage.map(|it| (Priority::Action, Style::Normal, format!("      {it}")));
    let worker = (Priority::Worker, Style::Normal, worker);
    let lines = [Some(worker), usage, action, said];
    lines.into_iter().flatten().collect()
}

/// The stages that the run has left, with the time that each took.
fn passed(view: &ProgressView) -> String {
    let stages = view.passed.iter().map(|stage| match view.spent.get(stage) {
        Some(spent) => format!("{stage} {}", span(*spent)),
        None => stage.to_string(),
    });
    stages.collect::<Vec<_>>().join(", ")
}

/// On a narrow terminal more of a step's title would hide what its worker does.
const TITLE_COLUMNS: usize = 24;

/// On a narrower terminal the keys have no label.
const NARROW: usize = 50;

/// How many steps that are over, and how many that wait, are shown.
const SHOWN_STEPS: usize = 4;

/// The steps that nobody works at: those that ended last with their time, and those that come next with what they
/// wait for.
fn steps(view: &ProgressView) -> Vec<(Style, String)> {
    let all = &view.status.steps;
    let title = |step: &StepLine| format!("{}: {}", step.step.id, step.title.line());
    let took = |step: &StepLine| {
        step.took
            .map_or_else(String::new, |it| format!(" · {}", span(it)))
    };
    let over = all.iter().filter_map(|step| match &step.state {
        MemberState::Done => Some((Style::Good, format!("    ✓ {}{}", title(step), took(step)))),
        MemberState::Failed { .. } => {
            Some((Style::Bad, format!("    ✗ {}{}", title(step), took(step))))
        }
        MemberState::Pending | MemberState::Working { .. } => None,
    });
    let over: Vec<(Style, String)> = over.collect();
    let first = over.len().saturating_sub(SHOWN_STEPS);
    let pending = all.iter().filter(|step| step.state == MemberState::Pending);
    let pending = pending.map(|step| {
        let needs: Vec<&str> = step.waits_for.iter().map(StepId::as_str).collect();
        let waits = if needs.is_empty() {
            String::new()
        } else {
            format!(" · waits for {}", needs.join(", "))
        };
        (Style::Dim, format!("    ○ {}{waits}", title(step)))
    });
    over.into_iter()
        .skip(first)
        .chain(pending.take(SHOWN_STEPS))
        .collect()
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
        let failed = |step: &&StepLine| matches!(step.state, MemberState::Failed { .. });
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

/// The worker without its usage. The title of its step has the columns that the rest leaves free.
fn worker(view: &ProgressView, at_work: &AtWork, columns: usize) -> String {
    let AtWork {
        dispatch,
        agent,
        runner,
        attempt,
        ..
    } = at_work;
    let step = at_work.step.as_ref().map(|step| {
        let mut all = view.status.steps.iter();
        let title = all.find(|line| line.step.id == *step);
        let title = title.map(|line| format!(": {}", line.title.line()));
        (format!(" for step {step}"), title.unwrap_or_default())
    });
    let (step, title) = step.unwrap_or_default();
    let refused = match at_work.refused {
        0 => String::new(),
        refused => format!(" · {refused} refused"),
    };
    let model = at_work
        .model
        .as_ref()
        .map(|model| format!(", {}", model.line()));
    let attempt = match attempt {
        0 | 1 => String::new(),
        attempt => format!(" · attempt {attempt}"),
    };
    let before = format!("    {dispatch} '{agent}'{step}");
    let after = format!(
        " · {runner}{} · {}{refused}{attempt}",
        model.unwrap_or_default(),
        span(at_work.elapsed)
    );
    let free = columns.saturating_sub(width(&before) + width(&after));
    let title = cut(&title, free.max(TITLE_COLUMNS + 2));
    format!("{before}{title}{after}")
}

fn budget(view: &ProgressView) -> String {
    let lines = view.status.budget.iter().map(BudgetLine::text);
    lines.collect::<Vec<_>>().join(" · ")
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
    let limit = view.status.limits.iter().min_by_key(|limit| limit.until);
    match (&view.status.status, &view.pause) {
        (Status::Waiting(why), _) => Some(format!("for a person: {}", crate::safe::line(why))),
        (_, Some(pause)) => Some(pause.line()),
        (Status::Running, None) if limit.is_some() => {
            limit.map(|limit| crate::safe::line(&words::limit(limit)))
        }
        (Status::Queued, None) => Some("queued".to_owned()),
        (_, None) => None,
    }
}
