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

fn journal(desk: &Desk<'_>, opened: &Opened) -> Result<Vec<(u64, Entry)>, Failure> {
    let stored = &opened.stored;
    let entries = desk.store.journal(&stored.run.id, 1, stored.version)?;
    Ok(entries
        .into_iter()
        .map(|stored| (stored.number, stored.entry))
        .collect())
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
