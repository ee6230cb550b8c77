//! A picture of the files before a piece of work, for people who want to see what the work changed. It decides nothing.
//!
//! It holds the commit, and the text of each file that differs from it. All other files are as the commit has them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use super::old_text::OldTexts;
use super::texts::{ChangedText, ChangedTexts, MOST_FILES, Side, Since, candidates, side};
use super::{LARGEST, products};
use crate::beneath::{self, Refused};
use crate::git::Git;
use crate::look_context::LookContext;
use crate::path::artifact_path;
use crate::tree;

/// More text than this is not kept in one picture.
const MOST_TEXT: usize = 8 * 1024 * 1024;

/// The files as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePicture {
    /// Empty where there was no commit.
    pub commit: String,
    /// The files that differed from the commit.
    pub files: BTreeMap<String, Side>,
}

/// The files that a piece of work changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureChange {
    pub files: Vec<ChangedText>,
    /// How many files differ in all.
    pub all: usize,
}

impl TreePicture {
    /// The picture of a worktree whose commit holds every file that counts, as that of a step does before its work.
    pub fn of_commit(looking: &LookContext<'_>) -> Result<Self, String> {
        let repository = looking.project.repository.as_ref();
        let repository = repository.ok_or("this folder is not a git repository")?;
        let git = Git::find().map_err(|error| error.to_string())?;
        let commit = git.head(&looking.project.root, &repository.git_dir);
        Ok(Self {
            commit: commit
                .map_err(|error| error.to_string())?
                .unwrap_or_default(),
            files: BTreeMap::new(),
        })
    }

    /// Takes a picture. The error says why there is none.
    pub fn take(looking: &LookContext<'_>) -> Result<Self, String> {
        let repository = looking.project.repository.as_ref();
        let repository = repository.ok_or("this folder is not a git repository")?;
        let git = Git::find().map_err(|error| error.to_string())?;
        let commit = git.head(&looking.project.root, &repository.git_dir);
        let commit = commit.map_err(|error| error.to_string())?;
        let commit = commit.unwrap_or_default();
        let mut kept = 0;
        let mut files = BTreeMap::new();
        for path in paths(&git, looking, &commit)? {
            let mut now = present(looking, &path);
            if let Side::Text(text) = &now {
                kept += text.len();
            }
            if kept > MOST_TEXT {
                now = Side::Unseen("there was too much to keep before the work".to_owned());
            }
            files.insert(path, now);
        }
        Ok(Self { commit, files })
    }

    fn old(&self, texts: &mut OldTexts, path: &str) -> Side {
        let kept = self.files.get(path).cloned();
        kept.unwrap_or_else(|| texts.side_of(&self.commit, path))
    }

    /// What has changed since.
    pub fn change(&self, looking: &LookContext<'_>) -> Result<PictureChange, String> {
        let repository = looking.project.repository.as_ref();
        let repository = repository.ok_or("this folder is not a git repository")?;
        let git = Git::find().map_err(|error| error.to_string())?;
        let mut all = paths(&git, looking, &self.commit)?;
        all.extend(self.files.keys().cloned());
        let mut texts = OldTexts::open(&looking.project.root, repository)?;
        let mut files = Vec::new();
        for path in all {
            let old = self.old(&mut texts, &path);
            let new = present(looking, &path);
            if old != new {
                files.push(ChangedText { path, old, new });
            }
        }
        let all = files.len();
        files.truncate(MOST_FILES);
        Ok(PictureChange { files, all })
    }
}

impl TreePicture {
    /// What has changed since in the tree that evidence is bound to, and the artifacts that working stages left: without
    /// other artifacts and caches of tools.
    pub fn change_of_tree(&self, looking: &LookContext<'_>) -> Result<ChangedTexts, String> {
        let repository = looking.project.repository.as_ref();
        let repository = repository.ok_or("this folder is not a git repository")?;
        let mut change = self.change(looking)?;
        let found = change.files.len();
        let counts = tree::counting(looking);
        change.files.retain(|file| counts(&file.path));
        change.all -= found - change.files.len();
        let mut texts = OldTexts::open(&looking.project.root, repository)?;
        let products = products::all(looking, repository)?.into_iter();
        let products = products.map(|(path, product)| {
            let old = self.old(&mut texts, &path);
            let new = product.captured(looking);
            ChangedText { path, old, new }
        });
        let before = change.files.len();
        change
            .files
            .extend(products.filter(|file| file.old != file.new));
        change.all += change.files.len() - before;
        change.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(ChangedTexts {
            since: Since::Start,
            all: change.all,
            files: change.files,
        })
    }
}

/// The paths that may differ from the commit, without the views, which Gatewright itself writes.
fn paths(git: &Git, looking: &LookContext<'_>, commit: &str) -> Result<BTreeSet<String>, String> {
    let repository = looking.project.repository.as_ref();
    let repository = repository.ok_or("this folder is not a git repository")?;
    let mut paths = candidates(git, looking, repository, commit)?;
    let definition = looking.pipeline.definition();
    for view in &definition.views {
        if let Ok(path) = artifact_path(&view.path, definition, looking.run, None) {
            paths.remove(path.as_str());
        }
    }
    Ok(paths)
}

/// The file as it is now.
fn present(looking: &LookContext<'_>, path: &str) -> Side {
    let opened = beneath::open_file(&looking.project.root, path.split('/'));
    let file = match opened {
        Ok((file, _)) => file,
        Err(Refused::Absent) => return Side::Absent,
        Err(Refused::Link(_) | Refused::NotAFolder(_) | Refused::NotAFile(_)) => {
            return Side::Unseen("it is not an ordinary file".to_owned());
        }
        Err(Refused::Io(error)) => return Side::Unseen(format!("it cannot be read: {error}")),
    };
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    side(read.map(|_| bytes).map_err(|error| error.to_string()))
}
