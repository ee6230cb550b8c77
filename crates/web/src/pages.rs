//! The pages: each takes facts and returns parts.

mod artifacts;
mod bars;
mod change;
mod compare;
mod docs;
mod entries;
mod figures;
mod gantt;
mod home;
mod order;
mod output;
mod picture;
mod pipelines;
mod reviews;
mod run;
mod runs;

use engine::RunId;
use maud::html;
use runtime::failure::Failure;
use runtime::ids;

use crate::page::{Page, Part, Place, View};
use crate::reading::Reading;

/// The page of a view as it is now.
pub(crate) fn page(reading: &mut Reading<'_>, view: &View) -> Result<Page, Failure> {
    let query = view.query.as_str();
    let parts: Vec<&str> = view.path.split('/').collect();
    match parts.as_slice() {
        [""] => home::page(reading, query),
        ["run", run] => run::page(reading, &named(run)?, query),
        ["run", run, "history"] => entries::page(reading, &named(run)?, query),
        ["run", run, "entry", entry] => entries::why(reading, &named(run)?, number(entry)?),
        ["run", run, "output"] => output::page(reading, &named(run)?, query),
        ["run", run, "diff"] => change::page(reading, &named(run)?, query),
        ["run", run, "reviews"] => reviews::page(reading, &named(run)?),
        ["run", run, "artifacts"] => artifacts::page(reading, &named(run)?),
        ["run", run, "artifact", hash] => artifacts::one(reading, &named(run)?, hash),
        ["pipelines"] => pipelines::page(reading),
        ["pipeline", hash] => pipelines::one(reading, hash),
        ["figures"] => figures::page(reading, query),
        ["compare"] => compare::page(reading, query),
        ["docs"] => docs::page(reading, "index"),
        ["docs", topic] => docs::page(reading, topic),
        _ => Err(no_page()),
    }
}

/// Does this view count the runs of the fleet?
pub(crate) fn counts_fleet(view: &View) -> bool {
    view.path == "figures"
}

/// May this view read a run of the fleet?
pub(crate) fn may_read_fleet(view: &View) -> bool {
    let parts: Vec<&str> = view.path.split('/').collect();
    match parts.as_slice() {
        ["run", run, ..] => named(run).is_ok_and(|run| ids::is_of_fleet(&run)),
        // What they show decides which runs they read.
        ["pipeline", _] | ["compare"] => true,
        _ => false,
    }
}

fn named(run: &str) -> Result<RunId, Failure> {
    RunId::parse(run).map_err(|_| no_page())
}

fn number(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| no_page())
}

fn no_page() -> Failure {
    Failure::not_found("there is no such page").hint("begin with the runs")
}

/// What went wrong, and what to do.
pub(crate) fn failure(failure: &Failure) -> Page {
    Page {
        title: "Not shown".to_owned(),
        waiting: 0,
        place: Place::Run,
        parts: vec![Part::new(
            "failure",
            html! {
                h1 { "This page cannot be shown" }
                p.banner.bad role="alert" { (views::line(&failure.message)) }
                @for hint in &failure.hints { p { (views::line(hint)) } }
            },
        )],
    }
}
