//! The artifacts of working stages that are files of the project. The tree that evidence is bound to does not have them,
//! and yet they are part of the work that a reviewer or a person looks at.

use std::collections::BTreeMap;

use engine::{Hash, Source};

use super::old_text::OldTexts;
use super::picture::present;
use super::texts::{ChangedText, Side, side};
use crate::git::{Git, fields};
use crate::look_context::LookContext;
use crate::path::artifact_path;
use crate::repository::Repository;

/// Their paths, with what was there before the run, where somebody looked.
pub(super) fn paths(looking: &LookContext<'_>) -> BTreeMap<String, Option<Hash>> {
    let definition = looking.pipeline.definition();
    let products = engine::products(looking.pipeline, looking.run);
    let files = products.into_iter().filter_map(|product| {
        let Source::File(path) = &definition.artifacts.get(&product.artifact)?.source else {
            return None;
        };
        let step = product.step.as_ref();
        let path = artifact_path(path, definition, looking.run, step).ok()?;
        let before = looking.run.before.get(&product.artifact);
        Some((path.as_str().to_owned(), before.copied()))
    });
    files.collect()
}

/// Those that differ from this commit. What git ignores, or should by the pipeline, belongs to the run and not to the project.
pub(super) fn changed(
    commit: &str,
    looking: &LookContext<'_>,
    repository: &Repository,
) -> Result<Vec<ChangedText>, String> {
    let mut paths = paths(looking);
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let root = &looking.project.root;
    let git = Git::find().map_err(|error| error.to_string())?;
    let mut command = git.command(root, &repository.git_dir);
    command.args(["--literal-pathspecs", "ls-files", "-z", "-co"]);
    command.arg("--exclude-standard");
    let ignores = looking.pipeline.definition().ignores.iter();
    command.args(ignores.map(|line| format!("--exclude={line}")));
    let output = command.arg("--").args(paths.keys()).output();
    let output = output.map_err(|error| error.to_string())?;
    let listed: Vec<&[u8]> = fields(&output.stdout).collect();
    paths.retain(|path, _| listed.contains(&path.as_bytes()));
    let mut texts = OldTexts::open(root, repository)?;
    let files = paths.into_iter().map(|(path, before)| {
        let old = match before {
            Some(expected) => side(texts.read(commit, &path, &expected)),
            None => match texts.of_commit(commit, &path) {
                Ok(None) => Side::Absent,
                Ok(Some(bytes)) => side(Ok(bytes)),
                Err(reason) => Side::Unseen(reason),
            },
        };
        let new = present(looking, &path);
        ChangedText { path, old, new }
    });
    Ok(files.filter(|file| file.old != file.new).collect())
}
