//! Forms for acts: what a person may choose now, and what to type instead.

use engine::{Choice, Next, Outcome, Question, Run, RunId, StageName};
use maud::{Markup, html};
use runtime::workspace::OpenRun;
use views::facts::InboxEntry;
use views::next::{ShownArtifact, ShownText};

use crate::bits;
use crate::reading::{Acting, Reading};

/// The longest text that an answer may have, as the command allows.
const LONGEST_TEXT: &str = "8000";

/// What a run asks, with a form where somebody can act, and with what to type.
pub(crate) fn asked(reading: &Reading<'_>, entry: &InboxEntry, opened: Option<&OpenRun>) -> Markup {
    let acting = reading.acting;
    let legal = opened.map(|opened| engine::next(&opened.pipeline, opened.run()));
    html! {
        p.asks { (entry.asks.block()) }
        @if let Some(opened) = opened { (look_first(reading, opened, &entry.about)) }
        @if let (Some(legal), Acting::WithCode) = (&legal, acting) {
            @for next in legal { (form(&entry.run, &entry.stage, next, &entry.questions)) }
        } @else if !entry.questions.is_empty() {
            (listed(&entry.questions))
        }
        details.typed open[acting == Acting::Nobody] id=(format!("typed-{}", entry.run)) {
            summary { "At a terminal" }
            @for command in &entry.commands { (bits::command(command)) }
        }
    }
}

/// What the question is about: the artifacts that led to it, what reviewers said in theirs, and the change.
fn look_first(reading: &Reading<'_>, opened: &OpenRun, about: &[ShownArtifact]) -> Markup {
    let run = opened.run();
    let link = |path: String| reading.base.to(&format!("run/{}/{path}", run.id));
    html! {
        p.look { "Look first: "
            @for artifact in about {
                // The page has the latest copy, which may be another reviewer's.
                @if artifact.shown_by.is_some() {
                    a href=(link(format!("artifact/{}", artifact.name))) { (artifact.title()) } " · "
                } @else { (artifact.title()) " · " }
            }
            a href=(link("diff".to_owned())) { "what it changed" }
        }
        @for (place, artifact) in about.iter().enumerate() { (review(run, place, artifact)) }
    }
}

/// What a reviewer said, where somebody has read it. Who objects is open.
fn review(run: &Run, place: usize, artifact: &ShownArtifact) -> Markup {
    let is_read = artifact.text != ShownText::Unread;
    let review = artifact.review.as_ref().filter(|_| is_read);
    html! {
        @if let Some(review) = review {
            details open[review.verdict != Outcome::Approved] id=(format!("said-{}-{place}", run.id)) {
                summary { (artifact.title()) }
                pre.output { @for (_, line) in artifact.lines() { (line) "\n" } }
            }
        }
    }
}

fn listed(questions: &[Question]) -> Markup {
    html! {
        ol.questions {
            @for question in questions {
                li { strong { (views::line(&question.id)) } " " (views::safe(&question.text)) }
            }
        }
    }
}

fn form(run: &RunId, stage: &StageName, next: &Next, questions: &[Question]) -> Markup {
    match next {
        Next::Answer { choices, .. } => choose(run, stage, choices),
        Next::Answers { .. } => answer(run, stage, questions),
        Next::Decide { choices, .. } => html! {
            @for choice in choices { (decide(run, stage, choice)) }
        },
        Next::Agent { .. }
        | Next::Session { .. }
        | Next::AnyOf { .. }
        | Next::Under { .. }
        | Next::Check { .. }
        | Next::Plan { .. }
        | Next::Route { .. }
        | Next::Finish
        | Next::TakeUp
        | Next::Nothing => html! {},
    }
}

/// A form that the script sends; without the script it does nothing. The buttons come last, beside the code.
fn act(run: &RunId, stage: &StageName, act: &str, fields: &Markup, buttons: &Markup) -> Markup {
    let id = format!("act-{act}-{run}");
    html! {
        form.act id=(id) data-act=(act) data-run=(run) data-stage=(stage) {
            (fields)
            div.choices {
                (buttons)
                input.code name="code" type="password" autocomplete="off" spellcheck="false"
                    aria-label="Code from the terminal" placeholder="code from the terminal";
            }
            output role="status" {}
        }
    }
}

fn choose(run: &RunId, stage: &StageName, choices: &[Outcome]) -> Markup {
    let text = format!("text-{run}");
    act(
        run,
        stage,
        "choose",
        &html! {
            textarea id=(text) name="text" rows="1" maxlength=(LONGEST_TEXT)
                aria-label="A note with the answer"
                placeholder="A note (optional)" {}
        },
        &html! { @for choice in choices { button name="choice" value=(choice) { (choice) } } },
    )
}

fn answer(run: &RunId, stage: &StageName, questions: &[Question]) -> Markup {
    act(
        run,
        stage,
        "answer",
        &html! {
            @for question in questions {
                @let id = format!("q-{run}-{}", question.id);
                label for=(id) { (views::safe(&question.text)) }
                @if let Some(context) = &question.context { p.dim { (views::safe(context)) } }
                input id=(id) name="answer" data-question=(question.id) required
                    list=(format!("{id}-options")) autocomplete="off";
                @if !question.options.is_empty() {
                    datalist id=(format!("{id}-options")) {
                        @for option in &question.options { option value=(views::line(option)) {} }
                    }
                    p.dim { "For example: " (views::line(&question.options.join(" · "))) }
                }
            }
        },
        &html! { button { "Answer" } },
    )
}

fn decide(run: &RunId, stage: &StageName, choice: &Choice) -> Markup {
    match choice {
        Choice::Retry => act(
            run,
            stage,
            "retry",
            &html! {},
            &html! { button { "Retry" } },
        ),
        Choice::Continue | Choice::RaiseCap => choose_one(run, stage, "continue"),
        Choice::Cancel => cancel(run, stage),
        // These leave something unchecked or undo something: they belong to the terminal.
        Choice::Skip { .. } | Choice::Reset => html! {},
    }
}

fn choose_one(run: &RunId, stage: &StageName, word: &str) -> Markup {
    let button = html! { button name="choice" value=(word) { (word) } };
    act(run, stage, "choose", &html! {}, &button)
}

/// Continues a headless run that no process drives.
pub(crate) fn resume(run: &RunId, stage: &StageName) -> Markup {
    let button = html! { button { "Resume" } };
    act(run, stage, "resume", &html! {}, &button)
}

/// The person writes why, and the id of the run.
pub(crate) fn cancel(run: &RunId, stage: &StageName) -> Markup {
    html! {
        details.danger id=(format!("cancel-{run}")) {
            summary { "Cancel this run" }
            p.dim { "The run ends in " (stage) " and cannot be continued. Its history stays." }
            (act(run, stage, "cancel", &html! {
                label { "Why" input name="reason" required autocomplete="off"; }
                label { "Write " code { (run) } input name="confirm" required autocomplete="off"; }
            }, &html! { button.bad { "Cancel the run" } }))
        }
    }
}
