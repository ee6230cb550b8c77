//! The run as of one of its entries, and the links that lead from entry to entry.

use engine::RunId;
use maud::{Markup, html};
use runtime::facts;
use runtime::failure::Failure;
use store::Backend as _;
use views::RunContext;
use views::facts::Timeline;

use super::Shown;
use crate::reading::Reading;

/// The run as it was after that entry: folded from the journal up to there.
pub(super) fn shown(reading: &mut Reading<'_>, run: &RunId, at: u64) -> Result<Shown, Failure> {
    let stored = reading.stored(run)?;
    let workspace = reading.workspace_of(run)?;
    let opened = workspace.opened(stored)?;
    let at = at.clamp(1, opened.stored.version);
    let folded = workspace.store.folded_at(run, at)?;
    let mut timeline = Timeline::default();
    let mut last = None;
    workspace.store.walk(run, at, &mut |entry| {
        timeline.add(&opened.pipeline, entry.number, &entry.entry);
        last = Some((entry.entry.at, entry.hash));
        Ok(())
    })?;
    let (time, head) = last.unwrap_or((folded.touched_at, opened.stored.head));
    let context = RunContext {
        project: &opened.stored.home,
        now: time,
        freshness: facts::freshness(&opened.pipeline, &folded, time),
    };
    let view = views::status(&opened.pipeline, &folded, context);
    let view = view.with_journal(&opened.pipeline, &folded, &timeline, head);
    Ok(Shown {
        view,
        run: folded,
        at: Some(at),
        time,
        opened,
    })
}

/// Plain links: the first entry, the one before, the one after, now.
pub(super) fn scrubber(reading: &Reading<'_>, shown: &Shown) -> Markup {
    let run = &shown.run.id;
    let last = shown.opened.stored.version;
    let link = |at: u64| reading.base.to(&format!("run/{run}?at={at}"));
    let at = shown.at.unwrap_or(last);
    let back = [
        (1, "⇤ first"),
        (at.saturating_sub(10).max(1), "‹ 10"),
        (at.saturating_sub(1).max(1), "‹ before"),
    ];
    let on = [(at + 1, "after ›"), (at + 10, "10 ›")];
    html! {
        nav.scrubber aria-label="The run as of an entry" {
            @for (to, name) in back { @if at > 1 { a href=(link(to)) { (name) } } }
            span { "as of entry " strong { (at) } " of " (last)
                meter min="0" max=(last) value=(at) { (at) " of " (last) } }
            @for (to, name) in on { @if to <= last { a href=(link(to)) { (name) } } }
            @if shown.at.is_some() { a.now href=(reading.base.to(&format!("run/{run}"))) { "now ⇥" } }
        }
        @if shown.at.is_some() {
            p.banner { "You see the run as it was after entry " (at) ", at "
                (views::time::rfc3339(shown.time)) "." }
        }
    }
}
