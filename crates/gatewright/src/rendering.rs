//! Views: files in the project that are rendered from the run after a commit, and never read back.

use engine::{Entry, Hash, View};
use evidence::{Project, artifact_path, replace};
use store::Backend;
use views::Material;

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
    let entries: Vec<(u64, &Entry)> = journal
        .iter()
        .map(|(number, entry)| (*number, entry))
        .collect();
    let contents = |hash: &Hash| {
        let bytes = desk.store.content(*hash).ok().flatten()?;
        String::from_utf8(bytes).ok()
    };
    let material = Material {
        pipeline: &opened.pipeline,
        run: opened.run(),
        entries: &entries,
        project: &opened.stored.worktree,
        contents: &contents,
    };
    let written = views.iter().map(|view| write(&project, &material, view));
    written.filter_map(Result::err).collect()
}

/// What views are told: how the run began, and the newest of what happened since. A hook renders after
/// every change, and may not become slower with every one.
const NEWEST: u64 = 500;

fn journal(desk: &Desk<'_>, opened: &Opened) -> Result<Vec<(u64, Entry)>, Failure> {
    let stored = &opened.stored;
    let run = &stored.run.id;
    let mut entries = desk.store.journal(run, 1, 1)?;
    entries.extend(
        desk.store
            .journal(run, first_of_newest(stored.version), NEWEST)?,
    );
    Ok(entries
        .into_iter()
        .map(|stored| (stored.number, stored.entry))
        .collect())
}

/// The number of the entry with which the newest begin; the first of all is told before them.
fn first_of_newest(last: u64) -> u64 {
    last.saturating_sub(NEWEST).max(1) + 1
}

fn write(project: &Project, material: &Material<'_>, view: &View) -> Result<(), String> {
    let definition = material.pipeline.definition();
    let path = artifact_path(&view.path, definition, material.run, None).map_err(|reason| {
        format!(
            "the view {} has no usable path: {reason}",
            view.format.word()
        )
    })?;
    let text = views::file(&view.format, material);
    replace(project, &path, text.as_bytes()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_is_told_once_and_the_newest_are_no_more_than_they_may_be() {
        for (last, first) in [(1, 2), (2, 2), (500, 2), (501, 2), (502, 3), (9_000, 8_501)] {
            assert_eq!(first_of_newest(last), first, "{last}");
            assert!(last.saturating_sub(first) < NEWEST);
        }
    }
}
