//! The merge as objects, before any file of the person's tree changes, and the looks at what it would change there.

use std::collections::BTreeSet;

use evidence::Project;
use evidence::git::{Git, attributes, fields, filter_settings, input};
use runtime::failure::Failure;

use super::in_the_way::{self, Untracked};
use super::target::Target;
use crate::run_place::{complaint, left_files};

/// What a merge would change in the person's tree.
pub(super) struct Planned {
    tree: String,
    changes: Vec<Change>,
}

/// A file that a merge would write or remove.
pub(super) struct Change {
    pub path: Vec<u8>,
    pub written: Option<MergedFile>,
}

/// What it would write.
pub(super) struct MergedFile {
    /// The mode, as git writes it.
    pub mode: Vec<u8>,
    pub object: String,
}

/// The paths that both sides changed, where a merge needs a person.
pub(super) struct Conflicts(pub Vec<String>);

/// Merges as objects.
pub(super) fn plan(
    target: &Target<'_>,
    head: &str,
    tip: &str,
) -> Result<Result<Planned, Conflicts>, Failure> {
    let mut command = target.here.command()?;
    let words = ["merge-tree", "--write-tree", "--name-only", "--no-messages"];
    command.args(words).args(["-z", head, tip]);
    let output = target.here.output(&mut command)?;
    let mut fields = fields(&output.stdout);
    let tree = fields.next().map(text).unwrap_or_default();
    match output.status.code() {
        Some(0) => {
            let changes = changes(target, head, &tree)?;
            Ok(Ok(Planned { tree, changes }))
        }
        Some(1) => {
            let mut paths: Vec<String> = fields.map(text).collect();
            paths.dedup();
            Ok(Err(Conflicts(paths)))
        }
        _ => Err(
            Failure::environment(format!("git failed ({})", complaint(&output)))
                .hint("repair the repository and retry"),
        ),
    }
}

fn changes(target: &Target<'_>, head: &str, tree: &str) -> Result<Vec<Change>, Failure> {
    let words = ["diff-tree", "-r", "-z", "--no-renames", head, tree];
    let listed = target.here.ask(&words)?;
    let listed: Vec<&[u8]> = fields(&listed).collect();
    let changes = listed.chunks_exact(2);
    Ok(changes
        .map(|change| Change::parse(change[0], change[1]))
        .collect())
}

impl Change {
    /// Two modes, two objects and a letter; the path.
    fn parse(about: &[u8], path: &[u8]) -> Self {
        let words: Vec<&[u8]> = about.split(|byte| *byte == b' ').collect();
        let written = match words.as_slice() {
            [_, mode, _, object, letter] if *letter != b"D" => Some(MergedFile {
                mode: mode.to_vec(),
                object: text(object),
            }),
            _ => None,
        };
        Self {
            path: path.to_vec(),
            written,
        }
    }
}

impl Planned {
    /// Refuses if git would write over files that it does not track. Returns those that are what it would write.
    pub(super) fn require_free(&self, target: &Target<'_>) -> Result<Vec<Vec<u8>>, Failure> {
        let Untracked {
            in_the_way: found,
            same,
        } = in_the_way::find(target, &self.changes)?;
        if found.is_empty() {
            return Ok(same);
        }
        let (files, name, there) = (named(&found), target.name, target.there());
        let message = format!(
            "{name} would overwrite what git does not track in your tree{there}: {files}; nothing was merged"
        );
        let again = target.again();
        Err(Failure::refused(message).hint(format!("move or remove that, then type {again}")))
    }

    /// Refuses if a file has a filter. None runs here, so the person would get the bytes that git stores. And the
    /// repository's settings, which a worker can write, may name the program.
    pub(super) fn require_unfiltered(&self, target: &Target<'_>) -> Result<(), Failure> {
        let keys = filter_keys(target)?;
        let filters: BTreeSet<&[u8]> = filter_settings(&keys).map(|it| it.filter).collect();
        if filters.is_empty() {
            return Ok(());
        }
        let (paths, used) = self.filtered(target, &filters)?;
        if paths.is_empty() {
            return Ok(());
        }
        let (name, there) = (target.name, target.there());
        let message = format!(
            "git's filter {} concerns {}{there}, and Gatewright starts no filter; nothing was merged",
            named(&used),
            named(&paths)
        );
        let (merge, look) = (
            target.tree.git(&["merge", name]),
            target
                .tree
                .git(&["config", "--show-origin", "--get-regexp", "^filter"]),
        );
        Err(Failure::refused(message).hint(format!(
            "`{merge}` merges with your filters; `{look}` shows what they start, which the run could have changed"
        )))
    }

    /// The files that would be written and have one of these filters, and the filters.
    fn filtered(
        &self,
        target: &Target<'_>,
        filters: &BTreeSet<&[u8]>,
    ) -> Result<(Vec<String>, Vec<String>), Failure> {
        let scratch = tempfile::tempdir().map_err(evidence::Error::GitStart)?;
        let index = scratch.path().join("index");
        let mut command = target.here.command()?;
        command.env("GIT_INDEX_FILE", &index);
        target
            .here
            .succeed(command.args(["read-tree", &self.tree]))?;
        // The attributes are those of the merged files, as in a merge by git.
        let mut command = target.here.command()?;
        command.env("GIT_INDEX_FILE", &index);
        command.args(["check-attr", "--cached", "-z", "--stdin", "filter"]);
        let written = self
            .changes
            .iter()
            .filter(|change| change.written.is_some());
        let paths: Vec<&[u8]> = written.map(|change| change.path.as_slice()).collect();
        let answer = target
            .here
            .succeed(command.stdin(input(&paths.join(&0))?))?;
        let found = attributes(&answer).into_iter();
        let found = found.filter(|(_, filter)| filters.contains(filter));
        let (paths, used): (Vec<String>, BTreeSet<String>) = found
            .map(|(path, filter)| (text(path), text(filter)))
            .unzip();
        Ok((paths, used.into_iter().collect()))
    }

    /// Has the person changed one of these files, or staged something?
    pub(super) fn meets_changes(&self, target: &Target<'_>, head: &str) -> Result<bool, Failure> {
        let words = ["diff-index", "-z", "--name-only", "--no-renames"];
        let staged = [words.as_slice(), &["--cached", head, "--"]].concat();
        if !target.here.ask(&staged)?.is_empty() {
            return Ok(true);
        }
        // Of a submodule only its commit counts: git would start another one there to look further.
        let changed = ["--ignore-submodules=dirty", head, "--"];
        let changed = [words.as_slice(), &changed].concat();
        let changed = target.here.ask(&changed)?;
        let changed: BTreeSet<&[u8]> = fields(&changed).collect();
        let mut paths = self.changes.iter().map(|change| change.path.as_slice());
        Ok(paths.any(|path| changed.contains(path)))
    }
}

/// The keys of settings of filters, and others.
fn filter_keys(target: &Target<'_>) -> Result<Vec<u8>, Failure> {
    match &target.tree.project {
        Project {
            root,
            repository: Some(repository),
            ..
        } => Ok(Git::find()?.program_keys(root, &repository.git_dir)?),
        Project {
            repository: None, ..
        } => Ok(Vec::new()),
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Some of these, on one line.
fn named(names: &[String]) -> String {
    views::line(&left_files::named(names))
}
