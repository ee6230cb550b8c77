//! The question that a person answers now, with its choices.

use views::Style;
use views::facts::InboxEntry;

use super::{DocLine, heading, wrapped};
use crate::event::RunFacts;
use crate::screen::Screen;

/// What is asked, for the person who types the answer. So many questions of a worker are answered already.
pub(in crate::screen) fn of_question(
    screen: &Screen,
    answered: usize,
    columns: usize,
) -> Vec<DocLine> {
    let Some(run) = screen.shown_run() else {
        return Vec::new();
    };
    let Some(asks) = &run.status.inbox else {
        return vec![DocLine::one(
            Style::Dim,
            "the question was answered meanwhile",
        )];
    };
    let mut lines = vec![heading("answer")];
    lines.extend(wrapped(Style::Wait, &asks.asks.line(), columns, 0));
    lines.push(DocLine::blank());
    match asks.questions.get(answered) {
        Some(_) => lines.extend(worker_question(asks, answered, columns)),
        None => lines.extend(choices(run, asks, columns)),
    }
    lines.extend(about(asks, columns));
    lines
}

/// What the question is about, below what can be typed.
fn about(asks: &InboxEntry, columns: usize) -> Vec<DocLine> {
    let mut lines = Vec::new();
    for shown in &asks.about {
        let text = shown.lines();
        if text.is_empty() {
            continue;
        }
        lines.push(DocLine::blank());
        lines.extend(wrapped(Style::Strong, &shown.title(), columns, 2));
        for (style, line) in &text {
            lines.extend(wrapped(*style, line, columns, 2));
        }
    }
    lines
}

fn worker_question(asks: &InboxEntry, answered: usize, columns: usize) -> Vec<DocLine> {
    let Some(question) = asks.questions.get(answered) else {
        return Vec::new();
    };
    let (number, all) = (answered + 1, asks.questions.len());
    let text = format!("{number} of {all}: {}", views::line(&question.text));
    let mut lines = wrapped(Style::Strong, &text, columns, 2);
    if let Some(context) = &question.context {
        lines.extend(wrapped(Style::Dim, &views::line(context), columns, 0));
    }
    for (place, option) in question.options.iter().enumerate() {
        let text = format!("  {} {}", place + 1, views::line(option));
        lines.extend(wrapped(Style::Normal, &text, columns, 4));
    }
    lines.push(DocLine::blank());
    let hint = match question.options.len() {
        0 => "type the answer, then Enter",
        _ => "type the number of an option or your own words, then Enter",
    };
    lines.push(DocLine::one(Style::Dim, hint));
    lines
}

fn choices(run: &RunFacts, asks: &InboxEntry, columns: usize) -> Vec<DocLine> {
    let mut lines = Vec::new();
    for (place, choice) in run.choices.iter().enumerate() {
        let text = format!("  {} {choice}", place + 1);
        lines.push(DocLine::one(Style::Strong, text));
    }
    if run.choices.is_empty() {
        let hint = "no answer continues this run: leave with Esc, and type one of these in a shell";
        lines.extend(wrapped(Style::Normal, hint, columns, 0));
        for command in &asks.commands {
            lines.extend(wrapped(Style::Strong, &format!("  {command}"), columns, 4));
        }
        return lines;
    }
    lines.push(DocLine::blank());
    let hint = "type a choice or its number, and a note after it if you like; Enter sends it";
    lines.extend(wrapped(Style::Dim, hint, columns, 0));
    let hint = "Esc, then 5 shows the artifacts and 4 the gates";
    lines.extend(wrapped(Style::Dim, hint, columns, 0));
    lines
}

/// The same, short, above all else that is shown of a run that waits.
pub(super) fn waiting_lines(run: &RunFacts, asks: &InboxEntry, columns: usize) -> Vec<DocLine> {
    let mut lines = wrapped(Style::Wait, &format!("? {}", asks.asks.line()), columns, 2);
    for review in asks.review_titles() {
        let text = format!("  · {review}");
        lines.extend(wrapped(Style::Normal, &text, columns, 4));
    }
    for question in &asks.questions {
        let text = format!("  · {}", views::line(&question.text));
        lines.extend(wrapped(Style::Wait, &text, columns, 4));
    }
    let choices: Vec<String> = run.choices.iter().map(ToString::to_string).collect();
    match (choices.is_empty(), asks.questions.is_empty()) {
        (false, _) => {
            let text = format!("  press a to answer: {}", choices.join(" · "));
            lines.extend(wrapped(Style::Strong, &text, columns, 4));
        }
        (true, false) => lines.push(DocLine::one(Style::Strong, "  press a to answer")),
        (true, true) => {
            for command in &asks.commands {
                lines.extend(wrapped(Style::Strong, &format!("  {command}"), columns, 4));
            }
        }
    }
    lines
}
