//! The picture of a pipeline on a page, with the way of a run where there is one.

use std::collections::BTreeMap;

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
    let mut marks = RunMarks {
        run: &shown.run,
        entered: BTreeMap::new(),
        taken: BTreeMap::new(),
    };
    let visits = shown
        .view
        .journal
        .iter()
        .flat_map(|journal| &journal.visits);
    for visit in visits {
        *marks.entered.entry(visit.stage.clone()).or_insert(0) += 1;
        if let Some(left) = &visit.left {
            let way = (visit.stage.clone(), left.to.clone());
            *marks.taken.entry(way).or_insert(0) += 1;
        }
    }
    framed(&Picture::of(&shown.opened.pipeline, Some(&marks)))
}

/// Invariant: the picture escapes every text of a definition or a run itself.
fn framed(picture: &Picture) -> Markup {
    html! { div.picture tabindex="0" { (PreEscaped(picture.svg_without_style())) } }
}
