//! The time of a run as a chart: a bar for each attempt and check, and hatched where it waited for a person.

use engine::{Status, Time};
use maud::{Markup, PreEscaped, html};
use views::gantt::{self, Gantt, Lasting};

use super::run::Shown;

/// How many of the latest visits are drawn; all are in the table below.
const MOST_VISITS: usize = 60;

const STEP_MS: u64 = 30_000;

/// Invariant: the chart escapes every text of a run itself.
pub(super) fn of_run(shown: &Shown) -> Markup {
    let Some(journal) = &shown.view.journal else {
        return html! {};
    };
    let hidden = journal.visits.len().saturating_sub(MOST_VISITS);
    let visits = &journal.visits[hidden..];
    let pipeline = &shown.opened.pipeline;
    let rows = gantt::rows(pipeline, visits, &journal.waits, lasting(shown));
    html! {
        @if !rows.is_empty() {
            div.picture tabindex="0" { (PreEscaped(Gantt::of(&rows).svg_without_style())) }
        }
    }
}

fn lasting(shown: &Shown) -> Lasting {
    match shown.view.status {
        Status::Completed | Status::Failed | Status::Cancelled => Lasting::Over(shown.view.until()),
        Status::Queued | Status::Running | Status::Waiting(_) => Lasting::Now(rounded(shown.time)),
    }
}

/// What lasts grows in steps, so that an idle page stays as it is.
fn rounded(now: Time) -> Time {
    Time(now.0 - now.0 % STEP_MS)
}
