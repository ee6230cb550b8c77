//! What a question is about: the artifacts and the change that a person sees with it.

use std::collections::BTreeMap;

use engine::Next;
use store::Backend as _;
use views::change::ChangeReport;
use views::next::NextView;

use crate::drive_settings::DriveSettings;
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace, as_of};
use crate::{answers, change_report, clock, rest, signs, undelivered};

/// What may happen now, with the text of what a person is asked about. A run past its `ttl` asks,
/// whether that is recorded yet or not.
pub fn next(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<NextView, Failure> {
    let run = as_of(&opened.pipeline, opened.run(), clock::now());
    let legal = engine::next(&opened.pipeline, &run);
    let owner = signs::owner(workspace, opened);
    let status = engine::status(&opened.pipeline, &run);
    let rest = rest::of(workspace, &opened.stored, &status, clock::now())?;
    let view = views::next_by(&opened.pipeline, &run, &legal, owner).with_rest(rest);
    let settings = view
        .is_queued
        .then(|| DriveSettings::load(&workspace.state, &run.id));
    let not_before = settings
        .transpose()?
        .and_then(|settings| settings.not_before);
    let view = view.with_undelivered(undelivered::of(&workspace.state, opened));
    let view = view.with_start_time(not_before, clock::now());
    let view = with_contents(workspace, view)?;
    let is_asked = legal
        .iter()
        .any(|next| matches!(next, Next::Answer { .. } | Next::Finish));
    // What cannot be compared is not shown; the question stands without it.
    let change = is_asked.then(|| change_report::of(workspace, opened));
    let change = change.and_then(Result::ok).and_then(Result::ok);
    let change = change.map(ChangeReport::of_the_run_alone);
    let view = view.with_change(change);
    let asked = engine::asked(&opened.pipeline, &run);
    // Questions that cannot be read are shown as they were written.
    let questions = answers::questions(workspace, opened).ok().flatten();
    Ok(match asked.zip(questions) {
        Some(((field, _), questions)) => view.with_questions(&field.artifact, questions),
        None => view,
    })
}

/// The same with the text of what a person is asked about.
pub(crate) fn with_contents(
    workspace: &Workspace<'_>,
    view: NextView,
) -> Result<NextView, Failure> {
    let mut contents = BTreeMap::new();
    for hash in view.asked_about() {
        if let Some(bytes) = workspace.store.content(hash)? {
            contents.insert(hash, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(view.with_contents(&contents))
}
