//! The artifacts of working stages that are files of the project. The tree that evidence is bound to does not have them,
//! and yet they are part of the work that a reviewer or a person looks at.

use std::collections::BTreeMap;

use engine::{Hash, Source};

use super::old_text::OldTexts;
use super::texts::{ChangedText, Side, side};
use crate::content::captured_bytes;
use crate::git::{Git, fields};
use crate::look_context::LookContext;
use crate::path::artifact_path;
use crate::repository::Repository;

/// One of them.
pub(super) struct Product {
    /// What was there before the run, where somebody looked.
    before: Option<Hash>,
    content: Hash,
}

impl Product {
    /// What was captured: the file may have been changed since by somebody who may not.
    pub(super) fn captured(&self, looking: &LookContext<'_>) -> Side {
        let bytes = captured_bytes(looking.contents, &self.content);
        side(bytes.map_err(|error| error.to_string()))
    }
}

/// Those that are there, by their paths. What git ignores, or should by the pipeline, belongs to the run and not to the
/// project.
pub(super) fn all(
    looking: &LookContext<'_>,
    repository: &Repository,
) -> Result<BTreeMap<String, Product>, String> {
    let definition = looking.pipeline.definition();
    let products = engine::products(looking.pipeline, looking.run);
    let files = products.into_iter().filter_map(|product| {
        let Source::File(path) = &definition.artifacts.get(&product.artifact)?.source else {
            return None;
        };
        let path = artifact_path(path, definition, looking.run, product.step.as_ref()).ok()?;
        let before = looking.run.before.get(&product.artifact).copied();
        let content = product.content;
        Some((path.as_str().to_owned(), Product { before, content }))
    });
    let mut files: BTreeMap<String, Product> = files.collect();
    if files.is_empty() {
        return Ok(files);
    }
    let root = &looking.project.root;
    let git = Git::find().map_err(|error| error.to_string())?;
    let mut command = git.command(root, &repository.git_dir);
    command.args(["--literal-pathspecs", "ls-files", "-z", "-co"]);
    command.arg("--exclude-standard");
    let ignores = definition.ignores.iter();
    command.args(ignores.map(|line| format!("--exclude={line}")));
    let output = command.arg("--").args(files.keys()).output();
    let output = output.map_err(|error| error.to_string())?;
    let listed: Vec<&[u8]> = fields(&output.stdout).collect();
    files.retain(|path, _| listed.contains(&path.as_bytes()));
    Ok(files)
}

/// Those that differ from this commit.
pub(super) fn changed(
    commit: &str,
    looking: &LookContext<'_>,
    repository: &Repository,
) -> Result<Vec<ChangedText>, String> {
    let products = all(looking, repository)?;
    if products.is_empty() {
        return Ok(Vec::new());
    }
    let mut texts = OldTexts::open(&looking.project.root, repository)?;
    let files = products.into_iter().map(|(path, product)| {
        let old = match product.before {
            Some(expected) => side(texts.read(commit, &path, &expected)),
            None => texts.side_of(commit, &path),
        };
        let new = product.captured(looking);
        ChangedText { path, old, new }
    });
    Ok(files.filter(|file| file.old != file.new).collect())
}
