//! What the workers of a run printed: always text, the latest lines of one worker at a time.

use engine::RunId;
use maud::{Markup, html};
use runtime::failure::Failure;
use runtime::worker_log::{self, LogReader, LogStream, LogTail};
use runtime::worker_output::WorkerOutput;
use views::time::rfc3339;

use super::run::{self, Tab};
use crate::page::{Page, Part, Place};
use crate::reading::Reading;
use crate::{bits, query};

/// How many of the latest lines are shown; the terminal shows all that is kept.
const MOST_LINES: usize = 2_000;

/// A longer line is cut.
const COLUMNS: usize = 2_000;

pub(super) fn page(reading: &mut Reading<'_>, run: &RunId, query: &str) -> Result<Page, Failure> {
    let shown = run::now(reading, run)?;
    let workspace = reading.workspace_of(run)?;
    let heads: Vec<_> = LogReader::all(&workspace.state, run)
        .into_iter()
        .map(|reader| reader.head)
        .collect();
    let wanted = query::value(query, "of");
    let chosen = heads
        .iter()
        .find(|head| Some(head.dispatch.to_string()) == wanted);
    let chosen = chosen.or(heads.last()).map(|head| head.dispatch);
    let tail = chosen.and_then(|dispatch| worker_log::tail(&workspace.state, run, dispatch));
    let choice = html! {
        nav.tabs.small aria-label="Workers" {
            @for head in &heads {
                a href=(reading.base.to(&format!("run/{run}/output?of={}", head.dispatch)))
                    aria-current=[(Some(head.dispatch) == chosen).then_some("page")] {
                    (head.agent.as_str()) " " span.dim { (head.dispatch.to_string()) }
                }
            }
        }
        @if heads.is_empty() { p.empty { "No worker of ours has started in this run." } }
    };
    Ok(Page {
        title: format!("Output of {run}"),
        waiting: reading.waiting()?,
        place: Place::Run,
        parts: vec![
            run::heading(reading, &shown, Tab::Output),
            Part::new("choice", choice),
            Part::new(
                "output",
                tail.map(|tail| lines(run, &tail)).unwrap_or_default(),
            ),
        ],
    })
}

fn lines(run: &RunId, tail: &LogTail) -> Markup {
    let mut output = WorkerOutput::of(&tail.head);
    let mut shown = Vec::new();
    for line in &tail.lines {
        for text in output.texts(line, false) {
            shown.push((line.at, line.stream, views::progress::short(&text, COLUMNS)));
        }
    }
    let hidden = shown.len().saturating_sub(MOST_LINES);
    html! {
        p.meta { (views::line(&tail.head.runner)) " · the latest lines · all that is kept: "
            (bits::command(&format!("gatewright logs {run} {}", tail.head.dispatch))) }
        label.follow { input type="checkbox" id="follow"; " follow" }
        pre.output.log data-scroll="log" {
            @for (at, stream, text) in &shown[hidden..] {
                @let clock = rfc3339(*at);
                span.clock { (clock.get(11..19).unwrap_or_default()) } " "
                @match stream { LogStream::Stdout => { (text) }, LogStream::Stderr => { span.bad { (text) } } }
                "\n"
            }
        }
    }
}
