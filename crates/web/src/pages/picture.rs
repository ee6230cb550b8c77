//! The picture of a pipeline on a page, with the way of a run where there is one.

use engine::Pipeline;
use maud::{Markup, PreEscaped, html};
use views::picture::{Picture, RunMarks};

use super::run::Shown;

/// The pipeline alone.
pub(super) fn of_pipeline(pipeline: &Pipeline) -> Markup {
    framed(&Picture::of(pipeline, None))
}

/// The same with where the run is, where it was, and how often.
pub(super) fn of_run(shown: &Shown) -> Markup {
    let journal = shown.view.journal.as_ref();
    let marks = match journal {
        Some(journal) => RunMarks::of_ways(&shown.run, &journal.ways),
        None => RunMarks::of_place(&shown.run),
    };
    framed(&Picture::of(&shown.opened.pipeline, Some(&marks)))
}

/// Invariant: the picture escapes every text of a definition or a run itself.
fn framed(picture: &Picture) -> Markup {
    html! { div.picture tabindex="0" { (PreEscaped(picture.svg_without_style())) } }
}
