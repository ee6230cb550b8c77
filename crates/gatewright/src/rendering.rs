//! Views: files in the project that are rendered from the run after a commit, and never read back.

use engine::{Entry, View};
use evidence::{Project, artifact_path, replace};
use store::Backend;

use crate::desk::{Desk, Opened};
use crate::failure::Failure;

/// Renders every view of the run's pipeline. Gives a line for each that could not be written: the
/// commit stands whatever happens to its pictures.
pub fn render(desk: &Desk<'_>, opened: &Opened) -> Vec<String> {
    let views = &opened.pipeline.definition().views;
    if views.is_empty() {
        return Vec::new();
    }
    desk.context.expect_delay();
    let told = |failure: Failure| vec![failure.to_string()];
    let journal = match journal(desk, opened) {
        Ok(journal) => journal,
        Err(failure) => return told(failure),
    };
    let project = match desk.project_of(opened) {
        Ok(project) => project,
        Err(failure) => return told(failure),
    };
    let written = views
        .iter()
        .map(|view| write(&project, opened, &journal, view));
    written.filter_map(Result::err).collect()
}

fn journal(desk: &Desk<'_>, opened: &Opened) -> Result<Vec<(u64, Entry)>, Failure> {
    let stored = &opened.stored;
    let entries = desk.store.journal(&stored.run.id, 1, stored.version)?;
    Ok(entries
        .into_iter()
        .map(|stored| (stored.number, stored.entry))
        .collect())
}

fn write(
    project: &Project,
    opened: &Opened,
    journal: &[(u64, Entry)],
    view: &View,
) -> Result<(), String> {
    let run = opened.run();
    let path =
        artifact_path(&view.path, opened.pipeline.definition(), run, None).map_err(|reason| {
            format!(
                "the view {} has no usable path: {reason}",
                view.format.word()
            )
        })?;
    let entries: Vec<(u64, &Entry)> = journal
        .iter()
        .map(|(number, entry)| (*number, entry))
        .collect();
    let text = views::file(
        view.format,
        &opened.pipeline,
        run,
        &entries,
        &opened.stored.worktree,
    );
    replace(project, &path, text.as_bytes()).map_err(|error| error.to_string())
}
